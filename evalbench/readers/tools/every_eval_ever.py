"""Every Eval Ever: JSON Lines of its instance schema, versions 0.2 and 0.3, with the run's aggregate file beside it if there.

A row with an ``error`` is unscored, whatever its score; ``is_correct`` is whether it passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.tools.probe import Probe
from evalbench.readers.tools.safe import document, lines, mapping, objects, sequence
from evalbench.readers.tools.shapes import (
    Figure,
    Row,
    Run,
    Score,
    clipped,
    metadata_columns,
    no_number,
    number_of,
    present,
    question_hash,
    text_of_messages,
)

NAME = "every_eval_ever"
FILES = "JSON Lines of the instance schema 0.2 or 0.3"
VERSIONS = ("0.2", "0.3")
METRIC = "score"
_MOST = 20_000_000
_READ = """schema_version evaluation_id model_id evaluation_name sample_id sample_hash interaction_type input output messages
answer_attribution evaluation token_usage performance error metadata evaluation_result_id"""
_KEYS = frozenset(_READ.split())


def recognises(look: Probe) -> bool:
    """Whether lines, or a list, have the fields of an instance."""
    return look.form in ("lines", "document") and {"evaluation_id", "model_id", "sample_id", "evaluation"} <= look.keys


def read(look: Probe) -> Run:
    """The instances of a file.

    Raises ``BadInput`` for a version of the schema that is not known.
    """
    versions, names, samples = set(), Counter(), Counter()  # type: ignore[var-annotated]
    for _, row in _rows(look):
        versions.add(str(row.get("schema_version") or ""))
        names[str(row.get("evaluation_name"))] += 1
        samples[_key(row)] += 1
    unknown = [v for v in sorted(versions) if v and not v.removeprefix("instance_level_eval_").startswith(VERSIONS)]
    if unknown:
        raise BadInput(f"{look.path}: instance schema {', '.join(unknown)}; known are {', '.join(VERSIONS)}")
    run = Run(NAME, iter(()), format_version=max(versions) or None, binary=True)
    if len(names) == 1:
        run.task = next(iter(names))
    elif names:
        run.notes.append(
            f'{len(names)} evaluations in one file: a mean over all rows pools them; slices=["task"] shows each'
        )
    aggregate = _aggregate(look.path)
    run.version = None
    library = mapping(aggregate.get("eval_library"))
    if library.get("name"):
        run.notes.append(f"the run was made with {library['name']} {library.get('version') or ''}".rstrip())
    run.rows = _each(look, len(names) > 1, max(samples.values(), default=1) > 1, run)
    run.higher = _directions(aggregate, names)
    run.figures = lambda tally: _figures(aggregate, names, tally)
    return run


def _rows(look: Probe) -> Iterator[tuple[int, dict[str, Any]]]:
    return lines(look.path) if look.form == "lines" else enumerate(objects(look.value), start=1)


def _key(row: Mapping[str, Any]) -> int:
    return hash((str(row.get("evaluation_name")), str(row.get("model_id")), str(row.get("sample_id"))))


def _each(look: Probe, several: bool, repeated: bool, run: Run) -> Iterator[Row]:
    seen: Counter[int] = Counter()
    for number, row in _rows(look):
        if not isinstance(row.get("evaluation"), dict):
            raise BadInput(f"{look.path}: row {number}: evaluation is missing")
        seen[_key(row)] += 1
        run.left_aside.update(key for key in row if key not in _KEYS)
        name = str(row.get("sample_id"))
        task = str(row.get("evaluation_name"))
        item: dict[str, Any] = {"id": f"{task}/{name}" if several else name, "model": str(row.get("model_id"))}
        item |= present(trial=seen[_key(row)] if repeated else None, task=task if several else None)
        yield Row(item | _item(row), [_score(row)])


def _item(row: Mapping[str, Any]) -> dict[str, Any]:
    asked, output = mapping(row.get("input")), row.get("output")
    messages, choices = objects(row.get("messages")), sequence(asked.get("choices"))
    raw = mapping(output).get("raw")
    said = [text for text in (raw if isinstance(raw, list) else [raw]) if isinstance(text, str)]
    replies = [m["content"] for m in messages if m.get("role") == "assistant" and isinstance(m.get("content"), str)]
    reference = asked.get("reference")
    gold = [text for text in (reference if isinstance(reference, list) else [reference]) if isinstance(text, str)]
    item: dict[str, Any] = {"question_hash": question_hash(asked.get("raw"), *([list(choices)] if choices else []))}
    item["question"] = text_of_messages(asked.get("formatted") or asked.get("raw") or "")
    item |= {
        "answer": said[0] if said else replies[-1] if replies else None,
        "reference": gold[0] if len(gold) == 1 else gold or None,
    }
    item |= present(messages=messages or None, choices=list(choices) or None, error=row.get("error"))
    item |= present(
        samples=said if len(said) > 1 else None, tokens=number_of(mapping(row.get("token_usage")).get("total_tokens"))
    )
    latency = number_of(mapping(row.get("performance")).get("latency_ms"))
    item |= present(seconds=None if latency is None else latency / 1000)
    further = {**mapping(row.get("metadata")), **present(interaction_type=row.get("interaction_type"))}
    return item | {key: value for key, value in metadata_columns(further).items() if key not in item}


def _score(row: Mapping[str, Any]) -> Score:
    found, error = mapping(row.get("evaluation")), row.get("error")
    value = number_of(found.get("score"))
    read = [a.get("extracted_value") for a in objects(row.get("answer_attribution")) if a.get("is_terminal")]
    answer = read[-1] if read and isinstance(read[-1], str) else None
    if error or value is None:
        return Score(METRIC, None, clipped(str(error or f"every_eval_ever: {no_number(found.get('score'))}")), answer)
    passed = found.get("is_correct")
    return Score(METRIC, value, "", answer, passed if isinstance(passed, bool) else None)


def _aggregate(path: Path) -> dict[str, Any]:
    """The aggregate file of the run: of the same name without ``_samples``."""
    beside = path.with_name(path.stem.removesuffix("_samples") + ".json")
    if beside == path or not beside.is_file() or beside.stat().st_size > _MOST:
        return {}
    try:
        return mapping(document(beside))
    except BadInput:
        return {}


def _directions(aggregate: Mapping[str, Any], names: Mapping[str, int]) -> dict[str, bool]:
    """The direction of the score, where the aggregate file says the same of all evaluations."""
    said = {
        mapping(result.get("metric_config")).get("lower_is_better")
        for result in objects(aggregate.get("evaluation_results"))
        if result.get("evaluation_name") in names
    }
    return {METRIC: not next(iter(said))} if len(said) == 1 and isinstance(next(iter(said)), bool) else {}


def _figures(aggregate: Mapping[str, Any], names: Mapping[str, int], tally: Any) -> Iterator[Figure]:
    results = [r for r in objects(aggregate.get("evaluation_results")) if r.get("evaluation_name") in names]
    if len(results) != 1 or len(names) != 1:
        return
    cell, tool = tally.of(METRIC), number_of(mapping(results[0].get("score_details")).get("score"))
    reason, words = ("", "")
    if cell.missing:
        reason = "errors-as-0"
        words = f"{cell.missing} of {cell.n + cell.missing} rows ended in an error; ours leaves them unscored"
    elif tool is None or cell.mean is None or abs(tool - cell.mean) > 1e-9:
        reason, words = "other", "the aggregate file's figure is not the mean of the scores in this file"
    yield Figure(
        METRIC,
        "evaluation_results[].score_details.score",
        tool,
        cell.mean,
        cell.n,
        reason,
        words,
        next(iter(tally.models), ""),
    )
