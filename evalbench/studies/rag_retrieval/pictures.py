"""Pictures and tables of a rag_retrieval result, from its items and tables alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.wording import aligned
from evalbench.draw.html import Html, escape
from evalbench.draw.pictures import Line, distribution, estimate_bars, interval_bars, lines
from evalbench.draw.tables import html_table
from evalbench.kit.cases import rows_of, sheet
from evalbench.kit.comparing import shown
from evalbench.kit.trials import each_trial
from evalbench.readers.schema import TRIAL
from evalbench.studies.rag_retrieval.figures import WITHOUT_K, Figure, bare
from evalbench.studies.rag_retrieval.tables import worst

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

    from evalbench.core.result import Result

MOST_LINES, MOST_MODELS = 6, 6


def first_figure(result: Result) -> Figure:
    """The metric by which runs and queries are ordered, at the depth of the headline."""
    return Figure(result.parameters["metrics"][0], result.parameters["k"])


def picture_runs(result: Result) -> tuple[Picture, str]:
    """The first metric of every run at the headline's depth."""
    figure = first_figure(result)
    rows = [e for e in result.summary.estimates if e.metric == figure.name]
    return estimate_bars(
        [e.group.get("run", "") for e in rows],
        rows,
        title=f"{figure.title} of each run" if len(rows) > 1 else f"{figure.title} over all queries",
        xlabel=f"mean {figure.title} over queries (0–1)",
        domain=(0, 1),
    )


def picture_curves(result: Result, metric: str = "") -> tuple[Picture, str] | None:
    """How a metric goes with the depth k, a line per run with its interval; by default the first that has a depth; None without one, or where it was not asked for."""
    table = result.tables["curves"]
    deep = [name for name in result.parameters["metrics"] if table.loc[table["metric"] == name, "k"].nunique() > 1]
    metric = bare(metric) or (deep or result.parameters["metrics"])[0]
    own = table[table["metric"] == metric]
    if own.empty or metric in WITHOUT_K:
        return None
    k = result.parameters["k"]
    at = own[own["k"] == k] if (own["k"] == k).any() else own
    best = at.sort_values(["value", "run"], ascending=[False, True], kind="stable")["run"].head(MOST_LINES)
    series = {
        str(run): Line(rows["k"], rows["value"], rows["ci_low"], rows["ci_high"])
        for run in best
        for rows in [own[own["run"] == run].sort_values("k")]
    }
    words = Figure(metric, k).words
    more = f", the best {MOST_LINES} runs" if own["run"].nunique() > MOST_LINES else ""
    return lines(
        series,
        title=f"{words} by the number of passages{more}",
        xlabel="k, the passages that are looked at",
        ylabel=f"mean {words} (0–1)",
        domain=(0, 1),
    )


def picture_spread(result: Result) -> tuple[Picture, str]:
    """How the first metric is spread over the queries of each run."""
    figure = first_figure(result)
    return distribution(
        {str(run): own[figure.name].to_numpy(dtype=float) for run, own in result.items.groupby("run", sort=True)},
        title=f"{figure.title} of the single queries",
        xlabel=f"{figure.title} of a query (0–1)",
        domain=(0, 1),
    )


def picture_answers(result: Result) -> tuple[Picture, str] | None:
    """The accuracy of every model's answers where the first passage was relevant and where it was not; None without answers."""
    table = result.tables.get("answer_by_passage")
    if table is None:
        return None
    several = table["run"].nunique() > 1
    labels = [
        f"{row.model}{f', {row.run}' if several else ''}: {'relevant' if row.relevant else 'irrelevant'} (n = {row.n})"
        for row in table.itertuples()
    ]
    numbers = [[None if np.isnan(v) else float(v) for v in table[name]] for name in ("accuracy", "ci_low", "ci_high")]
    return interval_bars(
        labels,
        *numbers,
        title="Right answers by the relevance of the first passage",
        xlabel="share of answers that are right (0–1)",
        domain=(0, 1),
    )


def figures_table(result: Result) -> pd.DataFrame:
    """Every metric at every depth, a column per run."""
    table = result.tables["curves"]
    frame = table.assign(cell=_cells(table, "value"), figure=[Figure(m, 1).words for m in table["metric"]])
    order = list(dict.fromkeys(frame["figure"]))
    wide = frame.pivot(index=["figure", "k"], columns="run", values="cell").reset_index()
    wide["_order"] = [order.index(name) for name in wide["figure"]]
    wide = wide.sort_values(["_order", "k"])
    whole = {Figure(name, 1).words for name in WITHOUT_K}
    wide["k"] = [None if name in whole else k for name, k in zip(wide["figure"], wide["k"], strict=True)]
    return wide.drop(columns="_order").rename_axis(columns=None).reset_index(drop=True)


