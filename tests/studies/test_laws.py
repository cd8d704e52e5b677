"""What holds for every study, whatever it is about: it is tried on the sample of its notebook, unasked."""

from __future__ import annotations

import ast
import inspect
import json
import math
import re
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from compared import cells, compared, side, worsened
from generated import in_soak
from hostile_tables import hostile_tables
from some_studies import KINDS, some_studies
from studied import evaluated, page, sample, whole

from evalbench import studies
from evalbench.compare.sides import Side
from evalbench.core.notes import Note, says
from evalbench.core.result import Result
from evalbench.core.unscored import REASONS
from evalbench.draw.show import shown
from evalbench.draw.style import faults
from evalbench.errors import BadInput
from evalbench.kit.options import taken

pytestmark = [pytest.mark.parametrize("name", some_studies(studies.names())), pytest.mark.generated]


# -- a result follows from its rows ---------------------------------------------------------------


def test_the_order_of_rows_changes_nothing(name: str) -> None:
    first = whole(name)
    shuffled = {table: frame.sample(frac=1, random_state=5) for table, frame in sample(name).items()}
    again = evaluated(name, shuffled)
    found, expected = again.to_json(), first.to_json()
    assert {**found, "data": None} == {**expected, "data": None}  # whose hash is of other bytes
    for file, content in first.files.items():
        assert again.files[file].replace(again.data.sha256.encode(), first.data.sha256.encode()) == content, file
    assert table_of(again.items).equals(table_of(first.items))
    for table in set(first.tables) - {"calls"}:  # which are in the order of asking
        assert table_of(again.tables[table]).equals(table_of(first.tables[table])), table


