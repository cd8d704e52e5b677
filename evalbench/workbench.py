"""Where the workbench is: the folder that holds ``data/catalog.yaml`` and ``notebooks/``."""

from __future__ import annotations

import os
from pathlib import Path

from evalbench.errors import BadInput

_OWN = Path(__file__).resolve().parents[1]


def root(given: str | Path | None = None) -> Path:
    """The workbench's root: given, from ``EVALBENCH_ROOT``, found upwards from the current folder, or the package's own.

    The package's own is the checkout that it was installed from (``pip install -e``), so that its data sets and studies
    are found from any folder.

    Raises
    ------
    BadInput
        If there is none.
    """
    named = given or os.environ.get("EVALBENCH_ROOT")
    if named:
        folder = Path(named).expanduser().resolve()
        if not is_root(folder):
            raise BadInput(f"{folder} is not a workbench: it has no data/catalog.yaml and notebooks/")
        return folder
    current = Path.cwd().resolve()
    found = _upwards(current) or (_OWN if is_root(_OWN) else None)
    if found is None:
        raise BadInput(
            f"no workbench found upwards from {current}: change into a clone of evalbench, or name it with --root or EVALBENCH_ROOT"
        )
    return found


def here(given: str | Path | None = None) -> Path:
    """The workbench that was named or is found upwards; else the current folder: where the user's own files are.

    Raises
    ------
    BadInput
        If what was named is not a workbench.
    """
    current = Path.cwd().resolve()
    named = given or os.environ.get("EVALBENCH_ROOT")
    return root(named) if named else _upwards(current) or current


def reports(given: str | Path | None = None) -> Path:
    """The folder for reports, see :func:`here`."""
    return here(given) / "reports"


def _upwards(current: Path) -> Path | None:
    return next((folder for folder in (current, *current.parents) if is_root(folder)), None)


def is_root(folder: Path) -> bool:
    """Whether a folder is a workbench."""
    return (folder / "data" / "catalog.yaml").is_file() and (folder / "notebooks").is_dir()
