"""Traffic lights as data: bands over one figure, or ordered named cases over several.

A light is one of ``green``, ``yellow``, ``red``, ``grey`` (not enough evidence to say) and
``unlit`` (this figure has no rule).  Rules are checked when they are built: bands that leave a gap
or overlap, and cases without an ``else``, are refused.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.notes import Note

Light = Literal["green", "yellow", "red", "grey", "unlit"]
LIGHTS: tuple[Light, ...] = get_args(Light)
SYMBOLS: Mapping[str, str] = {"green": "●", "yellow": "▲", "red": "■", "grey": "◌", "unlit": "○"}
_SEVERITY = {"green": 0, "yellow": 1, "red": 2}


class RuleError(ValueError):
    """A rule for a light that has a gap, an overlap, no else, or an unknown light."""


_NOTHING = 2e-9
"""An end so near to 0 is 0, with room for floating point."""


@dataclass(frozen=True)
class Band:
    """One stretch of the line and its light; infinite ends are open."""

    light: Light
    low: float = -math.inf
    high: float = math.inf
    low_closed: bool = True
    high_closed: bool = False

    def __str__(self) -> str:
        low, high = (f"{0 if abs(end) < _NOTHING else end:g}" for end in (self.low, self.high))
        if self.low == -math.inf and self.high == math.inf:
            return f"{self.light}: always"
        if self.low == -math.inf:
            return f"{self.light}: {'≤' if self.high_closed else '<'} {high}"
        if self.high == math.inf:
            return f"{self.light}: {'≥' if self.low_closed else '>'} {low}"
        return f"{self.light}: {'[' if self.low_closed else '('}{low}, {high}{']' if self.high_closed else ')'}"


@dataclass(frozen=True)
class Bands:
    """Bands over one figure that cover the whole line once.

    - ``bands``: In ascending order.

    Raises ``RuleError`` if two neighbours leave a gap, overlap, or the ends of the line are not covered.

    Examples
    --------
    >>> rule = Bands.cut("red", 0.4, "yellow", 0.7, "green")
    >>> rule.light(0.7), rule.light(0.71), rule.light(float("nan"))
    ('yellow', 'green', 'grey')
    """

    bands: tuple[Band, ...]

    def __post_init__(self) -> None:
        if not self.bands:
            raise RuleError("a rule needs at least one band")
        for band in self.bands:
            if band.light not in LIGHTS:
                raise RuleError(f"unknown light {band.light!r}; one of {', '.join(LIGHTS)}")
            if math.isnan(band.low) or math.isnan(band.high) or band.low > band.high:
                raise RuleError(f"band {band} is empty")
            if band.low == band.high and not (band.low_closed and band.high_closed):
                raise RuleError(f"band {band} is empty")
        if self.bands[0].low != -math.inf or self.bands[-1].high != math.inf:
            raise RuleError("the bands do not cover the whole line: the first must start at -inf, the last end at inf")
        for left, right in itertools.pairwise(self.bands):
            if left.high < right.low or (left.high == right.low and not (left.high_closed or right.low_closed)):
                raise RuleError(f"gap between {left} and {right}")
            if left.high > right.low or (left.high_closed and right.low_closed):
                raise RuleError(f"overlap of {left} and {right}")

    @classmethod
    def cut(cls, *parts: Light | float) -> Bands:
        """Bands from ``light, cut, light, cut, …, light``; the worse light takes each boundary.

        Raises
        ------
        RuleError
            If lights and numbers do not alternate or the cuts do not ascend.
        """
        lights, cuts = parts[::2], parts[1::2]
        if len(parts) % 2 == 0 or not all(isinstance(x, str) for x in lights) or any(isinstance(x, str) for x in cuts):
            raise RuleError("bands must be written light, cut, light, …, light")
        ends = [-math.inf, *(float(c) for c in cuts), math.inf]
        if any(not math.isfinite(c) for c in ends[1:-1]) or any(a >= b for a, b in itertools.pairwise(ends)):
            raise RuleError(f"the cuts must be finite and ascend: {list(cuts)}")
        # A boundary belongs to the left band when the left light is the worse one.
        to_left = [_SEVERITY.get(str(a), 3) > _SEVERITY.get(str(b), 3) for a, b in itertools.pairwise(lights)]
        return cls(
            tuple(
                Band(
                    light,  # type: ignore[arg-type]
                    ends[i],
                    ends[i + 1],
                    low_closed=i > 0 and not to_left[i - 1],
                    high_closed=i < len(cuts) and to_left[i],
                )
                for i, light in enumerate(lights)
            )
        )

    def lights(self, values: npt.ArrayLike) -> npt.NDArray[np.str_]:
        """The light of each value; NaN is grey."""
        x = np.asarray(values, dtype=float)
        out = np.full(x.shape, "grey", dtype="<U6")
        for band in self.bands:
            above = x >= band.low if band.low_closed else x > band.low
            below = x <= band.high if band.high_closed else x < band.high
            above |= (x == -math.inf) & (band.low == -math.inf)
            below |= (x == math.inf) & (band.high == math.inf)
            out[above & below] = band.light
        return out

    def light(self, value: float | None) -> Light:
        """The light of one value; None and NaN are grey."""
        return str(self.lights([math.nan if value is None else value])[0])  # type: ignore[return-value]

    @property
    def cuts(self) -> tuple[float, ...]:
        """Where the light changes, ascending; a cut that allows for rounding errors (0.1 − 1e-9) as it is written."""
        return tuple(round(band.high, 8) for band in self.bands[:-1])

    def __str__(self) -> str:
        return "; ".join(map(str, self.bands))


_OPERATORS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal}


@dataclass(frozen=True)
class When:
    """One condition: ``figure operator threshold``, e.g. ``When("soft", "<=", 0.1)``."""

    figure: str
    operator: str
    threshold: float

    def __post_init__(self) -> None:
        if self.operator not in _OPERATORS:
            raise RuleError(f"unknown operator {self.operator!r}; one of {' '.join(_OPERATORS)}")

    def holds(self, figures: Mapping[str, Floats]) -> npt.NDArray[np.bool_]:
        if self.figure not in figures:
            raise RuleError(f"no figure {self.figure!r}; there are {', '.join(figures)}")
        held: npt.NDArray[np.bool_] = _OPERATORS[self.operator](figures[self.figure], self.threshold)
        return held

    def __str__(self) -> str:
        return f"{self.figure} {self.operator} {self.threshold:g}"


@dataclass(frozen=True)
class Case:
    """A light, its name, and the conditions for it: all of ``all_of`` and at least one of ``any_of``."""

    light: Light
    name: str
    all_of: tuple[When, ...] = ()
    any_of: tuple[When, ...] = ()

    def holds(self, figures: Mapping[str, Floats]) -> npt.NDArray[np.bool_]:
        shape = np.broadcast_shapes(*(np.shape(v) for v in figures.values())) if figures else ()
        held = np.ones(shape, dtype=bool)
        for when in self.all_of:
            held &= when.holds(figures)
        if self.any_of:
            held &= np.any([np.broadcast_to(w.holds(figures), shape) for w in self.any_of], axis=0)
        return held

    def __str__(self) -> str:
        parts = [" and ".join(map(str, self.all_of)), " or ".join(map(str, self.any_of))]
        return f"{self.light} ({self.name}): {' and '.join(p for p in parts if p) or 'always'}"


@dataclass(frozen=True)
class Rules:
    """Ordered cases closed by an else; the first case that holds gives the light.

    Any figure that a rule names and that is NaN makes the light grey.

    Raises ``RuleError``: Without ``otherwise``, with two cases of one name, or with a case that has no condition (it
    would hide all that follow).

    Examples
    --------
    >>> rule = Rules((Case("red", "unstable", any_of=(When("soft", "<=", 0.1), When("strict", "<=", 0.05))),
    ...               Case("green", "stable", all_of=(When("soft", ">=", 0.8), When("strict", ">=", 0.7)))),
    ...              otherwise="yellow")
    >>> rule.light({"soft": 0.9, "strict": 0.75}), rule.light({"soft": 0.9, "strict": 0.5})
    ('green', 'yellow')
    """

    cases: tuple[Case, ...]
    otherwise: Light

    def __post_init__(self) -> None:
        if self.otherwise not in LIGHTS:
            raise RuleError("ordered cases need an else: otherwise= one of " + ", ".join(LIGHTS))
        names = [case.name for case in self.cases]
        if len(set(names)) != len(names):
            raise RuleError(f"two cases of one name: {', '.join(sorted(n for n in names if names.count(n) > 1))}")
        for case in self.cases:
            if case.light not in LIGHTS:
                raise RuleError(f"unknown light {case.light!r}; one of {', '.join(LIGHTS)}")
            if not (case.all_of or case.any_of):
                raise RuleError(f"case {case.name!r} has no condition and would hide the cases after it")

    def lights(self, figures: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.str_]:
        """The light for each entry of equally shaped figure arrays."""
        arrays = {name: np.asarray(value, dtype=float) for name, value in figures.items()}
        named = {w.figure for case in self.cases for w in (*case.all_of, *case.any_of)}
        shape = np.broadcast_shapes(*(a.shape for a in arrays.values()))
        out = np.full(shape, self.otherwise, dtype="<U6")
        decided = np.zeros(shape, dtype=bool)
        for case in self.cases:
            held = case.holds(arrays) & ~decided
            out[held] = case.light
            decided |= held
        for name in named & set(arrays):
            out[np.broadcast_to(np.isnan(arrays[name]), shape)] = "grey"
        return out

    def light(self, figures: Mapping[str, float | None]) -> Light:
        """The light for one set of figures; None is NaN."""
        arrays = {k: [math.nan if v is None else v] for k, v in figures.items()}
        return str(self.lights(arrays)[0])  # type: ignore[return-value]

    def __str__(self) -> str:
        return "; ".join([*map(str, self.cases), f"{self.otherwise} (else)"])


@dataclass(frozen=True)
class Verdict:
    """A light and why.

    - ``sentence``: Says why, in figures.
    - ``rule``: The rule in words; empty for ``unlit``.
    - ``stability``: Share of resamples that give the same light, 0–1: that of ``would_be`` where there is one; several
      groups or figures are drawn together (:func:`evalbench.core.stability.joint_stability`). None where nothing was
      resampled.
    - ``would_be``: The light that the figures alone would give, where evidence holds it back to grey.
    - ``decided_by``: The one figure that the light (or ``would_be``) is that of: its ``metric`` and the columns of its
      group. None where no figure decided.
    - ``missing``: What the evidence lacks where it holds the light back to grey, a clause; empty where that is said by
      the figures alone (too few items, items without a score).
    - ``notes``: Notes of the first rank that follow from the items; :attr:`Result.sentence` has their short forms.
    """

    light: Light
    sentence: str
    rule: str = ""
    stability: float | None = None
    would_be: Light | None = None
    decided_by: Mapping[str, str] | None = None
    notes: tuple[Note, ...] = ()
    missing: str = ""


# What decides where several lights are one: missing evidence outweighs a green light, and no other.
_WORST_FIRST: tuple[Light, ...] = ("red", "yellow", "grey", "green", "unlit")


def worst(lights: Sequence[Light]) -> Light:
    """The worst of several lights: red, yellow, grey, green, unlit in this order.

    Examples
    --------
    >>> worst(["green", "yellow", "unlit"])
    'yellow'
    """
    return min(lights, key=_WORST_FIRST.index, default="unlit")


def worst_lights(lights: Sequence[npt.ArrayLike]) -> npt.NDArray[np.str_]:
    """The worst light of each resample: several ``(r,)`` arrays of lights to one, as :func:`worst` has it.

    Examples
    --------
    >>> worst_lights([["green", "red"], ["grey", "green"]]).tolist()
    ['grey', 'red']
    """
    table = np.stack([np.asarray(one) for one in lights])
    rank = np.select([table == light for light in _WORST_FIRST], range(len(_WORST_FIRST)))
    found: npt.NDArray[np.str_] = np.array(_WORST_FIRST)[rank.min(axis=0)]
    return found
