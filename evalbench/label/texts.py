"""The texts of a run's items, for people to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.label.items import PAIR, TEXTS
from evalbench.readers import runs

if TYPE_CHECKING:
    import pandas as pd

IDS, MODELS = ("id", "doc_id"), ("model", "system", "checker", "setting")
_OTHERS = {
    "id": IDS,
    "model": MODELS,
    "question": ("prompt", "question"),
    "contexts": ("context", "contexts"),
    "reference": ("reference", "ground_truth", "gold_answer"),
    "answer": ("output", "answer", "model_answer", "response"),
}
"""Our columns → the names that they may have; what was called so before goes first."""


def with_texts(
    units: pd.DataFrame, folder: Path, results: Mapping[str, Any], table: str, texts: Path | None
) -> pd.DataFrame:
    """The items of a run with their texts, from its own tables or a file."""
    found = _given(texts) if texts else _violations(folder, results) if table == "pairs" else _kept(folder, results)
    if found is None:
        raise BadInput(
            f"{folder}: the run keeps no texts of its items; give a table with id, model (if there are several) and answer: --texts FILE"
        )
    keys = [name for name in ("id", "model", *PAIR) if name in units and name in found]
    columns = [name for name in (*TEXTS, "answer") if name in found]
    one = found.drop_duplicates(keys)[[*keys, *columns]]
    joined = units.merge(one, on=keys, how="left", indicator=True)
    lacking = joined[joined.pop("_merge") == "left_only"]
    if len(lacking):
        first = ", ".join(str(lacking.iloc[0][key]) for key in keys)
        raise BadInput(f"{texts or folder}: no text for {len(lacking)} of {len(units)} items, first {first}")
    return joined


def _named(frame: pd.DataFrame) -> pd.DataFrame | None:
    """A table of texts under our names; None where it has no answers."""
    names = {
        there: ours for ours, others in _OTHERS.items() if (there := next((o for o in others if o in frame), None))
    }
    if not {"id", "answer"} <= set(names.values()):
        return None
    named = frame[list(names)].rename(columns=names)
    for name in ("id", "model"):
        if name in named:
            named[name] = named[name].astype(str)
    return named


def _kept(folder: Path, results: Mapping[str, Any]) -> pd.DataFrame | None:
    """The texts of a run: the first of its tables that has answers, with the contexts of another."""
    found = None
    for name in sorted(results["tables"], key=lambda name: (name != "texts", name)):
        if name not in ("calls", "violations"):
            frame = runs.read_table(folder, name)
            named = _named(frame) if frame is not None else None
            if named is not None and not named.duplicated([c for c in ("id", "model") if c in named]).any():
                found = named
                break
    contexts = runs.read_table(folder, "contexts") if found is not None and "contexts" not in found else None
    if found is None or contexts is None or not {"id", "context"} <= set(contexts):
        return found
    keys = [name for name in ("id", "model") if name in contexts and name in found]
    joined = contexts.astype(dict.fromkeys(keys, str)).groupby(keys, sort=False)["context"].agg("\n\n".join)
    return found.merge(joined.rename("contexts").reset_index(), on=keys, how="left").fillna({"contexts": ""})


def _given(path: Path) -> pd.DataFrame:
    from evalbench.readers.files import raw_table, read_bytes

    frame, _ = raw_table(path, read_bytes(path))
    named = _named(frame)
    if named is None:
        raise BadInput(f"{path}: needs columns id and answer; has {', '.join(map(str, frame.columns))}")
    return named


def _violations(folder: Path, results: Mapping[str, Any]) -> pd.DataFrame:
    """Of each pair the text, the true and the predicted violation in words."""
    documents, violations = runs.read_table(folder, "documents"), runs.read_table(folder, "violations")
    pairs = runs.read_table(folder, "pairs")
    if documents is None or violations is None or pairs is None:
        raise BadInput(f"{folder}: needs the tables documents, violations and pairs; give the texts with --texts FILE")
    text = dict(zip(documents["id"], documents["text"], strict=True))
    keys = ["id", "model", "side", "violation_id"]
    said = {
        tuple(row[key] for key in keys): _in_words(row, str(text.get(row["id"], "")))
        for row in violations.to_dict("records")
    }
    of = pairs[["id", "model", *PAIR]]
    rows = of.to_dict("records")
    return of.assign(
        contexts=[text.get(row["id"], "") for row in rows],
        reference=[said.get((row["id"], row["model"], "truth", row["truth_id"]), "") for row in rows],
        answer=[said.get((row["id"], row["model"], "prediction", row["prediction_id"]), "") for row in rows],
    )


def _in_words(row: Mapping[Any, Any], text: str) -> str:
    spans = row.get("spans")
    try:
        places = json.loads(spans) if isinstance(spans, str) else spans
        quoted = [text[int(start) : int(end)] for start, end in places or ()]
    except (ValueError, TypeError):
        quoted = []
    parts = [f"“{quote}”" for quote in quoted]
    return "\n".join([*parts, *(str(row[name]) for name in ("rule", "explanation", "correction") if row.get(name))])
