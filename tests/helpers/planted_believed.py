"""Planted tables of what the sentence names and a light must not pass over: errors, copies, candidates, figures that are all alike."""

from __future__ import annotations

import pandas as pd
from planted import ANY, NOT_GREEN, Planted, Tables, lights, one_table
from planted_asked import EXACT, repeated
from planted_drift import COMPARED, DRIFTED, later, pairs
from planted_people import WARM, audited, rated
from planted_rag import GENERATED, generated
from planted_texts import CLOSE, FOUND, answers, needles, problems, turns

GREY = lights("grey")
BUSY = "HTTP error 503: service unavailable"


def checked_later(i: int) -> str:
    """A right answer behind its marker, and another number below it."""
    return f"Ann has {i + 3} + 4 = {i + 7} pears.\n#### {i + 7}\nSee sheet {5000 + i}."


def copied() -> dict[str, pd.DataFrame]:
    own = generated()["answers"]
    return {"answers": own.assign(contexts=[[f"{text}"] for text in own["answer"]])}


def wide(i: int) -> str:
    """The number of a house's keys in full-width digits."""
    return f"There are {chr(ord('０') + i % 9 + 1)}."


BELIEVED: Tables = {
    "reproduction": {
        "an_endpoint_that_always_fails": Planted(
            one_table(repeated(lambda i, k: BUSY)), r"100(\.0)?% of the generations read like an error", EXACT, GREY
        ),
        "an_endpoint_that_fails_now_and_then": Planted(
            one_table(repeated(lambda i, k: BUSY if i % 5 == 0 else f"At {i}.")), r"20(\.0)?% of the generations read like", EXACT, GREY
        ),
    },
    "cascade": {
        "all_answers_of_one_are_errors": Planted(
            lambda: {"items": pairs(b=BUSY)}, r"40 of 40 answers of B are empty or errors.*light stays grey", COMPARED, GREY
        ),
        "all_answers_of_one_are_empty": Planted(
            lambda: {"items": pairs(b="")}, r"40 of 40 answers of B are empty or errors.*light stays grey", COMPARED, GREY
        ),
        "all_answers_of_the_first_are_empty": Planted(
            lambda: {"items": pairs(a=" ")}, r"40 of 40 answers of A are empty or errors.*light stays grey", COMPARED, GREY
        ),
    },
    "rag_generation": {
        "answers_that_support_themselves": Planted(
            copied, r"40 of 40 answers are one of their contexts.*light stays grey", GENERATED, GREY
        ),
        "answers_that_are_errors": Planted(
            lambda: generated(answer=lambda i: BUSY), r"40 of 40 answers read like an error", GENERATED, NOT_GREEN
        ),
    },
    "cot_levels": {
        "another_number_below_the_answer": Planted(
            one_table(problems(checked_later)), r"strict extraction finds 40 of 40, flexible finds 0 of 40", lights=GREY
        ),
        "percentages": Planted(
            one_table(problems(lambda i: f"Ann has {i + 3} + 4 = {i + 7} pears.\n#### {i + 7}%")), r"40 of 40 responses give a percentage", lights=ANY
        ),
    },
    "needle": {
        "every_candidate_in_one_reply": Planted(
            one_table(needles(lambda i: "One of 1, 2, 3, 4, 5, 6, 7, 8 and 9.")), r"40 of 40 .*name several answers", FOUND, GREY
        ),
        "both_candidates_in_one_reply": Planted(
            one_table(needles(lambda i: "Red or blue, I should say.").assign(reference=["red", "blue"] * 20)), r"40 of 40 .*name several", FOUND, GREY
        ),
        "the_other_candidate_is_denied": Planted(
            one_table(needles(lambda i: f"It is not {('blue', 'red')[i % 2]} but {('red', 'blue')[i % 2]}.").assign(reference=["red", "blue"] * 20)),
            r"1\.00", FOUND, lights("green"),
        ),
        "yes_and_no": Planted(
            one_table(needles(lambda i: "Yes and no.").assign(reference="yes")), r"40 of 40 .*name several answers", FOUND, GREY
        ),
        "full_width_digits": Planted(one_table(needles(wide)), r"1\.00", FOUND, lights("green")),
    },
    "text_metrics": {
        "full_width_digits": Planted(
            one_table(answers(lambda i: "１４").assign(reference="14")), r"40 of 40 outputs write .*digits of another script", CLOSE, lights("red")
        ),
        "all_half_right": Planted(
            one_table(answers(lambda i: f"pier {i}").assign(reference=[f"dock {i}" for i in range(40)])), r"0\.500? \[0\.4\d*, 0\.5\d*\]", CLOSE, ANY
        ),
    },
    "human_correlation": {
        "a_perfect_metric": Planted(rated, r"spearman 1\.00 \[0\.8\d, 1\.00\]", WARM, ANY),
        "a_perfect_metric_over_all_outputs": Planted(
            rated, r"spearman 1\.00 \[0\.[5-9]\d, 1\.00\]", WARM | {"level": "dataset"}, ANY
        ),
        "a_perfect_metric_by_pearson": Planted(
            rated, r"1\.00 \[1\.00, 1\.00\].*interval has no width", WARM | {"level": "dataset", "coefficient": "pearson"}, ANY
        ),
    },
    "drift": {
        "an_endpoint_fails_on_both_sides": Planted(
            lambda: {side: rows.assign(answer=BUSY) for side, rows in later(lambda i: 1).items()},
            r"120 of 120 responses of OOT read like an error", DRIFTED, GREY,
        ),
    },
    "judge_audit": {
        "a_judge_of_one_mark": Planted(
            lambda: audited(lambda i: 3.0), r"all 40 marks of oak are 3.*kappa with people 0\.00 \[−0\.\d+, 0\.\d+\]", lights=NOT_GREEN
        ),
    },
    "dialogue": {
        "rows_of_a_session_disagree": Planted(
            lambda: {"turns": turns().assign(resolved=[i % 2 for i in range(160)])}, r"in 40 of 40 sessions rows differ in resolved", lights=ANY
        ),
        "all_sessions_alike": Planted(lambda: {"turns": turns(answers=4)}, r"4\.00 \[4\.00, 4\.00\].*no width", lights=ANY),
    },
}  # fmt: skip
