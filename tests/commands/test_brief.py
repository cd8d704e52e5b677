"""What a run prints: the answer first, figures in columns, at most fifteen lines of eighty letters."""

from __future__ import annotations

import pytest
from some_studies import some_studies
from studied import whole

from evalbench import studies
from evalbench.commands.brief import MOST_LINES, WIDTH, brief


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(studies.names()))
def test_a_run_is_told_in_fifteen_lines_of_a_terminal(name: str) -> None:
    results = whole(name).to_json()
    lines = brief(results)
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(" ".join(lines).split()).startswith(
        f"{lines[0][0]} {results['light']} {' '.join(results['answer']['answer'].split()[:3])}"
    )


def row(metric: str, model: str, light: str = "unlit", **more: object) -> dict[str, object]:
    known = {"title": metric, "value": 0.5, "ci_low": 0.4, "ci_high": 0.6, "n": 40, "note": "", "unit": "0–1"}
    return {**known, "metric": metric, "model": model, "light": light, **more}


def results(*rows: dict[str, object]) -> dict[str, object]:
    line = {"text": "", "at": "figures"}
    answer = {"answer": "Oak is fine.", "decided_by": line, "could_change": line, "next": line}
    place = {"metric": "drop", "model": "oak"}
    return {
        "light": "red",
        "sentence": "…",
        "by": ["model"],
        "summary": list(rows),
        "decided_by": place,
        "answer": answer,
    }


def test_the_figure_that_decided_comes_first_with_its_unit() -> None:
    rows = [row("f1", "oak", "green"), row("drop", "fern", "red", unit="pp"), row("drop", "oak", "red", unit="pp")]
    lines = brief(results(*rows))
    assert lines[0] == "■ red  Oak is fine."
    assert lines[1].split() == ["■", "drop", "0.50", "[0.40,", "0.60]", "pp", "n", "40", "oak", "decides"]
    assert lines[-1].startswith("  ● f1")
    assert len({line.index("n 40") for line in lines[1:]}) == 1


def test_a_title_is_whole_where_there_is_room_and_a_long_unit_is_left_out() -> None:
    titles = ("largest confusion of PRODUCT", "largest confusion of PERSON")
    rows = [row(title, "oak", "red", unit="occurrences") for title in titles]
    lines = brief(results(*rows))[1:]
    assert [title in line for title, line in zip(titles, lines, strict=True)] == [True, True]
    crowded = brief(results(*[row(title, "o" * 60, "red") for title in titles]))
    assert max(map(len, crowded)) <= WIDTH
    assert "occurrences" not in " ".join(lines)


def test_more_figures_than_have_room_are_counted() -> None:
    rows = [row("drop", "oak", "red"), *(row(f"m{i}", "oak") for i in range(40))]
    lines = brief(results(*rows))
    assert len(lines) == MOST_LINES
    assert lines[-1] == "  … and 29 more figures: see the report"


def test_a_run_of_before_has_its_sentence() -> None:
    older = {**results(row("drop", "oak", "red")), "answer": None, "sentence": "Drop 0.50."}
    assert brief(older)[0] == "■ red  Drop 0.50."
