"""More planted tables, as a reader found them who looked for pages that say something wrong."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from planted import ANY, NOT_GREEN, Frames, N, Planted, Tables, items, lights, one_table
from planted_asked import SURE, agree_where_wrong, half, sure
from planted_drift import COMPARED, DRIFTED, later, pairs
from planted_people import CORRELATION, MATCHED, WARM, audited, marked, truth
from planted_rag import GENERATED, TUNED, generated, library
from planted_texts import CLOSE, FOUND, answers, needles, problems, solution, turns

GREY = lights("grey")

# -- judges ----------------------------------------------------------------------------------------


def unsure(i: int, annotator: str) -> float:
    """What people say: the truth, or one mark beside it."""
    return float(min(5, max(1, truth(i) + (7 * i + 5 * len(annotator)) % 3 - 1)))


def judged(mark: Callable[[int], float], annotators: tuple[str, ...], people: Callable[[int, str], float]) -> Frames:
    verdicts = items(judge=lambda i: "oak", mark=lambda i: float(mark(i)))
    labels = [items(mark=lambda i, a=a: people(i, a)).assign(annotator=a) for a in annotators]
    return {"verdicts": verdicts, "labels": pd.concat(labels)}


def in_hundreds() -> Frames:
    return audited(lambda i: 25.0 * (truth(i) - 1))


def of_ten() -> Frames:
    return audited(lambda i: 2.0 * truth(i))


def its_own_annotator() -> Frames:
    return judged(truth, ("Oak",), lambda i, _: float(truth(i)))


def a_copy() -> Frames:
    return judged(truth, ("ada",), lambda i, _: float(truth(i)))


def a_copy_of_one() -> Frames:
    return judged(truth, ("ada", "bo", "cyril"), lambda i, a: float(truth(i)) if a == "ada" else unsure(i, a))


# -- texts -----------------------------------------------------------------------------------------


def within_words(scorer: str) -> Planted:
    own = needles(lambda i: "In particular, yes." if i % 2 else "It is art.").assign(reference="art")
    return Planted(one_table(own), r"word would give 0\.50|20 replies.*longer word", FOUND | {"scorer": scorer}, GREY)


def without_rules() -> Frames:
    return {name: frame.assign(rule="nan") if "rule" in frame else frame for name, frame in marked().items()}


def counted_in_words(i: int) -> str:
    return f"She counts them.\n#### {('seven', 'eight', 'nine')[i % 3]}"


def one_context() -> Frames:
    own = generated()["answers"]
    return {"answers": own.assign(contexts=[own["contexts"].iloc[0]] * N)}


FRESH: Tables = {
    "judge_audit": {
        "marks_of_0_to_100": Planted(in_hundreds, r"0 to 100.*another scale.*1 to 5", lights=GREY),
        "marks_of_1_to_10": Planted(of_ten, r"2 to 10.*another scale.*1 to 5", lights=GREY),
        "the_judge_is_the_annotator": Planted(its_own_annotator, r"annotator has the name of the judge", lights=GREY),
        "labels_that_are_the_marks": Planted(a_copy, r"all 40 marks equal the labels of ada.*copy", lights=GREY),
        "labels_of_one_are_the_marks": Planted(a_copy_of_one, r"all 40 marks equal the labels of ada.*copy", lights=GREY),
        "marks_turned_round": Planted(
            lambda: audited(lambda i: 6.0 - truth(i)), r"turned round\?", lights=lights("red", "grey")
        ),
    },
    "needle": {
        "within_a_longer_word": within_words("contains"),
        "within_a_longer_word_by_fuzzy": within_words("fuzzy"),
        "replies_that_are_the_question": Planted(
            one_table(needles(lambda i: "Is it 3, 5 or 7?").assign(question="Is it 3, 5 or 7?", reference="5")), r"repeat the question", FOUND, GREY
        ),
        "anything_but_the_answer": Planted(
            one_table(needles(lambda i: f"Gate {i} is anything but green.").assign(reference="green")), r"40 of 40.*deny it", FOUND, GREY
        ),
        "numbers_in_words": Planted(
            one_table(needles(lambda i: "It has five.").assign(reference="5")),
            r"40 of 40 answers write in words a number", FOUND, lights("red"),
        ),
    },
    "text_metrics": {
        "numbers_in_words": Planted(
            one_table(answers(lambda i: "five").assign(reference="5")), r"40 of 40 outputs write in words", CLOSE, lights("red")
        ),
        "errors_of_an_endpoint": Planted(
            one_table(answers(lambda i: "Error code: 429 - rate limit exceeded" if i % 2 else f"pier {i}")),
            r"20 of 40 outputs read like an error", CLOSE, NOT_GREEN,
        ),
        "blocks_of_reasoning": Planted(
            one_table(answers(lambda i: f"<think>Perhaps {i + 1}?</think>pier {i}")), r"40 of 40 outputs hold a block of reasoning", CLOSE, NOT_GREEN,
        ),
        "one_text_for_all": Planted(
            one_table(answers(lambda i: "the pier")), r"40 of 40 outputs are one and the same text", CLOSE, NOT_GREEN,
        ),
        "rows_that_are_shifted": Planted(
            one_table(answers(lambda i: f"pier {i}").assign(reference=[f"pier {(i + 1) % N}" for i in range(N)])),
            r"40 of 40 outputs are the reference of another item", CLOSE, NOT_GREEN,
        ),
        "references_that_are_the_word_nan": Planted(
            one_table(answers(lambda i: f"pier {i}").assign(reference="nan")), r"40 of 40 cells of column reference", CLOSE, ANY,
        ),
    },
    "cot_levels": {
        "answers_in_words": Planted(
            one_table(problems(counted_in_words, reference=lambda i: f"{solution(i)[:-1]}{7 + i % 3}"[-200:].rsplit("#### ", 1)[0] + f"#### {7 + i % 3}")),
            r"40 of 40 responses write in words", lights=NOT_GREEN,
        ),
    },
    "matching": {
        "rules_that_are_the_word_nan": Planted(without_rules, r"rule of 40 of 40 true violations is the word nan", MATCHED, GREY),
    },
    "rag_generation": {
        "the_same_contexts_for_all": Planted(
            one_context, r"40 of 40 answers have the same contexts", GENERATED, NOT_GREEN
        ),
        "answers_that_are_their_contexts": Planted(
            lambda: {"answers": (own := generated()["answers"]).assign(contexts=[[text] for text in own["answer"]])},
            r"40 of 40 answers are one of their contexts word for word", GENERATED, ANY,
        ),
        "truths_that_are_the_word_nan": Planted(
            lambda: generated(truth=lambda i: "nan"), r"40 of 40 cells of column reference are the word nan", GENERATED, NOT_GREEN
        ),
    },
    "rag_tuning": {
        "questions_that_copy_their_chunk": Planted(
            library, r"40 of 40 generated questions repeat their chunk", TUNED | {"question_model": lambda fields: fields["chunk"]}, GREY
        ),
    },
    "drift": {
        "a_gain": Planted(
            lambda: later(lambda i: 1, before=lambda i: int(i % 5 == 0)), r"no drop but a rise of 80 \[", DRIFTED, ANY,
        ),
    },
    "dialogue": {
        "twelve_sessions": Planted(
            lambda: {"turns": turns(n=12)}, r"fewer than 20.*though 10 are enough for a light", lights=ANY,
        ),
    },
    "human_correlation": {
        "a_metric_that_is_the_marks": Planted(
            lambda: CORRELATION["all_right"].frames(),
            r"equals people's marks of clear on all 120 outputs", WARM, ANY,
        ),
    },
    "cascade": {
        "errors_of_an_endpoint": Planted(
            lambda: {"items": pairs(b="Error code: 429 - rate limit exceeded")}, r"of B 40 of 40 answers read like an error", COMPARED, ANY,
        ),
    },
    "confidence": {
        "one_score_for_all": Planted(one_table(sure(lambda i: 10, half)), r"all answers have the same score", SURE, GREY),
        "what_is_right_is_turned_round": Planted(
            one_table(sure(agree_where_wrong, half)), r"AUROC[^.]*0\.00 \[0\.00, 0\.1\d\].*turned round\?", SURE, lights("red")
        ),
    },
}  # fmt: skip
assert N == 40
