"""What judges say: one :class:`Verdict` per item and sample, and :class:`Verdicts` for all items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from evalbench.judge.entail import holds_back
from evalbench.judge.tasks import Task

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one judge said about one item.

    Attributes
    ----------
    id : str
    sample : int
        Which of several verdicts on the same item.
    label : str
        Empty where unscored.
    value : float
        The label's value; NaN where unscored.
    probability : float
        That the task's first label (ENTAILMENT, CORRECT) holds, 0–1; NaN where the judge gives none.
    reason : str
    unscored : str
        Why there is no verdict; empty where there is one.
    detail : str
        What the endpoint or the parser said about it.
    """

    id: str
    sample: int = 0
    label: str = ""
    value: float = math.nan
    probability: float = math.nan
    reason: str = ""
    unscored: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """What a judge said about all items.

    Attributes
    ----------
    judge : str
    task : Task
    rows : tuple of Verdict
        In the order of the items, samples within.
    calls : pandas.DataFrame
        A row per verdict with prompt, raw reply, tokens, seconds and cost: for ``calls.parquet``.
    accounting : mapping
        For ``run.json``.
    """

    judge: str
    task: Task
    rows: tuple[Verdict, ...]
    calls: pd.DataFrame
    accounting: Mapping[str, Any] = field(default_factory=dict)

    @property
    def holds_back(self) -> bool:
        """Whether what rests on these verdicts is at best grey."""
        return holds_back(self.judge)

    def frame(self) -> pd.DataFrame:
        """One row per verdict: id, sample, label, value, probability, reason, unscored, detail."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=list(Verdict.__dataclass_fields__))


def labelled(task: Task, item_id: str, label: str, **more: Any) -> Verdict:
    """A verdict with a label of the task and its value."""
    return Verdict(id=item_id, label=label, value=task.labels[label], **more)
