"""What the labels of an audit say of each judge, for studies that rest on it: ``correction.json``."""

from __future__ import annotations

import pandas as pd

from evalbench import core, readers
from evalbench.studies.judge_audit.inputs import CRITERION, Readings
from evalbench.studies.judge_audit.items import ZERO_ONE, annotators_of
from evalbench.studies.judge_audit.summary import LEAST

FILE = "correction.json"


def files_of(items: pd.DataFrame, readings: Readings, data: core.result.DataLabel) -> dict[str, bytes]:
    """The file, bound to judge, prompts and population; none where under :data:`LEAST` answers have both a mark and a label."""
    verdicts, found = readings.verdicts, []
    for criterion, of in items.groupby(CRITERION, sort=True):
        known = of[["mark", "human"]].to_numpy(dtype=float)
        known = known[known == known]
        ends = (
            (0.0, 1.0)
            if (of["scale"] == ZERO_ONE).all() or not len(known)
            else (float(known.min()), float(known.max()))
        )
        for asked, rows in of.groupby("asked", sort=True):
            both = rows[rows["mark"].notna() & rows["human"].notna()].sort_values(["id", "model", "trial"])
            if len(both) < LEAST or not ends[0] < ends[1]:
                continue
            prompts = verdicts.loc[(verdicts["judge"] == asked) & (verdicts[CRITERION] == criterion), "prompt"]
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
