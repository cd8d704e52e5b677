"""A notebook's parameters cells, read with ``ast``: names, types, defaults, help.

papermill's own inspector is a regular expression that misses ``str | None`` and only logs unknown names.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from evalbench.errors import BadInput

MAIN, ADVANCED = "parameters", "advanced"
"""Tags of the cell that most users touch, and of the folded one before it; papermill injects after the first."""
TYPES = ("str", "int", "float", "bool", "list", "dict")


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell: ``name: type = literal  # help``; ``advanced`` where few users touch it."""

    name: str
    types: tuple[str, ...]
    optional: bool
    default: Any
    help: str = ""
    advanced: bool = False

    def __str__(self) -> str:
        return " | ".join([*self.types, *(["None"] if self.optional else [])])


def notebook_parameters(notebook: Mapping[str, Any], source: str) -> dict[str, Parameter]:
    """The parameters of a notebook by name.

    - ``notebook``: Its JSON, format 4.
    - ``source``: What a message calls it.

    Raises ``BadInput`` if there is not exactly one cell tagged ``parameters``, or a cell holds anything but literals.
    """
    main, advanced = (_tagged(notebook, tag) for tag in (MAIN, ADVANCED))
    if len(main) != 1 or len(advanced) > 1:
        tag, found = (MAIN, main) if len(main) != 1 else (ADVANCED, advanced)
        raise BadInput(f"{source}: expected exactly one cell tagged {tag!r}, found {len(found)}")
    rest = parse_cell(advanced[0], source) if advanced else {}
    return parse_cell(main[0], source) | {name: replace(p, advanced=True) for name, p in rest.items()}


def _tagged(notebook: Mapping[str, Any], tag: str) -> list[str]:
    """The sources of the cells that have a tag."""
    cells = [c["source"] for c in notebook["cells"] if tag in ((c.get("metadata") or {}).get("tags") or ())]
    return [text if isinstance(text, str) else "".join(text) for text in cells]


def readable_parameters(notebook: Mapping[str, Any], source: str) -> tuple[Parameter, ...]:
    """As :func:`notebook_parameters`, but of a damaged notebook what can be read."""
    found: dict[str, Parameter] = {}
    for tag in (MAIN, ADVANCED):
        for text in _tagged(notebook, tag)[:1]:
            try:
                own, _ = cell_lines(text, source)
            except BadInput:
                continue
            found |= {name: replace(p, advanced=tag == ADVANCED) for name, p in own.items()}
    return tuple(found.values())


def parse_cell(text: str, source: str) -> dict[str, Parameter]:
    """Parameters of a cell's source; see :func:`notebook_parameters`.

    Examples
    --------
    >>> parse_cell("k: int = 5  # how many\\nlimit: float | None = None", "x")["limit"].optional
    True
    """
    found, faults = cell_lines(text, source)
    if faults:
        raise BadInput.listing(f"{source}: the parameters cell holds more than 'name: type = literal' lines:", faults)
    return found


def cell_lines(text: str, source: str) -> tuple[dict[str, Parameter], list[str]]:
    """The lines of a cell that are parameters, and what is wrong with each of the others.

    Raises ``BadInput`` if the cell is not Python.

    Examples
    --------
    >>> found, faults = cell_lines("k: int = 5\\nimport os", "x")
    >>> list(found), faults
    (['k'], ['line 2: import os'])
    """
    try:
        body = ast.parse(text).body
        comments = {
            token.start[0]: token.string.lstrip("# ").strip()
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT
        }
    except SyntaxError as error:
        raise BadInput(f"{source}: the parameters cell does not parse: {error.msg} (line {error.lineno})") from error
    # Half a character, brackets without end.
    except (ValueError, RecursionError, MemoryError, tokenize.TokenError) as error:
        raise BadInput(f"{source}: the parameters cell does not parse ({type(error).__name__})") from error
    found, faults = {}, []
    for node in body:
        parameter = _parameter(node, comments)
        if isinstance(parameter, Parameter):
            found[parameter.name] = parameter
        else:
            faults.append(f"line {node.lineno}: {parameter}")
    return found, faults


def _parameter(node: ast.stmt, comments: Mapping[int, str]) -> Parameter | str:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        name, value = node.target.id, node.value
        words = [part.strip() for part in ast.unparse(node.annotation).split("|")]
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        name, value, words = node.targets[0].id, node.value, []
    else:
        return ast.unparse(node)
    try:
        default = ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError):  # a list as a key
        return f"{name} is not a literal"
    types = tuple(re.sub(r"\[.*\]", "", word) for word in words if word != "None")
    if not types and default is not None:
        types = (type(default).__name__,)
    unknown = [t for t in types if t not in TYPES]
    if unknown:
        return f"{name}: type {', '.join(unknown)}; one of {', '.join(TYPES)}, or any of them | None"
    return Parameter(name, types, "None" in words or default is None, default, comments.get(node.end_lineno or 0, ""))
