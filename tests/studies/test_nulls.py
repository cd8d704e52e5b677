"""Every study, with answers and references that are not there: nothing becomes 0, nothing is lost, the page says so.

The cells of each study's notebook run here, without a kernel, on its sample with some cells made null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chat import chat_endpoint, cite, solve

import evalbench
from evalbench import load, studies
from evalbench.core.result import Result
from evalbench.core.unscored import REASONS, in_words
from evalbench.draw.show import shown

ROOT = Path(__file__).resolve().parents[2]
METRICS = ["f1_score", "exact_match", "rougeL", "length"]


@dataclass(frozen=True)
class Case:
    """A study's sample, where its answers and references stand, and which figures rest on the references.

    ``rows``: by column, how many items of the result one row of the table gives.
    """

    sample: str
    answers: dict[str, str] = field(default_factory=dict)  # table → column
    references: dict[str, str] = field(default_factory=dict)
    by_reference: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    collect: dict[str, Any] = field(default_factory=dict)


COT = ("final", "passed", "level 1 answer", "level 2 steps", "level 3 similarity", "answer, strict", "answer, flexible")
CASES = {
    "text_metrics": Case(
        "town_desk_answers@1.0.0",
        {"items": "output"},
        {"items": "reference"},
        ("f1_score", "exact_match", "rougeL"),
        {"metrics": METRICS, "lights": {"f1_score": [0.1, 0.2]}},
        {"prompt": "{{ id }}", "lights": {}},
    ),
    "human_correlation": Case(
        "town_desk@1.0.0",
        {"items": "output"},
        {"items": "reference"},
        ("f1_score",),
        {"metrics": ["f1_score", "length"]},
    ),
    "cot_levels": Case(
        "word_problems@1.0.0", {"items": "response"}, {"items": "reference"}, (*COT, "level 4 of the references")
    ),
    "citation": Case(
        "cited_answers@1.0.0",
        {"answers": "model_answer"},
        {"answers": "gold_answer"},
        ("correctness", "final", "passed"),
    ),
    "explainability": Case(
        "explained_answers@1.0.0",
        {"items": "response", "answers": "model_answer"},
        {"items": "reference", "answers": "gold_answer"},
        ("score", "passed", "XAI_overall_score"),
    ),
    "matching": Case("house_style_curated@1.0.0", options={"embed": "jaccard"}),
    "matching_calibration": Case(
        "house_style_curated@1.0.0",
        references={"pair_verdicts": "is_match"},
        by_reference=("f1", "precision", "recall"),
        options={"embed": "jaccard"},
    ),
}  # fmt: skip
ANSWERING = [name for name, case in CASES.items() if case.answers]
REFERRING = [name for name, case in CASES.items() if case.references]
COLLECTING = [name for name in ANSWERING if name != "human_correlation"]


def test_every_study_is_here() -> None:
    assert set(CASES) == set(studies.names())


def tables(study: str) -> dict[str, list[dict[str, Any]]]:
    """The sample's tables as JSON records; the first table of items sorted, so that every model loses some."""
    found = load(CASES[study].sample, study=study).tables
    return {
        name: [{k: none_if_nan(v) for k, v in row.items()} for row in frame.to_dict("records")]
        for name, frame in found.items()
    }


