"""How the figures of a stability_top result are computed, and what a reader must know besides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.studies.stability_top import inputs, summary
from evalbench.text.augment import AUGMENTATIONS, SCHEMES


def described(options: Mapping[str, Any], *, made: bool, recorded: bool) -> tuple[str, ...]:
    """The formulas and their sources, a line each."""
    rules = {name: kit.verdicts.bands_of(rule) for name, rule in options["lights"].items()}
    lit = {
        name: rules.get(name) or summary.bands_of_document(name)
        for name in {**dict.fromkeys(summary.DOCUMENT), **rules}
    }
    source = "the table's own" if recorded else f"the nearest documents by the cosine of vectors of {options['embed']}"
    said = [
        f"Tops: {source}. Of each question the top as it was written (A) and as it was changed (B) are compared, k passages each.",
        "tops unchanged (strict): share of questions with A = B as sets; passages kept (soft): mean of |A ∩ B| / k (method document handbook, "
        "which counts changed shares, 1 − these, and sums the soft ones over the questions).",
        "Jaccard: mean of |A ∩ B| / |A ∪ B|. Rank-biased overlap: extrapolated, 1 for equal lists, persistence "
        f"{options['persistence']:g} (Webber, Moffat and Zobel 2010, equation 32); the only figure that looks at the order.",
        f"Lights at k = {options['k']}, one for each augmentation and figure, the worst decides: "
        + "; ".join(f"{name} {bands}" for name, bands in lit.items())
        + ".",
    ]
    if made:
        own = [f"{name}: {AUGMENTATIONS[name].title}" for name in options["augmentations"] if name in AUGMENTATIONS]
        rates = "rates are shares of letters, words or pairs of words"
        said.append(f"Augmentations (seed {options['seed']}; {rates}): {'; '.join(own)}." if own else "")
        if "transliterate" in options["augmentations"]:
            said.append(f"Transliteration: {options['scheme']}, {SCHEMES[options['scheme']].source}.")
    return tuple(filter(None, said))


def notes(items: pd.DataFrame) -> list[str]:
    """Items without a value, counted."""
    out = []
    lost = items[items["unscored"] != ""]
    if len(lost):
        out.append(f"Unscored: {len(lost)} of {len(items)} items ({core.unscored.counted(lost['unscored'])}).")
    same = items[items["undefined"] == inputs.NOT_CHANGED]
    if len(same):
        each = same.groupby("augmentation", sort=True).size()
        named = ", ".join(f"{name} {n}" for name, n in each.items())
        out.append(f"Questions that an augmentation left as they were count for nothing: {named}.")
    blank = int((items["undefined"] == inputs.BLANK).sum())
    if blank:
        out.append(f"Blank questions, and variants, find nothing and count for nothing: {core.counted(blank, 'item')}.")
    return out
