"""Runs whose figures could hardly be otherwise: one list for all queries, nothing found but what is relevant, lists shorter than k."""

from __future__ import annotations

import json

import pandas as pd

from evalbench import core
from evalbench.studies.rag_retrieval import inputs


def counted(given: inputs.Given, relevant_from: float) -> pd.DataFrame:
    """What cautions rest on, of judged queries.

    Returns: ``model, queries, lists`` (how many different ones), ``list`` (one of them), ``irrelevant`` (rows), ``longest``; a row per run.
    """
    judged = given.qrels["id"].unique()
    relevant = given.qrels[given.qrels["relevance"] >= relevant_from][["id", "doc_id"]]
    rows = []
    for name, whole in given.runs.items():
        run = whole[whole["id"].isin(judged)]
        ordered = run.sort_values(["id", "score", "doc_id"], ascending=[True, False, True])
        lists = ordered.groupby("id", sort=False)["doc_id"].agg(tuple)
        there = run[["id", "doc_id"]].merge(relevant, on=["id", "doc_id"], how="left", indicator=True)
        rows.append(
            {
                "model": name,
                "queries": len(lists),
                "lists": lists.nunique(),
                "list": json.dumps(lists.iloc[0]) if len(lists) else "",
                "irrelevant": int((there["_merge"] != "both").sum()),
                "longest": max(map(len, lists), default=0),
            }
        )
    return pd.DataFrame(rows)


def cautions(counts: pd.DataFrame, k: int) -> list[core.notes.Note]:
    """What is odd about the runs, as notes of the sentence.

    - ``counts``: As :func:`counted` has them, also of several parts of the queries.
    """
    one_list, all_relevant = [], []
    for name, every in counts.groupby("model", sort=False):
        own = every[every["queries"] > 0]
        n = int(own["queries"].sum())
        if n < core.stats.FEW_UNITS:
            continue
        if (own["lists"] == 1).all() and own["list"].nunique() == 1:
            one_list.append(f"all {n} queries have one and the same list of passages ({name})")
        if not own["irrelevant"].any():
            all_relevant.append(f"every passage that {name} lists is relevant: were others left out?")
    found: list[tuple[core.notes.Kind, str]] = [
        ("mixed", "; ".join(one_list[:3])),
        ("instrument", " ".join(all_relevant[:3])),
    ]
    longest = int(counts["longest"].max())
    if 0 < longest < k:
        known = core.counted(longest, "passage")
        found.append(("sample", f"no list has more than {known}, so that nothing is known of the first {k}"))
    return [core.notes.Note(kind, short) for kind, short in found if short]
