"""Stability of the top: a search whose tops are known by hand, tables of one's own, a model that rewrites (a fake)."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from chat import chat_endpoint

from evalbench import load
from evalbench.draw.html import breakable
from evalbench.errors import BadInput
from evalbench.studies import stability_top
from evalbench.studies.stability_top.inputs import NOT_CHANGED, level_of
from evalbench.studies.stability_top.summary import bands_of_document
from tests.helpers.lights import of_figures

QUESTIONS = pd.DataFrame(
    {"id": ["a", "b", "c"], "question": ["where are dogs kept", "как платят за мёд", " "], "lang": ["en", "ru", ""]}
)
DOCUMENTS = pd.DataFrame(
    {
        "doc_id": [f"d{i}" for i in range(8)],
        "text": [
            "dogs are kept in the yard",
            "cats sleep",
            "мёд дорог, платят монетой",
            "платят за хлеб",
            "bees",
            "",
            "a yard",
            "bees",
        ],
    }
)
FEW = {"n_resamples": 50, "k": 2, "deepest": 4}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))


def judged(tables=None, **options):
    tables = tables or {"questions": QUESTIONS, "documents": DOCUMENTS}
    return stability_top.evaluate(load(tables, study="stability_top"), **{**FEW, **options})


def tops(*rows):
    """Rows of question, augmentation and its passages in their order."""
    cells = [(i, name, doc, rank) for i, name, docs in rows for rank, doc in enumerate(docs, 1)]
    return pd.DataFrame(cells, columns=["id", "augmentation", "doc_id", "rank"])


TOPS = tops(
    ("p", "", "xyz"), ("p", "typos", "yxw"), ("p", "paraphrase", "xyz"), ("q", "", "xyz"), ("q", "typos", "uvw")
)


def test_the_control_is_one_everywhere_and_a_typo_is_not():
    result = judged(augmentations=["none", "butter_finger"], rates={"butter_finger": 0.5})
    control = result.items[result.items["augmentation"] == "none"].set_index("id")
    assert (control.loc[["a", "b"], ["unchanged_strict", "unchanged_soft", "jaccard"]] == 1).all(axis=None)
    assert control["undefined"].to_dict() == {"a": "", "b": "", "c": "blank-question"}
    by_k = result.tables["by_k"].query("augmentation == 'none'")
    assert by_k["rbo"].tolist() == pytest.approx([1.0] * 4)
    assert result.estimate("unchanged_soft", augmentation="none").value == 1
    changed = result.items[result.items["augmentation"] == "butter_finger"]
    assert (changed["unchanged_soft"].dropna() < 1).any()
    assert any("Documents without a text, never found: 1" in note for note in result.notes)
    assert any("Documents whose text is another's: 1" in note for note in result.notes)


def test_tops_of_ones_own_by_hand():
    result = judged({"tops": TOPS}, k=2, deepest=3)
    items = result.items.set_index(["augmentation", "id"])
    assert items.loc[("typos", "p"), ["unchanged_strict", "unchanged_soft", "jaccard"]].tolist() == [1, 1, 1]
    assert items.loc[("typos", "p"), "rbo"] == pytest.approx(0.9**2 + 0.1 / 0.9 * 0.9**2)
    assert items.loc[("typos", "q"), ["unchanged_strict", "unchanged_soft", "jaccard", "rbo"]].tolist() == [0, 0, 0, 0]
    assert result.estimate("unchanged_soft", augmentation="typos").value == 0.5
    by_k = result.tables["by_k"].set_index(["augmentation", "k"])
    assert by_k.loc[("typos", 1), "unchanged_soft"] == 0
    assert by_k.loc[("typos", 3), ["unchanged_soft", "changed_soft"]].tolist() == pytest.approx([1 / 3, 2 / 3])
    assert dict(zip(result.items["augmentation"], result.items["level"], strict=True)) == {
        "paraphrase": "words",
        "typos": "other",
    }
    assert result.judged == "the search of the table"
    assert stability_top.worst(result)["top after"][0].count("eb-differs") == 2


def test_the_order_of_rows_changes_nothing():
    for tables in ({"tops": TOPS}, {"questions": QUESTIONS, "documents": DOCUMENTS}):
        shuffled = {name: table.sample(frac=1, random_state=3) for name, table in tables.items()}
        pd.testing.assert_frame_equal(judged(tables).items, judged(shuffled).items)


def test_a_question_whose_own_top_is_missing_is_unscored():
    result = judged({"tops": tops(("p", "", "xyz"), ("p", "t", "xyz"), ("q", "t", "xyz"), ("r", "", "xyz"))}, k=3)
    assert result.items.set_index("id")["unscored"].to_dict() == {"p": "", "q": "no-output"}
    assert "Questions without any top after an augmentation, in no figure: 1 of 3." in result.notes


def test_what_the_table_lacks_is_said():
    few = tops(*((i, name, "xyz") for i in "pq" for name in ("исходный", "typos")), ("p", "swap", "xyz"))
    result = judged({"tops": few.assign(rank=1)}, k=5, deepest=10)
    assert [note for note in result.notes if "column" not in note] == [
        "1 of 2 questions absent (swap), left out.",
        "No top has 5 passages (k): the figures are those of the first 3.",
        "The tops are 3 deep: none of the table has more passages.",
        "Tops with passages of the same rank, which are in the order of their names: 5.",
    ]
    assert result.tables["by_k"]["k"].max() == 3
    assert "2 questions, k = 5." in result.sentence
    assert "1 of 2 questions absent (swap), left out." in result.sentence
    with pytest.raises(BadInput, match=r"augmentation is 'as-is', 'typos'\. A question as it was written has an empty"):
        judged({"tops": few.replace({"augmentation": {"исходный": "as-is", "swap": "typos"}}).drop_duplicates()})


def test_lists_of_passages(tmp_path):
    rows = [
        {"id": i, "augmentation": a, "doc_id": list("xyz" if i == "p" else "uvw")} for i in "pq" for a in ("", "typo")
    ]
    path = tmp_path / "lists.parquet"
    pd.DataFrame([*rows, {"id": "r", "augmentation": "typo", "doc_id": []}]).to_parquet(path)
    data = load(path, study="stability_top")
    assert data["tops"][["doc_id", "rank"]].to_numpy().tolist()[:3] == [["x", 1], ["y", 2], ["z", 3]]
    assert "rows with an empty list, left out: 1" in " ".join(data.notes)
    assert of_figures(stability_top.evaluate(data, **FEW)) == "green"


def test_variants_of_ones_own():
    variants = pd.DataFrame(
        {"id": ["a", "b", "a", "x"], "augmentation": ["mine", "mine", "same", "mine"], "question": ["dog", QUESTIONS["question"][1], QUESTIONS["question"][0], "?"]}
    )  # fmt: skip
    result = judged({"questions": QUESTIONS, "documents": DOCUMENTS, "variants": variants})
    found = result.items.set_index(["augmentation", "id"])["undefined"].to_dict()
    assert found == {("mine", "a"): "", ("mine", "b"): NOT_CHANGED, ("same", "a"): ""}
    assert any("Variants of questions that the table does not have, left out: 1" in note for note in result.notes)


def test_paraphrases_and_translations_by_a_model():
    def say(prompt: str) -> str:
        text = re.search(r"\[text (\w+)\]\n(.*?)\n\[/text \1\]", prompt, re.DOTALL)[2]
        return "" if "dogs" in text else f"{text}, скажи"

    questions = QUESTIONS.iloc[:2]
    with chat_endpoint(say) as server:
        result = judged(
            {"questions": questions, "documents": DOCUMENTS},
            augmentations=["paraphrase", "translate_ru_uk_ru"],
            rephraser=server.name,
            max_unscored=1.0,
        )
    items = result.items.set_index(["augmentation", "id"])
    assert items["unscored"].to_dict() == {
        ("paraphrase", "a"): "no-text", ("paraphrase", "b"): "", ("translate_ru_uk_ru", "b"): ""
    }  # fmt: skip
    texts = result.tables["texts"].set_index(["augmentation", "id"])["variant"]
    assert texts["translate_ru_uk_ru", "b"] == "как платят за мёд, скажи, скажи"
    assert len(result.tables["calls"]) == 4
    assert any("translate_ru_uk_ru is not for 1 of 2 questions" in note for note in result.notes)
    assert result.accounting["calls"] == 4


def test_columns_and_files_of_beir(tmp_path):
    QUESTIONS.iloc[:2].rename(columns={"id": "_id", "question": "text"}).to_json(
        tmp_path / "queries.jsonl", orient="records", lines=True
    )
    DOCUMENTS.rename(columns={"doc_id": "_id"}).to_json(tmp_path / "corpus.jsonl", orient="records", lines=True)
    found = stability_top.evaluate(load(tmp_path, study="stability_top"), **FEW)
    assert set(found.items["id"]) == {"a", "b"}


def test_a_single_file_of_tops(tmp_path):
    TOPS.to_csv(tmp_path / "mine.csv", index=False)
    found = stability_top.evaluate(load(tmp_path / "mine.csv", study="stability_top"), **FEW)
    assert found.judged == "the search of the table"
    assert len(found.items) == 3


@pytest.mark.parametrize(("metric", "red", "green"), [("unchanged_soft", 0.1, 0.8), ("unchanged_strict", 0.05, 0.7)])
def test_the_document_s_lights_and_both_neighbours(metric, red, green):
    bands = bands_of_document(metric)
    values = (red - 0.001, red, red + 0.001, green - 0.001, green, green + 0.001)
    assert [bands.light(v) for v in values] == ["red", "red", "yellow", "yellow", "green", "green"]


def test_thresholds_of_ones_own():
    lights = {"unchanged_soft": {"green_from": 0.5, "yellow_from": 0.2}, "rbo": {"green_from": 0.9, "yellow_from": 0.8}}
    result = judged({"tops": TOPS}, lights=lights)
    assert of_figures(result) == "red"
    assert result.verdict.decided_by["metric"] == "rbo"


def test_all_faults_at_once():
    with pytest.raises(BadInput) as caught:
        judged(
            k=0, deepest=-1, persistence=1, scheme="x", protect=["y"], lights={"z": {}},
            augmentations=["butter", "none", "none", "translate_xx_ru"], rates={"none": 0.1, "word_swap": 1},
        )  # fmt: skip
    said = str(caught.value)
    for part in (
        "k must be between 1 and 1000", "deepest must be", "persistence must be", "scheme", "'y' is not one of numbers",
        "lights must be one of", "'butter' is not one of", "none is named twice", "'xx' is not one of", "none has no rate",
        "word_swap is not among the augmentations",
    ):  # fmt: skip
        assert part in said, part


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        ({"questions": QUESTIONS}, {}, "there is no table documents"),
        ({"documents": DOCUMENTS}, {}, "there is no table questions"),
        ({"questions": QUESTIONS, "documents": DOCUMENTS[:2]}, {}, "only 2 documents have a text"),
        ({"questions": QUESTIONS, "documents": DOCUMENTS}, {"augmentations": ["paraphrase"]}, "a model writes these"),
        ({"tops": TOPS[TOPS["augmentation"] == ""]}, {}, "no row is of a changed question"),
        ({"tops": pd.concat([TOPS, TOPS[:3].assign(augmentation="original")])}, {}, "under several names: p; keep one"),
        ({"tops": TOPS[TOPS["augmentation"] != ""]}, {}, "no row is of a question as it was written"),
    ],
)
def test_what_cannot_be_compared_is_refused(tables, options, message):
    with pytest.raises(BadInput, match=message):
        judged(tables, **options)


def test_levels():
    names = ("butter_finger", "human_level 0.02", "translate_ru_en", "Paraphrase", "special_token", "none")
    assert [level_of(name) for name in names] == ["characters", "characters", "words", "words", "words", "other"]


def test_edits_are_kept_and_shown():
    hostile = pd.DataFrame({"id": ["<b>1"], "question": ["<img src=x> dogs in the yard"]})
    result = judged(
        {"questions": hostile, "documents": DOCUMENTS}, augmentations=["special_token"], rates={"special_token": 1}
    )
    (row,) = result.tables["texts"].to_dict("records")
    start, end, new_start, new_end, kind = json.loads(row["edits"])[-1]
    assert (row["question"][start:end], row["variant"][new_start:new_end], kind) == (
        "yard",
        "y-a-r-d",
        "letters separated",
    )
    shown = stability_top.examples(result)
    assert "letters separated; was: yard" in shown
    assert "<img" not in shown
    assert "<b>" not in shown
    assert "was changed" in stability_top.examples(judged({"tops": TOPS}))


def test_pictures_and_tables_where_nothing_changed():
    result = judged({"tops": tops(("p", "", "xyz"), ("p", "t", "xyz"))})
    assert stability_top.worst(result)["note"].tolist() == ["no top changed"]
    assert np.allclose(result.tables["by_k"]["unchanged_soft"], 1)
    for picture in (stability_top.picture_kept, stability_top.picture_unchanged, stability_top.picture_depths):
        assert "1" in picture(result)[1]


def test_a_name_of_any_length_is_cut_in_the_table_and_breaks_on_the_page():
    long = "x" * 5000
    result = judged({"tops": tops(("p", "", [long, "y"]), ("p", "t" * 300, ["z", "y"]))})
    shown = stability_top.worst(result)
    assert "whole text, 5" in shown["top before"].iloc[0]
    assert len(re.findall(r"t+", breakable("t" * 300))) == 8


def many(after: str, before: str = "xyz", n: int = 40) -> pd.DataFrame:
    """Tops of so many questions, each with passages of its own."""
    own = [[(f"q{i}", "", before), (f"q{i}", "typos", after)] for i in range(n)]
    frame = tops(*(row for pair in own for row in pair))
    return frame.assign(doc_id=frame["doc_id"] + "-" + frame["id"])


def test_a_search_that_finds_the_same_for_every_question_has_no_light():
    same = many("xyz").assign(doc_id=lambda rows: rows["doc_id"].str[0])
    result = judged({"tops": same}, k=3)
    assert result.light == "grey"
    assert "40 of 40 questions have the same top as another question" in result.sentence
    assert judged({"tops": many("xyz")}, k=3).light == "green"


def test_what_makes_tops_differ_without_the_search_is_in_the_sentence():
    assert "passages of changed questions" not in judged({"tops": many("xyz")}, k=3).sentence
    shorter = judged({"tops": many("x")}, k=3).sentence
    assert "Tops of changed questions have 1 passages and those of questions as written 3." in shorter
    spelt = many("xyz").assign(
        doc_id=lambda rows: rows["doc_id"].where(rows["augmentation"] == "", rows["doc_id"].str.upper())
    )
    assert "120 differ from another one by case alone" in judged({"tops": spelt}, k=3).sentence
    few = judged({"tops": many("xyz")}, k=5).sentence
    assert "No top has 5 passages (k): the figures are those of the first 3." in few


def test_tops_that_are_shorter_than_asked_for_say_how_many_documents_exist():
    assert "The tops are 6 deep: there are 7 documents." in judged(deepest=10).notes
    assert not [note for note in judged(deepest=6).notes if "deep: there are" in note]
