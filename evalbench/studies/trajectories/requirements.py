"""Requirements of a task: met for themselves, and together with all that they need."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from evalbench import errors
from evalbench.metrics import trajectories as metrics
from evalbench.studies.trajectories.inputs import RUN

COLUMNS = ("n_listed", "n_required", "n_met", "n_met_with_needs", "all_met")


def counted(requirements: pd.DataFrame | None, runs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The requirements of trajectories, and their counts.

    Parameters
    ----------
    requirements : DataFrame or None
        The table, its ``id``, ``model`` and ``trial`` there and texts.
    runs : DataFrame
        The names of the trajectories, and ``run``.

    Returns
    -------
    listed : DataFrame
        ``run``, ``requirement``, ``needs``, ``met``, ``met_with_needs``; those without a mark have no value.
    counts : DataFrame
        In the order of ``runs``: the columns of :data:`COLUMNS`; but for ``n_listed`` NaN where a trajectory has no requirement or one without a mark.

    Raises
    ------
    BadInput
        Lists trajectories whose requirements need what does not exist, or each other, and those that have no step and no outcome.
    """
    columns = ["run", "requirement", "needs", "met", "met_with_needs"]
    if requirements is None:
        nothing = pd.DataFrame({name: np.full(len(runs), np.nan) for name in COLUMNS})
        return pd.DataFrame(columns=columns), nothing
    own = requirements.merge(runs[[*RUN, "run"]], on=list(RUN), how="left")
    faults = [f"{strange}: no step and no outcome" for strange in own.loc[own["run"].isna(), "id"].unique()]
    known = own.dropna(subset="run").astype({"run": int}).sort_values(["run", "requirement"], ignore_index=True)
    with_needs = np.full(len(known), np.nan)
    for _, rows in known.groupby("run", sort=True):
        faults += _filled(str(known["id"][rows.index[0]]), rows, with_needs)
    if faults:
        raise errors.BadInput.listing("requirements:", list(dict.fromkeys(faults)))
    listed = known.assign(met_with_needs=with_needs)[columns]
    return listed.assign(needs=[", ".join(map(str, names or ())) for names in listed["needs"]]), _counts(
        listed, len(runs)
    )


def _filled(task: str, rows: pd.DataFrame, with_needs: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Iterator[str]:
    """Fill in which requirements of one trajectory are met with all that they need; what is wrong with them."""
    met = {name: mark == 1 for name, mark in zip(rows["requirement"], rows["met"], strict=True)}
    needs = {name: [str(n) for n in own or ()] for name, own in zip(rows["requirement"], rows["needs"], strict=True)}
    try:
        found = metrics.met_with_needs(met, needs)
    except errors.BadInput as error:
        yield f"{task}: {error}"
        return
    with_needs[rows.index] = np.where(rows["met"].notna(), [found[name] for name in rows["requirement"]], np.nan)


def _counts(listed: pd.DataFrame, n: int) -> pd.DataFrame:
    each = listed.groupby("run")
    whole = each["met"].apply(lambda own: own.notna().all()).reindex(range(n)).eq(True).to_numpy()
    sums = [each.size(), each.size(), each["met"].sum(), each["met_with_needs"].sum(), each["met"].min()]
    return pd.DataFrame(
        {
            name: np.where(whole | (name == "n_listed"), own.reindex(range(n)).to_numpy(dtype=float), np.nan)
            for name, own in zip(COLUMNS, sums, strict=True)
        }
    )
