"""Pictures and tables of a rag_retrieval result, from its items and tables alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit, readers
from evalbench.studies.rag_retrieval import tables
from evalbench.studies.rag_retrieval.figures import WITHOUT_K, Figure, bare

MOST_LINES, MOST_MODELS = 6, 6
CALLED = {"model": "run", "answered_by": "model"}
"""What the columns of answers are called on the page."""


def first_figure(result: core.Result) -> Figure:
    """The metric by which runs and queries are ordered, at the depth of the headline."""
    return Figure(result.parameters["metrics"][0], result.parameters["k"])


def picture_runs(result: core.Result) -> draw.Drawn:
    """The first metric of every run at the headline's depth."""
    figure = first_figure(result)
    rows = [e for e in result.summary.estimates if e.metric == figure.name]
    return draw.pictures.estimate_bars(
        [e.group.get("model", "") for e in rows],
        rows,
        title=f"{figure.title} of each run" if len(rows) > 1 else f"{figure.title} over all queries",
        xlabel=f"mean {figure.title} over queries (0–1)",
        domain=(0, 1),
    )


def picture_curves(result: core.Result, metric: str = "") -> draw.Drawn | None:
    """How a metric goes with the depth k, a line per run with its interval; by default the first that has a depth; None without one, or where it was not asked for."""
    table = result.tables["curves"]
    deep = [name for name in result.parameters["metrics"] if table.loc[table["metric"] == name, "k"].nunique() > 1]
    metric = bare(metric) or (deep or result.parameters["metrics"])[0]
    own = table[table["metric"] == metric]
    if own.empty or metric in WITHOUT_K:
        return None
    k = result.parameters["k"]
    at = own[own["k"] == k] if (own["k"] == k).any() else own
    best = at.sort_values(["value", "model"], ascending=[False, True], kind="stable")["model"].head(MOST_LINES)
    series = {
        str(run): draw.pictures.Line(rows["k"], rows["value"], rows["ci_low"], rows["ci_high"])
        for run in best
        for rows in [own[own["model"] == run].sort_values("k")]
    }
    words = Figure(metric, k).words
    more = f", the best {MOST_LINES} runs" if own["model"].nunique() > MOST_LINES else ""
    return draw.pictures.lines(
        series,
        title=f"{words} by the number of passages{more}",
        xlabel="k, the passages that are looked at",
        ylabel=f"mean {words} (0–1)",
        domain=(0, 1),
    )


def picture_spread(result: core.Result) -> draw.Drawn:
    """How the first metric is spread over the queries of each run."""
    figure = first_figure(result)
    runs = {str(run): own[figure.name].to_numpy(dtype=float) for run, own in result.items.groupby("model", sort=True)}
    return draw.pictures.distribution(
        runs,
        title=f"{figure.title} of the single queries",
        xlabel=f"{figure.title} of a query (0–1)",
        domain=(0, 1),
        behind=draw.bars.of_groups(figure.name, "model", runs),
    )


def picture_answers(result: core.Result) -> draw.Drawn | None:
    """The accuracy of every model's answers where the first passage was relevant and where it was not; None without answers."""
    table = result.tables.get("answer_by_passage")
    if table is None:
        return None
    several = table["model"].nunique() > 1
    labels = [
        f"{row.answered_by}{f', {row.model}' if several else ''}: {'relevant' if row.relevant else 'irrelevant'} (n = {row.n})"
        for row in table.itertuples()
    ]
    numbers = [[None if np.isnan(v) else float(v) for v in table[name]] for name in ("accuracy", "ci_low", "ci_high")]
    return draw.pictures.interval_bars(
        labels,
        *numbers,
        title="Right answers by the relevance of the first passage",
        xlabel="share of answers that are right (0–1)",
        domain=(0, 1),
    )


def figures_table(result: core.Result) -> pd.DataFrame:
    """Every metric at every depth, a column per run."""
    table = result.tables["curves"]
    frame = table.assign(cell=_cells(table, "value"), figure=[Figure(m, 1).words for m in table["metric"]])
    order = list(dict.fromkeys(frame["figure"]))
    wide = frame.pivot(index=["figure", "k"], columns="model", values="cell").reset_index()
    wide["_order"] = [order.index(name) for name in wide["figure"]]
    wide = wide.sort_values(["_order", "k"])
    whole = {Figure(name, 1).words for name in WITHOUT_K}
    wide["k"] = [None if name in whole else k for name, k in zip(wide["figure"], wide["k"], strict=True)]
    return wide.drop(columns="_order").rename_axis(columns=None).reset_index(drop=True)


def _cells(table: pd.DataFrame, value: str) -> list[str]:
    columns = [[None if np.isnan(v) else float(v) for v in table[name]] for name in (value, "ci_low", "ci_high")]
    return core.wording.aligned(*columns)


