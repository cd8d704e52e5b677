"""The values that a study's options may have, where these are words: read from docstrings, so that no study is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_FOLDER, _KIT = _PACKAGE / "studies", _PACKAGE / "kit"
_OPTION = re.compile(r"^(\w+(?:, \w+)*) : (.*)$")
_WORDS = re.compile(r'"([^"]+)"')
# Options whose words no docstring lists.
_COMMON = {
    "embed": ("use-multilingual", "minilm", "e5-small"),
    "judge": ("baseline/lexical",),
    "normalise": ("full", "full-stop_words", "squad", "none"),
}


def choices_of(study: str) -> dict[str, list[str]]:
    """The words that each option of a study takes: by its own docstring, else by that of another study, else by the kit's.

    Examples
    --------
    >>> choices_of("matching")["assignment"], choices_of("human_correlation")["references"]
    (['greedy', 'optimal'], ['best', 'mean'])
    """
    found: dict[str, list[str]] = {name: list(words) for name, words in _COMMON.items()}
    for path in sorted(_KIT.glob("*.py")):
        found |= _stated(path)
    own = [path for path in _sources() if _name(path) == study]
    for path in [*(path for path in _sources() if path not in own), *own]:
        found |= _stated(path)
    for name in ("cot", "citation"):
        found[f"{name}_sample_method"] = found["sample_method"]
    return found


def _sources() -> list[Path]:
    return [*sorted(_FOLDER.glob("*/__init__.py")), *sorted(_FOLDER.glob("[a-z]*.py"))]


def _name(path: Path) -> str:
    return path.parent.name if path.name == "__init__.py" else path.stem


@cache
def _stated(path: Path) -> dict[str, list[str]]:
    """What :func:`_read` finds in a file, which stays as it is while a process runs."""
    return dict(_read(path))


def _read(path: Path) -> Iterator[tuple[str, list[str]]]:
    """What the docstrings of a file say of options whose type is a choice of words; of a study's, that of ``evaluate``."""
    source = path.read_text(encoding="utf-8")
    if ' : {"' not in source and ' : "' not in source:
        return
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and (path.parent == _KIT or node.name == "evaluate"):
            for line in (ast.get_docstring(node) or "").splitlines():
                option = _OPTION.match(line)
                if option and option[2].startswith(("{", '"')) and (words := _WORDS.findall(option[2])):
                    yield from ((name, words) for name in option[1].split(", "))
