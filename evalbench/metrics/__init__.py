"""Metrics: pure functions, each with a card that says what to know before believing it."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalbench.metrics.registry import Card


def list() -> builtins.list[Card]:
    """The cards of all text metrics, by name; asks no network and loads no model.

    Examples
    --------
    >>> [entry.name for entry in list()][:3]
    ['bertscore', 'chrf', 'context_contradiction']
    """
    from evalbench.metrics.registry import cards

    return [entry for entry in cards() if entry.kind in ("text", "texts")]
