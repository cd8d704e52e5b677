"""Pictures of a human-correlation result, from its summary, items and tables alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalbench.draw.figures import ACCENT, GRID, INK, MUTED, heat_map, interval_bars, new_figure, title_at_top
from evalbench.draw.html import p_text
from evalbench.draw.verdict import rounded
from evalbench.studies._pictures import estimate_bars

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from evalbench.core.result import Result

_NAMES = {"spearman": "Spearman", "kendall": "Kendall's tau-b", "pearson": "Pearson"}


def _level(result: Result) -> str:
    """The headline's level, as resolved."""
    return next(
        e.metric.removeprefix(f"{result.parameters['coefficient']}_")
        for e in result.summary
        if e.light != "unlit" and set(e.group) == {"scorer", "criterion"}
    )


def matrix(result: Result, level: str = "", coefficient: str = "") -> pd.DataFrame:
    """Metrics × criteria: value with interval as text, a dash with no reason hidden (see :func:`undefined`)."""
    table = _selected(result, level, coefficient)
    table = table.assign(
        text=[_cell(*v) for v in table[["value", "ci_low", "ci_high"]].to_numpy(dtype=float)]
    )
    return (
        table.pivot(index="scorer", columns="criterion", values="text")
        .reset_index()
        .rename_axis(columns=None)
    )


_PARTIALS = {
    "spearman": "Spearman, all rows pooled",
    "partial_spearman": "partial Spearman, ranks first",
    "residual_spearman": "partial Spearman, values first",
    "pearson": "Pearson, all rows pooled",
    "partial_pearson": "partial Pearson",
}


def partials(result: Result) -> pd.DataFrame:
    """Pooled correlations beside those with the system held fixed; without rows where there are no systems."""
    table = result.tables["correlations"]
    table = table[(table["level"] == "dataset") & table["coefficient"].isin(_PARTIALS)]
    cells = [_cell(*v) for v in table[["value", "ci_low", "ci_high"]].to_numpy(dtype=float)]
    shown = table.assign(text=cells).pivot(
        index=["scorer", "criterion"], columns="coefficient", values="text"
    )
    if "partial_spearman" not in shown:
        shown = shown.iloc[:0].reindex(columns=list(_PARTIALS))
    return shown[list(_PARTIALS)].rename(columns=_PARTIALS).reset_index().rename_axis(columns=None)


def _selected(result: Result, level: str, coefficient: str) -> pd.DataFrame:
    table = result.tables["correlations"]
    wanted = (table["level"] == (level or _level(result))) & (
        table["coefficient"] == (coefficient or result.parameters["coefficient"])
    )
    return table[wanted]


def _cell(value: float, low: float, high: float, sep: str = " ") -> str:
    if np.isnan(value):
        return "–"
    interval = f"{sep}[{_short(low)}, {_short(high)}]" if np.isfinite(low) else ""
    return _signed(f"{value:.2f}") + interval


def _short(value: float) -> str:
    return _signed(f"{value:.2f}").replace("0.", ".", 1)


def _signed(text: str) -> str:
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def figure_heat_map(result: Result, level: str = "", coefficient: str = "") -> tuple[Figure, str]:
    """Metric × criterion with intervals in the cells; the best metric on top."""
    table = _selected(result, level, coefficient)
    values = table.pivot(index="scorer", columns="criterion", values="value")
    agreeing = table.assign(value=table["value"].where(table["agreement_is"] == "positive", -table["value"]))
    means = agreeing.groupby("scorer")["value"].mean().fillna(-2)
    order = means.sort_values(ascending=False, kind="stable").index
    values = values.loc[order]
    low, high = (
        table.pivot(index="scorer", columns="criterion", values=c).loc[order] for c in ("ci_low", "ci_high")
    )
    text = [
        [_cell(v, a, b, "\n") for v, a, b in zip(*rows, strict=True)]
        for rows in zip(values.to_numpy(), low.to_numpy(), high.to_numpy(), strict=True)
    ]
    kind = _NAMES[coefficient or result.parameters["coefficient"]]
    figure, alt = heat_map(
        values.to_numpy(dtype=float), list(values.index), list(values.columns),
        title=f"{kind} with the annotators' mean, {level or _level(result)} level",
        text=text, unit="correlation, 95 % interval below; a dash: undefined", low=0.0, high=1.0,
    )  # fmt: skip
    return figure, alt


def figure_criterion(result: Result, criterion: str) -> tuple[Figure, str]:
    """All metrics on one criterion, and the ceiling: how well one annotator agrees with the others."""
    level, kind = _level(result), result.parameters["coefficient"]
    rows = [
        e for e in result.summary if e.metric == f"{kind}_{level}" and e.group.get("criterion") == criterion
    ]
    rows.sort(key=lambda e: (-(e.value if e.value is not None else -9), e.group["scorer"]))
    figure, alt = estimate_bars(
        [e.group["scorer"] for e in rows],
        rows,
        title=f"{criterion}: how well each metric follows the annotators",
        xlabel=f"{_NAMES[kind]}, {level} level",
        domain=(min([-0.1, *(e.ci_low for e in rows if e.ci_low is not None)]), 1.0),
    )  # fmt: skip
    ceiling = result.figure("ceiling", criterion=criterion)
    if ceiling.value is None:
        return figure, f"{alt} No ceiling: {ceiling.note}."
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


