"""From readings to items: a score of every metric for every output, read, computed or marked by a judge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import errors, kit
from evalbench.judge.verdicts import BASELINE, InProcess, Task, judge_name, mark_task
from evalbench.metrics.registry import MODULE
from evalbench.studies.human_correlation import inputs, panels

Array = np.ndarray[Any, Any]
BASES = ("reference", "contexts")
_FORMER = {"context": "contexts"}
_KEYS = {"definition", "scale", "examples", "basis"}
_FORM = '{"accuracy": {"definition": "…", "scale": {"0": "…", "1": "…"}, "basis": "reference"}}'


class Criterion(NamedTuple):
    """What a judge marks, and the column that it marks by: ``reference``, ``contexts``, or none."""

    name: str
    task: Task
    basis: str


def computed(frame: pd.DataFrame, metrics: Sequence[str]) -> list[str]:
    """The metrics that are not columns of the table."""
    return [name for name in dict.fromkeys(metrics) if name not in frame.columns]


def recorded(metrics: Sequence[str], scored: kit.scoring.Scored) -> list[str]:
    """The metrics by the names of their scores: a module's file is not a name that a result has."""
    own = [name for name in scored.unscored if name.startswith(MODULE)]
    return [*(name for name in metrics if not name.startswith(MODULE)), *own]


def criteria_of(
    judges: Sequence[str | InProcess], criteria: Mapping[str, Any], columns: Sequence[str]
) -> list[Criterion]:
    """What the judges mark, before any of them is asked.

    - ``criteria``: Criterion → ``definition``, ``scale`` (mark → when it is given), and if wanted ``examples`` and
      ``basis``.
    - ``columns``: Of the table.

    Raises ``BadInput``: With all faults at once: judges without criteria, criteria without a definition or with unknown
    keys, marks that are not whole numbers, a basis that the table lacks, a judge that gives no marks.
    """
    checks = kit.Checks()
    checks.that(criteria or not judges, f"judges needs judge_criteria, for example {_FORM}")
    checks.that("answer" in columns or not judges, "there is no column answer to judge")
    checks.that(BASELINE not in judges, f"{BASELINE} compares texts and gives no marks: name a chat model")
    found = []
    for name, entry in criteria.items():
        if not isinstance(entry, Mapping) or set(entry) - _KEYS:
            checks.that(False, f"{name}: expected {', '.join(sorted(_KEYS))}, got {entry!r}")
            continue
        basis = entry.get("basis", "")
        basis = _FORMER.get(basis, basis) if isinstance(basis, str) else basis
        if basis in BASES:
            checks.that(basis in columns, f"{name}: the table has no column {basis} to judge by")
        elif basis:
            checks.choice(f"{name}: basis", basis, BASES)
        task = checks.tried(lambda name=name, entry=entry: _task(name, entry))  # type: ignore[misc]
        found += [Criterion(name, task, str(basis))] if task else []
    checks.refuse("human_correlation")
    return found


def _task(name: str, entry: Mapping[str, Any]) -> Task:
    # Parameters of a notebook are JSON, where every key is a text.
    scale = {_whole(mark): str(when) for mark, when in dict(entry.get("scale", {})).items()}
    options = {"examples": entry.get("examples", ()), "needs_basis": bool(entry.get("basis", ""))}
    return mark_task(name, str(entry.get("definition", "")), scale, **options)


def _whole(mark: Any) -> Any:
    return int(mark) if isinstance(mark, str) and mark.strip().lstrip("-").isdecimal() else mark


def scores_of(
    frame: pd.DataFrame,
    metrics: Sequence[str],
    judges: Sequence[str | InProcess],
    criteria: Sequence[Criterion],
    options: Mapping[str, Any],
) -> tuple[kit.scoring.Scored, list[kit.judging.Heard]]:
    """Every metric's scores: read from the table, computed by the registry, or marked by a judge; what judges heard.

    - ``frame``: Of the readings.
    - ``judges``, ``criteria``: Every judge marks every output by every criterion.
    - ``options``: See :mod:`evalbench.kit.metric_options`; and ``seed``, of the judges.
    """
    asked = computed(frame, metrics)
    if strange := kit.metric_options.unknown(asked):
        rest = json.dumps([name for name in metrics if name not in strange], ensure_ascii=False)
        ways = [
            f"it has the columns {', '.join(map(str, frame.columns))}; `evalbench metrics list` names the metrics",
            f"without them: -p 'metrics={rest}'; what the table and this machine allow: -p metrics=auto",
            'in a notebook metrics = "auto", above all where its data were changed and its metrics are still the sample\'s',
        ]
        raise errors.BadInput.listing(
            "metrics that are neither columns of the table nor known:", [*strange.values(), *ways]
        )
    entries = kit.metric_options.metrics_of(asked, options)
    found, heard = kit.scoring.score_all(frame, entries, options) if entries else kit.scoring.Scored(), []
    for name in (name for name in metrics if name in frame.columns):
        values = frame[name].to_numpy(dtype=float)
        _put(found, name, values, np.where(np.isnan(values), "no-value", "").astype(object), _nothing(frame))
    for by in judges:
        searched = kit.documents.documents_of({"items": frame}, by)
        docket = kit.judging.Docket(by, seed=options["seed"], documents=searched)
        for criterion in criteria:
            _mark(frame, docket, criterion, options["language"], found)
        heard.append(docket.heard())
    return found, heard


