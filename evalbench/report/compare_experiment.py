"""An online experiment on the page of a comparison and in words; tokens and seconds per answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evalbench.compare.experiment import Covaried, Experiment, Split
from evalbench.compare.matrix import Pairs
from evalbench.core.experiments import FEWEST_EXPECTED, MISMATCH, N_DRAWN, Difference
from evalbench.core.stats import wilson
from evalbench.core.wording import count, counted, difference_parts, p_equals
from evalbench.draw.html import Html, attribute, breakable, escape
from evalbench.draw.verdict import notes_html
from evalbench.report.compare_table import Line, comparisons_table
from evalbench.report.compare_words import said_group

_SAID = 6


def experiment_lines(e: Experiment | None) -> list[str]:
    """What was asked of an online experiment, in sentences; what speaks against believing it first."""
    if e is None:
        return []
    return [*_ratio_lines(e), *(_covaried_line(one, e.covariate) for one in e.covaried), *_aa_lines(e)]


def experiment_html(e: Experiment | None) -> Html:
    """The section of the page, or nothing."""
    if e is None:
        return Html("")
    parts = [
        f'<p><span class="eb-lamp eb-{"grey" if e.ratio.fits else "red"}">'
        f'<span aria-hidden="true">{"≈" if e.ratio.fits else "■"}</span> '
        f"{'the split fits the plan' if e.ratio.fits else 'the split does not fit the plan'}</span></p>"
        if e.ratio
        else ""
    ]
    parts += [f"<p>{escape(line)}</p>" for line in _ratio_lines(e)]
    if e.covaried:
        parts += [f"<h3>With the covariate {breakable(e.covariate)}</h3>", _covaried_table(e)]
        unusual = [one for one in e.covaried if one.n_left_out or one.found.note or _moved(one)]
        parts += [f"<p>{escape(_covaried_line(one, e.covariate))}</p>" for one in unusual[:_SAID]]
    if e.aa:
        parts += [f"<h3>A/A: {breakable(e.names[0])} against itself</h3>", _aa_table(e)]
        parts += [f"<p>{escape(line)}</p>" for line in _aa_lines(e)[:1]]
    return Html("".join([*parts, notes_html(e.notes)]))


def experiment_method(e: Experiment | None) -> list[str]:
    """How the figures of the section came about."""
    if e is None:
        return []
    out = []
    if e.ratio:
        out.append(
            f"Planned split: Pearson's chi-square test of the number of {e.counted}s on each side, scored or not (where fewer than "
            f"{FEWEST_EXPECTED} are expected on a side, its p is that of {N_DRAWN:,} splits drawn as planned); p below {MISMATCH:g} counts as "
            "another split than the planned one."
        )
    if e.covaried:
        out.append(
            "Covariate (CUPED): the difference of means less θ times the difference of the covariate's means, θ with the least variance; "
            "Welch's t intervals, with and without. A covariate must be known before the experiment: one that it changed hides what it did."
        )
    if e.aa:
        out.append(
            "A/A: random halves of one run's units, tested as two independent groups are, by dealing units anew and by whether the "
            "bootstrap interval excludes 0; each should show a difference on 5 % of the splits."
        )
    return out


def doubts(e: Experiment | None) -> list[str]:
    """What the page adds to the verdict: why a difference between the sides cannot be believed."""
    if e is None or e.ratio is None or e.ratio.fits:
        return []
    return ["the sizes of the sides do not fit the planned split: no difference between them can be believed"]


def answers_html(pairs: Pairs) -> Html:
    """Tokens and seconds per answer of each pair, or nothing."""
    several = len(pairs.found) > 1
    lines: dict[str, list[Line]] = {}
    for d, found in zip(pairs.found, pairs.answers, strict=False):
        for one in found:
            label = f"{d.side.name} against {d.reference.name}" if several else ""
            lines.setdefault(one.comparison.metric, []).append(Line(label, one.comparison))
    if not lines:
        return Html("")
    names = ("reference", "compared") if several else (pairs.found[0].reference.name, pairs.found[0].side.name)
    said = '<p class="eb-small">What the models wrote, and the seconds of the calls that were made; kept replies count with theirs.</p>'
    return Html(f"{comparisons_table(lines, *names, 'Tokens and seconds per answer', 'pair')}{said}")


def answers_lines(pairs: Pairs) -> list[str]:
    """Tokens and seconds per answer, in sentences."""
    return [one.comparison.words for found in pairs.answers for one in found]


def _ratio_lines(e: Experiment) -> list[str]:
    if e.ratio is None:
        return []
    planned = ":".join(f"{r:g}" for r in e.planned)
    sizes = " and ".join(f"{count(n)} ({name})" for n, name in zip(e.ratio.counts, e.names, strict=True))
    test = f"χ² {e.ratio.chi2:.3g}, p {p_equals(e.ratio.p)}"
    if e.ratio.fits:
        return [f"Sample ratio: {sizes} {e.counted}s fit the planned {planned} ({test})."]
    expected = " and ".join(count(round(n)) for n in e.ratio.expected)
    return [
        f"Sample ratio: {sizes} {e.counted}s do not fit the planned {planned}, of which {expected} were expected ({test}): "
        f"{e.counted}s were lost, or dealt otherwise than planned, so no difference between the sides can be believed."
    ]


def _covaried_line(one: Covaried, name: str) -> str:
    found = one.found
    head = f"{said_group(one.group)}{one.title}, {one.side} against {one.reference}"
    if found.adjusted is None or found.plain is None or found.shift is None:
        return f"{head}: cannot be adjusted by {name}: {found.note}."
    if found.narrower is None:
        return f"{head}: the scores do not vary."
    how = f"{abs(found.narrower):.0%} {'narrower' if found.narrower >= 0 else 'wider'}"
    left = (
        f"; {one.n_left_out} of {counted(one.n_scored, 'scored item')}, without {name}, are in neither"
        if one.n_left_out
        else ""
    )
    return (
        f"{head}: {_text(found.adjusted)} with the covariate {name} (p {p_equals(found.adjusted.p)}), {_text(found.plain)} without; "
        f"the interval is {how}, correlation {found.correlation:.2f}{left}.{_moved(one)}"
    )


def _moved(one: Covaried) -> str:
    """What speaks against the covariate; empty where nothing does."""
    shift = one.found.shift
    if shift is None or shift.p >= MISMATCH:
        return ""
    return (
        f" The covariate itself differs between the sides, {_text(shift)}, p {p_equals(shift.p)}: they were not split at random, or the "
        "experiment changed it."
    )


def _text(d: Difference) -> str:
    return " ".join(difference_parts(d.value, d.ci_low, d.ci_high))


def _covaried_table(e: Experiment) -> str:
    rows = "".join(
        f'<tr><th scope="row">{breakable(f"{said_group(c.group)}{c.title}, {c.side} against {c.reference}")}</th>'
        f'<td class="n">{_cell(c.found.plain)}</td><td class="n">{_cell(c.found.adjusted)}</td>'
        f'<td class="n">{"–" if c.found.narrower is None else f"{c.found.narrower:.0%}"}</td>'
        f'<td class="n">{_two(c.found.correlation)}</td><td class="n">{count(c.found.n_b)}, {count(c.found.n_a)}</td></tr>'
        for c in e.covaried
    )
    return _table(
        "Differences with and without the covariate",
        (
            "figure",
            "without, 95 % interval",
            "with, 95 % interval",
            "narrower by",
            "correlation",
            "units, reference and compared",
        ),
        rows,
    )


def _two(x: float) -> str:
    return f"{x:.2f}" if math.isfinite(x) else "–"


def _cell(d: Difference | None) -> Html:
    return escape("–" if d is None else _text(d))


def _aa_lines(e: Experiment) -> list[str]:
    return [_aa_line(one, e.names[0]) for one in e.aa]


def _aa_line(one: Split, name: str) -> str:
    head = f"A/A, {said_group(one.group)}{one.title}"
    splits, tests, intervals = one.found
    if not splits:
        return f"{head}: too few units to be split."
    low, high = (float(end) for end in wilson(tests, splits))
    said = "which fits" if low <= 0.05 <= high else f"{'more' if low > 0.05 else 'less'} often than"
    return (
        f"{head}: {tests} of {splits} random splits of {name} show a difference at p ≤ 0.05, {_share(tests, splits)}, {said} "
        f"the 5 % that chance gives; the interval excludes 0 on {intervals}, {_share(intervals, splits)}."
    )


def _share(k: int, n: int) -> str:
    low, high = (float(end) for end in wilson(k, n))
    return f"{100 * k / n:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _aa_table(e: Experiment) -> str:
    rows = "".join(
        f'<tr><th scope="row">{breakable(f"{said_group(s.group)}{s.title}")}</th><td class="n">{s.found.splits}</td>'
        + "".join(
            f'<td class="n">{_share(k, s.found.splits) if s.found.splits else "–"}</td>'
            for k in (s.found.tests, s.found.intervals)
        )
        + "</tr>"
        for s in e.aa
    )
    return _table("False differences", ("figure", "random splits", "p ≤ 0.05", "interval excludes 0"), rows)


def _table(label: str, heads: Sequence[str], rows: str) -> str:
    head = "".join(f'<th scope="col"{"" if not i else " class=n"}>{escape(name)}</th>' for i, name in enumerate(heads))
    return (
        f'<div class="eb-scroll" tabindex="0" role="group" aria-label="{attribute(label)}"><table class="eb-table">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
