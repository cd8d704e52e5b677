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
    """The tables, where texts list what was predicted, or predictions carry their text in a column ``text`` without a table."""
    rows = frames.get("predictions")
    if rows is not None and (listing := readers.entities.lists_in(rows)):
        return dict(frames) | _listed(rows, listing, "texts" in frames)
    if rows is None or "texts" in frames or not {"id", "text"} <= set(rows.columns):
        return dict(frames)
    lang = ["lang"] if "lang" in rows else []
    texts = rows[["id", "text", *lang]]
    texts.attrs = {key: value for key, value in rows.attrs.items() if key != "notes"}
    named = texts["id"].map(str)
    doubled = named.duplicated() & ~texts.map(str).duplicated()
    if doubled.any():
        faults = [f"id {name}" for name in dict.fromkeys(named[doubled])]
        raise errors.BadInput.listing("column text of the predictions: these ids come with several texts:", faults)
    return {**frames, "predictions": rows.drop(columns=["text", *lang]), "texts": texts[~named.duplicated()]}


def _listed(frame: pd.DataFrame, listing: Mapping[str, pd.Series], texts_known: bool) -> dict[str, pd.DataFrame]:
    """One row per predicted string of texts that list them, and the texts."""
    sides = readers.sides.sides_of(list(listing), "entities", ("gold", "predictions"))
    found = sides.found if sides else tuple(listing)
    readers.spans.without_nulls({name: listing[name] for name in found}, "predictions")
    texts = readers.spans.texts_in(frame)
    shared = texts[["id"]].assign(**({"model": frame["model"]} if "model" in frame else {}))
    several = len(found) > 1
    parts = [readers.spans.rows_of(listing[name], shared.assign(model=name) if several else shared) for name in found]
    rows = pd.concat(parts).dropna(axis="columns", how="all")
    rows = rows.assign(
        **{c: pd.Series(dtype=object) for c in ("entity_class", "entity") if c not in rows and not len(rows)}
    )
    said = f"predicted strings were read of the lists of {', '.join(found)}"
    rows.attrs["notes"] = [*frame.attrs.get("notes", ()), said, *texts.attrs["notes"]]
    if several or "model" in frame:
        named = found if several else frame["model"]
        rows.attrs[readers.schema.SYSTEMS] = tuple(dict.fromkeys(map(str, named)))
    out = {"predictions": rows}
    if "text" in texts and not texts_known:
        out["texts"] = pd.DataFrame(texts.drop_duplicates("id"))
        out["texts"].attrs = {}
    return out


def prepare(data: readers.Dataset) -> Predictions:
    """The checked predictions of a data set.

    Raises ``BadInput`` if the predictions have places, name texts that are not there, or hold blank strings: all at
    once.
    """
    rows, texts = data["predictions"], data["texts"].sort_values("id", ignore_index=True)
    if {"start", "end"} <= set(rows.columns) and (rows[["start", "end"]] != "").all(axis=1).any():
        raise errors.BadInput(
            "the predictions have places (columns start, end), so there is nothing to be told: judge them with the study "
            "ner_quality, against true entities; without these columns they are judged as strings"
        )
    text = pd.Index(texts["id"]).get_indexer(rows["id"])
    strangers = rows["id"][text < 0].unique()
    faults = [why for why in [readers.strangers.written_otherwise(strangers, texts["id"])] if why]
    faults += [f"no text has the id {name} of the predictions" for name in strangers]
    for column in ("entity", "entity_class"):
        blank = rows[column].str.strip() == ""
        if blank.any():
            shown = ", ".join(rows["id"][blank].unique()[:5])
            faults.append(f"column {column}: {core.counted(int(blank.sum()), 'blank cell')} (id {shown})")
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
