"""The finer tables of a result: each test in each period and slice, every statistic, what the forecasts missed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.drift import figures, lights, statistics, summary
from evalbench.studies.drift.items import Measured

MOST_PERIODS, MOST_VALUES = 24, 12
"""So many periods, the latest, and values of a slice, the most frequent, have a row of lights."""
LEAST_SLICES, MOST_SLICES = 10, 20
"""Slices of equal counts in time for the correlation with the key metric: with fewer than ten it is undefined."""
_WORSE_SHOWN = 6
_DEALS, _RESAMPLES = 50, 400
"""Of a period or a slice, whose table has the light and no p-value."""
_FIGURES: Mapping[str, str] = {
    "key_metric": "drop",
    "separability": "gini",
    "local_drift": "expected_drop",
    "global_drift": "predicted_drop",
}


def tables_of(measured: Measured, settings: figures.Settings, options: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Every finer table that is not empty."""
    items, tests = measured.items, options["tests"]
    whole = summary.found_of(items, tests, replace(settings, n_resamples=min(figures.N_JOINT, settings.n_resamples)))
    parts = [("all", "", items, whole), *found_in_parts(items, tests, settings)]
    found = {
        "lights": pd.DataFrame([_row(*part, options["max_unscored"], settings.all_rows) for part in parts]),
        "statistics": statistics_table(items, whole.statistics, settings),
        "features": pd.DataFrame([vars(one) for one in whole.forecast.correlated] if whole.forecast else []),
        "backtest": backtest(parts),
    }
    if figures.crowded_sides(items, options["max_unscored"]) and len(found["statistics"]):
        found["statistics"][list(lights.PRESETS)] = "grey"
    if measured.separated is not None:
        apart = measured.separated
        typical = items[(items["side"] == "oot")].set_index("id")
        rows = typical.loc[[i for i in apart.typical if i in typical.index]].reset_index()
        kept = [c for c in ("id", "period", "question", "gini_score", "expected") if c in rows]
        found |= {"classifiers": apart.classifiers, "telling": apart.telling, "typical": rows[kept]}
    return {name: table for name, table in found.items() if len(table)}


