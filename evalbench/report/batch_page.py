"""The summary of a batch: ``batch.json`` (``docs/batch.schema.json``) and a page, in a folder of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalbench.draw.html import Html, escape
from evalbench.draw.verdict import light_word
from evalbench.models.redact import redacted, redactor
from evalbench.readers.runs import write_json, write_text
from evalbench.report.facts import took
from evalbench.report.page import page_html

FOLDER, JSON, PAGE = "batch", "batch.json", "batch.html"
SCHEMA_VERSION = 1
_TONES = {"regression": ("eb-red", "↓"), "inconclusive": ("eb-grey", "?"), "none": ("eb-green", "=")}


def write_summary(folder: Path, summary: Mapping[str, Any]) -> Path:
    """Write both files; returns the page's path.

    - ``summary``: ``suite``, ``finished``, ``exit_code``, ``runs``, ``against`` as the schema describes them.
    """
    said = redacted({"schema_version": SCHEMA_VERSION, **summary}, redactor())
    write_json(folder / JSON, said)
    return write_text(folder / PAGE, summary_html(said))


def summary_html(summary: Mapping[str, Any]) -> str:
    """The page as text."""
    return page_html("batch.html.jinja", {**summary, "head": f"Batch {summary['suite']}", "draw": _DRAW})


def _state(run: Mapping[str, Any]) -> Html:
    if run["light"]:
        return light_word(run["light"])
    return Html(f'<span class="eb-lamp eb-failed"><span aria-hidden="true">✕</span> {escape(run["status"])}</span>')


def _against(state: str) -> Html:
    tone, sign = _TONES.get(state, ("eb-unlit", "–"))
    return Html(f'<span class="eb-lamp {tone}"><span aria-hidden="true">{sign}</span> {escape(state)}</span>')


def _counted(runs: Sequence[Mapping[str, Any]]) -> str:
    """How many runs ended how."""
    states: dict[str, int] = {}
    for run in runs:
        state = run["light"] or run["status"]
        states[state] = states.get(state, 0) + 1
    return ", ".join(f"{n} {state}" for state, n in states.items())


_DRAW = {"state": _state, "against": _against, "took": took, "tally": _counted}
