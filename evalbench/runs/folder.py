"""A run's folder as it comes and goes: claimed, brought up to date, cleared; what its files are called and hold is in ``readers.runs``."""

from __future__ import annotations

import contextlib
import platform
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.runs import (
    CALLS,
    PARTS,
    RESULTS_JSON,
    RUN_FOLDER,
    RUN_JSON,
    read_json,
    read_run,
    run_folders,
    write_json,
)

RUN = RUN_FOLDER
RUN_SCHEMA_VERSION = 1


def now() -> str:
    """The time, UTC, ISO 8601 with seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def host() -> str:
    """This machine's name."""
    return platform.node()


def create(reports: Path, study: str, hash8: str) -> Path:
    """A fresh folder ``reports/<study>/<UTC stamp>-<hash8>``; a second one of the same second gets a number.

    Raises ``BadInput`` if the folder cannot be made.
    """
    return claim(reports, study, f"{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}-{hash8}")


def claim(reports: Path, study: str, name: str) -> Path:
    """A fresh folder of this name, or with the first free number behind it.

    Raises ``BadInput`` if the folder cannot be made.
    """
    try:
        (reports / study).mkdir(parents=True, exist_ok=True)
        for suffix in ("", *(f"-{n}" for n in range(2, 1000))):
            folder = reports / study / f"{name}{suffix}"
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder
    except OSError as error:
        raise BadInput(f"{reports / study}: no folder can be made here ({error.strerror})") from error
    raise BadInput(f"{reports / study}: too many runs in one second")


def remove_partial(folder: Path) -> None:
    """Take the results and tables out of a folder whose run did not end well; replies that were paid for stay."""
    for file in folder.iterdir():
        if file.name == RESULTS_JSON or (".parquet" in file.name and file.name != CALLS):
            remove(file)


def remove_parts(folder: Path) -> None:
    """Take away what a table was dealt into while the run worked: its kernel may have ended without doing so."""
    for parts in folder.glob(f"{PARTS}*"):
        shutil.rmtree(parts, ignore_errors=True)


def remove(path: Path) -> None:
    """Take away a file or a folder, whichever a notebook made of it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def update_run(folder: Path, **changes: Any) -> dict[str, Any]:
    """Merge fields into a folder's ``run.json`` and return it."""
    content = {**read_json(folder / RUN_JSON), **changes}
    write_json(folder / RUN_JSON, content)
    return content


def runs(reports: Path, study: str = "", hash8: str = "") -> Iterator[tuple[Path, dict[str, Any]]]:
    """Folders of runs with their ``run.json``, in the order of their names; what cannot be read is left out.

    - ``study``: Only those of this study.
    - ``hash8``: Only those whose name carries it.
    """
    for folder in run_folders(reports, study, hash8):
        try:
            yield folder, read_run(folder)
        except BadInput:
            continue
