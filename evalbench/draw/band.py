"""The verdict's box: the answer, what decided it, what could change it and what to do next; the rule of the light as a scale."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from evalbench.core.result import deciding_row
from evalbench.core.verdict import SYMBOLS
from evalbench.core.wording import count, counted, estimate_text, title_of
from evalbench.draw.html import Html, attribute, escape
from evalbench.draw.rule import by_figure, of_title, rule_html
from evalbench.draw.verdict import MEANING, domain_of, synthetic_label

LINES: Mapping[str, str] = {"decided_by": "Decided by", "could_change": "Could change", "next": "Next"}
WHOLE = "verdict-in-full"
"""The place of the folded sentence on a page, which a link to it opens."""
_LIT = ("green", "yellow", "red")
_AT_CUT = 1e-6


def _evidence(results: Mapping[str, Any]) -> list[str]:
    missing, total, of = (results["items"].get(name) or 0 for name in ("unscored", "n", "of"))
    items = counted(total, "item") + (f" ({of})" if of else "")
    some = any(row.get("n_unscored") for row in results.get("summary") or ())
    whole = f"all {items} have a score, though not of every figure" if some else f"all {items} could be scored"
    trials = results.get("trials") or {}
    if lost := trials.get("lost"):
        whole = f"all {items} have a scored trial; {count(lost)} of {counted(trials['n'], 'trial')} could not be scored"
    facts = [f"{count(missing)} of {items} could not be scored" if missing else whole]
    said = (results.get("stopping") or {}).get("sentence") or ""
    facts += [said] if said and said not in results["sentence"] else []
    return facts + _resting_on(results["light"], results.get("would_be_light"), results.get("light_stability"))


def _resting_on(light: str, would_be: str | None, stability: float | None) -> list[str]:
    """How sure the light is, and what it would be where the evidence holds it back: the resamples' share is that one's."""
    share = "" if stability is None else f"{100 * stability:.0f} %"
    if would_be in (None, light):
        return [f"{share} of resamples give the same light"] * bool(share)
    alone = f"{light} for lack of evidence; on the figures alone it would be {would_be}"
    return [alone + (f" ({share} of resamples)" if share else "")]


def verdict_html(results: Mapping[str, Any], linked: bool = False) -> Html:
    """The box: light as word, symbol and colour; the answer with its lines; the scale; folded, the sentence and what it rests on.

    - ``results``: Content of ``results.json``; of an old run without an answer the sentence is open.
    - ``linked``: Whether the lines are links into the page.
    """
    light = str(results["light"])
    meaning = f' <span class="eb-meaning">{escape(MEANING[light])}</span>' if MEANING.get(light) else ""
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in _evidence(results))
    place = f' id="{WHOLE}"' if linked else ""
    whole = f'<p class="eb-sentence"{place}>{escape(results["sentence"])}</p><ul class="eb-facts">{facts}</ul>{rule_html(results)}'
    if answer := results.get("answer"):
        said = f'<p class="eb-answer">{escape(answer["answer"])}</p>{_lines(results, linked)}{scale_html(results)}'
        whole = f'{said}<details class="eb-long"><summary>The verdict in full</summary>{whole}</details>'
    return Html(
        f'<div class="eb-verdict eb-{attribute(light)}"><p class="eb-light">'
        f'<span class="eb-symbol" aria-hidden="true">{SYMBOLS.get(light, "○")}</span>'
        f"<strong>{escape(light.capitalize())}</strong>{meaning}{synthetic_label(results['data'])}</p>{whole}</div>"
    )


def _lines(results: Mapping[str, Any], linked: bool) -> str:
    """What decided, what could change it, what to do: those that say something."""
    answer, rows = results["answer"], []
    first = {} if results.get("decided_by") else {"decided_by": "First figure"}
    for name, label in {**LINES, **first}.items():
        text = escape(answer[name]["text"])
        if text:
            at = {"verdict": WHOLE}.get(answer[name]["at"], answer[name]["at"])
            shown = f'<a class="eb-to" href="#{attribute(at)}">{text}</a>' if linked else text
            rows.append(f"<dt>{label}</dt><dd>{shown}</dd>")
    return f'<dl class="eb-lines">{"".join(rows)}</dl>' if rows else ""


def scale_html(results: Mapping[str, Any]) -> Html:
    """The rule of the light as a scale, with the deciding figure and its interval on it; nothing where there is no such rule."""
    row = deciding_row(results)
    if row is None or row["value"] is None or not (cuts := [float(cut) for cut in row.get("cuts") or ()]):
        return Html("")
    lights = lights_between(str(results.get("light_rule") or ""), title_of(row), len(cuts))
    if not lights or (row["light"] in _LIT and row["light"] not in _around(float(row["value"]), lights, cuts)):
        return Html("")  # something else than this figure gave the light
    low, high = _span(row, cuts)

    def at(value: float) -> float:
        return round(100 * (min(max(value, low), high) - low) / (high - low), 1)

    places = [0.0, *(at(cut) for cut in cuts), 100.0]
    widths = [round(right - left, 1) for left, right in pairwise(places)]
    bands = "".join(
        f'<span class="eb-{light}" style="width:{width:g}%">{light if width >= 10 else ""}</span>'
        for light, width in zip(lights, widths, strict=True)
    )
    first, last = row.get("ci_low"), row.get("ci_high")
    span = ""
    if first is not None and last is not None:
        span = f'<i style="left:{at(first):g}%;width:{max(at(last) - at(first), 0.5):g}%"></i>'
    ticks = "".join(
        f'<span style="left:{place:g}%">{cut:g}</span>' for cut, place in zip(cuts, places[1:], strict=False)
    )
    said = f"{title_of(row)} {estimate_text(row, results['summary'])}, {row['light']}; the rule: {_rule_in_words(lights, cuts)}"
    return Html(
        f'<div class="eb-scale" role="img" aria-label="{attribute(said)}"><div class="eb-scale-bands">{bands}{span}'
        f'<b style="left:{at(row["value"]):g}%"></b></div><div class="eb-scale-cuts">{ticks}</div></div>'
    )


def lights_between(rule: str, title: str, n_cuts: int) -> list[str]:
    """The lights between the cuts of a figure, ascending, as the rule in words has them; nothing where it has others.

    Examples
    --------
    >>> lights_between("F1: red: < 0.4; yellow: [0.4, 0.6); green: ≥ 0.6", "F1", 2)
    ['red', 'yellow', 'green']
    >>> lights_between("green: always", "F1", 1)
    []
    """
    found = by_figure(rule).get(of_title(rule, title) or "", [])
    bands = [part.light for part in found if part.when[0] in "<≤>≥[("]
    return bands if len(bands) == len(found) == n_cuts + 1 else []


def _around(value: float, lights: Sequence[str], cuts: Sequence[float]) -> set[str]:
    """The light of a value: at a cut both, since the rule says whose the cut is."""
    return {lights[bisect(cuts, value - _AT_CUT)], lights[bisect(cuts, value + _AT_CUT)]}


def _span(row: Mapping[str, Any], cuts: Sequence[float]) -> tuple[float, float]:
    """The ends of the scale: those of the unit, widened where a cut or the interval lies beyond or at them."""
    low, high = domain_of([row])
    low, high = min([low, *cuts]), max([high, *cuts])
    margin = 0.15 * (high - low)
    return (low - margin if low in cuts else low), (high + margin if high in cuts else high)


def _rule_in_words(lights: Sequence[str], cuts: Sequence[float]) -> str:
    inner = [f"{light} from {cut:g}" for cut, light in zip(cuts, lights[1:], strict=True)]
    return ", ".join([f"{lights[0]} below {cuts[0]:g}", *inner])
