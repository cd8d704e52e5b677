"""One way to ask any judge: items in, verdict rows out.

==========================  ==========================================================================
``by``                      judge
==========================  ==========================================================================
``openai/gpt-4o`` …         a language model, asked by a prompt for JSON of a schema
``baseline/lexical``        words, numbers and vectors; its verdict is at best grey
a folder or hub name        a cross-encoder with three labels, for entailment
``recorded:FILE``           verdicts of people or of an earlier run, by id (CSV, TSV, JSON Lines)
a function                  ``item → label``, or ``{"label": …, "reason": …}``: tests and simulations
==========================  ==========================================================================
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.judge.recorded import read_recorded
from evalbench.judge.tasks import Task, reply_schema, task_of
from evalbench.models import llm
from evalbench.models.entail import BASELINE, LABELS, entailer, holds_back
from evalbench.models.prompts import load_prompt

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.models.exchange import Reply

Item = Mapping[str, Any]
InProcess = Callable[[dict[str, Any]], object]
RECORDED = "recorded:"
NOT_RECORDED = "not-recorded"
_LLM_FORMS = ("openai/", "azure/", "gemini/", "ollama/", "http://", "https://", "local/", "local:")
_CORRECT_FROM, _PARTIAL_FROM = 0.5, 0.35


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one judge said about one item.

    Attributes
    ----------
    id : str
    sample : int
        Which of several verdicts on the same item.
    label : str
        Empty where unscored.
    value : float
        The label's value; NaN where unscored.
    probability : float
        That the task's first label (ENTAILMENT, CORRECT) holds, 0–1; NaN where the judge gives none.
    reason : str
    unscored : str
        Why there is no verdict; empty where there is one.
    detail : str
        What the endpoint or the parser said about it.
    """

    id: str
    sample: int = 0
    label: str = ""
    value: float = math.nan
    probability: float = math.nan
    reason: str = ""
    unscored: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """What a judge said about all items.

    Attributes
    ----------
    judge : str
    task : Task
    rows : tuple of Verdict
        In the order of the items, samples within.
    calls : pandas.DataFrame
        A row per verdict with prompt, raw reply, tokens, seconds and cost: for ``calls.parquet``.
    accounting : mapping
        For ``run.json``.
    """

    judge: str
    task: Task
    rows: tuple[Verdict, ...]
    calls: pd.DataFrame
    accounting: Mapping[str, Any] = field(default_factory=dict)

    @property
    def holds_back(self) -> bool:
        """Whether what rests on these verdicts is at best grey."""
        return holds_back(self.judge)

    def frame(self) -> pd.DataFrame:
        """One row per verdict: id, sample, label, value, probability, reason, unscored, detail."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=list(Verdict.__dataclass_fields__))


def judge(
    items: Sequence[Item] | pd.DataFrame,
    *,
    by: str | InProcess,
    task: str | Task,
    language: str = "en",
    prompt: str = "",
    samples: int = 1,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    seed: int | None = None,
    **options: Any,
) -> Verdicts:
    """Verdicts of one judge on items.

    Parameters
    ----------
    items : sequence of mapping, or pandas.DataFrame
        Each with a unique ``id`` and the task's fields.
    by : str or callable
        See the table above.
    task : str or Task
        ``"entailment"`` (premise, hypothesis), ``"correctness"`` (question, gold, answer), or a :class:`Task`.
    language : str
        Of the prompt: ``en``, ``ru``, ``zh``.
    prompt : str
        Path of the user's own prompt file or folder.
    samples : int
        Verdicts per item; a judge that is not a language model gives one.
    temperature, max_tokens, seed, options
        For a language model; ``options`` as in :func:`evalbench.models.collect.collect`.

    Returns
    -------
    Verdicts
        One row per item and sample, also where the judge failed: then ``unscored`` says why.

    Raises
    ------
    BadInput
        If items lack an id, a field or a text, ids repeat, the judge is unknown or cannot do this task.  All faults of
        the items at once.

    Examples
    --------
    >>> item = {"id": "1", "premise": "It makes 12 juices.", "hypothesis": "It makes twelve juices."}
    >>> judge([item], by="baseline/lexical", task="entailment").rows[0].label
    'ENTAILMENT'
    """
    chosen = task_of(task)
    checked = _checked_items(items, chosen)
    if samples < 1:
        raise BadInput(f"samples is {samples}; at least 1")
    if callable(by):
        return _in_process(checked, by, chosen)
    if by.startswith(RECORDED):
        return _recorded(checked, by, chosen)
    if by == BASELINE:
        return _baseline(checked, chosen)
    if by.startswith(_LLM_FORMS) or by in llm.aliases():
        asked = _Asked(language, prompt, samples, temperature, max_tokens, seed)
        return _language_model(checked, by, chosen, asked, options)
    return _cross_encoder(checked, by, chosen)


def _checked_items(items: Sequence[Item] | pd.DataFrame, task: Task) -> list[dict[str, Any]]:
    given = items if isinstance(items, Sequence) else items.to_dict("records")
    faults, seen, out = [], set(), []
    for place, item in enumerate(given):
        name = item.get("id")
        if not isinstance(name, str) or not name:
            faults.append(f"item {place}: its id is {name!r}, not a text")
        elif name in seen:
            faults.append(f"item {place}: its id {name!r} is there twice")
        seen.add(name)
        for key in (*task.fields, *(k for k in task.optional if k in item)):
            fault = _field_fault(key, item.get(key))
            if fault:
                faults.append(f"item {name!r}: {fault}")
        out.append({**dict.fromkeys(task.optional, ""), **item, **_gold_as_list(item)})
    if faults:
        raise BadInput.listing(
            f"items for the task {task.name!r} need {', '.join(('id', *task.fields))}:", faults
        )
    return out


def _field_fault(key: str, value: object) -> str:
    if key == "gold" and not isinstance(value, str):
        is_texts = isinstance(value, Sequence) and len(value) > 0 and all(isinstance(v, str) for v in value)
        return "" if is_texts else f"gold is {value!r}, not a text or texts"
    return "" if isinstance(value, str) else f"{key} is {value!r}, not a text"


def _gold_as_list(item: Item) -> dict[str, Any]:
    gold = item.get("gold")
    return {} if gold is None else {"gold": [gold] if isinstance(gold, str) else list(gold)}


def _verdict(task: Task, item_id: str, label: str, **more: Any) -> Verdict:
    return Verdict(id=item_id, label=label, value=task.labels[label], **more)


# Language models -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """How a language model is asked."""

    language: str
    prompt: str
    samples: int
    temperature: float | None
    max_tokens: int | None
    seed: int | None


def _language_model(
    items: list[dict[str, Any]], by: str, task: Task, asked: _Asked, options: Mapping[str, Any]
) -> Verdicts:
    from evalbench.models.accounting import accounting, calls_table
    from evalbench.models.collect import collect
    from evalbench.models.exchange import Request

    template = load_prompt(task.prompt or task.name, asked.language, asked.prompt or None)
    schema = reply_schema(task)
    requests = [
        Request(
            template.render(**task.context, **{k: item[k] for k in (*task.fields, *task.optional)}),
            temperature=asked.temperature,
            max_tokens=asked.max_tokens,
            seed=asked.seed,
            schema=schema,
            sample=sample,
            item_id=item["id"],
            purpose=task.name,
            prompt_hash=template.sha256,
        )
        for item in items
        for sample in range(asked.samples)
    ]
    replies = collect(requests, by, **options)
    return Verdicts(
        judge=by,
        task=task,
        rows=tuple(_of_reply(task, reply) for reply in replies),
        calls=calls_table(replies),
        accounting=accounting(replies),
    )


def _of_reply(task: Task, reply: Reply) -> Verdict:
    item_id, sample = reply.request.item_id, reply.request.sample
    if reply.value is None:
        return Verdict(id=item_id, sample=sample, unscored=reply.unscored, detail=reply.detail)
    label = str(getattr(reply.value, task.answer))
    return _verdict(task, item_id, label, sample=sample, reason=reply.value.reason)  # type: ignore[attr-defined]


# Judges of this process ----------------------------------------------------------------------------------------------


def _local(
    judge_name: str, task: Task, rows: Sequence[Verdict], replies: Sequence[str], seconds: float = 0.0
) -> Verdicts:
    """Verdicts that no endpoint gave, with the same columns of calls."""
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
                "parsed": json.dumps({task.answer: row.label, "reason": row.reason}, ensure_ascii=False)
                if row.label
                else "",
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
        "seconds": round(seconds, 3),
        "cost": 0.0,
    }
    return Verdicts(judge=judge_name, task=task, rows=tuple(rows), calls=calls, accounting=total)


def _in_process(items: list[dict[str, Any]], by: InProcess, task: Task) -> Verdicts:
    """A function's verdicts; what it raises is not caught."""
    rows, replies = [], []
    for item in items:
        said = by(dict(item))
        given = said if isinstance(said, Mapping) else {"label": said}
        replies.append(json.dumps(given, ensure_ascii=False, default=str))
        rows.append(_of_given(task, item["id"], given))
    return _local(f"function:{getattr(by, '__name__', type(by).__name__)}", task, rows, replies)


