"""Labels that exist already, beside the marks of a run."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.errors import BadInput
from evalbench.label.items import OF_PAIRS, PAIR
from evalbench.label.marks import Marks, chosen
from evalbench.readers.former import under_new_names


class Labels(NamedTuple):
    """What people said of each item of a run.

    - ``human`` ((n,) array): The mean of their marks, NaN for items without.
    - ``probability`` ((n,) array): With which a plan drew the item; NaN where none did.
    - ``stratum`` ((n,) array of str)
    """

    human: Floats
    probability: Floats
    stratum: npt.NDArray[np.str_]


def read_labels(path: Path, marks: Marks, *, criterion: str = "", scale: tuple[float, float] | None = None) -> Labels:
    """The mean label of each item, on the scale of the marks.

    - ``path``: As ``label merge`` writes it: ``id``, ``model``, ``mark``; of pairs of violations ``truth_id`` and
      ``prediction_id`` too; or under the names of before, ``doc_id``, ``system``, ``score``.
    - ``criterion``: Of several.
    - ``scale`` ((float, float), optional): Ends of the labels' scale, where it is not that of the marks.

    Raises ``BadInput`` if columns are missing, cells are not numbers, or no label is of an item of the run.
    """
    import pandas as pd

    from evalbench.readers.files import raw_table, read_bytes

    frame, _ = raw_table(path, read_bytes(path))
    keys = [name for name in ("id", "model", *PAIR) if name in marks.items]
    paired = set(PAIR) <= set(keys)
    if paired:
        frame = under_new_names(frame, OF_PAIRS)
    names = {"doc_id": "id", "system": "model"}
    frame = frame.rename(columns={old: new for old, new in names.items() if new not in frame})
    column = next((name for name in ("mark", "score", "label") if name in frame), "")
    missing = [key for key in keys if key not in frame] + ([] if column else ["mark"])
    if missing:
        raise BadInput(
            f"{path}: columns {', '.join(missing)} are missing; there are {', '.join(map(str, frame.columns))}"
        )
    if "criterion" in frame:
        frame = frame[chosen(frame, "criterion", (criterion,) if criterion else (), path)]
    cells = frame[column].map(lambda cell: "" if cell is None else str(cell).strip())
    score = pd.to_numeric(cells.where(cells != ""), errors="coerce")
    if (wrong := frame[score.isna() & (cells != "")]).size:
        raise BadInput(f"{path}: column {column}: {cells[wrong.index[0]]!r} is not a number (row {wrong.index[0]})")
    known = frame[keys].astype(str).assign(score=score.astype(float), probability=float("nan"), stratum="")
    if "probability" in frame:
        known["probability"] = pd.to_numeric(frame["probability"], errors="coerce").astype(float)
    if "stratum" in frame:
        known["stratum"] = frame["stratum"].fillna("").astype(str)
    units = pd.MultiIndex.from_frame(marks.items[keys]) if len(keys) > 1 else pd.Index(marks.items[keys[0]])
    of = known.groupby(keys).agg(
        score=("score", "mean"),
        probability=("probability", "first"),
        least=("probability", "min"),
        most=("probability", "max"),
        stratum=("stratum", "first"),
    )
    if (twice := of[of["least"] != of["most"]].dropna(subset=["least"])).size:
        raise BadInput(f"{path}: column probability: {twice.index[0]} was drawn with several probabilities")
    of = of.reindex(units)
    human, probability = of["score"].to_numpy(dtype=float), of["probability"].to_numpy(dtype=float)
    if np.isnan(human).all():
        raise BadInput(f"{path}: no label is of an item of the run (compared by {', '.join(keys)})")
    if ((probability <= 0) | (probability > 1)).any():
        raise BadInput(f"{path}: column probability: expected numbers over 0, up to 1")
    if scale is not None and not paired:
        low, high = scale
        if not low < high:
            raise BadInput(f"--label-scale {low:g} {high:g}: the first must be below the second")
        human = marks.low + (human - low) / (high - low) * (marks.high - marks.low)
    return Labels(human, probability, of["stratum"].fillna("").to_numpy(dtype=str))
