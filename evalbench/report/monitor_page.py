"""The overview of a schedule: what each entry's light is and was, what it waits for, and what users say beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from evalbench.core.verdict import SYMBOLS
from evalbench.core.wording import aligned, counted, p_text, percent, signed
from evalbench.draw.html import Html, attribute, escape
from evalbench.draw.tables import html_table
from evalbench.draw.verdict import light_word
from evalbench.models.redact import redacted, redactor
from evalbench.readers.runs import write_json, write_text
from evalbench.report.overviews import JSON, PAGE
from evalbench.report.page import page_html

SCHEMA_VERSION = 1
_STATES = {
    "ok": ("eb-unlit", "✓", "done"),
    "empty": ("eb-grey", SYMBOLS["grey"], "nothing to judge"),
    "running": ("eb-grey", "…", "running"),
}
SHOWN = 20
"""Runs of an entry in the picture of its lights."""


def write_overview(folder: Path, content: Mapping[str, Any]) -> Path:
    """Write ``monitor.json`` and the page; returns the page's path.

    - ``content``: ``schedule, timezone, made``; ``runs_shown, runs_kept``: of each entry, at most; ``store``: the log
      store's name, or null; ``entries``: ``name, what, target, state, because, due, next, runs``, each of the runs
      ``due, started, finished, status, light, said, attempt, missed, because, owner, pages`` (relative to the folder),
      oldest first; ``chosen``: files of chosen metrics with ``file``; ``feedback``: rows of figures, their ``bias``, or
      null.
    """
    folder.mkdir(parents=True, exist_ok=True)
    whole = {"schema_version": SCHEMA_VERSION, "sentence": sentence(content["entries"]), **content}
    said = redacted(whole, redactor())
    write_json(folder / JSON, said)
    return write_text(folder / PAGE, overview_html(said))


def overview_html(content: Mapping[str, Any]) -> str:
    """The page as text."""
    entries = content["entries"]
    return page_html(
        "monitor.html.jinja",
        {
            "head": f"Monitoring: {content['schedule']}",
            "schedule": content["schedule"],
            "timezone": content["timezone"],
            "made": content["made"],
            "store": content["store"],
            "runs_shown": content["runs_shown"],
            "runs_kept": content["runs_kept"],
            "sentence": sentence(entries),
            "now": html_table(_now(entries), rows=100, clamp=400),
            "lights": html_table(_lights(entries), rows=100),
            "runs": html_table(_runs(entries), rows=30, clamp=300),
            "chosen": [{**one, "table": html_table(_metrics(one["metrics"]), rows=30)} for one in content["chosen"]],
            "feedback": _with_table(content["feedback"]),
        },
    )


def sentence(entries: Sequence[Mapping[str, Any]]) -> str:
    """The last lights in one sentence, worst first, and what failed.

    Examples
    --------
    >>> sentence([{"name": "drift", "runs": [{"status": "ok", "light": "red"}]}, {"name": "b", "runs": []}])
    'Last lights: 1 red (drift); 1 entry has not run yet.'
    """
    last = {entry["name"]: entry["runs"][-1] for entry in entries if entry["runs"]}
    parts = []
    for light in ("red", "yellow", "grey", "green", "unlit"):
        names = [name for name, run in last.items() if run["status"] == "ok" and run["light"] == light]
        if names:
            parts.append(f"{len(names)} {light} ({', '.join(names)})")
    said = [f"Last lights: {', '.join(parts)}"] if parts else []
    empty = [name for name, run in last.items() if run["status"] == "empty"]
    said += [f"nothing to judge, since no rows of the log were in its window: {', '.join(empty)}"] if empty else []
    bad = [f"{name} ({run['status']})" for name, run in last.items() if run["status"] not in ("ok", "running", "empty")]
    said += [f"no light, since the last run did not succeed: {', '.join(bad)}"] if bad else []
    idle = len(entries) - len(last)
    said += [f"{counted(idle, 'entry', 'entries')} {'has' if idle == 1 else 'have'} not run yet"] if idle else []
    text = "; ".join(said) or "Nothing has run yet"
    return f"{text[:1].upper()}{text[1:]}."


def _state(run: Mapping[str, Any]) -> Html:
    if run["status"] == "ok" and run["light"]:
        return light_word(run["light"])
    tone, sign, said = _STATES.get(run["status"], ("eb-failed", "✕", run["status"]))
    return Html(f'<span class="eb-lamp {tone}"><span aria-hidden="true">{sign}</span> {escape(said)}</span>')


def _linked(run: Mapping[str, Any], inner: Html) -> Html:
    pages = [page for page in run["pages"] if page.endswith(".html")]
    return Html(f'<a href="{attribute(quote(pages[0]))}">{inner}</a>') if pages else inner


def _standing(entry: Mapping[str, Any]) -> str:
    """Where an entry is, and why: *waiting: 5 new rows*, *due 2026-05-01 06:00*."""
    state, because = entry["state"], entry["because"]
    if because.startswith(state) or not because:
        return str(because or state)
    return f"{state}: {because}"


def _over(above: str | Html, below: str) -> Html:
    """Two lines of a cell, the second one small."""
    return Html(f'{escape(above)}<br><span class="eb-small">{escape(below)}</span>')


def _now(entries: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    rows = []
    for entry in entries:
        last = entry["runs"][-1] if entry["runs"] else None
        rows.append({
            "entry": _over(entry["name"], f"{entry['what']} {entry['target']}"),
            "last light": _over(_linked(last, _state(last)), f"of {last['due']}") if last else "not run yet",
            "next": entry["next"],
            "what was found": last["said"] if last else None,
            "now": _standing(entry),
        })  # fmt: skip
    return pd.DataFrame(rows, dtype=object)


def _lights(entries: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each entry, its last runs from the newest to the oldest."""
    most = min(SHOWN, max((len(entry["runs"]) for entry in entries), default=0))
    rows = []
    for entry in entries:
        runs = entry["runs"][-most:][::-1] if most else []
        cells: list[Any] = [Html(f"{_linked(run, _state(run))}<br>{escape(run['due'][:10])}") for run in runs]
        cells += [""] * (most - len(runs))
        rows.append({"entry": entry["name"], **{f"−{i}" if i else "last": cell for i, cell in enumerate(cells)}})
    return pd.DataFrame(rows, dtype=object)


