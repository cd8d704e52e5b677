"""Where the noise of a mean comes from: which items were drawn, what was answered, how it was judged.

Items may be answered several times, and an answer judged several times; each item counts once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from evalbench.core.arrays import Floats, Ints
from evalbench.core.planning import smallest_difference
from evalbench.core.wording import counted, decimals_for

Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
ROUNDING = 1e-12
"""A variance below this part of all variance, or of the square of the largest score, is noise of rounding and counts as 0."""


class Component(NamedTuple):
    """One part of the variance of an answer's score.

    - ``name`` ({"items", "answers", "judging"})
    - ``variance``: In squared units of the score; 0 where the estimate was negative.
    - ``low``, ``high``: Its 95 % interval; NaN with fewer than three items, or where it is the same without any one of them.
    - ``negative``: Whether the unbiased estimate was negative.
    - ``share``: Its share (0–1) of the variance of the mean as it was asked; NaN where nothing varies.
    """

    name: str
    variance: float
    low: float
    high: float
    negative: bool
    share: float


@dataclass(frozen=True)
class NoiseSplit:
    """The variance of the mean over items, split by the law of total variance.

    - ``components``: Items first; ``answers`` and ``judging`` where they were repeated.
    - ``n_items``: Items with a value.
    - ``n_repeated``: Those of them with two answers, or two verdicts of one answer, and more.
    - ``answers``, ``verdicts``: Answers of an item and verdicts of an answer, as harmonic means: as many, all alike,
      would leave the same variance.
    """

    components: tuple[Component, ...]
    n_items: int
    n_repeated: int
    answers: float
    verdicts: float
    mean: float

    def variance(self, name: str) -> float:
        """The variance of a component; 0 where it was not repeated, and so is part of the one before it."""
        return next((c.variance for c in self.components if c.name == name), 0.0)

    def half_width(
        self, items: float | None = None, answers: float | None = None, verdicts: float | None = None
    ) -> float:
        """Half of the 95 % interval of the mean, ``1.96 √((σ²ᵢ + σ²ₐ/k + σ²ⱼ/(k r)) / m)``, normal.

        Parameters
        ----------
        items, answers, verdicts : float, optional
            m questions, k answers to each and r verdicts on each answer; by default as many as there were.

        Examples
        --------
        >>> split = noise_split([1, 0, 1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2, 3, 3])
        >>> round(split.half_width(items=40), 3), round(split.half_width(items=40, answers=8), 3)
        (0.127, 0.084)
        """
        m, k = items or self.n_items, answers or self.answers
        parts = [self.variance(name) for name in ("items", "answers", "judging")]
        return Z * math.sqrt((parts[0] + parts[1] / k + parts[2] / (k * (verdicts or self.verdicts))) / m)

    def between_runs(self, answers: float | None = None, *, power: float | None = None) -> float:
        """How far two runs of the same system over the same items must differ in their means to be more than chance.

        ``1.96 √(2 (σ²ₐ + σ²ⱼ/r) / (k m))``, normal: the items are the same, so that only answers and judging differ.

        Parameters
        ----------
        answers : float, optional
            k answers to each of the m items in either run; by default as many as there were.
        power : float, optional
            Instead of 1.96: of a true difference that is shown with this chance, 1.96 + z(power).

        References
        ----------
        Miller (2024), Adding Error Bars to Evals, sections 3 and 5; Bloom (1995), Evaluation Review 19, 547–556.

        Examples
        --------
        >>> split = noise_split([1, 0, 1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2, 3, 3])
        >>> round(split.between_runs(1), 2), round(split.between_runs(4), 2), round(split.between_runs(4, power=0.8), 2)
        (0.69, 0.35, 0.5)
        """
        k = answers or self.answers
        variance = self.variance("answers") + self.variance("judging") / self.verdicts
        se = math.sqrt(2 * variance / (k * self.n_items))
        return Z * se if power is None else smallest_difference(se, power=power)


def runs_sentence(
    split: NoiseSplit, name: str, what: str = "score", item: str = "question", answer: str = "answer"
) -> str:
    """How far two runs must differ, with one answer to each item and with as many as there were.

    Examples
    --------
    >>> split = noise_split([1, 0, 1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2, 3, 3])
    >>> runs_sentence(split, "fern")[:90]
    'Two runs of fern over these 4 questions must differ by more than 0.69 in score to show mor'
    """
    k = max(2, round(split.answers))
    chance, many, shown = split.between_runs(1), split.between_runs(), split.between_runs(1, power=0.8)
    if not chance:
        return f"Two runs of {name} over these {counted(split.n_items, item)} do not differ by chance: every {answer} to a {item} has the same score."
    digits = max(2, decimals_for(many))
    a, b, c = (f"{each:.{digits}f}" for each in (chance, many, shown))
    return (
        f"Two runs of {name} over these {counted(split.n_items, item)} must differ by more than {a} in {what} to show more than chance, with one {answer} "
        f"{_article(item)} {item} in either; with {in_words(k)}, by more than {b}. A true difference of {c} would be shown in four of five such pairs "
        f"of single runs."
    )


def noise_split(values: npt.ArrayLike, items: npt.ArrayLike, answers: npt.ArrayLike | None = None) -> NoiseSplit | None:
    """Split the variance of a mean over items into items, repeated answers and repeated verdicts on one answer.

    Parameters
    ----------
    values : (n,) array
        A score per verdict; NaN is left out.
    items : (n,) array
        The item of each.
    answers : (n,) array, optional
        The answer of each within its item: rows with the same item and answer are verdicts on one answer.  By default
        each row is an answer of its own.

    Returns
    -------
    NoiseSplit or None
        None where nothing was repeated.

    Notes
    -----
    Unbiased analysis of variance of a nested random-effects model, unbalanced designs allowed, in which each item
    counts once, as in the mean that it explains, and each answer once within its item:
    ``σ²ⱼ``: mean over items of the mean variance (n − 1) of the verdicts on an answer;
    ``σ²ₐ``: mean over items of the variance of their answers, less what judging adds to it;
    ``σ²ᵢ``: the variance of the items' means, less what answers and judging add to it.
    Items with one answer take the others' mean variance.  Answers of some items may vary more than those of others
    (those of a 0/1 score always do).  A component whose estimate is negative is 0 and marked; one below :data:`ROUNDING`
    is 0.  Intervals: the jackknife over items, Student's t with as many degrees of freedom as items with repeats less one.

    References
    ----------
    Searle, Casella & McCulloch (1992), Variance Components, chapters 3 and 5; Efron & Tibshirani (1993), chapter 11.

    Examples
    --------
    >>> split = noise_split([1, 1, 0, 0, 1, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3])
    >>> [(c.name, round(c.variance, 3), round(c.share, 2)) for c in split.components]
    [('items', 0.167, 0.73), ('answers', 0.125, 0.27)]
    """
    score = np.asarray(values, dtype=float)
    known = np.isfinite(score)
    if not known.any():
        return None
    score = score[known]
    item = np.unique(np.asarray(items)[known], return_inverse=True)[1]
    each = np.zeros(len(item), dtype=np.int64)
    if answers is not None:
        each = np.unique(np.asarray(answers)[known], return_inverse=True)[1]
    order = np.lexsort((score, each, item))  # so that the order of rows changes no bit of a sum
    score, item, each = score[order], item[order], each[order]
    of_answer, answer_mean = item, score
    repeats, spread = np.ones(len(score)), np.full(len(score), np.nan)
    if answers is not None:
        first = np.append(True, (np.diff(item) != 0) | (np.diff(each) != 0))[: len(item)]
        of_answer = item[first]
        repeats, answer_mean, spread = _spread(score, np.cumsum(first) - 1, len(of_answer))
    n_items = int(of_answer.max(initial=-1)) + 1
    n, mean, s2 = _spread(answer_mean, of_answer, n_items)
    judged_twice = repeats > 1
    own = np.where(judged_twice, spread, 0.0)
    twice = np.bincount(of_answer, judged_twice, n_items)
    repeated = (n > 1) | (twice > 0)
    if not repeated.any():
        return None
    grand = float(mean.mean())
    many = n > 1
    e = np.bincount(of_answer, own, n_items) / np.maximum(twice, 1)
    # What judging adds to the variance of an answer's mean: known where it was judged twice, pooled elsewhere.
    added, unknown = (np.bincount(of_answer, w, n_items) / n for w in (own / repeats, ~judged_twice))
    centred = mean - grand
    sums = [np.ones(n_items), centred, centred**2, many, np.where(many, s2, 0), np.where(many, s2 / n, 0), ~many]
    sums += [twice > 0, e, np.where(many, added, 0), np.where(many, unknown, 0), added / n, unknown / n]
    columns = np.stack(sums, axis=1).astype(float)
    total = columns.sum(axis=0, keepdims=True)
    found = _components(total)[0]
    floor = ROUNDING * max(float(np.nansum(np.abs(found))), float(np.abs(score).max()) ** 2)
    found = _without_rounding(found, floor)
    reach = 1 / n
    per_answer, per_verdict = (
        float(reach.mean()),
        float((np.bincount(of_answer, 1 / repeats, n_items) / n * reach).mean()),
    )
    names = ["items", *(["answers"] if many.any() else []), *(["judging"] if twice.any() else [])]
    estimated = np.isfinite(found)
    low, high = _jackknife(columns, total, found, floor)
    at = {"items": 0, "answers": 1, "judging": 2}
    weight = {"items": 1.0, "answers": per_answer, "judging": per_verdict}
    kept = {name: max(float(found[at[name]]), 0.0) if estimated[at[name]] else 0.0 for name in names}
    whole = sum(kept[name] * weight[name] for name in names)
    components = tuple(
        Component(
            name,
            kept[name],
            max(float(low[at[name]]), 0.0),
            max(float(high[at[name]]), 0.0),
            bool(found[at[name]] < 0),
            kept[name] * weight[name] / whole if whole > 0 else math.nan,
        )
        for name in names
    )
    return NoiseSplit(components, n_items, int(repeated.sum()), 1 / per_answer, per_answer / per_verdict, grand)


def noise_sentence(split: NoiseSplit, question: str = "question", answer: str = "answer") -> str:
    """What more answers to each question would do to the interval of the mean, against more questions.

    Examples
    --------
    >>> split = noise_split([1, 0, 1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2, 3, 3])
    >>> noise_sentence(split)[:75]
    'Two answers a question shrink the interval from ±0.53 (one answer) to ±0.40'
    >>> noise_sentence(split)[77:]
    'the same calls spent on twice the questions would shrink it to ±0.37.'
    """
    names = [c.name for c in split.components]
    if not split.half_width():
        return f"Every {answer} has the same score: there is no noise to split."
    repeated, named = ("answers", answer) if "answers" in names else ("verdicts", "verdict")
    per = question if repeated == "answers" else answer
    k = max(2, round(getattr(split, repeated)))
    one: dict[str, float] = {"answers": 1, "verdicts": 1}
    now, wide = split.half_width(**one), split.half_width(split.n_items * k, **one)
    with_k = split.half_width(**{**one, repeated: k})
    digits = max(2, decimals_for(wide))
    before, after, instead = (f"±{each:.{digits}f}" for each in (now, with_k, wide))
    how_many = in_words(k)
    times = "twice" if k == 2 else f"{how_many} times"
    if split.variance("answers" if repeated == "answers" else "judging") == 0:
        said = (
            f"More {named}s {_article(per)} {per} would not shrink the interval of {before}; "
            f"{times} the {question}s would shrink it to {instead}"
        )
    else:
        said = (
            f"{how_many.capitalize()} {named}s {_article(per)} {per} shrink the interval from {before} (one {named}) to {after}; "
            f"the same calls spent on {times} the {question}s would shrink it to {instead}"
        )
    lost = [c.name for c in split.components if c.negative]
    zero = f" The unbiased estimate of {' and of '.join(lost)} is negative and counts as 0." if lost else ""
    return f"{said}.{zero}"


def in_words(number: int) -> str:
    """A small number in words."""
    names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    return names[number] if number < len(names) else counted(number, "").strip()


def _article(noun: str) -> str:
    return "an" if noun[:1] in "aeiou" else "a"


def _spread(values: Floats, group: Ints, size: int) -> tuple[Floats, Floats, Floats]:
    """Number, mean and variance (n − 1) of the values of each group; a variance of NaN where there is one value."""
    n = np.bincount(group, minlength=size).astype(float)
    mean = np.bincount(group, values, size) / n
    squares = np.bincount(group, (values - mean[group]) ** 2, size)
    with np.errstate(all="ignore"):
        return n, mean, np.where(n > 1, squares / (n - 1), np.nan)


def _components(sums: Floats) -> Floats:
    """Unbiased estimates ``(r, 3)`` of the variances of items, answers and judging from sums over items ``(r, 13)``."""
    (size, m, m2, many, s2, s2_n, single, twice, e, added, unknown, added_n, unknown_n) = sums.T
    with np.errstate(all="ignore"):
        judging = np.where(twice > 0, e / twice, 0.0)
        within = s2 / many
        answers = within - (added + judging * unknown) / many
        between = (m2 - m**2 / size) / (size - 1)
        noise = np.where(many > 0, s2_n + np.where(many > 0, within, 0) * single, added_n + judging * unknown_n) / size
        return np.stack([between - noise, answers, np.where(twice > 0, judging, np.nan)], axis=1)


def _without_rounding(variances: Floats, floor: float) -> Floats:
    """0 in place of what is no larger than the noise of rounding, on either side of it."""
    return np.where(np.abs(variances) <= floor, 0.0, variances)


def _jackknife(columns: Floats, total: Floats, found: Floats, floor: float) -> tuple[Floats, Floats]:
    """Ends of the 95 % intervals of the components, leaving out one item after the other."""
    n = len(columns)
    if n < 3:
        return np.full(3, np.nan), np.full(3, np.nan)
    left = _without_rounding(_components(total - columns), floor)
    defined = np.isfinite(left)
    centre = np.where(defined, left, 0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    se = np.sqrt((n - 1) / n * np.where(defined, (left - centre) ** 2, 0).sum(axis=0))
    freedom = np.maximum(np.array([n, total[0, 3], total[0, 7]]) - 1, 1)
    half = stdtrit(freedom, 0.975) * np.where(se > floor, se, np.nan)
    return found - half, found + half
