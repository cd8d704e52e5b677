"""Where a run came from, as groups of labelled facts; and the files beside its page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.core.wording import count
from evalbench.draw.html import Html, escape, language_attributes
from evalbench.draw.tables import NO_VALUE
from evalbench.readers.parameters import Parameter
from evalbench.readers.runs import CALLS, ITEMS, NOTEBOOK, PAGE, RESULTS_JSON, RUN_JSON

_HASH = re.compile(r"^[0-9a-f]{40,64}$")

# Keys of run.json by group; what is not named here is shown too, under "Other".
_GROUPS: Mapping[str, Sequence[str]] = {
    "Run": (
        "run_id", "status", "started", "finished", "seconds", "attempt", "host", "process", "peak_memory_mb",
        "schema_version",
    ),
    "Code": ("git", "commit", "dirty", "hashes", "sha256", "notebook_sha256", "templates_sha256", "package_sha256", "code"),
    "Software": ("python", "versions"),
    "Models and calls": (
        "models", "asked_at", "served_by", "endpoints", "prompt_hashes", "judge_versions", "judge_prompts", "calls", "cache_hits", "requests", "retries", "reasks", "errors",
        "unscored", "other_models", "not_kept", "not_taken", "tokens_in", "tokens_out", "call_seconds", "cost", "cached_tokens", "cached_cost",
    ),
}  # fmt: skip
_SAID_ELSEWHERE = {"read_as", "drawn", "study", "error", "was_at", "parameters", "given", "edited_defaults", "data"}
_FILES = {
    RESULTS_JSON: "figures and verdict; the same for the same inputs",
    RUN_JSON: "what varied: times, versions, calls",
    ITEMS: "one row per item and compared group",
    CALLS: "every model call: prompt, raw reply, parsed verdict",
    NOTEBOOK: "the executed notebook",
}


class Fact(NamedTuple):
    label: str
    value: Html


class Group(NamedTuple):
    title: str
    facts: tuple[Fact, ...]


class File(NamedTuple):
    name: str
    about: str
    size: str


class Setting(NamedTuple):
    """A parameter as it ran; ``default`` only where it differs, ``folded`` where it is advanced and at its default."""

    name: str
    value: Html
    default: Html
    help: Html
    folded: bool = False


def value_html(value: Any) -> Html:
    """A JSON value for reading: hashes as code, mappings as short lists, a dash for null."""
    if value is None:
        return NO_VALUE
    if isinstance(value, bool):
        return escape("yes" if value else "no")
    if isinstance(value, int):
        return escape(count(value) if abs(value) >= 100_000 else value)
    if isinstance(value, float):
        return escape(f"{value:.6g}")
    if isinstance(value, str):
        if _HASH.match(value):
            return Html(f"<code>{value}</code>")
        code = language_attributes(value)
        return (Html(f"<span{code}>{escape(value)}</span>") if code else escape(value)) if value else NO_VALUE
    if isinstance(value, Mapping):
        pairs = "".join(f"<li>{escape(_WORDS.get(k, k))} <b>{value_html(v)}</b></li>" for k, v in value.items())
        return Html(f'<ul class="pairs">{pairs}</ul>') if pairs else NO_VALUE
    if any(isinstance(v, (Mapping, list)) for v in value):
        return Html("".join(f"<div>{value_html(v)}</div>" for v in value))
    return escape(", ".join(map(str, value))) if value else NO_VALUE


def literal_html(value: Any) -> Html:
    """A parameter's value as it would be written in JSON; it may break after ``_``.

    Examples
    --------
    >>> literal_html("full-stop_words")
    '<code>&quot;full-stop_<wbr>words&quot;</code>'
    """
    text = json.dumps(value, ensure_ascii=False)
    return Html(f"<code{language_attributes(text)}>{escape(text).replace('_', '_<wbr>')}</code>")


def took(seconds: float | None) -> str:
    """A duration for reading.

    Examples
    --------
    >>> took(7.23), took(192), took(7260), took(None)
    ('7.2 s', '3 min 12 s', '2 h 1 min', '')
    """
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


_WORDS = {
    "seconds": "took",
    "call_seconds": "time in calls",
    "peak_memory_mb": "peak memory",
    "dirty": "uncommitted changes",
}


def _help_html(text: str) -> Html:
    """A parameter's help; what is between backticks is code."""
    return Html(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))


def _label(key: str) -> str:
    return _WORDS.get(key) or key.replace("sha256", "SHA-256").replace("_", " ")


def _fact(key: str, value: Any) -> Fact:
    if key in ("seconds", "call_seconds") and isinstance(value, (int, float)):
        shown = escape(took(value))
    elif key == "peak_memory_mb" and isinstance(value, (int, float)):
        shown = escape(f"{count(round(value))} MB")
    else:
        shown = escape("none") if value in ([], {}) else value_html(value)
    return Fact(_label(key), shown)


def _facts(record: Mapping[str, Any], keys: Iterable[str]) -> tuple[Fact, ...]:
    return tuple(_fact(key, record[key]) for key in keys if key in record)


