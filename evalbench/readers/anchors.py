"""Anchors: labelled answers that a judge judged at one time; the file ``anchors.jsonl`` of an audit, or a table of one's own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.judged_by import JudgedBy
from evalbench.errors import BadInput
from evalbench.readers.cells import Fault
from evalbench.readers.labels import with_our_names
from evalbench.readers.schema import Column, Table
from evalbench.readers.tables import FAULTS_SHOWN, check

if TYPE_CHECKING:
    import pandas as pd

FILE = "anchors.jsonl"
KEYS = ("id", "model", "trial", "criterion")
"""The columns that name an answer judged by a criterion."""
_TEXT: Any = {"required": False, "empty_ok": True}
ANCHORS = Table(
    (
        Column("id", "id", help="the labelled answer"),
        Column("model", "id", help="whose answer it is", **_TEXT),
        Column("trial", "id", **_TEXT),
        Column("criterion", "id", **_TEXT),
        Column("label", "float", required=False, empty_ok=True, help="what people say of it"),
        Column("mark", "float", empty_ok=True, help="the judge's; empty: it gave none"),
        Column("judge", "id", help="its name", **_TEXT),
        Column("prompt", "text", help="hash or version of its prompt", **_TEXT),
        Column("version", "text", help="the model as the endpoint named it", **_TEXT),
        Column("judged_at", "text", help="the name of the judging", **_TEXT),
        Column("answer", "text", help="hash of the answer's text", **_TEXT),
    ),
    help="one row per answer and criterion",
)
_OTHER_NAMES = {"mark": ("verdict", "score"), "label": ("human", "human_label")}


def written(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The file's bytes: JSON Lines, in the order of the rows.

    Examples
    --------
    >>> written([{"id": "q1", "label": 1.0, "mark": 0.0, "judge": "acme/judge"}])
    b'{"id": "q1", "label": 1.0, "mark": 0.0, "judge": "acme/judge"}\\n'
    """
    return "".join(json.dumps(dict(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()


def read_anchors(path: Path) -> tuple[pd.DataFrame, JudgedBy]:
    """The anchors of a file, and who judged them.

    - ``path``: ``anchors.jsonl`` of a run of ``judge_audit`` or that run's folder; or CSV, TSV, JSON, JSON Lines,
      Parquet or a sheet with the columns of :data:`ANCHORS`, of which ``id`` and ``mark`` are needed.

    Returns: All columns of :data:`ANCHORS`, ``""`` or NaN where the file lacks them.

    Raises ``BadInput``: With all faults at once: cells of another type, an answer that is there twice, several judges.
    """
    import numpy as np

    from evalbench.readers.files import raw_table, read_bytes

    if path.is_dir():
        path = path / FILE
        if not path.is_file():
            raise BadInput(f"{path.parent}: has no {FILE}; judge_audit writes it where answers have labels")
    raw, _ = raw_table(path, read_bytes(path))
    raw = with_our_names(raw, _OTHER_NAMES)
    frame, faults = check(raw, ANCHORS)
    if not faults:
        numbers = ("mark", "label")
        columns = {c.name: frame.get(c.name, np.nan if c.name in numbers else "") for c in ANCHORS.columns}
        rows = list(raw.index)
        frame = frame[[]].assign(**columns).fillna({name: "" for name in columns if name not in numbers})
        faults = _faults(frame, rows)
    if faults:
        raise BadInput.listing(f"{path}: anchors cannot be used:", map(str, faults), FAULTS_SHOWN)
    named = {name: tuple(sorted(set(frame[name]) - {""})) for name in ("judge", "prompt", "version", "judged_at")}
    by = JudgedBy("".join(named["judge"]), named["prompt"], named["version"], at=", ".join(named["judged_at"]))
    return frame.reset_index(drop=True), by


def _faults(frame: pd.DataFrame, rows: list[Any]) -> list[Fault]:
    import numpy as np

    places = np.asarray(rows, dtype=object)
    faults = [] if len(frame) else [Fault("id", "no row has an anchor")]
    twice = frame.duplicated(list(KEYS), keep=False).to_numpy()
    judges = sorted(set(frame["judge"]) - {""})
    if len(judges) > 1:
        shown = ", ".join(name[:60] for name in judges[:5])
        faults.append(Fault("judge", f"verdicts of several judges ({shown}): keep the rows of one"))
    elif twice.any():
        at = tuple(int(row) for row in places[twice] if str(row).isdigit())
        faults.append(Fault("id", f"{str(frame['id'][twice].iloc[0])[:60]!r} is there more than once", at))
    for name in ("mark", "label"):
        infinite = np.isinf(frame[name].to_numpy(dtype=float))
        if infinite.any():
            at = tuple(int(row) for row in places[infinite] if str(row).isdigit())
            faults.append(Fault(name, "is not a finite number", at))
    return faults
