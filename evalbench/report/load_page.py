"""The page of a load test, and its files: ``load.json``, ``requests.parquet``, ``load.html``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from evalbench.core.unscored import in_words
from evalbench.core.wording import counted
from evalbench.draw.html import Html
from evalbench.draw.pictures import interval_bars
from evalbench.draw.style import picture
from evalbench.draw.tables import html_table
from evalbench.models.load import Load
from evalbench.models.load_figures import FIGURES, AtLevel, figures
from evalbench.models.redact import redacted, redactor
from evalbench.readers.runs import write_json, write_text
from evalbench.report.page import page_html

JSON, PAGE, REQUESTS = "load.json", "load.html", "requests.parquet"
SCHEMA_VERSION = 1
_PICTURES = ("first_p95", "seconds_p95", "tokens_per_second")


def write_load(folder: Path, load: Load, settings: Mapping[str, Any], finished: str) -> Path:
    """Write all files into a folder; returns the page's path.

    - ``settings``: As it was asked for: ``levels, seconds, max_tokens, timeout, seed``.
    - ``finished``: When, in ISO 8601.
    """
    found = figures(load)
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "schema_version": SCHEMA_VERSION,
        "finished": finished,
        "settings": dict(settings),
        "warm_up": load.warm_up,
        "levels": [_plain(one) for one in found],
    }
    write_json(folder / JSON, redacted(content, redactor()))
    load.requests.to_parquet(folder / REQUESTS, index=False)
    return write_text(folder / PAGE, load_html(found, load, settings, finished))


def load_html(found: Sequence[AtLevel], load: Load, settings: Mapping[str, Any], finished: str) -> str:
    """The page as text."""
    names = list(dict.fromkeys(one.model for one in found))
    asked = [one for one in found if one.requests]
    return page_html(
        "load.html.jinja",
        {
            "head": f"Load test: {', '.join(names)}",
            "names": names,
            "finished": finished,
            "n_requests": len(load.requests),
            "sentence": sentence(found),
            "table": html_table(_table(found), caption="Figures by endpoint and level, with 95 % intervals", rows=50),
            "counts": html_table(_counts(found), caption="Requests and what became of them", rows=50),
            "pictures": [_picture(asked, name) for name in _PICTURES] if asked else [],
            "notes": _notes(found, load, settings),
        },
    )


def sentence(found: Sequence[AtLevel]) -> str:
    """What an endpoint does at its lowest and its highest level that was asked, and how many requests failed.

    Examples
    --------
    >>> sentence(())
    'Nothing was asked.'
    """
    said = []
    for model in dict.fromkeys(one.model for one in found):
        own = [one for one in found if one.model == model and one.replies]
        requests = sum(one.requests for one in found if one.model == model)
        failed = requests - sum(one.replies for one in own)
        if not own:
            said.append(f"{model}: {counted(requests, 'request')}, none of them answered.")
            continue
        ends = own if len(own) == 1 else [own[0], own[-1]]
        parts = [
            f"at {one.level} at a time {one.figures['tokens_per_second'].value:.3g} tokens a second, {_first(one)}"
            for one in ends
        ]
        fault = f"; {counted(failed, 'request')} of {requests} failed" if failed else ""
        said.append(f"{model}: {'; '.join(parts)}{fault}.")
    return " ".join(said) or "Nothing was asked."


def _first(one: AtLevel) -> str:
    """When replies begin: the 95th percentile where there are enough of them for its interval, else the median."""
    high, middle = one.figures["first_p95"], one.figures["first_p50"]
    if high.value is not None and high.ci_high is not None:
        return f"95 % of the replies begin within {high.value:.3g} s"
    return f"half of the {one.replies} replies begin within {middle.value:.3g} s"


def _plain(one: AtLevel) -> dict[str, Any]:
    plain = {**asdict(one), "figures": {name: measured._asdict() for name, measured in one.figures.items()}}
    return {**plain, "cost": one.cost if one.cost == one.cost else None}


def _table(found: Sequence[AtLevel]) -> pd.DataFrame:
    rows = []
    for one in found:
        cells = {words: _cell(one.figures[name]) for name, words in FIGURES.items()}
        rows.append({"endpoint": one.model, "at a time": one.level, **cells})
    return pd.DataFrame(rows)


def _cell(measured: Any) -> str | None:
    if measured.value is None:
        return None
    low, high = (f"{end:.3g}" if end is not None else "not known" for end in (measured.ci_low, measured.ci_high))
    return f"{measured.value:.3g} [{low}, {high}]"


def _counts(found: Sequence[AtLevel]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "endpoint": one.model,
                "at a time": one.level,
                "requests": one.requests,
                "answered": one.replies,
                "failed": "; ".join(f"{n}: {in_words(kind)}" for kind, n in one.errors.items()),
                "seconds": one.seconds,
                "cost": one.cost,
                "ended early": one.stopped,
            }
            for one in found
        ]
    )


def _picture(found: Sequence[AtLevel], name: str) -> Html:
    rows = [one.figures[name] for one in found]
    several = len({one.model for one in found}) > 1
    reach = max((row.ci_high or row.value or 0.0 for row in rows), default=0.0)
    labels = [f"{one.model}, {one.level} at a time" if several else f"{one.level} at a time" for one in found]
    figure, alt = interval_bars(
        labels,
        [row.value for row in rows],
        [row.ci_low for row in rows],
        [row.ci_high for row in rows],
        title=FIGURES[name].rpartition(", ")[0].capitalize()
        if FIGURES[name].endswith(", s")
        else FIGURES[name].capitalize(),
        xlabel="seconds" if FIGURES[name].endswith(", s") else "tokens a second",
        domain=(0.0, 1.05 * reach or 1.0),
    )
    return picture(figure, alt, "")


def _notes(found: Sequence[AtLevel], load: Load, settings: Mapping[str, Any]) -> list[str]:
    by = sorted({one.counted_by for one in found if one.replies})
    notes = [
        f"At each level so many requests were always under way for {settings['seconds']:g} s; requests sent by then were awaited. "
        f"Replies of at most {settings['max_tokens']} tokens; each question differs; nothing came from a cache; failed requests were not repeated.",
        f"{counted(load.warm_up, 'request')} before the measurement counted nowhere.",
        "Percentiles: of whole replies, with order-statistic intervals; an end that no reply reaches is not known. Requests at one time share "
        "the endpoint's load, so that the intervals are too narrow where that load changes slowly.",
    ]
    if len({one.model for one in found}) > 1:
        notes.append("At each level the endpoints were asked one after the other, so that none slows another.")
    if any("pieces" in each for each in by):
        notes.append(
            "An endpoint did not count its tokens: pieces of the stream are counted in their place, of which one may hold several tokens."
        )
    notes += [f"{one.model}, {one.level} at a time: {one.stopped}." for one in found if one.stopped]
    return notes
