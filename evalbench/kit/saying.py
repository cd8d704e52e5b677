"""Words for an answer: figures as they are read out, groups in a row, who is better and by how much."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalbench.core.ends import ALL_AGREE
from evalbench.core.result import Estimate, Summary
from evalbench.core.stats import FEW_UNITS
from evalbench.core.wording import count, counted, cut, listed, percent, signed, value_text
from evalbench.kit.defaults import MAX_UNSCORED
from evalbench.kit.differences import Difference as Difference
from evalbench.kit.differences import why_not_shown
from evalbench.kit.letters import lowered as lowered
from evalbench.kit.letters import opened as opened
from evalbench.kit.letters import opened_name as opened_name

NAMED = 6
"""Of more groups than so many an answer names the best, the worst and those that cannot be told apart."""
BEYOND_CHANCE = "more than chance explains"
"""Of a difference: that it is shown."""
_LONGEST_NAME, _FEW, _ROUNDING = 40, 4, 1e-6


def difference_of(row: Mapping[Any, Any], by: str) -> Difference:
    """A row of :func:`evalbench.kit.comparing.compare_groups`."""
    a, b = (named(row[f"{by}_{side}"]) for side in "ab")
    size, outcome = row.get("difference"), str(row["outcome"])
    found = (size, row.get("ci_low"), row.get("ci_high"), row.get("p_holm"))
    known, low, high, p = (None if each is None or math.isnan(each) else float(each) for each in found)
    better = {"better": a, "worse": b}.get(outcome, "")
    shown = bool(better) or outcome in ("higher", "lower")
    return Difference(str(row["metric"]), a, b, known, str(row.get("unit") or ""), better, shown, low, high, p)


def ranked(summary: Summary, metric: str) -> list[Estimate]:
    """One figure of every group that has a value, the best first; the whole where there are no groups."""
    own = [e for e in summary.estimates if e.metric == metric and e.value is not None]
    own = [e for e in own if e.group] or own
    return sorted(own, key=badness)


def badness(e: Estimate) -> float:
    """Larger where less good; largest where there is no value."""
    return math.inf if e.value is None else e.value if e.higher_is_better is False else -e.value


def standing(ordered: Sequence[Estimate], rows: Sequence[Difference] = ()) -> str:
    """Groups compared in words, the best first: who is better, by how much, whether shown; no full stop.

    Parameters
    ----------
    ordered : sequence of Estimate
        One figure of each group, see :func:`ranked`.
    rows : sequence of Difference
        The compared pairs on this figure, see :meth:`evalbench.kit.answering.Facts.differences`.

    Examples
    --------
    >>> own = [Estimate(metric="f1", value=v, unit="0–1", group={"model": m}, higher_is_better=True) for m, v in (("oak", 0.9), ("fern", 0.7))]
    >>> standing(own)
    'Oak has the higher F1, 0.900 against 0.700 of fern; whether that is chance was not tested'
    >>> standing(own, [Difference("f1", "oak", "fern", 0.2, "0–1", "oak", True)])
    'Oak is better than fern by 0.20 in F1, more than chance explains'
    """
    best, worst, title = ordered[0], ordered[-1], title_of(ordered[0])
    a, b = name_of(best), name_of(worst)
    first, last = figure(best, ordered), figure(worst, ordered)
    if first == last and not any(r.shown for r in rows):
        return f"{'Both' if len(ordered) == 2 else f'All {count(len(ordered))}'} have the same {title}, {first}"
    if len(ordered) == 2:
        row = next((r for r in rows if {r.a, r.b} == {a, b}), None)
        if row is None:
            high = "higher" if best.higher_is_better is not False else "lower"
            return f"{opened_name(a)} has the {high} {title}, {first} against {last} of {b}; whether that is chance was not tested"
        if row.shown and not row.better:
            lower, upper = sorted(ordered, key=lambda e: e.value or 0.0)
            ends = f"{figure(lower, ordered)} against {figure(upper, ordered)}"
            return f"{opened_name(name_of(lower))} is lower than {name_of(upper)} in {title}, {ends}, {BEYOND_CHANCE}"
        if not row.better:
            return f"Between {a} and {b} no difference in {title} is shown: {first} and {last}{why_not_shown(row)}"
        size = points(row, is_share(best))
        return f"{opened_name(row.better)} is better than {row.worse}{f' by {size}' if size else ''} in {title}, {BEYOND_CHANCE}"
    alike = not_told_apart(ordered, rows)
    if len(alike) == len(ordered):
        return f"In {title} none of the {count(len(ordered))} is shown to be better: {first} ({a}) to {last} ({b})"
    others = f"; {as_good_as_best(alike[1:])}" if len(alike) > 1 else ""
    return f"{opened_name(a)} is best in {title}, {first}; {b} is worst, {last}{others}"


def as_good_as_best(others: Sequence[str], best: str = "the best") -> str:
    """That groups are not shown to differ from the best, a clause.

    Examples
    --------
    >>> as_good_as_best(["fern", "moss"])
    'no difference from the best is shown for fern and moss'
    """
    return f"no difference from {best} is shown for {names(others, 3)}"


def not_told_apart(ordered: Sequence[Estimate], rows: Sequence[Difference]) -> list[str]:
    """The best group and those from which it is not shown to differ; nothing where none were compared."""
    best = name_of(ordered[0])
    beaten = {r.worse for r in rows if r.better == best}
    compared = {r.a for r in rows} | {r.b for r in rows}
    alike = [name_of(e) for e in ordered[1:] if name_of(e) in compared and name_of(e) not in beaten]
    return [best, *alike] if rows else []


def is_share(e: Estimate) -> bool:
    """Whether a figure is a share of items, which is read out in percent."""
    said = counts_items(e) or {"share", "rate"} & {*title_of(e).lower().split()}
    return bool(said) and e.unit in ("0–1", "0/1", "share")


def counts_items(e: Estimate) -> bool:
    """Whether the interval is Wilson's, modified or not, of items that are right or wrong.

    Examples
    --------
    >>> [counts_items(Estimate(metric="m", value=v, method=m)) for v, m in ((0.95, "modified Wilson"), (0.5, "Wilson over units, all agree"))]
    [True, False]
    """
    return "Wilson" in e.method and (ALL_AGREE not in e.method or e.value in (0, 1))


def figure(e: Estimate, rows: Sequence[Estimate] = ()) -> str:
    """A value as it is read out: a share of items in percent, everything else with its unit.

    Parameters
    ----------
    rows : sequence of Estimate
        Those beside it, with which it shares its decimals.

    Examples
    --------
    >>> figure(Estimate(metric="passed", value=0.932, ci_low=0.8, ci_high=0.97, unit="0–1", method="Wilson score"))
    '93%'
    >>> figure(Estimate(metric="drop", value=-12.4, ci_low=-20, ci_high=-5, unit="pp"))
    '−12 points'
    """
    if e.value is None:
        return "no value"
    if any(map(is_share, (e, *(o for o in rows if o.metric == e.metric)))):  # one form for a figure of several groups
        return share(e.value, e.cuts)
    text = value_text(e, rows)
    if e.unit == "pp":
        return f"{text} point{'' if text.strip('−') == '1' else 's'}"
    return f"{text} {e.unit}" if _is_word(e.unit) else text


def share(value: float, cuts: Sequence[float] = ()) -> str:
    """A share in whole percent, rounded as a table rounds it; with decimals only where they tell it from a threshold.

    Examples
    --------
    >>> share(0.925), share(0.798, [0.8])
    ('93%', '79.8%')
    """
    text = percent(value, cuts)
    return text if "." in text else f"{100 * round(value, 2):.0f}%"


def _is_word(unit: str) -> bool:
    return unit.replace(" ", "").isalpha() and unit not in ("difference", "score")


def points(row: Difference, of_share: bool = False) -> str:
    """How large a difference is: of shares in points, else in its unit; empty where it is not known.

    Examples
    --------
    >>> row = Difference("f1", "oak", "fern", -0.137, "0–1", "fern", True)
    >>> points(row), points(row, of_share=True)
    ('0.14', '14 points')
    """
    if row.difference is None:
        return ""
    size = abs(row.difference)
    if of_share or row.unit == "pp":
        number = signed(_two_digits(100 * size if of_share else size))
        return f"{number} point{'' if number == '1' else 's'}"
    return signed(f"{size:.2g}" if size < 0.1 else f"{size:.2f}") + (f" {row.unit}" if _is_word(row.unit) else "")


def points_ahead(row: Difference, group: str) -> str:
    """Of shares how many points a group is ahead of the other, with the interval; empty where it is not known.

    Examples
    --------
    >>> points_ahead(Difference("success", "oak", "fern", -0.144, "0–1", "fern", True, -0.24, -0.06), "fern")
    '14.4 points [6.0, 24.0]'
    >>> points_ahead(Difference("success", "oak", "fern", 0.194, "0–1", "", False, 0.056, 0.333, 0.0625), "oak")
    '19.4 points [5.6, 33.3], p 0.062 after adjustment'
    """
    if row.difference is None or row.low is None or row.high is None:
        return ""
    ends = (row.difference, row.low, row.high) if row.a == group else (-row.difference, -row.high, -row.low)
    whole = all(abs(100 * end - round(100 * end)) < _ROUNDING for end in ends)
    size, low, high = (signed(f"{100 * end:.{0 if whole else 1}f}") for end in ends)
    return f"{size} points [{low}, {high}]{why_not_shown(row)}"


def best_less_worst(ordered: Sequence[Estimate], rows: Sequence[Difference]) -> str:
    """Of shares of three and more groups how far the best is from the worst; empty where the two were not compared.

    Parameters
    ----------
    ordered, rows
        As of :func:`standing`.

    Examples
    --------
    >>> own = [Estimate(metric="success", value=v, group={"model": m}) for m, v in (("oak", 0.9), ("elm", 0.7), ("fern", 0.44))]
    >>> best_less_worst(own, [Difference("success", "fern", "oak", -0.46, "0–1", "oak", True, -0.6, -0.3)])
    'best less worst: 46 points [30, 60]'
    """
    if len(ordered) < 3:
        return ""
    best, worst = name_of(ordered[0]), name_of(ordered[-1])
    row = next((r for r in rows if {r.a, r.b} == {best, worst}), None)
    ahead = points_ahead(row, best) if row else ""
    return f"best less worst: {ahead}" if ahead else ""


def _two_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def names(groups: Iterable[str | Estimate], most: int = NAMED) -> str:
    """Groups in a row: ``alder, alder-mini and birch``; of many the first ones.

    Examples
    --------
    >>> names(["alder", "alder-mini"]), names(["a", "b", "c"], 2)
    ('alder and alder-mini', 'a, b and 1 more')
    """
    said = {tuple(g.group.values()) if isinstance(g, Estimate) else g: g for g in groups}
    return listed([name_of(g) if isinstance(g, Estimate) else g for g in said.values()], most, " and ")


def name_of(e: Estimate) -> str:
    """The name of an estimate's group; a long one is cut.

    Examples
    --------
    >>> name_of(Estimate(metric="f1", value=1.0, group={"model": "oak", "domain": "tides"}))
    'oak, tides'
    """
    text = ", ".join(v for v in map(named, e.group.values()) if v)
    return cut(text, _LONGEST_NAME)


def named(group: object) -> str:
    """A group's name, cut where it is long; that of rows that name none in words.

    Examples
    --------
    >>> named("model not named"), named("oak")
    ('the model', 'oak')
    """
    return cut(re.sub(r"^([a-z]+) not named$", r"the \1", str(group)), _LONGEST_NAME)


def whose(e: Estimate) -> str:
    """The possessive of a group's name.

    Examples
    --------
    >>> whose(Estimate(metric="f1", value=1.0, group={"model": "oak"}))
    "oak's"
    """
    return f"{name_of(e) or 'the model'}'s"


def parted(
    found: Mapping[Any, Sequence[Estimate]],
    things: str,
    good: str,
    bad: str,
    *,
    praise: str = "",
    blame: str = "",
    doubt: str = "",
) -> str:
    """Of which groups something passes, of which not, and of which that is not known: a sentence or two.

    Parameters
    ----------
    found : mapping of light to Estimates
        See :func:`evalbench.kit.answering.by_light`.
    things, good, bad : str
        What passes, in the plural; what is said of it where it does and where it does not, such as ``"are sound"``, ``"are not"``.
    praise, blame, doubt : str
        Clauses on those that pass, on those that do not, and on those of which it is not known.

    Examples
    --------
    >>> oak, fern = (Estimate(metric="f1", value=v, group={"model": m}) for m, v in (("oak", 0.9), ("fern", 0.5)))
    >>> parted({"green": [oak], "red": [fern]}, "proofs", "are sound", "are not", blame="two in three end early")
    "Oak's proofs are sound; those of fern are not: two in three end early."
    >>> parted({"grey": [oak]}, "proofs", "are sound", "are not", doubt="two proofs are too few")
    "Whether oak's proofs are sound is not known yet: two proofs are too few."
    """
    passing, failing, unknown = found.get("green", ()), found.get("red", ()), found.get("grey", ())
    said = []
    if passing:
        said.append(f"{_things_of(passing, things)} {good}{_after(praise)}")
    if failing:
        failing = failing[::-1]  # the worst first
        subject = f"those of {names(failing, _FEW)}" if passing else _things_of(failing, things)
        said.append(f"{subject} {bad}{_after(blame)}")
    sentences = [opened_name("; ".join(said))] if said else []
    if unknown:
        subject = f"those of {names(unknown, _FEW)}" if said else _things_of(unknown, things)
        sentences.append(f"Whether {subject} {good} is not known yet{_after(doubt)}")
    return " ".join(f"{s}." for s in sentences)


def without_score(lost: int, of: int, thing: str, things: str = "") -> str:
    """How many have no score.

    Examples
    --------
    >>> without_score(1, 1, "item"), without_score(1, 40, "item"), without_score(9, 40, "item")
    ('1 of 1 item has no score', '1 of 40 items has no score', '9 of 40 items have no score')
    """
    return f"{count(lost)} of {counted(of, thing, things)} {'has' if lost == 1 else 'have'} no score"


def too_little(e: Estimate, thing: str, things: str = "") -> str:
    """Why nothing can be said of a grey figure, where that is for want of items or of scores; else empty.

    Examples
    --------
    >>> too_little(Estimate(metric="f1", value=0.9, n=7), "answer"), too_little(Estimate(metric="f1", value=0.9, n=30, n_unscored=9), "answer")
    ('7 answers are too few', '9 of 39 answers have no score')
    """
    if e.n_unscored and not e.n:
        return f"none of its {things or thing + 's'} could be scored"
    if e.n_unscored > MAX_UNSCORED * (e.n + e.n_unscored):
        return without_score(e.n_unscored, e.n + e.n_unscored, thing, things)
    if e.n < FEW_UNITS:
        return f"{counted(e.n, thing, things)} {'is' if e.n == 1 else 'are'} too few"
    return ""


def beside(summary: Summary, metric: str, e: Estimate) -> Estimate | None:
    """Another figure of the same group, where it has a value."""
    return next(
        (o for o in summary.estimates if o.metric == metric and o.group == e.group and o.value is not None), None
    )


def _things_of(groups: Sequence[Estimate], things: str) -> str:
    return f"{whose(groups[0])} {things}" if len(groups) == 1 else f"the {things} of {names(groups, _FEW)}"


def _after(clause: str) -> str:
    return f": {clause}" if clause else ""


def title_of(e: Estimate) -> str:
    """The words for a figure; of one that has only an identifier, that with blanks.

    Examples
    --------
    >>> title_of(Estimate(metric="f1_score", value=1.0))
    'F1 score'
    """
    return re.sub(r"^f(?=\d)", "F", e.title.replace("_", " ")) if e.title == e.metric else e.title
