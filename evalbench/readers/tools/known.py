"""Which tool wrote a file, by its content; and its rows in the shape of a data set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.readers.tools import (
    composed,
    deepeval,
    every_eval_ever,
    helm,
    inspect_logs,
    lm_eval,
    mlflow,
    promptfoo,
    ragas,
)
from evalbench.readers.tools.probe import Probe, probed
from evalbench.readers.tools.safe import finite
from evalbench.readers.tools.shapes import Run

if TYPE_CHECKING:
    import pandas as pd

READERS: tuple[ModuleType, ...] = (*(deepeval, promptfoo, inspect_logs, lm_eval, mlflow, helm, every_eval_ever, ragas),)
NAMES = tuple(reader.NAME for reader in READERS)
FORMS = tuple(f"{reader.NAME} ({reader.FILES})" for reader in READERS)
_ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".eval", ".parquet")
MOST_FILES = 10_000


@dataclass(frozen=True)
class Imported:
    """A file of another tool as frames by table, and the record of how it was read.

    - ``frames``: ``items``, ``scores``, ``metrics``; ``judgements``, ``labels`` and ``figures`` where there are any.
    - ``about``: What ``import.json`` holds.
    """

    frames: dict[str, pd.DataFrame]
    about: dict[str, Any]


def imported(path: str | Path, tool: str = "", model: str = "") -> Imported:
    """The tables of a result file, or of a folder of them.

    - ``tool``: The tool that wrote it, one of :data:`NAMES`; found out from the content otherwise.
    - ``model``: The name of the model, where the file has none.

    Raises ``BadInput`` for files that no reader knows, that are cut, too large or of an unknown version.
    """
    from evalbench.readers.files import records_frame

    parts = composed.parts_of(runs_of(Path(path), tool), model)
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in composed.TABLES}
    for name, row in parts.rows():
        tables[name].append(finite(row))
    about = finite(parts.about())
    tables |= composed.summed(about)
    frames = {name: records_frame(rows, list(range(1, len(rows) + 1))) for name, rows in tables.items() if rows}
    return Imported(frames, about)


def runs_of(path: Path, tool: str = "") -> list[tuple[Path, Run]]:
    """The runs of a file or a folder, not yet read to the end.

    Raises ``BadInput``: See :func:`imported`.
    """
    path = path.expanduser()
    if tool and tool not in NAMES:
        raise BadInput(f"unknown format {tool!r}; known are {', '.join(NAMES)}")
    first = probed(path)
    if first.form != "folder":
        return [(path, _reader(first, tool).read(first))]
    broken: dict[str, str] = {}
    found = list(_found(first, tool, broken))
    readers = {reader.NAME: reader for reader, _ in found}
    if len(readers) > 1:
        raise BadInput(f"{path}: holds files of several tools ({', '.join(sorted(readers))}); name one with --format")
    runs = [(look.path, reader.read(look)) for reader, look in found]
    if broken:
        runs[0][1].notes.append(f"files of the folder that could not be read: {'; '.join(broken.values())}")
    return runs


def reader_of(look: Probe) -> ModuleType | None:
    """The reader that knows the content of a file, or None."""
    return next((reader for reader in READERS if reader.recognises(look)), None)


def why_refused(look: Probe) -> str:
    """Why a file of a tool is not read although it is known, with the way out; else empty."""
    return next((why for reader in READERS if hasattr(reader, "refused") and (why := reader.refused(look))), "")


def _reader(look: Probe, tool: str) -> ModuleType:
    if tool:
        return next(reader for reader in READERS if tool == reader.NAME)
    if why := why_refused(look):
        raise BadInput(f"{look.path}: {why}")
    found = reader_of(look)
    if found is None:
        held = f"; it holds {', '.join(sorted(look.keys)[:12])}" if look.keys else ""
        own = f"a table of your own scores needs no import: evalbench run imported --data {look.path}"
        more = [own] if look.form in ("csv", "lines", "parquet") else []
        raise BadInput.listing(
            f"{look.path}: not a result file of a tool that is known here{held}. Known are:", [*FORMS, *more]
        )
    return found


def _found(folder: Probe, tool: str, broken: dict[str, str]) -> Iterator[tuple[ModuleType, Probe]]:
    """The files of a folder, or else of the folders in it, that a reader knows."""
    levels = (folder.path, *sorted(p for p in folder.path.iterdir() if p.is_dir()))
    whole = [(reader, look) for path in levels for reader, look in _whole(Probe(path, "folder"), tool)]
    if whole:
        yield from whole
        return
    for several in ((folder.path,), levels[1:]):
        looked = [pair for path in several for pair in _files(path, tool, broken)]
        if looked:
            yield from looked
            return
    if broken:
        raise BadInput.listing(f"{folder.path}: holds no result file that could be read:", broken.values())
    raise BadInput.listing(f"{folder.path}: holds no result file of a tool that is known here. Known are:", FORMS)


def _whole(look: Probe, tool: str) -> Iterator[tuple[ModuleType, Probe]]:
    """A folder that is one run."""
    yield from ((reader, look) for reader in READERS if tool in ("", reader.NAME) and reader.recognises(look))


def _files(folder: Path, tool: str, broken: dict[str, str]) -> Iterator[tuple[ModuleType, Probe]]:
    files = sorted(p for p in folder.iterdir() if p.is_file() and p.suffix.lower() in _ENDINGS)
    if len(files) > MOST_FILES:
        raise BadInput(f"{folder}: holds {len(files)} files, at most {MOST_FILES} are read")
    for path in files:
        try:
            look = probed(path)
        except BadInput as error:
            broken[path.name] = str(error).removeprefix(f"{folder}/").splitlines()[0]
            continue
        reader = reader_of(look)
        beside = reader is not None and getattr(reader, "beside", lambda _: False)(look)
        if reader is not None and not beside and tool in ("", reader.NAME):
            yield reader, look
