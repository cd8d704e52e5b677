"""Where the workbench is: the folder that holds ``data/catalog.yaml`` and ``notebooks/``."""

from __future__ import annotations

import os
from pathlib import Path

from evalbench.errors import BadInput


def root(given: str | Path | None = None) -> Path:
    """The workbench's root: given, from ``EVALBENCH_ROOT``, or found upwards from the current folder.

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
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if is_root(folder):
            return folder
    raise BadInput(
        f"no workbench found upwards from {here}: change into a clone of evalbench, or name it with --root or EVALBENCH_ROOT"
    )


def is_root(folder: Path) -> bool:
    """Whether a folder is a workbench."""
    return (folder / "data" / "catalog.yaml").is_file() and (folder / "notebooks").is_dir()
