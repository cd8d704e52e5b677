"""The comparison page and its JSON: runs, or groups within a run, against the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.core.comparison import Comparison
from evalbench.draw.html import Html, attribute, count, counted, decimals_for, escape
from evalbench.draw.tables import NO_VALUE, html_table
from evalbench.draw.verdict import data_label, interval_bar, notes_html, rounded_parts, synthetic_label
from evalbench.report.compare import Differences, Row, Side
from evalbench.report.facts import literal_html, value_html
from evalbench.report.narrative import Heading
from evalbench.report.page import page_html, write_atomically

if TYPE_CHECKING:
    import pandas as pd

PAGE, FIGURES, CHANGES = "comparison.html", "comparison.json", "changes.parquet"
SCHEMA_VERSION = 1
ROWS = 20
SYMBOLS = {
    "better": "↑", "worse": "↓", "higher": "↑", "lower": "↓", "same": "=", "equivalent": "≈", "no difference shown": "?",
    "undefined": "–", "mixed": "⇅",
}  # fmt: skip
_COLOUR = {"better": "green", "worse": "red"}
_LINES = 6


class Described(NamedTuple):
    """A side as the page names it."""

    name: str
    role: str
    what: str
    run_id: str
    link: str
    started: str
    light: str


def headline(differences: Differences) -> list[Row]:
    """The rows of the first figure, the whole's alone where there is one."""
    first = differences.rows[0].comparison.metric
    rows = [row for row in differences.rows if row.comparison.metric == first]
    whole = [row for row in rows if not row.group]
    return whole or rows


def outcome(differences: Differences) -> str:
    """The outcome of the first figure, ``mixed`` where groups differ."""
    found = {row.comparison.outcome for row in headline(differences)}
    return found.pop() if len(found) == 1 else "mixed"


def sentences(differences: Differences, metric: str = "") -> list[str]:
    """The verdict in words: headline figures of the whole, and the first one of each group; or one figure alone."""
    if differences.same:
        return [f"Both sides are the same run, {differences.side.run_id}: every difference is 0."]
    rows = [row for row in differences.rows if row.headline]
    if all(row.comparison.outcome == "same" for row in rows):
        return [
            f"{differences.side.name} and {differences.reference.name} agree on every one of "
            f"{counted(differences.n_shared, 'unit')}: every difference is 0."
        ]
    first = rows[0].comparison.metric
    whole = [row for row in rows if not row.group and metric in ("", row.comparison.metric)]
    groups = [row for row in rows if row.group and row.comparison.metric == first]
    return [f"{_said_group(row.group)}{row.comparison.words}" for row in [*whole, *groups]]


def _said_group(group: Mapping[str, str]) -> str:
    return f"{', '.join(group.values())}: " if group else ""


def page(found: Sequence[Differences], links: Mapping[str, str]) -> str:
    """The comparison page.

    Parameters
    ----------
    found : sequence of Differences
        All against the same reference.
    links : mapping of run id to str
        Where the page of a run stands, relative to this one.

    Returns
    -------
    str
        One self-contained HTML file.
    """
    reference = found[0].reference
    results = reference.results
    study = str(results["study"])
    names = " and ".join(d.side.name for d in found)
    return page_html(
        "compare.html.jinja",
        {
            "head": f"{names} against {reference.name}: {study}",
            "title": f"{names} against {reference.name}",
            "study": study,
            "question": results["question"],
            "data": data_label(results["data"]),
            "synthetic": synthetic_label(results["data"]),
            "sides": [_described(reference, "reference", links), *(_described(d.side, "against it", links) for d in found)],
            "bands": Html("".join(_band(d) for d in found)),
            "figures": _figures(found),
            "notes": notes_html([note for d in found for note in _notes(d)]),
            "parts": [_part(d) for d in found],
            "method": _method(found),
            "contents": _contents(found),
        },
    )  # fmt: skip


def _described(side: Side, role: str, links: Mapping[str, str]) -> Described:
    what = ", ".join(f"{k} {v}" for k, v in side.selected.items()) or str(side.results["judged"])
    started = str(side.run.get("started") or "")[:16].replace("T", " ")
    return Described(
        side.name, role, what, side.run_id, links.get(side.run_id, ""), started, str(side.results["light"])
    )


