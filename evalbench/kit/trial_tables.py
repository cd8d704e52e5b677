"""What several trials of each item show: the noise of the figures, pass@k and pass^k, items that flicker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.clusters import CLUSTER
from evalbench.core.measures import Measure
from evalbench.core.noise import NoiseSplit, noise_sentence, noise_split
from evalbench.core.result import Estimate, Result
from evalbench.core.stats import wilson
from evalbench.core.trials import Passed, flickers, passed
from evalbench.core.unscored import counted as counted_reasons
from evalbench.core.wording import counted
from evalbench.kit import defaults
from evalbench.readers.schema import TRIAL

if TYPE_CHECKING:
    import pandas as pd

MOST_FIGURES = 6
"""So many figures are split; the others can be, from the table ``trials``."""
MOST_LISTED = 20
"""So many flickering items of a figure and group are in ``results.json`` and on the page; all are in the table ``flickering``."""
LONGEST_ANSWER = 600


class Found(NamedTuple):
    """Tables, the part of ``results.json``, and notes."""

    tables: dict[str, pd.DataFrame]
    json: dict[str, Any]
    notes: tuple[str, ...]


def shown(result: Result, rows: pd.DataFrame, measures: Sequence[Measure], answers: pd.DataFrame | None) -> Found:
    """What the trials show.

    Parameters
    ----------
    result : Result
        Of items that are averages of trials.
    rows : DataFrame
        One row per trial: keys, ``trial``, and the columns that the measures sum.
    answers : DataFrame, optional
        Id, group, ``trial`` and ``answer``, where rows are answers.
    """
    import pandas as pd

    keys = [name for name in (result.id, *result.by) if name in rows]
    options = {name: result.parameters.get(name, getattr(defaults, name.upper())) for name in ("seed", "n_resamples")}
    noise: list[dict[str, Any]] = []
    curves: list[dict[str, Any]] = []
    listed: list[pd.DataFrame] = []
    flickering: list[dict[str, Any]] = []
    for group, part in _groups(rows, result.by):
        item = part.groupby(keys, sort=True).ngroup().to_numpy()
        each = part.groupby([*keys, TRIAL], sort=True).ngroup().to_numpy()
        for measure in _ordered(measures, result, rows):
            named = {**group, "metric": measure.metric, "title": measure.title}
            split = noise_split(*_contributions(measure, part, item, each))
            if split is not None:
                noise.append({**named, "unit": measure.unit, **of_split(split)})
            right = _right(measure, part) if each.max(initial=-1) + 1 == len(part) else None
            if right is None:
                continue
            named["title"] += ", right is 0" if measure.higher_is_better is False else ""
            n, c = (np.bincount(item, known) for known in (np.isfinite(right), np.nan_to_num(right)))
            found = passed(n, c, **options)
            if len(found.k) > 1:
                curves.append({**named, **_of_passed(found, _stated(result, group, measure, measures[0]))})
            some = flickers(n, c)
            repeated = int((n > 1).sum())
            if repeated:
                low, high = wilson(some.sum(), repeated)
                cases = _listed(part[some[item]], right[some[item]], keys, answers)
                evenly = np.flatnonzero(some)[np.argsort(np.abs(c[some] / n[some] - 0.5), kind="stable")][:MOST_LISTED]
                shown_rows = np.isin(item, evenly)
                first = _listed(part[shown_rows], right[shown_rows], keys, answers)
                listed.append(cases.assign(metric=measure.metric))
                share = {"n": int(some.sum()), "of": repeated, "share": float(some.sum() / repeated)}
                ends = {"ci_low": float(low), "ci_high": float(high)}
                flickering.append({**named, **share, **ends, "items": _first(first, keys)})
    lost = rows["unscored"] if "unscored" in rows else pd.Series("", rows.index)
    sizes = result.items["n_trials"]
    overview: dict[str, Any] = {
        "n": len(rows),
        "lost": int((lost != "").sum()),
        "items": len(sizes),
        "fewest": int(sizes.min()),
        "most": int(sizes.max()),
        "clustered": CLUSTER in result.items
        or any(e.method.startswith("clustered") for e in result.summary.estimates if e.group or not result.by),
    }
    tables = {
        "noise": pd.DataFrame(
            [
                {**{k: v for k, v in one.items() if k not in ("components", "sentence")}, **part}
                for one in noise
                for part in one["components"]
            ]
        ),
        "pass_k": pd.DataFrame(
            [{**{k: v for k, v in one.items() if k != "curve"}, **point} for one in curves for point in one["curve"]]
        ),
        "flickering": pd.concat(listed, ignore_index=True) if listed else pd.DataFrame(),
    }
    json = {**overview, "noise": noise, "pass_k": curves, "flickering": flickering}
    return Found({name: table for name, table in tables.items() if len(table)}, json, _notes(overview, lost))


def _notes(overview: Mapping[str, Any], lost: pd.Series) -> tuple[str, ...]:
    fewest, most = overview["fewest"], overview["most"]
    each = f"{most}" if fewest == most else f"{fewest} to {most}"
    out = [
        f"Trials: {counted(overview['n'], 'answer')} to {counted(overview['items'], 'item')}, {each} each. Each item counts "
        "once, with the average of its scored trials."
    ]
    if overview["lost"]:
        out.append(
            f"Trials that could not be scored: {overview['lost']} of {overview['n']} ({counted_reasons(lost)}); "
            "an item is unscored only where all of its trials are."
        )
    return tuple(out)


def _groups(rows: pd.DataFrame, by: Sequence[str]) -> list[tuple[dict[str, str], pd.DataFrame]]:
    names = [name for name in by if name in rows]
    if not names:
        return [({}, rows)]
    grouped = rows.groupby(names, sort=True)
    return [(dict(zip(names, map(str, key), strict=True)), part) for key, part in grouped]


def _ordered(measures: Sequence[Measure], result: Result, rows: pd.DataFrame) -> list[Measure]:
    """The figures that are split: one that decides the light and is graded, the study's first, others with a light, the rest."""
    known = [m for m in measures if all(name.removeprefix("#") in rows for name in m.sums)]
    decided = (result.verdict.decided_by or {}).get("metric")
    lit = {e.metric for e in result.summary.estimates if e.light != "unlit"}
    valued = {e.metric for e in result.summary.estimates if e.value is not None}
    known = [m for m in known if m.metric in valued]
    leads = [m.metric for m in known if m.metric == decided and _is_graded(m, result)]
    first = (*leads, *(m.metric for m in measures[:1]))
    return sorted(known, key=lambda m: (*(m.metric != name for name in first), m.metric not in lit))[:MOST_FIGURES]


