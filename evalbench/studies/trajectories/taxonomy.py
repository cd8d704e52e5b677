"""A taxonomy of failures out of YAML: groups of kinds, each with when it is named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.strict_yaml import read_yaml

SHIPPED = Path(__file__).with_name("taxonomy.yaml")
NO_FAILURE = "no_failure"
"""What a judge says of a trajectory in which nothing failed."""
MOST_KINDS = 23
"""With that of no failure 24, as many kinds as ``judge_audit`` counts."""
_NAME = re.compile(r"[^\W_][\w \-]{0,59}")


class Kind(NamedTuple):
    """A kind of failure: its name, in which letters and ``_`` alone are left, its group, and when it is named."""

    name: str
    group: str
    definition: str


class Taxonomy(NamedTuple):
    """Kinds of failures in the order of their file."""

    kinds: tuple[Kind, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the kinds."""
        return tuple(kind.name for kind in self.kinds)

    @property
    def groups(self) -> tuple[tuple[str, tuple[Kind, ...]], ...]:
        """Each group with its kinds."""
        order = dict.fromkeys(kind.group for kind in self.kinds)
        return tuple((group, tuple(kind for kind in self.kinds if kind.group == group)) for group in order)


def read_taxonomy(path: str | Path = "") -> Taxonomy:
    """The kinds of failures of a file, by default ours.

    Parameters
    ----------
    path : str or Path
        YAML: ``groups``, a list of ``name`` and ``kinds``, each of them with ``name`` and ``definition``.

    Raises
    ------
    BadInput
        With all faults at once, each with its group and kind: no YAML, keys that are unknown, names or definitions that are missing,
        a name that appears twice (case, blanks and hyphens aside) or is that of no failure, no kind or more than :data:`MOST_KINDS`.

    Examples
    --------
    >>> ours = read_taxonomy()
    >>> len(ours.kinds), [group for group, _ in ours.groups]
    (14, ['goal and plan', 'acting', 'checking and ending'])
    """
    path = Path(path).expanduser() if path else SHIPPED
    content = read_yaml(path)
    faults: list[str] = []
    kinds: list[Kind] = []
    for where, group, one in _listed(content, faults):
        wrong = list(_faults(one))
        faults += [f"{where}{fault}" for fault in wrong]
        if not wrong:
            kinds.append(Kind(slug(one["name"]), group, " ".join(one["definition"].split())))
    names = [kind.name.casefold() for kind in kinds]
    faults += [f"the kind {name!r} appears twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    faults += [f"the kind {NO_FAILURE!r} is ours: it is said where nothing failed"] * (NO_FAILURE in names)
    if not faults and not kinds:
        faults.append("there is no kind")
    if len(kinds) > MOST_KINDS:
        faults.append(f"{len(kinds)} kinds, of which judges tell at most {MOST_KINDS} apart")
    if faults:
        raise BadInput.listing(f"{path}: not a taxonomy of failures:", faults)
    return Taxonomy(tuple(kinds))


def slug(name: str) -> str:
    """A name as judges and tables have it.

    Examples
    --------
    >>> slug(" Wrong-arguments "), slug("error left")
    ('wrong_arguments', 'error_left')
    """
    return re.sub(r"[\s\-]+", "_", name.strip()).lower()


def _listed(content: Any, faults: list[str]) -> Iterator[tuple[str, str, Any]]:
    """Every kind with its place and group; what is wrong with the groups goes to the faults."""
    if not isinstance(content, Mapping) or not isinstance(content.get("groups"), list):
        faults.append("expected groups: a list of groups, each with name and kinds")
        return
    faults += [f"unknown key {key!r}; there is groups" for key in content if key != "groups"]
    seen: list[str] = []
    for place, group in enumerate(content["groups"], start=1):
        where = f"group {place}: "
        if not isinstance(group, Mapping):
            faults.append(f"{where}expected name and kinds; found {type(group).__name__}")
            continue
        faults += [
            f"{where}unknown key {key!r}; there are name, kinds" for key in group if key not in ("name", "kinds")
        ]
        name = group.get("name")
        named = isinstance(name, str) and bool(name.strip()) and "\n" not in name.strip()
        own = " ".join(str(name).split()) if named else ""
        faults += [] if named else [f"{where}name: expected a text of one line"]
        faults += [f"{where}the name {own!r} appears twice"] * (named and own.casefold() in seen)
        seen.append(own.casefold())
        if not isinstance(group.get("kinds"), list) or not group["kinds"]:
            faults.append(f"{where}kinds: expected a list of kinds")
            continue
        yield from ((f"group {place}, kind {n}: ", own, kind) for n, kind in enumerate(group["kinds"], start=1))


def _faults(kind: Any) -> Iterator[str]:
    if not isinstance(kind, Mapping):
        yield f"expected name and definition; found {type(kind).__name__}"
        return
    yield from (f"unknown key {key!r}; there are name, definition" for key in kind if key not in ("name", "definition"))
    name, definition = kind.get("name"), kind.get("definition")
    if not isinstance(name, str) or not _NAME.fullmatch(name.strip()):
        yield f"name: expected a text of letters, digits, blanks, - and _, at most 60; found {name!r:.60}"
    if not isinstance(definition, str) or not definition.strip():
        yield "definition: expected a text"
