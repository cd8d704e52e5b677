"""How many trials of each agent have no mark, or are not there at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from evalbench import core


class Lacking(NamedTuple):
    """Trials of an agent: with a mark, without one, and those that are not in the tables though other tasks have them.

    - ``trials``: How many each task is taken to have.
    """

    scored: int
    unmarked: int
    absent: int
    trials: int

    @property
    def of(self) -> int:
        return self.scored + self.unmarked + self.absent

    @property
    def share(self) -> float:
        """Of all, those of which nothing is known."""
        return (self.unmarked + self.absent) / max(self.of, 1)

    def in_words(self, no: str = "mark") -> str:
        """Why so many are not known, a clause.

        Examples
        --------
        >>> Lacking(60, 14, 16, 3).in_words(), Lacking(74, 0, 16, 3).in_words()
        ('30 of 90 trials have no mark or are absent', '16 of 90 trials are absent')
        """
        many = self.unmarked + self.absent
        why = [f"{'has' if many == 1 else 'have'} no {no}"] * bool(self.unmarked)
        why += [f"{'is' if many == 1 else 'are'} absent"] * bool(self.absent)
        return f"{core.wording.count(many)} of {core.counted(self.of, 'trial')} {' or '.join(why)}"


def lacking(items: pd.DataFrame) -> Mapping[str, Lacking]:
    """Agent → what is known of its trials, from items, or from a row for each trial.

    A task is taken to have as many trials as most tasks of the agent have, and, of an agent whose tasks differ, at least as many as
    most tasks of all agents: what failed by a crash is often just not there.

    Examples
    --------
    >>> items = pd.DataFrame({"id": ["a", "b", "c"], "model": "oak", "unscored": ["", "", "no-value"], "n_trials": [3, 3, 1], "n_trials_lost": [1, 0, 1]})
    >>> lacking(items)["oak"]
    Lacking(scored=5, unmarked=2, absent=2, trials=3)
    """
    if "n_trials" not in items:  # a row for each trial
        lost = items.assign(n_trials_lost=(items["unscored"] != "").astype(int))
        each = lost.groupby(["id", "model"], sort=False)["n_trials_lost"]
        items = each.agg(n_trials="size", n_trials_lost="sum").reset_index()
    usual = _most(items["n_trials"])
    out = {}
    for model, own in items.groupby("model", sort=True):
        n = own["n_trials"]
        trials = int(n.iloc[0]) if n.nunique() == 1 else max(_most(n), usual)
        unmarked = int(own["n_trials_lost"].sum())
        out[str(model)] = Lacking(int(n.sum()) - unmarked, unmarked, int((trials - n).clip(lower=0).sum()), trials)
    return out


def _most(counts: pd.Series) -> int:
    return int(counts.mode().max())
