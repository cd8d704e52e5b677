"""Which columns of steps the study carries from part to part."""

from __future__ import annotations

import pandas as pd

from evalbench import load
from evalbench.studies import trajectories
from evalbench.studies.trajectories import inputs

ROWS = [("a", 1, "call", "find", "1"), ("a", 2, "result", "find", ""), ("b", 1, "call", "pay", "0")]


def _data(**more: list[float] | list[str]):
    steps = pd.DataFrame(ROWS, columns=["id", "step", "kind", "name", "mark"]).assign(**more)
    return load({"steps": steps}, study="trajectories")


def test_only_columns_that_a_figure_reads_are_carried():
    carried = set(inputs.given(_data(parent=["", "1", ""], seconds=[1.0, 2.0, 4.0])).steps)
    assert carried >= {"run", "step", "kind", "name", "text", "seconds"}
    assert not carried & {"mark", "time", "parent", "tokens", "cost"}


def test_what_no_column_says_is_not_known_and_what_one_says_is_summed():
    items = trajectories.evaluate(_data(seconds=[1.0, 2.0, 4.0]), n_resamples=10).items.sort_values("id")
    assert items["seconds"].tolist() == [3.0, 4.0]
    assert items[["tokens", "cost"]].isna().all(axis=None)
    assert items["success"].tolist() == [1.0, 0.0]
