"""What a study answers to a summary built by hand, see ``summaries``, of groups of any column."""

from __future__ import annotations

from typing import Any

import pandas as pd
from summaries import fig

from evalbench import studies
from evalbench.core.answer import Answer
from evalbench.core.notes import Note
from evalbench.core.result import Estimate, Summary
from evalbench.kit.answering import Facts


def est(metric: str, value: float | None, group: str = "", by: str = "model", **more: Any) -> Estimate:
    """A figure of a group; without a name of the whole."""
    return fig(metric, value, **{"group": {by: group} if group else {}, **more})


def pairs(metric: str, *rows: tuple[str, str, str], by: str = "model") -> pd.DataFrame:
    """A table of compared groups: A, B, outcome."""
    table = pd.DataFrame(rows, columns=[f"{by}_a", f"{by}_b", "outcome"])
    return table.assign(metric=metric, unit="0–1", difference=0.2)


def absent(text: str) -> Note:
    return Note("absent", f"{text}, left out")


def answer(study: str, own: Summary, **facts: Any) -> Answer:
    hook = studies.study(study).answer
    assert hook is not None
    return hook(own, Facts(**facts))
