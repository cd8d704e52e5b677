"""What a light does to the exit code, and what is printed where it passes without having been judged."""

from __future__ import annotations

import itertools

import pytest

from evalbench.commands.printed import headline, uncertain
from evalbench.commands.run import exit_code, failing, unjudged

LIGHTS = ("green", "yellow", "red", "grey", "unlit")
GATES = [g for n in range(4) for g in itertools.permutations(("red", "yellow", "grey"), n)]


@pytest.mark.parametrize("gate", GATES, ids="+".join)
@pytest.mark.parametrize("light", LIGHTS)
def test_a_light_fails_is_green_or_is_reported_and_never_passes_in_silence(light: str, gate: tuple[str, ...]) -> None:
    code, lines = exit_code(light, gate), unjudged([light], gate)
    if not gate or light == "green":
        assert (code, lines) == (0, [])
    elif light in ("grey", "unlit"):
        assert (code == 0) == bool(lines)
        assert all(line.startswith(f"{light}: this run has") for line in lines)
    else:
        assert lines == []


def test_what_each_gate_fails() -> None:
    assert failing(()) == frozenset()
    assert failing(["red"]) == {"red"}
    assert failing(["yellow"]) == {"red", "yellow"}
    assert failing(["grey"]) == {"red", "yellow", "grey"}
    assert failing(["red", "grey"]) == {"red", "grey"}
    assert failing(["grey", "yellow", "red"]) == {"red", "yellow", "grey"}
    assert [exit_code(light, ["red", "grey"]) for light in LIGHTS] == [0, 0, 3, 4, 0]


def test_grey_and_unlit_runs_of_a_suite_are_counted_apart() -> None:
    grey, unlit = unjudged(["grey", "unlit", "grey", "green"], ["red"])[::-1]
    assert grey.startswith("grey: 2 of 4 runs have too little evidence")
    assert "--fail-on grey" in grey
    assert unlit.startswith("unlit: 1 of 4 runs has no rule")


def row(metric: str, group: str, value: float | None = 0.5) -> dict[str, object]:
    return {
        "metric": metric,
        "checker": group,
        "value": value,
        "ci_low": 0.4,
        "ci_high": 0.6,
        "n": 9,
        "note": "",
        "light": "unlit",
    }


def test_the_figure_that_decided_is_marked_and_always_printed() -> None:
    rows = [row(m, f"{g}") for m in ("f1", "recall") for g in range(20)]
    rows[25]["light"] = "red"
    results = {"by": ["checker"], "summary": rows, "decided_by": {"metric": "recall", "checker": "5"}}
    lines = headline(results)
    assert lines[0].endswith("5  ■ red, decides")
    assert lines[0].split()[0] == "recall"
    assert sum("decides" in line for line in lines) == 1
    assert lines[-2:] == ["  … and 12 more rows of recall", "  … and f1: see the report"]


def test_long_titles_stay_in_their_column_and_apart() -> None:
    titles = {"a": "one annotator against the mean of the others", "b": "alpha, ordinal", "c": "alpha, nominal"}
    rows = [{**row(m, "x"), "title": title} for m, title in titles.items()]
    lines = headline({"by": ["checker"], "summary": rows})
    assert len({line.index(" [") for line in lines}) == 1
    assert (
        headline({"by": ["checker"], "summary": rows}, 2)[-1]
        == "  … and alpha, ordinal; alpha, nominal: see the report"
    )


def test_no_figure_is_dropped_in_silence() -> None:
    few = {"by": ["checker"], "summary": [row(m, g) for m in ("f1", "precision", "recall") for g in "ab"]}
    assert len(headline(few)) == 6
    many = {"by": ["checker"], "summary": [row(m, f"{g}") for m in ("f1", "recall") for g in range(20)]}
    lines = headline(many)
    assert len(lines) == 10
    assert lines[-2:] == ["  … and 12 more rows of f1", "  … and recall: see the report"]
    grid = {"by": ["checker"], "summary": [row("f1", f"{g}") for g in range(40)]}
    assert headline(grid)[-1] == "  … and 31 more rows of f1"
    wide = {"by": ["checker"], "summary": [row(f"{'m' * 20}_{i}", g) for i in range(20) for g in "abc"]}
    lines = headline(wide)
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 100
    assert all(f"{'m' * 20}_{i}" in " ".join(lines) for i in range(20))


def test_a_light_that_few_resamples_give_says_so() -> None:
    assert uncertain({"light": "green", "light_stability": 0.54}) == ["  only 54 % of resamples give green"]
    held = {"light": "grey", "would_be_light": "red", "light_stability": 0.7}
    assert uncertain(held) == ["  only 70 % of resamples give red"]
    assert uncertain({"light": "green", "light_stability": 0.9}) == uncertain({"light": "grey"}) == []


def test_no_line_counts_zero_more_rows() -> None:
    rows = [row(f"m{i}", "one") for i in range(40)]
    assert not any(" 0 more" in line for line in headline({"by": ["checker"], "summary": rows}))
