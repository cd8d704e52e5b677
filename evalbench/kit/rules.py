"""The thresholds of a light in one vocabulary, the same in every study, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evalbench.errors import BadInput


def rule_of(
    rule: Any,
    *,
    higher_is_better: bool | None = True,
    within: tuple[float, float] = (-math.inf, math.inf),
    of: str = "",
) -> dict[str, float]:
    """The two thresholds of a light, checked; none where neither is set.

    Parameters
    ----------
    rule : mapping of str to float or None
        ``green_from`` and ``yellow_from``: at or above; where less is better ``green_to`` and ``yellow_to``: at or below.
    higher_is_better : bool or None
    within : (float, float)
        The figure's range.
    of : str
        The figure, where an option has rules of several.

    Raises
    ------
    BadInput
        Lists all faults of the rule.

    Examples
    --------
    >>> rule_of({"green_from": 0.8, "yellow_from": 0.4}), rule_of({"green_from": None, "yellow_from": None})
    ({'green_from': 0.8, 'yellow_from': 0.4}, {})
    """
    start = f"lights: {of}: " if of else ""
    if higher_is_better is None:
        raise BadInput(f"{start}no light, because it has no better and worse")
    green, yellow = words = ("green_from", "yellow_from") if higher_is_better else ("green_to", "yellow_to")
    if not isinstance(rule, Mapping):
        first, last = (yellow, green) if higher_is_better else (green, yellow)
        cuts = rule if isinstance(rule, list | tuple) and len(rule) == 2 else (0.4, 0.7)
        raise BadInput(f'{start}thresholds are named: {{"{first}": {cuts[0]}, "{last}": {cuts[1]}}}; got {rule!r}')
    known = {word: rule[word] for word in words if rule.get(word) is not None}
    if set(rule) - set(words):
        better = "more" if higher_is_better else "less"
        raise BadInput(f"{start}{better} is better, so its thresholds are {green} and {yellow}; got {', '.join(rule)}")
    if len(known) == 1:
        raise BadInput(f"{start}{green} and {yellow} are set together or not at all; got {next(iter(known))} alone")
    number = {word: isinstance(value, int | float) and math.isfinite(value) for word, value in known.items()}
    faults = [f"{start}{word} must be a number, got {known[word]!r}" for word, holds in number.items() if not holds]
    if faults or not known:
        _refuse(faults)
        return {}
    low, high = within
    span = f"between {low:g} and {high:g}" if math.isfinite(high) else f"at least {low:g}"
    faults = [f"{start}{w} must be {span}, got {v!r}" for w, v in known.items() if not low <= v <= high]
    if not (known[green] > known[yellow] if higher_is_better else known[green] < known[yellow]):
        order = "above" if higher_is_better else "below"
        faults.append(f"{start}{green} must be {order} {yellow}, got {known[green]!r} and {known[yellow]!r}")
    _refuse(faults)
    return known


def _refuse(faults: list[str]) -> None:
    if faults:
        raise BadInput.listing("thresholds:", faults)