def parts_of(items: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Each period of OOT beside all of OOS, and each value of a slice in both: kind, name, items."""
    oot = items["side"] == "oot"
    if "period" in items:
        for name in sorted(set(items.loc[oot, "period"]) - {""})[-MOST_PERIODS:]:
            yield "period", name, items[~oot | (items["period"] == name)]
    for column in (str(c) for c in items if str(c).startswith(core.slices.SLICE)):
        for name in (
            items[column].value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:MOST_VALUES]
        ):
            yield column.removeprefix(core.slices.SLICE), str(name), items[items[column] == name]


def found_in_parts(
    items: pd.DataFrame, tests: Sequence[str], settings: figures.Settings
) -> list[tuple[str, str, pd.DataFrame, summary.Found]]:
    """The tests in each period and in each value of a slice, there without test 5; no intervals."""
    few = 2 if settings.light_on == "estimate" else min(settings.n_resamples, _RESAMPLES)
    quick = replace(settings, n_resamples=few, n_permutations=min(settings.n_permutations, _DEALS))
    out = []
    for kind, name, part in parts_of(items):
        core.progress.at(f"the tests in {kind} {name}")
        of_all = _of_period(settings.all_rows, name) if kind == "period" else None
        own = tests if kind == "period" else [t for t in tests if t != "global_drift"]
        out.append((kind, name, part, summary.found_of(part, own, replace(quick, all_rows=of_all))))
    return out


def _of_period(all_rows: Mapping[str, Any] | None, name: str) -> Mapping[str, Any] | None:
    """The sums of all rows with those of one period as OOT."""
    period = (all_rows or {}).get("periods", {}).get(name)
    return {**all_rows, "oot": period} if all_rows and period else None


def worse_parts(table: pd.DataFrame) -> list[str]:
    """The parts of OOT with a worse light than all of OOT, which a whole of good and bad parts would hide."""
    rank = {"green": 0, "yellow": 1, "red": 2}
    rows: Any = table.to_dict("records")
    whole = rows[0]
    found: dict[str, list[str]] = {}
    for row in rows[1:]:
        worse = [
            f"{lights.TITLES[test]} {row[test]}"
            for test in lights.TESTS
            if row[test] in rank and whole[test] in rank and rank[row[test]] > rank[whole[test]]
        ]
        if worse:
            name = row["name"] if row["part"] == "period" else f"{row['part']} {row['name'] or 'no value'}"
            found.setdefault(", ".join(worse), []).append(name)
    said = [f"{', '.join(names)} ({lit})" for lit, names in found.items()]
    more = f" and {len(said) - _WORSE_SHOWN} more" if len(said) > _WORSE_SHOWN else ""
    return [f"Worse than all of OOT together: {'; '.join(said[:_WORSE_SHOWN])}{more}"] if said else []


def _row(
    kind: str,
    name: str,
    part: pd.DataFrame,
    found: summary.Found,
    max_unscored: float,
    all_rows: Mapping[str, Any] | None,
) -> dict[str, Any]:
    oot = part["side"] == "oot"
    own = all_rows if kind == "all" else _of_period(all_rows, name) if kind == "period" else None
    out: dict[str, Any] = {
        "part": kind,
        "name": name,
        "n_oos": int(own["oos"]["rows"] if own else (~oot).sum()),
        "n_oot": int(own["oot"]["rows"] if own else oot.sum()),
        "n_labels": int(own["oot"]["n"] if own else part.loc[oot, "key"].notna().sum()),
    }
    out |= dict.fromkeys(lights.TESTS, "unlit") | dict.fromkeys(_FIGURES.values(), math.nan)
    for test in found.tests:
        out[test.name] = test.light
        if test.name in _FIGURES:
            values = [
                e.value
                for e in test.estimates
                if e.metric in (_FIGURES[test.name], test.decided) and e.value is not None
            ]
            out[_FIGURES[test.name]] = max(values, default=math.nan)
        else:
            out["n_red"], out["n_yellow"] = (
                sum(e.light == light and e.metric.endswith("responses") for e in test.estimates)
                for light in ("red", "yellow")
            )
    out["why"] = "; ".join(f"{test.name}: {test.why}" for test in found.tests if test.why)
    if crowd := figures.crowded_sides(part, max_unscored, own):
        out |= {test: "grey" for test in lights.TESTS if out[test] != "unlit"}
        said = [f"{core.percent(share, [max_unscored])} of {side.upper()} unscored" for side, share in crowd.items()]
        out["why"] = "; ".join(filter(None, [*said, out["why"]]))
    return out


def statistics_table(
    items: pd.DataFrame, found: Sequence[statistics.Statistic], settings: figures.Settings
) -> pd.DataFrame:
    """A row per statistic: index, what chance gives, its light by either preset, and its correlation with the key metric."""
    correlations, n_slices = _with_key(items, settings) if found else ({}, 0)
    records = []
    for s in found:
        index = s.index
        records.append(
            {
                "statistic": s.name,
                "of": f"{s.part}s",
                "value": s.value,
                "psi": math.nan if index is None else index.value,
                "by_chance": math.nan if index is None else index.null_mean,
                "p": math.nan if index is None else index.p,
                "share_new": s.share,
                "share_expected": s.expected,
                **{
                    preset: "grey"
                    if s.why or not math.isfinite(s.value)
                    else lights.bands_for(s.name, preset, {}).light(s.value)
                    for preset in lights.PRESETS
                },
                "n": s.n,
                "bins": 0 if index is None else len(index.reference),
                "edges": "" if index is None else ", ".join(f"{edge:.6g}" for edge in index.edges),
                "epsilon": math.nan if index is None else index.epsilon,
                "spearman": correlations.get((s.name, s.part), (math.nan, math.nan))[0],
                "spearman_p": correlations.get((s.name, s.part), (math.nan, math.nan))[1],
                "n_slices": n_slices if s.part == "response" else 0,
                "note": s.why,
            }
        )
    return pd.DataFrame(records)


def _with_key(
    items: pd.DataFrame, settings: figures.Settings
) -> tuple[dict[tuple[str, str], tuple[float, float]], int]:
    """Spearman's correlation of each statistic of responses with the key metric over slices of OOT in time.

    Slices of equal counts, at least ten of thirty labelled rows; undefined with fewer.
    """
    from scipy import stats

    if "time" not in items:
        return {}, 0
    scored = items[items["unscored"] == ""].sort_values(["side", "id"], kind="stable")
    oot = scored[(scored["side"] == "oot") & scored["time"].notna() & scored["key"].notna()]
    n = min(MOST_SLICES, len(oot) // lights.LEAST_ROWS)
    if n < LEAST_SLICES:
        return {}, n
    slices = np.array_split(oot.sort_values(["time", "id"], kind="stable").index.to_numpy(), n)
    oos = scored[scored["side"] == "oos"]
    found: dict[tuple[str, str], list[float]] = {}
    key = [float(items.loc[rows, "key"].mean()) for rows in slices]
    options: dict[str, Any] = {
        "languages": settings.languages,
        "seed": settings.seed,
        "n_bins": settings.n_bins,
        "epsilon": settings.epsilon,
    }
    for rows in slices:
        part = scored[(scored["side"] == "oos") | scored.index.isin(rows)] if len(oos) else scored.loc[rows]
        none = np.empty((0, len(part)))
        each = statistics.statistics_of(
            part, none, np.arange(len(part)), psi_light_on="raw", n_permutations=0, parts=("response",), **options
        )
        for s in each:
            found.setdefault((s.name, s.part), []).append(s.value)
    out = {}
    for place, values in found.items():
        known = np.isfinite(values)
        if known.all() and np.ptp(values) > 0 and np.ptp(key) > 0:
            r, p = stats.spearmanr(values, key)
            out[place] = (float(r), float(p))
    return out, n


def backtest(parts: Sequence[tuple[str, str, pd.DataFrame, summary.Found]]) -> pd.DataFrame:
    """The key metric of OOT as it was, beside what tests 4 and 5 forecast; a row for all and each period with labels."""
    records = []
    for kind, name, part, found in parts:
        if kind not in ("all", "period"):
            continue
        oot = part[part["side"] == "oot"]
        known = oot["key"].dropna()
        if not len(known):
            continue
        of = {e.metric: e.value for test in found.tests for e in test.estimates}
        expected, predicted = of.get("expected_quality"), of.get("predicted_quality")
        records.append(
            {
                "period": name or "all",
                "n": len(known),
                "observed": float(known.mean()),
                "expected": math.nan if expected is None else expected,
                "expected_error": math.nan if expected is None else expected - float(known.mean()),
                "predicted": math.nan if predicted is None else predicted,
                "predicted_error": math.nan if predicted is None else predicted - float(known.mean()),
            }
        )
    table = pd.DataFrame(records)
    return table if len(table) and table[["expected", "predicted"]].notna().any(axis=None) else pd.DataFrame()