def none_if_nan(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value


def with_nulls(
    study: str, columns: dict[str, str], gone: Callable[[int], bool], value: Any = None, drop: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """The sample's tables with some cells replaced, or these rows left out, with what people said of them."""
    found = tables(study)
    for table, column in columns.items():
        rows = list(enumerate(found[table]))
        found[table] = [{**row, column: value} if gone(i) else row for i, row in rows if not (drop and gone(i))]
    if "ratings" in found:
        there = {(row["doc_id"], row["system"]) for row in found["items"]}
        found["ratings"] = [row for row in found["ratings"] if (row["doc_id"], row["system"]) in there]
    return found


def page(study: str, folder: Path, data: dict[str, list[dict[str, Any]]], monkeypatch: Any, **options: Any) -> Result:
    """The result that the notebook's cells give on these tables; everything that they show is drawn."""
    folder.mkdir(parents=True)
    for name, rows in data.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    results: list[Result] = []
    drawn: list[str] = []
    monkeypatch.setattr(evalbench, "record", results.append, raising=False)
    monkeypatch.setattr(evalbench, "show", lambda x, *a, **k: drawn.append(shown(x, *a, **k).html), raising=False)
    monkeypatch.chdir(ROOT)
    space: dict[str, Any] = {}
    cells = json.loads((ROOT / "notebooks" / f"{study}.ipynb").read_text())["cells"]
    parameters, *code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    exec(parameters, space)
    space |= {"data": str(folder), "n_resamples": 100, **CASES[study].options, **options}
    for cell in code:
        exec(cell, space)
    drawn.append(shown(results[0]).html)
    assert not re.search(r">\s*(nan|None|<NA>)\s*<", "".join(drawn))
    return results[0]


def figures(result: Result) -> pd.DataFrame:
    frame = result.frame()
    keys = [*(c for c in ("scorer", "criterion", "model", "part", "settings", "checker") if c in frame), "metric"]
    return frame.assign(**{k: frame[k].fillna("") for k in keys}).set_index(keys).sort_index()


def assert_all_counted(study: str, result: Result, whole: Result) -> None:
    """n + unscored + undefined of every figure is what it is without nulls; an item has at most one of the reasons."""
    now, then = (figures(r)[["n", "n_unscored", "n_undefined"]].sum(axis=1) for r in (result, whole))
    if study not in ("matching_calibration", "human_correlation"):  # which count pairs with a verdict, and documents
        pd.testing.assert_series_equal(now, then)
    items = result.items
    assert len(items) == len(whole.items)
    assert not ((items["unscored"] != "") & (items["undefined"] != "")).any()
    assert set(items["unscored"]) <= {"", *REASONS}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Result]:
    """A study on its sample as it is."""
    known: dict[str, Result] = {}

    def get(study: str) -> Result:
        if study not in known:
            with pytest.MonkeyPatch.context() as patch:
                known[study] = page(study, tmp_path_factory.mktemp(study) / "whole", tables(study), patch)
        return known[study]

    return get


def reasons_column(result: Result) -> str:
    """Where the items say why something has no value; a text metric's are by metric."""
    return "f1_score_undefined" if "f1_score_undefined" in result.items else "undefined"


def odd(i: int) -> bool:
    return i % 2 == 1


@pytest.mark.parametrize("study", ANSWERING)
def test_figures_with_null_answers_are_those_of_the_others(study, tmp_path, monkeypatch, whole):
    case = CASES[study]
    result = page(study, tmp_path / "null", with_nulls(study, case.answers, odd), monkeypatch)
    rest = page(study, tmp_path / "rest", with_nulls(study, case.answers, odd, drop=True), monkeypatch)
    assert_all_counted(study, result, whole(study))
    mine, others = figures(result)["value"], figures(rest)["value"]
    if study == "human_correlation":  # the annotators' agreement is over all outputs, with text or without
        kept = mine.index.get_level_values("scorer") != ""
        mine, others = mine[kept].drop("trusted_mean", level="metric"), others
        others = others.reindex(mine.index)
    pd.testing.assert_series_equal(mine.astype(float), others.astype(float))
    lost = result.items[result.items["unscored"] != ""]
    assert set(lost["unscored"]) == {"no-output"}
    assert len(lost) == len(result.items) - len(rest.items)
    assert result.light == "grey"
    assert f"{len(lost)} of {len(result.items)}" in result.sentence or study == "human_correlation"
    assert "no output" in result.sentence


@pytest.mark.slow
@pytest.mark.parametrize("study", ANSWERING)
def test_a_null_answer_or_two_grey_no_light_and_are_counted(study, tmp_path, monkeypatch):
    case = CASES[study]
    some = page(study, tmp_path / "null", with_nulls(study, case.answers, lambda i: i == 3), monkeypatch)
    rest = page(study, tmp_path / "rest", with_nulls(study, case.answers, lambda i: i == 3, drop=True), monkeypatch)
    assert some.n_unscored == len(some.items) - len(rest.items) > 0
    assert (some.light, some.verdict.would_be) == (rest.light, rest.verdict.would_be)
    noted = some.frame()["note"].str.contains("if every unscored item were the worst").any()
    assert noted or study == "human_correlation"


@pytest.mark.parametrize("study", ANSWERING)
def test_without_any_answer_nothing_has_a_value(study, tmp_path, monkeypatch, whole):
    case = CASES[study]
    result = page(study, tmp_path / "null", with_nulls(study, case.answers, lambda i: True), monkeypatch)
    assert_all_counted(study, result, whole(study))
    assert result.light == "grey"
    assert set(result.items["unscored"]) == {"no-output"}
    rows = figures(result)
    if study == "human_correlation":
        rows = rows[rows.index.get_level_values("scorer") != ""]
    rows = rows.drop("level 4 of the references", level="metric", errors="ignore")
    assert rows["value"].isna().all()
    assert (rows["n"] == 0).all()
    assert rows["note"].str.contains("no.output|half has no value").all()
    assert "no output" in result.sentence
    assert not re.search(r"\b0(\.0+)?\b", result.sentence.partition("threshold")[0])


@pytest.mark.parametrize("study", ANSWERING)
def test_an_empty_text_is_an_answer(study, tmp_path, monkeypatch):
    case = CASES[study]
    result = page(study, tmp_path / "empty", with_nulls(study, case.answers, odd, value=""), monkeypatch)
    assert result.n_unscored == 0
    assert "Unscored" not in " ".join(result.notes)


@pytest.mark.parametrize("study", REFERRING)
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)], ids=["a quarter", "all"])
def test_a_null_reference_makes_undefined_what_needs_it_and_nothing_else(study, every, tmp_path, monkeypatch, whole):
    case = CASES[study]
    nulls = with_nulls(study, case.references, lambda i: i % every == 0)
    if study == "matching_calibration" and every == 1:
        with pytest.raises(evalbench.BadInput, match="nothing to learn from"):
            page(study, tmp_path / "null", nulls, monkeypatch)
        return
    result = page(study, tmp_path / "null", nulls, monkeypatch)
    assert_all_counted(study, result, whole(study))
    assert result.n_unscored == 0
    assert result.items[reasons_column(result)].str.contains("no-reference").any()
    assert "grey" not in (result.light, result.verdict.would_be) or every == 1 or whole(study).light == "grey"
    if study in ("matching_calibration", "human_correlation"):
        return  # every figure there rests on the reference, or on ranks among the outputs that have one
    now, then = figures(result), figures(whole(study))
    untouched = ~now.index.get_level_values("metric").isin(case.by_reference)
    pd.testing.assert_series_equal(now["value"][untouched].astype(float), then["value"][untouched].astype(float))
    assert (now["n_undefined"][~untouched] >= then["n_undefined"][~untouched]).all()


