"""The formulas in force, and what a reader should know of the generations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.metrics.pairs_of_texts import ORDERS
from evalbench.readers.strangers import alike
from evalbench.studies.reproduction import inputs, summary
from evalbench.text.refusals import is_refusal

NEARLY_ALL = 0.95


def notes(rows: pd.DataFrame, options: Mapping[str, Any]) -> list[str]:
    """Where the generations are from, which are lost, and what the task was taken to be."""
    out = []
    if options["model"]:
        heat = options["temperature"]
        out.append(
            f"{options['model']} was asked each prompt {options['n_generations']} times at temperature {heat:g}, the seed "
            "one higher each time."
            + (" At temperature 0 the figures show what the endpoint itself does not repeat." if heat == 0 else "")
        )
    if not options["task"]:
        out.append(
            "No task was given, so the answers are judged as those of an exact task, which should repeat word for word; "
            "task=creative judges them by meaning, and a column task names it for each test set."
        )
    if options.get("listed_beside"):
        out.append("The column answer counts as the first generation of each question, before those of samples.")
    out += summary.lost_generations(rows)
    for model, own in rows[rows["unscored"] == ""].groupby("model", sort=True):
        out += _alike_answers(
            str(model), own["id"], own["answer"].map(lambda text: " ".join(str(text).casefold().split()))
        )
    if said := alike(rows["id"]):
        out.append(core.Note("unmatched", f"are answers to one question taken as those of several? Of the ids {said}"))
    sizes = rows.groupby(["test_set", "id", "model"]).size()
    if sizes.nunique() > 1:
        counts = sizes.value_counts().sort_index()
        listed = ", ".join(f"{core.counted(n, 'question')} with {size}" for size, n in counts.head(5).items())
        out.append(
            f"Questions have unequally many generations ({listed}{', …' if len(counts) > 5 else ''}). Whether a question gets a second "
            "answer is the likelier the more there are; diversity and the share of pairs that differ do not depend on it."
        )
    return out


def _alike_answers(model: str, ids: pd.Series, texts: pd.Series) -> list[str]:
    """Notes of the first rank on a model that says the same to all questions, or declines to answer."""
    out: list[str] = []
    n = ids.nunique()
    of = "" if model == kit.collecting.UNNAMED else f" ({model})"
    usual = texts.mode().iloc[:1]
    same = int((texts.isin(usual).groupby(ids).mean() > 0.5).sum())
    if n >= core.stats.FEW_UNITS and same >= NEARLY_ALL * n:
        out.append(
            core.Note("instrument", f"{same} of {core.counted(n, 'question')} have the same answer as the others{of}")
        )
    declined = int(texts.map(is_refusal).sum())
    if declined > (1 - NEARLY_ALL) * len(texts):
        out.append(
            core.Note("instrument", f"{declined} of {core.counted(len(texts), 'generation')} decline to answer{of}")
        )
    return out


def described(options: Mapping[str, Any], rows: pd.DataFrame) -> tuple[str, ...]:
    """The formulas, a line each."""
    lines = [
        f"Lexical diversity of a question = 1 − mean over all pairs of its generations of their overlap in n-grams, n = 1 to {ORDERS}: "
        "Dice, 2 × common / all, the mean over n of which either has an n-gram. Identical answers: 0. In percentage points; the mean over "
        "questions.",
        "Words are cut at Unicode word boundaries, in lower case, without punctuation; symbols and signs stay (5 and −5 differ); in scripts "
        "written without spaces each character is a word. Two answers are the same where their words are.",
    ]
    if options["embed"]:
        lines.append(
            f"Semantic diversity = 1 − mean cosine of all pairs, by {options['embed']}, in percentage points; answers that are the same "
            "have the cosine 1. How far unrelated texts lie "
            "depends on the model, so figures of two models, and thresholds made for another, cannot be compared; a negation or another "
            "number moves a vector little."
        )
    lines.append(
        "Questions with several answers: more than one among a question's generations, the likelier the more there are; several texts: "
        "not the same to the letter. Pairs that differ: the share of pairs, whose expectation does not depend on how many there are."
    )
    lines.append(
        "Distinct n-grams = distinct by all n-grams, the mean over n: of the whole set (Tevet and Berant 2021), and of pairs as handbook "
        "has it; identical answers then score 1 / their number, and 0.5. Neither has a light."
    )
    if "correct" in rows:
        given = (
            "the table's own marks" if options.get("marks") == "correct" else "equal to a reference after normalising"
        )
        lines.append(
            f"Right answers: {given}; the mean over a question's generations, then over questions. A question flickers where its generations "
            "are neither all right nor all wrong."
        )
    lines.append(
        f"Lights, percentage points: exact task, by words: {summary.BANDS[inputs.EXACT]}; creative task, by meaning: {summary.BANDS[inputs.CREATIVE]}. A value at a "
        "boundary has the worse light; lights look at the figure, not at its interval. Intervals resample questions."
    )
    lines.append(
        "handbook (docs/methods.md), «Стабильность без таргета: воспроизведение ответа»; the thresholds are the document's, the overlap by "
        "Dice and the number of generations are ours."
    )
    return tuple(lines)
