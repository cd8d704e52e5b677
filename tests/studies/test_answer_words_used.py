"""The first sentence of dialogue, needle and drift, of summaries built by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from summaries import compared, fig, summary

from evalbench.core.answer import Answer
from evalbench.core.result import Estimate
from evalbench.kit.answering import Facts
from evalbench.studies.dialogue.answer import answer as of_dialogue
from evalbench.studies.drift import summary as drift
from evalbench.studies.drift.answer import answer as of_drift
from evalbench.studies.needle.answer import answer as of_needle

# -- dialogue --------------------------------------------------------------------------------------


def length(value: float, light: Any, model: str = "oak", metric: str = "answers", **more: Any) -> Estimate:
    return fig(metric, value, model, unit="answers", higher_is_better=False, light=light, cuts=(3.0, 5.0), **more)


def ended(value: float, model: str = "oak", **more: Any) -> Estimate:
    return fig("resolved", value, model, light="green", cuts=(0.5,), **more)


def test_one_model_how_many_answers_whether_that_is_short_and_how_many_sessions_were_resolved() -> None:
    said = of_dialogue(summary("green", length(2.04, "green"), ended(0.8)), Facts()).answer
    assert (
        said
        == "A session with oak takes 2.0 answers on average, which is short enough. 80% of the sessions were resolved."
    )
    said = of_dialogue(summary("red", length(7.0, "red"), ended(1.0)), Facts())
    assert (
        said.answer
        == "A session with oak takes 7.0 answers on average, which is too long. All of the sessions were resolved."
    )
    assert said.next.text == "Look at the longest sessions with oak."


def test_without_the_ends_a_short_session_may_have_been_given_up() -> None:
    said = of_dialogue(summary("yellow", length(4.0, "yellow")), Facts()).answer
    assert said == (
        "A session with oak takes 4.0 answers on average, which is between short (3) and long (5). "
        "Which were resolved is not known, so short ones may have been given up."
    )


def test_sessions_that_were_not_resolved_are_not_praised_for_being_short() -> None:
    none = fig("resolved", 0.0, light="yellow", cuts=(0.5,), method="Wilson")
    said = of_dialogue(summary("yellow", length(2.0, "green"), none), Facts())
    assert (
        said.answer
        == "A session with oak takes 2.0 answers on average, but none was resolved: users may have given up."
    )
    assert said.next.text == "Look at the 40 sessions that ended without a solution."


def test_resolved_sessions_that_are_long_decide() -> None:
    solved = length(6.0, "red", metric="answers_resolved")
    said = of_dialogue(summary("red", length(4.0, "yellow"), solved, ended(0.6), decided=solved), Facts()).answer
    assert said.startswith("Solving a problem takes oak 6.0 answers on average, which is too long. 60% of")


def test_in_a_discussion_more_answers_are_better_and_ends_do_not_matter() -> None:
    facts = Facts(parameters={"orientation": "discussion"})
    said = of_dialogue(summary("green", length(7.0, "green"), ended(0.2)), facts).answer
    assert said == "A conversation with oak takes 7.0 answers on average, which is long enough."
    said = of_dialogue(summary("red", length(2.0, "red")), facts)
    assert said.answer.endswith("which is too short.")
    assert said.next.text == "Look at the shortest conversations with oak."


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("lower", "Sessions are shorter with fern than with oak, 2.0 answers against 4.0, more than chance explains; oak's are neither short nor long."),
        (
            "no difference shown",
            "Between fern and oak no difference in length is shown: 2.0 and 4.0 answers a session; oak's are neither short nor long.",
        ),
    ],
)  # fmt: skip
def test_two_models_with_whom_sessions_are_shorter_and_whether_that_is_shown(outcome: str, said: str) -> None:
    own = (length(4.0, "yellow"), ended(0.8), length(2.0, "green", "fern"), ended(0.6, "fern"))
    rows = pd.concat(
        [
            compared("answers", ("fern", "oak", -2.0, outcome))["comparisons"],
            compared("resolved", ("fern", "oak", -0.2, "no difference shown"))["comparisons"],
        ]
    )
    facts = Facts(by=("model",), tables={"comparisons": rows})
    assert of_dialogue(summary("yellow", *own), facts).answer == f"{said} Neither model is shown to resolve more."


def test_of_many_models_the_ends_and_those_that_are_not_told_apart() -> None:
    own = [length(2.0 + i, "green" if i < 2 else "red", f"m{i}") for i in range(7)]
    rows = [("m0", f"m{i}", -float(i), "better" if i > 1 else "no difference shown") for i in range(1, 7)]
    facts = Facts(by=("model",), tables=compared("answers", *rows, unit="answers"))
    assert of_dialogue(summary("red", *own, decided=own[-1]), facts).answer.startswith(
        "Sessions are shortest with m0 (2.0 answers) and longest with m6 (8.0); no difference from the shortest is shown for m1; m6's are too long."
    )


def test_what_is_not_known_of_sessions_and_how_much_is_missing() -> None:
    few = of_dialogue(summary("grey", length(2.0, "grey", n=2)), Facts())
    assert few.answer == "How many answers a session takes is not known yet: 2 sessions are too few."
    assert few.next.text == "Missing for a light: 8 more sessions (10 are needed)."
    dark = fig("resolved", 1.0, light="grey", cuts=(0.5,))
    said = of_dialogue(
        summary("grey", length(2.0, "green"), dark, missing="How 40 of 80 sessions ended is not known"), Facts()
    )
    assert said.answer.endswith("whether that is short enough is open: how 40 of 80 sessions ended is not known.")
    assert said.next.text == "Say how the other sessions ended (column resolved)."


def test_sessions_without_an_answer_say_nothing_of_their_length() -> None:
    none = fig("answers", None, light="grey", n_unscored=40)
    assert of_dialogue(summary("grey", none), Facts()).answer.startswith("No session has an answer of a model")


# -- needle ----------------------------------------------------------------------------------------


def recall(value: float | None, light: Any, model: str = "oak", **more: Any) -> Estimate:
    return fig("recall", value, model, light=light, cuts=(0.7, 0.9), method="Wilson", **more)


def falls(model: str = "oak", depth: float = 0.5, shown: bool = True) -> pd.DataFrame:
    return pd.DataFrame([{"model": model, "depth": depth, "shown": shown}])


def test_one_model_how_often_it_finds_the_fact_and_where_it_is_lost() -> None:
    facts = Facts(tables={"falls": falls()})
    said = of_needle(summary("red", recall(0.5, "red")), facts)
    assert said.answer == (
        "Oak finds the fact in 50% of contexts, which is too few. It finds it less often once it is 50% of the way in."
    )
    assert said.decided_by.text.startswith("Facts found 0.5")
    assert said.next.text == "Look at the 20 replies of oak that miss the fact."


def test_wherever_it_is() -> None:
    facts = Facts(tables={"falls": falls(shown=False)})
    assert of_needle(summary("green", recall(1.0, "green")), facts).answer == (
        "Oak finds the fact in every context. The place of the fact makes no difference that is shown."
    )
    assert of_needle(summary("red", recall(0.0, "red")), facts).answer == "Oak finds the fact in no context."


def test_nearly_all_contexts_are_not_all() -> None:
    assert "in 99.9% of contexts" in of_needle(summary("green", recall(0.999, "green")), Facts()).answer


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("better", "Oak finds the fact more often than fern, in 95% of contexts against 80%, more than chance explains; fern is between the thresholds."),
        ("no difference shown", "Neither oak nor fern is shown to find the fact more often: in 95% and 80% of contexts; fern is between the thresholds."),
    ],
)  # fmt: skip
def test_of_two_models_who_finds_it_more_often_and_whether_that_is_shown(outcome: str, said: str) -> None:
    facts = Facts(by=("model",), tables=compared("recall", ("oak", "fern", 0.15, outcome)))
    assert of_needle(summary("yellow", recall(0.95, "green"), recall(0.8, "yellow", "fern")), facts).answer == said


def test_of_many_models_the_best_the_worst_and_those_not_told_apart() -> None:
    own = [recall(0.95 - i / 10, "green" if i == 0 else "yellow" if i < 3 else "red", f"m{i}") for i in range(7)]
    rows = [("m0", f"m{i}", i / 10, "better" if i > 1 else "no difference shown") for i in range(1, 7)]
    facts = Facts(by=("model",), tables=compared("recall", *rows))
    assert of_needle(summary("red", *own, decided=own[-1]), facts).answer == (
        "m0 finds the fact most often, in 95% of contexts (no difference from it is shown for m1); m6 least often, in 35%, too rarely."
    )


def test_without_thresholds_no_light_is_spoken_of() -> None:
    said = of_needle(summary("unlit", fig("recall", 0.8, method="Wilson")), Facts(parameters={"lights": {}}))
    assert said.answer == "Oak finds the fact in 80% of contexts; no thresholds say what is enough."


def test_a_kind_of_context_that_decided_is_named() -> None:
    related = fig("recall_related", 0.4, light="red", cuts=(0.7, 0.9), title="recall, related haystack")
    said = of_needle(summary("red", recall(0.8, "yellow"), related), Facts()).answer
    assert (
        said
        == "Oak finds the fact in 80% of contexts. In texts related to the question oak finds it in 40%, which is too few."
    )


@pytest.mark.parametrize(
    ("more", "missing", "why"),
    [
        ({"n": 3}, "", "3 replies are too few"),
        ({"n_unscored": 10}, "", "10 of 50 replies have no score"),
        ({}, "9 of 40 replies that hold the expected answer decline to answer or deny it", "9 of 40 replies that hold"),
    ],
)
def test_what_is_not_known_of_facts_and_why(more: dict[str, Any], missing: str, why: str) -> None:
    said = of_needle(summary("grey", recall(0.95, "grey", **more), missing=missing), Facts())
    assert said.answer.startswith(f"Whether oak finds the fact is not known yet: {why}")


def test_without_a_score_nothing_is_said_of_facts() -> None:
    assert of_needle(summary("grey", recall(None, "grey", n_unscored=40)), Facts()).answer.startswith(
        "No reply could be scored"
    )


# -- drift -----------------------------------------------------------------------------------------


def drifted(
    then: float | None, now: float | None, light: Any, *texts: tuple[str, Any], overall: Any = "", n: int = 40,
    decided: Estimate | None = None, sentence: str = "…", **more: Any,
) -> Answer:  # fmt: skip
    """Of the quality on both sides, with the light of its drop and those of statistics of texts."""
    sides = [
        fig("quality", v, "", group={"side": s}, method="Wilson", n=0 if v is None else n if s == "oot" else 40)
        for s, v in (("oos", then), ("oot", now))
    ]
    change = None if then is None or now is None else 100 * (then - now)
    ends = {} if change is None else {"ci_low": change - 10, "ci_high": change + 10}
    drop = fig(
        "drop", change, "", unit="pp", higher_is_better=False, light=light, cuts=(15.0, 25.0), **{**ends, **more}
    )
    stats = [fig(metric, 0.1, "", light=lit) for metric, lit in texts]
    found = summary(overall or light, drop, *sides, *stats, *([decided] if decided else []), decided=decided or drop)
    return of_drift(
        type(found)(
            found.estimates, type(found.verdict)(overall or light, sentence, decided_by=found.verdict.decided_by)
        ),
        Facts(),
    )


SAME = (("counts_responses", "green"), ("counts_requests", "green"))
OTHER = (("counts_responses", "red"), ("counts_requests", "green"))


@pytest.mark.parametrize(
    ("now", "light", "texts", "said"),
    [
        (0.8, "green", SAME, "Quality is what it was at the validation, 80%, and the requests and responses have hardly changed."),
        (0.75, "green", OTHER, "No change of quality since the validation is shown: 80% then, 75% now, and the responses have changed; the requests hardly have."),
        (0.95, "green", (), "Quality has risen since the validation, from 80% to 95%."),
        (0.69, "green", (), "Quality has fallen since the validation, from 80% to 69%, which is within what is allowed."),
        (0.6, "yellow", (), "Quality has fallen since the validation, from 80% to 60%, which is between the thresholds."),
        (0.2, "red", OTHER, "Quality has fallen since the validation, from 80% to 20%, more than is allowed, and the responses have changed; the requests hardly have."),
    ],
)  # fmt: skip
def test_what_has_become_of_quality_and_texts(now: float, light: Any, texts: Any, said: str) -> None:
    assert drifted(0.8, now, light, *texts).answer == said


def test_a_level_that_is_too_low_is_said_to_be_so() -> None:
    found = drifted(0.8, 0.8, "red", note="red since the key metric of OOT, 0.80, is red by key_bands")
    assert (
        found.answer
        == "Quality is what it was at the validation, 80%. Quality is now below the level that was asked for."
    )
    assert found.next.text == "Look at the later responses that are wrong."


def test_few_labels_leave_it_open_and_are_counted() -> None:
    found = drifted(0.8, 0.67, "grey", *SAME, n=3)
    assert found.answer == (
        "Whether quality has fallen since the validation is not known: the later sample has 3 labels. "
        "The requests and responses have hardly changed."
    )
    assert found.next.text == "Label 27 more responses of the later sample (30 are needed)."


def test_without_labels_texts_alone_are_spoken_of() -> None:
    found = drifted(None, None, "unlit", *SAME, overall="grey")
    assert "is not known: there are no labels." in found.answer
    assert found.next.text.startswith("Label 30 responses of each side")


def test_responses_that_are_empty_are_not_good_news() -> None:
    found = drifted(0.8, 0.8, "green", *OTHER, overall="grey", decided=fig("counts_responses", 18.0, "", light="red"))
    assert found.answer.endswith("That is not enough evidence for a verdict: many responses are empty or errors.")


def test_the_test_that_decided_is_explained() -> None:
    found = drifted(0.8, 0.8, "green", overall="red", decided=fig("gini", 0.9, "", light="red", cuts=(0.4, 0.8)))
    assert found.answer.endswith("A classifier tells the two samples apart by their texts.")
    assert found.next.text == "Look at the texts that tell the two samples apart."


def test_texts_that_a_classifier_tells_apart_are_not_said_to_be_the_same() -> None:
    found = drifted(0.8, 0.8, "green", *SAME, overall="red", decided=fig("gini", 0.9, "", light="red", cuts=(0.4, 0.8)))
    assert found.answer.endswith(
        "the lengths and words of the requests and responses have hardly changed. "
        "A classifier tells the two samples apart by their texts."
    )


@pytest.mark.parametrize("words", [drift.SAME_ROWS, drift.SWAPPED, drift.EARLY, drift.OTHER_MODEL])
def test_what_else_than_time_lies_between_the_samples_could_change_it(words: str) -> None:
    found = drifted(0.8, 0.8, "green", sentence=f"Key metric: green, 0.80 to 0.80. 9 of 9 rows of OOT {words}. More.")
    assert found.could_change.text == f"9 of 9 rows of the later sample {words}.".replace("OOS", "the validation")
