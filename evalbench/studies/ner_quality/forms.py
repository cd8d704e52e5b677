"""Published forms of entities as the tables of spans: tokens with tags, brat's documents, texts that list their entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, readers
from evalbench.studies.ner_quality import documents

DOCUMENTED = ("gold", "entities", "predictions", "predicted", "predicted_entities", readers.brat.ANNOTATIONS)
"""Columns whose lists count from 0 with the end outside, as the forms that are read say."""
_TARGETS = ("gold", "predictions")


def spans_of(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Tables ``gold``, ``predictions`` and ``texts`` of whatever form the first two have; spans stay as they are.

    Raises ``BadInput`` for predicted tokens that are not as many as the true ones, lists that are not of entities, and columns
    that do not say which side they are, or from where places are counted.
    """
    out = dict(frames)
    gold = frames.get("gold")
    if gold is None:
        return out
    for name in [name for name in out if name in _TARGETS]:
        if (rows := documents.token_rows(out[name], name)) is not None:
            out[name] = rows
    if readers.tagged.TOKEN in (gold := out["gold"]):
        return out | _of_tokens(gold, out.get("predictions"), out.get("texts"))
    if "predictions" not in out and (both := _sides(gold)):
        return out | _of_both(gold, *both, "texts" in out)
    for name in [name for name in out if name in _TARGETS]:
        out[name] = readers.spans.in_columns(out[name], out.get("texts"), name)
        out |= _of_one(out[name], name, "texts" in out)
    return out


def _of_one(frame: pd.DataFrame, table: str, texts_known: bool) -> dict[str, pd.DataFrame]:
    """A table of which one column lists entities, as one row per entity, and its texts; as it is where none does."""
    listing = {} if {"start", "end"} <= set(frame.columns) else _listing(frame, table)
    if not listing:
        documents.refused(frame, table)
        return {}
    column = next((name for name in (table, *DOCUMENTED) if name in listing), next(iter(listing)))
    return _tables(frame, {column: listing[column]}, (table,), texts_known)


def _sides(frame: pd.DataFrame) -> tuple[dict[str, pd.Series], readers.sides.Sides] | None:
    listing = {} if {"start", "end"} <= set(frame.columns) else _listing(frame, "gold")
    sides = readers.sides.sides_of(list(listing), "entities", _TARGETS)
    return (listing, sides) if sides else None


def _of_both(
    gold: pd.DataFrame, listing: Mapping[str, pd.Series], sides: readers.sides.Sides, texts_known: bool
) -> dict[str, pd.DataFrame]:
    if len(sides.found) > 1 and "model" in gold:
        raise errors.BadInput(
            f"gold: a column model beside entities of {', '.join(sides.found)}: which names who predicted? Leave one out"
        )
    columns = {sides.true: listing[sides.true], **{name: listing[name] for name in sides.found}}
    said = [f"true entities were read of {sides.true}, predicted ones of {', '.join(sides.found)}"]
    out = _tables(gold, columns, _TARGETS, texts_known)
    out["gold"].attrs["notes"] = [*said, *out["gold"].attrs["notes"]]
    return out


def _listing(frame: pd.DataFrame, table: str) -> dict[str, pd.Series]:
    """The columns that list entities, and those that would if there were some."""
    found = readers.entities.lists_in(frame)
    for name in (c for c in (table, *DOCUMENTED) if c in frame and c not in found):
        if frame[name].map(lambda cell: cell is None or cell != cell or cell == []).all():
            found[name] = frame[name]
    return found


def _tables(
    frame: pd.DataFrame, columns: Mapping[str, pd.Series], tables: Sequence[str], texts_known: bool
) -> dict[str, pd.DataFrame]:
    """The spans of columns as rows, the first as the first table, all others as the last; and the texts, where all have one."""
    readers.spans.without_nulls(columns, tables[0])
    texts = readers.spans.texts_in(frame)
    ways, notes = readers.spans.countings(
        columns, texts["text"].tolist() if "text" in texts else [None] * len(texts), DOCUMENTED
    )
    models = {"model": frame["model"]} if "model" in frame else {}
    shared = texts[["id"]].assign(**models)
    first, *others = columns
    once = texts.index
    if others and models:
        once = documents.first_of_each(frame, texts["id"].tolist(), first).index
    of_first = texts.loc[once, ["id"]] if others else shared
    parts = {tables[0]: readers.spans.rows_of(columns[first][once], of_first, ways[first])}
    several = len(others) > 1
    found = [
        readers.spans.rows_of(columns[name], shared.assign(model=name) if several else shared, ways[name])
        for name in others
    ]
    parts |= {tables[-1]: pd.concat(found)} if found else {}
    out = {name: rows.drop(columns="entity") for name, rows in parts.items()}
    if several or models:
        named = others if several else frame["model"]
        out[tables[-1]].attrs[readers.schema.SYSTEMS] = tuple(dict.fromkeys(map(str, named)))
    out[tables[0]].attrs["notes"] = [*frame.attrs.get("notes", ()), *texts.attrs["notes"], *notes]
    if "text" in texts and not texts_known:
        out["texts"] = pd.DataFrame(texts.drop_duplicates("id"))
        out["texts"].attrs = {}
    return out


