"""Runs of one tool, of one file or of several, put together: rows of tables, and the record ``import.json``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.files import digest
from evalbench.readers.tools.safe import sha256_of
from evalbench.readers.tools.shapes import NO_MODEL, UNSCORED, Row, Run, Score, text_of
from evalbench.readers.tools.tally import Tally, scale_of

TABLES = ("items", "scores", "judgements", "labels")
SCHEMA_VERSION = 1
UNCHECKED = "nothing checked this row"
_FIRST = ("id", "model", "trial")


@dataclass
class Parts:
    """Runs that are read once: first :meth:`rows`, then :meth:`about`."""

    runs: Sequence[tuple[Path, Run]]
    model: str
    total: Tally = field(default_factory=Tally)
    tallies: list[Tally] = field(default_factory=list)
    unchecked: int = 0

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each row of each table, with the table's name.

        Raises ``BadInput`` for rows with the same id, model and trial, and for files without any row.
        """
        several_tasks = len({run.task for _, run in self.runs}) > 1
        for _, run in self.runs:
            tally = self.total if len(self.runs) == 1 else Tally()
            self.tallies.append(tally)
            for row in run.rows:
                self._complete(row, run, several_tasks)
                tally.add(row)
                if tally is not self.total:
                    self.total.add(row)
                yield from _rows_of(row)
        names = ", ".join(path.name for path, _ in self.runs[:5])
        if not self.total.rows:
            raise BadInput(f"{names}: no row of a run was found")
        if self.total.doubled:
            if len(self.runs) > 1:
                raise BadInput(f"{names}: the same ids of the same model are in several files; import one of them")
            raise BadInput(f"{names}: an id appears twice with the same model and trial")

    def _complete(self, row: Row, run: Run, several_tasks: bool) -> None:
        item = row.item
        if self.model and item.get("model"):
            raise BadInput(f"--model {self.model}: the file names its models itself, {item['model']}")
        if "model" not in item and (name := run.model or self.model or run.folder):
            item["model"] = name
        if run.task:
            item.setdefault("task", run.task)
        if several_tasks:
            item["id"] = f"{run.task}/{item['id']}"
        if not row.scores and row.kind == "answer":
            item |= {"unscored": UNSCORED, "detail": item.get("error") or UNCHECKED}
            self.unchecked += 1

    def about(self) -> dict[str, Any]:
        """The record of what was read and what was assumed."""
        runs, total = [run for _, run in self.runs], self.total
        hashes = {
            f"{path.parent.name}/{path.name}" if len(self.runs) > 1 else path.name: hash_of(path)
            for path, _ in self.runs
        }
        versions = list(dict.fromkeys(text_of(run.version) for run in runs if run.version))
        forms = list(dict.fromkeys(run.format_version for run in runs if run.format_version is not None))
        metrics = {metric: self._metric(metric) for metric in total.cells}
        assumed_higher = [m for m, facts in metrics.items() if facts["direction_from"] == "assumed"]
        several = len({run.task for run in runs}) > 1
        figures = [
            f._replace(slice={"task": run.task, **f.slice}) if several and run.task else f
            for run, tally in zip(runs, self.tallies, strict=True)
            for f in run.figures(tally)
        ]
        return {
            "schema_version": SCHEMA_VERSION,
            "made_by": f"evalbench {_own_version()}",
            "tool": runs[0].tool,
            "tool_version": versions[0] if len(versions) == 1 else None,
            "format_version": forms[0] if len(forms) == 1 else None,
            "files": hashes,
            "sha256": digest(hashes),
            "rows": total.rows,
            "unchecked": self.unchecked,
            "ids": total.ids,
            "questions": total.questions,
            "models": list(total.models),
            "trials": max((int(t) for t in total.trials), default=1),
            "metrics": metrics,
            "judgements": {"rows": total.judgements, "unscored": total.judgements_unscored, "judges": list(total.judges)},
            "labels": total.labels,
            "headline": runs[0].headline if len(runs) == 1 else {p.name: run.headline for p, run in self.runs},
            "figures": [{**asdict_of(f), "agrees": f.agrees} for f in figures],
            "assumed": [
                *dict.fromkeys(sentence for run in runs for sentence in run.assumed),
                *dict.fromkeys(self._named_after_folders()),
                *([f"direction of {', '.join(assumed_higher)}: the file does not say it"] if assumed_higher else []),
            ],
            "notes": [*self._notes(versions), *self._said()],
            "left_aside": dict(sum((run.left_aside for run in runs), Counter[str]())),
        }  # fmt: skip

    def _said(self) -> Iterator[str]:
        tasks = {run.task for _, run in self.runs}
        for note in dict.fromkeys(note for _, run in self.runs for note in run.notes):
            of = {run.task for _, run in self.runs if note in run.notes}
            if note != NO_MODEL:
                yield note if of == tasks else f"{', '.join(sorted(of))}: {note}"
            elif self.model:
                yield f"the model is not in the file; {self.model} was given by hand"
            elif not self.total.models:
                yield note

    def _named_after_folders(self) -> Iterator[str]:
        for _, run in self.runs:
            if run.folder and not run.model and not self.model:
                yield f"the model is named after the folder, {run.folder}: no results file of the run is beside the samples"

    def _notes(self, versions: Sequence[str]) -> list[str]:
        total = self.total
        notes = []
        if len(versions) > 1:
            notes.append(f"written by several versions: {', '.join(versions)}")
        if not versions:
            notes.append("the version of the tool is not in the file")
        if pooled := self._pooled():
            notes.append(f'{", ".join(pooled)}: a mean over all rows pools several tasks; slices=["task"] shows each')
        if self.unchecked:
            notes.append(f"{self.unchecked} of {total.rows} rows have no score of any metric: nothing checked them")
        if total.questions < total.ids:
            notes.append(f"{total.ids} ids, {total.questions} different questions: some are asked more than once")
        return notes

    def _pooled(self) -> list[str]:
        """The metrics that rows of several tasks have."""
        tasks: dict[str, set[str]] = {}
        for (_, run), tally in zip(self.runs, self.tallies, strict=True):
            for metric in tally.cells:
                tasks.setdefault(metric, set()).add(run.task)
        return [metric for metric, of in tasks.items() if len(of) > 1]

    def _metric(self, metric: str) -> dict[str, Any]:
        cell, runs = self.total.of(metric), [run for _, run in self.runs]
        said = next((run.higher[name] for run in runs if (name := run.plain(metric)) in run.higher), None)
        return {
            "n": cell.n,
            "missing": cell.missing,
            "missing_words": dict(cell.words),
            "not_applicable": self.total.scorable - cell.n - cell.missing,
            "mean_scored": cell.mean,
            **scale_of(metric, cell, runs)._asdict(),
            "higher_is_better": not runs[0].lower_assumed(metric) if said is None else said,
            "direction_from": "assumed" if said is None else "file",
            **({"passed": cell.passed, "judged": cell.judged_pass} if cell.judged_pass else {}),
        }


