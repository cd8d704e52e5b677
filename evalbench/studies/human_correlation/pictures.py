"""Pictures of a human-correlation result, from its summary, items and tables alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.wording import p_text, rounded, signed
from evalbench.draw.pictures import (
    ACCENT,
    GRID,
    INK,
    MUTED,
    estimate_bars,
    heat_map,
    interval_bars,
    new_figure,
    title_at_top,
)
from evalbench.studies.human_correlation.analysis import direction

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from evalbench.core.result import Result

_NAMES = {"spearman": "Spearman", "kendall": "Kendall's tau-b", "pearson": "Pearson"}


def _level(result: Result) -> str:
    """The headline's level, as resolved."""
    return next(
        e.metric.removeprefix(f"{result.parameters['coefficient']}_")
        for e in result.summary.estimates
        if e.light != "unlit" and set(e.group) == {"scorer", "criterion"}
    )


def best_metric(result: Result) -> str:
    """The metric of the headline: of the highest mean over trusted criteria, else of the highest correlation."""
    lower = tuple(result.parameters["lower_is_better"])
    named = {e.metric for e in result.summary.estimates if "scorer" in e.group}
    wanted = "trusted_mean" if "trusted_mean" in named else f"{result.parameters['coefficient']}_{_level(result)}"
    known = [e for e in result.summary.estimates if e.metric == wanted and e.value is not None]
    if not known:
        return str(result.items["scorer"].iloc[0])
    return max(known, key=lambda e: direction(e.group["scorer"], lower) * (e.value or 0.0)).group["scorer"]


def first_trusted(result: Result, scorer: str = "") -> str:
    """The first trusted criterion that a metric is compared with, else the first."""
    items, table = result.items, result.tables["agreement"]
    asked = items.loc[items["scorer"] == scorer, "criterion"].unique() if scorer else table["criterion"]
    table = table[table["criterion"].isin(asked)]
    named = table.loc[table["trusted"], "criterion"]
    return str(named.iloc[0] if len(named) else table["criterion"].iloc[0])


def matrix(result: Result, level: str = "", coefficient: str = "") -> pd.DataFrame | None:
    """Metrics × criteria: value with interval as text, a dash with no reason hidden (see :func:`undefined`).

    None where nothing has a value, or without a metric.
    """
    if "correlations" not in result.tables:
        return None
    table = _selected(result, level, coefficient)
    if table["value"].isna().all():
        return None
    table = table.assign(text=[cell(*v) for v in table[["value", "ci_low", "ci_high"]].to_numpy(dtype=float)])
    shown = table.pivot(index="scorer", columns="criterion", values="text").fillna("")
    return shown.reset_index().rename_axis(columns=None)


_PARTIALS = {
    "spearman": "Spearman, all rows pooled",
    "partial_spearman": "partial Spearman, ranks first",
    "residual_spearman": "partial Spearman, values first",
    "pearson": "Pearson, all rows pooled",
    "partial_pearson": "partial Pearson",
}


def partials(result: Result) -> pd.DataFrame | None:
    """Pooled correlations beside those with the system held fixed; None where there are no systems, or no metric."""
    if "correlations" not in result.tables:
        return None
    table = result.tables["correlations"]
    if table.loc[table["coefficient"].str.contains("_"), "value"].isna().all():
        return None
    table = table[(table["level"] == "dataset") & table["coefficient"].isin(_PARTIALS)]
    known = table.groupby(["scorer", "criterion"])["value"].transform("count") > 0
    table = table[known]
    cells = [cell(*v) for v in table[["value", "ci_low", "ci_high"]].to_numpy(dtype=float)]
    shown = table.assign(text=cells).pivot(index=["scorer", "criterion"], columns="coefficient", values="text")
    return shown[list(_PARTIALS)].rename(columns=_PARTIALS).reset_index().rename_axis(columns=None)


def _selected(result: Result, level: str, coefficient: str) -> pd.DataFrame:
    table = result.tables["correlations"]
    wanted = (table["level"] == (level or _level(result))) & (
        table["coefficient"] == (coefficient or result.parameters["coefficient"])
    )
    return table[wanted]


def cell(value: float, low: float, high: float, sep: str = " ") -> str:
    """A figure with its interval; a dash for none."""
    if np.isnan(value):
        return "–"
    interval = f"{sep}[{_short(low)}, {_short(high)}]" if np.isfinite(low) else ""
    return signed(f"{value:.2f}") + interval


def _short(value: float) -> str:
    return signed(f"{value:.2f}").replace("0.", ".", 1)


