"""The rule of a light in words: a line for each figure or condition, the one that held marked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from evalbench.core.result import deciding_row
from evalbench.core.verdict import SYMBOLS
from evalbench.core.wording import title_of
from evalbench.draw.html import Html, escape

# "red: < 0.4", "green (calibrated agrees better): gain_low > 0", "yellow (else)", each behind "F1: " perhaps
_CASE = re.compile(
    r"(?:(?P<of>.*): )?(?P<light>green|yellow|red|grey)(?: \((?P<name>[^()]*)\))?(?:: (?P<when>.+))?", re.DOTALL
)


_BETWEEN = re.compile(r"([\[(])(\S+), (\S+)([\])])")
_BEYOND = {"<": "below", "≤": "up to", ">": "above", "≥": "from"}


class Part(NamedTuple):
    """A part of a rule: the figure that it begins (none: that of the part before), a light and its condition."""

    of: str
    light: str
    when: str


def parts(rule: str) -> list[Part]:
    """The conditions of a rule in order; what is none has no light.

    Examples
    --------
    >>> parts("F1: red: < 0.4; green: ≥ 0.4; the worst decides")
    [Part(of='F1', light='red', when='< 0.4'), Part(of='', light='green', when='≥ 0.4'), Part(of='', light='', when='the worst decides')]
    >>> parts("green (it agrees better): gain_low > 0; yellow (else)")
    [Part(of='', light='green', when='it agrees better'), Part(of='', light='yellow', when='else')]
    """
    found = []
    for text in filter(None, rule.split("; ")):
        case = _CASE.fullmatch(text)
        if case and (case["name"] or case["when"]):
            found.append(Part(case["of"] or "", case["light"], case["name"] or case["when"]))
        else:
            found.append(Part("", "", text))
    return found


def by_figure(rule: str) -> dict[str, list[Part]]:
    """The conditions of each figure of a rule; of a rule without figures all are under an empty name.

    Examples
    --------
    >>> [(of, len(found)) for of, found in by_figure("F1: red: < 0.4; green: ≥ 0.4; recall: green: ≥ 0; the worst decides").items()]
    [('F1', 2), ('recall', 1)]
    """
    found: dict[str, list[Part]] = {}
    of = ""
    for part in parts(rule):
        of = part.of or of
        if part.light:
            found.setdefault(of, []).append(part)
    return found


def of_title(rule: str, title: str) -> str | None:
    """The name under which a rule has the figure with this title: the only one, or one that begins with it; else None."""
    names = list(by_figure(rule))
    begins = re.compile(rf"{re.escape(title.casefold())}(?!\w)(?! \w)")
    return names[0] if len(names) == 1 else next((name for name in names if begins.match(name.casefold())), None)


def in_words(band: str) -> str:
    """A condition without mathematical signs, where it is a span of numbers.

    Examples
    --------
    >>> in_words("[0.4, 0.6)"), in_words("(0.1, 0.3]"), in_words("≥ 0.8"), in_words("A is better")
    ('from 0.4 to below 0.6', 'above 0.1 up to 0.3', 'from 0.8', 'A is better')
    """
    if between := _BETWEEN.fullmatch(band):
        first, low, high, last = between.groups()
        return f"{'from' if first == '[' else 'above'} {low} {'up to' if last == ']' else 'to below'} {high}"
    sign, _, value = band.partition(" ")
    return f"{_BEYOND[sign]} {value}" if sign in _BEYOND and " " not in value else band


def rule_html(results: Mapping[str, Any]) -> Html:
    """A line for each figure of the rule, or for each condition where it has no figures; nothing without a rule.

    - ``results``: Content of ``results.json``.
    """
    found = parts(str(results.get("light_rule") or ""))
    if not any(part.light for part in found):
        said = "; ".join(part.when for part in found)
        return Html(f'<p class="eb-rule">Rule: {escape(said)}</p>' if said else "")
    row, lines = deciding_row(results), []
    own = str(
        results["light"]
    )  # of a light held back, what the figures alone would give, unless the rule has that light
    held = own if any(part.light == own for part in found) else str(results.get("would_be_light") or own)
    rule = str(results["light_rule"])
    decided = "" if row is None else of_title(rule, title_of(row))
    several = any(part.of for part in found)
    of = ""
    for part in found:
        if part.of:
            of = part.of
            lines.append(f"<li><span>{escape(of)}:</span>")
        if not part.light:
            lines.append(f"<li>{escape(part.when)}")
            continue
        text = f'<span class="eb-symbol" aria-hidden="true">{SYMBOLS[part.light]}</span> {part.light}: {escape(in_words(part.when))}'
        shown = f"<strong>{text} ← this one</strong>" if part.light == held and of == decided else text
        lines.append(f" <span>{shown}</span>" if several else f"<li>{shown}")
    return Html(f'<div class="eb-rule">Rule of the light<ul>{"".join(lines)}</ul></div>')
