"""Several models on the same questions: how stable the worst light is, and whose AUROC is higher, paired by question."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.metrics.discrimination import auroc_kernel
from evalbench.studies.confidence import figures, resampled

METRIC = f"auroc_{figures.FIRST}"
ONE_CLASS = "all answers are right or all are wrong"
N_PERMUTATIONS = 10_000


def stability_of(
    items: pd.DataFrame,
    bands: core.verdict.Bands,
    held: Sequence[str],
    light: core.verdict.Light,
    *,
    seed: int,
    n_resamples: int,
    units: str = "id",
) -> float | None:
    """The share of resamples in which the worst light of all models is this one; see :func:`evalbench.core.stability.joint_stability`.

    - ``bands``: Of the AUROC of 1 − p.
    - ``held``: Models whose light is grey whatever is drawn.
    """
    drawn_by = items[core.clusters.CLUSTER if core.clusters.CLUSTER in items else units]
    codes, names = pd.factorize(drawn_by)
    if len(names) < 2:
        return None
    of_model = items["model"].astype(str).to_numpy()
    models = sorted(set(of_model))
    scores, wrong = items[figures.FIRST].to_numpy(float), items["wrong"].to_numpy(float)
    parts = [np.flatnonzero(of_model == model) for model in models]
    if any(len(np.unique(codes[part])) < len(part) for part in parts):
        columns = [resampled.column(np.where(of_model == model, scores, np.nan), wrong) for model in models]
        unit = resampled.units_of(drawn_by)
    else:
        columns = [_placed(codes[part], scores[part], wrong[part], len(names)) for part in parts]
        unit = np.arange(len(names))
    patterns = resampled.Patterns.of([resampled.coarse(of)[0] for of in columns], unit)
    times = patterns.fewer(n_resamples)
    found: list[core.Floats] = []
    for weights in patterns.drawn(core.seeds.rng(seed, "bootstrap/light"), times):
        lights = [
            np.full(len(weights), "grey", dtype="<U6")
            if model in held
            else bands.lights(auroc_kernel(*resampled.counts_of(weights, of)))
            for model, of in zip(models, patterns.columns, strict=True)
        ]
        found.append(core.verdict.worst_lights(lights) == light)
    return float(np.mean(np.concatenate(found)))


def _placed(at: core.Indices, scores: core.Floats, wrong: core.Floats, n: int) -> resampled.Column:
    """A model's scores at the places of all units."""
    both = np.full((2, n), np.nan)
    both[:, at] = scores, wrong
    return resampled.column(*both)


def compared(
    items: pd.DataFrame, measures: Sequence[core.Measure], *, seed: int, n_resamples: int, units: str = "id"
) -> pd.DataFrame:
    """Every pair of models, or of the best of many, on the AUROC of 1 − p and on these measures; a table as of
    :func:`evalbench.kit.comparing.compare_groups`.

    AUROC is compared on the questions that both models have a score for: paired bootstrap of the difference, and a p-value by
    swapping the models' answers within questions.
    """
    rows = {str(model): own for model, own in items.groupby("model", sort=True)}
    areas = {model: _area(own) for model, own in rows.items()}
    order = sorted(rows, key=lambda model: (np.nan_to_num(-areas[model], nan=np.inf), model))
    found: list[tuple[tuple[str, str], core.compared.Comparison]] = []
    for pair in combinations(core.compared.best_compared(order), 2):
        a, b = (rows[model] for model in pair)
        options: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
        sums = core.comparison.compare_measures(
            a, b, measures, units_a=a[units], units_b=b[units], names=pair, **options
        )
        found += [(pair, one) for one in (_pair(a, b, units, **options), *sums.comparisons)]
    metrics = [METRIC, *(m.metric for m in measures)]
    found.sort(key=lambda one: metrics.index(one[1].metric))
    pairs = [pair for pair, _ in found]
    adjusted = core.comparison.adjusted_together([one for _, one in found], pairs)
    named = [{"model_a": a, "model_b": b} for a, b in pairs]
    return pd.DataFrame(
        [
            {**names, **c.row(), "held_back": core.compared.held_back(c)}
            for names, c in zip(named, adjusted, strict=True)
        ]
    )


def _area(own: pd.DataFrame) -> float:
    of = resampled.column(own[figures.FIRST].to_numpy(float), own["wrong"].to_numpy(float))
    return float(auroc_kernel(*resampled.counts_of(np.ones((1, len(own))), of))[0]) if of.n_levels else float("nan")


