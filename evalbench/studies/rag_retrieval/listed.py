"""One row per query that lists its relevant and its retrieved passages as the tables of the study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import errors, readers

RELEVANT, RETRIEVED = "relevant", "retrieved"
IDS = ("query_id", "id", "_id", "qid", "query-id")
TEXTS = ("question", "query", "user_input", "text")
RUNS = ("run", "model", "system")
FORMS = (
    "one row per query and passage found: query_id, passage_id, score or rank, with a table qrels (-p qrels=FILE)",
    "one row per query: query_id, and the lists relevant and retrieved of passage ids, the first retrieved the best",
    "TREC files of a run and of qrels, or BEIR's tables",
)


def by_query(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Tables ``run`` and ``qrels`` (and ``questions``) of a row per query; other tables stay as they are.

    A query without an id is numbered by its text, or by its place where there is none.

    Raises
    ------
    BadInput
        For lists that are in neither form, cells that are no lists of ids, and queries of several runs whose relevant
        passages differ: all of them.
    """
    out = dict(frames)
    frame = frames.get("run")
    if frame is None or {"passage_id", "corpus-id"} & set(frame.columns):
        return out
    written = {str(c): readers.written.lists_of(frame[c]) for c in frame}
    frame = frame.assign(**{name: cells for name, (cells, _) in written.items()})
    said = [f"column {name}: {note}" for name, (_, found) in written.items() for note in found]
    lists = [str(c) for c in frame if frame[c].map(lambda v: isinstance(v, list)).any()]
    if not {RELEVANT, RETRIEVED} <= set(lists):
        if lists:
            hints = [readers.renames.usual(own, lists) for own in (RETRIEVED, RELEVANT) if own not in frame]
            options = [f"--map {option}" for option in readers.renames.options_in(filter(None, hints))]
            way_out = f"\nare these meant? {' '.join(options)}" if options and all(hints) else ""
            head = f"run: no ranking is found in the lists of {', '.join(lists)}; what is read:"
            raise errors.BadInput.listing(head, FORMS, end=way_out)
        return out
    if "qrels" in out:
        raise errors.BadInput(f"a table qrels beside the lists of {RELEVANT}: which is it? Leave one out")
    own = next((c for c in IDS if c in frame), "")
    text = next((c for c in TEXTS if c in frame and c != own), "")
    run = next((c for c in RUNS if c in frame), "")
    if own:
        ids: Any = frame[own].tolist()
    else:
        numbers = pd.factorize(frame[text].map(repr))[0] if text else np.arange(len(frame))
        ids = [f"q{i + 1:04d}" for i in numbers]
    faults = [
        f"row {row}: {name} must be a list of passage ids"
        + (f"; [] where there are none, found {str(cell)[:60]}" if name == RETRIEVED or cell is not None else "")
        for name in (RELEVANT, RETRIEVED)
        for row, cell in frame[name].items()
        if not _ids(cell) and not (name == RELEVANT and cell is None)
    ]
    table = pd.DataFrame({"query_id": ids, "judged": frame[RELEVANT], "found": frame[RETRIEVED]})
    table = table.set_index(frame.index).assign(**({"run": frame[run]} if run else {}))
    if not faults and run:
        sets = table["judged"].map(lambda cell: repr(sorted(map(str, cell or ()))))
        differ = table.index[sets != sets.groupby(table["query_id"]).transform("first")]
        faults += [f"row {row}: {RELEVANT} differs from that of the query's first row" for row in differ]
    if faults:
        raise errors.BadInput.listing("run: one row per query:", faults)
    once = ~table["query_id"].duplicated() if run else np.full(len(table), True)
    out["run"] = _long(table.drop(columns="judged"), "found")
    out["run"]["rank"] = out["run"].groupby(level=0, sort=False).cumcount() + 1
    out["run"].attrs["notes"] = [
        f"read as one row per query: passages in the order of {RETRIEVED}; those of {RELEVANT} have relevance 1"
        + ("" if own else f"; queries were numbered by {text or 'their place'}"),
        *said,
    ]
    out["qrels"] = _long(table.loc[once, ["query_id", "judged"]], "judged").assign(relevance=1)
    if text and "questions" not in out:
        out["questions"] = pd.DataFrame({"id": table["query_id"], "question": frame[text]})[once]
    return out


def _long(table: pd.DataFrame, column: str) -> pd.DataFrame:
    listed = table[table[column].map(lambda cell: bool(cell))]
    return listed.explode(column).rename(columns={column: "passage_id"})


def _ids(cell: Any) -> bool:
    return isinstance(cell, list) and all(isinstance(i, (str, int)) and not isinstance(i, bool) for i in cell)
