"""The thresholds of a light in one vocabulary, the same in every study, checked."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evalbench.core.measures import Measure
from evalbench.errors import BadInput
from evalbench.kit.options import Checks


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


class Figure(NamedTuple):
    """What a rule of a figure is checked by: which end is better (None: neither), and its range."""

    higher_is_better: bool | None = True
    within: tuple[float, float] = (0.0, 1.0)


def figures_of(measures: Iterable[Measure], *endless: str) -> dict[str, Figure]:
    """Measures as :func:`rules_of` takes them; those in a unit of ``endless`` have no upper end, the others are from 0 to 1.

    Examples
    --------
    >>> from evalbench.core.measures import mean_of
    >>> figures_of([mean_of("f1", higher_is_better=True), mean_of("edits", unit="words", higher_is_better=False)], "words")
    {'f1': Figure(higher_is_better=True, within=(0.0, 1.0)), 'edits': Figure(higher_is_better=False, within=(0.0, inf))}
    """
    return {m.metric: Figure(m.higher_is_better, (0.0, math.inf if m.unit in endless else 1.0)) for m in measures}


def rules_of(
    lights: Mapping[str, Any] | None, known: Mapping[str, Figure], own: Mapping[str, Mapping[str, float | None]] = {}
) -> dict[str, dict[str, float]]:
    """The checked thresholds of each figure that has some.

    Parameters
    ----------
    lights : mapping or None
        Figure → its rule: the option of that name.
    known : mapping of str to Figure
        Those that can have a light.
    own : mapping
        Rules that options of their own give; they come first, also where their thresholds are not set.

    Raises
    ------
    BadInput
        Lists figures that cannot have a light, rules that are given twice, and thresholds that are not a rule.

    Examples
    --------
    >>> rules_of({"recall": {"green_from": 0.9, "yellow_from": 0.7}}, {"recall": Figure(), "f1": Figure()}, {"f1": {}})
    {'f1': {}, 'recall': {'green_from': 0.9, 'yellow_from': 0.7}}
    >>> rules_of({"r2": {}}, {"recall": Figure(), "f1": Figure()})
    Traceback (most recent call last):
    evalbench.errors.BadInput: lights:
      - lights must be one of recall, f1; got 'r2'
    """
    checks = Checks()
    found: dict[str, dict[str, float]] = {}
    stated = [("", name, rule) for name, rule in own.items()] + [
        (name, name, rule) for name, rule in (lights or {}).items()
    ]
    for of, name, rule in stated:
        if name not in known:
            checks.choice("lights", name, known)
            continue
        checks.that(not found.get(name), f"lights: {name} has its thresholds in {' and '.join(found.get(name, ()))}")
        read = functools.partial(rule_of, rule, of=of, **known[name]._asdict())
        found[name] = checks.tried(read) or {}
    _refuse(checks.faults, "lights:")
    return {name: rule for name, rule in found.items() if rule or name in own}


def _refuse(faults: list[str], head: str = "thresholds:") -> None:
    if faults:
        raise BadInput.listing(head, faults)
