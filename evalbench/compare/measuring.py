"""Runs whose options measure otherwise: no verdict on the figures that these move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalbench.core.compared import ANOTHER_JUDGE, ANOTHER_MEASURE, Comparison, in_words
from evalbench.core.notes import Note
from evalbench.core.wording import listed
from evalbench.kit.measuring import moves

_LONG = 40


def with_measures(d: Any, measured_by: Mapping[str, Sequence[str]]) -> Any:
    """The differences of two runs (:class:`evalbench.compare.runs.Differences`), those of figures measured otherwise without a verdict."""
    recorded = [one.results["parameters"] for one in (d.reference, d.side)]  # an older run lacks an option of today
    options = {
        name: f"{name}: {_short(then)} → {_short(now)}"
        for name, then, now in d.parameters
        if all(name in of for of in recorded)
    }
    names = (d.side.name, d.reference.name)
    found: dict[str, dict[str, None]] = {}

    def void(one: Any) -> Any:
        c: Comparison = one.comparison
        by = [name for name in options if moves(measured_by.get(name, ()), c.metric)]
        if not by or c.outcome in ("undefined", ANOTHER_JUDGE):
            return one
        found.setdefault(", ".join(options[name] for name in by), {})[c.title] = None
        note = "; ".join(filter(None, [c.note, f"measured differently: {', '.join(by)}"]))
        changed = replace(c, outcome=ANOTHER_MEASURE, note=note)
        return one._replace(comparison=replace(changed, words=in_words(changed, names)))

    rows, slices = tuple(map(void, d.rows)), tuple(map(void, d.slices))
    if not found:
        return d
    notes = [
        Note(
            "instrument",
            f"measured differently ({by})",
            f"Measured differently ({by}), so that a difference may come from the measurement; without a verdict: "
            f"{listed([*titles], 5, ' and ')}.",
        )
        for by, titles in found.items()
    ]
    return replace(d, rows=rows, slices=slices, notes=(*notes, *d.notes))


def _short(value: Any) -> str:
    text = repr(value) if not isinstance(value, str) else value or "empty"
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
