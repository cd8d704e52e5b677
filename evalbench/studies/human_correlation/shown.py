"""Tables for reading, from a result's summary, items and tables alone; None where there is nothing to show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.human_correlation import pairs as judged_pairs
from evalbench.studies.human_correlation import panels, summary

INTERVAL = ("value", "ci_low", "ci_high")
_PARTIALS = {
    "spearman": "Spearman, pooled",
    "partial_spearman": "partial Spearman, ranks first",
    "residual_spearman": "partial Spearman, values first",
    "pearson": "Pearson, pooled",
    "partial_pearson": "partial Pearson",
}


def headline(result: core.Result) -> list[core.Estimate]:
    """The correlations of metrics with criteria at the headline's level; the best metric's is not the first."""
    every = [e for e in result.summary.estimates if {"scorer", "criterion"} == set(e.group)]
    return [e for e in every if e.metric not in judged_pairs.FIGURES]


def level_of(result: core.Result) -> str:
    """The headline's level, as resolved."""
    return headline(result)[0].metric.removeprefix(f"{result.parameters['coefficient']}_")


def best_metric(result: core.Result) -> str:
    """The metric of the headline: of the highest mean over trusted criteria, else of the highest correlation."""
    means = [e for e in result.summary.estimates if e.metric == "trusted_mean"]
    best = max(means or headline(result), key=summary.agreement_of)
    return str(result.items["scorer"].iloc[0] if best.value is None else best.group["scorer"])


def first_trusted(result: core.Result, scorer: str = "") -> str:
    """The first trusted criterion that a metric is compared with, else the first."""
    items, table = result.items, result.tables["agreement"]
    asked = items.loc[items["scorer"] == scorer, "criterion"].unique() if scorer else table["criterion"]
    table = table[table["criterion"].isin(asked)]
    named = table.loc[table["trusted"], "criterion"]
    return str(named.iloc[0] if len(named) else table["criterion"].iloc[0])


def cell(value: float, low: float, high: float, *, sep: str = " ") -> str:
    """A value with its interval; a dash for none."""
    if np.isnan(value):
        return "–"
    interval = f"{sep}[{_short(low)}, {_short(high)}]" if np.isfinite(low) else ""
    return core.wording.signed(f"{value:.2f}") + interval


def _short(value: float) -> str:
    return core.wording.signed(f"{value:.2f}").replace("0.", ".", 1)


def _cells(table: pd.DataFrame, *names: str) -> list[str]:
    return [cell(*row) for row in table[list(names)].to_numpy(dtype=float)]


def _words(column: str) -> str:
    return column.replace("_", " ")


def selected(result: core.Result, level: str = "", coefficient: str = "") -> pd.DataFrame | None:
    """The correlations at a level, by default the headline's; None without a metric."""
    table = result.tables.get("correlations")
    if table is None:
        return None
    wanted = table["coefficient"] == (coefficient or result.parameters["coefficient"])
    return table[wanted & (table["level"] == (level or level_of(result)))]


def matrix(result: core.Result, level: str = "", coefficient: str = "") -> pd.DataFrame | None:
    """Metrics × criteria: value with interval as text, a dash with no reason hidden (see :func:`undefined`)."""
    table = selected(result, level, coefficient)
    if table is None or table["value"].isna().all():
        return None
    shown = table.assign(text=_cells(table, *INTERVAL)).pivot(index="scorer", columns="criterion", values="text")
    return shown.fillna("").reset_index().rename_axis(columns=None)


def partials(result: core.Result) -> pd.DataFrame | None:
    """Pooled correlations beside those with the system held fixed; None where there are no systems."""
    table = result.tables.get("correlations")
    if table is None or table.loc[table["coefficient"].str.contains("_"), "value"].isna().all():
        return None
    table = table[(table["level"] == "dataset") & table["coefficient"].isin(_PARTIALS)]
    table = table[table.groupby(["scorer", "criterion"])["value"].transform("count") > 0]
    table = table.assign(text=_cells(table, *INTERVAL))
    shown = table.pivot(index=["scorer", "criterion"], columns="coefficient", values="text")
    return shown[list(_PARTIALS)].rename(columns=_PARTIALS).reset_index().rename_axis(columns=None)


def undefined(result: core.Result) -> pd.DataFrame | None:
    """Every correlation without a value, and why; None where all have one."""
    table = result.tables.get("correlations")
    if table is None or table["value"].notna().all():
        return None
    counted = table[table["value"].isna()].groupby(["criterion", "level", "note"], sort=True)["scorer"].nunique()
    return counted.rename("metrics").reset_index().rename(columns={"note": "why"})


def agreement(result: core.Result) -> pd.DataFrame | None:
    """Agreement of the annotators with intervals, and whether each criterion is trusted; None with one annotator."""
    table = result.tables["agreement"]
    if not several_annotators(result):
        return None
    return pd.DataFrame(
        {
            "criterion": table["criterion"],
            "trusted": table["trusted"],
            "alpha, ordinal": _cells(table, "alpha_ordinal", "alpha_low", "alpha_high"),
            "alpha, interval": table["alpha_interval"],
            "alpha, nominal": table["alpha_nominal"],
            "kappa, mean of pairs": table["kappa"],
            "one against the others": _cells(table, "ceiling", "ceiling_low", "ceiling_high"),
            "note": table["note"],
        }
    )


