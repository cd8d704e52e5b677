"""Samples of items."""

from __future__ import annotations

import pandas as pd
import pytest

from evalbench.errors import BadInput
from evalbench.kit.sampling import sample_ids, sampled

IDS = [f"i{n}" for n in range(20)]


def test_a_random_sample_depends_on_ids_and_state_alone() -> None:
    drawn = sample_ids(IDS, "random", 5, 3)
    assert len(drawn) == 5
    assert drawn == sorted(drawn, key=IDS.index)
    assert set(sample_ids(IDS[::-1], "random", 5, 3)) == set(drawn)
    assert set(sample_ids(IDS, "random", 5, 4)) != set(drawn)


def test_both_faults_are_refused_at_once() -> None:
    with pytest.raises(
        BadInput, match=r"(?s)sample_method must be one of first, random; got 'last'.*n_samples must be at least 0"
    ):
        sample_ids(IDS, "last", -1, 0)


@pytest.mark.parametrize("n", [0, 20, 99])
def test_all_are_taken_where_as_many_are_wanted(n: int) -> None:
    assert sample_ids(IDS, "random", n, 0) == IDS


def test_all_rows_of_a_sampled_id_are_kept_in_their_order() -> None:
    frame = pd.DataFrame({"id": ["b", "a", "b", "c"], "model": ["m", "m", "n", "m"]})
    assert sampled(frame, "first", 1, 0).to_dict("list") == {"id": ["b", "b"], "model": ["m", "n"]}
