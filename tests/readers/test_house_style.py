"""The sample data set house_style_curated@1.1.0: written by its script, placed in its texts, varied enough."""

from __future__ import annotations

import csv
import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from evalbench.text.locate import locate

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data" / "house_style_curated" / "1.1.0"
TEST_DATA = ROOT / "tests" / "data"
FILES = ("documents.csv", "truth.csv", "predictions.csv", "pair_verdicts.csv", "checkers.csv", "README.md")
NESTED_FILES = ("house_style_nested.jsonl", "house_style_context_spans.json")
Rows = list[dict[str, str]]


def read(name: str) -> Rows:
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_house_style", ROOT / "scripts" / "make_house_style.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {row["id"]: row["text"] for row in read("documents")}


@pytest.fixture(scope="module")
def context_spans() -> dict[str, list[int]]:
    return json.loads((TEST_DATA / "house_style_context_spans.json").read_text("utf-8"))


def spans_of(row: dict[str, str], context_spans: dict[str, list[int]]) -> list[list[int]]:
    if row["context"]:
        return [context_spans[row["violation_id"]]]
    return json.loads(row["spans"]) if row["spans"] else [[int(row["start"]), int(row["end"])]]


def characters(row: dict[str, str], context_spans: dict[str, list[int]]) -> set[int]:
    return {index for start, end in spans_of(row, context_spans) for index in range(start, end)}


@pytest.mark.parametrize("passage", ["absent", "a"])
def test_a_passage_that_is_absent_or_ambiguous_is_refused(script: ModuleType, passage: str) -> None:
    with pytest.raises(ValueError, match=f"'{passage}' occurs [02] times in 'a bay'"):
        script.locate("a bay", passage)


def test_a_malformed_rule_is_refused(script: ModuleType) -> None:
    with pytest.raises(ValueError, match="'C1 = own' is not a rule"):
        script.parse_violation("C1 = own | a", ("s", "v", ""), "en", "a", script.read_rules())


def test_the_committed_files_are_what_the_script_writes(script: ModuleType, tmp_path: Path) -> None:
    script.write(tmp_path / "data", tmp_path / "nested")
    for name in FILES:
        assert (tmp_path / "data" / name).read_bytes() == (DATA / name).read_bytes(), name
    for name in NESTED_FILES:
        assert (tmp_path / "nested" / name).read_bytes() == (TEST_DATA / name).read_bytes(), name


def test_files_are_utf8_with_line_feeds_and_no_byte_order_mark() -> None:
    for name in FILES:
        content = (DATA / name).read_bytes()
        assert not content.startswith(b"\xef\xbb\xbf")
        assert b"\r" not in content
        content.decode("utf-8")


@pytest.mark.parametrize("name", ["truth", "predictions"])
def test_every_violation_is_placed_in_one_way_inside_its_text(
    name: str, texts: dict[str, str], context_spans: dict[str, list[int]]
) -> None:
    for row in read(name):
        ways = [bool(row["start"] and row["end"]), bool(row["spans"]), bool(row["context"])]
        assert sum(ways) == 1, row["violation_id"]
        assert bool(row["start"]) == bool(row["end"])
        text = texts[row["id"]]
        for start, end in spans_of(row, context_spans):
            assert 0 <= start < end <= len(text), row["violation_id"]
            assert text[start:end] == text[start:end].strip(), row["violation_id"]


def test_offsets_count_code_points_not_utf16_units(texts: dict[str, str]) -> None:
    row = next(row for row in read("truth") if row["violation_id"] == "hs-015-t1")
    text = texts["hs-015"]
    assert ord(text[0]) > 0xFFFF
    assert text[int(row["start"]) : int(row["end"])] == "a spoon of Orrenfell keeps the cold away"


def test_contexts_are_found_where_they_were_meant(texts: dict[str, str], context_spans: dict[str, list[int]]) -> None:
    given = [row for row in read("truth") if row["context"]]
    assert {row["violation_id"] for row in given} == set(context_spans)
    ways = set()
    for row in given:
        found = locate(row["context"], texts[row["id"]])
        assert found is not None, row["violation_id"]
        start, end = context_spans[row["violation_id"]]
        common = min(end, found.end) - max(start, found.start)
        assert common / (max(end, found.end) - min(start, found.start)) > 0.9, row["violation_id"]
        ways.add(found.how)
    assert ways == {"exact", "white space", "fuzzy"}


def test_ids_are_unique_and_refer_to_rows(texts: dict[str, str]) -> None:
    truth, predictions, verdicts = read("truth"), read("predictions"), read("pair_verdicts")
    assert len(texts) == len(read("documents"))
    by_id = {}
    for rows in (truth, predictions):
        assert len({row["violation_id"] for row in rows}) == len(rows)
        assert {row["id"] for row in rows} <= set(texts)
        by_id |= {row["violation_id"]: row for row in rows}
    for row in verdicts:
        assert by_id[row["truth_id"]]["id"] == row["id"]
        assert by_id[row["prediction_id"]]["id"] == row["id"]
        assert by_id[row["prediction_id"]]["model"] == row["model"]
        assert row["mark"] in {"0", "1"}
    read_once = Counter((row["truth_id"], row["prediction_id"], row["annotator"]) for row in verdicts)
    assert set(read_once.values()) == {1}