def several_annotators(result: core.Result) -> bool:
    return sum(str(c).startswith("rating_") for c in result.items.columns) > 1


def disagreements(result: core.Result, scorer: str = "", criterion: str = "", rows: int = 10) -> pd.DataFrame | None:
    """The outputs that a metric and the annotators place farthest apart.

    - ``scorer``: By default the metric of the headline: of the highest mean over trusted criteria, else the first with
      scores.
    - ``criterion``: By default the first trusted criterion, else the first.

    Returns: One row per output, with both scores. Places count from the best, 1, among the outputs with both; ties
    share their mean place. ``places apart``: place by the annotators − place by the metric, positive where the metric
    flatters the output. None without a metric.
    """
    if "correlations" not in result.tables:
        return None
    items, table, scorer = result.items, result.tables["correlations"], scorer or best_metric(result)
    criterion = criterion or first_trusted(result, scorer)
    both = items[(items["scorer"] == scorer) & (items["criterion"] == criterion)].dropna(subset=["score", "human"])
    less = (table.loc[table["scorer"] == scorer, "agreement_is"] == "negative").any()
    apart = both["human"].rank(ascending=False) - both["score"].rank(ascending=bool(less))
    texts = result.tables["texts"]
    if "reference" in texts:
        texts = texts.assign(reference=texts["reference"].map("\n".join))
    named = {"document": "id", "system": "model", scorer: "score", criterion: "human", "places apart": "places apart"}
    named |= {name: name for name in ("answer", "reference", "question") if name in texts}
    if not (both["model"] != "").any():
        del named["system"]
    far = both.assign(**{"places apart": apart, "far": apart.abs()})
    return kit.cases.worst_cases(far, "far", keys=panels.KEYS, n=rows, highest=["far"], texts=texts, show=named)


def best_comparisons(result: core.Result, level: str = "", rows: int = 20) -> pd.DataFrame | None:
    """The largest differences between two metrics at one level, by default the headline's; None where there are none."""
    table = result.tables.get("comparisons")
    if table is None or not len(table):
        return None
    table = table[(table["level"] == (level or level_of(result))) & table["difference"].notna()]
    if not len(table):
        return None
    columns: dict[str, Any] = {
        "far": table["difference"].abs(),
        "difference, A − B": _cells(table, "difference", "ci_low", "ci_high"),
        "p, Holm": [core.wording.p_text(p) for p in table["p_holm"]],
    }
    table = table.assign(**columns)
    first = {name: name for name in ("criterion", "level")} | {"A": "scorer_a", "B": "scorer_b"}
    rest = {name: name for name in ("difference, A − B", "verdict", "p, Holm")}
    keys = ["criterion", "scorer_a", "scorer_b"]
    return kit.cases.worst_cases(table, "far", keys=keys, n=rows, highest=["far"], show=first | rest)


def uncompared(result: core.Result) -> pd.DataFrame | None:
    """Why pairs of metrics have no comparison, level by level; None where all have one."""
    table = result.tables.get("comparisons")
    if table is None or table["difference"].notna().all():
        return None
    lost = table[table["difference"].isna()].rename(columns={"verdict": "why"})
    return lost.groupby(["level", "why"], sort=True).size().rename("pairs of metrics × criteria").reset_index()


def labels_needed(result: core.Result) -> pd.DataFrame | None:
    """How many items tell a correlation of the size seen here from the threshold; None without a metric."""
    table = result.tables.get("label_plan")
    if table is None:
        return None
    side = (table["side"] + " " + table["against"].map("{:g}".format)).where(table["side"] != "", "")
    return table.drop(columns=["against", "documents_here"]).assign(side=side).rename(columns=_words)


def documents_needed(result: core.Result) -> pd.DataFrame | None:
    """How many documents tell two neighbouring systems apart by a metric alone; None without systems or a metric.

    Metrics have scales of their own, so each row is rounded by itself.
    """
    table = result.tables.get("system_plan")
    if table is None or not len(table):
        return None
    own = {name: [_significant(v) for v in table[name]] for name in ("difference", "sd_over_documents")}
    return table.assign(**own).rename(columns=_words)


def _significant(value: float) -> str:
    return "–" if np.isnan(value) else core.wording.rounded(value, 0.0, abs(value) or None).partition(" ")[0]


def preferred(result: core.Result, level: str = "document") -> pd.DataFrame | None:
    """How often each metric prefers what people prefer, the best first; None where there is no pair.

    ``level``: of two outputs of a document, or of two systems.
    """
    table = result.tables.get("pairs")
    if table is None:
        return None
    table = table[(table["level"] == level) & (table["pairs"] > 0)]
    table = table.sort_values(["criterion", "accuracy"], ascending=[True, False], kind="stable")
    found = pd.DataFrame(
        {
            "criterion": table["criterion"],
            "metric": table["scorer"],
            "accuracy": _cells(table, "accuracy", "ci_low", "ci_high"),
            "tau": table["tau"],
            "tau without the metric's ties": table["tau_without_ties"],
            "pairs": table["pairs"],
            "tied by the metric": table["tied"],
            "tied by people": table["undecided"],
            "pairs without a score": table["unscored"],
        }
    )
    return found if len(found) else None
