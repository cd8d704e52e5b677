"""What a reader must know of the variants, and how the figures were computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.stability import inputs, lighting, summary
from evalbench.studies.stability.items import SAME_QUERY, Key


def notes(items: pd.DataFrame, pair: inputs.Paired, scored: kit.scoring.Scored) -> list[str]:
    """What has no score, which augmentations are of no known test, and what a drop may owe to the reference."""
    rows, out = pair.rows, [*kit.answers.remarks(items), *scored.notes]
    if same := int((items["undefined"] == SAME_QUERY).sum()):
        out.append(f"Variants that are the query itself, letter by letter, in no figure: {same} of {len(items)}.")
    if {"question", "variant"} <= set(rows):
        blank = (rows["variant"].fillna("").str.strip() == "") & (rows["question"].fillna("").str.strip() != "")
        if blank.sum() > kit.MAX_UNSCORED * len(rows):
            out.append(
                core.Note("instrument", f"{blank.sum()} of {core.counted(len(rows), 'changed query')} are empty")
            )
    controls = _controls(rows)
    if controls:
        out.append(
            f"Asked again with the same query: {', '.join(controls)}. What changes there is the model's own randomness; a drop under "
            "another augmentation that is not larger may be nothing else."
        )
    unknown = sorted(
        {name for name in rows["augmentation"].unique() if inputs.level_of(name) == "other"}
        & set(rows.loc[rows["level"] == "other", "augmentation"])
    )
    if unknown:
        out.append(
            f"Augmentations of no known test: {', '.join(unknown)}; they are lit by the same thresholds under other. A column level, or "
            "levels={\"NAME\": \"words\"}, says to which test they belong."
        )  # fmt: skip
    moved = [name for name in sorted(rows["augmentation"].unique()) if _into_another_language(name)]
    if moved and "reference_after" not in rows and "reference" in rows:
        out.append(
            f"{', '.join(moved)}: the answers are compared with references in the language of the query as it was written; an answer in the "
            "other language counts as a wrong one. A column reference in the table of variants has references of its own."
        )
    return out


def _into_another_language(augmentation: str) -> bool:
    """Whether a translation ends in another language than it began in."""
    head, *codes = augmentation.lower().replace("-", "_").split("_")
    return head == "translate" and not (len(codes) > 1 and codes[0] == codes[-1])


def _controls(rows: pd.DataFrame) -> list[str]:
    if not {"question", "variant"} <= set(rows):
        return []
    same = (rows["question"] == rows["variant"]) & (rows["question"] != "") & ~np.asarray(inputs.unchanged(rows))
    return sorted(rows.loc[same, "augmentation"].unique())


def described(options: Mapping[str, Any], key: Key) -> tuple[str, ...]:
    """The formulas with their sources."""
    bands = summary.rules_of(options["lights"])
    yellow, red = bands.cuts
    lines = [
        f"drop = 100 · (before − after) / ({key.best:g} − {_plain(key.worst)}) percentage points, the mean over the items that have a score "
        "before and after; its interval resamples items, each with both scores.",
        "relative drop (PDR) = (before − after) / (before − worst), of the means: the performance drop rate of Zhu et al. 2023 (PromptBench).",
        "changed: items whose score differs; worse: items whose score fell.",
    ]
    if options["light_on"] == lighting.LIGHT_ON:
        lines.append(
            f"Light of an augmentation, by its interval: red where a drop above {red:g} pp is shown, yellow where one of {yellow:g} pp or more "
            "is (one-sided bootstrap test, Holm over the augmentations of a model, p ≤ 0.025); green where the drop is below "
            f"{yellow:g} pp and the upper end of its interval not above {red:g} pp; otherwise grey, too few items to say."
        )
    else:
        lines.append(
            f"Light of an augmentation, by the estimate: {bands}. Of 100 items a tenth of which flip at random, six augmentations without any "
            "true drop are not all green in more than a third of all runs; light_on=ci does not take chance for a drop."
        )
    lines.append(
        f"A green light is grey where before lies less than {red:g} pp above the worst, since it could not fall by more. Where no item "
        "fell, or none rose, an end of the interval is Wilson's: of n items a share of up to z²/(n + z²) may. The worst augmentation decides its "
        "test, the worst test the light."
    )
    lines.append(
        "Source: handbook (docs/methods.md), stability to augmentations; its thresholds leave 5 and 10 themselves open: both are yellow. "
        "What the interval shows, and grey, are ours."
    )
    if options["model"]:
        lines.append(
            f"{options['model']} was asked every query and every variant; an item's variant depends on its text, its id and the seed alone."
        )
    if key.card is None:
        return (
            *lines,
            f"Key metric: the column {key.name} of both tables, from {key.worst:g} (worst) to {key.best:g} (best).",
        )
    return (*lines, *kit.metric_options.methods_of([key.card], options))


def _plain(number: float) -> str:
    return f"{number:g}" if number >= 0 else f"({number:g})"
