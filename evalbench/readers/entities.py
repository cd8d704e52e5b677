"""Entities that cells list: places with a class, or strings with a class, in whatever form others write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.readers import offsets
from evalbench.readers.role_names import plain, roles
from evalbench.readers.written import value_of

if TYPE_CHECKING:
    import pandas as pd

_WRAPPED = ("entities", "spans", "ents", "result", "results", "annotations", "labels")
"""Keys of objects that hold nothing but a list of entities."""
_LOOKED_AT = 200


class Listed(NamedTuple):
    """One listed entity; what is not said is None.

    - ``names``: The keys of its two ends; empty where they have none.
    """

    start: Any = None
    end: Any = None
    kind: Any = None
    words: Any = None
    names: tuple[str, str] = ("", "")


def entity_of(value: Any) -> Listed | None:
    """An entity out of a list of start, end and class in any order of these, a pair of string and class, or an object.

    Examples
    --------
    >>> entity_of([10, 18, "person"])[:4], entity_of(["person", 10, 18])[:4], entity_of(["Ivo Lund", "person"])[2:4]
    ((10, 18, 'person', None), (10, 18, 'person', None), ('person', 'Ivo Lund'))
    >>> entity_of({"value": {"start": 3, "end": 7, "text": "Oslo", "labels": ["place"]}})[:4]
    (3, 7, 'place', 'Oslo')
    """
    if isinstance(value, Mapping):
        inner = value.get("value")
        return _of_object(inner if isinstance(inner, Mapping) else value)
    if not isinstance(value, (list, tuple)):
        return None
    places = [cell for cell in value if isinstance(cell, int) and not isinstance(cell, bool)]
    texts = [kind for cell in value if (kind := _one_text(cell)) is not None]
    if len(value) == 3 and len(places) == 2 and len(texts) == 1:
        return Listed(places[0], places[1], texts[0])
    if len(value) == 2 and len(texts) == 2:
        return Listed(kind=texts[1], words=texts[0])
    return None


def _one_text(cell: Any) -> str | None:
    """A text, or the only one of a list."""
    cell = cell[0] if isinstance(cell, list) and len(cell) == 1 else cell
    return cell if isinstance(cell, str) else None


def _of_object(value: Mapping[Any, Any]) -> Listed | None:
    start, end, kind, words = keys_of(tuple(map(str, value)))
    said = {own: value[key] for own, key in (("start", start), ("end", end), ("words", words)) if key}
    if not kind or _one_text(value[kind]) is None or not ({"start", "end"} <= said.keys() or "words" in said):
        return None
    return Listed(**said, kind=_one_text(value[kind]), names=(start, end))


@lru_cache
def keys_of(keys: tuple[str, ...]) -> tuple[str, str, str, str]:
    """The keys of an object that hold first character, end, class and string of an entity; empty for what none holds.

    Examples
    --------
    >>> keys_of(("id", "begin", "end", "type")), keys_of(("text", "label"))
    (('begin', 'end', 'type', ''), ('', '', 'label', 'text'))
    """
    held = {plain(key): key for key in reversed(keys)}
    found = []
    for name, own in (
        ("start", tuple(offsets.START)),
        ("end", tuple(offsets.END)),
        ("entity_class", ("tag",)),
        ("entity", ()),
    ):
        known = (*own, name, *roles()[name].names, *roles()[name].weak)
        found.append(next((held[plain(one)] for one in known if plain(one) in held), ""))
    return found[0], found[1], found[2], found[3]


def lists_in(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """The columns whose cells list entities, and their lists; cells that are written as JSON, or as Python writes it, are read."""
    found = {}
    for name in frame.columns:
        cells = frame[name].map(listed)
        first = [cell for cell in cells.head(_LOOKED_AT) if isinstance(cell, list) and cell]
        if 2 * sum(entity_of(cell[0]) is not None for cell in first) > len(first):
            found[str(name)] = cells
    return found


def listed(cell: Any) -> Any:
    """A cell's list of entities: a list, an object that holds one, or strings by their class; any other cell as it is.

    Examples
    --------
    >>> listed('{"entities": [[0, 4, "place"]]}'), listed({"place": ["Oslo"], "person": []}), listed([{"result": []}])
    ([[0, 4, 'place']], [['Oslo', 'place']], [])
    """
    value = value_of(cell) if isinstance(cell, str) else cell
    if (
        isinstance(value, list)
        and len(value) == 1
        and isinstance(value[0], Mapping)
        and isinstance(value[0].get("result"), list)
    ):
        return value[0]["result"]
    if not isinstance(value, Mapping):
        return value if isinstance(value, (list, Mapping)) else cell
    wrapped = [value[key] for key in _WRAPPED if isinstance(value.get(key), list)]
    if len(wrapped) == 1 and not _by_class(value):
        return wrapped[0]
    return [[string, kind] for kind, strings in value.items() for string in strings] if _by_class(value) else cell


def _by_class(value: Mapping[Any, Any]) -> bool:
    cells = list(value.values())
    return bool(cells) and all(isinstance(own, list) and all(isinstance(one, str) for one in own) for own in cells)


def placed(places: Iterable[tuple[Listed, str]]) -> list[offsets.Place]:
    """Listed entities with their texts as places; those whose ends are no whole numbers are left to the schema."""
    return [
        offsets.Place(one.start, one.end, text, one.words if isinstance(one.words, str) else "")
        for one, text in places
        if isinstance(one.start, int) and isinstance(one.end, int)
    ]
