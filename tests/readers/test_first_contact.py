"""What somebody does who has a table and does not know the tool: files of other kinds, broken ones, and words in a column of winners."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from evalbench import load
from evalbench.asking.asking import asked
from evalbench.errors import BadInput
from evalbench.readers.files import raw_frame
from evalbench.studies import cascade


def packed() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("a.csv", "id,answer\n1,b\n")
    return out.getvalue()


FILES = {
    "cut.json": (b'[{"id": 1, "answer": "a"}, {"id": 2, "ans', "ends within a text that begins at character 38: is it cut"),
    "cut.jsonl": (b'{"id": 1}\n{"id": 2, "a": [', "line 2: not valid JSON (it ends before it is complete: is it cut off?)"),
    "comma.json": (b'[{"id": 1},\n {"id" 2}]', "a colon is missing at line 2, character 8, before 2}]"),
    "quotes.jsonl": (b"{'id': 1}\n", "line 1: not valid JSON (a name needs double quotes at character 2, before 'id'"),
    "last.jsonl": (b'{"id": 1,}\n', "line 1: not valid JSON (a comma too many before } at character"),
    "few.csv": (b"id,q,a\n1,x,y\n2,x\n", "row 3: 2, 1 too few"),
    "many.csv": (b"id,q,a\n1,x,y\n2,x,y,z\n", "row 3: 4, 1 too many"),
    "quote.csv": (b'id,q,a\n1,x,y\n2,"x,y\n3,x,y\n', 'row 3: a quote (") in it opens a cell and nothing closes it'),
    "empty.csv": (b"", "the file is empty"),
    "none.json": (b"[]", "the file holds no rows"),
    "header.csv": (b"id,answer\n", "a header but no rows"),
    "noise.csv": (bytes(range(256)) * 12, "not a text but bytes of another form"),
    "zero.csv": (b"\0\0id,answer\n1,b\n", "not a text but bytes of another form"),
    "table.zip": (packed(), "packed files are not read; unpack it"),
    "sheet.xlsx": (packed(), "not a workbook of Excel, or a damaged one"),
    "locked.xlsx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a workbook with a password, or of Excel before 2007"),
    "table": (b"id,answer\n1,b\n", "the name has no ending, which says the form; expected one of .csv"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_table_is_refused_in_plain_words(tmp_path, name):
    raw, said = FILES[name]
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(BadInput) as refused:
        asked(tmp_path / name)
    assert said in str(refused.value)


def test_a_zero_within_a_long_text_is_a_character():
    text = "id,answer\n" + "".join(f"{n},an answer of some words\n" for n in range(9)) + "9,a\0b\n"
    assert raw_frame(Path("a.csv"), text.encode())["answer"].iloc[-1] == "a\0b"


def test_places_without_a_table(tmp_path):
    (tmp_path / "note.md").write_text("hello")
    for data, said in {
        str(tmp_path): "no table in this folder; one is a file ending in .csv",
        "https://example.org/a.csv": "is an address, and none is fetched; download it",
        str(tmp_path / "a.csv"): "no such file",
    }.items():
        with pytest.raises(BadInput, match=said):
            asked(data)
    with pytest.raises(BadInput, match="is an address"):
        load("s3://bucket/a.csv", study="text_metrics")


PAIRS = pd.DataFrame({
    "question": ["Sky?", "Capital?", "Sum?", "Author?"], "answer_a": ["Blue.", "Rome", "4", "Ada"],
    "answer_b": ["Grey.", "Bari", "5", "Bo"], "winner": ["A", "B", "tie", "maybe"],
})  # fmt: skip


class TestWinners:
    @pytest.mark.parametrize("column", ["winner", "verdict"])
    def test_a_word_that_names_no_side_is_a_fault_with_its_row(self, column):
        with pytest.raises(BadInput, match=rf'column {column}.*: expected a, b, tie .*found "maybe" \(row 4\)'):
            cascade.evaluate(load(PAIRS.rename(columns={"winner": column}), study="cascade"))

    @pytest.mark.parametrize("word", ["not judged", "Skip", "n/a", "-", "не оценено", ""])
    def test_a_word_for_no_verdict_leaves_the_question_open(self, word):
        data = load(PAIRS.assign(winner=["A", "B", "tie", word]), study="cascade")
        assert data["annotated"]["winner"].tolist() == ["a", "b", "tie", ""]
        assert any(f'1 cell without a winner ("{word}"), as if empty' in note for note in data.notes) == (word != "")

    def test_a_column_of_other_words_is_none(self):
        data = load(PAIRS.drop(columns="winner").assign(decision=["keep", "drop", "A", "keep"]), study="cascade")
        assert data.get("annotated") is None

    def test_a_column_that_is_called_so_is_read_whatever_it_holds(self):
        with pytest.raises(BadInput, match=r'column winner: .*found "fern", "oak" \(rows 1, 2, 3, 4\)'):
            cascade.evaluate(load(PAIRS.assign(winner=["fern", "oak", "fern", "oak"]), study="cascade"))

    def test_what_can_be_asked_says_so_too(self):
        said = {offer.study: offer.refused for offer in asked(PAIRS).offers}
        assert 'found "maybe" (row 4)' in said["cascade"]
        assert asked(PAIRS).roles["answer_a"] == "answer"  # of two models, to the study that is ready


TWO = pd.DataFrame(
    {"question": ["Why?", "When?"], "reply": ["so", "now"], "response": ["no", "then"], "gold": ["so", "then"]}
)


class TestTwoThatFit:
    @pytest.mark.parametrize("second", ["response", "completion", "model_answer"])
    def test_which_one_is_asked_with_an_option_for_each(self, second):
        found = asked(TWO.rename(columns={"response": second}))
        assert (found.roles["reply"], found.roles[second]) == ("", "")
        which = f"which is meant: 'reply' (--map reply=answer) or {second!r} (--map {second}=answer)?"
        assert any(which in note for note in found.notes)
        assert "text_metrics" not in found.studies()["study"].tolist()

    def test_an_option_answers_the_question(self):
        found = asked(TWO, columns={"response": "answer"})
        assert found.roles == {"question": "question", "reply": "", "response": "answer", "gold": "reference"}
        assert not any("which is meant" in note for note in found.notes)
        assert "text_metrics" in found.studies()["study"].tolist()

    def test_a_column_of_the_own_name_wins(self):
        found = asked(TWO.rename(columns={"response": "answer"}))
        assert (found.roles["answer"], found.roles["reply"]) == ("answer", "")


class TestRepeatedIds:
    ROWS = pd.DataFrame(
        {"id": ["1", "1", "2", "2"], "question": ["Sky?", "Sum?", "Sky?", "Who?"], "answer": list("abcd")}
    )

    def test_different_questions_are_no_repeats(self):
        found = {offer.study: offer for offer in asked(self.ROWS).offers}["reproduction"]
        assert not found.ready
        assert "ids are repeated: 2 ids of several questions each, first 1 ('Sky?' and 'Sum?')" in found.refused

    def test_both_ways_out(self):
        by_question = load(self.ROWS, study="reproduction", columns={"id": ""})["items"]
        assert by_question["id"].nunique() == 3
        by_id = load(self.ROWS, study="reproduction", columns={"question": ""})["items"]
        assert by_id["id"].nunique() == 2

    def test_the_same_question_written_with_other_blanks(self):
        rows = self.ROWS.assign(question=["Sky?", " Sky? ", "Who?", "Who?\n"])
        assert {offer.study: offer for offer in asked(rows).offers}["reproduction"].ready


def table(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


THREE = ["one", "two", "three"]
ROLES = {
    "a log in English": (
        table(timestamp=["2026-01-01"] * 3, user_message=THREE, bot_reply=THREE, feedback=["👍", "👎", "👍"]),
        {"user_message": "question", "bot_reply": "answer"},
    ),
    "passages under the name of a ranking": (
        table(query=THREE, response=THREE, retrieved_docs=[["the first passage of some words"]] * 3),
        {"retrieved_docs": "contexts"},
    ),
    "a ranking": (
        table(query=THREE, response=THREE, retrieved_docs=[["d1", "d2"]] * 3, relevant=[["d2"]] * 3), {"retrieved_docs": "retrieved"}
    ),
    "sources that are objects": (
        table(question=THREE, answer=THREE, sources=[[{"title": "Hours", "text": "At nine."}]] * 3), {"sources": "read by citation"}
    ),
    "repeats side by side": (
        table(question=THREE, run1=THREE, run2=THREE, run3=["one", "two", "four"]), dict.fromkeys(["run1", "run2", "run3"], "answer")
    ),
    "turns": (
        table(chat_id=["a"] * 3, speaker=["user", "bot", "user"], message=THREE), {"message": "text", "speaker": "role"}
    ),
    "samples side by side": (
        table(id=THREE, answer=THREE, sample_1=THREE, sample_2=THREE, sample_3=["one", "two", "four"], correct=[1, 0, 1]),
        dict.fromkeys(["sample_1", "sample_2", "sample_3"], "samples"),
    ),
    "scores": (table(item=THREE, model=["oak"] * 3, output=THREE, quality=[1, 2, 4]), {"item": "id", "quality": "score"}),
    "a worked solution": (
        table(problem=["1+1?", "2+2?", "3+3?"], solution=["#### 2", "#### 4", "#### 6"], model_output=["#### 2", "#### 4", "#### 5"]),
        {"problem": "question", "solution": "reference", "model_output": "answer"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROLES)
def test_what_columns_are_read_as(name):
    rows, expected = ROLES[name]
    found = asked(rows).roles
    assert {column: found[column] for column in expected} == expected


def test_models_keep_the_names_that_a_table_gives_to_them():
    rows = table(Вопрос=THREE, **{"Ответ GPT-4": THREE, "Ответ Claude": THREE, "Правильный ответ": THREE})
    assert set(load(rows, study="text_metrics")["items"]["model"]) == {"GPT-4", "Claude"}
    rows = table(问题=THREE, 模型A回答=THREE, 模型B回答=THREE, 更好=["A", "B", "A"])
    data = load(rows, study="cascade")
    assert data["annotated"]["winner"].tolist() == ["a", "b", "a"]


def test_marks_of_several_people_by_several_criteria():
    from evalbench.studies import human_correlation

    marks = {
        f"{what}_rater{k}": [1 + (n + k) % 5 for n in range(12)] for what in ("coherence", "fluency") for k in (1, 2)
    }
    rows = pd.DataFrame(
        {"id": range(12), "summary": [f"text {n}" for n in range(12)], "rouge": [0.1 * n for n in range(12)], **marks}
    )
    result = human_correlation.evaluate(load(rows, study="human_correlation"), n_resamples=20)
    assert set(result.items["criterion"]) == {"coherence", "fluency"}
    assert not any("not used" in note for note in result.notes)


def test_what_lacks_ids_is_told_so_and_not_that_it_has_no_scores():
    rows = table(model=["oak", "fern", "oak"], faithfulness=[0.1, 0.2, 0.3])
    missing = {offer.study: offer.missing for offer in asked(rows).offers}["imported"]
    assert missing == ("which answers are to the same question, by an id or the question",)


def test_a_column_of_people_is_not_offered_as_the_mark():
    rows = table(question=THREE, answer=THREE, gpt4_score=[1, 2, 4], human_score=[1, 2, 3])
    assert not any("human_score' meant" in note for note in load(rows, study="human_correlation").notes)


def test_a_judge_of_pairs_with_an_odd_word_keeps_its_marks():
    from evalbench.studies import judge_audit

    data = load(PAIRS.assign(judge="elm"), study="judge_audit")
    assert data["verdicts"]["mark"].isna().tolist() == [False, False, False, True]
    assert any('"maybe"; row 4), left out' in note for note in data.notes)
    kinds = pd.DataFrame({"id": range(8), "judge": "elm", "mark": ["polite", "rude"] * 4})
    shown = judge_audit.by_kind(judge_audit.evaluate(load(kinds, study="judge_audit"), n_resamples=20))
    assert shown["corrected by labels"].tolist() == ["–", "–"]