def test_sizes() -> None:
    documents, truth = read("documents"), read("truth")
    per_sample = Counter(row["id"] for row in truth)
    assert len(documents) >= 44
    assert len(truth) >= 84
    assert len(per_sample) < len(documents), "some texts have no violation"
    assert max(per_sample.values()) >= 3
    assert 14 <= len({(row["category"], row["rule"]) for row in truth}) <= 16 * 3
    assert len({row["category"] for row in truth}) == 6
    assert sum(bool(row["spans"]) for row in truth) >= 3
    assert sum(not row["correction"] for row in truth) >= 5


def test_a_quarter_of_the_texts_is_russian_or_chinese() -> None:
    scripts = {"ru": ("\u0400", "\u04ff"), "zh": ("\u4e00", "\u9fff")}
    documents = read("documents")
    share = Counter(row["lang"] for row in documents)
    assert set(share) == {"en", "ru", "zh"}
    assert share["ru"] + share["zh"] >= len(documents) / 4
    for row in documents:
        if row["lang"] in scripts:
            first, last = scripts[row["lang"]]
            assert sum(first <= letter <= last for letter in row["text"]) > len(row["text"]) / 2


def test_cyrillic_words_hold_no_latin_letters() -> None:
    for row in read("documents") + read("truth") + read("predictions"):
        for word in " ".join(row.values()).split():
            letters = [letter for letter in word if letter.isalpha()]
            cyrillic = sum("\u0400" <= letter <= "\u04ff" for letter in letters)
            assert cyrillic in {0, len(letters)}, word


def overlap_f1(checker: str, context_spans: dict[str, list[int]]) -> float:
    """F1 where a violation counts as found if one passage shares more than half of their union with it."""
    truth = read("truth")
    predictions = [row for row in read("predictions") if row["model"] == checker]

    def close(left: dict[str, str], right: dict[str, str]) -> bool:
        if left["id"] != right["id"]:
            return False
        a, b = characters(left, context_spans), characters(right, context_spans)
        return len(a & b) > len(a | b) / 2

    recall = sum(any(close(row, other) for other in predictions) for row in truth) / len(truth)
    precision = sum(any(close(row, other) for other in truth) for row in predictions) / len(predictions)
    return 2 * precision * recall / (precision + recall)


def test_the_checkers_differ_in_quality(context_spans: dict[str, list[int]]) -> None:
    checkers = ("fern-prompt@1.1.0|oak-7b", "reed-index@2.2.0|oak-7b", "moss-panel@2.1.0|birch-30b")
    assert {row["model"] for row in read("predictions")} == set(checkers)
    fern, reed, moss = (overlap_f1(checker, context_spans) for checker in checkers)
    assert fern + 0.1 < reed
    assert reed + 0.1 < moss
    assert moss < 0.95


def test_every_planted_fault_is_there(context_spans: dict[str, list[int]]) -> None:
    truth, predictions = read("truth"), read("predictions")
    met = {
        row["violation_id"]: [
            true
            for true in truth
            if true["id"] == row["id"] and characters(true, context_spans) & characters(row, context_spans)
        ]
        for row in predictions
    }
    hits = Counter((true["violation_id"], row["model"]) for row in predictions for true in met[row["violation_id"]])
    rules = {row["rule"] for row in truth}
    assert sum(not found for found in met.values()) >= 15, "hallucinated"
    assert sum(len(found) > 1 for found in met.values()) >= 15, "merged"
    assert sum(times > 1 for times in hits.values()) >= 15, "split"
    assert sum(row["rule"] not in rules for row in predictions) >= 40, "reworded rules"
    assert sum(not row["explanation"] for row in predictions) >= 10
    assert sum(not row["correction"] for row in predictions) >= 50


def test_verdicts_are_200_pairs_of_which_60_were_read_twice() -> None:
    pairs: dict[tuple[str, str], list[str]] = {}
    for row in read("pair_verdicts"):
        pairs.setdefault((row["truth_id"], row["prediction_id"]), []).append(row["mark"])
    twice = [verdicts for verdicts in pairs.values() if len(verdicts) == 2]
    assert len(pairs) == 200
    assert len(twice) == 60
    assert 3 <= sum(len(set(verdicts)) == 2 for verdicts in twice) <= 12
    assert 0.3 < sum(verdicts[0] == "1" for verdicts in pairs.values()) / 200 < 0.7


def test_the_card_says_synthetic_first() -> None:
    assert "synthetic: yes" in (DATA / "README.md").read_text("utf-8").splitlines()[0]


def test_the_nested_documents_hold_the_same_rows(texts: dict[str, str]) -> None:
    lines = (TEST_DATA / "house_style_nested.jsonl").read_text("utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    assert len(documents) == 5
    for document in documents:
        assert document["text"] == texts[document["id"]]
        for name, key in (("truth", "violations"), ("predictions", "predictions")):
            flat = {row["violation_id"]: row for row in read(name) if row["id"] == document["id"]}
            assert [row["violation_id"] for row in document[key]] == list(flat)
            for row in document[key]:
                written = {field: json.dumps(value) if field == "spans" else str(value) for field, value in row.items()}
                assert written.items() <= flat[row["violation_id"]].items()
