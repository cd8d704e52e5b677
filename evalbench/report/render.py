"""The page of one run: ``report.html`` out of ``results.json``, ``run.json`` and the executed notebook.

Verdict, headline figures, method and provenance come from the JSON files; prose, pictures and
cases from the notebook's outputs.  No study is imported: a page can be rendered again, anywhere,
from its folder alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from evalbench.core.budget import in_words
from evalbench.core.judging_time import in_words as again_in_words
from evalbench.core.result import deciding_row
from evalbench.draw.band import WHOLE, verdict_html
from evalbench.draw.html import Html, attribute, escape
from evalbench.draw.matrix import figures_html
from evalbench.draw.slices import slices_html
from evalbench.draw.stopped import stopped_html
from evalbench.draw.trials import trials_html
from evalbench.draw.verdict import data_label, notes_html
from evalbench.errors import BadInput
from evalbench.readers import runs
from evalbench.readers.parameters import Parameter, readable_parameters
from evalbench.readers.runs import ITEMS, NOTEBOOK, PAGE, RUN_JSON
from evalbench.readers.where import of_group
from evalbench.report.behind import commands_html, with_commands
from evalbench.report.chains import chains_html
from evalbench.report.facts import files, not_read_as, provenance, read_as_html, settings, warnings
from evalbench.report.history import UNREADABLE
from evalbench.report.narrative import Heading, Narrative, narrate, stopped_at, without_ansi
from evalbench.report.page import page_html
from evalbench.report.rows import anchored, csv_links, fitted, items_of, may_be_cases, reachable, with_items_behind

_STATUS = {
    "failed": "The run failed",
    "died": "The run died",
    "timeout": "The run ran out of time",
    "no-result": "The run ended without a result",
    "running": "The run has not finished",
    UNREADABLE: "The run's files cannot be read",
}
_OWN_IDS = (
    "verdict",
    WHOLE,
    "figures",
    "decides",
    "notes",
    "trials",
    "slices",
    "about",
    "items",
    "method",
    "provenance",
    "contents",
    "main",
    "terms",
)
_NOTHING = Narrative("", (), Html(""), Html(""))


class Source(NamedTuple):
    """What a run's folder holds."""

    run: Mapping[str, Any]
    results: Mapping[str, Any] | None
    notebook: Mapping[str, Any] | None
    unread: str = ""


def read_run(folder: Path) -> Source:
    """Read a run's folder.

    Raises ``BadInput`` if it holds no ``run.json``. One that cannot be read, or results that cannot, are a run that
    says why.
    """
    if not (folder / RUN_JSON).is_file():
        raise BadInput(f"{folder} is not the folder of a run: it has no {RUN_JSON}")
    run: Mapping[str, Any] = {"run_id": folder.name, "study": folder.parent.name}
    notebook, unread = _notebook(folder / NOTEBOOK)
    try:
        run = runs.read_run(folder)
        results = runs.read_results(folder) if run["status"] in runs.FINISHED else None
    except BadInput as error:
        return Source({**run, "status": UNREADABLE, "error": str(error)}, None, notebook, unread)
    return Source(run, results, notebook, unread)


def _notebook(path: Path) -> tuple[Mapping[str, Any] | None, str]:
    """The executed notebook, or why it cannot be read: a kernel that was killed may have left half of it."""
    if not path.is_file():
        return None, ""
    import nbformat

    try:
        content = runs.read_json(path)
        nbformat.validate(content)
        read: Mapping[str, Any] = nbformat.reads(json.dumps(content), as_version=4)
    except BadInput as error:
        return None, str(error)
    except Exception as error:  # noqa: BLE001 - nbformat looks before it checks, and imports the version that a file names
        return None, f"{path}: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return read, ""


def render(folder: Path) -> Path:
    """Write the page of a run beside its files.

    - ``folder``: Holds ``run.json`` and, for a finished run, ``results.json`` and ``notebook.ipynb``.

    Returns: ``folder/report.html``, replaced whole or not at all.

    Raises ``BadInput`` if the folder is not a run's.
    """
    folder = Path(folder)
    source = read_run(folder)
    cell = readable_parameters(source.notebook, NOTEBOOK) if source.notebook else ()
    context = _finished(source, cell, folder) if source.results else _unfinished(source, cell)
    tables = (source.results or {}).get("tables") or {}
    context["files"] = files(folder, tables)
    context["provenance"] = provenance(source.run, source.results)
    context["csv"] = csv_links(folder, (ITEMS, *tables.values())) if source.results else {}
    if not source.results:
        return runs.write_text(folder / PAGE, anchored(page_html("report.html.jinja", context)))
    items, (summary, by) = items_of(folder, source.results), (source.results[key] for key in ("summary", "by"))
    place = "#items" if items.table else ""
    context["headline"] = figures_html(summary, by, items=place, terms="#term-", decides=deciding_row(source.results))
    context["items"] = items.table
    run_id = str(source.run.get("run_id") or folder.name)
    context["behind"] = commands_html(source.results, run_id, items.are_found)
    context["chains"] = chains_html(folder)
    context["contents"] = [part for part in context["contents"] if place or part.id != "items"]
    page = page_html("report.html.jinja", context)
    page = reachable(page)
    if place:
        groups = {
            str(row[name]): of_group(row, [name]) for name in by for row in summary if row.get(name) not in (None, "")
        }
        page = with_items_behind(page, groups, place)
    page = with_commands(page, run_id, items.are_found)
    page = fitted(page)
    return runs.write_text(folder / PAGE, anchored(page, items.named(may_be_cases(page))))


