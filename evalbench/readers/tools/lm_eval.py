"""lm-evaluation-harness: ``samples_TASK_TIME.jsonl``, read line by line, with ``results_TIME.json`` beside it.

There is one line per document and filter; the lines of further filters give scores alone.  Of several answers to a document
each is a trial, and the scores are those of the document.  Scores are taken as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.tools.lm_eval_results import Results, beside_of, is_results
from evalbench.readers.tools.probe import Probe
from evalbench.readers.tools.safe import lines, mapping, objects, sequence
from evalbench.readers.tools.shapes import (
    Figure,
    Row,
    Run,
    Score,
    lower_by_name,
    metadata_columns,
    no_number,
    number_of,
    present,
    question_hash,
    score_of,
    text_of,
)

NAME = "lm-eval"
FILES = "samples_TASK_TIME.jsonl, with results_TIME.json beside it"
PLAIN = "none"
"""The name of the filter that changes nothing."""
_NAME = re.compile(r"^samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)$")
_READ = """doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash"""
_KEYS = frozenset(_READ.split())


class Documents:
    """The numbers of documents that were met: a bit each, so that a million take little."""

    def __init__(self) -> None:
        self._bits = bytearray()
        self._others: set[str] = set()

    def first(self, number: Any) -> bool:
        """Whether a document is met for the first time."""
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 100_000_000:
            new = str(number) not in self._others
            self._others.add(str(number))
            return new
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self._bits):
            self._bits.extend(bytes(max(place + 1, 2 * len(self._bits)) - len(self._bits)))
        new = not self._bits[place] & bit
        self._bits[place] |= bit
        return new


def recognises(look: Probe) -> bool:
    """Whether lines (or a list, as early versions wrote) are samples, or a document the results of a run."""
    if look.form in ("lines", "document") and {"doc_id", "doc", "resps"} <= look.keys:
        return True
    return look.form == "document" and is_results(look.value)


def beside(look: Probe) -> bool:
    """Whether a file is only read beside another: the results, which hold no rows."""
    return is_results(look.value)


def read(look: Probe) -> Run:
    """The samples of one task.

    Raises ``BadInput`` for a results file alone.
    """
    if is_results(look.value):
        figures = mapping(look.value["results"])
        raise BadInput(
            f"{look.path}: figures of {', '.join(figures)} without rows; import the samples_*.jsonl of the run "
            "(lm-eval --log_samples writes it), or the folder of both"
        )
    named = _NAME.match(look.path.stem)
    results = beside_of(look.path, named["task"] if named else "", named["time"] if named else "")
    task = named["task"] if named else results.task
    run = Run(NAME, iter(()), results.version, task=task, binary=True)
    run.model, run.folder = results.model, look.path.resolve().parent.name
    if not task:
        run.assumed.append("the task is not in the file's name; questions are paired by their document alone")
    run.higher = dict(results.higher)
    run.plain = lambda metric: metric.partition(",")[0]
    run.lower_assumed = lambda metric: (
        bool(re.search(r"perplexity|bits_per_byte|brier|ter\b", run.plain(metric))) or lower_by_name(run.plain(metric))
    )
    run.headline = dict(results.figures)
    if results.alone:
        run.notes.append(
            f"the results file has figures of {', '.join(results.alone)} too, of which no samples are beside it"
        )
    source = (
        ((n, row) for n, row in enumerate(objects(look.value), start=1))
        if look.form == "document"
        else lines(look.path)
    )
    run.rows = _each(look.path, source, task, run)
    run.figures = lambda tally: _figures(results, tally)
    return run


def _each(path: Path, source: Iterator[tuple[int, dict[str, Any]]], task: str, run: Run) -> Iterator[Row]:
    every, by_filter = Documents(), {}  # type: ignore[var-annotated]
    repeated, left = False, set()  # type: ignore[var-annotated]
    for number, row in source:
        where = f"{path}: {'line' if path.suffix == '.jsonl' else 'row'} {number}"
        if "doc_id" not in row or "doc" not in row:
            raise BadInput(f"{where}: lacks doc_id or doc: no sample of lm-eval")
        used = str(row.get("filter") or PLAIN)
        if not by_filter.setdefault(used, Documents()).first(row["doc_id"]):
            raise BadInput(
                f"{where}: doc_id {row['doc_id']} appears twice under the filter {used}; is it two runs in one file?"
            )
        scores, lists = _scores(row, used)
        if lists - left:
            left |= lists
            run.left_aside.update(lists)
            run.notes.append(
                f"{', '.join(sorted(lists))}: the rows hold parts of a figure over all, no scores of their own"
            )
        if not every.first(row["doc_id"]):
            yield Row({"id": str(row["doc_id"])}, scores, kind="more")
            continue
        arguments = _arguments(row)
        answers = _answers(row, _choices(arguments))
        item = _item(row, task, arguments, answers)
        if len(answers) < 2:
            yield Row(item, scores)
            continue
        if not repeated:
            repeated = True
            run.notes.append(
                "each question was answered several times: each answer is a trial, each score is of all of them together"
            )
        for trial, answer in enumerate(answers, start=1):
            own = {**item, "trial": trial, "answer": answer}
            yield Row(own, scores if trial == 1 else [], kind="whole" if trial == 1 else "trial")
    if len(by_filter) > 1:
        run.notes.append(
            f"filters: {', '.join(by_filter)}; the answer is that of the first, the column answer of the scores has that of each"
        )


def _arguments(row: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Context, and continuation or options, of each request; early versions wrote lists."""
    given = row.get("arguments")
    if isinstance(given, dict):
        pairs = [mapping(given[key]) for key in given]
        return [(pair.get("arg_0"), pair.get("arg_1")) for pair in pairs]
    return [
        (pair[0], pair[1] if len(pair) > 1 else None) for pair in sequence(given) if isinstance(pair, list) and pair
    ]


