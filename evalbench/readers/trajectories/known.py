"""Which form a file of trajectories has, by its content, and its trials, one at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from evalbench.errors import BadInput
from evalbench.readers.trajectories import chats, exports, flat, inspected, otlp, sessions, tau
from evalbench.readers.trajectories.looks import Look, looked
from evalbench.readers.trajectories.shape import Malformed, Source, Trajectory, finished, row_name

READERS: tuple[ModuleType, ...] = (inspected, tau, otlp, sessions, exports, flat, chats)
FORMS = tuple(f"{', '.join(reader.NAMES)} ({reader.FILES})" for reader in READERS)


def recognised(path: str | Path) -> str | None:
    """The name of the form of a file of trajectories, by its content and never by its name; None for any other file.

    Examples
    --------
    >>> recognised("no such file") is None
    True
    """
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


def stream_trajectories(path: str | Path, model: str = "", source: Source | None = None) -> Iterator[Trajectory]:
    """The trials of a file, one at a time: JSON Lines and archives are never held as a whole.

    A task without a name is ``t0001`` and so on, by its place; trials without a name are numbered within task and model.  Trials
    with the same texts are all kept.  Forms of spans and tables, whose rows may be in any order, are gathered first.

    Parameters
    ----------
    path : str or Path
    model : str, optional
        The name of the model, where the file has none.
    source : Source, optional
        Filled with notes on how the file was read.

    Raises
    ------
    BadInput
        For a file of no known form; and, at the end of the file or after a hundred faults, for what is malformed in it: all
        faults in one message, with their rows.
    """
    path = Path(path).expanduser()
    source = source if source is not None else Source(path)
    source.model = source.model or model
    source.form, reader, look = found(path)
    if reader is None:
        if not path.exists():
            raise BadInput(f"{path}: no such file")
        raise BadInput.listing(f"{path}: not a file of trajectories that is known here. Known are:", FORMS)
    named = _Named(source)
    rows = 0
    for made in _read(reader, look, source):
        rows += 1
        try:
            whole = named.of(finished(made, source), rows)
        except Malformed as error:
            source.fault(made.row, error)
            continue
        yield whole
    source.refuse()
    if not rows:
        raise BadInput(f"{path}: no trajectories in it")


def _read(reader: ModuleType, look: Look | None, source: Source) -> Iterator[Trajectory]:
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
        trial = made.trial or str(number)
        if not made.trial and number > 1:
            self.source.note("trials of a task have no names in the file and were numbered in its order")
        whole = _short(name, made.model, trial)
        if (before := self.rows.get(whole)) is not None:
            raise Malformed(f"the id {name[:80]!r} has the trial {trial[:40]!r} twice, first in {row_name(before)}")
        self.rows[whole] = made.row
        return made if name == made.id and trial == made.trial else replace(made, id=name, trial=trial)


def _short(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).digest()
