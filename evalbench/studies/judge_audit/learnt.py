"""What the labels of an audit say of each judge, for studies that rest on it: ``correction.json`` and ``anchors.jsonl``."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping

import pandas as pd

from evalbench import core, readers
from evalbench.studies.judge_audit import figures, inputs, kinds, summary
from evalbench.studies.judge_audit.items import ZERO_ONE, annotators_of, correctable

FILE = "correction.json"


def files_of(
    items: pd.DataFrame,
    readings: inputs.Readings,
    data: core.result.DataLabel,
    versions: Mapping[str, str] | None = None,
    judged_at: str = "",
) -> dict[str, bytes]:
    """The corrections of the judges, and the labelled answers as anchors; neither where it would be empty.

    - ``versions``: Judge → the model as its endpoint named it, of the judge that was asked now.
    - ``judged_at``: The name of the judging.
    """
    if kinds.kinds_of(readings.verdicts):  # a place among the kinds of one table means nothing in another
        return {}
    return {**_corrections(items, readings, data), **_anchors(items, readings, versions or {}, judged_at)}


def _anchors(
    items: pd.DataFrame, readings: inputs.Readings, versions: Mapping[str, str], judged_at: str
) -> dict[str, bytes]:
    """Every labelled answer with the mark that each judge gave it, and how this judge was asked."""
    key = ["judge", *readers.anchors.KEYS]
    plain = readings.verdicts[readings.verdicts["probe"] == ""]
    texts = plain[key].assign(**plain[["prompt", "answer"]].astype(object).fillna("").astype(str))
    asked = texts.groupby(key).max().reset_index().rename(columns={"judge": "asked"})
    labelled = items[items["human"].notna()].sort_values(["asked", *readers.anchors.KEYS], kind="stable")
    columns = ["asked", *readers.anchors.KEYS, "human", "mark"]
    found = labelled[columns].merge(asked, on=columns[:-2], how="left").fillna({"prompt": "", "answer": ""})
    rows = [
        {
            **{name: str(row[name]) for name in readers.anchors.KEYS},
            "label": float(row["human"]),
            "mark": None if math.isnan(row["mark"]) else float(row["mark"]),
            "judge": str(row["asked"]),
            "prompt": str(row["prompt"]),
            "version": versions.get(row["asked"], ""),
            "judged_at": judged_at if row["asked"] in versions else "",
            "answer": hashlib.sha256(str(row["answer"]).encode()).hexdigest()[:16] if row["answer"] else "",
        }
        for row in found.to_dict("records")
    ]
    return {readers.anchors.FILE: readers.anchors.written(rows)} if rows else {}


def _corrections(items: pd.DataFrame, readings: inputs.Readings, data: core.result.DataLabel) -> dict[str, bytes]:
    """The file, bound to judge, prompts and population; none where under :data:`LEAST` answers have both a mark and a label."""
    verdicts, found = readings.verdicts, []
    for criterion, of in items.groupby(inputs.CRITERION, sort=True):
        known = of[["mark", "human"]].to_numpy(dtype=float)
        known = known[known == known]
        ends = (
            (0.0, 1.0)
            if (of["scale"] == ZERO_ONE).all() or not len(known)
            else (float(known.min()), float(known.max()))
        )
        for asked, rows in of.groupby("asked", sort=True):
            if not figures.has_rates(rows):
                continue
            rows = correctable(rows)
            both = rows[rows["mark"].notna() & rows["human"].notna()].sort_values(["id", "model", "trial"])
            if len(both) < summary.LEAST or not ends[0] < ends[1]:
                continue
            prompts = verdicts.loc[(verdicts["judge"] == asked) & (verdicts[inputs.CRITERION] == criterion), "prompt"]
            models = sorted({str(m) for m in rows.loc[rows["mark"].notna(), "model"].unique() if m})
            found.append(
                readers.corrections.Learnt(
                    judge=str(asked),
                    criterion=str(criterion),
                    judged=tuple(both["mark"].tolist()),
                    human=tuple(both["human"].tolist()),
                    prompts=tuple(sorted({str(p) for p in prompts.unique() if p})),
                    population={"name": data.name, "version": data.version, "sha256": data.sha256, "models": models},
                    scale=ends,
                    annotators=int(both[[*annotators_of(both)]].notna().any(axis=0).sum()),
                )
            )
    return {FILE: readers.corrections.written(found)} if found else {}