def _of_given(task: Task, item_id: str, given: Mapping[str, Any]) -> Verdict:
    if given.get("unscored"):
        return Verdict(id=item_id, unscored=str(given["unscored"]), detail=str(given.get("detail", "")))
    label = task.label(given.get("label", given.get("mark")))
    if label is None:
        raise ValueError(
            f"item {item_id!r}: the judge's function gave {given!r}; labels are {', '.join(task.labels)}"
        )
    return _verdict(
        task,
        item_id,
        label,
        reason=str(given.get("reason", "")),
        probability=float(given.get("probability", math.nan)),
    )


def _recorded(items: list[dict[str, Any]], by: str, task: Task) -> Verdicts:
    kept = read_recorded(by.removeprefix(RECORDED), task)
    rows, replies = [], []
    for item in items:
        entries = kept.get(item["id"], ())
        for entry in entries:
            rows.append(_verdict(task, item["id"], entry.label, sample=entry.sample, reason=entry.reason))
            replies.append(entry.raw)
        if not entries:
            rows.append(
                Verdict(id=item["id"], unscored=NOT_RECORDED, detail="the file has no verdict on this item")
            )
            replies.append("")
    return _local(by, task, rows, replies)


def _baseline(items: list[dict[str, Any]], task: Task) -> Verdicts:
    import time

    started = time.perf_counter()
    if task.name == "entailment":
        verdicts = _entailed(items, BASELINE, task)
    elif task.name == "correctness":
        verdicts = _equivalent(items, task)
    else:
        raise BadInput(f"{BASELINE} compares texts; it cannot judge {task.name!r}: choose a language model")
    return _local(BASELINE, task, verdicts, [row.reason for row in verdicts], time.perf_counter() - started)