def _is_graded(measure: Measure, result: Result) -> bool:
    """Whether a figure has thresholds of the study or of the user, and is not lit only since something happened at all."""
    given = result.parameters.get("lights")
    asked = isinstance(given, Mapping) and measure.metric in given
    cuts = [cut for e in result.summary.estimates if e.metric == measure.metric for cut in e.cuts]
    return asked or measure.bands is not None or any(cuts)


def _contributions(
    measure: Measure, rows: pd.DataFrame, item: npt.NDArray[Any], each: npt.NDArray[Any]
) -> tuple[Floats, npt.NDArray[Any]]:
    """What each trial contributes to a figure, and its item: its score; of a figure of several sums its linear part.

    The linear part of a trial is the figure's value plus the sum over its columns of (derivative of the figure by the
    column's mean) × (the trial's value less the mean), all at the means over items.  Rows of one trial of an item, such as
    those of classes, are added up first.
    """
    names = [name.removeprefix("#") for name in measure.sums]
    size = int(each.max(initial=-1)) + 1
    if len(names) == 2 and measure.sums[1] == f"#{names[0]}" and size == len(rows):
        return rows[names[0]].to_numpy(dtype=float), item
    columns = np.stack([rows[name].to_numpy(dtype=float) for name in names], axis=1)
    known = np.isfinite(columns)
    counts = np.array([name.startswith("#") for name in measure.sums])
    parts = np.where(known, np.where(counts, 1.0, columns), 0.0)
    sums = np.stack([np.bincount(each, column, size) for column in parts.T], axis=1)
    lost = np.bincount(each, known.all(axis=1), size) == 0
    of_item = np.zeros(size, dtype=np.int64)
    of_item[each] = item
    scored = ~lost
    n = np.bincount(of_item[scored], minlength=int(of_item.max(initial=-1)) + 1)
    with np.errstate(all="ignore"):
        averages = np.stack([np.bincount(of_item[scored], c[scored], len(n)) / n for c in sums.T], axis=1)
        means = averages[n > 0].mean(axis=0) if (n > 0).any() else np.full(len(names), np.nan)
        step = 1e-4 * np.where(means != 0, np.abs(means), 1.0)
        shifted = np.concatenate([means + np.diag(step), means - np.diag(step), means[None]])
        values = np.asarray(measure.value(*shifted.T), dtype=float)
    slopes = (values[: len(names)] - values[len(names) : -1]) / (2 * step)
    slopes = np.where(np.isfinite(slopes), slopes, 0.0)
    return np.where(lost, np.nan, values[-1] + (sums - means) @ slopes), of_item