def _band(differences: Differences) -> str:
    word = outcome(differences)
    first = differences.rows[0].comparison.metric
    said = sentences(differences, metric=first)
    lead = f'<p class="eb-sentence">{escape(said[0])}</p>'
    more = "".join(f"<li>{escape(line)}</li>" for line in said[1 : 1 + _LINES])
    return (
        f'<div class="eb-verdict eb-{_COLOUR.get(word, "grey")}"><p class="eb-light">'
        f'<span class="eb-symbol" aria-hidden="true">{SYMBOLS[word]}</span><strong>{escape(word.capitalize())}</strong> '
        f'<span class="eb-meaning">{escape(differences.side.name)} against {escape(differences.reference.name)}</span></p>'
        f'{lead}{f"<ul class=eb-words>{more}</ul>" if more else ""}<ul class="eb-facts">{_unit_facts(differences)}</ul></div>'
    )


def _unit_facts(d: Differences) -> str:
    facts = [f"{counted(d.n_shared, 'unit')} on both sides" if d.changes else "units are not paired"]
    facts += [f"{count(d.only_reference)} only in {d.reference.name}"] * bool(d.only_reference and d.changes)
    facts += [f"{count(d.only_side)} only in {d.side.name}"] * bool(d.only_side and d.changes)
    return "".join(f"<li>{escape(fact)}</li>" for fact in facts)


def _notes(d: Differences) -> list[str]:
    rows = [row for row in d.rows if row.headline and row.comparison.outcome != "same"]
    left_out = [
        f"{_said_group(row.group)}{row.comparison.metric}: {counted(row.comparison.n_left_out, 'unit')} without a value on "
        "one side left out."
        for row in rows
        if row.comparison.n_left_out
    ]
    said = [
        f"{_said_group(r.group)}{r.comparison.metric}: {r.comparison.note}."
        for r in rows
        if r.comparison.note
    ]
    return list(dict.fromkeys([*d.notes, *left_out, *said]))


# -- table ----------------------------------------------------------------------------------------


class Line(NamedTuple):
    """One row of the table with the names of its two sides."""

    label: str
    comparison: Comparison


def _figures(found: Sequence[Differences]) -> Html:
    """Headline figures open, the others folded."""
    several = len(found) > 1
    lines: dict[bool, dict[str, list[Line]]] = {True: {}, False: {}}
    for d in found:
        for row in d.rows:
            label = ", ".join(([d.side.name] if several else []) + list(row.group.values()))
            lines[row.headline].setdefault(row.comparison.metric, []).append(Line(label, row.comparison))
    reference, side = found[0].reference.name, "the other" if several else found[0].side.name
    top = _table(lines[True], reference, side, "Headline figures")
    if not lines[False]:
        return top
    more = f"{counted(len(lines[False]), 'more figure')}, a family of tests of their own"
    return Html(
        f'{top}<details class="eb-more"><summary>{more}</summary>'
        f"{_table(lines[False], reference, side, 'More figures')}</details>"
    )


_LEGEND = '<p class="eb-small">In brackets: the smallest difference that so many units would have shown with 80 % power.</p>'


def _table(metrics: Mapping[str, Sequence[Line]], reference: str, side: str, label: str) -> Html:
    grouped = any(line.label for lines in metrics.values() for line in lines)
    body = "".join(_metric_rows(lines, grouped) for lines in metrics.values())
    return Html(
        f'<div class="eb-scroll" tabindex="0" role="group" aria-label="{attribute(label)}">'
        '<table class="eb-table eb-headline eb-compare"><thead><tr>'
        f'<th scope="col">{"group" if grouped else "figure"}</th><th scope="col" class="n">{_head(reference)}</th>'
        f'<th scope="col" class="n">{_head(side)}</th>'
        '<th scope="colgroup" colspan="3">difference, 95 % interval</th><th scope="col" class="n">p, Holm</th>'
        f'<th scope="col">verdict</th></tr></thead>{body}</table></div>{_LEGEND if "eb-power" in body else ""}'
    )


def _head(name: str) -> Html:
    return Html(f'<span class="eb-name">{escape(name)}</span>')


def _metric_rows(lines: Sequence[Line], grouped: bool) -> str:
    first = lines[0].comparison
    better = {True: "higher is better", False: "lower is better"}.get(first.higher_is_better, "")
    details = ", ".join(part for part in (first.unit, better) if part)
    name = f'{escape(first.metric).replace("_", "_<wbr>")} <span class="eb-small">{escape(details)}</span>'
    domain = _domain([line.comparison for line in lines])
    if not grouped:
        rows = "".join(
            f'<tr><th scope="row">{name}</th>{_cells(line.comparison, domain)}</tr>' for line in lines
        )
        return f"<tbody>{rows}</tbody>"
    rows = "".join(
        f'<tr><td class="w">{escape(line.label) or "<i>all</i>"}</td>{_cells(line.comparison, domain)}</tr>'
        for line in lines
    )
    return f'<tbody><tr><th scope="rowgroup" colspan="8" class="eb-metric">{name}</th></tr>{rows}</tbody>'