def _finished(source: Source, cell: tuple[Parameter, ...], folder: Path) -> dict[str, Any]:
    results = source.results or {}
    story = narrate(source.notebook, _OWN_IDS, source.run.get("drawn") or ()) if source.notebook else _NOTHING
    name, data = str(results["study"]), results["data"]
    stopped, judged_again = in_words(results.get("budget") or {}), again_in_words(results.get("judged_again") or {})
    return {
        "title": story.title or name.replace("_", " ").capitalize(),
        "head": f"{str(results['light']).capitalize()}: {name}, {data_label(data)}",
        "study": name,
        "started": _when(source.run),
        "interactive": source.run["status"] == "interactive",
        "question": results["question"],
        "judged": judged_html(str(results["judged"])),
        "data": data_label(data),
        "band": verdict_html(results, linked=True),
        "read_as": read_as_html(source.run),
        "notes": notes_html(
            [note for note in not_read_as(results["notes"], source.run) if note not in (stopped, judged_again)]
        ),
        "trials": trials_html(results["trials"], results["by"]) if results.get("trials") else Html(""),
        "slices": (by_value := slices_html(results, "#items")),
        "story": story,
        "results": results,
        "intervals": sorted({str(row["method"]) for row in results["summary"] if row.get("method")}),
        "warnings": (
            *([_again_html(results, judged_again, folder)] if judged_again else []),
            *([stopped_html(results["budget"])] if stopped else []),
            *warnings(source.run),
            *_unread(source),
        ),
        "settings": settings(
            results["parameters"], cell, source.run.get("edited_defaults"), source.run.get("parameters")
        ),
        "contents": _contents(story, trials=bool(results.get("trials")), slices=bool(by_value)),
        "failure": "",
    }


MOST_JUDGED = 240
"""Longer lists of what was judged are cut, so that the verdict is on the first screen."""


def judged_html(judged: str) -> Html:
    """What was judged; of many names the first ones: all of them are in the table of figures.

    Examples
    --------
    >>> judged_html("2 models: fern, oak")
    '<b>2 models: fern, oak</b>'
    """
    if len(judged) <= MOST_JUDGED:
        return Html(f"<b>{escape(judged)}</b>")
    end = judged.rfind(", ", 0, MOST_JUDGED)
    first = judged[: end if end > 0 else MOST_JUDGED]
    return Html(f"<b>{escape(first)} …</b>")


def _again_html(results: Mapping[str, Any], said: str, folder: Path) -> Html:
    """That an old run's answers were judged again, with a link to its page where that lies beside this one."""
    run = str(results["judged_again"]["run"])
    beside = Path(run).name == run and (folder.parent / run / PAGE).is_file()
    link = f' <a href="{attribute(f"../{quote(run)}/{PAGE}")}">The page of that run</a>' if beside else ""
    return Html(f"<p>{escape(said)}{link}</p>")


def _unread(source: Source) -> tuple[Html, ...]:
    why = escape(f"The executed notebook cannot be read, so its prose and pictures are missing: {source.unread}")
    return (Html(f"<p>{why}</p>"),) if source.unread else ()


def _unfinished(source: Source, cell: tuple[Parameter, ...]) -> dict[str, Any]:
    run = source.run
    status = str(run.get("status"))
    headline = _STATUS.get(status, f"The run has the status {status}")
    study = str(run.get("study") or "run")
    error = _error_text(run.get("error"))
    return {
        "title": study.replace("_", " ").capitalize(),
        "head": f"{headline}: {study}",
        "study": study,
        "started": _when(run),
        "interactive": False,
        "question": run.get("question") or "",
        "judged": "",
        "data": "",
        "band": Html(""),
        "failure": headline,
        "status": status,
        "error": error,
        "reason": _reason(error),
        "was_at": str(run.get("was_at") or ""),
        "stopped": stopped_at(source.notebook) if source.notebook else Html(""),
        "warnings": warnings(run),
        "settings": settings(
            {p.name: p.default for p in cell} | dict(run.get("parameters") or {}), cell, run.get("edited_defaults")
        ),
        "story": _NOTHING,
        "results": None,
        "contents": _contents(None),
    }


def _when(run: Mapping[str, Any]) -> str:
    started = str(run.get("started") or "")
    return started[:16].replace("T", " ") + (" UTC" if started.endswith(("Z", "+00:00")) else "")


def _reason(error: str) -> str:
    """The one line of an error that says what went wrong: a traceback's last, else the first."""
    lines = [line for line in error.splitlines() if line.strip()] or [error]
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def _error_text(error: Any) -> str:
    if isinstance(error, Mapping):
        parts = [str(error[k]) for k in ("type", "message", "traceback") if error.get(k)]
        return without_ansi("\n".join(parts))
    return without_ansi(str(error or "no error was recorded"))


def _contents(story: Narrative | None, *, trials: bool = False, slices: bool = False) -> tuple[Heading, ...]:
    """Sections of the page in its order; the notebook's own in the middle."""
    first = Heading(2, "verdict", "Verdict")
    method, provenance = Heading(2, "method", "How it was computed"), Heading(2, "provenance", "Where it came from")
    if story is None:
        return (first, method, provenance)
    last = (method, Heading(2, "terms", "Terms"), provenance)
    about = (Heading(2, "about", "About this study"),) if story.intro.strip() else ()
    own = tuple(Heading(h.level, attribute(h.id), h.text) for h in story.headings if h.level == 2)
    repeated = (Heading(2, "trials", "Repeated answers"),) if trials else ()
    by_value = (Heading(2, "slices", "Slices"),) if slices else ()
    return (
        first,
        Heading(2, "figures", "Headline figures"),
        *repeated,
        *by_value,
        *about,
        *own,
        Heading(2, "items", "All items"),
        *last,
    )
