"""The values that a study's options may have, where these are words: read from docstrings, so that no study is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "studies"
_OPTION = re.compile(r"^(\w+(?:, \w+)*) : (.*)$")
_WORDS = re.compile(r'"([^"]+)"')
# Options that studies describe by a reference to another function.
_COMMON = {
    "sample_method": ("first", "random"),
    "embed": ("use-multilingual", "minilm", "e5-small"),
    "judge": ("baseline/lexical",),
    "normalise": ("full", "full-stop_words", "squad", "none"),
}


def choices_of(study: str) -> dict[str, list[str]]:
    """The words that each option of a study takes, those of its own docstring before those that other studies state.

    Examples
    --------
    >>> choices_of("matching")["assignment"], choices_of("human_correlation")["references"]
    (['greedy', 'optimal'], ['best', 'mean'])
    """
    found: dict[str, list[str]] = {name: list(words) for name, words in _COMMON.items()}
    own = [path for path in _sources() if _name(path) == study]
    for path in [*(path for path in _sources() if path not in own), *own]:
        found |= dict(_stated(path))
    for name in ("cot", "citation"):
        found[f"{name}_sample_method"] = found["sample_method"]
    return found


def _sources() -> list[Path]:
    return [*sorted(_FOLDER.glob("*/__init__.py")), *sorted(_FOLDER.glob("[a-z]*.py"))]


def _name(path: Path) -> str:
    return path.parent.name if path.name == "__init__.py" else path.stem


def _stated(path: Path) -> Iterator[tuple[str, list[str]]]:
    """What the docstring of ``evaluate`` says of options whose type is a choice of words."""
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.FunctionDef) and node.name == "evaluate":
            for line in (ast.get_docstring(node) or "").splitlines():
                option = _OPTION.match(line)
                if option and option[2].startswith(("{", '"')) and (words := _WORDS.findall(option[2])):
                    yield from ((name, words) for name in option[1].split(", "))
