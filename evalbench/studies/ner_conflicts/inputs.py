"""Texts and predicted strings, checked, as arrays of codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers


class Predictions(NamedTuple):
    """What was predicted of which texts.

    - ``texts``: By id.
    - ``models``, ``classes``, ``entities``: The names of the codes below; ascending.
    - ``text``, ``model``, ``kind``, ``entity`` ((n,) arrays of int): One code per prediction.
    """

    texts: pd.DataFrame
    models: tuple[str, ...]
    classes: tuple[str, ...]
    entities: tuple[str, ...]
    text: core.arrays.Indices
    model: core.arrays.Indices
    kind: core.arrays.Indices
    entity: core.arrays.Indices


def texts_of(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables, where the predictions carry their text in a column ``text`` that has no table of its own."""
    rows = frames.get("predictions")
    if rows is None or "texts" in frames or not {"text_id", "text"} <= set(rows.columns):
        return dict(frames)
    lang = ["lang"] if "lang" in rows else []
    texts = rows[["text_id", "text", *lang]]
    named = texts["text_id"].map(str)
    doubled = named.duplicated() & ~texts.map(str).duplicated()
    if doubled.any():
        faults = [f"text_id {name}" for name in dict.fromkeys(named[doubled])]
        raise errors.BadInput.listing("column text of the predictions: these ids come with several texts:", faults)
    return {**frames, "predictions": rows.drop(columns=["text", *lang]), "texts": texts[~named.duplicated()]}


def prepare(data: readers.Dataset) -> Predictions:
    """The checked predictions of a data set.

    Raises ``BadInput`` if the predictions have places, name texts that are not there, or hold blank strings: all at
    once.
    """
    rows, texts = data["predictions"], data["texts"].sort_values("text_id", ignore_index=True)
    if {"start", "end"} <= set(rows.columns) and (rows[["start", "end"]] != "").all(axis=1).any():
        raise errors.BadInput(
            "the predictions have places (columns start, end), so there is nothing to be told: judge them with the study "
            "ner_quality, against true entities; without these columns they are judged as strings"
        )
    text = pd.Index(texts["text_id"]).get_indexer(rows["text_id"])
    strangers = rows["text_id"][text < 0].unique()
    faults = [why for why in [readers.strangers.written_otherwise(strangers, texts["text_id"])] if why]
    faults += [f"no text has the text_id {name} of the predictions" for name in strangers]
    for column in ("entity", "entity_class"):
        blank = rows[column].str.strip() == ""
        if blank.any():
            shown = ", ".join(rows["text_id"][blank].unique()[:5])
            faults.append(f"column {column}: {core.counted(int(blank.sum()), 'blank cell')} (text_id {shown})")
    if faults:
        raise errors.BadInput.listing("predictions and texts:", faults)
    named = rows["model"] if "model" in rows else pd.Series(kit.collecting.UNNAMED, rows.index)
    columns = [_coded(column) for column in (named, rows["entity_class"], rows["entity"])]
    (models, model), (classes, kind), (entities, entity) = columns
    order = np.lexsort((entity, kind, model, text))
    return Predictions(texts, models, classes, entities, text[order], model[order], kind[order], entity[order])


def _coded(column: pd.Series) -> tuple[tuple[str, ...], core.arrays.Indices]:
    """The distinct texts of a column without blanks around them, ascending, and each row's number."""
    codes, names = pd.factorize(column.to_numpy(dtype=object))
    stripped = {name: name.strip() for name in names}
    ordered = sorted(set(stripped.values()))
    at = {name: i for i, name in enumerate(ordered)}
    return tuple(ordered), np.array([at[stripped[name]] for name in names], dtype=np.int64)[codes]
