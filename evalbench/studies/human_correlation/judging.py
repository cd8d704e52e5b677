"""Columns of marks that judges give, criterion by criterion, to be compared with people's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput, ModelUnavailable
from evalbench.judge.verdicts import BASELINE, InProcess, Judgements, Task, judge, mark_task
from evalbench.kit.answers import why_unscored

if TYPE_CHECKING:
    import pandas as pd

BASES = ("", "reference", "context")
PROMPT_LANGUAGES = ("en", "ru", "zh")
_KEYS = {"definition", "scale", "examples", "basis"}
_FORM = '{"accuracy": {"definition": "…", "scale": {"0": "…", "1": "…"}, "basis": "reference"}}'


@dataclass(frozen=True)
class Criterion:
    """What a judge marks, and the column that it marks by: ``reference``, ``context``, or none."""

    name: str
    task: Task
    basis: str


@dataclass
class Marks:
    """Scorer (judge: criterion) → one mark per output, NaN with a reason where there is none."""

    scores: dict[str, np.ndarray] = field(default_factory=dict)
    unscored: dict[str, np.ndarray] = field(default_factory=dict)
    undefined: dict[str, np.ndarray] = field(default_factory=dict)
    verdicts: list[Judgements] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Bench:
    """Judges and what they mark."""

    judges: tuple[str | InProcess, ...]
    criteria: tuple[Criterion, ...]
    language: str
    seed: int

    def marks(self, frame: pd.DataFrame) -> Marks:
        """Every output marked by every judge by every criterion; a judge that is not here is unscored."""
        found = Marks()
        for by in self.judges:
            for criterion in self.criteria:
                self._mark(frame, by, criterion, found)
        return found

    def _mark(self, frame: pd.DataFrame, by: str | InProcess, criterion: Criterion, found: Marks) -> None:
        name = by if isinstance(by, str) else getattr(by, "__name__", type(by).__name__)
        scorer = f"{name}: {criterion.name}"
        unscored = why_unscored(frame["output"])
        bare = frame[criterion.basis].map(len).to_numpy() == 0 if criterion.basis else np.zeros(len(frame), bool)
        scores, asked = np.full(len(frame), np.nan), np.flatnonzero((unscored == "") & ~bare)
        found.scores[scorer], found.unscored[scorer] = scores, unscored
        found.undefined[scorer] = np.where(bare, f"no-{criterion.basis}", "")
        items = items_for(frame.iloc[asked], criterion)
        try:
            verdicts = judge(items, by=by, task=criterion.task, language=self.language, seed=self.seed)
        except ModelUnavailable as error:
            unscored[asked] = error.unscored
            found.notes.append(f"{scorer} is unscored: {error}")
            return
        scores[asked] = [row.value for row in verdicts.rows]
        unscored[asked] = [row.unscored for row in verdicts.rows]
        found.verdicts.append(verdicts)


def bench_of(
    judges: Sequence[str | InProcess],
    criteria: Mapping[str, Mapping[str, Any]],
    columns: Sequence[str],
    *,
    language: str,
    seed: int,
) -> Bench:
    """Judges with their criteria, before any of them is asked.

    Parameters
    ----------
    judges : sequence of str or callable
    criteria : mapping
        Criterion → ``definition``, ``scale`` (mark → when it is given), and if wanted ``examples`` and ``basis``.
    columns : sequence of str
        Of the table.
    language : str
        Of the prompts; English where there is none.
    seed : int

    Raises
    ------
    BadInput
        With all faults at once: judges without criteria, criteria without a definition or with unknown keys, marks that
        are no whole numbers, a basis that the table lacks, a judge that gives no marks.
    """
    faults = ["judges mark by judge_criteria, and there are none: " + _FORM] if judges and not criteria else []
    faults += ["there is no column output to judge"] if judges and "output" not in columns else []
    faults += [f"{BASELINE} compares texts and gives no marks: name a chat model"] if BASELINE in judges else []
    found = []
    for name, entry in criteria.items():
        if not isinstance(entry, Mapping) or set(entry) - _KEYS:
            faults.append(f"{name}: expected {', '.join(sorted(_KEYS))}, got {entry!r}")
            continue
        basis = entry.get("basis", "")
        if basis not in BASES:
            faults.append(f"{name}: basis is {basis!r}; one of reference, context")
        elif basis and basis not in columns:
            faults.append(f"{name}: the table has no column {basis} to judge by")
        try:
            found.append(Criterion(name, _task(name, entry), str(basis)))
        except BadInput as error:
            faults.append(str(error))
    if faults:
        raise BadInput.listing("judges and judge_criteria:", faults)
    spoken = language if language in PROMPT_LANGUAGES else "en"
    return Bench(tuple(judges), tuple(found), spoken, seed)


def _task(name: str, entry: Mapping[str, Any]) -> Task:
    scale = {_whole(mark): str(when) for mark, when in dict(entry.get("scale", {})).items()}
    return mark_task(
        name,
        str(entry.get("definition", "")),
        scale,
        examples=entry.get("examples", ()),
        needs_basis=bool(entry.get("basis", "")),
    )


def _whole(mark: Any) -> Any:
    """Parameters of a notebook are JSON, where every key is a text."""
    return int(mark) if isinstance(mark, str) and mark.strip().lstrip("-").isdecimal() else mark


def items_for(frame: pd.DataFrame, criterion: Criterion) -> list[dict[str, str]]:
    """What the judge is shown of every output: its text, the request, and the basis; never who wrote it."""
    pairs = zip(frame["doc_id"], frame["system"], strict=True)
    columns = {"id": [f"{doc}/{system}" if system else doc for doc, system in pairs]}
    columns["answer"] = frame["output"].tolist()
    if "prompt" in frame:
        columns["question"] = frame["prompt"].tolist()
    if criterion.basis:
        columns["basis"] = ["\n\n".join(texts) for texts in frame[criterion.basis]]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
