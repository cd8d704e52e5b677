"""Entities against a gold standard: forms of input, bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from spanned import result_of, spans
from studied import evaluated, page, sample, whole

from evalbench import load, ner_quality
from evalbench.errors import BadInput
from evalbench.kit.collecting import UNNAMED

STRICT = {
    "arcada": 39.98, "drexel_cci": 26.30, "flytxt": 38.35, "mic_cis": 37.06, "sjtu_adapt": 40.42,
    "spinningbytes": 40.78, "uh_ritual": 41.86,
}  # fmt: skip

# -- forms of input --------------------------------------------------------------------------------

TEXT = "Mira saw Ив ☀️ in Санделе"
GOLD = [[0, 4, "PER"], [9, 11, "PER"], [18, 25, "LOC"]]


def assert_reads(result) -> None:
    assert result.estimate("strict_f1", model=UNNAMED).value == pytest.approx(0.8)
    rows = result.tables["spans"].query("outcome == 'right'")
    assert [TEXT[a:b] for a, b in zip(rows["start"], rows["end"], strict=True)] == ["Mira", "Санделе"]


def test_lists_in_documents(tmp_path):
    documents = {
        "gold": {"text": TEXT, "label": GOLD},
        "predictions": {"text": TEXT, "label": [{"start": a, "end": b, "label": k} for a, b, k in (GOLD[0], GOLD[2])]},
    }
    for name, document in documents.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(document, ensure_ascii=False) + "\n")
    assert_reads(ner_quality.evaluate(load(tmp_path, study="ner_quality"), n_resamples=20))


def test_documents_that_list_both(tmp_path):
    rows = [dict(zip(("start", "end", "entity_class"), span, strict=True)) for span in GOLD]
    record = {"id": "a", "text": TEXT, "gold": rows, "predictions": [rows[0], rows[2]]}
    (tmp_path / "d.jsonl").write_text(json.dumps(record, ensure_ascii=False))
    assert_reads(ner_quality.evaluate(load(tmp_path / "d.jsonl", study="ner_quality"), n_resamples=20))


@pytest.mark.parametrize("gold", ["entities", "gold"])
@pytest.mark.parametrize("said", ["predictions", "predicted"])
@pytest.mark.parametrize("kind", ["label", "entity_class", "type"])
@pytest.mark.parametrize("ids", [{}, {"text_id": "a"}, {"id": 7}])
def test_documents_without_tables_of_their_own(tmp_path, gold, said, kind, ids):
    rows = [dict(zip(("start", "end", kind), span, strict=True)) for span in GOLD]
    record = {**ids, "text": TEXT, gold: rows, said: [rows[0], rows[2]]}
    (tmp_path / "d.jsonl").write_text(json.dumps(record, ensure_ascii=False))
    data = load(tmp_path / "d.jsonl", study="ner_quality")
    assert any(f"true entities were read of {gold}, predicted ones of {said}" in note for note in data.notes)
    assert_reads(ner_quality.evaluate(data, n_resamples=20))


def test_documents_of_several_models_share_their_true_entities(tmp_path):
    rows = [dict(zip(("start", "end", "label"), span, strict=True)) for span in GOLD]
    records = [{"model": m, "text": TEXT, "entities": rows, "predictions": rows[:n]} for m, n in (("a", 1), ("b", 3))]
    path = tmp_path / "d.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in records))
    data = load(path, study="ner_quality")
    assert (len(data["gold"]), len(data["predictions"]), len(data["texts"])) == (3, 4, 1)
    path.write_text("\n".join(json.dumps(r) for r in [records[0], {**records[1], "entities": rows[:1]}]))
    with pytest.raises(BadInput, match=r"(?s)other true entities than in the first row of the same text.*row 2"):
        load(path, study="ner_quality")


def brat(folder: Path, entities) -> None:
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    lines = [f"T{i}\t{k} {a} {b}\t{TEXT[a:b]}\n" for i, (a, b, k) in enumerate(entities, 1)]
    (folder / "a.ann").write_text("".join(lines))


def test_folders_of_brat(tmp_path):
    brat(tmp_path / "gold", GOLD)
    brat(tmp_path / "predictions", [GOLD[0], GOLD[2]])
    data = load(tmp_path, study="ner_quality")
    assert "1 document of brat" in " ".join(data.notes)
    assert_reads(ner_quality.evaluate(data, n_resamples=20))


TOKENS = ["Mira", "saw", "Ив", "☀️", "in", "Санделе"]
TAGS = ["B-PER", "O", "B-PER", "O", "O", "B-LOC"]
SAID = ["I-PER", "O", "O", "O", "O", "B-LOC"]


@pytest.mark.parametrize("said", ["predicted_tags", "predictions"])
def test_lists_of_tokens_and_tags(tmp_path, said):
    record = {"tokens": TOKENS, "ner_tags": TAGS, said: SAID}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps({key: [] for key in record}))
    assert_reads(ner_quality.evaluate(load(path, study="ner_quality"), n_resamples=20))
    frame = pd.DataFrame({name: [cells] for name, cells in record.items()})
    whole = {"gold": frame.drop(columns=said), "predictions": frame[["tokens", said]]}
    assert_reads(ner_quality.evaluate(load(whole, study="ner_quality"), n_resamples=20))


def test_lists_that_are_read_in_no_form_are_refused_with_the_forms(tmp_path):
    path = tmp_path / "t.jsonl"
    for record, said in (
        ({"tokens": TOKENS, "ner_tags": TAGS, "predictions": SAID[1:]}, "row 1: lists of different lengths: 6 tokens"),
        ({"tokens": TOKENS, "ner_tags": [1] * 6, "predictions": SAID}, 'row 1: .*features."ner_tags".*feature.names'),
        ({"tokens": TOKENS, "ner_tags": "O", "predictions": SAID}, "ner_tags must be lists|one column of tags"),
        ({"text": TEXT, "gold": [], "predictions": None}, r"row 2: predictions is null; write \[\] where"),
        ({"text": TEXT, "found": [{"start": 1}]}, r"(?s)lists or objects of found; what is read:.*ner_tags.*brat"),
        ({"tokens": TOKENS}, "(?s)objects of tokens; what is read:.*predictions or predicted"),
    ):
        sound = {"text": TEXT, "gold": [], "predictions": []} if "gold" in record else record
        path.write_text(json.dumps(sound) + "\n" + json.dumps(record))
        with pytest.raises(BadInput, match=said):
            load(path, study="ner_quality")


def test_columns_of_tags(tmp_path):
    rows = pd.DataFrame({"id": "a", "token": TOKENS, "gold_tag": TAGS, "predicted_tag": SAID})
    rows.to_csv(tmp_path / "t.csv", index=False)
    data = load(tmp_path / "t.csv", study="ner_quality")
    assert "1 entity without B-" in " ".join(data.notes)
    assert_reads(ner_quality.evaluate(data, n_resamples=20))


@pytest.mark.parametrize("column", ["sentence", "sentence_id"])
def test_sentences_of_tokens_have_a_column_of_their_own(column):
    rows = pd.DataFrame({column: 0, "token": TOKENS, "gold_tag": TAGS, "predicted_tag": SAID})
    assert_reads(ner_quality.evaluate(load({"gold": rows}, study="ner_quality"), n_resamples=20))
    with pytest.raises(BadInput, match="no column names their text; give one of id, sentence, sentence_id"):
        load({"gold": rows.drop(columns=column)}, study="ner_quality")


def test_tokens_that_differ_are_aligned_by_position(tmp_path):
    for name, tokens, tags in (("gold", TOKENS, TAGS), ("predictions", ["Mira!", *TOKENS[1:]], SAID)):
        (tmp_path / f"{name}.conll").write_text("".join(f"{t}\t{g}\n" for t, g in zip(tokens, tags, strict=True)))
    data = load(tmp_path, study="ner_quality")
    assert "1 token of 6 differ from the true ones; they were aligned by position" in " ".join(data.notes)
    assert_reads(ner_quality.evaluate(data, n_resamples=20))


def test_tokens_of_another_number_are_refused(tmp_path):
    for name, tags in (("gold", TAGS), ("predictions", SAID[:-1])):
        (tmp_path / f"{name}.conll").write_text("".join(f"{t}\t{g}\n" for t, g in zip(TOKENS, tags, strict=False)))
    with pytest.raises(BadInput, match="text s00001: 6 true, 5 predicted"):
        load(tmp_path, study="ner_quality")


def test_one_column_of_tags_needs_predictions(tmp_path):
    (tmp_path / "g.conll").write_text("a B-X\n")
    with pytest.raises(BadInput, match="one column of tags; give the predicted ones too"):
        load(tmp_path / "g.conll", study="ner_quality")


# -- bad input -------------------------------------------------------------------------------------


def test_overlapping_and_doubled_gold_is_counted_and_told():
    gold = spans(("a", 0, 9, "X"), ("a", 0, 4, "Y"), ("b", 0, 4, "X"), ("b", 0, 4, "X"))
    result = result_of(gold, gold.head(3))
    assert result.estimate("strict_f1", model=UNNAMED).value == pytest.approx(6 / 7)
    assert (
        "True spans that repeat another of the same place and class, each of which counts for itself: 1."
        in " ".join(result.notes)
    )
    assert "True spans that overlap or lie inside an earlier one of the same text: 1." in " ".join(result.notes)


def test_classes_unknown_to_gold_are_wrong_and_named():
    gold = spans(*[(f"t{i}", 0, 3, "X") for i in range(20)], *[(f"u{i}", 0, 3, "Y") for i in range(20)])
    said = gold.assign(entity_class=["Q"] * 15 + ["X"] * 5 + ["Y"] * 20)
    result = result_of(gold, said)
    assert "always wrong: Q (15)" in " ".join(result.notes)
    assert result.light == "red"
    strange = pd.concat([gold] + [gold.assign(entity_class=f"Q{i}") for i in range(30)])
    assert "classes unknown to gold" in set(result_of(gold, strange).tables["confusions"]["predicted_class"])


def test_combining_characters_and_emoji_count_as_code_points():
    text = "Zoe\u0308 👩‍🚀 Ив"
    texts = pd.DataFrame({"id": ["a"], "text": [text]})
    gold = spans(("a", 0, 4, "X"), ("a", 5, 8, "Y"), ("a", 9, 11, "X"))
    result = result_of(gold, gold, texts)
    assert result.estimate("strict_f1", model=UNNAMED).value == 1
    assert 'title="X"' in ner_quality.worst(result_of(gold, gold.head(1), texts))


@pytest.mark.parametrize(
    ("table", "column", "value", "said"),
    [
        ("gold", "end", 100_000, "gold: the span leaves its text"),
        ("predictions", "end", 1, "predictions: end is not behind start|expected"),
        ("predictions", "start", -1, "column start: expected a whole number, at least 0"),
        ("predictions", "start", None, "column start: empty"),
        ("gold", "start", "x", "column start: expected a whole number"),
        ("gold", "end", 2.5, "column end: expected a whole number"),
        ("gold", "entity_class", "  ", "gold: column entity_class: 1 blank cell"),
        ("gold", "entity_class", None, "column entity_class: empty"),
        ("predictions", "entity_class", ["X"], "column entity_class: expected a text"),
        ("predictions", "id", "nowhere", "predictions: no text has the id nowhere"),
        ("predictions", "model", None, "column model: empty"),
        ("texts", "text", None, "column text: empty"),
        ("texts", "id", "", "column id: empty"),
    ],
)
def test_bad_cells_are_refused_with_their_place(table, column, value, said):
    tables = dict(sample("ner_quality"))
    rows = tables[table].astype(object).reset_index(drop=True)
    at = 5 if value != 1 else int((rows["start"].astype(int) > 3).to_numpy().argmax())
    rows.at[at, column] = value
    with pytest.raises(BadInput, match=said):
        evaluated("ner_quality", tables | {table: rows})


def test_a_column_that_is_no_class_is_refused():
    gold = spans(*[(f"t{i}", 0, 3, f"name {i}") for i in range(150)])
    with pytest.raises(BadInput, match="150 classes, at most 100 are judged; are they classes"):
        result_of(gold, gold)


def test_hostile_classes_and_texts_reach_the_page_as_text():
    evil = '<script>alert("1")</script> → true "X"'
    texts = pd.DataFrame({"id": ["a", "b"], "text": [evil, evil]})
    gold = spans(("a", 0, 8, evil), ("b", 0, 8, 'confused ["A", "B"]'))
    said = spans(("a", 0, 8, 'confused ["A", "B"]'), ("b", 0, 7, evil))
    result = result_of(gold, said, texts)
    assert "<script>" not in page("ner_quality", result)
    assert result.light == "grey"


def test_the_sample_has_what_its_card_says():
    result = whole("ner_quality")
    lights = {e.group["model"]: e.light for e in result.summary.estimates if e.metric == "confusion_of_product"}
    assert lights == {"hazel-nano": "red", "larch-2": "green", "willow-1": "yellow"}
    assert re.search("willow-1 takes ORGANISATION for PLACE", result.sentence)


# -- former names of columns ------------------------------------------------------------------------


@pytest.mark.parametrize("beside", [{}, {"id": [7, 8]}, {"id": [7, 8], "example_id": [1, 2]}])
def test_text_id_is_read_as_the_id_of_the_text_whatever_stands_beside_it(beside):
    gold = spans(("a", 0, 2, "PER"), ("b", 0, 2, "LOC")).rename(columns={"id": "text_id"})
    texts = pd.DataFrame({"text_id": ["a", "b"], "text": ["Bo ran", "Oslo"]})
    tables = {
        name: table.assign(**beside) for name, table in {"gold": gold, "predictions": gold, "texts": texts}.items()
    }
    data = load(tables, study="ner_quality")
    assert data["gold"]["id"].tolist() == data["texts"]["id"].tolist() == ["a", "b"]
    assert any("column text_id was read as id" in note for note in data.notes)


def test_text_id_of_tokens_is_read_as_the_id_of_their_text():
    rows = pd.DataFrame(
        {"text_id": "a", "id": range(len(TOKENS)), "token": TOKENS, "gold_tag": TAGS, "predicted_tag": SAID}
    )
    data = load(rows, study="ner_quality")
    assert data["texts"]["id"].tolist() == ["a"]
    assert any("the column id beside it is not used" in note for note in data.notes)