def picture_heat_map(result: Result, level: str = "", coefficient: str = "") -> tuple[Figure, str] | None:
    """Metric × criterion with intervals in the cells; the best metric on top.  None without a metric."""
    if "correlations" not in result.tables:
        return None
    table = _selected(result, level, coefficient)
    values = table.pivot(index="scorer", columns="criterion", values="value")
    agreeing = table.assign(value=table["value"].where(table["agreement_is"] == "positive", -table["value"]))
    means = agreeing.groupby("scorer")["value"].mean().fillna(-2)
    order = means.sort_values(ascending=False, kind="stable").index
    values, asked = values.loc[order], table.pivot(index="scorer", columns="criterion", values="n").loc[order]
    low, high = (table.pivot(index="scorer", columns="criterion", values=c).loc[order] for c in ("ci_low", "ci_high"))
    frames = (values, low, high, asked.notna())
    text = [
        [cell(v, a, b, "\n") if compared else "" for v, a, b, compared in zip(*rows, strict=True)]
        for rows in zip(*(f.to_numpy() for f in frames), strict=True)
    ]
    unit = "correlation" + (", 95 % interval below" if low.notna().to_numpy().any() else "")
    if (values.isna() & asked.notna()).to_numpy().any():
        unit += "; a dash: undefined"
    kind = _NAMES[coefficient or result.parameters["coefficient"]]
    figure, alt = heat_map(
        values.to_numpy(dtype=float), list(values.index), list(values.columns),
        title=f"{kind} with the {_human(result)}, {level or _level(result)} level",
        text=text, unit=unit, low=0.0, high=1.0,
    )  # fmt: skip
    return figure, alt


def _human(result: Result) -> str:
    """What the metrics are compared with, in words."""
    several = sum(str(c).startswith("rating_") for c in result.items.columns) > 1
    return "annotators' mean" if several else "human score"


def picture_criterion(result: Result, criterion: str = "") -> tuple[Figure, str] | None:
    """All metrics on one criterion, by default the first trusted one, and the ceiling where there is one.

    The ceiling is how well one annotator agrees with the others.  None without a metric.
    """
    if "correlations" not in result.tables:
        return None
    criterion = criterion or first_trusted(result)
    level, kind = _level(result), result.parameters["coefficient"]
    rows = [
        e for e in result.summary.estimates if e.metric == f"{kind}_{level}" and e.group.get("criterion") == criterion
    ]
    rows.sort(key=lambda e: (-(e.value if e.value is not None else -9), e.group["scorer"]))
    figure, alt = estimate_bars(
        [e.group["scorer"] for e in rows],
        rows,
        title=f"{criterion}: how well each metric follows the {_human(result)}",
        xlabel=f"{_NAMES[kind]}, {level} level",
        domain=(min([-0.1, *(e.ci_low for e in rows if e.ci_low is not None)]), 1.0),
    )  # fmt: skip
    ceiling = result.estimate("ceiling", criterion=criterion)
    if ceiling.value is None:
        return figure, alt
    ax = figure.axes[0]
    if ceiling.ci_low is not None and ceiling.ci_high is not None:
        ax.axvspan(ceiling.ci_low, ceiling.ci_high, color=MUTED, alpha=0.13, linewidth=0, zorder=0)
    ax.axvline(ceiling.value, color=INK, linewidth=1.2, linestyle="--", zorder=1)
    ax.axvline(0, color=GRID, linewidth=1, zorder=0)
    ax.annotate(
        f"one annotator {ceiling.value:.2f}", (ceiling.value, 1), xycoords=("data", "axes fraction"),
        xytext=(0, 3), textcoords="offset points", ha="center", va="bottom", fontsize=8, color=MUTED,
    )  # fmt: skip
    return figure, f"{alt} Dashed line: one annotator against the mean of the others, {ceiling.value:.2f}."


def picture_agreement(result: Result) -> tuple[Figure, str] | None:
    """How far the annotators agree with each other, criterion by criterion: alpha, and the ceiling.

    None where neither has a value, as with one annotator.
    """
    names = {"alpha_ordinal": "alpha", "ceiling": "one against the others"}
    rows = [
        (f"{e.group['criterion']}: {names[e.metric]}", e)
        for criterion in result.parameters["criteria"]
        for e in result.summary.estimates
        if e.group == {"criterion": criterion} and e.metric in names
    ]
    rows = sorted((row for row in rows if row[1].value is not None), key=lambda row: row[0])
    if not rows:
        return None
    return interval_bars(
        [label for label, _ in rows], [e.value for _, e in rows], [e.ci_low for _, e in rows],
        [e.ci_high for _, e in rows], title="How far the annotators agree with each other",
        xlabel=f"Krippendorff's ordinal alpha; {_NAMES[result.parameters['coefficient']]} of one against the others",
        domain=(min([0.0, *(e.ci_low for _, e in rows if e.ci_low is not None)]), 1.0),
    )  # fmt: skip