def _right(measure: Measure, rows: pd.DataFrame) -> Floats | None:
    """1, 0 or NaN of each trial, where a figure is the share of those that are right."""
    if measure.interval != "wilson" or len(measure.sums) != 2 or measure.sums[1] != f"#{measure.sums[0]}":
        return None
    values = rows[measure.sums[0]].to_numpy(dtype=float)
    known = values[np.isfinite(values)]
    if not len(known) or not np.isin(known, (0.0, 1.0)).all():
        return None
    return 1 - values if measure.higher_is_better is False else values


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def of_split(split: NoiseSplit) -> dict[str, Any]:
    """A split of noise with its sentence, as ``results.json`` has it."""
    return {
        "n_items": split.n_items,
        "answers": round(split.answers, 9),
        "half_width": split.half_width(),
        "sentence": noise_sentence(split),
        "components": [
            {
                "component": c.name,
                "variance": c.variance,
                "ci_low": _number(c.low),
                "ci_high": _number(c.high),
                "negative": c.negative,
                "share": _number(c.share),
            }
            for c in split.components
        ],
    }


def _of_passed(found: Passed, stated: Mapping[tuple[int, str], Estimate]) -> dict[str, Any]:
    columns = ("k", "at", "at_low", "at_high", "hat", "hat_low", "hat_high")
    points = zip(*(getattr(found, name).tolist() for name in columns), strict=True)
    names = ("k", "pass_at_k", "at_low", "at_high", "pass_hat_k", "hat_low", "hat_high")
    curve = [{name: v if v == v else None for name, v in zip(names, point, strict=True)} for point in points]
    for (k, side), e in stated.items():
        if k <= len(curve) and e.n == found.n_items and not e.method.startswith("clustered"):
            curve[k - 1] |= {f"{side}_low": e.ci_low, f"{side}_high": e.ci_high}
    return {"n_items": found.n_items, "left_out": found.left_out, "curve": curve}


def _stated(
    result: Result, group: Mapping[str, str], measure: Measure, first: Measure
) -> dict[tuple[int, str], Estimate]:
    """k and side of a curve → the figure of the study that is this point, whose interval it has: the share itself, and of the
    first measure the study's own pass@k and pass^k.
    """
    own = {e.metric: e for e in result.summary.estimates if e.group == group}
    names = {} if measure.higher_is_better is False else {(1, "at"): measure.metric, (1, "hat"): measure.metric}
    if measure is first and isinstance(k := result.parameters.get("k"), int):
        names |= {(k, "at"): "pass_at_k", (k, "hat"): "pass_hat_k"}
    return {place: own[name] for place, name in names.items() if name in own}


def _listed(rows: pd.DataFrame, right: Floats, keys: Sequence[str], answers: pd.DataFrame | None) -> pd.DataFrame:
    """Every trial of the flickering items: keys, ``trial``, ``right`` and, where there are some, ``answer``."""
    out = rows[[*keys, TRIAL]].assign(right=right)
    if answers is None:
        return out.reset_index(drop=True)
    on = [name for name in answers.columns if name != "answer"]
    if not set(on) <= set(out):
        return out.reset_index(drop=True)
    return out.merge(answers.drop_duplicates(on), on=on, how="left")


def _first(cases: pd.DataFrame, keys: Sequence[str]) -> list[dict[str, Any]]:
    """The items that flicker most evenly, each with its trials."""
    if not len(cases):
        return []
    found = []
    for key, part in cases.groupby(list(keys), sort=True):
        right = part["right"].dropna()
        trials = [
            {
                "trial": row["trial"],
                "right": _number(row["right"]),
                **({"answer": _clipped(row["answer"])} if "answer" in part else {}),
            }
            for row in part.to_dict("records")
        ]
        named = dict(zip(keys, map(str, key), strict=True))
        uneven = abs(float(right.mean()) - 0.5)
        found.append((uneven, {**named, "right": int(right.sum()), "of": len(right), "trials": trials}))
    return [one for _, one in sorted(found, key=lambda each: each[0])]


def _clipped(answer: Any) -> str | None:
    if not isinstance(answer, str):
        return None
    return answer if len(answer) <= LONGEST_ANSWER else f"{answer[: LONGEST_ANSWER - 1]}…"
