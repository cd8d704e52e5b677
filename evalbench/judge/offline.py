"""Judges that no endpoint stands behind: functions, recorded verdicts, ``baseline/lexical``, cross-encoders."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evalbench.core.unscored import REASONS, Unscored
from evalbench.errors import BadInput
from evalbench.judge.entail import BASELINE, LABELS, entailer
from evalbench.judge.recorded import Recording, read_recorded
from evalbench.judge.rows import Judgement, Judgements, labelled
from evalbench.judge.tasks import Task, parts_of
from evalbench.models import llm
from evalbench.text.fragments import is_fragment
from evalbench.text.refusals import claims_nothing

InProcess = Callable[[dict[str, Any]], object]
RECORDED = "recorded:"
NOT_RECORDED: Unscored = "not-recorded"
_CORRECT_FROM, _PARTIAL_FROM = 0.5, 0.35
_NOTHING = "it claims nothing: a question, or words that the answer is not known"


def _local(
    judge_name: str, task: Task, rows: Sequence[Judgement], replies: Sequence[str], seconds: float = 0.0
) -> Judgements:
    """Judgements that no endpoint gave, with the same columns of calls."""
    import pandas as pd

    from evalbench.models.accounting import CALL_COLUMNS, accounting

    blank = {"string": "", "int64": 0, "Int64": 0, "float64": 0.0, "Float64": 0.0, "bool": False}
    calls = pd.DataFrame(
        [
            {
                **{name: blank[kind] for name, kind in CALL_COLUMNS.items()},
                "item_id": row.id,
                "purpose": task.name,
                "sample": row.sample,
                "reply": reply,
                "parsed": _parsed(task, row),
                "unscored": row.unscored,
                "detail": row.detail,
                "model": judge_name,
                "seconds": seconds / len(rows),
            }
            for row, reply in zip(rows, replies, strict=True)
        ],
        columns=list(CALL_COLUMNS),
    ).astype(CALL_COLUMNS)
    total = {
        **accounting([]),
        "models": [judge_name],
        "calls": len(rows),
        "unscored": dict(sorted(Counter(row.unscored for row in rows if row.unscored).items())),
        "call_seconds": round(seconds, 3),
        "cost": 0.0,
    }
    return Judgements(judge=judge_name, task=task, rows=tuple(rows), calls=calls, accounting=total)


def _parsed(task: Task, row: Judgement) -> str:
    verdict = {task.answer: row.label, "reason": row.reason} if row.label else {}
    return "" if row.unscored else json.dumps({**verdict, **row.parts}, ensure_ascii=False)


def judge_name(by: str | Recording | InProcess) -> str:
    """A judge's name in results: ``function:NAME`` for a function.

    Examples
    --------
    >>> judge_name("baseline/lexical"), judge_name(len)
    ('baseline/lexical', 'function:len')
    """
    if isinstance(by, Recording):
        return by.name
    return by if isinstance(by, str) else f"function:{getattr(by, '__name__', type(by).__name__)}"


def in_process(items: list[dict[str, Any]], by: InProcess, task: Task) -> Judgements:
    """A function's verdicts; what it raises is not caught.

    A label that is none of the task's, a reason for no verdict that is none of ours, or a probability that is not one from 0
    to 1 is no verdict: ``unparsed``, and the detail says what the function gave.
    """
    name = judge_name(by)
    rows, replies = [], []
    for item in items:
        said = by(dict(item))
        given = said if isinstance(said, Mapping) else {"label": said}
        replies.append(json.dumps(given, ensure_ascii=False, default=str))
        rows.append(_of_given(task, item["id"], given, name))
    return _local(name, task, rows, replies)


def _of_given(task: Task, item_id: str, given: Mapping[str, Any], name: str) -> Judgement:
    why = str(given.get("unscored") or "")
    if why:
        detail = str(given.get("detail", ""))
        if why not in REASONS:
            why, detail = "unparsed", " ".join(filter(None, [f"{name}: {why}", detail]))
        return Judgement(id=item_id, unscored=why, detail=detail)
    label = task.label(given.get("label", given.get("mark"))) if task.labels else ""
    if label is None:
        detail = f"{name} gave {_shown(given)}; labels are {', '.join(task.labels)}"
        return Judgement(id=item_id, unscored="unparsed", detail=detail)
    try:
        p = math.nan if given.get("probability") is None else float(given["probability"])
        if not (math.isnan(p) or 0 <= p <= 1):
            raise ValueError(f"the probability {p} is not from 0 to 1")
        parts = parts_of(task, given)
    except (TypeError, ValueError) as error:
        return Judgement(id=item_id, unscored="unparsed", detail=f"{name} gave {_shown(given)}: {error}")
    return labelled(task, item_id, label, reason=str(given.get("reason", "")), probability=p, parts=parts)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def recorded(items: list[dict[str, Any]], by: str | Recording, task: Task) -> Judgements:
    source = by.removeprefix(RECORDED) if isinstance(by, str) else by
    kept = read_recorded(source, task, {item["id"] for item in items})
    rows, replies = [], []
    for item in items:
        entries = kept.get(item["id"], ())
        for entry in entries:
            said = {"sample": entry.sample, "reason": entry.reason, "parts": entry.parts}
            rows.append(labelled(task, item["id"], entry.label, **said))
            replies.append(entry.raw)
        if not entries:
            rows.append(Judgement(id=item["id"], unscored=NOT_RECORDED, detail="the file has no verdict on this item"))
            replies.append("")
    return _local(judge_name(by), task, rows, replies)


def baseline(items: list[dict[str, Any]], task: Task) -> Judgements:
    started = time.perf_counter()
    if task.name == "correctness":
        verdicts = _equivalent(items, task)
    elif task.name in _BY_ENTAILMENT:
        verdicts = _BY_ENTAILMENT[task.name](items, BASELINE, task)
    else:
        raise BadInput(f"{BASELINE} compares texts; it cannot judge {task.name!r}: choose a language model")
    return _local(BASELINE, task, verdicts, [row.reason for row in verdicts], time.perf_counter() - started)


def cross_encoder(items: list[dict[str, Any]], by: str, task: Task) -> Judgements:
    if task.name not in _BY_ENTAILMENT:
        raise BadInput(
            f"{by!r} is not a language model ({llm.FORMS}), and a cross-encoder only judges entailment, not {task.name!r}"
        )
    started = time.perf_counter()
    verdicts = _BY_ENTAILMENT[task.name](items, by, task)
    return _local(by, task, verdicts, [row.reason for row in verdicts], time.perf_counter() - started)


def _entailed(items: list[dict[str, Any]], by: str, task: Task) -> list[Judgement]:
    probabilities = entailer(by).probabilities([i["premise"] for i in items], [i["hypothesis"] for i in items])
    return [
        labelled(
            task,
            item["id"],
            LABELS[int(row.argmax())],
            probability=float(row[0]),
            probabilities=tuple(row.tolist()),
            reason=_likelihoods(by, row),
        )
        for item, row in zip(items, probabilities, strict=True)
    ]


def _likelihoods(by: str, row: Sequence[float]) -> str:
    if by == BASELINE:
        return f"probability of support {row[0]:.3f}"
    return ", ".join(f"{label.lower()} {p:.2f}" for label, p in zip(LABELS, row, strict=True))


def _equivalent(items: list[dict[str, Any]], task: Task) -> list[Judgement]:
    from evalbench.judge.lexical.fragments import same_answer

    same = same_answer([i["question"] for i in items], [i["gold"] for i in items], [i["answer"] for i in items])
    return [
        labelled(
            task,
            item["id"],
            "CORRECT" if p >= _CORRECT_FROM else "PARTIALLY_CORRECT" if p >= _PARTIAL_FROM else "INCORRECT",
            probability=float(p),
            reason=f"same meaning as a gold answer with probability {p:.2f}",
        )
        for item, p in zip(items, same, strict=True)
    ]


def _carried(asked: Sequence[tuple[str, str, str]], by: str) -> Any:
    """P(entailment, neutral, contradiction) of each question, passage and statement; fragments with their question."""
    whole = [not q or not (is_fragment(p) or is_fragment(s)) for q, p, s in asked]
    if by != BASELINE:
        premises = [f"{q} {p}" if q and is_fragment(p) else p for q, p, _ in asked]
        return entailer(by).probabilities(premises, [f"{q} {s}" if q and is_fragment(s) else s for q, _, s in asked])
    from evalbench.judge.lexical.fragments import in_view

    found = np.zeros((len(asked), len(LABELS)))
    plain = [(p, s) for (_, p, s), one in zip(asked, whole, strict=True) if one]
    short = [each for each, one in zip(asked, whole, strict=True) if not one]
    if plain:
        found[whole] = entailer(by).probabilities([p for p, _ in plain], [s for _, s in plain])
    if short:
        likely = in_view(*zip(*short, strict=True))
        found[np.logical_not(whole)] = np.stack([likely, 1 - likely, np.zeros(len(short))], axis=1)
    return found


def _supported(items: list[dict[str, Any]], by: str, task: Task) -> list[Judgement]:
    """Which passages entail each statement, passage by passage; words decide whether it claims anything."""
    found = _carried([(item["question"], p, item["statement"]) for item in items for p in item["passages"]], by)
    ends = np.cumsum([len(item["passages"]) for item in items])[:-1]
    verdicts = []
    for item, rows in zip(items, np.split(found, ends), strict=True):
        if claims_nothing(item["statement"], item["question"]):
            verdicts.append(labelled(task, item["id"], "NO_CLAIM", reason=_NOTHING, parts={"passages": []}))
            continue
        likeliest = rows.argmax(axis=1)
        carrying = (np.flatnonzero(likeliest == 0) + 1).tolist()
        denied = bool((likeliest == LABELS.index("CONTRADICTION")).any())
        label = "SUPPORTED" if carrying else "CONTRADICTED" if denied else "NOT_SUPPORTED"
        best = rows[rows[:, 0].argmax()]
        said = {"probability": float(best[0]), "reason": _likelihoods(by, best), "parts": {"passages": carrying}}
        verdicts.append(labelled(task, item["id"], label, **said))
    return verdicts


def _relevant(items: list[dict[str, Any]], by: str, task: Task) -> list[Judgement]:
    """A passage is relevant if it entails a fact; never partially, which only a reader can see."""
    found = _carried([(item["question"], item["passage"], fact) for item in items for fact in item["facts"]], by)
    ends = np.cumsum([len(item["facts"]) for item in items])[:-1]
    verdicts = []
    for item, rows in zip(items, np.split(found, ends), strict=True):
        best = rows[rows[:, 0].argmax()]
        label = "RELEVANT" if (rows.argmax(axis=1) == 0).any() else "IRRELEVANT"
        verdicts.append(labelled(task, item["id"], label, probability=float(best[0]), reason=_likelihoods(by, best)))
    return verdicts


_BY_ENTAILMENT = {"entailment": _entailed, "support": _supported, "relevance": _relevant}
"""The tasks that a model of entailment can do, and how."""
