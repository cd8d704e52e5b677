"""Items to headline figures and their verdict, and what a reader should know of both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.metrics.reasoning import LEVELS, formulas, refuses
from evalbench.studies.cot_levels.items import NO_EQUATION
from evalbench.text.digits_in_words import number_word_notes
from evalbench.text.odd_texts import odd_text_notes
from evalbench.text.solutions import parse_solution

_PERCENT = re.compile(r"\d\s?[%％]\W*$")
THRESHOLD, STRICT = 0.8, "strict"
NO_EQUATIONS, UNREADABLE = "no response has an equation", "no reference has an equation"


def measures(threshold: float) -> tuple[core.Measure, ...]:
    """The measures of one model, and last the references' ceiling."""
    return (
        core.mean_of("final", bands=kit.verdicts.pass_mark(threshold)),
        core.share_of("passed"),
        core.share_of("correct", "answer", title="level 1 answer"),
        core.mean_of("steps", title="level 2 steps", undefined="no reference has a step"),
        core.mean_of("similarity", title="level 3 similarity", undefined="no reference has a step"),
        core.mean_of("coherence", title="level 4 coherence", undefined=NO_EQUATIONS),
        core.share_of("answer_strict", title="answer, strict"),
        core.share_of("answer_flexible", title="answer, flexible"),
        core.share_of("marked", "answer_marked", title="answer marked", undefined="no response has a text", worst=None),
        core.mean_of("accuracy", "right_equations", title="right equations", undefined=NO_EQUATIONS),
        core.mean_of("sourced", "sourced_steps", title="sourced steps", undefined=NO_EQUATIONS),
        core.mean_of("reference_coherence", title="level 4 of the references", undefined=UNREADABLE, worst=None),
    )


def with_sums(items: pd.DataFrame, *, threshold: float = THRESHOLD) -> pd.DataFrame:
    """The items with what the measures sum: who passed, and the level 4 of each problem's reference once."""
    once = items["reference_coherence"].mask(items.duplicated("id"))
    return items.assign(passed=kit.verdicts.reaches(items["final"], threshold), reference_coherence=once)


@kit.slicing.sliced(measures=measures, with_sums=with_sums)
def summarise(
    items: pd.DataFrame,
    *,
    answer_extractor: str = STRICT,
    threshold: float = THRESHOLD,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Measures of every model, the ceiling of the references, and the verdict; options as of ``evaluate``.

    With ``strict``, a model whose responses mostly lack a marker of the answer makes the light grey.
    """
    rows = with_sums(items, threshold=threshold)
    resampling: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    lost = {str(model): said for model, own in rows.groupby("model") if (said := kit.extraction.unmarked(own))}
    doubted = {
        str(m): said for m, own in rows.groupby("model") if (said := kit.extraction.apart(own, answer_extractor))
    }
    *of_model, ceiling = measures(threshold)
    summary = kit.worst_group(
        rows,
        of_model,
        "model",
        what="Mean final score",
        over=core.counted(rows["id"].nunique(), "problem"),
        share="passed",
        held_back=lost if answer_extractor == STRICT else {},
        faults=doubted,
        max_unscored=max_unscored,
        **resampling,
        **kit.early.summed(rows, of_model, "model", **resampling),
    )
    problems = rows.drop_duplicates("id").assign(unscored="", undefined="")
    of_references = core.measures.estimate(problems, [ceiling], units=problems["id"], **resampling)
    return replace(summary, estimates=(*summary.estimates, *of_references.estimates))


def counted(solutions: pd.DataFrame, faults: pd.DataFrame, answer_markers: Sequence[str]) -> dict[str, Any]:
    """What :func:`notes` counts of all responses."""
    given = solutions.dropna(subset=["answer", "reference"])
    last, right = _ends(given)
    return {
        "responses": int(solutions["answer"].notna().sum()),
        "with a reference": len(given),
        "refusals": sum(
            refuses(parse_solution(text, tuple(answer_markers)), text) for text in solutions["answer"].dropna()
        ),
        "unread": dict(Counter(faults.loc[faults["kind"] == "unread", "detail"])),
        "percentages": sum(bool(_PERCENT.search(a)) and "%" not in b[0] for a, b in zip(last, right, strict=True)),
    }


def _ends(given: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """The last line of each response, and what its reference ends with."""
    last = ["".join(text.strip().splitlines()[-1:]) for text in given["answer"]]
    return last, [[text.rsplit("####", 1)[-1].strip()] for text in given["reference"]]


def notes(
    items: pd.DataFrame, made: kit.parts.Made, model: str, answer_extractor: str, answer_markers: Sequence[str]
) -> list[str]:
    """What was collected, what has no score, and how the answers were found."""
    out = [f"Responses of {model} were collected with the prompt word_problem."] if model else []
    out += kit.answers.remarks(items)
    n, noun = made.sums, "sampled response" if made.is_sample else "response"
    problems = items.drop_duplicates("id")["n_reference_steps"].dropna()
    if bare := int((problems == 0).sum()):
        short = f"{bare} of {core.counted(len(problems), 'reference')} have no step: levels 2 and 3 do not count there"
        out.append(core.Note("instrument", short))
    if n["refusals"]:
        out.append(f"Refusals, which score 0 on every level: {n['refusals']} of {n['responses']}.")
    if renormalised := int((items["undefined"] == NO_EQUATION).sum()):
        out.append(f"Responses without an equation, whose final score is the mean of the other levels: {renormalised}.")
    if unread := int(items["n_unread"].sum()):
        named = ", ".join(f"{detail} ({times})" for detail, times in Counter(n["unread"]).most_common(3))
        out.append(
            f"Equations that cannot be read, so that level 4 leaves them out: {unread} of "
            f"{int(items['n_equations'].sum())}; most often: {named}. Responses all of whose equations are such, "
            f"unscored: {int((items['unscored'] == 'unparsed').sum())}."
        )
    sampled = made.sampled
    out += odd_text_notes(sampled["answer"].dropna(), kit.MAX_UNSCORED, noun, alike=False)
    last, right = _ends(sampled.dropna(subset=["answer", "reference"]))
    out += number_word_notes(last, right, kit.MAX_UNSCORED, noun)
    if n["percentages"]:
        short = (
            f"{n['percentages']} of {core.counted(n['with a reference'], 'response')} give a percentage where the reference has a plain "
            "number: 14% counts as 14"
        )
        many = n["percentages"] > kit.MAX_UNSCORED * n["with a reference"]
        out.append(core.Note("unmatched", short) if many else f"{short}.")
    return [*out, *kit.extraction.remarks(items, answer_extractor, answer_markers)]


def method(weights: Mapping[str, float], threshold: float, **reading: Any) -> tuple[str, ...]:
    """The formulas in force; ``reading`` as of :func:`~evalbench.metrics.reasoning.four_levels`."""
    total = " + ".join(f"{weights[level]:g} × {level}" for level in LEVELS)
    return (
        f"Final score = {total}, divided by the weights' sum; passed from {threshold:g} on.",
        *formulas(**reading),
        kit.extraction.METHOD,
        "Levels and threshold: explainability (docs/methods.md), Level 1 to Level 4; the default weights, which give its "
        "worked example, are ours. Intervals resample problems.",
    )