# -- tokens --------------------------------------------------------------------------------------


def _of_tokens(
    gold: pd.DataFrame, predictions: pd.DataFrame | None, texts: pd.DataFrame | None
) -> dict[str, pd.DataFrame]:
    alone = predictions is None
    if predictions is None:
        pair = [c for c in (documents.GOLD_TAG, readers.tagged.BEFORE, readers.tagged.TAG) if c in gold][:1] + [
            c for c in (documents.PREDICTED_TAG, readers.tagged.TAG) if c in gold
        ][:1]
        if len(set(pair)) < 2:
            raise errors.BadInput(
                "gold: the tokens have one column of tags; give the predicted ones too, in a file of their own "
                f"(-p predictions=FILE) or as columns {documents.GOLD_TAG} and {documents.PREDICTED_TAG}"
            )
        of_gold, of_predictions = pair
        predictions = gold
        if "model" in gold:
            gold = gold[gold["model"] == gold["model"].iloc[0]]
    elif readers.tagged.TOKEN not in predictions:
        raise errors.BadInput("gold: tokens with tags, but the predictions are none; give both in one form")
    else:
        of_gold = next((c for c in (documents.GOLD_TAG, readers.tagged.TAG) if c in gold), "")
        of_predictions = next((c for c in (documents.PREDICTED_TAG, readers.tagged.TAG) if c in predictions), "")
        missing = [name for name, column in (("gold", of_gold), ("predictions", of_predictions)) if not column]
        if missing:
            raise errors.BadInput(f"{' and '.join(missing)}: the tokens have no column of tags ({readers.tagged.TAG})")
    true = readers.tagged.tokens_of(gold)
    found, notes = _spans(gold[of_gold], true, true, {})
    gold_notes = [*gold.attrs.get("notes", ())]
    gold_notes += [f"tags of the columns {of_gold} and {of_predictions} were read"] if alone else []
    parts, predicted_notes = [], [] if alone else [*predictions.attrs.get("notes", ())]
    several = list(predictions.groupby("model", sort=False)) if "model" in predictions else [("", predictions)]
    for name, own in several:
        model = str(name)
        tokens = readers.tagged.tokens_of(own)
        differ = _aligned(true, tokens, gold, own, model)
        spans, repaired = _spans(own[of_predictions], tokens, true, {"model": model} if model else {})
        parts.append(spans)
        predicted_notes += [f"{model}: {note}" if model else note for note in repaired + differ]
    predicted = pd.concat(parts, ignore_index=True)
    predicted.attrs[readers.schema.SYSTEMS] = tuple(str(name) for name, _ in several if str(name))
    out = {"gold": _noted(found, gold_notes + notes), "predictions": _noted(predicted, predicted_notes)}
    if texts is None:
        out["texts"] = pd.DataFrame({"id": true.ids, "text": true.texts})
    return out


def _aligned(
    true: readers.tagged.Tokens, own: readers.tagged.Tokens, gold: pd.DataFrame, predictions: pd.DataFrame, model: str
) -> list[str]:
    """A note where tokens differ; refuses texts with other numbers of tokens, or others altogether."""
    of_model = f"predictions of {model}" if model else "predictions"
    sizes, found = (np.bincount(side.text, minlength=len(side.ids)) for side in (true, own))
    if list(own.ids) != list(true.ids):
        strange = sorted(set(own.ids) ^ set(true.ids))
        faults = strange or ["the texts come in another order"]
        raise errors.BadInput.listing(f"{of_model}: these texts are on one side only, or in another order:", faults)
    if (sizes != found).any():
        wrong = np.flatnonzero(sizes != found)
        faults = [f"text {true.ids[i]}: {sizes[i]} true, {found[i]} predicted" for i in wrong.tolist()]
        raise errors.BadInput.listing(f"{of_model}: these texts have other numbers of tokens:", faults)
    n = int(
        (
            gold[readers.tagged.TOKEN].to_numpy(dtype=object)
            != predictions[readers.tagged.TOKEN].to_numpy(dtype=object)
        ).sum()
    )
    return (
        [f"{core.counted(n, 'token')} of {len(own.text)} differ from the true ones; they were aligned by position"]
        if n
        else []
    )


def _spans(
    tags: pd.Series, own: readers.tagged.Tokens, true: readers.tagged.Tokens, more: Mapping[str, Any]
) -> tuple[pd.DataFrame, list[str]]:
    """The entities of tags in the places of the true tokens."""
    chunks = readers.tagged.chunks_of(tags, own.text)
    ids = np.array(true.ids, dtype=object)
    frame = pd.DataFrame(
        {
            "id": ids[own.text[chunks.first]],
            "start": true.start[chunks.first],
            "end": true.end[chunks.last],
            "entity_class": chunks.kinds,
            **more,
        }
    )
    n = chunks.repaired
    note = f"{core.counted(n, 'entity', 'entities')} without B- (or S-, U-) at the start, read as if it were there"
    return frame, [note] if n else []


def _noted(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    frame.attrs["notes"] = notes
    return frame
