"""A run for where reviewers look: Markdown for a pull request or a step's summary, JUnit XML for a list of tests."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from evalbench.core.result import deciding_row
from evalbench.core.verdict import SYMBOLS
from evalbench.core.wording import estimate_text, title_of
from evalbench.draw.band import LINES
from evalbench.draw.html import plain

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~$@-])")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text: object) -> str:
    r"""A text that Markdown shows as it is, in one line; nothing in it is markup, a mention or HTML.

    Examples
    --------
    >>> escaped("a|b <img src=x>\n@team **bold**")
    'a\\|b &lt;img src=x&gt; \\@team \\*\\*bold\\*\\*'
    """
    line = " ".join(plain(str(text)).split())
    safe = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("://", ":&#47;&#47;")
    return _MARKUP.sub(r"\\\1", safe.replace("&#47;", "\0")).replace("\0", "&#47;")


def markdown(run: Mapping[str, Any], results: Mapping[str, Any] | None, most: int | None = None) -> str:
    """A run as Markdown: the light, the answer with its lines, the figures, and folded the verdict in full.

    - ``run``: ``run.json``.
    - ``results``: ``results.json``; None for a run that did not end well.
    - ``most``: Rows of the table; the deciding one is always among them.
    """
    study = escaped(run.get("study", ""))
    if results is None:
        return f"### ✕ {study}: {escaped(run.get('status', 'unknown'))}\n\n{escaped(run.get('error') or '')}\n"
    light = str(results["light"])
    lines = [f"### {SYMBOLS[light]} {study}: {light}", "", *_said(results), ""]
    rows, by = list(results["summary"]), list(results["by"])
    deciding = deciding_row(results)
    shown = rows[:most]
    if deciding is not None and not any(row is deciding for row in shown):
        shown = [deciding, *shown[:-1]]
    head = ["metric", *by, "value and 95 % interval", "n", "unscored", "light"]
    lines += [f"| {' | '.join(map(escaped, head))} |", f"|{'---|' * len(head)}"]
    for row in shown:
        value = f"– ({row['note']})" if row["value"] is None else estimate_text(row, rows)
        lit = f"{SYMBOLS[row['light']]} {row['light']}{', decides' if row is deciding else ''}"
        cells = [title_of(row), *(row.get(name) or "all" for name in by), value, row["n"], row.get("n_unscored", 0)]
        lines.append(f"| {' | '.join(map(escaped, [*cells, '' if row['light'] == 'unlit' else lit]))} |")
    if len(shown) < len(rows):
        lines += ["", f"{len(rows) - len(shown)} more figures are in the report."]
    if results.get("answer"):
        lines += [
            "",
            f"<details><summary>The verdict in full</summary>\n\n{escaped(results['sentence'])}\n\n</details>",
        ]
    return "\n".join([*lines, "", f"Run {escaped(run.get('run_id', ''))}", ""])


def _said(results: Mapping[str, Any]) -> list[str]:
    """The answer, and what decided it, could change it and is to be done; of an older run its sentence."""
    answer = results.get("answer")
    if not answer:
        return [escaped(results["sentence"])]
    first = {} if results.get("decided_by") else {"decided_by": "First figure"}
    lines = [(label, answer[name]["text"]) for name, label in {**LINES, **first}.items()]
    below = [f"- {label}: {escaped(text)}" for label, text in lines if text]
    return [f"**{escaped(answer['answer'])}**", *([""] if below else []), *below]


def junit(run: Mapping[str, Any], results: Mapping[str, Any] | None, failing: Collection[str]) -> str:
    """A run as JUnit XML: a test for the verdict and one for each figure.

    - ``run``, ``results``: As for :func:`markdown`.
    - ``failing``: Lights that are failures. A grey or unlit figure that is none is skipped: it was not judged.
    """
    study = str(run.get("study", ""))
    cases = [_case(study, "verdict", "error", f"{run.get('status', 'unknown')}: {run.get('error') or ''}")]
    if results is not None:
        rows = list(results["summary"])
        said = (results.get("answer") or {}).get("answer")
        verdict = f"{said} {results['sentence']}" if said else str(results["sentence"])
        cases = [_judged(study, "verdict", str(results["light"]), verdict, failing)]
        for row in rows:
            group = ", ".join(str(row[name]) for name in results["by"] if row.get(name))
            value = f"– ({row['note']})" if row["value"] is None else estimate_text(row, rows)
            name = f"{title_of(row)}{f' of {group}' if group else ''}"
            cases.append(_judged(study, name, row["light"], f"{value}, n {row['n']}", failing))
    counts = {kind: str(sum(case.find(tag) is not None for case in cases)) for kind, tag in _COUNTED.items()}
    seconds = f"{float(run.get('seconds') or 0):.3f}"
    about = {"name": f"evalbench {_xml(study)}", "tests": str(len(cases)), **counts, "time": seconds}
    if run.get("started"):
        about["timestamp"] = _xml(str(run["started"]).removesuffix("Z"))
    suite = ET.Element("testsuite", about)
    suite.extend(cases)
    whole = ET.Element("testsuites")
    whole.append(suite)
    ET.indent(whole)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(whole, encoding="unicode")}\n'


_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _judged(study: str, name: str, light: str, said: str, failing: Collection[str]) -> ET.Element:
    if light in failing:
        return _case(study, name, "failure", f"{light}: {said}")
    if light in ("grey", "unlit"):
        why = "too little evidence" if light == "grey" else "no thresholds"
        return _case(study, name, "skipped", f"{why}: {said}")
    return _case(study, name, "system-out", f"{light}: {said}")


def _case(study: str, name: str, kind: str, said: str) -> ET.Element:
    case = ET.Element("testcase", {"classname": f"evalbench.{_xml(study)}", "name": _xml(name)})
    inner = ET.SubElement(case, kind, {} if kind == "system-out" else {"message": _xml(said)})
    if kind == "system-out":
        inner.text = _xml(said)
    return case


def _xml(text: str) -> str:
    """What XML can hold of a text."""
    return _NOT_XML.sub("�", plain(text))


def fenced(lines: Sequence[str]) -> str:
    """Lines as they are, in Markdown.

    Examples
    --------
    >>> fenced(["a", "```"])
    '````\\na\\n```\\n````\\n'
    """
    text = plain("\n".join(lines))
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}\n"
