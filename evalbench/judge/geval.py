"""G-Eval: a criterion, the steps of judging by it, and a mark finer than the scale's whole numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from evalbench.errors import BadInput
from evalbench.judge.rows import Judgement, Judgements
from evalbench.judge.tasks import Task
from evalbench.judge.verdicts import InProcess, Recording, judge

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["probabilities", "samples"]
METHODS = ("auto", "probabilities", "samples")
N_SAMPLES = 20
TOP_TOKENS = 20
MOST_STEPS = 10


@dataclass(frozen=True, kw_only=True)
class Marked:
    """The mark of one answer.

    Attributes
    ----------
    mark : float
        On the criterion's scale, not rounded; NaN where unscored.
    method : {"probabilities", "samples", ""}
        Whether it is the probability-weighted mean over the marks, or the mean of samples; empty where unscored.
    off_marks : float
        Probability that was on no mark and is left out of the weights, 0–1; NaN for samples.
    n : int
        Verdicts behind it.
    reason : str
        Of the first verdict.
    unscored : str
        Why there is no mark; empty where there is one.
    """

    id: str
    mark: float = math.nan
    method: Method | Literal[""] = ""
    off_marks: float = math.nan
    n: int = 0
    reason: str = ""
    unscored: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Marks:
    """All marks of a judge, the steps that it judged by, and everything that was asked."""

    rows: tuple[Marked, ...]
    steps: tuple[str, ...]
    asked: tuple[Judgements, ...]

    def frame(self) -> pd.DataFrame:
        """One row per item: id, mark, method, off_marks, n, reason, unscored, detail."""
        import pandas as pd

        return pd.DataFrame([vars(row) for row in self.rows], columns=list(Marked.__dataclass_fields__))


def steps_task(task: Task) -> Task:
    """Writing the steps of judging by the criterion of a :func:`~evalbench.judge.tasks.mark_task`."""
    from typing import Annotated

    from pydantic import Field, StringConstraints

    one = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    kind = Annotated[list[one], Field(min_length=1, max_length=MOST_STEPS)]
    return Task("geval_steps", (), {}, context=task.context, parts={"steps": (kind, f"at most {MOST_STEPS} steps")})


def geval(
    items: Sequence[Mapping[str, Any]],
    *,
    by: str | Recording | InProcess,
    task: Task,
    steps: Sequence[str] = (),
    method: str = "auto",
    n_samples: int = N_SAMPLES,
    temperature: float = 1.0,
    **options: Any,
) -> Marks:
    """Mark answers by a criterion, step by step.

    The mark is Σ pₘ m / Σ pₘ over the scale's marks m, with pₘ the probability of the mark's token where the verdict names it,
    if the endpoint gives log-probabilities; else the mean of ``n_samples`` sampled marks.  Which of the two it was, and the
    probability off all marks, is beside each mark.

    Parameters
    ----------
    items : sequence of mapping
        ``id``, ``answer`` and, by the task, ``question`` and ``basis``.
    by : str, Recording or callable
        As in :func:`evalbench.judge.verdicts.judge`.  A judge that is not a language model gives what verdicts it has, and
        the mark is their mean.
    task : Task
        From :func:`evalbench.judge.tasks.mark_task`.
    steps : sequence of str, optional
        How to judge; by default a language model writes them, once for the criterion.
    method : {"auto", "probabilities", "samples"}
        ``auto`` samples only what has no probabilities; ``probabilities`` leaves that unscored.
    temperature : float
        Of the samples, 0–2; the verdicts with probabilities are asked for at 0.
    options
        As in :func:`evalbench.judge.verdicts.judge`.

    Raises
    ------
    BadInput
        For an unknown method, an empty step, fewer than one sample, steps that the judge did not write, or as
        :func:`evalbench.judge.verdicts.judge` does.

    References
    ----------
    Liu et al. (2023), G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment, EMNLP 2023, section 2; 20 samples are theirs.

    Examples
    --------
    >>> from evalbench.judge.tasks import mark_task
    >>> task = mark_task("brevity", "Is it short?", {0: "more than ten words", 1: "ten words at most"})
    >>> def short(item):
    ...     return 1 if len(item["answer"].split()) <= 10 else 0
    >>> geval([{"id": "1", "answer": "At noon."}], by=short, task=task).rows[0].mark
    1.0
    """
    faults = [f"method is {method!r}; expected one of {', '.join(METHODS)}"] * (method not in METHODS)
    faults += [f"n_samples is {n_samples}; at least 1"] * (n_samples < 1)
    faults += ["a step is empty"] * any(not step.strip() for step in steps)
    if faults:
        raise BadInput.listing("G-Eval cannot begin:", faults)
    if not _is_asked(by):
        found = judge(items, by=by, task=task, **options)
        return Marks(_by_samples(items, found.rows, {}), tuple(steps), (found,))
    asked = []
    if not steps:
        written = _written(by, task, options)
        asked.append(written)
        steps = written.rows[0].parts["steps"]
    stepwise = replace(task, prompt="geval", context={**task.context, "steps": list(steps)})
    first: list[Judgement] = []
    # Whether an endpoint gives log-probabilities is seen from its first reply: the others would be asked for nothing.
    for batch in () if method == "samples" else (items[:1], items[1:]):
        if batch and (method == "probabilities" or all(row.probabilities or row.unscored for row in first)):
            asked.append(judge(batch, by=by, task=stepwise, logprobs=TOP_TOKENS, temperature=0.0, **options))
            first += asked[-1].rows
    known = {row.id: _weighted(row, task) for row in first if row.probabilities and sum(row.probabilities) > 0}
    rest = [item for item in items if item["id"] not in known]
    if method == "probabilities":
        return Marks(_unweighted(items, first, known), tuple(steps), tuple(asked))
    sampled: tuple[Judgement, ...] = ()
    if rest:
        found = judge(rest, by=by, task=stepwise, samples=n_samples, temperature=temperature, **options)
        asked.append(found)
        sampled = found.rows
    return Marks(_by_samples(items, sampled, known), tuple(steps), tuple(asked))


def _is_asked(by: str | Recording | InProcess) -> bool:
    from evalbench.models.llm import is_model_name

    return isinstance(by, str) and is_model_name(by)


def _written(by: str | Recording | InProcess, task: Task, options: Mapping[str, Any]) -> Judgements:
    found = judge([{"id": "steps"}], by=by, task=steps_task(task), **options)
    (row,) = found.rows
    if row.unscored:
        raise BadInput(
            f"the judge wrote no steps for {task.context['criterion']!r} ({row.unscored}: {row.detail}); give steps=[…]"
        )
    return found


def _weighted(row: Judgement, task: Task) -> Marked:
    total = sum(row.probabilities)
    mark = sum(p * value for p, value in zip(row.probabilities, task.labels.values(), strict=True)) / total
    off = max(0.0, 1.0 - total)
    return Marked(id=row.id, mark=mark, method="probabilities", off_marks=off, n=1, reason=row.reason)


def _unweighted(
    items: Sequence[Mapping[str, Any]], rows: Sequence[Judgement], known: Mapping[str, Marked]
) -> tuple[Marked, ...]:
    of = {row.id: row for row in rows}
    return tuple(known.get(item["id"]) or _without(of[item["id"]]) for item in items)


def _without(row: Judgement) -> Marked:
    if row.unscored:
        return Marked(id=row.id, unscored=row.unscored, detail=row.detail)
    return Marked(id=row.id, unscored="no-value", detail="the endpoint gave no probabilities of the marks")


def _by_samples(
    items: Sequence[Mapping[str, Any]], rows: Sequence[Judgement], known: Mapping[str, Marked]
) -> tuple[Marked, ...]:
    of: dict[str, list[Judgement]] = {}
    for row in rows:
        of.setdefault(row.id, []).append(row)
    return tuple(known.get(item["id"]) or _mean(item["id"], of[item["id"]]) for item in items)


def _mean(name: str, rows: Sequence[Judgement]) -> Marked:
    scored = [row for row in rows if not row.unscored]
    if not scored:
        return Marked(id=name, unscored=rows[0].unscored, detail=rows[0].detail)
    mark = sum(row.value for row in scored) / len(scored)
    lost = len(rows) - len(scored)
    detail = f"{lost} of {len(rows)} samples without a mark" if lost else ""
    return Marked(id=name, mark=mark, method="samples", n=len(scored), reason=scored[0].reason, detail=detail)
