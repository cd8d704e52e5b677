"""Items to headline figures with intervals, lights and the comparison of models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.compared import at_odds, best_compared
from evalbench.core.measures import Estimated, Measure, estimate, mean_of
from evalbench.core.planning import smallest_difference
from evalbench.core.result import Estimate, Summary, decisive
from evalbench.core.seeds import rng
from evalbench.core.significance import holm, sign_flip_test
from evalbench.core.stability import Lit, joint_stability
from evalbench.core.stats import bootstrap_sums, percentile_interval
from evalbench.core.unscored import counted, in_words
from evalbench.core.verdict import Bands, Light, RuleError, Verdict
from evalbench.core.wording import estimate_text, percent
from evalbench.errors import BadInput
from evalbench.metrics.registry import Card, card
from evalbench.metrics.translation import BLEU_COUNTS, corpus_bleu
from evalbench.studies.text_metrics.items import reasons_of

if TYPE_CHECKING:
    import pandas as pd

_NAMED = 12  # models whose figures one sentence can hold


def bands_of(lights: Mapping[str, Sequence[float]], metrics: Sequence[str]) -> dict[str, Bands]:
    """Metric → its bands.

    Raises
    ------
    BadInput
        Lists lights of metrics that are not computed, that have no direction, or whose two thresholds do not ascend.
    """
    found, faults = {}, []
    for name, cuts in lights.items():
        direction = card(name).higher_is_better
        if name not in metrics:
            faults.append(f"{name} is not among the metrics")
        elif direction is None:
            faults.append(f"{name} has no better and worse")
        elif len(cuts) != 2 or not all(isinstance(c, int | float) and math.isfinite(c) for c in cuts):
            faults.append(f"{name} needs two thresholds, got {list(cuts)}")
        else:
            order = ("red", "yellow", "green") if direction else ("green", "yellow", "red")
            try:
                found[name] = Bands.cut(order[0], float(cuts[0]), order[1], float(cuts[1]), order[2])  # type: ignore[arg-type]
            except RuleError as error:
                faults.append(f"{name}: {error}")
    if faults:
        raise BadInput.listing("lights:", faults)
    return found


def measures(metrics: Sequence[str]) -> tuple[Measure, ...]:
    """The mean of each metric over texts (of one that is 0 or 1, a proportion), and corpus BLEU beside sacrebleu's."""
    return tuple(measure for name in metrics for measure in _figures_of(card(name)))


def _figures_of(entry: Card, **options: Any) -> tuple[Measure, ...]:
    # The mean of what is 0 or 1 is a proportion, anywhere between.
    share = entry.unit == "0/1"
    common: dict[str, Any] = {"unit": "0–1" if share else entry.unit, "higher_is_better": entry.higher_is_better}
    finite_worst = entry.range[0] if entry.higher_is_better else entry.range[1]
    worst = finite_worst if entry.higher_is_better is not None and np.isfinite(finite_worst) else None
    interval = "wilson" if share else "bootstrap"
    given = {"undefined": "no text has a value", "interval": interval, **common, **options}
    mean = mean_of(entry.name, worst=worst, **given)
    if entry.name != "sacrebleu":
        return (mean,)
    sums = tuple(f"sacrebleu_{c}" for c in BLEU_COUNTS)
    corpus = Measure("sacrebleu_corpus", sums, corpus_bleu, **common, undefined="no text has a value")
    return mean, corpus


