"""Finer tables: answers by the relevance of the first passage, grades, and the passages of the queries to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, readers
from evalbench.studies.rag_retrieval import figures, inputs
from evalbench.studies.rag_retrieval.items import KEYS, Ranked, Rules, ranked

SHOWN = 20
"""So many queries at most are kept with their passages: those where two runs part most, and the worst of each run."""
LEAST_REVERSED, FAR_BETTER = 5, 0.2
"""A run is reversed if so many queries gain by it, so many times as many as lose, and so much in the mean."""
TOP = "relevance of the first passage"


def parted(items: pd.DataFrame, figure: str, n: int = SHOWN) -> pd.DataFrame:
    """The queries on which two runs differ most in a figure: ``id, difference, better, value_better, worse, value_worse``."""
    wide = items.pivot(index="id", columns="model", values=figure)
    columns = ["id", "difference", "better", "value_better", "worse", "value_worse"]
    wide = wide[wide.notna().sum(axis=1) >= 2]
    if wide.shape[1] < 2 or wide.empty:
        return pd.DataFrame(columns=columns)
    values = wide.to_numpy(dtype=float)
    high, low = np.nanargmax(values, axis=1), np.nanargmin(values, axis=1)
    at, names = np.arange(len(values)), wide.columns.to_numpy()
    found = pd.DataFrame(
        {
            "id": wide.index.to_numpy(),
            "difference": values[at, high] - values[at, low],
            "better": names[high],
            "value_better": values[at, high],
            "worse": names[low],
            "value_worse": values[at, low],
        }
    )
    found = found[found["difference"] > 0].sort_values(["difference", "id"], ascending=[False, True])
    return found.head(n).reset_index(drop=True)


def worst(items: pd.DataFrame, figure: str, n: int = SHOWN) -> pd.DataFrame:
    """The queries of every run with the lowest figure, the lowest first."""
    keys = [*KEYS, *(name for name in (readers.schema.TRIAL,) if name in items)]
    known = items[items[figure].notna()].sort_values([figure, *keys], kind="stable")
    return known.groupby(keys[1:], sort=True).head(n)[[*keys, figure]].reset_index(drop=True)


def shown(items: pd.DataFrame, each: pd.DataFrame, figure: str) -> list[str]:
    """The queries that are kept with their passages; of a part of the queries all that may be among those of the whole.

    - ``each``: The items of every trial.
    """
    return list(dict.fromkeys([*parted(items, figure)["id"], *worst(each, figure)["id"]]))


def passages_of(given: inputs.Given, queries: Sequence[str], k: int, rules: Rules) -> pd.DataFrame:
    """The first k passages of some queries in every run, and their relevant passages wherever they are.

    Returns: ``id, model, rank`` (NaN: not found), ``doc_id, score, relevance`` (NaN: not judged).
    """
    wanted = set(queries)
    qrels = given.qrels[given.qrels["id"].isin(wanted)]
    parts = []
    for name, run in given.runs.items():
        own = run[run["id"].isin(wanted)].reset_index(drop=True)
        rows = own.merge(qrels, on=["id", "doc_id"], how="left")
        rows["rank"] = _ranks(own, rules)
        missed = qrels[qrels["relevance"] >= rules.relevant_from].merge(
            own[["id", "doc_id"]], on=["id", "doc_id"], how="left", indicator=True
        )
        missed = missed[missed["_merge"] == "left_only"].drop(columns="_merge")
        kept = rows[(rows["rank"] <= k) | (rows["relevance"] >= rules.relevant_from)]
        parts.append(pd.concat([kept, missed.assign(rank=np.nan, score=np.nan)]).assign(model=name))
    table = pd.concat(parts, ignore_index=True)
    table = table.sort_values([*KEYS, "rank", "doc_id"], kind="stable", ignore_index=True)
    return table[[*KEYS, "rank", "doc_id", "score", "relevance"]]


def _ranks(run: pd.DataFrame, rules: Rules) -> Any:
    """The rank of each row; every passage counts as judged, so that it has one."""
    if run.empty:
        return np.empty(0)
    qrels = run[["id", "doc_id"]].assign(relevance=np.arange(len(run), dtype=float))
    _, found = ranked(run, qrels, rules)
    rank = np.empty(len(run))
    rank[found.grade.astype(np.int64)] = found.rank
    return rank


def grades_of(given: inputs.Given, rankings: Mapping[str, Ranked], k: int) -> pd.DataFrame:
    """How many passages have each grade, and how many of them each run has among its first k: ``model, relevance, judged, found``."""
    rows = []
    judged = given.qrels["relevance"].value_counts()
    for name, (_, found) in rankings.items():
        grade, counts = np.unique(found.grade[found.rank <= k], return_counts=True)
        within = dict(zip(grade.tolist(), counts.tolist(), strict=True))
        rows += [
            {"model": name, "relevance": g, "judged": int(n), "found": within.get(g, 0)}
            for g, n in sorted(judged.items())
        ]
    return pd.DataFrame(rows, columns=["model", "relevance", "judged", "found"])


def shares(grades: pd.DataFrame, runs: Sequence[str]) -> pd.DataFrame:
    """Grades of all parts together, with the shares that are found."""
    whole = grades.groupby(["model", "relevance"], sort=True, as_index=False)[["judged", "found"]].sum()
    whole = whole.sort_values("model", key=lambda names: names.map(list(runs).index), kind="stable", ignore_index=True)
    return whole.assign(found=whole["found"] / whole["judged"])


def inverted(grades: pd.DataFrame) -> str:
    """A note where every run finds fewer of the passages, the higher their grade; empty where not."""
    falls = []
    for _, own in grades.groupby("model"):
        shares = own.sort_values("relevance")["found"].to_numpy()
        falls.append(len(shares) > 1 and bool((np.diff(shares) <= 0).all()) and shares[0] > shares[-1])
    return (
        "The higher the grade of a passage, the less often any run finds it: are the grades inverted (1 the most relevant)?"
        if falls and all(falls)
        else ""
    )


def turned_round(
    given: inputs.Given, rankings: Mapping[str, Ranked], figure: figures.Figure, rules: Rules
) -> pd.DataFrame:
    """A figure of every query in the reversed order, and what it is above that of the order as it is: ``model, other, gain``."""
    parts = [pd.DataFrame({"model": [], "other": [], "gain": []}).astype({"model": str})]
    for name, (_, ranking) in rankings.items():
        run = given.runs[name]
        _, turned = ranked(run.assign(score=-run["score"]), given.qrels, rules)
        has = (ranking.n_relevant > 0) & (ranking.ranked > 0)
        as_is, other = (
            figures.values_of(r, [figure], max_grade=rules.max_grade, min_per_query=rules.min_per_query)[figure.name]
            for r in (ranking, turned)
        )
        parts.append(pd.DataFrame({"model": name, "other": other[has], "gain": (other - as_is)[has]}))
    return pd.concat(parts, ignore_index=True)


def reversed_order(turned: pd.DataFrame, figure: figures.Figure) -> list[core.Note]:
    """A note on runs that would be far better in the reversed order, as where their scores are distances."""
    found = []
    for name, own in turned.groupby("model", sort=False):
        gain, other = own["gain"].to_numpy(), own["other"].to_numpy()
        gain = gain[np.isfinite(gain)]
        better, worse = int((gain > 0).sum()), int((gain < 0).sum())
        if better >= LEAST_REVERSED and worse <= better / LEAST_REVERSED and gain.mean() >= FAR_BETTER:
            found.append(f"{name} {float(np.nanmean(other)):.2f}")
    if not found:
        return []
    said = f"in the reversed order {figure.title} would be {'; '.join(found)}: are the scores distances?"
    return [
        core.Note("instrument", said, f"{said[:1].upper()}{said[1:]} Then give a column rank, or the scores times -1.")
    ]


def answers_of(
    items: pd.DataFrame, answers: pd.DataFrame, metrics: Sequence[str], k: int, rules: Rules, n_resamples: int
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Accuracy by the relevance of the first passage, and Spearman of accuracy with the quality of retrieval.

    - Returns ``by_passage``: ``model`` (the search), ``answered_by``, ``relevant`` (0, 1), ``n, accuracy, ci_low, ci_high``.
    - Returns ``correlations``: ``model, answered_by, quality, spearman, ci_low, ci_high, n, note``.
    """
    given = answers if "answered_by" in answers else answers.assign(answered_by="answers")
    known = given[given["correct"].notna()]
    said = []
    if unscored := len(given) - len(known):
        said.append(f"Answers without a mark, in no figure: {unscored} of {len(given)}.")
    of_run = "model" in given
    if not of_run and items["model"].nunique() > 1:
        said.append("The answers do not say which run's passages the models had: they are held against every run.")
    own = items[items["undefined"] == ""]
    rows = known.merge(own, on=["id", "model"] if of_run else ["id"], how="inner")
    if lost := len(known) - len(rows.drop_duplicates(["id", "answered_by", *(["model"] if of_run else [])])):
        said.append(f"Answers to queries without a figure of retrieval: {lost} of {len(known)}.")
    if blind := int(rows["top_grade"].isna().sum()):
        said.append(
            f"Answers whose first passage nobody judged, or whose query found none, held to have an irrelevant one: {blind} of "
            f"{len(rows)}."
        )
    rows = rows.assign(relevant=(rows["top_grade"] >= rules.relevant_from).astype(int))
    rows[TOP] = rows["top_grade"].fillna(0.0)
    groups = ["model", "answered_by"]
    by_passage, correlations = [], []
    for (run, who), part in rows.sort_values([*groups, "id"]).groupby(groups, sort=True):
        named = {"model": run, "answered_by": who}
        binary = bool(part["correct"].isin([0.0, 1.0]).all())
        measure = core.mean_of("correct", interval="wilson" if binary else "bootstrap")
        for relevant, few in part.groupby("relevant", sort=True):
            options: dict[str, Any] = {"units": few["id"], "seed": rules.seed, "n_resamples": n_resamples}
            (e,) = core.measures.estimate(few, [measure], **options).estimates
            by_passage.append(
                {**named, "relevant": relevant, "n": e.n, "accuracy": e.value, "ci_low": e.ci_low, "ci_high": e.ci_high}
            )
        for quality in (TOP, *(figures.Figure(metric, k).name for metric in metrics)):
            r = core.correlation.correlate(part[quality], part["correct"], seed=rules.seed, n_resamples=n_resamples)
            correlations.append(
                {
                    **named,
                    "quality": quality,
                    "spearman": r.value,
                    "ci_low": r.ci_low,
                    "ci_high": r.ci_high,
                    "n": r.n,
                    "note": r.note,
                }
            )
    numbers = dict.fromkeys(("ci_low", "ci_high"), float)
    first = pd.DataFrame(by_passage, columns=[*groups, "relevant", "n", "accuracy", "ci_low", "ci_high"])
    columns = [*groups, "quality", "spearman", "ci_low", "ci_high", "n", "note"]
    second = pd.DataFrame(correlations, columns=columns)
    return first.astype({"accuracy": float, **numbers}), second.astype({"spearman": float, **numbers}), said
