"""Answers: three lines of the summary and the notes, and words for groups, figures and differences."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from evalbench.core.answer import MOST_WORDS, Answer, Line, clipped, size
from evalbench.core.notes import Note
from evalbench.core.result import Estimate, Summary
from evalbench.core.verdict import Verdict
from evalbench.kit.answering import Facts, answered, fitted, held, missing, more_items, next_line, sentence
from evalbench.kit.saying import Difference, figure, names, points


def est(value: float | None, model: str = "", **more: Any) -> Estimate:
    group = {"model": model} if model else {}
    known = {"metric": "f1", "title": "F1", "unit": "0–1", "higher_is_better": True, "n": 60, "group": group}
    ends = {} if value is None else {"ci_low": value - 0.05, "ci_high": value + 0.05}
    return Estimate(value=value, **{**known, **ends, **more})


def summary(*own: Estimate, light: str = "green", **more: Any) -> Summary:
    lit = [e for e in own if e.light != "unlit"]
    place = lit[0].place if lit else None
    return Summary(own, Verdict(light, "…", decided_by=place, **more))  # type: ignore[arg-type]


def pairs(*rows: tuple[str, str, float, str]) -> dict[str, pd.DataFrame]:
    columns = ["model_a", "model_b", "difference", "outcome"]
    return {"comparison": pd.DataFrame(rows, columns=columns).assign(metric="f1", unit="0–1")}


def test_an_answer_without_a_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a sentence"):
        Answer(answer=" ")


def test_chinese_counts_two_letters_a_word() -> None:
    assert size("模型甲比模型乙更好") == 5
    assert clipped("模型甲比模型乙更好", 4) == "模型甲比模型乙更…"


def test_a_long_note_is_cut_so_that_all_four_texts_have_sixty_words() -> None:
    note = Note("absent", " ".join(f"word{i}" for i in range(50)))
    found = answered(summary(est(0.9, light="green", cuts=(0.8,))), Facts(notes=(note,)), "Oak finds what is there.")
    assert found.size <= MOST_WORDS
    assert found.could_change.text.startswith("Word0 word1")
    assert found.could_change.text.endswith("…")


def test_of_a_note_that_would_lose_most_of_its_words_the_line_says_where_it_is() -> None:
    note = Note("absent", " ".join(f"word{i}" for i in range(80)))
    found = answered(summary(est(0.9, light="green", cuts=(0.8,))), Facts(notes=(note,)), "Oak finds what is there.")
    assert (found.could_change.text, found.could_change.at) == ("See the verdict in full.", "verdict")


def test_a_note_ends_at_a_semicolon_where_the_whole_has_no_room() -> None:
    note = Note("instrument", "stage 8 agrees with people on 0% of 4 questions; " + " ".join(["more"] * 40))
    found = answered(summary(est(0.9, light="green", cuts=(0.8,))), Facts(notes=(note,)), "Oak finds what is there.")
    assert found.could_change.text == "Stage 8 agrees with people on 0% of 4 questions."


def test_a_short_line_is_whole_or_not_there() -> None:
    own = summary(est(0.9, light="green", cuts=(0.8,)), stability=0.87)
    full = answered(own, Facts(), " ".join(["Oak"] * 32) + ".", next="Use it.")
    assert full.could_change.text == "Only 87% of resamples give green."
    room = answered(own, Facts(), " ".join(["Oak"] * 42) + ".", next="Use it.")
    assert room.could_change.text in ("See the verdict in full.", "")


def test_a_grey_answer_that_loses_its_doubt_for_want_of_room_says_it_first() -> None:
    own = summary(est(0.3, light="grey"), light="grey", missing="PERSON is found in only 10 texts")
    long = Answer(
        answer=f"Oak finds {'very ' * 50}little. The rest is not known.", next=Line("Look at all of the texts again.")
    )
    assert held(long, own).answer == "There is not enough evidence for a verdict: PERSON is found in only 10 texts."


def test_a_close_call_is_called_so() -> None:
    own = summary(est(0.8, light="green", cuts=(0.8,)), stability=0.38)
    assert answered(own, Facts(), "It holds.").could_change.text == "A close call: only 38% of resamples give green."


def test_without_thresholds_the_first_figure_is_that_of_the_best_group() -> None:
    own = summary(est(0.2, "fern", light="unlit"), est(0.8, "moss", light="unlit"), light="unlit")
    assert (
        answered(own, Facts(), "Moss is best.").decided_by.text == "F1 0.80 [0.75, 0.85] (moss), n\N{NO-BREAK SPACE}60."
    )


def test_of_few_items_the_next_step_is_more_of_them_also_without_thresholds() -> None:
    few = summary(est(0.8, "oak", light="unlit", n=6), light="unlit")
    assert (
        next_line(few, Facts(parameters={"lights": {}})).text
        == "Set thresholds (lights), and add 14 more items: 20 are needed."
    )
    assert sentence(few, Facts()) == "F1 is 0.80 for oak, on only 6 items; no thresholds say what is good enough."


def test_the_line_on_thresholds_names_another_figure_that_could_cross_one() -> None:
    sure = est(0.9, light="green", cuts=(0.5,))
    open_one = est(0.83, light="green", cuts=(0.8,), metric="recall", title="recall")
    assert next_line(summary(sure, open_one), Facts()).text.startswith("Recall could cross a threshold: about ")
    assert next_line(summary(open_one, sure), Facts()).text.startswith("The figure could cross a threshold: about ")
    fern = est(0.83, "fern", light="green", cuts=(0.8,))
    oak = est(0.95, "oak", light="green", cuts=(0.8,))
    assert next_line(summary(oak, fern), Facts()).text.startswith("That of fern could cross a threshold: ")


def test_the_figure_that_decided_has_its_unit() -> None:
    drop = est(12.0, light="green", cuts=(15.0,), unit="pp")
    assert "] pp, n" in answered(summary(drop), Facts(), "Yes.").decided_by.text


def test_a_studys_own_line_takes_the_place_of_the_default() -> None:
    found = answered(
        summary(est(0.9, light="green")), Facts(), "Yes.", next="Label 20 more.", could_change=Line("", "items")
    )
    assert (found.next.text, found.next.at, found.could_change) == ("Label 20 more.", "items", Line("", "items"))


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (est(0.9, n=7, light="grey"), "13 more items (20 are needed)"),
        (est(0.9, n=50, n_unscored=10, light="grey"), "scores of 10 items; at most 5% may lack one"),
        (est(None, note="no text has a value", light="grey"), "no text has a value"),
    ],
)
def test_a_grey_light_says_what_is_missing_and_how_much(own: Estimate, said: str) -> None:
    assert said in missing(summary(own, light="grey"), Facts())


def test_a_judge_that_compares_words_is_missing_one_that_reads() -> None:
    held = "The judge of the citations is baseline/lexical, which compares words"
    facts = Facts(parameters={"judge": "baseline/lexical"})
    assert "a judge that reads" in missing(summary(est(0.9, light="grey"), light="grey", missing=held), facts)


def test_without_thresholds_the_option_is_named() -> None:
    found = next_line(summary(est(0.9), light="unlit"), Facts(parameters={"k": 3, "lights": {}}))
    assert found == Line("Set thresholds (lights) to get a light.", "method")


def test_a_figure_beside_its_threshold_says_how_many_items_would_settle_it() -> None:
    near = est(0.85, ci_low=0.75, light="green", cuts=(0.8,))
    assert more_items(near) == 180
    assert "180 more items would settle it" in next_line(summary(near), Facts()).text
    at = est(0.8, light="green", cuts=(0.8,))
    assert "is at a threshold" in next_line(summary(at), Facts()).text


def test_what_failed_is_counted_where_the_figure_is_a_share() -> None:
    bad = est(0.2, ci_low=0.1, ci_high=0.3, n=50, method="Wilson", light="red", cuts=(0.8,))
    assert next_line(summary(bad, light="red"), Facts()).text == "Look at the 40 items that went wrong."


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("better", "Oak is better than fern by 0.20 in F1, more than chance explains"),
        ("no difference shown", "Between oak and fern no difference in F1 is shown: 0.90 and 0.70"),
    ],
)
def test_two_groups_which_is_better_by_how_much_and_whether_it_is_shown(outcome: str, said: str) -> None:
    facts = Facts(by=("model",), tables=pairs(("oak", "fern", 0.2, outcome)))
    assert sentence(summary(est(0.9, "oak"), est(0.7, "fern"), light="unlit"), facts).startswith(said)


def test_without_a_comparison_nobody_is_said_to_be_better() -> None:
    said = sentence(summary(est(0.9, "oak"), est(0.7, "fern"), light="unlit"), Facts(by=("model",)))
    assert "better" not in said
    assert "not tested" in said


def test_many_groups_the_best_the_worst_and_who_is_not_told_apart() -> None:
    own = [est(0.9 - 0.1 * i, f"m{i}") for i in range(8)]
    rows = [("m0", f"m{i}", 0.1 * i, "better" if i > 2 else "no difference shown") for i in range(1, 8)]
    said = sentence(summary(*own, light="unlit"), Facts(by=("model",), tables=pairs(*rows)))
    assert said.startswith(
        "m0 is best in F1, 0.90; m7 is worst, 0.20; no difference from the best is shown for m1 and m2"
    )


def test_groups_of_one_figure_share_their_decimals() -> None:
    own = [est(0.9, "oak", ci_low=0.899, ci_high=0.901), est(0.7, "fern", ci_low=0.5, ci_high=0.9)]
    assert [figure(e, own) for e in own] == ["0.900", "0.700"]


def test_names_in_a_row() -> None:
    assert names([est(0.9, "alder"), est(0.9, "alder"), "birch"]) == "alder and birch"


def test_an_answer_of_long_names_still_has_sixty_words_at_most() -> None:
    long = Answer(answer=f"{'very ' * 70}long. And more.", next=Line("Look at the items."))
    assert fitted(long).size <= MOST_WORDS
    assert fitted(long).answer.endswith("…")
    assert fitted(Answer(answer="Oak is better. Fern is not.")).answer == "Oak is better. Fern is not."


def test_a_long_name_is_the_same_in_a_figure_and_in_a_comparison() -> None:
    name = "a model whose name has more than forty characters"
    facts = Facts(by=("model",), tables=pairs((name, "fern", 0.2, "better")))
    said = sentence(summary(est(0.9, name), est(0.7, "fern"), light="unlit"), facts)
    assert "is better than fern by 0.20 in F1, more than chance explains" in said


def test_a_difference_of_all_items_is_a_hundred_points() -> None:
    assert points(Difference("f1", "oak", "fern", 1.0, "0–1", "oak", True), of_share=True) == "100 points"
