"""inspect_ai: logs, ``.eval`` (a zip archive, read sample by sample) and ``.json``, of log version 2.

A sample that ended in an error keeps the scores that it has; a scorer without an entry is unscored, with the error's words.
Epochs are trials.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.tools.inspect_scores import Scorer, scorers_of, scores_of, verdicts_of
from evalbench.readers.tools.probe import Probe
from evalbench.readers.tools.safe import mapping, objects, sequence
from evalbench.readers.tools.shapes import (
    Figure,
    Row,
    Run,
    Score,
    metadata_columns,
    number_of,
    present,
    question_hash,
    text_of_messages,
    text_of_parts,
    whole_of,
)
from evalbench.readers.tools.zipped import archive

NAME = "inspect"
FILES = "inspect_ai logs, .eval or .json, log version 2"
VERSION = 2
_HEADLINE = ("total_samples", "completed_samples")
_MEANS = ("accuracy", "mean")
_CONTEXTS = ("context", "contexts")


@dataclass
class Seen:
    """What the samples of a log amount to, question by question, for the figures that the tool averages by question."""

    sums: dict[str, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
    )
    ungraded: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    unread: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    errors_with_scores: int = 0

    def mean(self, metric: str) -> float | None:
        """The mean over questions of the mean over their epochs."""
        means = [total / n for total, n in self.sums[metric].values() if n]
        return sum(means) / len(means) if means else None


def recognises(look: Probe) -> bool:
    """Whether an archive has a header or journal of a log, or a document its parts."""
    if look.form == "zip":
        try:
            with archive(look.path) as opened:
                return bool({"header.json", "_journal/start.json"} & set(opened.entries))
        except BadInput:
            return look.path.suffix.lower() == ".eval"
    return look.form == "document" and isinstance(look.value, dict) and "eval" in look.keys and bool(
        {"samples", "results", "plan", "status"} & look.keys
    )  # fmt: skip


def read(look: Probe) -> Run:
    """The samples of a log.

    Raises ``BadInput`` for a log of another version, or one that was saved without samples.
    """
    if look.form == "zip":
        with archive(look.path) as opened:
            header = _header(opened.entries, opened.document, look.path)
            names = sorted(name for name in opened.entries if name.startswith("samples/") and name.endswith(".json"))
        return _run(look.path, header, _zipped(look.path, names), bool(names))
    header = mapping(look.value)
    samples = objects(header.get("samples"))
    samples.sort(key=lambda sample: f"{sample.get('id')}_epoch_{sample.get('epoch', 1)}")
    return _run(look.path, header, iter(samples), bool(samples))


def _header(entries: Iterable[str], document: Any, path: Path) -> dict[str, Any]:
    if "header.json" in entries:
        return mapping(document("header.json"))
    if "_journal/start.json" in entries:
        return {"status": "started", **mapping(document("_journal/start.json"))}
    raise BadInput(f"{path}: a zip archive without header.json is not an inspect log")


def _zipped(path: Path, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    with archive(path) as opened:
        for name in names:
            sample = opened.document(name)
            if not isinstance(sample, dict):
                raise BadInput(f"{path}: {name}: expected a sample, found {type(sample).__name__}")
            yield sample


def _run(path: Path, header: Mapping[str, Any], samples: Iterator[dict[str, Any]], any_samples: bool) -> Run:
    version, about = header.get("version"), mapping(header.get("eval"))
    if version is not None and version != VERSION:
        raise BadInput(f"{path}: an inspect log of version {version!r}; known is version {VERSION}")
    results = mapping(header.get("results"))
    if not any_samples:
        known = "; ".join(
            f"{score.get('name')} {name} {mapping(metric).get('value')}"
            for score in objects(results.get("scores"))
            for name, metric in mapping(score.get("metrics")).items()
        )
        raise BadInput(
            f"{path}: the log was saved without samples, so there are no rows to import"
            f"{f' (its own figures: {known})' if known else ''}; run inspect with log_samples, or import the .eval log"
        )
    seen, scorers = Seen(), scorers_of(about, results)
    run = Run("inspect_ai", iter(()), mapping(about.get("packages")).get("inspect_ai"), version)
    run.task, run.model, run.binary = str(about.get("task") or ""), str(about.get("model") or ""), True
    run.headline = {key: results[key] for key in _HEADLINE if key in results}
    run.rows = _each(samples, about, scorers, seen, run)
    status = header.get("status")
    if status not in ("success", None):
        run.notes.append(f"the run has the status {status}: there may be fewer samples than were meant")
    if status == "success" and results.get("completed_samples") == 0:
        run.notes.append("the run has the status success, and 0 completed samples: each ended in an error")
    run.left_aside.update(["events", "messages", "store"])
    run.figures = lambda tally: _figures(results, seen, tally, run.version)
    return run


def _each(
    samples: Iterator[dict[str, Any]], about: Mapping[str, Any], scorers: Mapping[str, Scorer], seen: Seen, run: Run
) -> Iterator[Row]:
    given = sequence(mapping(about.get("dataset")).get("sample_ids"))
    both = {str(i) for i in given if not isinstance(i, str)} & {i for i in given if isinstance(i, str)}
    if both:
        run.notes.append(
            f"ids are both numbers and texts ({', '.join(sorted(both)[:5])}): the texts got (text) behind them"
        )
    epochs = mapping(about.get("config")).get("epochs") or 1
    for sample in samples:
        own = sample.get("id")
        name = f"{own} (text)" if isinstance(own, str) and own in both else str(own)
        scores, marks = scores_of(sample, scorers)
        for score, kind in scores:
            if score.value is not None:
                cell = seen.sums[score.metric][name]
                cell[0] += score.value
                cell[1] += 1
            elif kind == "ungraded":
                seen.ungraded[score.metric] += 1
            elif kind == "unread":
                seen.unread[score.metric] += 1
        plain: list[Score] = [score for score, _ in scores]
        seen.errors_with_scores += bool(sample.get("error")) and any(score.value is not None for score in plain)
        epoch = whole_of(sample.get("epoch"), 1)
        repeated = epochs != 1 or epoch != 1
        item = _item(sample, name, epoch if repeated else None)
        yield Row(item, plain, verdicts_of(sample, scorers, marks))


def _item(sample: Mapping[str, Any], name: str, trial: Any) -> dict[str, Any]:
    asked, choices = attached(sample.get("input"), sample), sequence(sample.get("choices"))
    item: dict[str, Any] = {"id": name, **present(trial=trial)}
    item["question_hash"] = question_hash(_plain(asked), *([list(choices)] if choices else []))
    item["question"] = text_of_messages(asked)
    if isinstance(asked, list):
        item["messages"] = asked
    item |= {"answer": output_of(sample), "reference": sample.get("target")}
    metadata = mapping(sample.get("metadata"))
    item |= present(contexts=next((metadata[key] for key in _CONTEXTS if key in metadata), None))
    item |= present(choices=list(choices) or None, error=mapping(sample.get("error")).get("message"))
    usage = mapping(mapping(sample.get("output")).get("usage"))
    item |= present(seconds=number_of(sample.get("total_time")), tokens=number_of(usage.get("total_tokens")))
    further = {key: value for key, value in metadata.items() if key not in _CONTEXTS}
    further |= present(limit=mapping(sample.get("limit")).get("type"))
    return item | {key: value for key, value in metadata_columns(further).items() if key not in item}


def _plain(asked: Any) -> Any:
    """What a question's hash is made of: of messages, roles and texts alone, since each run gives them ids anew."""
    if not isinstance(asked, list):
        return asked
    return [[mapping(m).get("role"), text_of_parts(mapping(m).get("content"))] for m in asked]