def _nothing(frame: pd.DataFrame) -> Array:
    return np.full(len(frame), "", dtype=object)


def _put(found: kit.scoring.Scored, name: str, values: Array, unscored: Array, undefined: Array) -> None:
    found.columns[name], found.unscored[name], found.undefined[name] = values, unscored, undefined


def _mark(
    frame: pd.DataFrame, docket: kit.judging.Docket, criterion: Criterion, language: str, found: kit.scoring.Scored
) -> None:
    """The marks of one judge by one criterion; a judge that is not available here leaves them unscored."""
    scorer = f"{judge_name(docket.by).removeprefix('function:')}: {criterion.name}"
    values, unscored, undefined = (
        np.full(len(frame), np.nan),
        kit.answers.why_unscored(frame["answer"]),
        _nothing(frame),
    )
    if criterion.basis:
        undefined[frame[criterion.basis].map(len).to_numpy() == 0] = f"no-{criterion.basis}"
    asked = np.flatnonzero((unscored == "") & (undefined == ""))
    try:
        marks = docket.ask(criterion.task, _questions(frame.iloc[asked], criterion.basis, language))
        values[asked], unscored[asked] = [mark.value for mark in marks], [mark.unscored for mark in marks]
    except errors.ModelUnavailable as error:
        unscored[asked] = error.unscored
        found.notes.append(f"{scorer} is unscored: {error}")
    _put(found, scorer, values, unscored, undefined)


def _questions(frame: pd.DataFrame, basis: str, language: str) -> list[kit.judging.Question]:
    """What the judge is shown of every output: its text, the request, and the basis; never who wrote it."""
    found = []
    for row in frame.to_dict("records"):
        fields = {"answer": row["answer"], **({"question": row["question"]} if "question" in row else {})}
        fields |= {"basis": "\n\n".join(row[basis])} if basis else {}
        found.append(kit.judging.Question(fields, language, "/".join(filter(None, (row["id"], row["model"])))))
    return found


def check_metrics(
    own: Mapping[str, str], lower_is_better: Sequence[str], scorers: Sequence[str], criteria: Sequence[str]
) -> None:
    """Refuse metrics and criteria of options that do not exist, all at once."""
    checks = kit.Checks()
    if isinstance(own, Mapping):
        for name, criterion in own.items():
            checks.that(name in scorers, f"own_criterion: {name} is not a metric here; there are {', '.join(scorers)}")
            checks.choice(f"own_criterion of {name}", criterion, criteria)
    else:
        checks.that(False, f'own_criterion must map a metric to a criterion, such as {{"judge": "{criteria[0]}"}}')
    strangers = sorted(set(lower_is_better) - set(scorers))
    checks.that(not strangers, f"lower_is_better: {', '.join(strangers)} not among {', '.join(scorers)}")
    checks.refuse("human_correlation")


def items_of(readings: inputs.Readings, scores: kit.scoring.Scored, own: Mapping[str, str]) -> pd.DataFrame:
    """One row per document, system, metric and criterion: everything that the estimates need.

    - ``scores``: Of the rows of ``readings.frame``; of no metric: one row per document, system and criterion.
    - ``own``: Metric → the only criterion that it is compared with.
    """
    by_annotator = readings.ratings.pivot(index=[*panels.KEYS, "criterion"], columns="annotator", values="mark")
    by_annotator.columns = [f"rating_{name}" for name in by_annotator.columns]
    frame = readings.frame[panels.KEYS]
    parts = []
    beaten = None if readings.pairs is None else readings.pairs.groupby(["criterion", "id", "better"])["worse"]
    preferred = {} if beaten is None else {key: json.dumps([*worse]) for key, worse in beaten}
    for criterion in readings.criteria:
        marks = by_annotator.xs(criterion, level="criterion") if len(by_annotator) else by_annotator
        human = frame.merge(marks, left_on=panels.KEYS, right_index=True, how="left")
        mean = human[list(by_annotator.columns)].mean(axis=1).to_numpy()
        human = human.assign(criterion=criterion, human=mean)
        if beaten is not None:
            keys = zip([criterion] * len(frame), frame["id"], frame["model"], strict=True)
            human[panels.PREFERRED] = [preferred.get(key, "[]") for key in keys]
        without = np.where(np.isnan(mean), "no-reference", "")
        if not scores.unscored:
            parts.append(human.assign(scorer=panels.NO_METRIC, score=np.nan, unscored="", undefined=without))
        for scorer in (name for name in scores.unscored if own.get(name, criterion) == criterion):
            values, unscored, undefined = (of[scorer] for of in (scores.columns, scores.unscored, scores.undefined))
            why = np.where(undefined == "", "the metric has no value", undefined)
            why = np.where(without != "", without, np.where(np.isnan(values), why, ""))
            why = np.where(unscored == "", why, "")
            parts.append(human.assign(scorer=scorer, score=values, unscored=unscored, undefined=why))
    columns = [*panels.KEYS, "scorer", "criterion", "score", "human", *by_annotator.columns, "unscored", "undefined"]
    columns += [panels.PREFERRED] if beaten is not None else []
    order = ["id", "scorer", "criterion", "model"]
    return pd.concat(parts)[columns].sort_values(order, kind="stable", ignore_index=True)
