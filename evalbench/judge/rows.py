"""What judges say: one :class:`Judgement` per item and sample, and :class:`Judgements` for all items."""

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
class Judgement:
    """What one judge said about one item.

    Attributes
    ----------
    sample : int
        Which of several verdicts on the same item.
    label : str
        Empty where unscored.
    value : float
        The label's value; NaN where unscored.
    probability : float
        That the task's first label (ENTAILMENT, CORRECT) holds, 0–1; NaN where the judge gives none.
    probabilities : tuple of float
        Of all the task's labels in their order, where the judge gives them; else empty.
    parts : mapping
        What else the reply holds, as the task says; empty where unscored.
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
    probabilities: tuple[float, ...] = ()
    reason: str = ""
    parts: Mapping[str, Any] = field(default_factory=dict)
    unscored: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Judgements:
    """What a judge said about all items.

    Attributes
    ----------
    rows : tuple of Judgement
        In the order of the items, samples within.
    calls : pandas.DataFrame
        A row per verdict with prompt, raw reply, tokens, seconds and cost: for ``calls.parquet``.
    accounting : mapping
        For ``run.json``.
    """

    judge: str
    task: Task
    rows: tuple[Judgement, ...]
    calls: pd.DataFrame
    accounting: Mapping[str, Any] = field(default_factory=dict)

    @property
    def holds_back(self) -> bool:
        """Whether what rests on these verdicts is at best grey."""
        return holds_back(self.judge)

    def frame(self) -> pd.DataFrame:
        """One row per verdict: id, sample, label, value, probability, probabilities, reason, parts, unscored, detail."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=list(Judgement.__dataclass_fields__))


def labelled(task: Task, item_id: str, label: str, **more: Any) -> Judgement:
    """A verdict with a label of the task and its value; no label where the task has none."""
    return Judgement(id=item_id, label=label, value=task.labels.get(label, math.nan), **more)
