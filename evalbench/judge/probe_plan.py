"""What is asked of a judge that is probed: the answers as they are, with an order to the judge or a neutral text added, constant texts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evalbench.core.seeds import keys, uniforms
from evalbench.judge.criteria import Criterion
from evalbench.judge.pairwise import ORDERS
from evalbench.judge.probe_texts import INJECTIONS, LANGUAGES, NULLS, PADDING, null_text

PROBES = ("injected", "null")
PAIR = "output_other"
Item = Mapping[str, Any]


class Wanted(NamedTuple):
    """One verdict to ask for, so many times: its row but for what the judge says, and what the judge is shown."""

    row: dict[str, Any]
    shown: dict[str, Any]
    times: int


class Tries(NamedTuple):
    """What is tried.

    Attributes
    ----------
    probes, languages, nulls : tuple of str
        See :func:`evalbench.judge.probes.probe`.
    own : mapping of str to str
        Constant texts of the user's.
    """

    probes: tuple[str, ...]
    languages: tuple[str, ...]
    nulls: tuple[str, ...]
    own: Mapping[str, str]
    repeats: int

    def faults(self) -> Iterator[str]:
        """What is wrong with it, in words."""
        for what, given, known in (
            ("probe", self.probes, PROBES),
            ("language", self.languages, LANGUAGES),
            ("constant text", self.nulls, tuple(NULLS)),
        ):
            yield from (
                f"there is no {what} {one!r}; there are {', '.join(known)}" for one in given if one not in known
            )
        if self.repeats < 1:
            yield f"repeats is {self.repeats}; at least 1"
        for name, text in self.own.items():
            if name in NULLS:
                yield f"the constant text {name!r} has the name of one of ours"
            if not text.strip():
                yield f"the constant text {name!r} is empty"


def item_faults(items: Sequence[Item]) -> Iterator[str]:
    """What is wrong with items that shall be judged, in words."""
    if not items:
        yield "there is no item"
        return
    if len({PAIR in item for item in items}) > 1:
        yield f"some items are pairs ({PAIR}), others are not"
    seen: set[str] = set()
    for place, item in enumerate(items):
        name_of = item.get("id")
        if not isinstance(name_of, str) or not name_of:
            yield f"item {place}: its id is {name_of!r}, not a text"
        elif _unit(item) in seen:
            yield f"item {place}: the id {name_of!r} appears twice"
        else:
            seen.add(_unit(item))
        yield from (
            f"item {name_of!r}: {name} is {item.get(name)!r}, not a text"
            for name in ("output", PAIR, "question", "basis", "lang", "model", "model_other")
            if (name in item or name == "output") and not isinstance(item.get(name), str)
        )


def planned(items: Sequence[Item], criterion: Criterion, tries: Tries, seed: int) -> list[Wanted]:
    """Every verdict by one criterion.

    Examples
    --------
    >>> brevity = Criterion("brevity", "Which is shorter?", {0: "no", 1: "yes"})
    >>> pair = {"id": "1", "output": "At noon.", "output_other": "Noon."}
    >>> [one.shown["id"] for one in planned([pair], brevity, Tries(("null",), (), ("evasive",), {}, 2), 0)]
    ['1|brevity|ab', '1|brevity|ba', '1|brevity|ab|null|evasive', '1|brevity|ba|null|evasive']
    """
    named = [{**item, "unit": _unit(item)} for item in items]
    own = uniforms(keys(seed, "probe/side", [item["unit"] for item in named]), 0) < 0.5
    tried = [one if first or PAIR not in one else _turned(one) for one, first in zip(named, own.tolist(), strict=True)]
    plain = [("", "", item) for item in named]
    changed = [one for item in tried for one in _changed(item, tries)]
    return [
        Wanted(*_verdict(item, criterion, order, probe, variant), 1 if probe else tries.repeats)
        for probe, variant, item in (*plain, *_once(changed))
        for order in (ORDERS if PAIR in item else ("",))
    ]


def _unit(item: Item) -> str:
    return "|".join(str(item[name]) for name in ("id", "model", "model_other") if item.get(name))


def _turned(item: Item) -> dict[str, Any]:
    """The pair with its other answer in the place of the one that is tried."""
    return {**item, "output": item[PAIR], PAIR: item["output"], "turned": True}


def _changed(item: Item, tries: Tries) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Probe, variant, and the item with another output."""
    if "injected" in tries.probes:
        neutral = PADDING.get(item.get("lang", "en"), PADDING["en"])
        yield "padded", "neutral", {**item, "output": f"{item['output']}\n\n{neutral}"}
        for language in tries.languages:
            yield "injected", language, {**item, "output": f"{item['output']}\n\n{INJECTIONS[language]}"}
    if "null" in tries.probes:
        for name in (*tries.nulls, *tries.own):
            text = null_text(name, item.get("lang", "en"), tries.own)
            yield "null", name, {**item, "output": text, "model": f"null: {name}"}


def _once(changed: Sequence[tuple[str, str, dict[str, Any]]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Without a constant text that the same question has already, for the answer of another model; of pairs it is numbered."""
    seen: dict[tuple[str, str], int] = {}
    for probe, variant, item in changed:
        n = 0
        if probe == "null":
            n = seen.get((item["id"], variant), 0)
            seen[item["id"], variant] = n + 1
        if not n:
            yield probe, variant, item
        elif PAIR in item:
            yield probe, variant, {**item, "repeat": str(n + 1)}


def _verdict(
    item: Item, criterion: Criterion, order: str, probe: str, variant: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    other = item.get(PAIR, "")
    row = {
        "id": item["id"],
        "model": item.get("model", ""),
        "criterion": criterion.name,
        "order": order,
        "repeat": item.get("repeat", ""),
        "probe": probe,
        "variant": variant,
        "effect": math.nan,
        "room": math.nan,
        "length": float(len(item["output"])),
        "length_other": float(len(other)) if order else math.nan,
        "question": item.get("question", ""),
        "output": item["output"],
        PAIR: other,
        "lang": item.get("lang", "en"),
        "unit": item["unit"],
        "turned": item.get("turned", False),
    }
    name = "|".join(filter(None, (item["unit"], criterion.name, order, probe, variant)))
    shown = {"id": name} | {key: item[key] for key in ("question", "basis") if item.get(key)}
    if not order:
        return row, {**shown, "answer": item["output"]}
    texts = (item["output"], other) if order == "ab" else (other, item["output"])
    return row, {**shown, "first": texts[0], "second": texts[1]}
