"""The verdict's box with an answer, the scale of its rule, and many figures as a matrix."""

from __future__ import annotations

import re
from typing import Any

import pytest

from evalbench.draw.band import scale_html, verdict_html
from evalbench.draw.matrix import ROWS, figures_html
from evalbench.draw.rule import rule_html

HOSTILE = "<script>alert(1)</script>"


def row(metric: str, model: str, value: float | None = 0.5, **more: Any) -> dict[str, Any]:
    ends = {"ci_low": None, "ci_high": None} if value is None else {"ci_low": value - 0.1, "ci_high": value + 0.1}
    known = {"title": metric.replace("_", " "), "unit": "0–1", "higher_is_better": True, "n": 40, "light": "unlit"}
    return {"metric": metric, "model": model, "value": value, **ends, **known, "cuts": [], "note": "", **more}


def results(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    decided, changed, after = (
        {"text": t, "at": at} for t, at in (("F1 0.50.", "decides"), ("", "notes"), ("Read.", "items"))
    )
    known = {
        "light": "red", "sentence": "The long sentence.", "by": ["model"], "items": {"n": 40, "unscored": 0}, "light_stability": 0.9,
        "light_rule": "F1: red: < 0.6; yellow: [0.6, 0.8); green: ≥ 0.8", "data": {"name": "d", "version": "1"},
        "summary": list(rows) or [row("F1", "oak", light="red", cuts=[0.6, 0.8])], "decided_by": {"metric": "F1", "model": "oak"},
        "answer": {"answer": "Oak is not good enough.", "decided_by": decided, "could_change": changed, "next": after},
    }  # fmt: skip
    return {**known, **more}


def test_the_box_begins_with_the_answer_and_folds_the_long_sentence() -> None:
    out = str(verdict_html(results(), linked=True))
    folded = out.index("<details")
    assert out.index("Oak is not good enough.") < out.index("Decided by") < out.index("eb-scale") < folded
    assert out.index("The long sentence.") > folded
    assert '<a class="eb-to" href="#decides">F1 0.50.</a>' in out
    assert "Could change" not in out, "an empty line is left out"
    assert "<a " not in verdict_html(results()), "in a notebook there are no places to link to"


def test_a_line_on_the_verdict_leads_into_the_folded_sentence() -> None:
    said = {**results()["answer"], "could_change": {"text": "See the verdict in full.", "at": "verdict"}}
    out = str(verdict_html(results(answer=said), linked=True))
    assert '<a class="eb-to" href="#verdict-in-full">See the verdict in full.</a>' in out
    assert 'id="verdict-in-full"' in out.partition("<details")[2]


def test_before_the_fold_the_box_has_at_most_sixty_words() -> None:
    words = " ".join(["word"] * 54)
    answer = {
        **results()["answer"],
        "answer": words,
        "decided_by": {"text": "", "at": ""},
        "next": {"text": "", "at": ""},
    }
    shown = str(verdict_html(results(answer=answer))).partition("<details")[0]
    text = re.sub(r"<div class=\"eb-scale\".*?</div></div>|<[^>]*>", " ", shown)
    assert len(text.split()) <= 60


def test_a_run_of_before_has_its_sentence_open() -> None:
    older = {k: v for k, v in results().items() if k != "answer"}
    out = str(verdict_html(older))
    assert "The long sentence." in out
    assert "<details" not in out
    assert "eb-scale" not in out


def test_without_a_figure_that_decided_the_line_does_not_say_so() -> None:
    out = verdict_html(results(decided_by=None, light="unlit"))
    assert "First figure" in out
    assert "Decided by" not in out


def test_answers_titles_and_groups_are_escaped() -> None:
    line = {"text": HOSTILE, "at": '"><script>'}
    answer = {"answer": HOSTILE, "decided_by": line, "could_change": line, "next": line}
    place = {"metric": "F1", "model": HOSTILE}
    rows = [row("F1", HOSTILE, light="red", cuts=[0.6, 0.8], title=HOSTILE)]
    rows += [row(f"m{i}", model, title=HOSTILE, note=HOSTILE, value=None) for i in range(5) for model in (HOSTILE, "b")]
    rule = f"{HOSTILE}: red: < 0.6; yellow: [0.6, 0.8); green: ≥ 0.8"
    found = results(*rows, answer=answer, decided_by=place, light_rule=rule)
    for out in (verdict_html(found, linked=True), figures_html(rows, ["model"], decides=rows[0])):
        assert "<script" not in out
        assert "script&gt;" in out


@pytest.mark.parametrize(
    ("rule", "cuts", "lights"),
    [
        ("F1: red: < 0.6; yellow: [0.6, 0.8); green: ≥ 0.8", [0.6, 0.8], ["red", "yellow", "green"]),
        ("recall: red: < 0.1; green: ≥ 0.1; F1: green: ≤ 0.2; red: > 0.2; the worst decides", [0.2], ["green", "red"]),
    ],
)
def test_the_rule_is_a_scale_with_the_figure_on_it(rule: str, cuts: list[float], lights: list[str]) -> None:
    out = str(scale_html(results(row("F1", "oak", 0.5, light="red", cuts=cuts), light_rule=rule)))
    assert re.findall(r'<span class="eb-(\w+)"', out) == lights
    assert '<b style="left:50%">' in out
    assert '<i style="left:40%;width:20%">' in out
    assert 'role="img" aria-label="F1 0.50 [0.40, 0.60], red; the rule: ' in out
    assert all(f">{cut:g}</span>" in out for cut in cuts)


@pytest.mark.parametrize(
    "more",
    [{"decided_by": None}, {"light_rule": "red (unstable): soft <= 0.1"}, {"summary": [row("F1", "oak", light="red")]}],
)
def test_without_bands_over_one_figure_there_is_no_scale(more: dict[str, Any]) -> None:
    assert scale_html(results(**more)) == ""


def test_a_figure_beyond_the_scale_stays_on_it() -> None:
    out = scale_html(results(row("F1", "oak", 40.0, unit="words", light="red", cuts=[0.6, 0.8])))
    assert all(0 <= float(place) <= 100 for place in re.findall(r"(?:left|width):([\d.]+)%", out))


def many() -> list[dict[str, Any]]:
    rows = [row(m, g, 0.1 * i) for i, m in enumerate(("f1", "recall", "precision")) for g in ("oak", "fern", "elm")]
    rows[4] |= {"light": "red", "cuts": [0.5]}
    rows[0] |= {"light": "green"}
    return rows


def test_many_figures_are_a_matrix_that_begins_with_what_decided() -> None:
    rows = many()
    out = str(figures_html(rows, ["model"], decides=rows[4]))
    top, _, folded = out.partition("<details")
    assert re.findall(r'<th scope="col">(\w+)</th>', top) == ["figure", "fern", "oak", "elm"]
    assert re.findall(r'<th scope="row">(\w+)', top) == ["recall", "f1", "precision"]
    assert out.count('id="decides"') == 1
    assert top.count("decides</span>") == 1
    assert "All 9 figures" in folded
    assert folded.count('<td class="w">') == len(rows)


def test_few_figures_are_the_table_in_which_the_one_that_decided_says_so() -> None:
    rows = many()[:ROWS]
    out = str(figures_html(rows, ["model"], decides=rows[4]))
    assert "eb-matrix" not in out
    assert out.count('<tr id="decides">') == 1
    assert out.count("decides</span>") == 1


def test_of_more_groups_than_figures_the_groups_go_down() -> None:
    rows = [row(m, f"g{i}") for m in ("f1", "recall") for i in range(12)]
    top = str(figures_html(rows, ["model"])).partition("<details")[0]
    assert re.findall(r'<th scope="row">(\w+)', top) == [f"g{i}" for i in range(12)]
    assert re.findall(r'<th scope="col">(\w+)</th>', top) == ["model", "f1", "recall"]


def test_of_many_rows_the_matrix_has_the_first_ones() -> None:
    rows = [row(m, f"g{i:02}") for m in ("f1", "recall") for i in range(20)]
    rows[17] |= {"light": "red"}
    top = str(figures_html(rows, ["model"], decides=rows[17])).partition("<details")[0]
    found = re.findall(r'<th scope="row">(\w+)', top)
    assert (found[0], len(found)) == ("g17", 12)
    assert "8 more rows: in the table below." in top


def rule_of(rule: str, **more: Any) -> str:
    return str(rule_html(results(light_rule=rule, **more)))


def test_of_a_rule_of_conditions_the_one_that_held_is_marked() -> None:
    out = rule_of("red: B is better (p ≤ 0.05); green: A is better, or equal; yellow (else)", decided_by=None)
    assert re.findall("<strong>(.*?)</strong>", out) == [
        '<span class="eb-symbol" aria-hidden="true">■</span> red: B is better (p ≤ 0.05) ← this one'
    ]
    assert out.count("<li>") == 3


def test_a_light_held_back_marks_the_condition_of_the_figures_alone() -> None:
    out = rule_of("F1: red: < 0.6; green: ≥ 0.6", light="grey", would_be_light="red")
    assert re.findall("<strong>.*?</strong>", out) == [
        '<strong><span class="eb-symbol" aria-hidden="true">■</span> red: below 0.6 ← this one</strong>'
    ]


def test_a_rule_of_several_figures_has_a_line_for_each_and_marks_the_one_that_decided() -> None:
    rule = "recall: red: < 0.1; green: ≥ 0.1; F1, the worst model decides: red: < 0.6; yellow: [0.6, 0.8); green: ≥ 0.8"
    out = rule_of(rule)
    lines = [re.sub("<[^>]*>", "", line) for line in out.split("<li>")[1:]]
    assert lines == [
        "recall: ■ red: below 0.1 ● green: from 0.1",
        "F1, the worst model decides: ■ red: below 0.6 ← this one ▲ yellow: from 0.6 to below 0.8 ● green: from 0.8",
    ]
    assert "<strong>" not in rule_of(rule, decided_by=None)


def test_a_rule_that_has_grey_itself_marks_grey() -> None:
    out = rule_of("green: A is better; grey: too many are open; yellow (else)", light="grey", would_be_light="green")
    assert "grey: too many are open ← this one</strong>" in out
    assert out.count("<strong>") == 1


def test_where_something_else_than_the_figure_gave_the_light_there_is_no_scale() -> None:
    rule = "F1: red: < 0.6; yellow: [0.6, 0.8); green: ≥ 0.8; level: red: < 0.9; green: ≥ 0.9"
    for value, light, drawn in ((0.7, "red", False), (0.7, "yellow", True), (0.6, "red", True), (0.7, "grey", True)):
        found = results(row("F1", "oak", value, light=light, cuts=[0.6, 0.8]), light_rule=rule, light=light)
        assert bool(scale_html(found)) is drawn, (value, light)


def test_the_scale_is_that_of_the_figure_whose_name_the_rule_begins_with() -> None:
    rule = "F1 gained: green: ≤ 0.2; red: > 0.2; F1, of the worst model: red: < 0.3; green: ≥ 0.3"
    out = str(scale_html(results(row("F1", "oak", 0.2, light="red", cuts=[0.3]), light_rule=rule)))
    assert re.findall(r'<span class="eb-(\w+)"', out) == ["red", "green"]


def test_groups_that_no_shown_figure_has_are_no_columns() -> None:
    rows = [row(f"m{i:02}", "oak", light="red") for i in range(13)] + [row("level", "fern"), row("m00", "elm")]
    top = str(figures_html(rows, ["model"], decides=rows[0])).partition("<details")[0]
    assert re.findall(r'<th scope="col">(\w+)</th>', top) == ["figure", "oak", "elm"]


def test_a_rule_is_escaped_and_none_is_nothing() -> None:
    assert "<script" not in rule_of(f"{HOSTILE}: red: < 1; green ({HOSTILE}): x; {HOSTILE}")
    assert rule_of("") == ""
    assert "always green" in rule_of("always green")
