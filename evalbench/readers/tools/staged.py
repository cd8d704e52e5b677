"""A folder that is written as a whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evalbench.errors import BadInput


@contextmanager
def staged(to: Path) -> Iterator[Path]:
    """A new folder beside ``to``, which takes its name when all is written; where something fails nothing is left behind.

    Raises ``BadInput`` if the folder is there and not empty.
    """
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise BadInput(f"{to} is not empty: name a new folder")
    to.parent.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=".evalbench-", dir=to.parent))
    try:
        yield stage
        stage.chmod(0o755)
        if to.exists():
            to.rmdir()
        stage.rename(to)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
