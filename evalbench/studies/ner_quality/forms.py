"""Published forms of entities as the tables of spans: tokens with tags, brat's documents, texts that list their entities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, readers
from evalbench.studies.ner_quality import documents

LISTS = (readers.brat.ANNOTATIONS, "entities", "spans", "labels", "label")
_KINDS = ("entity_class", "label", "type", "entity_group", "class")


def spans_of(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Tables ``gold``, ``predictions`` and ``texts`` of whatever form the first two have; spans stay as they are.

    Raises ``BadInput`` for predicted tokens that are not as many as the true ones, and lists that are not of entities.
    """
    out = dict(frames)
    gold = frames.get("gold")
    if gold is None:
        return out
    for name in [name for name in out if name in ("gold", "predictions")]:
        if (rows := documents.token_rows(out[name], name)) is not None:
            out[name] = rows
    if readers.tagged.TOKEN in (gold := out["gold"]):
        return out | _of_tokens(gold, out.get("predictions"), out.get("texts"))
    sides = {name: (out[name], _listed(out[name], name)) for name in ("gold", "predictions") if name in out}
    true, found = sides["gold"][1], documents.list_column(gold, documents.PREDICTED)
    if true and found and "predictions" not in out:
        null = [
            f"row {i}: {c} is null; write [] where there are no entities"
            for c in (true, found)
            for i in gold.index[gold[c].isna()]
        ]
        if null:
            raise errors.BadInput.listing("gold: true and predicted entities:", null)
        gold = gold.assign(text_id=documents.named(gold))
        once = documents.first_of_each(gold, gold["text_id"].tolist(), true) if "model" in gold else gold
        sides = {
            "gold": (once.drop(columns="model", errors="ignore"), true),
            "predictions": (gold.drop(columns="text", errors="ignore"), found),
        }
    for name, (frame, column) in sides.items():
        if not column:
            documents.refused(frame, name)
            continue
        spans, texts = _exploded(frame, column, name)
        out[name] = spans
        if texts is not None and "texts" not in out:
            out["texts"] = texts
    if "predictions" in sides and sides["predictions"][0] is not frames.get("predictions"):
        out["gold"] = _noted(out["gold"], [f"true entities were read of {true}, predicted ones of {found}"])
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
    gold_notes = [f"tags of the columns {of_gold} and {of_predictions} were read"] if alone else []
    parts, predicted_notes = [], []
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
        out["texts"] = pd.DataFrame({"text_id": true.ids, "text": true.texts})
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
            "text_id": ids[own.text[chunks.first]],
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


# -- lists ---------------------------------------------------------------------------------------


def _listed(frame: pd.DataFrame, table: str) -> str:
    """The column whose cells list entities; empty where rows are entities."""
    if {"start", "end"} <= set(frame.columns):
        return ""
    names = (table, *LISTS, *(documents.PREDICTED if table == "predictions" else ()))
    return documents.list_column(frame, names) or next((c for c in names if c in frame and frame[c].isna().all()), "")


def _exploded(frame: pd.DataFrame, column: str, table: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """One row per listed entity, and the texts where there are some."""
    ids = documents.named(frame)
    rows, places, faults = [], [], []
    models = frame["model"].tolist() if "model" in frame else None
    for i, (name, listed) in enumerate(zip(ids, frame[column], strict=True)):
        if not isinstance(listed, list):
            null = listed is None or listed != listed
            what = "null; write [] where there are no entities" if null else "not a list"
            faults.append(f"row {frame.index[i]}: {column} is {what}")
            continue
        for entity in listed:
            span = _entity(entity)
            if span is None:
                faults.append(f"row {frame.index[i]}: {str(entity)[:60]} is not an entity with start, end and class")
                continue
            rows.append((name, *span, *([models[i]] if models else [])))
            places.append(frame.index[i])
    if faults:
        raise errors.BadInput.listing(f"{table}: column {column}:", faults)
    columns = ["text_id", "start", "end", "entity_class", *(["model"] if models else [])]
    spans = pd.DataFrame(rows, columns=columns, index=pd.Index(places))
    spans.attrs[readers.schema.SYSTEMS] = tuple(dict.fromkeys(map(str, models or ())))
    if "text" not in frame or frame["text"].isna().any():
        return spans, None
    texts = pd.DataFrame({"text_id": ids, "text": frame["text"].tolist()}, index=frame.index)
    return spans, texts.drop_duplicates("text_id")


def _entity(value: Any) -> tuple[Any, Any, Any] | None:
    """Start, end and class of ``[start, end, class]`` or of an object."""
    if isinstance(value, Mapping):
        kind = next((value[k] for k in _KINDS if k in value), None)
        found = value.get("start", value.get("start_offset")), value.get("end", value.get("end_offset")), kind
        return None if None in found else found
    return (value[0], value[1], value[2]) if isinstance(value, list) and len(value) == 3 else None