def figure_agreement(result: Result) -> tuple[Figure, str]:
    """How far the annotators agree with each other, criterion by criterion: alpha, and the ceiling."""
    names = {"alpha_ordinal": "alpha", "ceiling": "one against the others"}
    rows = [
        (f"{e.group['criterion']}: {names[e.metric]}", e)
        for criterion in result.parameters["criteria"]
        for e in result.summary
        if e.group == {"criterion": criterion} and e.metric in names
    ]
    rows.sort(key=lambda row: row[0])
    return interval_bars(
        [label for label, _ in rows], [e.value for _, e in rows], [e.ci_low for _, e in rows],
        [e.ci_high for _, e in rows], title="How far the annotators agree with each other",
        xlabel=f"Krippendorff's ordinal alpha; {_NAMES[result.parameters['coefficient']]} of one against the others",
        domain=(min([0.0, *(e.ci_low for _, e in rows if e.ci_low is not None)]), 1.0),
    )  # fmt: skip


def figure_scatter(result: Result, scorer: str, criterion: str) -> tuple[Figure, str]:
    """One metric against one criterion: every output, with the spread of its annotators."""
    items = result.items
    rows = items[(items["scorer"] == scorer) & (items["criterion"] == criterion)].dropna(
        subset=["score", "human"]
    )
    ratings = rows[[c for c in rows.columns if str(c).startswith("rating_")]].to_numpy(dtype=float)
    figure, ax = new_figure(7.2, 4.2)
    x, y = rows["score"].to_numpy(dtype=float), rows["human"].to_numpy(dtype=float)
    if ratings.shape[1] > 1 and len(rows):
        ax.vlines(
            x, np.nanmin(ratings, axis=1), np.nanmax(ratings, axis=1), color=ACCENT, alpha=0.18, linewidth=1
        )
    ax.plot(x, y, "o", color=ACCENT, markersize=4, alpha=0.6, markeredgewidth=0)
    ax.set(xlabel=f"{scorer}", ylabel=f"{criterion}, mean of the annotators")
    title_at_top(figure, f"{scorer} against {criterion}")
    level, kind = _level(result), result.parameters["coefficient"]
    found = result.figure(f"{kind}_{level}", scorer=scorer, criterion=criterion)
    value = (
        f"{kind} {found.value:.2f} at {level} level"
        if found.value is not None
        else f"no correlation: {found.note}"
    )
    spread = "; lines span the annotators" if ratings.shape[1] > 1 else ""
    return figure, f"{scorer} (across) against {criterion} (up) of {len(rows)} outputs{spread}. {value}."


def agreement(result: Result) -> pd.DataFrame:
    """Agreement of the annotators with intervals, and whether each criterion is trusted."""
    import pandas as pd

    table = result.tables["agreement"]

    def text(value: str, low: str, high: str) -> list[str]:
        return [_cell(*row) for row in table[[value, low, high]].to_numpy(dtype=float)]

    return pd.DataFrame(
        {
            "criterion": table["criterion"],
            "trusted": table["trusted"],
            "alpha, ordinal": text("alpha_ordinal", "alpha_low", "alpha_high"),
            "interval": table["alpha_interval"],
            "nominal": table["alpha_nominal"],
            "kappa, mean of pairs": table["kappa"],
            "one against the others": text("ceiling", "ceiling_low", "ceiling_high"),
            "note": table["note"],
        }
    )


def best_comparisons(result: Result, level: str = "summary", rows: int = 20) -> pd.DataFrame:
    """The largest differences between two metrics at one level, or why there are none."""
    import pandas as pd

    table = result.tables["comparisons"]
    table = table[table["level"] == level]
    if not table["difference"].notna().any():
        why = table["verdict"].value_counts().sort_index()
        return pd.DataFrame({"why": why.index, "pairs of metrics × criteria": why.to_numpy()}) if len(why) else (
            pd.DataFrame({"note": ["one metric: nothing to compare"]})
        )  # fmt: skip
    table = table[table["difference"].notna()]
    order = table["difference"].abs().sort_values(ascending=False, kind="stable").index
    table = table.loc[order].head(rows).reset_index(drop=True)
    said = [_cell(*row) for row in table[["difference", "ci_low", "ci_high"]].to_numpy(dtype=float)]
    shown = table[["criterion", "scorer_a", "scorer_b", "verdict"]].rename(
        columns={"scorer_a": "A", "scorer_b": "B"}
    )
    shown.insert(3, "difference, A − B", said)
    return shown.assign(**{"p, Holm": [p_text(p) for p in table["p_holm"]]})


def labels_needed(result: Result) -> pd.DataFrame:
    """How many items tell a correlation of the size seen here from the threshold, for reading."""
    table = result.tables["label_plan"]
    side = (table["side"] + " " + table["against"].map("{:g}".format)).where(table["side"] != "", "")
    shown = table.drop(columns=["against", "documents_here"]).assign(side=side)
    return shown.rename(columns=_words)


def documents_needed(result: Result) -> pd.DataFrame:
    """How many documents tell two neighbouring systems apart by a metric alone, for reading.

    Metrics have scales of their own, so each row is rounded by itself.
    """
    table = result.tables["system_plan"]
    rounded_rows = {
        name: [_significant(v) for v in table[name]] for name in ("difference", "sd_over_documents")
    }
    return table.assign(**rounded_rows).rename(columns=_words)


def _words(column: str) -> str:
    return column.replace("_", " ")


def _significant(value: float) -> str:
    return "–" if np.isnan(value) else rounded(value, 0.0, abs(value) or None).partition(" ")[0]


def undefined(result: Result) -> pd.DataFrame:
    """Every correlation without a value, and why."""
    table = result.tables["correlations"]
    lost = table[table["value"].isna()]
    keys = ["criterion", "level", "note"]
    counted = lost.groupby(keys, sort=True)["scorer"].nunique().rename("metrics").reset_index()
    return counted.rename(columns={"note": "why"})
