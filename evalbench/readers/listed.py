"""Entities that a model lists in its reply: a list of tuples, or JSON; read strictly, so that what is not one is never an empty list."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Collection, Sequence
from typing import NamedTuple

from evalbench.readers.files import parsed_json

FORMATS = ("tuples", "json")
LONGEST = 100_000
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)\n?```", re.DOTALL)


class Listed(NamedTuple):
    """What a reply lists.

    - ``entities`` (tuple of (str, str)): String and class of each, as often as it is listed.
    - ``others`` (tuple of (str, str)): Those of classes that were not asked for.
    """

    entities: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]


class Unparsed(ValueError):
    """A reply that is not of the form that was asked for; says why."""


def listed(reply: str, form: str, classes: Collection[str]) -> Listed:
    """The entities of a reply.

    - ``form`` ({"tuples", "json"}): ``[("string", "class"), …]`` as Python writes it, or ``{"entities": [{"entity":
      "…", "entity_class": "…"}, …]}``. Either may be inside one fenced block; nothing else may be beside it.
    - ``classes``: Those that were asked for.

    Raises ``Unparsed`` for anything else. An empty list is a list; an empty reply is not.

    Examples
    --------
    >>> listed('[("Paris", "LOC"), ("Mira", "PER")]', "tuples", {"LOC"})
    Listed(entities=(('Paris', 'LOC'),), others=(('Mira', 'PER'),))
    >>> listed('{"entities": []}', "json", {"LOC"}).entities
    ()
    """
    text = reply.strip()
    if len(text) > LONGEST:
        raise Unparsed(f"longer than {LONGEST} characters")
    fenced = _FENCE.fullmatch(text)
    text = fenced[1].strip() if fenced else text
    pairs = _tuples(text) if form == "tuples" else _objects(text)
    for string, name in pairs:
        if not string.strip() or not name.strip():
            raise Unparsed("an entity, or its class, is blank")
    found = [(string.strip(), name.strip()) for string, name in pairs]
    asked = tuple(pair for pair in found if pair[1] in classes)
    return Listed(asked, tuple(pair for pair in found if pair[1] not in classes))


def _tuples(text: str) -> Sequence[tuple[str, str]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know: they stay as they are
            tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unparsed("not a list of tuples") from error
    if not isinstance(tree, ast.List):
        raise Unparsed("not a list of tuples")
    pairs = []
    for node in tree.elts:
        cells = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
        texts = [cell.value for cell in cells if isinstance(cell, ast.Constant) and isinstance(cell.value, str)]
        if len(cells) != 2 or len(texts) != 2:
            raise Unparsed("holds something other than tuples of two texts")
        pairs.append((texts[0], texts[1]))
    return pairs


def _objects(text: str) -> Sequence[tuple[str, str]]:
    try:
        value = parsed_json(text)
    except ValueError as error:
        raise Unparsed(f"not JSON ({error})") from error
    rows = value.get("entities") if isinstance(value, dict) and set(value) == {"entities"} else None
    if not isinstance(rows, list):
        raise Unparsed("not an object with one list, entities")
    pairs = []
    for row in rows:
        fits = isinstance(row, dict) and set(row) == {"entity", "entity_class"}
        if not fits or not all(isinstance(cell, str) for cell in row.values()):
            raise Unparsed(f"{json.dumps(row, ensure_ascii=False)[:60]} is not an entity with entity_class")
        pairs.append((row["entity"], row["entity_class"]))
    return pairs
