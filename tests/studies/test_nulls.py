"""Every study, with answers and references that are not there: nothing becomes 0, nothing is lost, the page says so.

Where answers and references are is in the study's schema: a column with ``keep_null``, a column named as one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import pytest
from chat import chat_endpoint, cite, solve
from some_studies import some_studies
from studied import Tables, answers, changed, evaluated, page, references, sample, whole

import evalbench
from evalbench import studies
from evalbench.core.result import Result
from evalbench.core.unscored import REASONS, in_words

# A session and a repeated question have many answers, of which one that is null is one less: tests of these studies.
MANY = ("dialogue", "reproduction")
# Scores that another tool gave stay what they are, whatever became of the texts.
GIVEN = ("imported",)
ANSWERING = [name for name in studies.names() if answers(name) and name not in (*MANY, *GIVEN)]
REFERRING = [name for name in studies.names() if references(name) and name not in GIVEN]
COLLECTING = [name for name in ANSWERING if "model" in studies.study(name).options()]


def with_nulls(
    study: str, at: list[tuple[str, str]], gone: Callable[[int], bool], value: Any = None, drop: bool = False
) -> Tables:
    """The sample's tables with some cells replaced, or these rows left out, with what people said of them."""
    found = changed(study, at, lambda i, old: value if gone(i) else old)
    if drop:
        kept = {table: [not gone(i) for i in range(len(found[table]))] for table, _ in at}
        found |= {table: found[table][rows] for table, rows in kept.items()}
    if "ratings" in found:
        keys = ["id", "model"]
        found["ratings"] = found["ratings"].merge(found["items"][keys], on=keys)
    return found


def result_of(study: str, tables: Tables, drawn: bool = False, **options: Any) -> Result:
    """The study's result, whose page has no empty cell with a word of Python; ``drawn`` where its pictures are looked at too."""
    result = evaluated(study, tables, **options)
    assert not re.search(r">\s*(nan|None|<NA>)\s*<", page(study, result, drawn=drawn))
    return result


def estimates(result: Result) -> pd.DataFrame:
    keys = [*result.by, "metric"]
    frame = result.frame()
    return frame.assign(**{k: frame[k].fillna("") for k in keys}).set_index(keys).sort_index()


def same(one: pd.DataFrame, other: pd.DataFrame) -> pd.Series:
    """Which estimates of the first are the same in the other."""
    columns = ["value", "n", "n_unscored", "n_undefined"]
    a, b = (frame.reindex(one.index)[columns].astype(float).fillna(-99) for frame in (one, other))
    return ((a - b).abs() < 1e-12).all(axis=1)


def assert_all_counted(study: str, result: Result) -> None:
    """n + unscored + undefined of every estimate is what it is without nulls; an item has at most one of the reasons."""
    now, then = (estimates(r)[["n", "n_unscored", "n_undefined"]].sum(axis=1) for r in (result, whole(study)))
    if study not in ("matching_calibration", "human_correlation"):  # which count pairs with a verdict, and documents
        stated = then.index.intersection(now.index)  # corpus BLEU is stated only where something was scored
        pd.testing.assert_series_equal(now, then[stated])
    items = result.items
    assert len(items) == len(whole(study).items)
    assert not ((items["unscored"] != "") & (items["undefined"] != "")).any()
    assert set(items["unscored"]) <= {"", *REASONS}


@cache
def without_references(study: str) -> Result:
    return evaluated(study, with_nulls(study, references(study), lambda i: True))


def why_undefined(result: Result) -> pd.Series:
    """Why each item, or a metric of it, has no value."""
    return result.items.filter(regex="(^|_)undefined$").agg("; ".join, axis=1)


def odd(i: int) -> bool:
    return i % 2 == 1


@pytest.mark.generated
@pytest.mark.parametrize("study", some_studies(ANSWERING))
def test_estimates_with_null_answers_are_those_of_the_others(study):
    result = result_of(study, with_nulls(study, answers(study), odd), drawn=True)
    rest = evaluated(study, with_nulls(study, answers(study), odd, drop=True))
    assert_all_counted(study, result)
    mine, others = estimates(result), estimates(rest)
    mine = mine[~same(mine, estimates(whole(study)))]  # what rests on no answer, such as the annotators' agreement
    if study == "human_correlation":  # whose trusted criteria follow from that agreement
        mine = mine.drop("trusted_mean", level="metric")
    others = others.reindex(mine.index)
    pd.testing.assert_series_equal(mine["value"].astype(float), others["value"].astype(float))
    lost = result.items[result.items["unscored"] != ""]
    assert set(lost["unscored"]) == {"no-output"}
    assert len(lost) == len(result.items) - len(rest.items)
    assert result.light == "grey"
    assert f"{len(lost)} of {len(result.items)}" in result.sentence or study == "human_correlation"
    assert "no output" in result.sentence


@pytest.mark.slow
@pytest.mark.parametrize("study", ANSWERING)
def test_a_null_answer_or_two_grey_no_light_and_are_counted(study):
    some = result_of(study, with_nulls(study, answers(study), lambda i: i == 3))
    rest = result_of(study, with_nulls(study, answers(study), lambda i: i == 3, drop=True))
    assert some.n_unscored == len(some.items) - len(rest.items) > 0
    assert (some.light, some.verdict.would_be) == (rest.light, rest.verdict.would_be)
    noted = some.frame()["note"].str.contains("if every unscored item were the worst").any()
    assert noted or study in ("human_correlation", "ner_variants")  # F1 is not a mean over items


