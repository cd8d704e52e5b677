"""Pictures of a human-correlation result, from its summary, items and tables alone."""

from __future__ import annotations

import numpy as np

from evalbench import core, draw
from evalbench.studies.human_correlation import shown, summary

# More outputs than so many are drawn as cells: a page of dots would be megabytes.
_MOST_DOTS = 2000


def picture_heat_map(result: core.Result, level: str = "", coefficient: str = "") -> draw.Drawn | None:
    """Metric × criterion with intervals in the cells; the best metric on top.  None without a metric."""
    table = shown.selected(result, level, coefficient)
    if table is None:
        return None
    agreeing = table["value"].where(table["agreement_is"] == "positive", -table["value"])
    means = agreeing.groupby(table["scorer"]).mean().fillna(-2)
    order = means.sort_values(ascending=False, kind="stable").index
    wide = [table.pivot(index="scorer", columns="criterion", values=c).loc[order] for c in (*shown.INTERVAL, "n")]
    values, low, _, n = wide
    text = [
        [shown.cell(*triple, sep="\n") if count == count else "" for *triple, count in zip(*rows, strict=True)]
        for rows in zip(*(frame.to_numpy(dtype=float) for frame in wide), strict=True)
    ]
    unit = "correlation" + (", 95 % interval below" if low.notna().to_numpy().any() else "")
    if (values.isna() & n.notna()).to_numpy().any():
        unit += "; a dash: undefined"
    kind = summary.NAMES[coefficient or result.parameters["coefficient"]]
    return draw.pictures.heat_map(
        values.to_numpy(dtype=float),
        list(values.index),
        list(values.columns),
        title=f"{kind} with the {_human(result)}, {level or shown.level_of(result)} level",
        text=text,
        unit=unit,
        low=0.0,
        high=1.0,
    )


def _human(result: core.Result) -> str:
    """What the metrics are compared with, in words."""
    return "annotators' mean" if shown.several_annotators(result) else "human score"


def picture_criterion(result: core.Result, criterion: str = "") -> draw.Drawn | None:
    """All metrics on one criterion, by default the first trusted one, and the ceiling where there is one.

    The ceiling is how well one annotator agrees with the others.  None without a metric.
    """
    if "correlations" not in result.tables:
        return None
    criterion = criterion or shown.first_trusted(result)
    rows = [e for e in shown.headline(result) if e.group["criterion"] == criterion]
    rows.sort(key=lambda e: (-(e.value if e.value is not None else -9), e.group["scorer"]))
    figure, alt = draw.pictures.estimate_bars(
        [e.group["scorer"] for e in rows],
        rows,
        title=f"{criterion}: how well each metric follows the {_human(result)}",
        xlabel=f"{summary.NAMES[result.parameters['coefficient']]}, {shown.level_of(result)} level",
        domain=(min([-0.1, *(e.ci_low for e in rows if e.ci_low is not None)]), 1.0),
    )
    ceiling = result.estimate("ceiling", criterion=criterion) if shown.several_annotators(result) else None
    if ceiling is None or ceiling.value is None:
        return figure, alt
    ax = figure.axes[0]
    if ceiling.ci_low is not None and ceiling.ci_high is not None:
        ax.axvspan(ceiling.ci_low, ceiling.ci_high, color=draw.pictures.MUTED, alpha=0.13, linewidth=0, zorder=0)
    ax.axvline(ceiling.value, color=draw.pictures.INK, linewidth=1.2, linestyle="--", zorder=1)
    ax.axvline(0, color=draw.pictures.GRID, linewidth=1, zorder=0)
    ax.annotate(
        f"one annotator {ceiling.value:.2f}", (ceiling.value, 1), xycoords=("data", "axes fraction"),
        xytext=(0, 3), textcoords="offset points", ha="center", va="bottom", fontsize=8, color=draw.pictures.MUTED,
    )  # fmt: skip
    return figure, f"{alt} Dashed line: one annotator against the mean of the others, {ceiling.value:.2f}."


def picture_agreement(result: core.Result) -> draw.Drawn | None:
    """How far the annotators agree with each other, criterion by criterion: alpha, and the ceiling.

    None where neither has a value, as with one annotator.
    """
    if not shown.several_annotators(result):
        return None
    names = {"alpha_ordinal": "alpha", "ceiling": "one against the others"}
    rows = {
        f"{criterion}: {name}": found
        for criterion in result.parameters["criteria"]
        for metric, name in names.items()
        if (found := result.estimate(metric, criterion=criterion)).value is not None
    }
    if not rows:
        return None
    labels = sorted(rows)
    return draw.pictures.estimate_bars(
        labels,
        [rows[label] for label in labels],
        title="How far the annotators agree with each other",
        xlabel=f"Krippendorff's ordinal alpha; {summary.NAMES[result.parameters['coefficient']]} of one against the others",
        domain=(min([0.0, *(e.ci_low for e in rows.values() if e.ci_low is not None)]), 1.0),
    )


def picture_scatter(result: core.Result, scorer: str = "", criterion: str = "") -> draw.Drawn | None:
    """One metric against one criterion: every output, with the spread of its annotators.

    By default the metric of the headline and the first trusted criterion.  None without a metric.
    """
    if "correlations" not in result.tables:
        return None
    items, scorer = result.items, scorer or shown.best_metric(result)
    criterion = criterion or shown.first_trusted(result, scorer)
    rows = items[(items["scorer"] == scorer) & (items["criterion"] == criterion)].dropna(subset=["score", "human"])
    several = shown.several_annotators(result)
    ratings = rows[[c for c in rows.columns if str(c).startswith("rating_")]].to_numpy(dtype=float)
    figure, ax = draw.pictures.new_figure(7.2, 4.2)
    x, y = rows["score"].to_numpy(dtype=float), rows["human"].to_numpy(dtype=float)
    many = len(rows) > _MOST_DOTS
    if many:
        cells = ax.hexbin(x, y, gridsize=(48, 20), mincnt=1, linewidths=0)
        counts = np.log1p(np.asarray(cells.get_array(), dtype=float))
        cells.set(array=None, facecolor=draw.pictures.ACCENT, alpha=0.1 + 0.9 * counts / counts.max())
    elif several and len(rows):
        ax.vlines(
            x,
            np.nanmin(ratings, axis=1),
            np.nanmax(ratings, axis=1),
            color=draw.pictures.ACCENT,
            alpha=0.18,
            linewidth=1,
        )
    if not many:
        ax.plot(x, y, "o", color=draw.pictures.ACCENT, markersize=4, alpha=0.6, markeredgewidth=0)
    spans = " (lines: lowest to highest)" if several and not many else ""
    ax.set(xlabel=f"{scorer}", ylabel=f"{criterion}, {_human(result)}{spans}")
    draw.pictures.title_at_top(figure, f"{scorer} against {criterion}")
    level, kind = shown.level_of(result), result.parameters["coefficient"]
    found = result.estimate(f"{kind}_{level}", scorer=scorer, criterion=criterion)
    value = f"{kind} {found.value:.2f} at {level} level" if found.value is not None else f"no correlation: {found.note}"
    spread = "; the darker, the more outputs" if many else "; lines span the annotators" if several else ""
    return figure, f"{scorer} (across) against {criterion} (up) of {len(rows)} outputs{spread}. {value}."