def _domain(lines: Sequence[Comparison]) -> tuple[float, float]:
    """Symmetric about 0, wide enough for every interval."""
    reach = max(
        (abs(v) for c in lines for v in (c.difference, c.ci_low, c.ci_high) if v is not None), default=0.0
    )
    return (-reach, reach) if reach > 0 else (-1.0, 1.0)


def _cells(c: Comparison, domain: tuple[float, float]) -> str:
    row = {"value": c.difference, "ci_low": c.ci_low, "ci_high": c.ci_high}
    if c.difference is None:
        shown, interval = str(NO_VALUE), ""
    else:
        shown, interval = rounded_parts(c.difference, c.ci_low, c.ci_high, _decimals(c))
        shown = f"+{shown}" if c.difference > 0 and shown.strip("0.") else shown
    colour = f"eb-{_COLOUR.get(c.outcome, 'grey')}"
    power = ""
    if c.outcome == "no difference shown" and c.smallest is not None:
        power = f' <span class="eb-small eb-power">({_significant(c.smallest)})</span>'
    return (
        f'<td class="n">{_value(c.value_b, c)}</td><td class="n">{_value(c.value_a, c)}</td>'
        f'<td class="n eb-value">{shown}</td><td class="eb-barcell">{interval_bar(row, domain)}</td>'
        f'<td class="n eb-interval">{interval}</td>'
        f'<td class="n" title="unadjusted p {attribute(_plain_p(c.p))}">{_p(c.p_holm)}</td>'
        f'<td><span class="eb-lamp {colour}"><span aria-hidden="true">{SYMBOLS[c.outcome]}</span> '
        f"{escape(c.outcome)}</span>{power}</td>"
    )


def _decimals(c: Comparison) -> int | None:
    """One decimal more where an end of the interval would else be rounded to 0 and hide its side of 0."""
    if c.ci_low is None or c.ci_high is None or c.ci_high == c.ci_low:
        return None
    usual = decimals_for(c.ci_high - c.ci_low)
    return usual + any(0 < abs(end) < 0.5 * 10**-usual for end in (c.ci_low, c.ci_high))


def _value(value: float | None, c: Comparison) -> str:
    if value is None:
        return str(NO_VALUE)
    return rounded_parts(value, c.ci_low, c.ci_high, _decimals(c))[0]


def _significant(x: float) -> str:
    return f"{x:.2g}" if x < 100 else f"{x:.0f}"


def _p(p: float | None) -> str:
    if p is None:
        return str(NO_VALUE)
    return "&lt; 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


# -- what changed, what differs ---------------------------------------------------------------------


class Part(NamedTuple):
    """What the page says of one side besides its figures."""

    id: str
    name: str
    changes: Html
    parameters: tuple[tuple[str, Html, Html], ...]
    surroundings: tuple[tuple[str, Html, Html], ...]
    same_run: bool
    reference: str


def _part(d: Differences) -> Part:
    return Part(
        f"side-{_slug(d.side.name)}",
        d.side.name,
        _changes(d),
        tuple((n, literal_html(a), literal_html(b)) for n, a, b in d.parameters),
        tuple((n, value_html(a), value_html(b)) for n, a, b in d.surroundings),
        d.side.run_id == d.reference.run_id,
        d.reference.name,
    )


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name.casefold())


def _changes(d: Differences) -> Html:
    """How many units changed, and the twenty that got better and worse most."""
    if d.changes is None:
        return Html(
            "<p>Units are not paired, or no column of the items scores a single unit, so no change of a unit is known.</p>"
        )
    order = ("better", "worse", "higher", "lower", "same", "value on one side", "no value")
    said = ", ".join(f"{count(d.changes.counts[v])} {v}" for v in order if v in d.changes.counts)
    out = [
        f"<p>{escape(d.changes.metric)} of single units, {escape(d.side.name)} against {escape(d.reference.name)}: {said}.</p>"
    ]
    for verdict, title in (("better", "Got better"), ("worse", "Got worse"), ("higher", "Rose"), ("lower", "Fell"),
                           ("value on one side", "A value on one side alone")):  # fmt: skip
        rows = d.changes.table[d.changes.table["verdict"] == verdict]
        if len(rows):
            out.append(f"<h3>{title}</h3>{_change_table(rows, d)}")
    return Html("".join(out))