def _choices(arguments: Sequence[tuple[Any, Any]]) -> list[str]:
    """The continuations whose likelihoods were compared; none where the model wrote its answer."""
    rest = [rest for _, rest in arguments]
    return [text for text in rest if isinstance(text, str)] if all(isinstance(text, str) for text in rest) else []


def _answers(row: Mapping[str, Any], choices: Sequence[str]) -> list[str]:
    """The answers that a model wrote to one document."""
    if choices:
        return []
    first = next(iter(sequence(row.get("resps"))), None)
    return [text_of(answer) for answer in sequence(first)] if isinstance(first, list) else []


def _output(row: Mapping[str, Any], arguments: Sequence[tuple[Any, Any]], choices: Sequence[str]) -> str | None:
    """The filtered answer, or the continuation of the largest log-likelihood."""
    filtered = sequence(row.get("filtered_resps"))
    if choices:
        found = [_likelihood(entry) for entry in filtered]
        known = [(value, -i) for i, value in enumerate(found) if value is not None and i < len(choices)]
        return choices[-max(known)[1]] if known else None
    if not filtered or not any(isinstance(rest, dict) for _, rest in arguments):
        return None
    first = filtered[0]
    return text_of(first[0] if isinstance(first, list) and len(first) == 1 else first)


def _likelihood(entry: Any) -> float | None:
    """The log-likelihood of ``[log-likelihood, greedy]``, whose parts may be texts."""
    value = entry[0] if isinstance(entry, list) and entry else entry
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _item(
    row: Mapping[str, Any], task: str, arguments: Sequence[tuple[Any, Any]], answers: Sequence[str]
) -> dict[str, Any]:
    doc, choices = row.get("doc"), _choices(arguments)
    asked = arguments[0][0] if arguments else ""
    item: dict[str, Any] = {"id": str(row["doc_id"])}
    item["question_hash"] = question_hash(task, row.get("doc_hash") or text_of(doc))
    item |= {
        "question": text_of(asked if asked is not None else ""),
        "answer": _output(row, arguments, choices),
        "reference": _reference(row.get("target")),
    }
    if choices:
        item["choices"] = choices
        item |= present(reference_choice=_indexed(row.get("target"), choices))
    if len(answers) == 1 and answers[0] != item["answer"]:
        item["raw_answer"] = answers[0]
    further = metadata_columns(doc if isinstance(doc, dict) else {"doc": doc})
    return item | {key: value for key, value in further.items() if key not in item}


def _reference(target: Any) -> Any:
    return target if isinstance(target, (str, list)) or target is None else text_of(target)


def _indexed(target: Any, choices: list[str]) -> str | None:
    """The choice that a target names by its place; none for a target that is a choice's own text."""
    text = text_of(target)
    if not text.isascii() or not text.isdigit() or text in [choice.strip() for choice in choices]:
        return None
    return choices[int(text)] if len(text) < 6 and int(text) < len(choices) else None


def _scores(row: Mapping[str, Any], used: str) -> tuple[list[Score], set[str]]:
    """The scores of a row, and metrics whose cells are lists: parts of a figure that only all rows have together."""
    names = [name for name in sequence(row.get("metrics")) if isinstance(name, str)]
    if "metrics" not in row:
        names = [key for key, value in row.items() if key not in _KEYS and not isinstance(value, (str, dict))]
    lists = {name for name in names if isinstance(row.get(name), list)}
    answer = None
    if used != PLAIN:
        arguments = _arguments(row)
        answer = _output(row, arguments, _choices(arguments))
    out = []
    for name in names:
        if name in lists:
            continue
        value = row.get(name)
        number = score_of(value)[0]
        detail = "" if number is not None else f"lm-eval: {no_number(value)}" if name in row else "lm-eval: no score"
        out.append(Score(name if used == PLAIN else f"{name},{used}", number, detail, answer))
    return out, lists


def _figures(results: Results, tally: Any) -> Iterator[Figure]:
    for key, value in results.figures.items():
        metric, _, used = key.partition(",")
        if metric.endswith("_stderr"):
            continue
        name = metric if used == PLAIN else key
        cell, tool = tally.of(name), number_of(value)
        if not cell.n and not cell.missing:
            continue
        cut = results.effective is not None and tally.ids < results.effective
        reason, words = ("", "")
        if cut:
            reason, words = (
                "cut-file",
                f"the tool's figure is over {results.effective} documents, the samples hold {tally.ids} of them",
            )
        elif cell.missing:
            reason, words = (
                "failed-left-out",
                f"{cell.missing} of {cell.n + cell.missing} documents have no score that is a number",
            )
        elif tool is None or cell.mean is None or abs(tool - cell.mean) > 1e-9:
            reason, words = "other", "the tool's figure is not the mean of the scores in the samples"
        yield Figure(
            name, f'results[task]["{key}"]', tool, cell.mean, cell.n, reason, words, model=next(iter(tally.models), "")
        )
