"""From checked tables to one row per document and system: texts, metric columns, human scores by annotator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalbench.errors import BadInput
from evalbench.readers.dataset import Dataset
from evalbench.studies.human_correlation.analysis import NO_METRIC
from evalbench.studies.human_correlation.pairs import compared_outputs, share_won

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["doc_id", "system"]
# With more annotators than this, the k-th rating of each output stands for annotator k.
MANY_ANNOTATORS = 12


@dataclass(frozen=True)
class Readings:
    """What people and ready-made metrics said.

    Attributes
    ----------
    frame : DataFrame
        One row per document and system, in that order; texts and ready-made metric columns.
    ratings : DataFrame
        doc_id, system, criterion, annotator, score; no gaps.
    criteria : tuple of str
    notes : tuple of str
    pairs : DataFrame or None
        doc_id, better, worse (systems), criterion, annotator, where people compared outputs.
    """

    frame: pd.DataFrame
    ratings: pd.DataFrame
    criteria: tuple[str, ...]
    notes: tuple[str, ...] = ()
    pairs: pd.DataFrame | None = None


def read(data: Dataset, metrics: Sequence[str], criteria: Sequence[str]) -> Readings:
    """Bring any shape of human scores to one.

    Parameters
    ----------
    data : Dataset
        Table ``items``, with one column per criterion, or long with ``annotator, criterion, score``; or table ``ratings``.
        Pairs: table ``pairs``, or ``items`` with the texts ``better`` and ``worse``; an output's score is then the share
        of its comparisons that it won.
    metrics : sequence of str
        Those that are columns of the table are read as numbers.
    criteria : sequence of str
        By default all of a long form.

    Raises
    ------
    BadInput
        All faults at once: missing or non-numeric columns, repeated rows, criteria without any score.
    """
    items = data["items"].copy()
    faults: list[str] = []
    items, pairs = compared_outputs(items, data.get("pairs"), metrics, faults)
    if "system" not in items:
        items["system"] = ""
    for name in [m for m in metrics if m in items.columns]:
        items[name] = numbers(items[name], name, faults)
    ratings, form = _ratings(data, items, criteria, metrics, faults, pairs)
    if faults:
        raise BadInput.listing("human scores:", faults)
    asked = {*criteria, *([] if pairs is None else pairs["criterion"])}
    used = (*criteria, *sorted(asked - set(criteria))) if criteria else tuple(sorted(ratings["criterion"].unique()))
    ratings = ratings[ratings["criterion"].isin(used)].dropna(subset=["score"])
    faults += [] if used else ["there is no human score"]
    faults += [f"criterion {c}: no score" for c in used if c not in set(ratings["criterion"])]
    repeated = ratings.duplicated([*KEYS, "criterion", "annotator"], keep=False)
    if repeated.any():
        first = ratings[repeated].iloc[0]
        faults.append(
            f"{int(repeated.sum())} scores stand twice for the same document, system, criterion and annotator, "
            f"first {first['doc_id']}, {first['system'] or 'no system'}, {first['criterion']}"
        )
    frame = items.drop_duplicates(KEYS) if form == "long" else items
    doubled = frame.duplicated(KEYS, keep=False)
    if doubled.any():
        faults.append(f"{int(doubled.sum())} rows share doc_id and system, first {frame[doubled].iloc[0]['doc_id']}")
    strangers = set(map(tuple, ratings[KEYS].to_numpy())) - set(map(tuple, frame[KEYS].to_numpy()))
    if strangers:
        faults.append(
            f"table {'ratings' if pairs is None else 'ratings or pairs'}: {len(strangers)} documents and systems are not in "
            f"items, first {min(strangers)}"
        )
    if faults:
        raise BadInput.listing("human scores:", faults)
    ratings, notes = _few_annotators(ratings)
    return Readings(frame.sort_values(KEYS, kind="stable", ignore_index=True), ratings, used, notes, pairs)


def _ratings(
    data: Dataset,
    items: pd.DataFrame,
    criteria: Sequence[str],
    metrics: Sequence[str],
    faults: list[str],
    pairs: pd.DataFrame | None,
) -> tuple[pd.DataFrame, str]:
    """All human scores in long form, and the shape that they came in."""
    import pandas as pd

    if pairs is not None:
        won = share_won(pairs)
        by_columns = [c for c in criteria if c in items.columns or c not in set(won["criterion"])]
        scored = data.get("ratings") is not None or {"criterion", "score"} <= set(items.columns)
        if not (scored or by_columns):
            return won, "pairs"
        rest, form = _ratings(data, items, by_columns, metrics, faults, None)
        return pd.concat([rest, won[~won["criterion"].isin(rest["criterion"])]]), form
    columns = [*KEYS, "criterion", "annotator", "score"]
    separate = data.get("ratings")
    if separate is not None:
        found = separate.copy()
        found["system"] = found.get("system", "")
        return found[columns], "separate"
    if {"criterion", "score"} <= set(items.columns):
        found = items.assign(annotator=items.get("annotator", ""))
        return found[columns], "long"
    if not criteria:
        faults.append("name the criteria: the table has neither criterion and score columns nor a table ratings")
    found = []
    for name in criteria:
        if name not in items.columns:
            faults.append(f"criterion {name}: no such column; there are {', '.join(map(str, items.columns))}")
            continue
        if name in metrics:
            faults.append(f"column {name} is named as a metric and as a criterion: it would agree with itself")
        rows = items[KEYS].assign(
            criterion=name, annotator=items.get("annotator", ""),
            score=numbers(items[name], name, faults),
        )  # fmt: skip
        found.append(rows[columns])
    empty = pd.DataFrame({c: [] for c in columns})
    return (pd.concat(found) if found else empty), "long" if "annotator" in items else "wide"


def numbers(column: pd.Series, name: str, faults: list[str]) -> np.ndarray:
    """A column as floats, NaN where empty; cells that are no number are a fault."""
    import pandas as pd

    text = column.astype(str).str.strip()
    empty = text.isin(["", "nan", "None"])
    values = pd.to_numeric(text.where(~empty), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = np.flatnonzero((~np.isfinite(values)) & ~empty.to_numpy())
    if len(wrong):
        faults.append(
            f"column {name}: {len(wrong)} cells are not numbers, first {text.iloc[wrong[0]]!r} (row {wrong[0] + 1} of the data)"
        )
    return values


def _few_annotators(ratings: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    count = ratings["annotator"].nunique()
    if count <= MANY_ANNOTATORS:
        return ratings, ()
    ordered = ratings.sort_values([*KEYS, "criterion", "annotator"], kind="stable")
    place = ordered.groupby([*KEYS, "criterion"], sort=False).cumcount() + 1
    note = f"{count} annotators: the k-th rating of each output, by annotator's name, stands for annotator k"
    return ordered.assign(annotator=place.map("rating {:02d}".format)), (note,)


def items_of(
    readings: Readings,
    scores: Mapping[str, np.ndarray],
    unscored: Mapping[str, np.ndarray],
    undefined: Mapping[str, np.ndarray] | None = None,
    own: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """One row per document, system, metric and criterion: everything that the figures need.

    Parameters
    ----------
    readings : Readings
    scores : dict
        Metric → one score per row of ``readings.frame``.
    unscored : dict
        Metric → why a score is missing, empty where it is not the instrument's fault.
    undefined : dict, optional
        Metric → why there is no score to be had, e.g. ``no-reference``.
    own : mapping, optional
        Metric → the only criterion that it is compared with.

    Returns
    -------
    DataFrame
        Without metrics: one row per document, system and criterion, of no scorer.
    """
    import pandas as pd

    by_annotator = readings.ratings.pivot(index=[*KEYS, "criterion"], columns="annotator", values="score")
    by_annotator.columns = [f"rating_{name}" for name in by_annotator.columns]
    frame = readings.frame[KEYS]
    parts = []
    for criterion in readings.criteria:
        human = frame.merge(
            by_annotator.xs(criterion, level="criterion") if len(by_annotator) else by_annotator,
            left_on=KEYS, right_index=True, how="left",
        )  # fmt: skip
        mean = human[list(by_annotator.columns)].mean(axis=1).to_numpy()
        if not scores:
            nothing = human.assign(scorer=NO_METRIC, criterion=criterion, score=np.nan, human=mean, unscored="")
            parts.append(nothing.assign(undefined=np.where(np.isnan(mean), "no-reference", "")))
        for scorer in (name for name in scores if (own or {}).get(name, criterion) == criterion):
            reason = np.asarray(unscored[scorer], dtype=object)
            given = (undefined or {}).get(scorer, np.full(len(frame), "", dtype=object))
            why = np.where(given == "", "the metric has no value", given)
            missing = np.where(np.isnan(mean), "no-reference", np.where(np.isnan(scores[scorer]), why, ""))
            parts.append(
                human.assign(
                    scorer=scorer,
                    criterion=criterion,
                    score=scores[scorer],
                    human=mean,
                    unscored=reason,
                    undefined=np.where(reason == "", missing, ""),
                )
            )
    items = pd.concat(parts, ignore_index=True)
    first = [*KEYS, "scorer", "criterion", "score", "human"]
    ordered = items[[*first, *by_annotator.columns, "unscored", "undefined"]]
    return ordered.sort_values(["doc_id", "scorer", "criterion", "system"], kind="stable", ignore_index=True)
