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
    held = str(results.get("would_be_light") or results["light"])
    by_figure = any(part.of for part in found)
    decided = not by_figure or row is None  # whether the figure of these conditions is the one that decided
    for part in found:
        if part.of:
            decided = row is not None and title_of(row).casefold() == part.of.partition(",")[0].casefold()
            lines.append(f"<li><span>{escape(part.of)}:</span>")
        if not part.light:
            lines.append(f"<li>{escape(part.when)}")
            continue
        text = f'<span class="eb-symbol" aria-hidden="true">{SYMBOLS[part.light]}</span> {part.light}: {escape(in_words(part.when))}'
        here = decided and part.light == held
        shown = f"<strong>{text} ← this one</strong>" if here else text
        lines.append(f" <span>{shown}</span>" if by_figure else f"<li>{shown}")
    return Html(f'<div class="eb-rule">Rule of the light<ul>{"".join(lines)}</ul></div>')
