"""What a reader must know of the variants, and how the figures were computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.studies.stability import inputs, lighting, summary
from evalbench.studies.stability.items import SAME_QUERY, Key, texts_of

REASONS = "reasons"


def counted(rows: pd.DataFrame) -> dict[str, int]:
    """What :func:`notes` counts of all pairs."""
    if not {"question", "variant"} <= set(rows):
        return {}
    blank = (rows["variant"].fillna("").str.strip() == "") & (rows["question"].fillna("").str.strip() != "")
    return {"blank": int(blank.sum())}


def notes(items: pd.DataFrame, made: kit.parts.Made, key: Key, options: Mapping[str, Any]) -> list[str]:
    """What has no score, which augmentations are of no known test, and what a drop may owe to the reference.

    - ``items``: Settled.
    """
    assert made.texts is not None
    out = [*kit.answers.remarks(items), *made.notes, *_of_texts(made, key, options)]
    if same := int((items["undefined"] == SAME_QUERY).sum()):
        out.append(f"Variants that are the query itself, letter by letter, in no figure: {same} of {len(items)}.")
    blank = made.sums.get("blank", 0)
    if blank > kit.MAX_UNSCORED * len(items):
        out.append(core.Note("instrument", f"{blank} of {core.counted(len(items), 'changed query')} are empty"))
    asked_again = made.items["same"].to_numpy(dtype=bool) & inputs.controls(made.items)
    if asked_again.any():
        out.append(
            f"Asked again with the same query: {', '.join(sorted(made.items.loc[asked_again, 'augmentation'].unique()))}. What changes "
            "there is the model's own randomness; a drop under another augmentation that is not larger may be nothing else."
        )
    unknown = sorted(
        {name for name in items["augmentation"].unique() if inputs.level_of(name) == "other"}
        & set(items.loc[items["level"] == "other", "augmentation"])
    )
    if unknown:
        out.append(
            f"Augmentations of no known test: {', '.join(unknown)}; they are lit by the same thresholds under other. A column level, or "
            "levels={\"NAME\": \"words\"}, says to which test they belong."
        )  # fmt: skip
    moved = [name for name in sorted(items["augmentation"].unique()) if _into_another_language(name)]
    if moved and "reference_after" not in made.texts and "reference" in made.texts:
        out.append(
            f"{', '.join(moved)}: the answers are compared with references in the language of the query as it was written; an answer in the "
            "other language counts as a wrong one. A column reference in the table of variants has references of its own."
        )
    return out


def _of_texts(made: kit.parts.Made, key: Key, options: Mapping[str, Any]) -> list[str]:
    """Which texts lack what the metric needs, and how they are written; nothing where it is a column of the tables."""
    if key.card is None:
        return []
    names = [key.card.name]
    written, _ = texts_of(made.sampled, [c for c in ("model", "augmentation") if c in made.sampled])
    noun = "sampled output" if made.is_sample else "output"
    return [
        *kit.scoring.lacking(made.tables[REASONS], names, made.sums["texts"]),
        *kit.scoring.notes_of(written, names, options, noun),
    ]


def _into_another_language(augmentation: str) -> bool:
    """Whether a translation ends in another language than it began in."""
    head, *codes = augmentation.lower().replace("-", "_").split("_")
    return head == "translate" and not (len(codes) > 1 and codes[0] == codes[-1])


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
