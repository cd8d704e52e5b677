"""Runs whose figures could hardly be otherwise: one list for all queries, nothing found but what is relevant, lists shorter than k."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from evalbench import core
from evalbench.studies.rag_retrieval import inputs


def cautions(given: inputs.Given, k: int, relevant_from: float) -> list[core.notes.Note]:
    """What is odd about the runs, as notes of the sentence."""
    judged = given.qrels["id"].unique()
    runs = {name: run[run["id"].isin(judged)] for name, run in given.runs.items()}
    enough = {name: run for name, run in runs.items() if run["id"].nunique() >= core.stats.FEW_UNITS}
    return [*_one_list(enough), *_all_relevant(enough, given.qrels, relevant_from), *_short(runs, k)]


def _one_list(runs: Mapping[str, pd.DataFrame]) -> list[core.notes.Note]:
    found = []
    for name, run in runs.items():
        ordered = run.sort_values(["id", "score", "doc_id"], ascending=[True, False, True])
        lists = ordered.groupby("id", sort=False)["doc_id"].agg(tuple)
        if lists.nunique() == 1:
            found.append(f"all {len(lists)} queries have one and the same list of passages ({name})")
    return [core.notes.Note("mixed", "; ".join(found[:3]))] if found else []


def _all_relevant(runs: Mapping[str, pd.DataFrame], qrels: pd.DataFrame, relevant_from: float) -> list[core.notes.Note]:
    """That a run has no passage that is not relevant: then no order of it is worse than another."""
    relevant = qrels[qrels["relevance"] >= relevant_from][["id", "doc_id"]]
    found = []
    for name, run in runs.items():
        there = run[["id", "doc_id"]].merge(relevant, on=["id", "doc_id"], how="left", indicator=True)
        if (there["_merge"] == "both").all():
            found.append(f"every passage that {name} lists is relevant: were others left out?")
    return [core.notes.Note("instrument", " ".join(found[:3]))] if found else []


def _short(runs: Mapping[str, pd.DataFrame], k: int) -> list[core.notes.Note]:
    longest = max((int(run.groupby("id").size().max()) for run in runs.values() if len(run)), default=k)
    if longest >= k:
        return []
    return [
        core.notes.Note(
            "sample",
            f"no list has more than {core.counted(longest, 'passage')}, so that nothing is known of the first {k}",
        )
    ]