def _cross_encoder(items: list[dict[str, Any]], by: str, task: Task) -> Verdicts:
    if task.name != "entailment":
        raise BadInput(
            f"{by!r} is no language model ({llm.FORMS}), and a cross-encoder judges entailment only, not {task.name!r}"
        )
    verdicts = _entailed(items, by, task)
    return _local(by, task, verdicts, [row.reason for row in verdicts])


def _entailed(items: list[dict[str, Any]], by: str, task: Task) -> list[Verdict]:
    probabilities = entailer(by).probabilities(
        [i["premise"] for i in items], [i["hypothesis"] for i in items]
    )
    return [
        _verdict(
            task,
            item["id"],
            LABELS[int(row.argmax())],
            probability=float(row[0]),
            reason=", ".join(f"{label.lower()} {p:.2f}" for label, p in zip(LABELS, row, strict=True)),
        )
        for item, row in zip(items, probabilities, strict=True)
    ]


def _equivalent(items: list[dict[str, Any]], task: Task) -> list[Verdict]:
    from evalbench.models.lexical.equivalence import equivalence

    same = equivalence(
        [i["question"] for i in items], [i["gold"] for i in items], [i["answer"] for i in items]
    )
    return [
        _verdict(
            task,
            item["id"],
            "CORRECT" if p >= _CORRECT_FROM else "PARTIALLY_CORRECT" if p >= _PARTIAL_FROM else "INCORRECT",
            probability=float(p),
            reason=f"same meaning as a gold answer with probability {p:.2f}",
        )
        for item, p in zip(items, same, strict=True)
    ]
