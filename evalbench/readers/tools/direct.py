"""Result files of other tools, and the folders that ``evalbench data import`` writes, as the tables of any study."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.former import under_new_names
from evalbench.readers.log_store.tables import IN_FRAMES
from evalbench.readers.schema import Table
from evalbench.readers.tools.known import MOST_FILES, imported, reader_of, why_refused
from evalbench.readers.tools.probe import Probe, probed
from evalbench.readers.tools.safe import HEAD, document, head_of, lines, mapping, sequence
from evalbench.readers.trajectories import is_own, read_trajectories, recognised, sha256_of_runs
from evalbench.readers.trajectories.fitted import fitted_tables

if TYPE_CHECKING:
    import pandas as pd

RECORD = "import.json"
STEPS = "steps"
"""A table of this name may be a file of trajectories, of any form that is known."""
TABLES = ("items", "scores", "judgements", "labels", "metrics", "figures")
ALIASES = {"verdicts": ("judgements", "mark"), "ratings": ("labels", "mark")}
"""The name of a study's table → ours, where it has the column beside it."""
_FORMER = {"prompt": "question", "output": "answer", "context": "contexts"}
"""What columns of ``items`` were called before, and are called now."""
_ABOUT = ("judgements", "labels")
_KEYS = ("id", "model", "trial")
_TEXTS = ("question", "answer")
_MARKS = (
    *(
        b'"testCases"',
        b'"conversationalTestCases"',
        b'"testRunData"',
        b'"user_input"',
        b"user_input",
        b'"doc_id"',
        b"PAR1",
    ),
    *(
        b'"trace_id"',
        b'"promptIdx"',
        b'"gradingResult"',
        b'"evalId"',
        b'"samples"',
        b'"evaluation_id"',
        b'"columns"',
        b"[PASS] (",
        b"[FAIL] (",
        b"[ERROR] (",
        b"/score",
    ),
)


class Taken(NamedTuple):
    """Raw frames by the names of a study's tables, and where they come from."""

    frames: dict[str, pd.DataFrame]
    notes: list[str]
    sha256: str


def taken(data: str | Path, schema: Mapping[str, Table]) -> Taken | None:
    """The tables of a study out of a file of another tool; None for any other file, which is read as a table.

    A file of rows whose columns do not suffice for the study's first table is left to be read as a table as well: its own
    columns may.

    Raises ``BadInput``: As :func:`evalbench.readers.tools.known.imported`.
    """
    path = Path(data).expanduser()
    if not path.exists():
        return None
    if STEPS in schema and (agents := _trajectories(path, schema)):
        return agents
    if path.is_dir() and (path / RECORD).is_file():
        frames, about = _written(path)
        return Taken(fitted(frames, schema), _notes(about), str(about.get("sha256", "")))
    look = _foreign(path, schema)
    if look is not None and (why := why_refused(look)):
        raise BadInput(f"{path}: {why}")
    if look is None or (look.form in ("lines", "csv", "parquet", "document") and _own_columns(look, schema)):
        return None
    found = imported(path)
    frames = fitted(found.frames, schema)
    if look.form not in ("zip", "folder") and not _suffices(frames, schema):
        return None
    return Taken(frames, _notes(found.about), found.about["sha256"])


def _trajectories(path: Path, schema: Mapping[str, Table]) -> Taken | None:
    """The steps of agents, with what the file says of their tasks and of how they ended; None for any other file."""
    form = recognised(path)
    if form is None or (form == "steps" and is_own(path)):
        return None
    read = read_trajectories(path, in_order=True)
    notes = [f"read as trajectories of the form {read.form}", *read.notes]
    return Taken(fitted_tables(read, schema), notes, sha256_of_runs(path))


