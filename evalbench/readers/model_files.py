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
    try:
        frames = [raw_table(path, read_bytes(path))[0] for path, _ in files]
    except BadInput:
        return False
    names = [str(c).strip() for c in frames[0].columns]
    held = {role: [n for n in names if fit_role(n, roles()[role]) in (0, 1)] for role in ("model", "answer", *_ASKED)}
    asked = [n for role in _ASKED for n in held[role][:1]]
    if (
        any([str(c).strip() for c in f.columns] != names for f in frames)
        or held["model"]
        or not (held["answer"] and asked)
    ):
        return False
    sets = [set(f.set_axis(names, axis=1)[asked].astype(str).itertuples(index=False, name=None)) for f in frames]
    first = {row[0] for row in sets[0]}
    return all(2 * len(sets[0] & other) >= len(first & {row[0] for row in other}) > 0 for other in sets[1:])