def _pair(a: pd.DataFrame, b: pd.DataFrame, units: str, *, seed: int, n_resamples: int) -> core.compared.Comparison:
    both = a.merge(b, on=units, suffixes=("_a", "_b"))
    known = both[[f"{name}_{side}" for name in (figures.FIRST, "wrong") for side in "ab"]].notna().all(axis=1)
    left_out, both = int((~known).sum()), both[known].sort_values(units, kind="stable")
    n = len(both)
    # Levels that both models share, so that swapped answers are ranked together.
    scores = np.concatenate([both[f"{figures.FIRST}_{side}"].to_numpy(float) for side in "ab"])
    wrong = np.concatenate([both[f"wrong_{side}"].to_numpy(float) for side in "ab"])
    exact = resampled.column(scores, wrong)
    whole = resampled.coarse(exact)[0]
    ends = (slice(0, n), slice(n, 2 * n))
    values = [
        float(auroc_kernel(*resampled.counts_of(np.ones((1, n)), _part(exact, end)))[0]) if n else float("nan")
        for end in ends
    ]
    difference = values[0] - values[1] if np.isfinite(values).all() else None
    low = high = p = spread = None
    note, method, same, times, permuted = ONE_CLASS if n else "no unit has a value on both sides", "", False, 0, 0
    if difference is not None and n >= 2:
        patterns = resampled.Patterns.of([_part(whole, end) for end in ends], np.arange(n))
        times, permuted = patterns.fewer(n_resamples), patterns.fewer(N_PERMUTATIONS)
        drawn = np.concatenate(
            [
                _difference(weights, weights, patterns)
                for weights in patterns.drawn(core.seeds.rng(seed, "comparison/bootstrap"), times)
            ]
        )
        lows, highs = core.stats.holding(difference, *core.stats.percentile_interval(drawn))
        low, high = (float(end) if np.isfinite(end) else None for end in (lows, highs))
        same = bool(
            (both[f"{figures.FIRST}_a"] == both[f"{figures.FIRST}_b"]).all()
            and (both["wrong_a"] == both["wrong_b"]).all()
        )
        usable = drawn[np.isfinite(drawn)]
        spread = float(np.std(usable, ddof=1)) if len(usable) > 1 else 0.0
        swaps = _swapped(patterns, permuted, seed)
        p = float((1 + (~(np.abs(swaps) < abs(difference) - 1e-12)).sum()) / (1 + permuted))
        note = "; ".join(core.stats.bootstrap_cautions(float(lows), float(highs), float(np.isnan(drawn).mean()), n))
        if core.clusters.CLUSTER in a:
            note = "; ".join(filter(None, [note, "questions are drawn one by one here, not in their clusters"]))
        method = f"paired percentile bootstrap, {times} resamples; {permuted} swaps within units"
    tested = p is not None and low is not None
    least = core.planning.least_p(n, n, paired=True) if tested else None
    differ = (both[f"{figures.FIRST}_a"] != both[f"{figures.FIRST}_b"]) | (both["wrong_a"] != both["wrong_b"])
    return core.compared.Comparison(
        metric=METRIC,
        title="AUROC of 1 − p",
        unit="0–1",
        higher_is_better=True,
        value_a=values[0] if np.isfinite(values[0]) else None,
        value_b=values[1] if np.isfinite(values[1]) else None,
        difference=difference,
        ci_low=low if tested else None,
        ci_high=high if tested else None,
        p=p if tested else None,
        p_holm=p if tested else None,
        p_mcnemar=None,
        smallest=core.planning.smallest_difference(spread)
        if spread and least is not None and least <= core.compared.ALPHA
        else None,
        least_p=least,
        n_differ=int(differ.sum()) if tested else None,
        margin=None,
        n_a=n,
        n_b=n,
        n_left_out=left_out,
        method=method if tested else "",
        outcome="same" if same and tested else "no difference shown" if tested else "undefined",
        words="",
        note=note,
    )


def _part(of: resampled.Column, rows: slice) -> resampled.Column:
    return resampled.Column(of.level[rows], of.wrong[rows], of.n_levels)


def _difference(a: core.Floats, b: core.Floats, patterns: resampled.Patterns) -> core.Floats:
    first, second = patterns.columns
    return auroc_kernel(*resampled.counts_of(a, first)) - auroc_kernel(*resampled.counts_of(b, second))


def _swapped(patterns: resampled.Patterns, times: int, seed: int) -> core.Floats:
    """Differences where each question's two answers change sides with probability ½."""
    generator = core.seeds.rng(seed, "comparison/swap")
    first, second = patterns.columns
    step = max(1, (1 << 21) // max(len(patterns.times), first.n_levels))
    found = []
    for begin in range(0, times, step):
        size = min(step, times - begin)
        moved = generator.binomial(patterns.times, 0.5, size=(size, len(patterns.times))).astype(float)
        kept = patterns.times - moved
        stays, comes = (resampled.counts_of(w, of) for w, of in ((kept, first), (moved, second)))
        goes, remains = (resampled.counts_of(w, of) for w, of in ((moved, first), (kept, second)))
        one = auroc_kernel(stays[0] + comes[0], stays[1] + comes[1])
        other = auroc_kernel(goes[0] + remains[0], goes[1] + remains[1])
        found.append(one - other)
    return np.concatenate(found)