@pytest.mark.generated
@pytest.mark.parametrize("study", some_studies(ANSWERING))
def test_without_any_answer_nothing_has_a_value(study):
    result = result_of(study, with_nulls(study, answers(study), lambda i: True), drawn=True)
    assert_all_counted(study, result)
    assert result.light == "grey"
    assert set(result.items["unscored"]) == {"no-output"}
    rows = estimates(result)
    assert result.summary.estimates[0].value is None
    rows = rows[~same(rows, estimates(whole(study)))]  # what rests on no answer
    assert rows["value"].isna().all()
    assert (rows["n"] == 0).all()
    assert rows["note"].str.contains("no.output|half has no value").all()
    assert "no output" in result.sentence
    assert not re.search(r"\b0(\.0+)?\b", result.sentence.partition("threshold")[0])


@pytest.mark.generated
@pytest.mark.parametrize("study", some_studies(ANSWERING))
def test_an_empty_text_is_an_answer(study):
    result = evaluated(study, with_nulls(study, answers(study), odd, value=""))
    if study == "ner_variants":  # whose replies are lists: the empty text is none, and never an empty list
        assert set(result.items["unscored"]) == {"", "unparsed"}
        return
    assert result.n_unscored == 0
    assert "Unscored" not in " ".join(result.notes)


@pytest.mark.generated
@pytest.mark.parametrize("study", some_studies(REFERRING))
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)], ids=["a quarter", "all"])
def test_a_null_reference_makes_undefined_what_needs_it_and_nothing_else(study, every):
    nulls = with_nulls(study, references(study), lambda i: i % every == 0)
    if study == "matching_calibration" and every == 1:
        with pytest.raises(evalbench.BadInput, match="nothing to learn from"):
            evaluated(study, nulls)
        return
    result = result_of(study, nulls)
    assert_all_counted(study, result)
    assert result.n_unscored == 0
    assert why_undefined(result).str.contains("no-reference").any()
    assert "grey" not in (result.light, result.verdict.would_be) or every == 1 or whole(study).light == "grey"
    if study in ("matching_calibration", "human_correlation"):
        return  # every statistic there rests on the reference, or on ranks among the outputs that have one
    now, then = estimates(result), estimates(whole(study))
    needs_it = ~same(then, estimates(without_references(study)))
    assert needs_it.any()
    assert same(then, now)[~needs_it].all()


@pytest.mark.slow
@pytest.mark.parametrize("study", [name for name in REFERRING if name not in MANY])
def test_no_score_is_made_of_a_reference_that_is_not_there(study):
    """The items that kept their reference have the scores that they had."""
    result = evaluated(study, with_nulls(study, references(study), lambda i: i % 4 == 0))
    then = whole(study).items
    kept = ~why_undefined(result).str.contains("no-reference").to_numpy()
    assert 0 < kept.sum() < len(kept)
    if study != "matching_calibration":  # whose scores come from a search over all verdicts
        shared = [c for c in then if "undefined" not in c]
        pd.testing.assert_frame_equal(result.items[kept][shared], then[kept][shared], check_dtype=False)
    lost, had = result.items[~kept], then[~kept]
    gone = [c for c in lost.select_dtypes("number") if lost[c].isna().sum() > had[c].isna().sum()]
    assert gone
    assert lost[gone].isna().all(axis=1).any()


# Of all studies some replies are lost; all of them where a text, a quotation and a list are asked for.
LOST = [*((name, False) for name in COLLECTING), ("cot_levels", True), ("citation", True), ("ner_variants", True)]


@pytest.mark.parametrize(
    ("study", "all_of_them"),
    [pair if pair == ("cot_levels", False) else pytest.param(*pair, marks=pytest.mark.slow) for pair in LOST],
    ids=lambda value: {False: "some replies", True: "all replies"}.get(value, value),
)
def test_a_reply_without_text_is_unscored(study, all_of_them, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))

    def answer(prompt: str) -> str | None:
        if all_of_them or sum(prompt.encode()) % 2:
            return None
        if "[text " in prompt:  # entities are asked for as a list
            return "[]"
        return cite(prompt) if "https://" in prompt else solve(prompt)

    tables = dict(sample(study))
    for table, _ in answers(study):
        ids = sorted(set(tables[table]["id"]))[:12]
        tables[table] = tables[table][tables[table]["id"].isin(ids)]
    with chat_endpoint(answer) as server:
        more = {"prompt": "{{ id }}", "lights": {}} if study == "text_metrics" else {}
        result = result_of(study, tables, model=server.name, **more)
    reasons = set(result.items["unscored"]) - {""}
    assert reasons <= {"no-text", "unparsed"}  # the latter where a value by a schema was asked for
    assert "no-text" in reasons or study == "citation"
    assert 0 < result.n_unscored < len(result.items) or all_of_them
    assert in_words(min(reasons)) in result.sentence
    if all_of_them:
        assert result.n_unscored == len(result.items)
        assert result.summary.estimates[0].value is None
        assert not {e.metric for e in result.summary.estimates if e.value is not None and e.n_unscored}
    scored = result.items["unscored"] == ""
    values = result.items.select_dtypes("number").drop(
        columns=["n_reference_steps", "reference_coherence", "length", "depth", "in_question"], errors="ignore"
    )
    assert values[~scored].isna().all(axis=None)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["truth", "predictions"])
@pytest.mark.parametrize("column", ["category", "explanation", "correction", "rule"])
def test_matching_reads_nulls_as_parts_that_are_not_there(table, column):
    nulls = with_nulls("matching", [(table, column)], odd)
    if column == "rule":
        with pytest.raises(evalbench.BadInput, match="column rule: empty"):
            evaluated("matching", nulls)
        return
    empty = with_nulls("matching", [(table, column)], odd, value="")
    a, b = (evaluated("matching", tables) for tables in (nulls, empty))
    pd.testing.assert_frame_equal(a.items, b.items)
    assert len(a.items) == len(whole("matching").items)
