"""The comparison page: two runs, or groups within a run; or each two of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from evalbench.compare.matrix import Pairs
from evalbench.compare.runs import Differences
from evalbench.core.notes import first_rank
from evalbench.core.wording import count, counted, p_equals
from evalbench.draw.html import Html, escape
from evalbench.draw.verdict import data_label, notes_html, synthetic_label
from evalbench.report import compare_sides
from evalbench.report.compare_changes import changes_html, summary_line
from evalbench.report.compare_experiment import answers_html, doubts, experiment_html, experiment_method
from evalbench.report.compare_matrix import matrices, overview, refused_html, values_line
from evalbench.report.compare_overall import overall
from evalbench.report.compare_table import ARROWS, COLOUR, figures_table, slices_table
from evalbench.report.compare_words import judged_by, outcome, plain, said_group, sentences, told_otherwise
from evalbench.report.narrative import Heading
from evalbench.report.page import page_html
from evalbench.report.rows import fitted

_LINES = 6
_WORDS = {"another judge": "Different judges", "another measure": "Measured differently"}


def page(pairs: Pairs, links: Mapping[str, str], anchors: Mapping[str, Set[str]] | None = None) -> str:
    """The comparison page.

    - ``links``: Where the page of a run is, relative to this one.
    - ``anchors``: The anchors of cases on that page.

    Returns: One self-contained HTML file.
    """
    found, sides = pairs.found, pairs.sides
    results = sides[0].results
    study, several = str(results["study"]), len(sides) > 2
    title = compare_sides.title(sides) if found else f"{sides[0].name or sides[0].run_id} against itself"
    data = list(dict.fromkeys(data_label(side.results["data"]) for side in sides))
    opened = [d for d in found if d.reference.name == sides[0].name] or list(found[:1])
    folded = [d for d in found if d not in opened]
    text = page_html(
        "compare.html.jinja",
        {
            "head": f"{title}: {study}",
            "title": title,
            "study": study,
            "question": results["question"],
            "data": " and ".join(data),
            "synthetic": synthetic_label({"synthetic": any(s.results["data"].get("synthetic") for s in sides)}),
            "sides": compare_sides.table(sides, links),
            "bands": _overview_band(pairs)
            if several
            else Html("".join(_band(d, doubts(pairs.experiment)) for d in found)),
            "experiment": experiment_html(pairs.experiment),
            "answers": answers_html(pairs),
            "matrices": matrices(pairs) if several else "",
            "reading": values_line(pairs) if several else "",
            "refused": refused_html(pairs),
            "figures": figures_table(found) if found else "",
            "slices": Html("".join(slices_table(d) for d in opened)),
            "n_pairs": len(found),
            "notes": notes_html(_notes(found)),
            "changes": [changes_html(d, links, anchors or {}, headed=several) for d in opened],
            "other_changes": [summary_line(d) for d in folded],
            "has_changes": any(d.changes for d in found),
            "method": [*(_method(found) if found else ()), *experiment_method(pairs.experiment)],
            "contents": _contents(pairs),
        },
    )
    return fitted(text)


def _band(differences: Differences, doubts: Sequence[str]) -> str:
    word = outcome(differences)
    first = differences.rows[0].comparison.metric
    answer, (foremost, *groups) = plain(differences), sentences(differences, metric=first)
    rest = [line for line in (foremost, *told_otherwise(differences), *groups) if line != answer]
    by = judged_by(differences)
    head = f"{f'{by}, ' if by else ''}{differences.side.name} against {differences.reference.name}"
    return _drawn_band(
        word,
        _WORDS.get(word, word.capitalize()),
        head,
        [answer, *rest[: _LINES + 1]],
        [*doubts, *_unit_facts(differences)],
    )


def _overview_band(pairs: Pairs) -> Html:
    answer, (line, said) = overall(pairs), overview(pairs)
    left = [f"{counted(len(said) - _LINES, 'more comparison')} below"] * (len(said) > _LINES)
    left = [*doubts(pairs.experiment), *left]
    head = f"{judged_by(pairs.found[0])}, {counted(len(pairs.found), 'pair')}".removeprefix(", ")
    lines = list(dict.fromkeys([answer, line, *said[:_LINES]]))
    return Html(_drawn_band("mixed", f"{len(pairs.sides)} runs", head, lines, left))


def _drawn_band(word: str, light: str, head: str, said: Sequence[str], facts: Sequence[str]) -> str:
    more = "".join(f"<li>{escape(line)}</li>" for line in said[1:])
    listed = "".join(f"<li>{escape(fact)}</li>" for fact in facts)
    return (
        f'<div class="eb-verdict eb-{COLOUR.get(word, "grey")}"><p class="eb-light">'
        f'<span class="eb-symbol" aria-hidden="true">{ARROWS[word]}</span><strong>{escape(light)}</strong> '
        f'<span class="eb-meaning">{escape(head)}</span></p><p class="eb-sentence">{escape(said[0])}</p>'
        f"{f'<ul class=eb-words>{more}</ul>' if more else ''}{f'<ul class=eb-facts>{listed}</ul>' if listed else ''}</div>"
    )


def _unit_facts(d: Differences) -> list[str]:
    facts = [f"{counted(d.n_shared, 'unit')} on both sides" if d.changes else "units are not paired"]
    if not d.changes and d.reference.results["data"]["sha256"] != d.side.results["data"]["sha256"]:
        facts.append(
            "the sides read different data: where units were not dealt to them at random, a difference may be one of the data"
        )
    facts += [f"{count(d.only_reference)} only in {d.reference.name}"] * bool(d.only_reference and d.changes)
    facts += [f"{count(d.only_side)} only in {d.side.name}"] * bool(d.only_side and d.changes)
    return facts


def _notes(found: Sequence[Differences]) -> list[str]:
    """What a reader must know, each note once; where not every pair has it, with its pairs."""
    whose: dict[str, list[str]] = {}
    for d in found:
        units = [f"{', '.join(_unit_facts(d))}."] * (len(found) > 1)
        for note in dict.fromkeys([*units, *_notes_of(d)]):
            whose.setdefault(note, []).append(f"{d.side.name} against {d.reference.name}")
    return [note if len(pairs) == len(found) else f"{'; '.join(pairs)}: {note}" for note, pairs in whose.items()]


def _notes_of(d: Differences) -> list[str]:
    rows = [row for row in d.rows if row.headline and row.comparison.outcome != "same"]
    left_out = [
        f"{said_group(row.group)}{row.comparison.title}: {counted(row.comparison.n_left_out, 'unit')} without a value on "
        "one side left out."
        for row in rows
        if row.comparison.n_left_out
    ]
    said = [f"{said_group(r.group)}{r.comparison.title}: {r.comparison.note}." for r in rows if r.comparison.note]
    below = [note for note in d.notes if note not in first_rank(d.notes)]
    return [*below, *left_out, *said]


def _method(found: Sequence[Differences]) -> list[str]:
    rows = [row for d in found for row in d.rows]
    paired = any(d.changes for d in found) or any("paired percentile" in row.comparison.method for row in rows)
    families = [sum(row.headline is h and row.comparison.p is not None for row in rows) for h in (True, False)]
    methods = sorted({row.comparison.method for row in rows if row.comparison.method})
    out = [
        "Differences are the compared side minus the reference"
        + (", on the units that have a value on both sides." if paired else "; the units are independent samples."),
        f"Intervals 95 % and p-values: {'; '.join(methods) or 'none'}.",
        f"Holm's adjustment covers {counted(families[0], 'test')} of headline figures"
        + (f" and, separately, {counted(families[1], 'test')} of the further ones." if families[1] else "."),
        "Better or worse: Holm's p-value is at most 0.05. Where no difference is shown, the two need not be equal; the smallest "
        "difference that so many units show with 80 % power is 2.80 standard errors of the difference.",
    ]
    margins = {row.comparison.title: row.comparison.margin for row in rows if row.comparison.margin is not None}
    if margins:
        stated = ", ".join(f"{name} ±{margin:g}" for name, margin in margins.items())
        out.append(f"Equivalent: the interval lies inside the stated margin ({stated}).")
    mcnemar = [(d, row) for d in found for row in d.rows if row.comparison.p_mcnemar is not None]
    out += [
        f"{f'{d.side.name} against {d.reference.name}: ' if len(found) > 1 else ''}{said_group(row.group)}"
        f"{row.comparison.title}: McNemar's exact test p {p_equals(row.comparison.p_mcnemar)}."
        for d, row in mcnemar[:_LINES]
    ]
    return out


class _Part(NamedTuple):
    id: str
    text: str
    shown: bool = True


def _contents(pairs: Pairs) -> tuple[Heading, ...]:
    parts = (
        _Part("verdict", "Verdict", bool(pairs.found)),
        _Part("experiment", "Online experiment", pairs.experiment is not None),
        _Part("sides", "What differs"),
        _Part("matrix", "Each two runs", len(pairs.sides) > 2),
        _Part("refused", "What could not be compared", bool(pairs.refused)),
        _Part("figures", "Figures", bool(pairs.found)),
        _Part("slices", "Slices", any(d.slices for d in pairs.found)),
        _Part("answers", "Tokens and seconds per answer", any(pairs.answers)),
        _Part("changes", "Units that changed", bool(pairs.found)),
        _Part("method", "How it was computed"),
        _Part("terms", "Terms"),
    )
    return tuple(Heading(2, part.id, part.text) for part in parts if part.shown)
