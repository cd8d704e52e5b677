"""The comparison page and its JSON: runs, or groups within a run, against the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.compare.runs import Differences, Row
from evalbench.compare.sides import Side
from evalbench.core.wording import count, counted, p_equals
from evalbench.draw.html import Html, escape
from evalbench.draw.tables import html_table
from evalbench.draw.verdict import data_label, notes_html, synthetic_label
from evalbench.errors import BadInput
from evalbench.readers.runs import write_text
from evalbench.report.compare_table import ARROWS, COLOUR, figures_table
from evalbench.report.facts import literal_html, value_html
from evalbench.report.narrative import Heading
from evalbench.report.page import page_html

if TYPE_CHECKING:
    import pandas as pd

PAGE, FIGURES, CHANGES = "comparison.html", "comparison.json", "changes.parquet"
SCHEMA_VERSION = 1
ROWS = 20
_SHOWN = ("better", "worse", "higher", "lower")
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
    """The outcome of the first figure, ``mixed`` where groups differ.

    Groups without a value say nothing, and a group that is the same shows no difference either.
    """
    found = {row.comparison.outcome for row in headline(differences)}
    known = found - {"undefined"} or found
    if len(known) == 1:
        return known.pop()
    return "no difference shown" if known == {"same", "no difference shown"} else "mixed"


def judged_by(differences: Differences) -> str:
    """The figure that the outcome is of; empty where everything is the same."""
    rows = [row for row in differences.rows if row.headline]
    alike = differences.same or all(row.comparison.outcome == "same" for row in rows)
    return "" if alike else differences.rows[0].comparison.title


def told_otherwise(differences: Differences) -> list[str]:
    """Further headline figures of the whole that show a difference which the outcome does not tell, in words."""
    first, word = differences.rows[0].comparison.metric, outcome(differences)
    return [
        row.comparison.words
        for row in differences.rows
        if row.headline
        and not row.group
        and row.comparison.metric != first
        and row.comparison.outcome in _SHOWN
        and row.comparison.outcome != word
    ]


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
            "sides": [
                _described(reference, "reference", links),
                *(_described(d.side, "compared run", links) for d in found),
            ],
            "bands": Html("".join(_band(d) for d in found)),
            "figures": figures_table(found),
            "notes": notes_html([note for d in found for note in _notes(d)]),
            "parts": [_part(d) for d in found],
            "method": _method(found),
            "contents": _contents(found),
        },
    )


def _described(side: Side, role: str, links: Mapping[str, str]) -> Described:
    what = ", ".join(f"{k} {v}" for k, v in side.selected.items()) or str(side.results["judged"])
    what = f"{what}, on {data_label(side.results['data'])}"
    started = str(side.run.get("started") or "")[:16].replace("T", " ")
    return Described(
        side.name, role, what, side.run_id, links.get(side.run_id, ""), started, str(side.results["light"])
    )


def _band(differences: Differences) -> str:
    word = outcome(differences)
    first = differences.rows[0].comparison.metric
    foremost, *groups = sentences(differences, metric=first)
    said = [foremost, *told_otherwise(differences), *groups]
    by = judged_by(differences)
    lead = f'<p class="eb-sentence">{escape(said[0])}</p>'
    more = "".join(f"<li>{escape(line)}</li>" for line in said[1 : 1 + _LINES])
    return (
        f'<div class="eb-verdict eb-{COLOUR.get(word, "grey")}"><p class="eb-light">'
        f'<span class="eb-symbol" aria-hidden="true">{ARROWS[word]}</span><strong>{escape(word.capitalize())}</strong> '
        f'<span class="eb-meaning">{escape(f"{by}, " if by else "")}{escape(differences.side.name)} against {escape(differences.reference.name)}</span></p>'
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
        f"{_said_group(row.group)}{row.comparison.title}: {counted(row.comparison.n_left_out, 'unit')} without a value on "
        "one side left out."
        for row in rows
        if row.comparison.n_left_out
    ]
    said = [f"{_said_group(r.group)}{r.comparison.title}: {r.comparison.note}." for r in rows if r.comparison.note]
    return list(dict.fromkeys([*d.notes, *left_out, *said]))


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
            "<p>Units are not paired, or no column of the items scores a single unit, so changes of units are not known.</p>"
        )
    order = ("better", "worse", "higher", "lower", "same", "value on one side", "no value")
    said = ", ".join(f"{count(d.changes.counts[v])} {v}" for v in order if v in d.changes.counts)
    out = [
        f"<p>{escape(d.changes.title)} of single units, {escape(d.side.name)} against {escape(d.reference.name)}: {said}.</p>"
    ]
    for verdict, title in (
        ("better", "Got better"),
        ("worse", "Got worse"),
        ("higher", "Rose"),
        ("lower", "Fell"),
        ("value on one side", "A value on one side only"),
    ):
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
    families = [sum(row.headline is h and row.comparison.p is not None for row in rows) for h in (True, False)]
    methods = sorted({row.comparison.method for row in rows if row.comparison.method})
    out = [
        "Differences are this side minus the reference"
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
    mcnemar = [row for row in rows if row.comparison.p_mcnemar is not None]
    out += [
        f"{_said_group(row.group)}{row.comparison.title}: McNemar's exact test p {p_equals(row.comparison.p_mcnemar)}."
        for row in mcnemar[:_LINES]
    ]
    return out


def _contents(found: Sequence[Differences]) -> tuple[Heading, ...]:
    parts = (
        ("verdict", "Verdict"),
        ("differ", "What differs"),
        ("figures", "Figures"),
        ("changes", "Units that changed"),
        ("method", "How it was computed"),
    )
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
                "changes": {"metric": d.changes.metric, "title": d.changes.title, "counts": d.changes.counts}
                if d.changes
                else None,
                "parameters": {n: [a, b] for n, a, b in d.parameters},
                "surroundings": {n: [a, b] for n, a, b in d.surroundings},
                "units": {"shared": d.n_shared, "only_reference": d.only_reference, "only_side": d.only_side},
                "notes": list(d.notes),
            }
            for d in found
        ],
    }


def _side_json(side: Side) -> dict[str, Any]:
    return {"name": side.name, "run_id": side.run_id, "selected": dict(side.selected), "data": side.results["data"]}


def write(found: Sequence[Differences], folder: Path, links: Mapping[str, str], *, keep: bool = False) -> Path:
    """Write page, JSON and the changes of all units into a folder; returns the page's path.

    Raises
    ------
    BadInput
        With ``keep``, if the folder holds another comparison.
    """
    import json

    import pandas as pd

    text = json.dumps(to_json(found), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    kept = folder / FIGURES
    if keep and kept.is_file() and kept.read_text(encoding="utf-8", errors="replace") != text:
        raise BadInput(f"{folder} holds another comparison, which is kept: name another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    tables = [d.changes.table.assign(compared=d.side.name) for d in found if d.changes]
    if tables:
        pd.concat(tables, ignore_index=True).to_parquet(folder / CHANGES, index=False)
    write_text(folder / FIGURES, text)
    return write_text(folder / PAGE, page(found, links))
