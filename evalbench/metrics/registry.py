"""The registry of metrics: one decorator, one frozen card per metric."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
# The columns of texts that text metrics may need besides the outputs; every other argument of theirs is an option.
COLUMNS = ("references", "contexts", "requests", "samples")
# What a text metric is a sign of, in the order of the lists.
CATEGORIES = ("accuracy", "syntactic", "semantic", "faithfulness", "quality", "other")
TEXT_KINDS = ("text", "texts")
# How the name of a metric begins that a module of Hugging Face evaluate computes, see evalbench.kit.modules.
MODULE = "evaluate:"
_MODULE_NAME = re.compile(rf"{MODULE}\w+(\.\w+)?")
_TEXTS = {*COLUMNS, "outputs", "output", "reference"}


@dataclass(frozen=True, kw_only=True)
class Card:
    """What anyone must know of a metric before believing it.

    Attributes
    ----------
    function : callable
        The metric itself, unchanged by the decorator.
    kind : str
        What it is made from: ``"text"`` (output, reference → score), ``"pair"``, ``"counts"``, ``"ranking"``, …
        Law tests choose their laws by it.
    range : (float, float)
        Infinite ends allowed.
    higher_is_better : bool or None
    needs : tuple of str
        Inputs besides the output: ``"reference"``, ``"context"``, ``"samples"``, ``"request"``, ``"embed"``, ``"judge"``,
        ``"package:bert-score"``.
    languages : str
        ``"any"`` or what it is limited to.
    reference : str
        Source with section.
    summary : str
        One line.
    unit : str
    example : (dict, object)
        Golden example: keyword arguments and the value they give.
    category : str
        Of text metrics, one of :data:`CATEGORIES`: the last, where none is given.
    limitations : str
        What it does not see.
    values : str
        What its values mean.
    source : str
        SHA-256 of the files of a module; empty for our own.
    """

    name: str
    function: Callable[..., Any]
    kind: str
    range: tuple[float, float]
    higher_is_better: bool | None
    needs: tuple[str, ...] = ("reference",)
    languages: str = "any"
    reference: str = ""
    summary: str = ""
    aliases: tuple[str, ...] = ()
    unit: str = "0–1"
    example: tuple[Mapping[str, Any], Any] = field(default=({}, None))
    category: str = ""
    limitations: str = ""
    values: str = ""
    source: str = ""

    def __repr__(self) -> str:
        direction = {True: ", higher is better", False: ", lower is better", None: ""}[self.higher_is_better]
        needs = f"; needs {', '.join(self.needs)}" if self.needs else ""
        return f"<{self.name}: {self.summary} ({self.unit}{direction}{needs})>"


_CARDS: dict[str, Card] = {}
_ALIASES: dict[str, str] = {}
_MADE: dict[str, Card] = {}


def metric(
    *,
    name: str = "",
    kind: str,
    range: tuple[float, float],
    higher_is_better: bool | None,
    example: tuple[Mapping[str, Any], Any],
    reference: str,
    **card: Any,
) -> Callable[[F], F]:
    """Register a function as a metric; it is returned unchanged.

    Parameters
    ----------
    name : str, optional
        Defaults to the function's name.
    kind, range, higher_is_better, example, reference, **card
        As in :class:`Card`.

    Raises
    ------
    ValueError
        If a name or an alias is taken, or there is no such category.
    """

    def register(function: F) -> F:
        summary = (function.__doc__ or "").strip().split("\n")[0].rstrip(".")
        of_texts = {"category": CATEGORIES[-1]} if kind in TEXT_KINDS else {}
        entry = Card(
            name=name or function.__name__,
            function=function,
            kind=kind,
            range=range,
            higher_is_better=higher_is_better,
            example=example,
            reference=reference,
            summary=card.pop("summary", summary),
            **(of_texts | card),
        )
        if entry.category not in ("", *CATEGORIES):
            raise ValueError(f"metric {entry.name!r}: category {entry.category!r} is none of {', '.join(CATEGORIES)}")
        for known in (entry.name, *entry.aliases):
            owner = _ALIASES.get(known, known)
            taken = _CARDS.get(owner)
            if taken is not None and taken.function.__qualname__ != function.__qualname__:
                raise ValueError(f"metric name {known!r} is taken by {taken.name}")
        _CARDS[entry.name] = entry
        _ALIASES.update(dict.fromkeys(entry.aliases, entry.name))
        return function

    return register


def _load_all() -> None:
    own, package = Path(__file__).stem, __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name != own:
            importlib.import_module(f"{package}.{module.name}")


def cards() -> tuple[Card, ...]:
    """All cards, by name; loads no model and asks no network."""
    _load_all()
    return tuple(_CARDS[name] for name in sorted(_CARDS))


def made(entry: Card) -> Card:
    """Keep the card of a metric that a run made, so that :func:`card` finds it; it is not among :func:`cards`."""
    _MADE[entry.name] = entry
    return entry


def _elsewhere(name: str) -> Card | None:
    """What is known of a module's metric where the module was not loaded: its name."""
    if not _MODULE_NAME.fullmatch(name) or name.endswith(("_unscored", "_undefined")):
        return None

    def not_loaded(**_: Any) -> Any:
        raise KeyError(f"the module of {name} was not loaded in this process")

    return Card(
        name=name,
        function=not_loaded,
        kind="texts",
        range=(-math.inf, math.inf),
        higher_is_better=None,
        needs=(),
        summary="a metric of a module of Hugging Face evaluate",
        unit="",
    )


def card(name: str) -> Card:
    """The card of a metric by its name or alias; of a module's metric what is known of it.

    Raises
    ------
    KeyError
        If there is none; the message names the nearest.

    Examples
    --------
    >>> card("f1score").name, card("evaluate:wer").higher_is_better
    ('f1_score', None)
    """
    if name.startswith(MODULE) and (found := _MADE.get(name) or _elsewhere(name)):
        return found
    _load_all()
    found = _CARDS.get(_ALIASES.get(name, name))
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(name, [*_CARDS, *_ALIASES], n=3)
        raise KeyError(f"no metric {name!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))
    return found


def options_of(entry: Card) -> dict[str, Any]:
    """The options that a text metric takes, with their defaults; ``inspect.Parameter.empty`` where one must be given.

    Examples
    --------
    >>> options_of(card("f1_score"))
    {'normalise': 'full', 'language': 'en'}
    """
    parameters = inspect.signature(entry.function).parameters.values()
    return {each.name: each.default for each in parameters if each.name not in _TEXTS}
