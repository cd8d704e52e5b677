"""Criteria out of YAML: what people and judges mark by.

One criterion, or a list of them::

    name: helpfulness
    definition: Does the answer give the reader what was asked for?
    scale:
      0: nothing of what was asked for
      1: a part of it
      2: all of it
    examples:
      - {mark: 2, text: "The desk is open from 9 to 17.", reason: "the hours were asked for"}
    needs_basis: none
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.judge.tasks import Task, mark_task
from evalbench.readers.strict_yaml import read_yaml

BASES = ("none", "any", "ground_truth", "context")
MOST_MARKS = 10
_FIELDS = ("name", "definition", "scale", "examples", "needs_basis")
_EXAMPLE = ("mark", "text", "reason")


@dataclass(frozen=True)
class Example:
    """A text and the mark that it deserves."""

    mark: int
    text: str
    reason: str = ""


@dataclass(frozen=True)
class Criterion:
    """What is marked, and when each mark is given.

    Attributes
    ----------
    scale : mapping of int to str
        Each mark, in ascending order, and when it is given.
    needs_basis : {"none", "any", "ground_truth", "context"}
        What an item must bring besides the answer.
    """

    name: str
    definition: str
    scale: Mapping[int, str]
    examples: tuple[Example, ...] = field(default=())
    needs_basis: str = "none"


def read_criteria(path: str | Path) -> tuple[Criterion, ...]:
    """The criteria of a YAML file.

    Parameters
    ----------
    path : str or Path
        One mapping with ``name``, ``definition``, ``scale`` (mark → when it is given), and optionally ``examples``
        (``mark``, ``text``, ``reason``) and ``needs_basis``; or a list of such mappings.

    Returns
    -------
    tuple of Criterion
        In the order of the file, names distinct.

    Raises
    ------
    BadInput
        With all faults of all criteria at once: no YAML, a key that is unknown or appears twice, a missing or empty text, fewer
        than two marks or more than :data:`MOST_MARKS`, marks that are not whole numbers, examples off the scale.
    """
    path = Path(path).expanduser()
    content = read_yaml(path)
    given = content if isinstance(content, list) else [content]
    faults: list[str] = [] if given else ["there is no criterion"]
    found = []
    for place, one in enumerate(given, start=1):
        where = f"criterion {place}: " if len(given) > 1 else ""
        wrong = list(_faults(one))
        faults += [where + fault for fault in wrong]
        if not wrong:
            found.append(_criterion(one))
    names = [one.name for one in found]
    faults += [f"the name {name!r} appears twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    if faults:
        raise BadInput.listing(f"{path}: not a file of criteria:", faults)
    return tuple(found)


def task_of_criterion(criterion: Criterion) -> Task:
    """What a judge is asked to mark an answer by a criterion.

    Examples
    --------
    >>> task = task_of_criterion(Criterion("brevity", "Is it short?", {0: "long", 1: "short"}, needs_basis="context"))
    >>> task.labels, task.fields
    ({'0': 0.0, '1': 1.0}, ('answer', 'basis'))
    """
    return mark_task(
        criterion.name,
        criterion.definition,
        criterion.scale,
        examples=[asdict(example) for example in criterion.examples],
        needs_basis=criterion.needs_basis != "none",
    )


def _faults(one: Any) -> Iterator[str]:
    if not isinstance(one, dict):
        yield f"expected a mapping with {', '.join(_FIELDS)}; found {type(one).__name__}"
        return
    yield from (f"unknown key {key!r}; there are {', '.join(_FIELDS)}" for key in one if key not in _FIELDS)
    yield from (f"{key}: expected a text" for key in ("name", "definition") if not _is_text(one.get(key)))
    if _is_text(one.get("name")) and "\n" in one["name"].strip():
        yield "name: expected one line"
    yield from _scale_faults(one.get("scale"))
    yield from _example_faults(one.get("examples"), one.get("scale"))
    if _basis(one.get("needs_basis", "none")) not in BASES:
        yield f"needs_basis: expected one of {', '.join(BASES)}, true or false"


def _scale_faults(scale: Any) -> Iterator[str]:
    if not isinstance(scale, dict):
        yield "scale: expected a mapping of each mark to when it is given, such as {0: no, 1: yes}"
        return
    if not 2 <= len(scale) <= MOST_MARKS:
        yield f"scale: expected 2 to {MOST_MARKS} marks; found {len(scale)}"
    for mark, when in scale.items():
        if not _is_whole(mark):
            # YAML 1.1 reads yes and no as true and false.
            hint = " (YAML reads yes, no, on and off so: put whole numbers)" if isinstance(mark, bool) else ""
            yield f"scale: the mark {mark!r} is not a whole number{hint}"
        if isinstance(when, bool):
            yield f"scale: mark {mark}: {str(when).lower()} is not a text; put it in quotes"
        elif not _is_text(when):
            yield f"scale: mark {mark}: when to give it is missing"


def _example_faults(examples: Any, scale: Any) -> Iterator[str]:
    if examples is None:
        return
    if not isinstance(examples, list):
        yield "examples: expected a list"
        return
    marks = scale if isinstance(scale, dict) else {}
    for place, example in enumerate(examples, start=1):
        if not isinstance(example, dict):
            yield f"examples: {place}: expected mark, text and, if wanted, reason"
            continue
        yield from (f"examples: {place}: unknown key {key!r}" for key in example if key not in _EXAMPLE)
        mark = example.get("mark")
        if marks and (not _is_whole(mark) or mark not in marks):
            yield f"examples: {place}: the mark {mark!r} is not on the scale"
        if not _is_text(example.get("text")):
            yield f"examples: {place}: text is missing"
        if example.get("reason") is not None and not _is_text(example["reason"]):
            yield f"examples: {place}: reason is not a text"


def _criterion(one: Mapping[str, Any]) -> Criterion:
    examples = tuple(
        Example(example["mark"], example["text"].strip(), (example.get("reason") or "").strip())
        for example in one.get("examples") or ()
    )
    scale = {mark: one["scale"][mark].strip() for mark in sorted(one["scale"])}
    return Criterion(
        one["name"].strip(), one["definition"].strip(), scale, examples, _basis(one.get("needs_basis", "none"))
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 1000


def _basis(value: Any) -> str:
    if value is None or value is False:
        return "none"
    return "any" if value is True else str(value)
