"""What a study makes of its rows before anything is averaged over them: of all rows, or of a part of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.result import Stored
from evalbench.kit.judging import Heard
from evalbench.kit.trials import Trials

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.kit.stopping import Stopped
    from evalbench.readers.dataset import Dataset


@dataclass(frozen=True)
class Made:
    """What is made of rows before anything is averaged over them.

    Attributes
    ----------
    items : DataFrame
        As those of a result.
    texts : DataFrame or None
        What was judged, with the keys of the items; of a table in parts those of its sample and of the extreme items.
    tables : mapping of str to DataFrame
        Finer rows.
    notes : tuple of str
    accounting : mapping
        See :class:`evalbench.core.result.Result`.
    n : int
        All texts, or what else the items are made of.
    trials : Trials
    rows : DataFrame or None
        The items of every trial.
    judge : str
        Who was asked, if anybody was.
    sample : sequence of bool
        Which texts are of the sample that notes on writing are made of: of a table in one piece all.
    stored : mapping of str to Stored
        Tables that are larger on disk than in memory.
    numbered : str
        The column of the tables in which what ``n`` counts is numbered from 0.
    nested : mapping of str to sequence of str
        Table → its columns of lists and objects, as JSON has them.
    data : Dataset or None
        The tables that the items were made of, if they are others than were given; of those in parts the names, clusters and slices of all
        rows alone.
    sums : mapping
        Counts that add up over parts, by name, or mappings of such counts: what notes rest on.
    larger : sequence of str
        The tables of which, joined, only the rows of cases that may be shown are in memory; all are ``stored``.
    orders : mapping of str to sequence of float
        What cases are shown by beside their scores, of each of the rows of trials, or of the items where there are none.
    prompts : tuple of str
        The hashes of the prompts that the judge was asked with, see :func:`prompts_of`.
    stopped : Stopped or None
        Where asking stopped early, of tables in one piece.
    """

    items: pd.DataFrame
    texts: pd.DataFrame | None = None
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    accounting: Mapping[str, Any] = field(default_factory=dict)
    n: int = 0
    trials: Trials = field(default_factory=Trials)
    rows: pd.DataFrame | None = None
    judge: str = ""
    sample: Sequence[bool] | None = None
    stored: Mapping[str, Stored] = field(default_factory=dict)
    numbered: str = ""
    nested: Mapping[str, Sequence[str]] = field(default_factory=dict)
    data: Dataset | None = None
    sums: Mapping[str, Any] = field(default_factory=dict)
    larger: Sequence[str] = ()
    orders: Mapping[str, Sequence[float]] = field(default_factory=dict)
    prompts: tuple[str, ...] = ()
    stopped: Stopped | None = None

    def heard(self) -> list[Heard]:
        """The judge with its prompts, for a correction."""
        import pandas as pd

        calls = pd.DataFrame({"prompt_hash": self.prompts})
        return [Heard(self.judge, (), (calls,), {})] if self.judge else []

    def stored_as(self, name: str) -> dict[str, Stored]:
        """What is ``stored``, the texts under the name of a study's table of them."""
        return {name if own == "texts" else own: kept for own, kept in self.stored.items()}

    @property
    def is_sample(self) -> bool:
        """Whether notes on writing are of some of the texts."""
        return self.sample is not None and not all(self.sample)

    @property
    def sampled(self) -> pd.DataFrame:
        """The texts that notes on writing are made of."""
        assert self.texts is not None
        return self.texts if self.sample is None else self.texts[np.asarray(self.sample)].reset_index(drop=True)


Make = Callable[["Dataset", Mapping[str, Any]], Made]


def prompts_of(heard: Heard) -> tuple[str, ...]:
    """The hashes of the prompts that a judge was asked with."""
    found = (prompt for calls in heard.calls for prompt in calls.get("prompt_hash", ()))
    return tuple(dict.fromkeys(prompt for prompt in found if isinstance(prompt, str) and prompt))
