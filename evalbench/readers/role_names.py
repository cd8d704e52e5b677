"""What a column's name says that it holds: the roles of ``roles.yaml``, and how well a name or a path fits one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evalbench.readers.schema import Column
from evalbench.readers.strict_yaml import read_yaml


@dataclass(frozen=True)
class Role:
    """What a column can hold: the names that others give to it, and the kind of its cells."""

    name: str
    kind: str
    names: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()


@cache
def roles() -> Mapping[str, Role]:
    """All roles by name."""
    content = read_yaml(Path(__file__).with_name("roles.yaml"))
    return {name: Role(name, **{key: _given(value) for key, value in own.items()}) for name, own in content.items()}


def _given(value: Any) -> Any:
    return tuple(map(plain, value)) if isinstance(value, list) else value


_CAMEL = re.compile(r"(?<=[a-zа-я0-9])(?=[A-ZА-Я])")
_BETWEEN = re.compile(r"[\s_\-./:]+")


def plain(name: str) -> str:
    """A column's name without case, blanks and signs between its words.

    Examples
    --------
    >>> plain("User-Input"), plain("userInput"), plain(" user input "), plain("模型回答")
    ('user input', 'user input', 'user input', '模型回答')
    """
    return _BETWEEN.sub(" ", _CAMEL.sub(" ", str(name).strip())).strip().casefold()


def fit(name: str, column: Column) -> int | None:
    """How well a name fits a column: 0 its own or its role's, 1 one that others give to it, 2 one that may mean it.

    Examples
    --------
    >>> output = Column("output", "text", role="answer")
    >>> fit("Output", output), fit("bot_response", output), fit("result", output), fit("colour", output)
    (0, 1, 2, None)
    >>> fit("outputs.answer", output), fit("reference_outputs.answer", output)
    (1, None)
    """
    role, own = role_of(column), plain(name)
    if own == plain(column.name):
        return 0
    found = None if role is None else fit_role(name, role)
    return 2 if found is None and own in column.perhaps else found


def fit_role(name: str, role: Role) -> int | None:
    """As :func:`fit`, of a role."""
    own = _of_words(plain(name), role)
    return _of_path(name, role) if own is None else own


def _of_words(own: str, role: Role) -> int | None:
    return 0 if own == plain(role.name) else 1 if own in role.names else 2 if own in role.weak else None


def role_of(column: Column) -> Role | None:
    """The role of a study's column, if it has one."""
    return roles().get(column.role or column.name)


def roles_of(name: str) -> frozenset[str]:
    """The roles that a column of this name can have in some table, by the names that others give to it.

    Examples
    --------
    >>> sorted(roles_of("bot_response")), sorted(roles_of("colour"))
    (['answer'], [])
    """
    own = plain(name)
    return frozenset(role.name for role in roles().values() if own == plain(role.name) or own in role.names)


def role_called(name: str) -> Role | None:
    """The role that a study's column of this name has, by its name alone."""
    own = plain(name)
    known = roles()
    return known.get(name) or next((role for role in known.values() if own in (*role.names, *role.weak)), None)


_NO_SCORES = frozenset({
    "token", "tokens", "latency", "stamp", "timestamp", "time", "times", "second", "seconds", "sec", "secs", "ms", "duration", "cost",
    "costs", "usd", "price", "count", "counts", "n", "length", "lengths", "number", "seed", "year",
    "время", "секунд", "секунды", "сек", "мс", "с", "задержка", "длительность", "стоимость", "цена", "токенов", "токены", "длина", "количество", "год",
})  # fmt: skip
_NO_SCORES_IN_CHINESE = ("时间", "耗时", "延迟", "秒", "费用", "成本", "价格", "长度", "数量", "年份")


def names_no_score(name: str) -> bool:
    """Whether a column of numbers is, by its name, an identifier, a right answer, an amount or a time, and not a score.

    Examples
    --------
    >>> names = ("cost_usd", "n_tokens", "№", "время, с", "响应时间", "right_answer", "sentiment", "faithfulness", "оценка")
    >>> [name for name in names if names_no_score(name)]
    ['cost_usd', 'n_tokens', '№', 'время, с', '响应时间', 'right_answer']
    """
    own, named = plain(name), roles_of(name)
    kinds = {role.kind for role in roles().values() if role.name in named and role.name != "score"}
    amount = not _NO_SCORES.isdisjoint(re.split(r"[\s,()]+", own)) or any(word in own for word in _NO_SCORES_IN_CHINESE)
    return own.startswith("№") or "reference" in named or amount or not kinds.isdisjoint({"id", "number", "time"})


# -- paths ----------------------------------------------------------------------------------------

RIGHT_OR_SAID = frozenset({"answer", "ответ", "答案"})
"""Names of an answer that do not say whether the model gave it or it is the right one."""
_ASKED = frozenset({
    "inputs", "input", "vars", "data", "doc", "item", "row", "example", "fields", "record", "sample", "test", "metadata", "meta",
})  # fmt: skip
_SAID = frozenset({"outputs", "output", "prediction", "response", "run", "completion"})
_RIGHT = frozenset(
    {
        "reference outputs",
        "reference output",
        "reference",
        "expected",
        "expected output",
        "ground truth",
        "gold",
        "target",
    }
)
_VALUE = frozenset({"text", "value", "content"})


def _of_path(name: str, role: Role) -> int | None:
    """How well a path such as ``inputs.question`` fits a role: its head says who gave what its end names."""
    head, dot, rest = re.sub("/", ".", str(name).strip()).partition(".")
    first, end = plain(head), plain(rest)
    if not dot or not end or not first:
        return None
    if first in _RIGHT:
        return (
            1
            if role.name == "reference" and (_of_words(end, role) is not None or end in RIGHT_OR_SAID | _VALUE)
            else None
        )
    if first in _ASKED and end in RIGHT_OR_SAID:
        return 1 if role.name == "reference" else None
    if first in _SAID and end in _VALUE:
        return 1 if role.name == "answer" else None
    if first in _ASKED | _SAID:
        found = _of_words(end, role)
        return None if found is None or (first in _SAID and role.name == "reference") else max(1, found)
    return _of_words(first, role) if end in _VALUE else None
