"""A folder with a table per model: files of the same columns that answer the same questions, each named after who answered."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from evalbench.errors import BadInput
from evalbench.readers.decoded import ending
from evalbench.readers.files import WRITTEN, raw_table, read_bytes, sha256
from evalbench.readers.role_names import fit_role, roles
from evalbench.readers.sides import says_true

if TYPE_CHECKING:
    import pandas as pd

_FORMS = (*WRITTEN, ".json", ".jsonl", ".ndjson")
_ASKED = ("id", "question")


def model_files(folder: Path) -> list[Path]:
    """The files of a folder that hold the answers of a model each, in the order of their names; none where they may be anything else.

    Their columns are the same, none says which model answered, and what was asked repeats between them, word for word.
    """
    files = sorted(p for p in folder.iterdir() if p.is_file() and ending(p) in _FORMS and not p.name.startswith("."))
    if len(files) < 2 or any(says_true(_model(p)) for p in files):
        return []
    return files if _agree(tuple((p, p.stat().st_mtime_ns) for p in files)) else []


def model_frame(files: list[Path]) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    """The rows of all files with the name of their file as ``model``, notes, and SHA-256 values by file."""
    import pandas as pd

    read = {p: (raw := read_bytes(p), *raw_table(p, raw)) for p in files}
    frames = [
        f.set_axis([f"{p.name}:{row}" for row in f.index]).assign(model=_model(p)) for p, (_, f, _) in read.items()
    ]
    notes = [f"its {len(files)} files were read as the answers of a model each: {', '.join(map(_model, files))}"]
    notes += [f"{p.name}: {note}" for p, (_, _, found) in read.items() for note in found]
    return pd.concat(frames), notes, {p.name: sha256(raw) for p, (raw, _, _) in read.items()}


def is_written(path: Path) -> bool:
    """Whether cells are what someone wrote in a sheet: of a file, or of a folder's files."""
    files = model_files(path) if path.is_dir() else [path]
    return bool(files) and all(ending(p) in WRITTEN for p in files)


def _model(path: Path) -> str:
    return path.name.split(ending(path))[0]


@lru_cache(maxsize=32)
def _agree(files: tuple[tuple[Path, int], ...]) -> bool:
    """Whether files are tables of answers to the same questions; read until one is not."""
    frames = (raw_table(path, read_bytes(path))[0] for path, _ in files)
    try:
        first = next(frames)
        names = [str(c).strip() for c in first.columns]
        held = {r: [n for n in names if fit_role(n, roles()[r]) in (0, 1)] for r in ("model", "answer", *_ASKED)}
        asked = [n for role in _ASKED for n in held[role][:1]]
        if held["model"] or not (held["answer"] and asked):
            return False
        own = _rows(first, names, asked)
        return all(
            [str(c).strip() for c in other.columns] == names and _repeat(own, _rows(other, names, asked))
            for other in frames
        )
    except BadInput:
        return False


def _rows(frame: pd.DataFrame, names: list[str], asked: list[str]) -> set[tuple[str, ...]]:
    return set(frame.set_axis(names, axis=1)[asked].astype(str).itertuples(index=False, name=None))


def _repeat(own: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> bool:
    """Whether what was asked repeats: some does, and at least half of it word for word."""
    shared = {row[0] for row in own} & {row[0] for row in other}
    return 2 * len(own & other) >= len(shared) > 0