def summarise(
    items: pd.DataFrame,
    *,
    metrics: Sequence[str] = (),
    lights: Mapping[str, Sequence[float]] | None = None,
    max_unscored: float = 0.05,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Summary:
    """Means with intervals per metric and model, corpus BLEU, and the verdict, from items alone.

    Parameters
    ----------
    items : DataFrame
        See :func:`evalbench.studies.text_metrics.items.items_of`.
    metrics : sequence of str
        By default every column that is named as a text metric.
    lights : mapping of str to (float, float), optional
    max_unscored : float
    seed, n_resamples : int

    Returns
    -------
    Summary
    """
    names = list(metrics) or _metrics_of(items)
    bands = bands_of(lights or {}, names)
    by_model = "model" in items and items["model"].nunique() > 0
    models = sorted(items["model"].unique()) if by_model else []
    rows_of = dict(iter(items.groupby("model", sort=True))) if models else {}
    groups = [({"model": m}, rows_of[m]) for m in models] or [({}, items)]
    done = [
        (name, _estimated(rows, name, bands.get(name), group, max_unscored, seed, n_resamples))
        for group, rows in groups
        for name in names
    ]
    estimates = tuple(e for _, one in done for e in one.estimates)
    return Summary(estimates, _verdict(items, done, bands, seed, n_resamples))


def _metrics_of(items: pd.DataFrame) -> list[str]:
    """The columns that are named as text metrics, without those that came with a metric as its parts."""
    names = [name for name in items.columns if _is_metric(name)]
    parts = {f"{name}_{part}" for name in names for part in ("precision", "recall")}
    return [name for name in names if name not in parts]


def _is_metric(name: str) -> bool:
    try:
        return card(name).kind in ("text", "texts") and card(name).name == name
    except KeyError:
        return False


def _estimated(
    rows: pd.DataFrame, name: str, bands: Bands | None, group: Mapping[str, str], max_unscored: float, seed: int, n: int
) -> Estimated:
    entry = card(name)
    unscored = reasons_of(rows, name, "unscored")
    given = set(filter(None, unscored))
    why = counted(unscored) if len(given) > 1 else in_words(next(iter(given), "no text has a value"))
    share = sum(map(bool, unscored)) / len(unscored)
    listed = [
        measure
        for measure in _figures_of(entry, bands=None if share > max_unscored else bands, undefined=why)
        if all(column.removeprefix("#") in rows for column in measure.sums)
    ]
    columns = {c: rows[c].to_numpy() for c in rows.select_dtypes("number")}
    columns |= {"unscored": unscored, "undefined": reasons_of(rows, name, "undefined")}
    found = estimate(columns, listed, units=rows["id"], seed=seed, group=group, n_resamples=n)
    if share <= max_unscored:
        return found
    first = found.estimates[0]
    note = "; ".join(
        filter(None, ["" if first.value is None else first.note, f"{percent(share, [max_unscored])} unscored: {why}"])
    )
    held = replace(first, light="unlit" if bands is None else "grey", note=note)
    return Estimated((held, *found.estimates[1:]), found.replicates)


def _verdict(
    items: pd.DataFrame, done: Sequence[tuple[str, Estimated]], bands: Mapping[str, Bands], seed: int, n_resamples: int
) -> Verdict:
    n_texts = items["id"].nunique()
    texts = f"{n_texts} text" + ("" if n_texts == 1 else "s")
    if (items["unscored"] != "").any():
        left_out = int((items["unscored"] != "").sum())
        texts += f" ({left_out} of {len(items)} outputs unscored: {counted(items['unscored'])})"
    known = [one.estimates[0] for _, one in done if one.estimates[0].value is not None]
    shown = [e for e in known if e.metric == known[0].metric] if known else []
    if len(shown) <= _NAMED:
        said = "; ".join(_figure_of(e, shown) for e in shown)
    else:
        ends = sorted(shown, key=lambda e: e.value or 0.0)
        said = f"from {_figure_of(ends[0], ends)} to {_figure_of(ends[-1], ends)}, {len(shown)} models"
    head = f"{shown[0].metric} of {texts}: {said}." if shown else f"No metric has a value on {texts}."
    if not bands:
        return Verdict("unlit", f"{head} No thresholds were given, so no light is lit.")
    lit = [one.estimates[0] for name, one in done if name in bands]
    low = decisive(lit)
    light = low.light
    where = f" of {low.group['model']}" if low.group else ""
    value = estimate_text(low, lit) if low.value is not None else ""
    why = "; ".join(filter(None, [value, low.note, texts]))
    would_be = bands[low.metric].light(low.value) if light == "grey" else None
    alone = f" The figures alone would give {would_be}." if would_be not in (None, "grey") else ""
    sentence = f"{low.metric}{where} is {light}: {why}.{alone}"
    stability = _stability(items, lit, bands, light, seed, n_resamples) if light != "grey" else None
    rule = "; ".join(f"{name}: {band}" for name, band in bands.items()) + "; the worst decides"
    return Verdict(light, sentence, rule, stability, would_be, low.place)


def _figure_of(e: Estimate, shown: Sequence[Estimate]) -> str:
    return f"{e.group['model']} {estimate_text(e, shown)}" if e.group else estimate_text(e)


def _stability(
    items: pd.DataFrame, lit: Sequence[Estimate], bands: Mapping[str, Bands], light: Light, seed: int, n: int
) -> float | None:
    """The share of resamples of texts in which the worst light of all lit figures together is this one.

    A light that is grey for want of evidence is so in every resample.
    """
    drawn = []
    for e in lit:
        rows = items[items["model"] == e.group["model"]] if e.group else items
        measure = mean_of(e.metric, bands=bands[e.metric])
        drawn.append(Lit(rows, rows["id"], measure, held=e.light == "grey"))
    return joint_stability(drawn, light, seed=seed, n_resamples=n)


def compare_models(
    items: pd.DataFrame, metrics: Sequence[str], *, seed: int = 0, n_resamples: int = 2000
) -> pd.DataFrame:
    """Every pair of models, or of the best of many by that metric, on the texts that both answered, metric by metric.

    Returns
    -------
    DataFrame
        metric, model_a, model_b, n, difference (A − B) with its paired bootstrap interval, p (sign flips), p_holm over
        the table, the smallest difference that n could have shown with 80 % power among so many tests (at 5 % over
        their number, Holm's strictest step), and the verdict in words.
    """
    import pandas as pd

    rows = []
    for name in metrics:
        wide = _best(items, name).pivot(index="id", columns="model", values=name)
        rows += [
            _compared(wide[[a, b]].dropna(), name, seed, n_resamples) for a, b in combinations(sorted(wide.columns), 2)
        ]
    table = pd.DataFrame(rows)
    table["p_holm"] = holm(table["p"].to_numpy(dtype=float))
    strictest = 0.05 / max(1, int(table["p"].notna().sum()))
    table["smallest_difference"] = [
        smallest_difference(error, alpha=strictest) if np.isfinite(error) else np.nan
        for error in table.pop("standard_error")
    ]
    n_tests = int(table["p"].notna().sum())
    table["verdict"] = [_in_words(row, n_tests) for row in table.to_dict("records")]
    return table


def _best(items: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The rows of the models that are compared on a metric, by their means; one without a value comes last."""
    sign = 1.0 if card(metric).higher_is_better is False else -1.0
    means = (items.groupby("model", sort=True)[metric].mean() * sign).sort_values(kind="stable")
    return items[items["model"].isin(best_compared(list(means.index)))]


def _compared(wide: pd.DataFrame, metric: str, seed: int, n_resamples: int) -> dict[str, Any]:
    a, b = wide.columns
    d = (wide[a] - wide[b]).to_numpy(dtype=float)
    row: dict[str, Any] = {"metric": metric, "model_a": a, "model_b": b, "n": len(d)}
    empty = dict.fromkeys(("difference", "ci_low", "ci_high", "p", "standard_error"), np.nan)
    if len(d) < 2:
        return {**row, **empty}
    means = bootstrap_sums(d[:, None], lambda s: s / len(d), rng(seed, "bootstrap"), n_resamples)[:, 0]
    low, high = percentile_interval(means)
    test = sign_flip_test(d, rng(seed, "permutation", metric))
    return {
        **row, "difference": float(d.mean()), "ci_low": float(low), "ci_high": float(high),
        "p": np.nan if test.p is None else test.p,
        "standard_error": float(means.std(ddof=1)),
    }  # fmt: skip


def _in_words(row: Mapping[str, Any], n_tests: int) -> str:
    if row["n"] < 2:
        return "one common text: no test" if row["n"] else "no common text has a value"
    if not row["p_holm"] < 0.05:
        otherwise = at_odds(row["p"], row["ci_low"], row["ci_high"], n_tests)
        return ": ".join(filter(None, ["no difference shown", otherwise]))
    higher_is_better = card(row["metric"]).higher_is_better
    if higher_is_better is None:
        return "A higher" if row["difference"] > 0 else "A lower"
    return "A better" if (row["difference"] > 0) == higher_is_better else "A worse"
