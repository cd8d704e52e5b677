"""Matches to items, and items to headline figures with intervals and a light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.measures import Measure, estimate, f1_of, mean_of, precision_of, ratio, recall_of
from evalbench.core.result import Estimate, Summary, decisive
from evalbench.core.stability import Lit, joint_stability
from evalbench.core.stats import of_few
from evalbench.core.verdict import Bands, Verdict
from evalbench.core.wording import counted, estimate_text
from evalbench.errors import BadInput
from evalbench.metrics.matching import COMPONENTS
from evalbench.studies.matching.pairs import Matching, Pairs

if TYPE_CHECKING:
    import pandas as pd

LOW_OVERLAP = 0.1
LIT = ("f1", "match_score", "ha_f1")


def items_of(pairs: Pairs, std: Matching, ha: Matching) -> pd.DataFrame:
    """One row per sample and checker: counts and sums, everything that the figures need."""
    import pandas as pd

    v, codes = pairs.violations, pairs.codes
    samples, checkers = v.documents["sample_id"], v.checkers["checker"]
    size = len(samples) * len(checkers)

    def total(mask: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        weights = None if values is None else np.nan_to_num(values[mask])
        return np.bincount(codes.group[mask], weights=weights, minlength=size)

    sample_of_truth = pd.Index(samples).get_indexer(v.truth["sample_id"])
    n_truth = np.repeat(np.bincount(sample_of_truth, minlength=len(samples)), len(checkers))
    sample_of_prediction = pd.Index(samples).get_indexer(v.predictions["sample_id"])
    checker = pd.Categorical(v.predictions["checker"], categories=checkers).codes
    n_predicted = np.bincount(sample_of_prediction * len(checkers) + checker, minlength=size)
    out: dict[str, np.ndarray] = {
        "sample_id": np.repeat(samples.to_numpy(), len(checkers)),
        "checker": np.tile(checkers.to_numpy(), len(samples)),
        "n_truth": n_truth,
        "n_predicted": n_predicted,
    }
    for prefix, matching in (("", std), ("ha_", ha)):
        tp = total(matching.matched)
        out |= {f"{prefix}tp": tp, f"{prefix}fp": n_predicted - tp, f"{prefix}fn": n_truth - tp}
        out[f"{prefix}score_sum"] = total(matching.matched, matching.score)
        out[f"{prefix}differs"] = matching.differs.astype(np.int64)
    for component in COMPONENTS:
        there = ha.matched & ~np.isnan(pairs.components[component])
        out[f"sum_{component}"] = total(there, pairs.components[component])
        out[f"n_{component}"] = total(there)
    out["low_overlap"] = total(std.matched & (pairs.components["text_overlap"] < LOW_OVERLAP))
    tp, fp, fn = (out[k].astype(float) for k in ("tp", "fp", "fn"))
    out |= {
        "sample_precision": ratio(tp, tp + fp),
        "sample_recall": ratio(tp, tp + fn),
        "sample_f1": ratio(2 * tp, 2 * tp + fp + fn),
    }
    frame = pd.DataFrame(out)
    frame["unscored"], frame["undefined"] = "", ""
    return frame


def measures(bands: Bands | None = None, light_on: str = "f1") -> tuple[Measure, ...]:
    """The study's headline figures; ``bands`` light the one named ``light_on``."""
    macro = {"worst": None, "undefined": "no sample has a value"}
    listed = (
        f1_of("tp", "fp", "fn"),
        Measure("match_score", ("ha_score_sum", "n_truth"), ratio, undefined="there is no true violation"),
        precision_of("tp", "fp"),
        recall_of("tp", "fn"),
        f1_of("ha_tp", "ha_fp", "ha_fn", "ha_f1"),
        precision_of("ha_tp", "ha_fp", "ha_precision"),
        recall_of("ha_tp", "ha_fn", "ha_recall"),
        Measure("match_quality", ("ha_score_sum", "ha_tp"), ratio, undefined="nothing was matched"),
        *(
            Measure(
                f"matched_{c}",
                (f"sum_{c}", f"n_{c}"),
                ratio,
                undefined="no matched pair has this part",
                interval="counts" if c == "category_match" else "bootstrap",
            )
            for c in COMPONENTS
        ),
        Measure(
            "low_overlap_share",
            ("low_overlap", "tp"),
            ratio,
            higher_is_better=False,
            undefined="nothing was matched",
            interval="counts",
        ),
        mean_of("sample_f1", "macro_f1", **macro),
        mean_of("sample_precision", "macro_precision", **macro),
        mean_of("sample_recall", "macro_recall", **macro),
        Measure("tp", ("tp",), lambda x: x, unit="violations"),
        Measure("fp", ("fp",), lambda x: x, unit="violations", higher_is_better=False),
        Measure("fn", ("fn",), lambda x: x, unit="violations", higher_is_better=False),
    )
    if bands is None:
        return listed
    from dataclasses import replace

    return tuple(replace(f, bands=bands) if f.metric == light_on else f for f in listed)


