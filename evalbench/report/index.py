"""``reports/index.html``: one line a run, newest first, with its change against the previous comparable run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from evalbench.core.wording import rounded_parts, signed
from evalbench.draw.html import Html, attribute, breakable, css, escape
from evalbench.draw.verdict import light_word
from evalbench.readers.runs import write_text
from evalbench.report.facts import took
from evalbench.report.history import UNREADABLE, Headline, Line, Run, lines, read_runs, standings
from evalbench.report.overviews import Overview, overviews
from evalbench.report.page import environment, policy, template_text

INDEX = "index.html"


def sparkline(headlines: Sequence[Headline], width: int = 120, height: int = 26) -> Html:
    """A figure over its runs, with its intervals as a band; the last one is a dot.

    - ``headlines``: Oldest first, each with a value.
    """
    if len(headlines) < 2:
        return Html("")
    values = [float(f.value or 0.0) for f in headlines]
    spans = [
        (f.low, f.high) if f.low is not None and f.high is not None else (v, v)
        for f, v in zip(headlines, values, strict=True)
    ]
    bottom, top = min(low for low, _ in spans), max(high for _, high in spans)
    scale = (height - 6) / (top - bottom) if top > bottom else 0.0

    def at(i: int, value: float) -> str:
        x = 3 + (width - 6) * i / (len(values) - 1)
        y = height / 2 if not scale else height - 3 - (value - bottom) * scale
        return f"{x:.1f},{y:.1f}"

    band = [at(i, high) for i, (_, high) in enumerate(spans)]
    band += [at(i, low) for i, (low, _) in reversed(list(enumerate(spans)))]
    x, y = at(len(values) - 1, values[-1]).split(",")
    said = f"{headlines[-1].title} over {len(values)} runs, from {headlines[0].shown} to {headlines[-1].shown}"
    line = " ".join(at(i, value) for i, value in enumerate(values))
    return Html(
        f'<svg class="spark" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{attribute(said)}"><polygon points="{" ".join(band)}"/><polyline points="{line}"/>'
        f'<circle cx="{x}" cy="{y}" r="2.5"/></svg>'
    )


def headline_html(headline: Headline | None) -> Html:
    """Value and interval."""
    if headline is None or headline.value is None:
        return Html('<span class="eb-none">no value</span>')
    interval = f" <span class=interval>{headline.interval}</span>" if headline.interval else ""
    return Html(f"<b>{headline.shown}</b>{interval}")


def change_html(line: Line) -> Html:
    """The change, with a sign and, where the intervals part, an arrow and a word."""
    if line.change is None or line.run.headline is None:
        return Html("")
    headline, change = line.run.headline, line.change
    before = change.headline
    if change.delta == 0:
        return Html('<span class="eb-none">same</span>')
    shown, _ = rounded_parts(change.delta, None, None, _decimals(headline))
    sign = "±" if not shown.strip("-−0.") else "+" if change.delta > 0 else ""
    said = f"{sign}{signed(shown)}"
    previous = f"{before.shown} {before.interval}"
    title = attribute(f"before: {previous.strip()}, {when(change.before)}")
    if not change.clear:
        return Html(f'<span class="within" title="{title}">{said}</span>')
    tone = {True: ("eb-green", "better"), False: ("eb-red", "worse"), None: ("eb-unlit", "")}[change.better]
    arrow = "▲" if change.delta > 0 else "▼"
    return Html(
        f'<span class="eb-lamp {tone[0]}" title="{title}"><span aria-hidden="true">{arrow}</span> {said} {tone[1]}</span>'
    )


def _decimals(headline: Headline) -> int | None:
    """Decimals of a change: those of the figure itself."""
    return len(headline.shown.partition(".")[2])


def state_html(run: Run) -> Html:
    """The light; or, without one, how the run ended."""
    if run.light:
        return light_word(run.light)
    if run.status == "running":
        return Html('<span class="eb-lamp eb-grey"><span aria-hidden="true">…</span> running</span>')
    return Html(f'<span class="eb-lamp eb-failed"><span aria-hidden="true">✕</span> {escape(run.status)}</span>')


def when(run: Run) -> str:
    """The start to the minute, UTC; the run's name where it is not known."""
    return run.started[:16].replace("T", " ") if run.started else run.run_id


def clipped(text: str, length: int = 300) -> str:
    """The beginning of a text on one line, short enough for a table."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def index_html(runs: Sequence[Run], now: datetime | None = None, monitored: Sequence[Overview] = ()) -> str:
    """The index as text."""
    found = lines(runs)
    script = template_text("index.js").strip()
    template = environment().get_template("index.html.jinja")
    html = template.render(
        head="Runs",
        policy=policy(script),
        script=Html(script),
        style=Html(css() + template_text("page.css") + template_text("index.css")),
        lines=found,
        standings=standings(found),
        tally=tally(runs),
        monitored=monitored,
        made=(now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC"),
        draw={
            "headline": headline_html,
            "change": change_html,
            "state": state_html,
            "when": when,
            "took": took,
            "spark": sparkline,
            "clipped": clipped,
            "name": breakable,
        },
    )
    return str(html)


def tally(runs: Iterable[Run]) -> list[tuple[str, int]]:
    """How many runs ended how, in the order worst first."""
    counts: dict[str, int] = {}
    for run in runs:
        state = run.light or run.status
        counts[state] = counts.get(state, 0) + 1
    order = ["failed", "died", "timeout", "no-result", UNREADABLE, "red", "yellow", "green", "grey", "unlit", "running"]
    return sorted(counts.items(), key=lambda pair: order.index(pair[0]) if pair[0] in order else len(order))


def write_index(reports: Path) -> Path:
    """Write ``index.html`` beside the studies' folders.

    Returns: Replaced whole or not at all.
    """
    reports.mkdir(parents=True, exist_ok=True)
    return write_text(reports / INDEX, index_html(read_runs(reports), monitored=overviews(reports)))
