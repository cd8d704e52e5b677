"""The notebook of a study, found and read; quick to import, since help and completion of the command line ask for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Any

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.readers.parameters import Parameter, notebook_parameters
from evalbench.workbench import root as find_root


def known_parameters(study: str, root: Path | None = None) -> dict[str, Parameter]:
    """The parameters of a study's notebook."""
    path = notebook_path(study, root)
    return notebook_parameters(read_notebook(path), path.name)


def notebook_names(root: Path | None = None) -> list[str]:
    """The names under which notebooks of the workbench can be run."""
    return sorted(p.stem for p in (find_root(root) / "notebooks").glob("*.ipynb"))


def notebook_path(target: str, root: Path | None = None) -> Path:
    """The notebook of a study's name, or a path to one.

    Raises ``BadInput`` if there is none.
    """
    if target.endswith(".ipynb"):
        path = Path(target).expanduser().resolve()
        if not path.is_file():
            raise BadInput(f"{target}: no such notebook")
        return path
    path = find_root(root) / "notebooks" / f"{target}.ipynb"
    if target in studies.names() and not path.is_file():
        raise BadInput(f"the study {target} has no notebook, which is what a run executes: {path}")
    if Path(target).name != target or not path.is_file():
        raise BadInput(f"no study {target!r}; {_meant(target, notebook_names(root))}")
    return path


def _meant(target: str, known: Sequence[str]) -> str:
    """What was probably meant by a word that names no study: one of a near name, or a table."""
    from evalbench.readers.files import ENDINGS

    if Path(target).exists() or target.lower().endswith(ENDINGS) or "@" in target:
        data = quote(target)
        return f"a table goes after --data: evalbench run --data {data} (or, with a study, evalbench run STUDY --data {data})"
    if near := get_close_matches(target, known, n=1):
        return f"did you mean {near[0]}?"
    return f"there are {', '.join(known)} (or give the path of a notebook)"


def read_notebook(path: Path) -> dict[str, Any]:
    """A notebook's JSON.

    Raises ``BadInput`` if the file is not a notebook.
    """
    try:
        node = json.loads(path.read_text(encoding="utf-8"))
        cells = node["cells"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: not a notebook ({type(error).__name__}: {error})") from error
    if not isinstance(cells, list):
        raise BadInput(f"{path}: not a notebook (its cells are not a list)")
    return dict(node)