def _runs(entries: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    rows = [{"entry": entry["name"], **run} for entry in entries for run in entry["runs"]]
    rows.sort(key=lambda row: row["started"], reverse=True)
    return pd.DataFrame(
        [
            {
                "started": row["started"],
                "entry": row["entry"],
                "ended": _linked(row, _state(row)),
                "what was found": row["said"],
                "why it ran": row["because"],
                "by": row["owner"],
            }
            for row in rows
        ]
        or [{"note": "Nothing has run yet."}],
        dtype=object,
    )


def _metrics(metrics: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    shown = aligned(*([one[name] for one in metrics] for name in ("value", "ci_low", "ci_high")))
    return pd.DataFrame(
        [
            {
                "metric": one["metric"],
                "correlation [95 %]": text if one["value"] is not None else None,
                "n": f"{one['n']} {one['n_of']}".strip(),
                "p, adjusted": p_text(one["p_holm"]) if one["p_holm"] is not None else None,
                "better when": "higher" if one["higher_is_better"] else "lower",
                "monitored": "yes" if one["monitored"] else f"no: {one['why']}",
            }
            for one, text in zip(metrics, shown, strict=True)
        ],
        dtype=object,
    )


def _with_table(feedback: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if feedback is None:
        return None
    rows = [
        {
            "month": one["label"],
            "interactions": one["interactions"],
            "with feedback": _share(one),
            "users who gave some": _users(one),
            "mean of users": _mean(one),
            "mean if all who are silent gave the one or the other": _silent(one),
            "the most active tenth gave": None if one["busiest"] is None else percent(one["busiest"]),
            "mean of annotators": _labels(one),
        }
        for one in feedback["rows"]
    ]
    return {**feedback, "table": html_table(pd.DataFrame(rows, dtype=object), rows=24)}


def _share(one: Mapping[str, Any]) -> str | None:
    if one["share"] is None:
        return None
    low, high = percent(one["share_low"]), percent(one["share_high"])
    return f"{one['answered']} ({percent(one['share'])} [{low}, {high}])"


def _mean(one: Mapping[str, Any]) -> str | None:
    if one["mean"] is None:
        return None
    (text,) = aligned([one["mean"]], [one["low"]], [one["high"]])
    return f"{text}; {one['note']}" if one["note"] else text


def _silent(one: Mapping[str, Any]) -> str | None:
    if one["if_silent_low"] is None:
        return None
    low, high = (signed(f"{one[name]:.2f}") for name in ("if_silent_low", "if_silent_high"))
    return f"{low} to {high}"


def _labels(one: Mapping[str, Any]) -> str | None:
    if one["labels_mean"] is None:
        return None
    (text,) = aligned([one["labels_mean"]], [one["labels_low"]], [one["labels_high"]])
    said = f"{text} of {one['labelled']}"
    return f"{said}; {one['labels_note']}" if one.get("labels_note") else said


def _users(one: Mapping[str, Any]) -> str | None:
    if not one["interactions"]:
        return None
    return f"{one['answering']} of {one['clients']}" if one["clients"] else "no user ids"