def bands_of(light_on: str, yellow_from: float | None, green_from: float | None) -> Bands | None:
    """The light's bands from two thresholds; none given: unlit.

    Raises
    ------
    BadInput
        If only one is given, they do not ascend, or ``light_on`` has no light.
    """
    if light_on not in LIT:
        raise BadInput(f"light_on: {light_on!r}; one of {', '.join(LIT)}")
    if yellow_from is None and green_from is None:
        return None
    if yellow_from is None or green_from is None or not yellow_from < green_from:
        raise BadInput(f"yellow_from and green_from: both or neither, ascending; got {yellow_from} and {green_from}")
    return Bands.cut("red", yellow_from, "yellow", green_from, "green")


def summarise(
    items: pd.DataFrame,
    *,
    light_on: str = "f1",
    yellow_from: float | None = None,
    green_from: float | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Summary:
    """Headline figures per checker and over all, with the verdict, from items alone.

    Parameters
    ----------
    items : DataFrame
        One row per sample and checker, see :func:`items_of`.
    light_on : {"f1", "match_score", "ha_f1"}
    yellow_from, green_from : float or None
        The light is red up to and including the first, green above the second; without them unlit.
    seed, n_resamples : int

    Returns
    -------
    Summary
    """
    bands = bands_of(light_on, yellow_from, green_from)
    listed = measures(bands, light_on)
    checkers = sorted(items["checker"].unique())
    groups = [({"checker": c}, items[items["checker"] == c]) for c in checkers]
    if len(checkers) > 1:
        groups.append(({}, items))
    done = [
        estimate(rows, listed, units=rows["sample_id"], seed=seed, group=group, n_resamples=n_resamples)
        for group, rows in groups
    ]
    estimates = [e for one in done for e in one.estimates]
    rows = [e for e in estimates if e.metric == light_on]
    measure = next(f for f in listed if f.metric == light_on)
    return Summary(tuple(estimates), _verdict(items, rows, measure, seed, n_resamples))


def _verdict(items: pd.DataFrame, rows: Sequence[Estimate], measure: Measure, seed: int, n_resamples: int) -> Verdict:
    bands, headline = measure.bands, [e for e in rows if e.group]
    known = [e for e in headline if e.value is not None]
    n_samples = items["sample_id"].nunique()
    n_truth = int(items.drop_duplicates("sample_id")["n_truth"].sum())
    over = f"{counted(n_truth, 'true violation')} in {counted(n_samples, 'text')}"
    name = {"f1": "F1", "ha_f1": "human-aligned F1", "match_score": "match score"}[measure.metric]
    if not known:
        return Verdict("grey" if bands else "unlit", f"{name} is undefined: {over}, nothing was predicted.")
    low, best = min(known, key=lambda e: e.value), max(known, key=lambda e: e.value)
    if len(known) == 1:
        sentence = f"{name} {estimate_text(best, rows)}; {over}."
    else:
        sentence = (
            f"{name} from {estimate_text(low, rows)} ({low.group['checker']}) to {estimate_text(best, rows)} ({best.group['checker']}); "
            f"{len(known)} checkers, {over}."
        )
    sentence += of_few(e.n for e in known)
    if bands is None:
        return Verdict("unlit", sentence + " No thresholds were given, so no light is lit.")
    decided = decisive(headline)
    lit = [Lit(own, own["sample_id"], measure) for _, own in items.groupby("checker", sort=True)]
    stability = joint_stability(lit, decided.light, seed=seed, n_resamples=n_resamples)
    rule = f"{name}, the worst checker decides: {bands}"
    return Verdict(decided.light, sentence, rule, stability, decided_by=decided.place)
