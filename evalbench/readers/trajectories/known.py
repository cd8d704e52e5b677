"""Which form a file of trajectories has, by its content, and its trials, one at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from evalbench.core.wording import listed
from evalbench.errors import BadInput
from evalbench.readers.files import digest
from evalbench.readers.tools.safe import sha256_of
from evalbench.readers.trajectories import chats, events, exports, flat, inspected, otlp, scout, sessions, tau, within
from evalbench.readers.trajectories.looks import Look, looked
from evalbench.readers.trajectories.shape import Malformed, Source, Trajectory, finished, row_name

READERS: tuple[ModuleType, ...] = (inspected, scout, tau, otlp, events, sessions, exports, flat, chats, within)
FORMS = tuple(f"{', '.join(reader.NAMES)} ({reader.FILES})" for reader in READERS)


MOST_FILES = 10_000


def recognised(path: str | Path) -> str | None:
    """The name of the form of a file of trajectories, by its content and never by its name; None for any other file.

    A folder has the form of its first such file; a folder of the tables of a study, with one named ``steps``, is none.

    Examples
    --------
    >>> recognised("no such file") is None
    True
    """
    path = Path(path).expanduser()
    if path.is_dir():
        files = _files(path)
        own = any(file.name.partition(".")[0] == "steps" for file in files)
        return (
            None
            if own
            else next(
                (name for file in files if (name := found(file)[0]) and not (name == "steps" and is_own(file))), None
            )
        )
    return found(path)[0] or None


def is_own(path: str | Path) -> bool:
    """Whether a file is a table ``steps`` under its own names, which is read as any table is."""
    _, reader, look = found(path)
    return reader is flat and look is not None and flat.is_own(look)


def found(path: str | Path) -> tuple[str, ModuleType | None, Look | None]:
    """The name of a file's form, the reader that knows it, and the look at it."""
    look = looked(Path(path).expanduser())
    for reader in READERS if look else ():
        if name := reader.recognised(look):
            return name, reader, look
    return "", None, None


def sha256_of_runs(path: Path) -> str:
    """One SHA-256 of a file, or of all files of a folder that hold trajectories."""
    if not path.is_dir():
        return sha256_of(path)
    return digest({file.name: sha256_of(file) for file in _files(path) if found(file)[1]})


def _files(folder: Path) -> list[Path]:
    """The files of a folder that are not hidden, by name.

    Raises ``BadInput`` for more than :data:`MOST_FILES`.
    """
    files = [file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")]
    if len(files) > MOST_FILES:
        raise BadInput(f"{folder}: holds {len(files):,} files, at most {MOST_FILES:,} are read")
    return sorted(files)


def stream_trajectories(path: str | Path, model: str = "", source: Source | None = None) -> Iterator[Trajectory]:
    """The trials of a file, or of all files of a folder, one at a time: JSON Lines and archives are never held as a whole.

    A task without a name is ``t0001`` and so on, by its place, or has the name of its file in a folder; trials without a name are
    numbered within task and model.  Trials with the same texts are all kept.  Forms of spans, sessions and tables, whose rows may be in
    any order, are gathered first.  Of a trial that a limit or an error ended, a note of it is the last step.

    Parameters
    ----------
    path : str or Path
    model : str, optional
        The name of the model, where the file has none.
    source : Source, optional
        Filled with the form and with notes on how the file was read.

    Raises
    ------
    BadInput
        For a file of no known form; and, at the end of the file or after a hundred faults, for what is malformed in it: all
        faults in one message, with their rows.
    """
    path = Path(path).expanduser()
    source = source if source is not None else Source(path)
    source.model = source.model or model
    named = _Named(source)
    for place, made in enumerate(_of_folder(path, source) if path.is_dir() else _of_file(path, source), start=1):
        try:
            whole = named.of(finished(made, source), place)
        except Malformed as error:
            source.fault(made.row, error)
            continue
        yield whole
    if source.unread:
        source.note(f"fields that were not read: {listed(list(source.unread))}")
    source.refuse()
    if not named.rows:
        raise BadInput(f"{path}: no trajectories in it")


def _of_folder(folder: Path, source: Source) -> Iterator[Trajectory]:
    """The trials of each file of a folder that is known; a task without a name has that of its file."""
    forms: list[str] = []
    left: list[str] = []
    for file in _files(folder):
        inner = Source(file, source.model, notes=source.notes, unread=source.unread)
        if not found(file)[1]:
            left.append(file.name)
            continue
        for made in _of_file(file, inner):
            name = made.id or (file.name.partition(".")[0] if isinstance(made.row, int) and made.row == 1 else "")
            yield replace(made, id=name, row=f"{file.name}, {row_name(made.row)}")
        for fault in inner.faults:
            source.fault(file.name, fault)
        forms.append(inner.form)
    source.form = ", ".join(dict.fromkeys(forms))
    if left:
        source.note(f"files that are not trajectories were left out: {listed(left)}")


def _of_file(path: Path, source: Source) -> Iterator[Trajectory]:
    source.form, reader, look = found(path)
    if reader is None:
        if not path.exists():
            raise BadInput(f"{path}: no such file")
        raise BadInput.listing(f"{path}: not a file of trajectories that is known here. Known are:", FORMS)
    try:
        yield from reader.read(look, source)
    except RecursionError:
        raise BadInput(f"{source.path}: nested too deeply") from None


class _Named:
    """Names for tasks and trials without one; two trials of the same name are malformed."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.counts: dict[bytes, int] = {}
        self.rows: dict[bytes, int | str] = {}

    def of(self, made: Trajectory, place: int) -> Trajectory:
        name = made.id or f"t{place:04d}"
        key = _short(name, made.model)
        self.counts[key] = number = self.counts.get(key, 0) + 1
        trial = made.trial or made.run or str(number)
        whole = _short(name, made.model, trial)
        if made.run and not made.trial and whole in self.rows:
            self.source.note("trials of a task that are of one run were numbered in the order of the file")
            trial = f"{made.run}, {number}"
            whole = _short(name, made.model, trial)
        elif not made.trial and not made.run and number > 1:
            self.source.note("trials of a task have no names in the file and were numbered in its order")
        if (before := self.rows.get(whole)) is not None:
            raise Malformed(f"the id {name[:80]!r} has the trial {trial[:40]!r} twice, first in {row_name(before)}")
        self.rows[whole] = made.row
        return made if name == made.id and trial == made.trial else replace(made, id=name, trial=trial)


def _short(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).digest()
