"""What the page says besides figures: how they were computed, and what a reader must know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.metrics.matching import COMPONENTS, Thresholds
from evalbench.studies.matching.items import LOW_OVERLAP


def described(options: Mapping[str, Any], std: Thresholds, ha: Thresholds, placed: bool = True) -> tuple[str, ...]:
    """How the figures were computed, a line each."""

    def formula(weights: Mapping[str, float]) -> str:
        return " + ".join(f"{weights[c]:g} × {c.replace('_', ' ')}" for c in COMPONENTS if weights.get(c))

    embed = options["embed"]
    similarity = (
        "Jaccard index of word sets" if embed == "jaccard" else f"cosine of {embed} embeddings, negative ones count 0"
    )
    apart = "" if ha == std else f" (ha: {ha.overlap:g}, {ha.rule:g} and {ha.score:g})"
    return (
        f"std score = {formula(options['std_weights'])}",
        f"ha score = {formula(options['ha_weights'])}",
        *(
            []
            if placed
            else ["No violation has a place, so that text overlap is left out of both scores and bars no pair."]
        ),
        f"A pair may match if overlap > {std.overlap:g}, rule similarity > {std.rule:g} and score > {std.score:g}{apart}; "
        f"{options['assignment']} one-to-one assignment, inadmissible pairs left out {options['filter']} the best is taken; "
        f"a part that both sides lack: {options['missing']}.",
        f"text overlap = characters in both / characters in either; similarities: {similarity}.",
        "F1 = 2tp / (2tp + fp + fn), summed over texts; match_score = mean ha score over true violations, 0 where none matched; "
        "match_quality = the same over matched pairs.",
        *([f"Below a match quality of {options['floor']:g} a light is at best yellow."] if options["floor"] else []),
        "Default weights and thresholds: violations (docs/methods.md), Metrics: summary. Intervals resample texts.",
    )


def hardly_overlapping(items: pd.DataFrame) -> list[core.notes.Note]:
    """The checkers most of whose matches share little text."""
    sums = items.groupby("model", sort=True)[["low_overlap", "n_overlap"]].sum()
    much = sums[2 * sums["low_overlap"] > sums["n_overlap"]]
    named = [
        f"{low:.0f} of {n:.0f} matches ({checker})"
        for checker, (low, n) in zip(much.index, much.to_numpy(), strict=True)
    ]
    more = f" and most of {core.counted(len(named) - 3, 'more checker')}" if len(named) > 3 else ""
    short = f"{', '.join(named[:3])}{more} overlap by less than {LOW_OVERLAP:g}"
    return [core.notes.Note("overlap", short)] if named else []


def remarks(items: pd.DataFrame, n_faults: int) -> list[str]:
    """What the assignments and the located contexts leave to know."""
    out = []
    for prefix, name in (("", "std"), ("ha_", "ha")):
        count = int(items[f"{prefix}differs"].sum())
        out.append(f"Greedy and optimal {name} assignment differ in {count} of {len(items)} samples × checkers.")
    if n_faults:
        text = f"{n_faults} predicted contexts are not in their text; they count as false positives (table faults)."
        n = int(items["n_predicted"].sum())
        short = f"{n_faults} of {core.counted(n, 'predicted violation')} quote a context that is not in the text"
        out.append(core.notes.Note("unmatched", short, text) if n_faults > kit.MAX_UNSCORED * n else text)
    return out


def calibrated(calibration: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
    """Where calibrated weights came from, and a warning where this run scores otherwise than they were made for."""
    if not calibration:
        return []
    made, data = calibration.get("options") or {}, calibration.get("data") or {}
    source = data.get("name", "unknown data")
    out = [f"Weights and thresholds from a calibration on {source}: {calibration.get('sentence', '')}"]
    for name in ("embed", "missing"):
        there, here = made.get(name, options[name]), options[name]
        if there != here:
            out.append(f"The weights were calibrated with {name}={there}, this run has {name}={here}: calibrate anew.")
    return out