def _cells(table: pd.DataFrame, value: str) -> list[str]:
    columns = [[None if np.isnan(v) else float(v) for v in table[name]] for name in (value, "ci_low", "ci_high")]
    return aligned(*columns)


def comparison(result: Result) -> pd.DataFrame:
    """Every two runs on every metric at the headline's depth; empty where there is one run."""
    return shown(result.tables.get("comparison"), "run")


@each_trial
def grade_table(result: Result) -> pd.DataFrame:
    """How many passages have each grade, and the share of them that each run has among its first k."""
    table, k = result.tables["grades"], result.parameters["k"]
    wide = table.pivot(index=["relevance", "judged"], columns="run", values="found").reset_index()
    names = {run: f"{run}: found in the first {k}" for run in sorted(table["run"].unique())}
    return wide.rename(columns=names).rename_axis(columns=None)


def answer_table(result: Result) -> pd.DataFrame | None:
    """Accuracy by the relevance of the first passage, a row per run, model and relevance; None without answers."""
    table = result.tables.get("answer_by_passage")
    if table is None:
        return None
    return table.assign(accuracy=_cells(table, "accuracy")).drop(columns=["ci_low", "ci_high"])


def answer_correlations(result: Result) -> pd.DataFrame | None:
    """Spearman between right answers and the quality of retrieval, a column for each of a few models; None without answers."""
    table = result.tables.get("answer_correlation")
    if table is None:
        return None
    figures = [Figure(metric, result.parameters["k"]) for metric in result.parameters["metrics"]]
    said = table["quality"].replace({figure.name: figure.title for figure in figures})
    rows = table.assign(quality=said, spearman=_cells(table, "spearman")).drop(columns=["ci_low", "ci_high"])
    if rows["model"].nunique() > MOST_MODELS:
        return rows
    order = list(dict.fromkeys(said))
    wide = rows.pivot(index=["run", "quality"], columns="model", values="spearman").reset_index()
    at = wide["quality"].map(order.index)
    return wide.iloc[np.lexsort((at, wide["run"]))].rename_axis(columns=None).reset_index(drop=True)


def parting(result: Result, n: int = 3) -> Html:
    """The queries on which two runs part most, with the first passages of both."""
    table = result.tables.get("parted")
    if table is None or table.empty:
        return Html('<p class="eb-small">No two runs differ on any query.</p>')
    parts = []
    for case in table.head(n).to_dict("records"):
        name = first_figure(result).title
        values = f"{case['better']} {case['value_better']:.2f}, {case['worse']} {case['value_worse']:.2f}"
        pages = [_found(result, case["query_id"], case[side]) for side in ("better", "worse")]
        parts.append(sheet(f"{case['query_id']}: {name} {values}", _question(result, case["query_id"]), *pages))
    return Html("".join(parts))


@each_trial
def lowest(result: Result, n: int = 2) -> Html:
    """The queries with the lowest first metric of each run, with its first passages and those that it missed."""
    figure = first_figure(result)
    parts = []
    for case in worst(result.items, figure.name, n).to_dict("records"):
        title = f"{case['query_id']}, {case['run']}: {figure.title} {case[figure.name]:.2f}"
        parts.append(sheet(title, _question(result, case["query_id"]), _found(result, case["query_id"], case["run"])))
    return Html("".join(parts))


def _question(result: Result, query: str) -> str:
    questions = result.tables.get("questions")
    own = [] if questions is None else questions.loc[questions["query_id"] == query, "question"].tolist()
    return own[0] if own else ""


def _found(result: Result, query: Any, run: Any) -> Html:
    """The first passages of a run for a query, and the relevant ones further down or not found."""
    rows = rows_of(result.tables["passages"], {"query_id": query, "run": run}, ["query_id", "run"])
    if TRIAL in rows:
        each = rows.groupby(TRIAL, sort=False)
        return Html("".join(_passages(query, f"{run}, trial {name}", own) for name, own in each))
    return _passages(query, run, rows)


def _passages(query: Any, run: Any, rows: pd.DataFrame) -> Html:
    if rows.empty:
        return Html(f'<p class="eb-small">{escape(str(run))} has no passage, and none is relevant.</p>')
    table = rows.assign(
        rank=["not found" if np.isnan(rank) else f"{rank:.0f}" for rank in rows["rank"]],
        relevance=["not judged" if np.isnan(grade) else f"{grade:g}" for grade in rows["relevance"]],
    )[["rank", "relevance", "passage_id"]]
    if (rows["text"] != "").any():
        table["passage"] = rows["text"]
    return html_table(table, caption=f"{run}: what it found for {query}", rows=40)
