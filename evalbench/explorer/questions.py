"""What may be asked of the runs below a folder, by name: the questions of the explorer's page, whoever brings them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.explorer import answers, marks
from evalbench.explorer.distributions import distribution
from evalbench.explorer.history import history
from evalbench.explorer.live import live

if TYPE_CHECKING:
    from evalbench.explorer.reports import Explorer
    from evalbench.explorer.rows import Rows

Values = Mapping[str, Any]


def answer(explorer: Explorer, name: str, values: Values) -> Any:
    """The answer to a question as JSON.

    - ``values``: Of the question, texts as in an address; those of a mark are JSON.

    Raises ``BadInput`` where there is no such question, and for faults of what was asked.
    """
    if name not in QUESTIONS:
        raise BadInput(f"there is no question {name!r}")
    return QUESTIONS[name](explorer, values)


def _of(explorer: Explorer, values: Values) -> Rows:
    return explorer.rows(_text(values, "run"))


def _text(values: Values, name: str) -> str:
    return str(values.get(name, ""))


def _whole(values: Values, name: str, default: int) -> int:
    given = str(values.get(name, default))
    if not given.isdigit():
        raise BadInput(f"{name} must be a whole number, got {given!r}")
    return int(given)


def _items(explorer: Explorer, values: Values) -> Any:
    page = _whole(values, "offset", 0), _whole(values, "limit", 100)
    return answers.items(_of(explorer, values), _text(values, "where"), _text(values, "sort"), *page)


def _item(explorer: Explorer, values: Values) -> Any:
    place = _whole(values, "row", 0), _text(values, "where"), _text(values, "sort")
    return answers.item(_of(explorer, values), *place, blind=_text(values, "blind") == "true")


def _sides(explorer: Explorer, values: Values) -> tuple[Rows, Rows, tuple[str, str], str, str]:
    sides = _of(explorer, values), explorer.rows(_text(values, "with") or _text(values, "run"))
    groups = _text(values, "left"), _text(values, "right")
    return *sides, groups, _text(values, "metric"), _text(values, "where")


def _compare(explorer: Explorer, values: Values) -> Any:
    verdict, sort = _text(values, "verdict"), _text(values, "sort")
    return answers.compare(*_sides(explorer, values), verdict, sort, _whole(values, "offset", 0))


QUESTIONS: dict[str, Callable[[Explorer, Values], Any]] = {
    "runs": lambda e, _: e.runs(),
    "live": lambda e, v: live(e.folder(_text(v, "run"))),
    "about": lambda e, v: answers.about(_text(v, "run"), _of(e, v)),
    "items": _items,
    "item": _item,
    "history": lambda e, v: history(e, _text(v, "run"), _whole(v, "row", 0)),
    "marks": lambda e, v: answers.marks(_of(e, v), *(_text(v, name) for name in ("row", "where", "sort", "annotator"))),
    "distribution": lambda e, v: distribution(_of(e, v), _text(v, "column"), _text(v, "where")),
    "compare": _compare,
    "difference": lambda e, v: answers.difference(*_sides(e, v)),
    "standing": lambda e, v: answers.stands(_of(e, v), _text(v, "where"), _text(v, "options")),
    "code": lambda e, v: answers.code(_of(e, v).folder, _text(v, "where"), _text(v, "sort"), _text(v, "options")),
    "mark": lambda e, v: marks.save(_of(e, v), v),
}
WRITES = {"mark"}
"""Questions that write; the others change nothing."""