def summed(about: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The metrics and the tool's own figures of a record as rows of tables."""
    metrics = [
        {
            "metric": metric,
            "scale": facts["scale"],
            "low": facts["low"],
            "high": facts["high"],
            "direction": "higher" if facts["higher_is_better"] else "lower",
            "direction_from": facts["direction_from"],
            "scale_from": facts["scale_from"],
        }
        for metric, facts in about["metrics"].items()
    ]
    names = ("model", "metric", "slice", "tool_figure", "tool_value", "ours", "n", "reason", "words")
    figures = [{name: row[name] for name in names} for row in about["figures"]]
    for row in figures:
        row["slice"] = json.dumps(row["slice"], ensure_ascii=False) if row["slice"] else ""
    return {"metrics": metrics, "figures": figures}


def parts_of(runs: Sequence[tuple[Path, Run]], model: str = "") -> Parts:
    """Runs to be read once.

    Raises ``BadInput`` if a model is named for a run that names its own.
    """
    own = [run.model for _, run in runs if run.model]
    if model and own:
        raise BadInput(f"--model {model}: the file names its model itself, {own[0]}")
    return Parts(runs, model)


def asdict_of(figure: Any) -> dict[str, Any]:
    return {**figure._asdict(), "slice": dict(figure.slice)}


def _rows_of(row: Row) -> Iterator[tuple[str, dict[str, Any]]]:
    head = {name: row.item[name] for name in _FIRST if name in row.item}
    if row.kind != "more":
        yield "items", {**head, **{name: value for name, value in row.item.items() if name not in _FIRST}}
    if row.kind in ("whole", "more"):
        head.pop("trial", None)
    for score in row.scores:
        yield "scores", {**head, **_score(score)}
    for verdict in row.judgements:
        yield "judgements", {**head, **verdict}
    for label in row.labels:
        yield "labels", {**head, **label}


def _score(score: Score) -> dict[str, Any]:
    out: dict[str, Any] = {"metric": score.metric, "value": score.value}
    out["unscored"] = UNSCORED if score.value is None else ""
    out["detail"] = score.detail
    if score.answer is not None:
        out["answer"] = score.answer
    if score.passed is not None:
        out["passed"] = score.passed
    return out


def hash_of(path: Path) -> str:
    """The SHA-256 of a file, or of the files of a folder together."""
    if not path.is_dir():
        return sha256_of(path)
    return digest({p.name: sha256_of(p) for p in sorted(path.iterdir()) if p.is_file()})


def _own_version() -> str:
    from importlib.metadata import version

    return version("evalbench")
