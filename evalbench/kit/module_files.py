"""The files of modules of metrics, found without loading any: see :mod:`evalbench.kit.modules`."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from evalbench.errors import BadInput
from evalbench.metrics.registry import MODULE

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def source_of(spec: str, base: Path | None = None) -> Path | None:
    """The file or folder of a module; None for a name of the hub.

    Parameters
    ----------
    spec : str
        As behind ``evaluate:``.
    base : Path, optional
        Where relative paths start; the current folder by default.

    Raises
    ------
    BadInput
        If there is no such file, or it is neither a path nor a name.
    """
    path = (base or Path.cwd()) / Path(spec).expanduser()
    if spec.endswith(".py"):
        if path.is_file():
            return path.resolve()
        raise BadInput(f"{MODULE}{spec}: no such file")
    if path.is_dir() and (path / f"{path.name}.py").is_file():
        return path.resolve()
    if path.is_dir() and ("/" in spec or not _HUB_NAME.fullmatch(spec)):
        raise BadInput(f"{MODULE}{spec}: the folder of a module holds a file of its name, {path.name}.py")
    if not _HUB_NAME.fullmatch(spec) or spec.startswith("."):
        raise BadInput(f"{MODULE}{spec}: neither a file, nor the folder of a module, nor a name of the hub")
    return None


def files_of(source: Path) -> list[Path]:
    """The files of a local module: a folder's Python files, or a file and what it imports from beside it."""
    if source.is_dir():
        return [file for file in sorted(source.rglob("*.py")) if "__pycache__" not in file.parts]
    found = [source]
    for file in found:
        for name in _imports(file):
            beside = source.parent / f"{name}.py"
            if beside.is_file() and beside not in found:
                found.append(beside)
    return found


def _imports(file: Path) -> Iterator[str]:
    """The first names of the modules that a file imports."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"{MODULE}{file.name}: not Python ({error})") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from [(node.module or "").partition(".")[0]] if node.module else [alias.name for alias in node.names]


def sha256_of(files: Sequence[Path]) -> str:
    """SHA-256 of files with their names."""
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda each: each.name):
        digest.update(f"{file.name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