def output_of(sample: Mapping[str, Any]) -> str | None:
    """The answer: the completion, in older logs the first choice's message; None where there is no choice."""
    output = mapping(sample.get("output"))
    completion = output.get("completion")
    if isinstance(completion, str) and (completion or "choices" not in output or output["choices"]):
        return str(attached(completion, sample))
    choices = objects(output.get("choices"))
    if not choices:
        return None
    content = mapping(choices[0].get("message")).get("content")
    return None if content is None else text_of_parts(attached(content, sample))


def attached(value: Any, sample: Mapping[str, Any]) -> Any:
    """A text, or the texts of messages, with what was moved out to the attachments put back."""
    kept = mapping(sample.get("attachments"))
    if isinstance(value, str):
        return kept.get(value.removeprefix("attachment://"), value) if value.startswith("attachment://") else value
    if isinstance(value, list):
        return [attached(entry, sample) for entry in value]
    if isinstance(value, dict):
        return {key: attached(entry, sample) if key in ("content", "text") else entry for key, entry in value.items()}
    return value


def _figures(results: Mapping[str, Any], seen: Seen, tally: Any, version: str | None) -> Iterator[Figure]:
    for entry in objects(results.get("scores")):
        scorer, name = str(entry.get("scorer") or entry.get("name")), str(entry.get("name"))
        metric = name if name == scorer or name in tally.cells else f"{scorer}/{name}"
        for key, value in mapping(entry.get("metrics")).items():
            if key not in _MEANS:
                continue
            reducer = entry.get("reducer") or "mean"
            tool, ours = number_of(mapping(value).get("value")), seen.mean(metric)
            cell = tally.of(metric)
            differs = tool is None or ours is None or abs(tool - ours) > 1e-9
            reason, words = _why(metric, seen, cell, reducer, differs, version)
            where = f"results.scores[].metrics.{key}" + ("" if reducer == "mean" else f" ({reducer})")
            yield Figure(metric, where, tool, ours, cell.n, reason, words, model=next(iter(tally.models), ""))


def _why(metric: str, seen: Seen, cell: Any, reducer: str, differs: bool, version: str | None) -> tuple[str, str]:
    """The reason why the tool's mean is another than that of the questions, each the mean of its scored epochs."""
    whole = cell.n + cell.missing
    if differs and reducer != "mean":
        return "trials-pooled", f"the tool takes the {reducer} of a question's epochs, ours is the mean of them"
    if seen.ungraded[metric] and differs:
        n = seen.ungraded[metric]
        return (
            "ungraded-as-0",
            f"{n} of {whole} replies of the judge had no grade; the tool counts them as 0, ours leaves them unscored",
        )
    if seen.unread[metric] and differs:
        n = seen.unread[metric]
        return (
            "errors-as-0",
            f"{n} of {whole} scores are neither a number nor a grade; the tool counts them as 0, ours leaves them unscored",
        )
    if differs and seen.errors_with_scores:
        return "failed-left-out", (
            f"{seen.errors_with_scores} samples ended in an error; the tool ({version or 'version not in the file'}) leaves them "
            "out of its mean although some have this score"
        )
    if cell.missing:
        return (
            "failed-left-out",
            f"{cell.missing} of {whole} rows have no score; the tool leaves them out of its mean, ours counts them as unscored",
        )
    return ("other", "the tool's figure is not the mean of the scores in the file") if differs else ("", "")