def of_log(frame: pd.DataFrame, notes: list[str], sha256: str, name: str, schema: Mapping[str, Table]) -> Taken:
    """The interactions of a log store as a study's first table; of one of steps, as trajectories."""
    first = next(iter(schema))
    if first != STEPS:
        return Taken({first: frame}, notes, sha256)
    from evalbench.readers.trajectories.logs import of_log as trajectories_of_log

    read = trajectories_of_log(frame.rename(columns=IN_FRAMES), name)
    said = "requests that repeat what was said before were read as one trajectory"
    return Taken(fitted_tables(read, schema), [*notes, said, *read.notes], sha256)


def fitted(frames: Mapping[str, pd.DataFrame], schema: Mapping[str, Table]) -> dict[str, pd.DataFrame]:
    """Our tables under the names of a study's; ``items`` are its first table.

    A further table ``items`` of a study is another thing than ours, unless it has the hash of a question.  Verdicts and labels
    get the texts that they are about.
    """
    out: dict[str, pd.DataFrame] = {}
    for i, (name, table) in enumerate(schema.items()):
        alias, column = ALIASES.get(name, ("", ""))
        own = name if name in frames else alias if alias in frames and table.column(column) else ""
        if own == "items" and i and table.column("question_hash") is None:
            continue
        source = own or ("items" if i == 0 else "")
        if source:
            out[name] = _with_texts(frames[source], frames["items"], table) if source in _ABOUT else frames[source]
    return out


def _with_texts(frame: pd.DataFrame, items: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Verdicts or labels beside the question and answer that they are about, where a study's table has columns for them."""
    texts = [name for name in _TEXTS if name in items and table.column(name) and name not in frame]
    keys = [key for key in _KEYS if key in frame and key in items]
    return frame.reset_index().merge(items[[*keys, *texts]], on=keys, how="left").set_index("index").rename_axis(None)


def _suffices(frames: Mapping[str, pd.DataFrame], schema: Mapping[str, Table]) -> bool:
    first = next(iter(schema))
    return first in frames and all(c.name in frames[first] for c in schema[first].columns if c.required)


def _own_columns(look: Probe, schema: Mapping[str, Table]) -> bool:
    """Whether the columns are those that the study itself asks for, as those of ragas 0.1 are of a study of RAG answers."""
    first = next(iter(schema.values()))
    needed = {column.name for column in first.columns[1:] if column.required}
    return bool(needed) and needed <= look.keys


def _foreign(path: Path, tables: Container[str] = ()) -> Probe | None:
    """A file of another tool, by a look at its head; then by all of it.  A folder with a table of the study is none."""
    if path.is_dir():
        whole = Probe(path, "folder")
        logs = any(path.glob("*.eval")) or any(path.glob("samples_*.jsonl"))
        if logs or reader_of(whole):
            return whole
        files = [p for p in sorted(path.iterdir()) if p.is_file() and p.suffix.lower() in (".json", ".jsonl")]
        if any(p.stem in tables for p in files):
            return None
        return whole if any(_foreign(p) for p in files[:MOST_FILES]) else None
    head = head_of(path, HEAD)
    if head.startswith(b"PK"):
        look = Probe(path, "zip")
        return look if path.suffix.lower() == ".eval" or reader_of(look) else None
    if not any(mark in head for mark in _MARKS):
        return None
    try:
        look = probed(path)
    except BadInput:
        return None
    return look if reader_of(look) or why_refused(look) else None


def _written(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    from evalbench.readers.files import records_frame

    about = mapping(document(folder / RECORD))
    frames = {}
    for name in TABLES:
        path = folder / f"{name}.jsonl"
        if path.is_file():
            pairs = list(lines(path))
            frames[name] = records_frame([row for _, row in pairs], [number for number, _ in pairs])
    if "items" not in frames:
        raise BadInput(f"{folder}: has {RECORD} but no items.jsonl; import the run anew")
    return frames | {"items": under_new_names(frames["items"], _FORMER)}, about


def _notes(about: Mapping[str, Any]) -> list[str]:
    version = about.get("tool_version")
    head = f"a run of {about.get('tool')} {version if version else '(version not in the file)'}"
    return [
        head,
        *(f"assumed: {sentence}" for sentence in sequence(about.get("assumed"))),
        *map(str, sequence(about.get("notes"))),
    ]
