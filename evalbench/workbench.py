"""Where the workbench is: the folder that holds ``data/catalog.yaml`` and ``notebooks/``."""

from __future__ import annotations

import os
from pathlib import Path

from evalbench.errors import BadInput

# What a workbench holds of the package's own; the wheel has it in `shipped` (setup.py), a checkout beside the package.
SHIPPED = (
    "notebooks/*.ipynb",
    "data/**/*",
    "docs/*.schema.json",
    "docs/batches.md",
    "docs/comparing.md",
    "docs/data.md",
    "docs/glossary.md",
    "docs/images/label.png",
    "docs/judges.md",
    "docs/methods.md",
    "docs/models.md",
    "docs/monitoring.md",
    "docs/running.md",
    "docs/start.md",
    "scripts/metrics/*.py",
)
_PACKAGE = Path(__file__).resolve().parent
_OWN = _PACKAGE / "shipped" if (_PACKAGE / "shipped").is_dir() else _PACKAGE.parent


def root(given: str | Path | None = None) -> Path:
    """The workbench's root: given, from ``EVALBENCH_ROOT``, found upwards from the current folder, or the package's own.

    The package's own is what its wheel brought, or the checkout that it was installed from (``pip install -e``), so
    that its data sets and studies are found from any folder.

    Raises ``BadInput`` if there is none.
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
            f"no workbench found upwards from {current}: change into a clone of evalbench or a folder made by `evalbench init`, "
            "or name it with --root or EVALBENCH_ROOT"
        )
    return found


def own_root(given: str | Path | None = None) -> Path:
    """:func:`root`, to write into: never what an installation brought, which the next one overwrites.

    Raises ``BadInput`` if there is none but that of the installed package.
    """
    found = root(given)
    if found == _OWN and _OWN.parent == _PACKAGE:
        raise BadInput(
            f"{found} belongs to the installed package, and nothing is written into it: lay out a workbench of your own with "
            "`evalbench init DIR` and change into it, or name one with EVALBENCH_ROOT"
        )
    return found


def here(given: str | Path | None = None) -> Path:
    """The workbench that was named or is found upwards; else the current folder: where the user's own files are.

    Raises ``BadInput`` if what was named is not a workbench.
    """
    current = Path.cwd().resolve()
    named = given or os.environ.get("EVALBENCH_ROOT")
    return root(named) if named else _upwards(current) or current


def reports(given: str | Path | None = None) -> Path:
    """The folder for reports, see :func:`here`."""
    return here(given) / "reports"


def own_files() -> dict[str, Path]:
    """Notebooks, data and documents of the package's own workbench: path within it → file.

    Raises ``BadInput`` if the package came without them.
    """
    found = {path for pattern in SHIPPED for path in _OWN.glob(pattern) if path.is_file()}
    if not is_root(_OWN):
        raise BadInput(
            f"{_OWN}: this installation of evalbench has no notebooks and no data: install its wheel or a clone"
        )
    return {path.relative_to(_OWN).as_posix(): path for path in sorted(found)}


def _upwards(current: Path) -> Path | None:
    return next((folder for folder in (current, *current.parents) if is_root(folder)), None)


def is_root(folder: Path) -> bool:
    """Whether a folder is a workbench."""
    return (folder / "data" / "catalog.yaml").is_file() and (folder / "notebooks").is_dir()