def comparison(result: core.Result) -> pd.DataFrame:
    """Every two runs on every metric at the headline's depth; empty where there is one run."""
    return kit.comparing.shown(result.tables.get("comparison"), "model", called="run")


@kit.trials.each_trial
def grade_table(result: core.Result) -> pd.DataFrame:
    """How many passages have each grade, and the share of them that each run has among its first k."""
    table, k = result.tables["grades"], result.parameters["k"]
    wide = table.pivot(index=["relevance", "judged"], columns="model", values="found").reset_index()
    names = {run: f"{run}: found in the first {k}" for run in sorted(table["model"].unique())}
    return wide.rename(columns=names).rename_axis(columns=None)


def answer_table(result: core.Result) -> pd.DataFrame | None:
    """Accuracy by the relevance of the first passage, a row per run, model and relevance; None without answers."""
    table = result.tables.get("answer_by_passage")
    if table is None:
        return None
    return table.assign(accuracy=_cells(table, "accuracy")).drop(columns=["ci_low", "ci_high"]).rename(columns=CALLED)


def answer_correlations(result: core.Result) -> pd.DataFrame | None:
    """Spearman between right answers and the quality of retrieval, a column for each of a few models; None without answers."""
    table = result.tables.get("answer_correlation")
    if table is None:
        return None
    figures = [Figure(metric, result.parameters["k"]) for metric in result.parameters["metrics"]]
    said = table["quality"].replace({figure.name: figure.title for figure in figures})
    rows = table.assign(quality=said, spearman=_cells(table, "spearman")).drop(columns=["ci_low", "ci_high"])
    rows = rows.rename(columns=CALLED)
    if rows["model"].nunique() > MOST_MODELS:
        return rows
    order = list(dict.fromkeys(said))
    wide = rows.pivot(index=["run", "quality"], columns="model", values="spearman").reset_index()
    at = wide["quality"].map(order.index)
    return wide.iloc[np.lexsort((at, wide["run"]))].rename_axis(columns=None).reset_index(drop=True)


def parting(result: core.Result, n: int = 3) -> draw.Html:
    """The queries on which two runs part most, with the first passages of both."""
    table = result.tables.get("parted")
    if table is None or table.empty:
        return draw.Html('<p class="eb-small">No two runs differ on any query.</p>')
    parts = []
    for case in table.head(n).to_dict("records"):
        name = first_figure(result).title
        values = f"{case['better']} {case['value_better']:.2f}, {case['worse']} {case['value_worse']:.2f}"
        pages = [_found(result, case["id"], case[side]) for side in ("better", "worse")]
        parts.append(kit.cases.sheet(f"{case['id']}: {name} {values}", _question(result, case["id"]), *pages))
    return draw.Html("".join(parts))


@kit.trials.each_trial
def lowest(result: core.Result, n: int = 2) -> draw.Html:
    """The queries with the lowest first metric of each run, with its first passages and those that it missed."""
    figure = first_figure(result)
    parts = []
    for case in tables.worst(result.items, figure.name, n).to_dict("records"):
        title = f"{case['id']}, {case['model']}: {figure.title} {case[figure.name]:.2f}"
        parts.append(kit.cases.sheet(title, _question(result, case["id"]), _found(result, case["id"], case["model"])))
    return draw.Html("".join(parts))


def _question(result: core.Result, query: str) -> str:
    questions = result.tables.get("questions")
    own = [] if questions is None else questions.loc[questions["id"] == query, "question"].tolist()
    return own[0] if own else ""


def _found(result: core.Result, query: Any, run: Any) -> draw.Html:
    """The first passages of a run for a query, and the relevant ones further down or not found."""
    rows = kit.cases.rows_of(result.tables["passages"], {"id": query, "model": run}, ["id", "model"])
    if readers.schema.TRIAL in rows:
        each = rows.groupby(readers.schema.TRIAL, sort=False)
        return draw.Html("".join(_passages(query, f"{run}, trial {name}", own) for name, own in each))
    return _passages(query, run, rows)


def _passages(query: Any, run: Any, rows: pd.DataFrame) -> draw.Html:
    if rows.empty:
        return draw.Html(f'<p class="eb-small">{draw.escape(str(run))} has no passage, and none is relevant.</p>')
    table = rows.assign(
        rank=["not found" if np.isnan(rank) else f"{rank:.0f}" for rank in rows["rank"]],
        relevance=["not judged" if np.isnan(grade) else f"{grade:g}" for grade in rows["relevance"]],
    )[["rank", "relevance", "doc_id"]]
    if (rows["text"] != "").any():
        table["passage"] = rows["text"]
    return draw.tables.html_table(table, caption=f"{run}: what it found for {query}", rows=40)
