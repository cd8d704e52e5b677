"""Verdicts whose rows say which person gave the mark beside them: as verdicts and labels."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from evalbench import readers
from evalbench.readers.role_names import fit_role, roles

HUMAN = "human"


def labels_apart(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """A column of people's names beside marks makes the rows labels; the judge's marks, which stay the same, are there once.

    The people's marks are the column ``human``, or the only other one that can hold marks.
    """
    verdicts = frames.get("verdicts")
    if verdicts is None or "labels" in frames or "mark" not in verdicts or verdicts.columns.has_duplicates:
        return frames
    who, marks = _fitting(verdicts, "annotator", (0, 1)), _fitting(verdicts, "mark", (2,))
    marks = [HUMAN] if HUMAN in verdicts else marks
    if len(who) != 1 or len(marks) != 1 or not readers.role_values.is_marks(_first(verdicts, marks[0])):
        return frames
    annotator, mark = who[0], marks[0]
    labels = verdicts.drop(columns="mark").rename(columns={annotator: "annotator", mark: "mark"})
    own = {annotator: "annotator", mark: HUMAN}
    rest = verdicts.drop(columns=[annotator, mark])
    judged = rest[~rest.astype(str).duplicated()]
    source = next((s for s, to in verdicts.attrs.get(readers.roles.READ_AS, {}).items() if to == mark), mark)
    said = f"the labels in {source} were read as those of the people whom {annotator} names"
    judged = readers.roles.noted(judged, verdicts, own, [said])
    columns = [c for c in ("id", "model", "trial", "criterion", "annotator", "mark") if c in labels]
    labels = labels[columns].drop_duplicates()
    labels.attrs = {}
    return {**frames, "verdicts": judged, "labels": labels}


def _fitting(frame: pd.DataFrame, role: str, tiers: tuple[int, ...]) -> list[str]:
    names = [str(c) for c in frame.columns if fit_role(str(c), roles()[role]) in tiers]
    return [n for n in names if n != "mark"]


def _first(frame: pd.DataFrame, column: str) -> list[object]:
    return readers.role_values.first_cells(frame[column])