@pytest.mark.slow
@pytest.mark.parametrize("study", REFERRING)
def test_no_score_is_made_of_a_reference_that_is_not_there(study, tmp_path, monkeypatch, whole):
    """The items that kept their reference have the scores that they had."""
    case = CASES[study]
    result = page(study, tmp_path / "null", with_nulls(study, case.references, lambda i: i % 4 == 0), monkeypatch)
    column = reasons_column(result)
    then = whole(study).items
    kept = (result.items[column] == then.get(column, "")).to_numpy()
    assert 0 < kept.sum() < len(kept)
    if study != "matching_calibration":  # whose scores come from a search over all verdicts
        pd.testing.assert_frame_equal(result.items[list(then)][kept], then[kept], check_dtype=False)
    needs_it = {
        "text_metrics": "f1_score",
        "human_correlation": "human",
        "cot_levels": "final",
        "citation": "correctness",
        "matching_calibration": "tp",
    }
    if study in needs_it:
        lost = result.items[result.items[column].str.contains("no-reference")]
        lost = lost[lost["scorer"] == "f1_score"] if study == "human_correlation" else lost
        assert lost["score" if study == "human_correlation" else needs_it[study]].isna().all()


@pytest.mark.parametrize(
    "study", [name if name == "cot_levels" else pytest.param(name, marks=pytest.mark.slow) for name in COLLECTING]
)
@pytest.mark.parametrize(
    "all_of_them", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some replies", "all replies"]
)
def test_a_reply_without_text_is_unscored(study, all_of_them, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))

    def answer(prompt: str) -> str | None:
        if all_of_them or sum(prompt.encode()) % 2:
            return None
        return cite(prompt) if "https://" in prompt else solve(prompt)

    with chat_endpoint(answer) as server:
        data = tables(study)
        for table in data:
            if table in CASES[study].answers:
                ids = sorted({row["id"] for row in data[table]})[:12]
                data[table] = [row for row in data[table] if row["id"] in ids]
        options = {"model": server.name, **CASES[study].collect}
        result = page(study, tmp_path / "data", data, monkeypatch, **options)
    reasons = set(result.items["unscored"]) - {""}
    assert reasons <= {"no-text", "unparsed"}  # the latter where a value by a schema was asked for
    assert "no-text" in reasons or study == "citation"
    assert 0 < result.n_unscored < len(result.items) or all_of_them
    assert in_words(min(reasons)) in result.sentence
    if all_of_them:
        assert result.n_unscored == len(result.items)
        assert result.frame().query("metric != 'level 4 of the references'")["value"].isna().all()
    scored = result.items["unscored"] == ""
    values = result.items.select_dtypes("number").drop(
        columns=["n_reference_steps", "reference_coherence"], errors="ignore"
    )
    assert values[~scored].isna().all(axis=None)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["truth", "predictions"])
@pytest.mark.parametrize("column", ["category", "explanation", "correction", "rule"])
def test_matching_reads_nulls_as_parts_that_are_not_there(table, column, tmp_path, monkeypatch, whole):
    nulls = with_nulls("matching", {table: column}, odd)
    if column == "rule":
        with pytest.raises(evalbench.BadInput, match="column rule: empty"):
            page("matching", tmp_path / "null", nulls, monkeypatch)
        return
    empty = with_nulls("matching", {table: column}, odd, value="")
    a, b = (page("matching", tmp_path / n, d, monkeypatch) for n, d in (("null", nulls), ("empty", empty)))
    pd.testing.assert_frame_equal(a.items, b.items)
    assert len(a.items) == len(whole("matching").items)