def table_of(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.reset_index(drop=True)


def test_the_summary_follows_from_the_items_read_back(name: str, tmp_path: Path) -> None:
    result = whole(name)
    result.items.to_parquet(tmp_path / "items.parquet")
    recorded = json.loads(json.dumps(result.to_json()))["parameters"]
    summarise = studies.study(name).summarise
    assert summarise(pd.read_parquet(tmp_path / "items.parquet"), **taken(summarise, recorded)) == result.summary


def test_no_note_of_the_first_rank_is_missing_from_the_sentence(name: str) -> None:
    found = whole(name)
    planted = Note("mixed", "two models are taken as one", "Half of the rows are of another model.")
    for result in (found, replace(found, notes=(*found.notes, planted))):
        stored = result.to_json()
        ranked = stored.get("first_rank", [])
        assert [row["note"] for row in ranked] == [str(note) for note in result.notes if isinstance(note, Note)]
        assert {*result.verdict.notes} <= {*result.notes}
        assert all(says(stored["sentence"], row) for row in ranked)
        assert all(row["note"] in stored["notes"] for row in ranked)
    assert "Two models are taken as one." in str(shown(result).html)


def test_every_option_of_a_hook_is_recorded(name: str) -> None:
    own, recorded = studies.study(name), whole(name).parameters
    for hook in filter(None, (own.summarise, own.with_sums, own.weighted, own.measures)):
        needed = [p.name for p in inspect.signature(hook).parameters.values() if p.kind is p.KEYWORD_ONLY]
        assert set(needed) <= set(recorded), hook.__name__


def test_every_default_is_written_once(name: str) -> None:
    own = studies.study(name)
    first = defaults_of(own.evaluate)
    assert {first[option] for option in ("seed", "n_resamples", "max_unscored") if option in first} <= SHARED
    for hook in filter(None, (own.summarise, own.with_sums, own.weighted, own.measures)):
        for option, written in defaults_of(hook).items():
            again = option in first and ast.parse(written, mode="eval").body
            assert (
                not again or written in NOTHING or (written == first[option] and not isinstance(again, ast.Constant))
            ), f"{hook.__name__}: {option}={written}, evaluate: {first[option]}; one constant, used by both"


NOTHING = ("None", "()", "''", "{}")  # an option that is left out has no value to keep in step
SHARED = {"SEED", "N_RESAMPLES", "MAX_UNSCORED"}


def defaults_of(function: Callable[..., Any]) -> dict[str, str]:
    """Its keyword-only parameters and the defaults of these as the source has them, constants without their module."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body
    assert isinstance(definition, ast.FunctionDef)
    pairs = zip(definition.args.kwonlyargs, definition.args.kw_defaults, strict=True)
    return {
        parameter.arg: re.sub(r"^[\w.]+\.(?=[A-Z][A-Z0-9_]*$)", "", ast.unparse(default))
        for parameter, default in pairs
        if default
    }


# -- options are refused --------------------------------------------------------------------------

ANY_INTEGER = ("seed", "random_state", "bert_layers")  # which, is the affair of a generator, or of a model


def out_of_range(name: str, described: Any) -> dict[str, Any]:
    """A value that no run can take for every option that is a number, a choice, or a weight for each of several."""
    found: dict[str, Any] = {}
    for option in studies.study(name).options().values():
        _, kind, _ = described(studies.study(name).evaluate).get(option.name, ((), "", ""))
        written = (
            option.annotation if isinstance(option.annotation, str) else inspect.formatannotation(option.annotation)
        )
        numbers = [part.strip() for part in written.split("|")]
        if kind.startswith("{"):
            found[option.name] = "no such"
        elif "float" in numbers:
            found[option.name] = math.nan
        elif "int" in numbers and not option.name.endswith(ANY_INTEGER):
            found[option.name] = -1
        elif "Mapping[str, float]" in numbers and option.default:
            found[option.name] = {"no such": 1.0}
    return found


def test_options_out_of_range_are_refused_all_at_once(name: str, script: Callable[[str], Any]) -> None:
    wrong = out_of_range(name, script("notebooks").described)
    assert "n_resamples" in wrong
    with pytest.raises(BadInput, match=f"{name}: invalid options:") as caught:
        evaluated(name, sample(name), **wrong)
    assert not [option for option in wrong if not re.search(rf"\b{option}\b", "\n".join(caught.value.faults))]


class Nothing:
    """A value of no type that an option has."""


def test_options_of_another_type_are_refused_all_at_once(name: str) -> None:
    named = ("seed", "n_resamples", "lights", "metrics", "ks", "chunk_sizes", "judge", "language", "model")
    options = studies.study(name).options()
    for value in (Nothing(), [Nothing()], {"x": Nothing()}):
        wrong = {option: value for option in options if options[option].annotation != "Any"}
        with pytest.raises(BadInput, match=f"{name}: invalid options:") as caught:
            evaluated(name, sample(name), **wrong)
        assert [fault.split(" must be ")[0] for fault in caught.value.faults] == list(wrong)
    for option in (o for o in named if o in options and options[o].annotation != "Any"):
        kind = str(options[option].annotation)
        odd = math.inf if "int" in kind else 7 if "Sequence" in kind or "Mapping" in kind or "str" in kind else None
        with pytest.raises(BadInput, match=f"{option} must be ") as caught:
            evaluated(name, sample(name), **{option: odd})
        assert len(caught.value.faults) == 1


@pytest.mark.parametrize("value", ["low", [1], None, {"green_from": "x"}], ids=str)
def test_mappings_of_other_values_are_refused(name: str, value: object) -> None:
    options = studies.study(name).options()
    for option in (o for o in options if "Mapping[str" in str(options[o].annotation)):
        key = next(iter(options[option].default or {"score": 1}), "score")
        with pytest.raises(BadInput, match="invalid options:"):
            evaluated(name, sample(name), **{option: {key: value}})


# -- everything is counted ------------------------------------------------------------------------


def test_every_item_is_scored_unscored_or_undefined(name: str) -> None:
    result, own = whole(name), studies.study(name)
    assert set(result.items["unscored"]) <= {"", *REASONS}
    assert not ((result.items["unscored"] != "") & (result.items["undefined"] != "")).any()
    defined = {m.metric for m in own.measures(**taken(own.measures, result.parameters))} if own.measures else ()
    for e in result.summary.estimates:
        if e.metric in defined:
            rows = result.items
            for column, value in e.group.items():
                rows = rows[rows[column].astype(str) == value]
            assert e.n + e.n_unscored + e.n_undefined in (len(rows), rows[result.id].nunique()), e.place


# -- compared -------------------------------------------------------------------------------------


def test_a_run_compared_with_itself_differs_by_0(name: str) -> None:
    found = compared(name, side(name), n_summaries=4)
    assert found.same
    assert {c.difference for c in cells(found).values()} <= {0.0, None}
    assert {c.outcome for c in cells(found).values()} <= {"same", "undefined"}
    assert not found.notes


def test_a_comparison_is_of_what_both_runs_state_the_first_statistic_first(name: str) -> None:
    first, second = side(name), side(name, worsened(whole(name)))
    found = compared(name, second, n_summaries=4)
    by = first.results["by"]
    stated = {(*(row[c] for c in by if row.get(c) is not None), row["metric"]): row for row in first.results["summary"]}
    later = {(*(row[c] for c in by if row.get(c) is not None), row["metric"]): row for row in second.results["summary"]}
    assert set(cells(found)) <= set(stated)
    assert found.rows[0].comparison.metric == first.results["summary"][0]["metric"]
    assert not [note for note in found.notes if "not compared" in note]
    moved = 0
    for at, one in cells(found).items():
        if one.difference is not None:
            assert one.difference == pytest.approx(later[at]["value"] - stated[at]["value"], abs=1e-9), at
            moved += one.difference != 0
    assert moved


def test_items_of_older_code_are_refused_with_the_column(name: str) -> None:
    own, result = studies.study(name), whole(name)
    sums = [m.sums for m in own.measures(**taken(own.measures, result.parameters))] if own.measures else []
    summed = [column.removeprefix("#") for columns in sums for column in columns]
    column = next((c for c in summed if c in result.items), "")
    if column:
        older = Side("second", side(name).results, {}, result.items.drop(columns=column))
        with pytest.raises(BadInput, match="second: the items lack .*, which today's code reads"):
            compared(name, older, n_summaries=0)


# Of each kind of figure: means, shares by place, correlations, what is no mean. The others, up to minutes each, in `make soak`.
RESAMPLED = ("cot_levels", "imported", "needle", "human_correlation", "confidence", "reproduction")


@pytest.mark.slow
@pytest.mark.soak
def test_exact_and_resampled_comparisons_agree(name: str) -> None:
    if name not in RESAMPLED and not in_soak(1, otherwise=0):
        pytest.skip("no time: resampled in make soak")
    other = side(name, worsened(whole(name)))
    # Figures that are no sums are drawn in the same way in both, and are looked at where a study has no others.
    quick = cells(compared(name, other, n_summaries=0 if studies.study(name).measures else 20))
    assert quick
    slow = cells(compared(name, other, exact=False, n_summaries=40))
    for at, one in quick.items():
        two = slow[at]
        assert one.difference == pytest.approx(two.difference, abs=1e-9), at
        if one.outcome != "same" and one.ci_low is not None and two.ci_low is not None:
            width = max(one.ci_high - one.ci_low, 1e-9)
            assert one.ci_low == pytest.approx(two.ci_low, abs=0.5 * width), at
            assert one.ci_high == pytest.approx(two.ci_high, abs=0.5 * width), at


# -- shown ----------------------------------------------------------------------------------------


def pictures(name: str, result: Result) -> dict[str, Any]:
    """What each picture of a study draws; one that asks for a metric gets the first."""
    found = {}
    for title, draw in studies.study(name).pictures.items():
        _, *more = inspect.signature(draw).parameters.values()
        needed = {p.name: result.summary.estimates[0].metric for p in more if p.default is p.empty}
        found[title] = draw(result, **needed)
    return found


def test_pictures_are_without_faults_and_draw_the_results_numbers(name: str) -> None:
    result = whole(name)
    known = numbers(result)
    found = {title: drawn for title, drawn in pictures(name, result).items() if drawn is not None}
    assert found
    assert len({alt for _, alt in found.values()}) == len(found)
    for title, drawn in found.items():
        figure, alt = drawn
        assert faults(figure, alt) == [], title
        assert any(np.isclose(known, value, rtol=0, atol=5e-4).any() for value in coordinates(figure)), title
    plt.close("all")


def numbers(result: Result) -> np.ndarray:
    """Every number of a result but 0 and 1."""
    frames = [result.frame(), result.items, *result.tables.values()]
    found = np.concatenate([frame.select_dtypes("number").to_numpy(float).ravel() for frame in frames])
    return found[np.isfinite(found) & (found != 0) & (found != 1)]


def coordinates(figure: Any) -> np.ndarray:
    """The numbers that lines, bars, dots, cells and their labels are at."""
    parts: list[Any] = [[]]
    for ax in figure.axes:
        with_values = [c for c in (*ax.collections, *ax.images) if c.get_array() is not None]
        parts += [line.get_xydata() for line in ax.lines]
        parts += [ax.transData.inverted().transform(p.get_window_extent().get_points()) for p in ax.patches]
        parts += [np.ma.filled(c.get_array(), np.nan) for c in with_values]
        parts += [np.ma.filled(c.get_offsets(), np.nan) for c in ax.collections]
        parts += [re.findall(r"\d+\.\d+|\d+", text.get_text()) for text in ax.texts]
    found = np.concatenate([np.ravel(part).astype(float) for part in parts])
    return found[np.isfinite(found) & (found != 0) & (found != 1)]


def test_hostile_texts_are_scored_and_escaped(name: str) -> None:
    result = evaluated(name, hostile_tables(name))
    assert len(result.items) == len(whole(name).items)
    drawn = page(name, result, drawn=name in KINDS)  # all pictures are drawn by the same few functions
    assert "<svg" in drawn
    assert "alert(1)" in drawn or "onclick" in drawn
    assert not re.search(r"<script|<img|<b onclick|\u202e", drawn)
