"""Several judges on the same items: what they say together, and how far they agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evalbench.core.agreement import krippendorff_alpha
from evalbench.core.stats import Measured
from evalbench.errors import BadInput
from evalbench.judge.rows import Judgements
from evalbench.judge.tasks import Task
from evalbench.judge.verdicts import InProcess, Recording, judge, judge_name

if TYPE_CHECKING:
    import pandas as pd

By = str | Recording | InProcess
How = Literal["majority", "mean"]


@dataclass(frozen=True, kw_only=True)
class Decided:
    """What the panel says of one item.

    Attributes
    ----------
    label : str
        The majority's; empty for a mean, a tie, or where unscored.
    value : float
        The majority's value or the mean of the values; NaN where there is none.
    votes : mapping of str to str
        Each judge's label; of a judge without a verdict none.
    tied : bool
        Several labels have most votes.
    unscored : str
        Why there is no value; empty where there is one.
    """

    id: str
    label: str = ""
    value: float = math.nan
    votes: Mapping[str, str]
    tied: bool = False
    unscored: str = ""


@dataclass(frozen=True)
class Panel:
    """All items, in their order; each judge's verdicts; Krippendorff's alpha among the judges."""

    rows: tuple[Decided, ...]
    judges: tuple[Judgements, ...]
    agreement: Measured

    def frame(self) -> pd.DataFrame:
        """One row per item: id, label, value, votes, tied, unscored."""
        import pandas as pd

        return pd.DataFrame([vars(row) for row in self.rows], columns=list(Decided.__dataclass_fields__))


def panel(
    items: Sequence[Mapping[str, Any]],
    *,
    by: Sequence[By],
    task: str | Task,
    how: How = "majority",
    seed: int = 0,
    n_resamples: int = 2000,
    **options: Any,
) -> Panel:
    """Ask several judges, and take the majority of their labels or the mean of their values.

    A tie of labels has no value: it is ``tied``, not a coin's choice.  A judge without a verdict on an item has no vote on it.
    How much a panel is worth beside its best judge is another question, see :func:`evalbench.core.panels.effective_judges`.

    Parameters
    ----------
    items, task, options
        As in :func:`evalbench.judge.verdicts.judge`.
    by : sequence of str, Recording or callable
        Two judges at least, with different names.
    how : {"majority", "mean"}
        ``mean`` for marks.
    seed, n_resamples : int
        Of the agreement's interval.

    Returns
    -------
    Panel
        ``agreement`` is Krippendorff's alpha: nominal for a majority, interval for a mean.

    Raises
    ------
    BadInput
        For fewer than two judges, judges of one name, an unknown ``how``, or as :func:`evalbench.judge.verdicts.judge` does.

    Examples
    --------
    >>> def strict(item):
    ...     return "INCORRECT"
    >>> def kind(item):
    ...     return "CORRECT"
    >>> def kindly(item):
    ...     return "CORRECT"
    >>> item = {"id": "1", "question": "Capital of France?", "gold": "Paris", "answer": "Paris."}
    >>> panel([item], by=[strict, kind, kindly], task="correctness").rows[0].label
    'CORRECT'
    """
    names = [judge_name(one) for one in by]
    faults = ["a panel needs two judges at least"] * (len(by) < 2)
    faults += [f"two judges are called {name!r}" for name, count in Counter(names).items() if count > 1]
    faults += [f"how is {how!r}; expected majority or mean"] * (how not in ("majority", "mean"))
    if faults:
        raise BadInput.listing("the panel cannot judge:", faults)
    heard = tuple(judge(items, by=one, task=task, seed=seed, **options) for one in by)
    votes = [{row.id: row for row in found.rows if row.sample == 0} for found in heard]
    rows = []
    for item in items:
        said = {name: of[item["id"]] for name, of in zip(names, votes, strict=True)}
        given = {name: row for name, row in said.items() if not row.unscored}
        labels = {name: row.label for name, row in given.items()}
        if not given:
            rows.append(Decided(id=item["id"], votes={}, unscored=next(iter(said.values())).unscored))
        elif how == "mean":
            rows.append(
                Decided(id=item["id"], votes=labels, value=float(np.mean([row.value for row in given.values()])))
            )
        else:
            rows.append(_majority(item["id"], labels, {row.label: row.value for row in given.values()}))
    marks = [[of[item["id"]].value if how == "mean" else of[item["id"]].label for item in items] for of in votes]
    alpha = krippendorff_alpha(
        np.tile([item["id"] for item in items], len(by)),
        np.concatenate(marks) if items else np.empty(0),
        "interval" if how == "mean" else "nominal",
        seed=seed,
        n_resamples=n_resamples,
    )
    return Panel(tuple(rows), heard, alpha)


def _majority(name: str, labels: Mapping[str, str], values: Mapping[str, float]) -> Decided:
    counts = Counter(labels.values()).most_common()
    tied = len(counts) > 1 and counts[0][1] == counts[1][1]
    label = "" if tied else counts[0][0]
    return Decided(id=name, label=label, value=values.get(label, math.nan), votes=labels, tied=tied)