def _change_table(rows: pd.DataFrame, d: Differences) -> Html:
    columns = {"reference": d.reference.name, "side": d.side.name, "what": "counts that moved"}
    shown = rows.drop(columns="verdict")
    if not shown["what"].any():
        shown = shown.drop(columns="what")
    if d.reference.name == d.side.name:
        columns |= {"reference": "reference"}
    return html_table(shown.head(ROWS).rename(columns=columns), rows=ROWS, total=len(rows), file=CHANGES)


def _method(found: Sequence[Differences]) -> list[str]:
    rows = [row for d in found for row in d.rows]
    paired = found[0].changes is not None or any("paired percentile" in row.comparison.method for row in rows)
    families = [
        sum(row.headline is h and row.comparison.p is not None for row in rows) for h in (True, False)
    ]
    methods = sorted({row.comparison.method for row in rows if row.comparison.method})
    out = [
        "Differences are this side minus the reference"
        + (
            ", on the units that both have and that have a value on both."
            if paired
            else "; the units are independent samples."
        ),
        f"Intervals 95 % and p-values: {'; '.join(methods) or 'none'}.",
        f"Holm's adjustment covers {counted(families[0], 'test')} of headline figures"
        + (f" and, apart, {counted(families[1], 'test')} of the further ones." if families[1] else "."),
        "Better or worse: Holm's p-value is at most 0.05. No difference shown says nothing about equality; the smallest "
        "difference that so many units show with 80 % power is 2.80 standard errors of the difference.",
    ]
    margins = {
        row.comparison.metric: row.comparison.margin for row in rows if row.comparison.margin is not None
    }
    if margins:
        stated = ", ".join(f"{name} ±{margin:g}" for name, margin in margins.items())
        out.append(f"Equivalent: the interval lies inside the stated margin ({stated}).")
    mcnemar = [row for row in rows if row.comparison.p_mcnemar is not None]
    out += [
        f"{_said_group(row.group)}{row.comparison.metric}: McNemar's exact test p {_plain_p(row.comparison.p_mcnemar)}."
        for row in mcnemar[:_LINES]
    ]
    return out


def _plain_p(p: float | None) -> str:
    return "–" if p is None else "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _contents(found: Sequence[Differences]) -> tuple[Heading, ...]:
    parts = (("verdict", "Verdict"), ("figures", "Figures"), ("changes", "Units that changed"),
             ("differ", "What differs"), ("method", "How it was computed"))  # fmt: skip
    return tuple(Heading(2, anchor, text) for anchor, text in parts)


# -- files ------------------------------------------------------------------------------------------


def to_json(found: Sequence[Differences]) -> dict[str, Any]:
    """The comparison as JSON: the same inputs give the same content."""
    reference = found[0].reference
    return {
        "schema_version": SCHEMA_VERSION,
        "study": reference.results["study"],
        "reference": _side_json(reference),
        "comparisons": [
            {
                "side": _side_json(d.side),
                "outcome": outcome(d),
                "sentences": sentences(d),
                "rows": [{**row.group, "headline": row.headline, **row.comparison.row()} for row in d.rows],
                "changes": {"metric": d.changes.metric, "counts": d.changes.counts} if d.changes else None,
                "parameters": {n: [a, b] for n, a, b in d.parameters},
                "surroundings": {n: [a, b] for n, a, b in d.surroundings},
                "units": {"shared": d.n_shared, "only_reference": d.only_reference, "only_side": d.only_side},
                "notes": list(d.notes),
            }
            for d in found
        ],
    }


def _side_json(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "run_id": side.run_id,
        "selected": dict(side.selected),
        "data": side.results["data"],
    }


def write(found: Sequence[Differences], folder: Path, links: Mapping[str, str]) -> Path:
    """Write page, JSON and the changes of all units into a folder; returns the page's path."""
    import json

    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    tables = [d.changes.table.assign(compared=d.side.name) for d in found if d.changes]
    if tables:
        pd.concat(tables, ignore_index=True).to_parquet(folder / CHANGES, index=False)
    text = json.dumps(to_json(found), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_atomically(folder / FIGURES, text)
    return write_atomically(folder / PAGE, page(found, links))
