"""How far a judge moved: its verdicts on the same answers then and now."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from evalbench.core.arrays import Floats
from evalbench.core.bounded import bounded_mean
from evalbench.core.clusters import codes
from evalbench.core.seeds import rng
from evalbench.core.significance import holm, mcnemar, swap_test
from evalbench.core.stats import Measured
from evalbench.core.verdict import Light
from evalbench.core.wording import counted, difference_parts, p_equals

ALPHA = 0.05
LEAST = 20
"""Anchors without which no light is given."""
MARGIN = 0.1
"""A move, as a share of the scale, that matters; ours."""
MAX_UNSCORED = 0.05
_EXACT = "Bonett–Price, paired proportions"


@dataclass(frozen=True)
class JudgeDrift:
    """How far a judge moved between two judgings of the same answers.

    - ``n``: Answers with a verdict at both times.
    - ``n_left_out``: Those without one at either time.
    - ``scale`` ((float, float)): The ends of the marks.
    - ``shift``: Mean of now − then: above 0 the judge became kinder, below 0 stricter.
    - ``changed``: The share of verdicts that changed.
    - ``then``, ``now``: Agreement with the labels, 1 − |mark − label| / (high − low): of 0/1 marks the share of equal
      ones.
    - ``agreement``: Now − then, on the labelled answers; without a value where there are no labels.
    - ``p_shift``, ``p_agreement``: McNemar's exact test of 0/1 verdicts, else swaps within answers.
    - ``p``: The smaller of the two after Holm's adjustment.
    """

    n: int
    n_left_out: int
    scale: tuple[float, float]
    shift: Measured
    changed: Measured
    then: Measured
    now: Measured
    agreement: Measured
    p_shift: float | None
    p_agreement: float | None
    p: float | None

    @property
    def moved(self) -> bool:
        """Whether a move is shown: p is at most 0.05."""
        return self.p is not None and self.p <= ALPHA

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {name: value._asdict() if isinstance(value, Measured) else value for name, value in _fields(self)} | {
            "scale": list(self.scale)
        }

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> JudgeDrift:
        """What :meth:`to_json` gave."""
        fields: Any = {n: Measured(**value) if isinstance(value, Mapping) else value for n, value in content.items()}
        return cls(**{**fields, "scale": tuple(content["scale"])})


def _fields(drift: JudgeDrift) -> list[tuple[str, Any]]:
    return [(name, getattr(drift, name)) for name in drift.__dataclass_fields__]


def judge_drift(
    then: npt.ArrayLike,
    now: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    *,
    units: npt.ArrayLike | None = None,
    scale: tuple[float, float] | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> JudgeDrift:
    """How far a judge moved between two judgings of the same answers.

    Parameters
    ----------
    then, now : (n,) arrays
        Its marks; NaN where it gave none.
    labels : (n,) array, optional
        People's marks on the same scale; NaN where there is none.
    units : (n,) array, optional
        What is drawn, such as the question of several answers; each answer by itself by default.
    scale : (float, float), optional
        The ends of the marks; by default 0 and 1 where all marks lie between, else the least and the largest mark.

    Raises
    ------
    ValueError
        For arrays of unequal length, infinite marks, and marks off the scale.

    Notes
    -----
    With b answers that went up from 0 to 1, c that went down, of n: shift (b − c) / n, p of McNemar's exact test, interval
    d ± z √((p₁ + p₂ − d²) / (n + 2)) with p₁ = (b + 1)/(n + 2), p₂ = (c + 1)/(n + 2), d = p₁ − p₂, clipped to [−1, 1]; it has
    a width also where no verdict changed.  Agreement likewise, with answers that became right and wrong.  Other marks, and
    several answers to a unit: percentile bootstrap over units, and swaps within units.  A move is shown where the smaller p of
    shift and agreement is at most 0.05 after Holm's adjustment for the two.

    References
    ----------
    Bonett & Price (2012), Journal of Educational and Behavioral Statistics 37, 479–488; McNemar (1947), Psychometrika 12,
    153–157.

    Examples
    --------
    >>> found = judge_drift([1] * 30 + [0] * 30, [1] * 20 + [0] * 40, labels=[1] * 30 + [0] * 30)
    >>> round(found.shift.value, 3), found.changed.n, round(found.agreement.value, 3), found.moved
    (-0.167, 60, -0.167, True)
    >>> judge_drift([1, 0] * 30, [1, 0] * 30).moved
    False
    """
    a, b = _floats(then), _floats(now)
    truth = np.full(len(a), np.nan) if labels is None else _floats(labels)
    drawn = np.arange(len(a)) if units is None else np.asarray(units)
    if not len(a) == len(b) == len(truth) == len(drawn):
        raise ValueError(f"unequal lengths: {len(a)}, {len(b)}, {len(truth)}, {len(drawn)}")
    marks = np.concatenate([a, b, truth])
    marks = marks[~np.isnan(marks)]
    low, high = scale or _scale_of(marks)
    if ((marks < low) | (marks > high)).any():
        raise ValueError(f"a mark is off the scale {low:g}–{high:g}")
    span = high - low
    both = ~np.isnan(a) & ~np.isnan(b)
    known = both & ~np.isnan(truth)
    right_then, right_now = (np.clip(1 - np.abs(side - truth) / span, 0, 1) for side in (a, b))
    settings: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    shift, p_shift = _paired(a[both], b[both], drawn[both], (low, high), "shift", **settings)
    agreement, p_agreement = _paired(right_then[known], right_now[known], drawn[known], (0, 1), "agreement", **settings)
    changed = (np.abs(a - b) > 1e-9).astype(float)
    told = [p for p in (p_shift, p_agreement) if p is not None]
    return JudgeDrift(
        n=int(both.sum()),
        n_left_out=int((~both).sum()),
        scale=(float(low), float(high)),
        shift=shift,
        changed=bounded_mean(changed[both], units=drawn[both], purpose="changed", **settings),
        then=bounded_mean(right_then[known], units=drawn[known], purpose="then", **settings),
        now=bounded_mean(right_now[known], units=drawn[known], purpose="now", **settings),
        agreement=agreement,
        p_shift=p_shift,
        p_agreement=p_agreement,
        p=float(np.min(holm(told))) if told else None,
    )


def _floats(values: npt.ArrayLike) -> Floats:
    found = np.asarray(values, dtype=float)
    if found.ndim != 1 or np.isinf(found).any():
        raise ValueError("one finite mark, or NaN, for each answer is needed")
    return found


def _scale_of(marks: Floats) -> tuple[float, float]:
    if not len(marks) or (marks.min() >= 0 and marks.max() <= 1):
        return 0.0, 1.0
    low, high = float(marks.min()), float(marks.max())
    return (low, high) if low < high else (low, low + 1)


def _paired(
    then: Floats,
    now: Floats,
    units: npt.NDArray[Any],
    scale: tuple[float, float],
    purpose: str,
    seed: int,
    n_resamples: int,
) -> tuple[Measured, float | None]:
    """Mean of now − then with its interval, and the p-value that it is 0."""
    n = len(then)
    if not n:
        return Measured(None, note="no answer has what is needed at both times"), None
    names, which = codes(units)
    if len(names) == n and scale == (0, 1) and np.isin(np.concatenate([then, now]), (0.0, 1.0)).all():
        up, down = int((now > then).sum()), int((now < then).sum())
        low, high = _bonett_price(up, down, n)
        return Measured((up - down) / n, low, high, n, _EXACT), mcnemar(up, down)
    span = scale[1] - scale[0]
    found = bounded_mean(
        now - then, low=-span, high=span, units=units, purpose=purpose, seed=seed, n_resamples=n_resamples
    )
    if len(names) < 2:
        return found, None
    sides = [np.bincount(which, weights=side, minlength=len(names))[:, None] for side in (now, then)]
    test = swap_test(sides[0], sides[1], lambda sums: sums / n, rng(seed, f"judge drift/{purpose}"))[0]
    return found, test.p


def _bonett_price(up: int, down: int, n: int) -> tuple[float, float]:
    more, less = (up + 1) / (n + 2), (down + 1) / (n + 2)
    middle = more - less
    half = float(ndtri(0.975)) * math.sqrt((more + less - middle**2) / (n + 2))
    return max(-1.0, middle - half), min(1.0, middle + half)


def drift_light(
    drift: JudgeDrift, *, void: str = "", margin: float = MARGIN, max_unscored: float = MAX_UNSCORED
) -> tuple[Light, str]:
    """The light of a judge's drift, and why.

    Parameters
    ----------
    void : str
        What changed of the judge, in words; empty for the same judge.
    margin : float
        A move that matters, as a share of the scale.

    Returns
    -------
    light : {"green", "yellow", "red", "grey"}
        Grey where it was another judge, fewer than 20 answers were judged twice, or too many have no verdict.  Red where a
        move is shown that is ``margin`` or more; yellow where a smaller one is shown, or one of ``margin`` is not
        excluded; else green.

    Examples
    --------
    >>> drift_light(judge_drift([1, 0] * 30, [1, 0] * 30))
    ('green', 'no move of the judge is shown, and one of 0.1 is excluded')
    >>> drift_light(judge_drift([1, 0] * 30, [1, 0] * 30), void="the judge from a to b")[0]
    'grey'
    """
    everything = drift.n + drift.n_left_out
    size = margin * (drift.scale[1] - drift.scale[0])
    if void:
        return "grey", f"another judge: {void}"
    if drift.n < LEAST:
        return "grey", f"{counted(drift.n, 'answer')} judged at both times; a light needs {LEAST}"
    if drift.n_left_out > max_unscored * everything:
        return "grey", f"{drift.n_left_out} of {everything} answers lack a verdict at one of the times"
    moves = [(drift.shift, size), (drift.agreement, margin)]
    if drift.moved:
        large = any(m.value is not None and abs(m.value) >= least for m, least in moves)
        return ("red", "the judge moved") if large else ("yellow", f"the judge moved, by less than {size:g}")
    open_ended = any(
        m.ci_low is not None and m.ci_high is not None and not (-least < m.ci_low and m.ci_high < least)
        for m, least in moves
    )
    if open_ended:
        return "yellow", f"no move of the judge is shown, but one of {size:g} is not excluded"
    return "green", f"no move of the judge is shown, and one of {size:g} is excluded"


def drift_sentence(drift: JudgeDrift, what: str = "answer", *, another: bool = False) -> str:
    """The judge's drift in a sentence with its figures; ``another``: the two judgings are of different judges.

    Examples
    --------
    >>> drift_sentence(judge_drift([1] * 30 + [0] * 30, [1] * 20 + [0] * 40, [1] * 30 + [0] * 30), "anchor")
    'The judge itself moved by −0.17 [−0.26, −0.06] on the same 60 anchors (stricter; p = 0.004); 10 verdicts changed; agreement with people 1.00 then, 0.83 now.'
    """
    if drift.shift.value is None:
        return f"Whether the judge moved is not known: no {what} has a verdict at both times."
    value, interval = difference_parts(drift.shift.value, drift.shift.ci_low, drift.shift.ci_high)
    shown = drift.p is not None and drift.p <= ALPHA
    way = ("kinder" if drift.shift.value > 0 else "stricter") if shown and drift.shift.value else ""
    told = [way] if way else []
    if drift.p is not None:
        told.append(f"p {p_equals(drift.p)}")
    changed = round((drift.changed.value or 0) * drift.n)
    agreed = (
        f"; agreement with people {drift.then.value:.2f} then, {drift.now.value:.2f} now"
        if drift.then.value is not None and drift.now.value is not None
        else ""
    )
    moved = f"The judge itself moved by {' '.join(filter(None, (value, interval)))}"
    if another:
        moved = f"From the earlier judge to the later one marks differ by {' '.join(filter(None, (value, interval)))}"
    elif not shown:
        moved = f"No move of the judge is shown: {' '.join(filter(None, (value, interval)))}"
    brackets = f" ({'; '.join(told)})" if told else ""
    return f"{moved} on the same {counted(drift.n, what)}{brackets}; {counted(changed, 'verdict')} changed{agreed}."
