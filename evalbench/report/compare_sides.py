"""What was compared and in what the sides differ: the title of a comparison and its first table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalbench.compare.sides import Side, asked, surroundings
from evalbench.core.wording import counted
from evalbench.draw.html import Html, attribute, breakable, escape
from evalbench.draw.tables import NO_VALUE
from evalbench.draw.verdict import data_label, light_word
from evalbench.report.facts import literal_html, value_html

_NAMED = 3  # differing parameters in a title


class Fact(NamedTuple):
    """Something of which not all sides have the same, a value for each."""

    name: str
    values: tuple[Any, ...]


class Differing(NamedTuple):
    """In what sides differ; of one run in nothing of these."""

    parameters: tuple[Fact, ...]
    asked: tuple[Fact, ...]
    code: tuple[Fact, ...]


def differing(sides: Sequence[Side]) -> Differing:
    """Parameters, models and prompts, code and versions that are not the same on all sides."""
    requests = [asked(side.run) for side in sides]
    code = [{k: v for k, v in surroundings(s.run).items() if k not in r} for s, r in zip(sides, requests, strict=True)]
    return Differing(_unequal([side.results["parameters"] for side in sides]), _unequal(requests), _unequal(code))


def _unequal(records: Sequence[Mapping[str, Any]]) -> tuple[Fact, ...]:
    names = dict.fromkeys(name for record in records for name in record)
    facts = (Fact(name, tuple(record.get(name) for record in records)) for name in names)
    return tuple(fact for fact in facts if any(value != fact.values[0] for value in fact.values))


def title(sides: Sequence[Side]) -> str:
    """Which sides, and in what they differ where their names do not say it."""
    names = [side.name for side in sides]
    who = f"{names[1]} against {names[0]}" if len(sides) == 2 else f"{', '.join(names[:-1])} and {names[-1]}"
    if len(sides) > _NAMED + 1:
        who = f"{len(sides)} runs"
    elif all("=" in side.name or side.name == ", ".join(map(str, side.whose().values())) for side in sides):
        return who
    found = differing(sides)
    what = [fact.name for fact in (*found.parameters, *found.asked)] or [fact.name for fact in found.code]
    if len({side.results["data"]["sha256"] for side in sides}) > 1:
        what = ["data", *(name for name in what if name != "data")]
    more = f" and {len(what) - _NAMED} more" if len(what) > _NAMED else ""
    same_run = len({side.run_id for side in sides}) == 1
    said = f"{', '.join(what[:_NAMED])}{more}" if what else "nothing" if same_run else "only when they were run"
    return f"{who}: what differs is {said}"


def table(sides: Sequence[Side], links: Mapping[str, str]) -> Html:
    """A column for each side: its run, what was judged, and all in which the sides differ; code and versions are folded."""
    found = differing(sides)
    rows = [
        ("run", [_run(side, links) for side in sides]),
        *_if_unequal("judged", [_judged(side) for side in sides]),
        *_if_unequal("data", [_data(side) for side in sides]),
        ("started, UTC", [escape(str(s.run.get("started") or "")[:16].replace("T", " ")) for s in sides]),
        ("light of the run", [light_word(str(side.results["light"])) for side in sides]),
        *((f.name, [literal_html(value) for value in f.values]) for f in found.parameters),
        *((f.name, [value_html(value) for value in f.values]) for f in found.asked),
    ]
    heads = [
        f'<th scope="col">{breakable(side.name)}{" <span class=eb-small>reference</span>" if not i and len(sides) == 2 else ""}</th>'
        for i, side in enumerate(sides)
    ]
    whole = _table("What was compared and what differs", heads, rows)
    folded = ""
    if found.code:
        code = _table(
            "Code and versions that differ", heads, [(f.name, [value_html(v) for v in f.values]) for f in found.code]
        )
        folded = (
            f'<details class="eb-more"><summary>code and versions: {counted(len(found.code), "difference")}</summary>'
            f"{code}</details>"
        )
    return Html(f'{whole}<p class="eb-small">{_said(sides, found)}</p>{folded}')


def _if_unequal(name: str, cells: list[Html]) -> list[tuple[str, list[Html]]]:
    return [(name, cells)] if len(set(cells)) > 1 else []


def _said(sides: Sequence[Side], found: Differing) -> str:
    if len({side.run_id for side in sides}) == 1:
        return "All sides come from one run: parameters, models, prompts and code are the same."
    parts = {"parameters": found.parameters, "models and prompts": found.asked, "code and versions": found.code}
    same = [name for name, facts in parts.items() if not facts]
    other = [name for name, facts in parts.items() if facts and name != "code and versions"]
    said = f"The same on all sides: {', '.join(same)}." if same else ""
    return f"{said} {f'All other {other[0]} are the same.' if len(other) == 1 else ''}".strip()


def _table(label: str, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[Html]]]) -> Html:
    body = "".join(
        f'<tr><th scope="row">{breakable(name)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for name, cells in rows
    )
    return Html(
        f'<div class="eb-scroll" tabindex="0" role="group" aria-label="{attribute(label)}"><table class="eb-table eb-sides">'
        f"<thead><tr><td></td>{''.join(heads)}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _run(side: Side, links: Mapping[str, str]) -> Html:
    from urllib.parse import quote

    name, link = breakable(side.run_id), links.get(side.run_id, "")
    return Html(f'<a href="{attribute(quote(link))}">{name}</a>') if link else name


def _judged(side: Side) -> Html:
    return escape(", ".join(f"{k} {v}" for k, v in side.selected.items()) or side.results["judged"])


def _data(side: Side) -> Html:
    data = side.results["data"]
    label = data_label(data)
    return (
        Html(f"{escape(label)} <code>{escape(data['sha256'][:8])}</code>")
        if data["sha256"]
        else escape(label or NO_VALUE)
    )