def provenance(run: Mapping[str, Any], results: Mapping[str, Any] | None) -> tuple[Group, ...]:
    """Everything in ``run.json`` and the data's label, in groups; nothing is left out.

    - ``run``: Content of ``run.json``.
    - ``results``: Content of ``results.json``, where the run has one.
    """
    data = results["data"] if results else run.get("data")
    groups = [Group("Data", _facts(data, data) if isinstance(data, Mapping) else ())]
    groups.append(Group("Columns read under other names", tuple(_read_facts(run))))
    groups += [Group(title, _facts(run, keys)) for title, keys in _GROUPS.items()]
    known = _SAID_ELSEWHERE | {key for keys in _GROUPS.values() for key in keys}
    groups.append(Group("Other", _facts(run, [key for key in run if key not in known])))
    return tuple(group for group in groups if group.facts)


def _read_facts(run: Mapping[str, Any]) -> Iterator[Fact]:
    """What each column of another name was read as, a fact for each table."""
    for table, columns in (run.get("read_as") or {}).items():
        yield Fact(table, value_html({name: f"read as {role}" for name, role in columns.items()}))


def read_as_html(run: Mapping[str, Any]) -> Html:
    """A line on the columns that were read under other names; nothing where there are none."""
    pairs = [(name, role) for columns in (run.get("read_as") or {}).values() for name, role in columns.items()]
    if not pairs:
        return Html("")
    said = "; ".join(f"<code>{escape(name)}</code> as {escape(role)}" for name, role in dict.fromkeys(pairs))
    return Html(
        f'<p class="eb-small">Columns were read by their names: {said}. If one means something else, name it with <code>--map COLUMN=NAME</code>.</p>'
    )


_READ_AS = re.compile(r"^(?:[^:]+: )?column (.+) was read as (.+?)(?: \(--map [^()]*\))?\.?$")


def not_read_as(notes: Sequence[str], run: Mapping[str, Any]) -> list[str]:
    """The notes without those that :func:`read_as_html` says."""
    pairs = {(name, role) for columns in (run.get("read_as") or {}).values() for name, role in columns.items()}
    found = {note: match.groups() for note in notes if (match := _READ_AS.match(note))}
    return [note for note in notes if found.get(note) not in pairs]


_DERIVED = ("correction_fit",)  # what a study makes of its options for ``summarise``; results.json has it


def settings(
    values: Mapping[str, Any],
    cell: Sequence[Parameter],
    edited: Mapping[str, Mapping[str, Any]] | None = None,
    asked: Mapping[str, Any] | None = None,
) -> tuple[Setting, ...]:
    """Parameters as they ran, in the order of the notebook's cell, with its helps.

    The default beside a value is the study's own, also where ``edited`` says that the notebook has another.

    ``asked``: Those that the run was started with; one that has its default there was settled by the study and is not a change.
    """
    own = {name: sides["own"] for name, sides in (edited or {}).items() if "own" in sides}
    described = {p.name: replace(p, default=own.get(p.name, p.default)) for p in cell}
    others = [name for name in values if name not in described and name not in _DERIVED]
    order = [name for name in described if name in values] + others
    return tuple(_setting(name, values[name], (asked or values).get(name), described.get(name)) for name in order)


def _setting(name: str, value: Any, asked: Any, known: Parameter | None) -> Setting:
    if known is None:
        return Setting(name, literal_html(value), Html(""), Html(""))
    changed = known.default not in (value, asked)
    default = literal_html(known.default) if changed else Html("")
    return Setting(name, literal_html(value), default, _help_html(known.help), known.advanced and not changed)


_WARNINGS = {
    "edited_defaults": "This run used an edited notebook: its defaults are not the study's own.",
    "other_models": "An endpoint answered with a different model than requested:",
    "not_kept": "The cache could not store every paid reply; another run will request these again:",
}


def warnings(run: Mapping[str, Any]) -> tuple[Html, ...]:
    """What a reader must know of a run before believing its figures."""
    given = {name: run.get(name) for name in _WARNINGS}
    return tuple(
        Html(f"<p>{escape(_WARNINGS[name])}</p><ul>{''.join(_warned_of(name, *one) for one in said.items())}</ul>")
        for name, said in given.items()
        if isinstance(said, Mapping) and said
    )


def _warned_of(warning: str, name: str, said: Any) -> Html:
    if warning == "edited_defaults":
        return Html(f"<li><code>{escape(name)}</code>: {_edit_html(said)}</li>")
    return Html(f"<li>{escape(name)}: <b>{value_html(said)}</b> replies or texts</li>")


def _edit_html(sides: Any) -> Html:
    known = sides if isinstance(sides, Mapping) else {}
    if "own" not in known:
        return escape("a parameter that the study does not have")
    if "here" not in known:
        return escape("missing from the notebook")
    return Html(f"{literal_html(known['here'])} instead of {literal_html(known['own'])}")


def _size(n_bytes: float) -> str:
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "B" or n_bytes >= 10 else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} GB"


def files(folder: Path, tables: Mapping[str, str]) -> tuple[File, ...]:
    """The files beside the page, without hidden ones and the page itself."""
    named = {file: f"table of {name.replace('_', ' ')}" for name, file in tables.items()}
    found = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith(".") and p.name != PAGE)
    return tuple(File(p.name, _FILES.get(p.name) or named.get(p.name, ""), _size(p.stat().st_size)) for p in found)