def picture_scatter(result: Result, scorer: str = "", criterion: str = "") -> tuple[Figure, str] | None:
    """One metric against one criterion: every output, with the spread of its annotators.

    By default the metric of the headline and the first trusted criterion.  None without a metric.
    """
    if "correlations" not in result.tables:
        return None
    items, scorer = result.items, scorer or best_metric(result)
    criterion = criterion or first_trusted(result, scorer)
    rows = items[(items["scorer"] == scorer) & (items["criterion"] == criterion)].dropna(subset=["score", "human"])
    ratings = rows[[c for c in rows.columns if str(c).startswith("rating_")]].to_numpy(dtype=float)
    figure, ax = new_figure(7.2, 4.2)
    x, y = rows["score"].to_numpy(dtype=float), rows["human"].to_numpy(dtype=float)
    if ratings.shape[1] > 1 and len(rows):
        ax.vlines(x, np.nanmin(ratings, axis=1), np.nanmax(ratings, axis=1), color=ACCENT, alpha=0.18, linewidth=1)
    ax.plot(x, y, "o", color=ACCENT, markersize=4, alpha=0.6, markeredgewidth=0)
    spans = " (lines: lowest to highest)" if ratings.shape[1] > 1 else ""
    ax.set(xlabel=f"{scorer}", ylabel=f"{criterion}, {_human(result)}{spans}")
    title_at_top(figure, f"{scorer} against {criterion}")
    level, kind = _level(result), result.parameters["coefficient"]
    found = result.estimate(f"{kind}_{level}", scorer=scorer, criterion=criterion)
    value = f"{kind} {found.value:.2f} at {level} level" if found.value is not None else f"no correlation: {found.note}"
    spread = "; lines span the annotators" if ratings.shape[1] > 1 else ""
    return figure, f"{scorer} (across) against {criterion} (up) of {len(rows)} outputs{spread}. {value}."


def agreement(result: Result) -> pd.DataFrame | None:
    """Agreement of the annotators with intervals, and whether each criterion is trusted; None with one annotator."""
    import pandas as pd

    table = result.tables["agreement"]
    if _human(result) == "human score":
        return None

    def text(value: str, low: str, high: str) -> list[str]:
        return [cell(*row) for row in table[[value, low, high]].to_numpy(dtype=float)]

    return pd.DataFrame(
        {
            "criterion": table["criterion"],
            "trusted": table["trusted"],
            "alpha, ordinal": text("alpha_ordinal", "alpha_low", "alpha_high"),
            "alpha, interval": table["alpha_interval"],
            "alpha, nominal": table["alpha_nominal"],
            "kappa, mean of pairs": table["kappa"],
            "one against the others": text("ceiling", "ceiling_low", "ceiling_high"),
            "note": table["note"],
        }
    )


def best_comparisons(result: Result, level: str = "", rows: int = 20) -> pd.DataFrame | None:
    """The largest differences between two metrics at one level, by default the headline's; None where there are none."""
    table = result.tables.get("comparisons")
    if table is None or not len(table):
        return None
    level = level or _level(result)
    table = table[(table["level"] == level) & table["difference"].notna()]
    if not len(table):
        return None
    order = table["difference"].abs().sort_values(ascending=False, kind="stable").index
    table = table.loc[order].head(rows).reset_index(drop=True)
    said = [cell(*row) for row in table[["difference", "ci_low", "ci_high"]].to_numpy(dtype=float)]
    shown = table[["criterion", "level", "scorer_a", "scorer_b", "verdict"]].rename(
        columns={"scorer_a": "A", "scorer_b": "B"}
    )
    shown.insert(4, "difference, A − B", said)
    return shown.assign(**{"p, Holm": [p_text(p) for p in table["p_holm"]]})


def uncompared(result: Result) -> pd.DataFrame | None:
    """Why pairs of metrics have no comparison, level by level; None where all have one."""
    table = result.tables.get("comparisons")
    if table is None or table["difference"].notna().all():
        return None
    lost = table[table["difference"].isna()].rename(columns={"verdict": "why"})
    return lost.groupby(["level", "why"], sort=True).size().rename("pairs of metrics × criteria").reset_index()


def labels_needed(result: Result) -> pd.DataFrame | None:
    """How many items tell a correlation of the size seen here from the threshold, for reading; None without a metric."""
    table = result.tables.get("label_plan")
    if table is None:
        return None
    side = (table["side"] + " " + table["against"].map("{:g}".format)).where(table["side"] != "", "")
    shown = table.drop(columns=["against", "documents_here"]).assign(side=side)
    return shown.rename(columns=_words)


def documents_needed(result: Result) -> pd.DataFrame | None:
    """How many documents tell two neighbouring systems apart by a metric alone, for reading.

    Metrics have scales of their own, so each row is rounded by itself.  None without systems or a metric.
    """
    table = result.tables.get("system_plan")
    if table is None or not len(table):
        return None
    rounded_rows = {name: [_significant(v) for v in table[name]] for name in ("difference", "sd_over_documents")}
    return table.assign(**rounded_rows).rename(columns=_words)


def _words(column: str) -> str:
    return column.replace("_", " ")


def _significant(value: float) -> str:
    return "–" if np.isnan(value) else rounded(value, 0.0, abs(value) or None).partition(" ")[0]


def undefined(result: Result) -> pd.DataFrame | None:
    """Every correlation without a value, and why; None where all have one."""
    table = result.tables.get("correlations")
    if table is None or table["value"].notna().all():
        return None
    lost = table[table["value"].isna()]
    keys = ["criterion", "level", "note"]
    counted = lost.groupby(keys, sort=True)["scorer"].nunique().rename("metrics").reset_index()
    return counted.rename(columns={"note": "why"})
