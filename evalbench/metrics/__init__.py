"""Metrics: pure functions, each with a card that says what to know before believing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalbench.metrics.registry import Card


def cards() -> list[Card]:
    """The cards of all text metrics, by name; asks no network and loads no model.

    Examples
    --------
    >>> [entry.name for entry in cards()][:3]
    ['bertscore', 'chrf', 'context_contradiction']
    """
    from evalbench.metrics import registry

    return [entry for entry in registry.cards() if entry.kind in ("text", "texts")]


def __getattr__(name: str) -> object:
    if name == "list":
        raise AttributeError("evalbench.metrics.list is now evalbench.metrics.cards")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
