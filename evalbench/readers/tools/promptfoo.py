"""promptfoo: ``eval -o out.json`` of results version 2 and 3, and ``-o out.jsonl``, whose lines are the rows.

A row's ``error`` is set on a plain failure too: only ``failureReason`` 2 is an error (before it was written: a row without a
grade).  A row that nothing checked has score 1 in the file; here it is unscored.  Repeats are further tests with equal
``vars`` and ``assert``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.tools.probe import Probe
from evalbench.readers.tools.promptfoo_figures import figures
from evalbench.readers.tools.promptfoo_grades import error_of, scores_of, verdicts_of
from evalbench.readers.tools.safe import lines, mapping, objects
from evalbench.readers.tools.shapes import (
    Row,
    Run,
    metadata_columns,
    number_of,
    numbered,
    present,
    question_hash,
    text_of,
    whole_of,
)

NAME = "promptfoo"
_CONTEXTS = ("context", "contexts")
FILES = "eval -o out.json or out.jsonl; results version 2 and 3"
VERSIONS = (2, 3)
_CELL = re.compile(r"^\[(PASS|FAIL|ERROR)\] \(\d+\.\d\d")
_READ = """id testIdx promptIdx promptId provider prompt vars response success failureReason score namedScores error latencyMs
cost metadata testCase gradingResult description tokenUsage"""
_KEYS = frozenset(_READ.split())
_LONGEST_LABEL = 40


def recognises(look: Probe) -> bool:
    """Whether a document holds results of an evaluation, or lines are its rows."""
    if look.form == "lines":
        return {"vars", "provider", "success"} <= look.keys
    body = _body(look.value) if look.form == "document" else {}
    return isinstance(body.get("results"), list) and bool({"version", "stats", "table", "prompts"} & set(body))


def refused(look: Probe) -> str:
    """Why a file of promptfoo is not read, if it is its table for people."""
    if look.form != "csv":
        return ""
    cells = (cell for row in look.value[1][:20] for cell in row.values())
    if not any(_CELL.match(cell) for cell in cells):
        return ""
    return (
        "this is promptfoo's table for people: scores are rounded inside texts and assertions have none; "
        "write the run with promptfoo eval -o out.json (or out.jsonl) and import that"
    )


def read(look: Probe) -> Run:
    """The rows of an evaluation.

    Raises ``BadInput`` for another version of the results.
    """
    if look.form == "lines":
        rows, body, about = [row for _, row in lines(look.path)], {}, {}
    else:
        body, about = _body(look.value), mapping(look.value)
        rows = objects(body.get("results"))
        version = body.get("version")
        if version is not None and version not in VERSIONS:
            raise BadInput(f"{look.path}: promptfoo results of version {version!r}; known are versions 2 and 3")
    names = _names(rows)
    run = Run(NAME, _each(rows, names), mapping(about.get("metadata")).get("promptfooVersion"), body.get("version"))
    stats = mapping(body.get("stats"))
    run.headline = {key: stats[key] for key in ("successes", "failures", "errors") if key in stats}
    run.scales = {"score": "0..1", "pass": "0..1"}
    run.higher = {"score": True, "pass": True}
    run.lower_assumed = lambda metric: metric in ("latency", "cost", "perplexity")
    run.left_aside.update(key for row in rows for key in row if key not in _KEYS)
    run.notes.append("ids were made in the order of the tests, since the file has none for a question")
    if look.form == "lines":
        run.notes.append("the file holds rows alone, no overall figure of the tool")
    run.figures = lambda tally: figures(body, names, tally)
    return run


def _body(document: Any) -> dict[str, Any]:
    """The results of a document, which may be the results themselves."""
    whole = mapping(document)
    return mapping(whole.get("results")) if isinstance(whole.get("results"), dict) else whole


def provider_of(row: Mapping[str, Any]) -> str:
    """The label of a provider, or its id where the label is empty."""
    provider = row.get("provider")
    if isinstance(provider, dict):
        return str(provider.get("label") or provider.get("id") or "")
    return str(provider or "")


def label_of(prompt: Any) -> str:
    """The label of a prompt; version 2 calls it ``display``."""
    return str(mapping(prompt).get("label") or mapping(prompt).get("display") or "")


def _names(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, Any], str]:
    """Provider and prompt → the name of the model: the provider's, with the prompt's where there are several prompts."""
    prompts: dict[str, dict[Any, str]] = defaultdict(dict)
    for row in rows:
        prompts[provider_of(row)].setdefault(prompt_key(row), label_of(row.get("prompt")))
    out = {}
    for provider, found in prompts.items():
        keys = (
            sorted(found, key=lambda key: (isinstance(key, str), key))
            if all(isinstance(k, int) for k in found)
            else list(found)
        )
        labels = [found[key] for key in keys]
        short = len(set(labels)) == len(labels) and all(
            0 < len(text) <= _LONGEST_LABEL and "{{" not in text for text in labels
        )
        for place, key in enumerate(keys, start=1):
            label = found[key] if short else f"prompt {place}"
            out[provider, key] = f"{provider} ({label})" if len(keys) > 1 else provider
    return out


def prompt_key(row: Mapping[str, Any]) -> Any:
    """What tells the prompts of one provider apart."""
    place = row.get("promptIdx")
    return place if isinstance(place, int) else label_of(row.get("prompt"))


def _question(row: Mapping[str, Any]) -> Any:
    """What a row asks: its variables, or the prompt where it has none."""
    return row.get("vars") or mapping(row.get("prompt")).get("raw") or ""


def _each(rows: Sequence[dict[str, Any]], names: Mapping[tuple[str, Any], str]) -> Iterator[Row]:
    """Rows in the order of their tests, each question numbered, repeats of it as trials."""
    order = sorted(range(len(rows)), key=lambda i: (whole_of(rows[i].get("testIdx")), i))
    keys = [text_of([_question(row), mapping(row.get("testCase")).get("assert") or []]) for row in rows]
    ids = {key: numbered(n) for n, key in enumerate(dict.fromkeys(keys[i] for i in order), start=1)}
    trials, seen = {}, defaultdict(int)  # type: ignore[var-annotated]
    models = [names[provider_of(row), prompt_key(row)] for row in rows]
    for i in order:
        seen[keys[i], models[i]] += 1
        trials[i] = seen[keys[i], models[i]]
    repeated = max(seen.values(), default=1) > 1
    for i in order:
        item = _item(rows[i], ids[keys[i]], models[i], trials[i] if repeated else None)
        yield Row(item, scores_of(rows[i]), verdicts_of(rows[i]))


def _item(row: Mapping[str, Any], name: str, model: str, trial: int | None) -> dict[str, Any]:
    response, case, given = mapping(row.get("response")), mapping(row.get("testCase")), mapping(row.get("vars"))
    item: dict[str, Any] = {
        "id": name,
        "model": model,
        **present(trial=trial),
        "question_hash": question_hash(_question(row)),
    }
    output = response.get("output")
    item["question"] = text_of(mapping(row.get("prompt")).get("raw") or "")
    item["answer"] = output if output is None else text_of(output)
    contexts = next((given[name] for name in _CONTEXTS if name in given), None)
    item |= present(reference=given.get("reference"), contexts=contexts, error=error_of(row) or None)
    latency = number_of(row.get("latencyMs"))
    item |= present(seconds=latency / 1000 if latency is not None else None, cost=number_of(row.get("cost")))
    item |= present(tokens=number_of(mapping(response.get("tokenUsage")).get("total")))
    further = {key: value for key, value in mapping(row.get("metadata")).items() if not key.startswith("_")}
    further |= {key: value for key, value in given.items() if key not in ("reference", *_CONTEXTS)}
    further |= present(description=case.get("description") or row.get("description"))
    return item | {key: value for key, value in metadata_columns(further).items() if key not in item}
