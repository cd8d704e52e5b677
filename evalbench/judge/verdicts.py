"""One way to ask any judge: items in, verdict rows out.

==========================  ==========================================================================
``by``                      judge
==========================  ==========================================================================
``openai/gpt-4o`` …         a language model, asked by a prompt for JSON of a schema
``agent:MODEL``             a language model that looks things up before it decides, and whose evidence is checked
``baseline/lexical``        words, numbers and vectors; never says CONTRADICTION; its verdict is at best grey
a folder or hub name        a cross-encoder with three labels, for entailment
``recorded:FILE``           verdicts of people or of an earlier run, by id (CSV, TSV, JSON Lines, ``calls.parquet``)
a :class:`Recording`        such verdicts out of a table of the data set
a function                  ``item → label``, or ``{"label": …, "reason": …}``: tests and simulations
==========================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from evalbench.core.judging_time import judged_at
from evalbench.errors import BadInput
from evalbench.judge import offline
from evalbench.judge.agent.naming import is_agent
from evalbench.judge.entail import BASELINE, holds_back
from evalbench.judge.offline import NOT_RECORDED, RECORDED, InProcess, judge_name
from evalbench.judge.recorded import Recording
from evalbench.judge.rows import Judgement, Judgements, labelled
from evalbench.judge.tasks import Task, mark_task, reply_schema, task_of
from evalbench.models.llm import is_model_name
from evalbench.models.prompts import load_prompt

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.models.exchange import Reply

__all__ = [
    "BASELINE",
    "NOT_RECORDED",
    "RECORDED",
    "InProcess",
    "Judgement",
    "Judgements",
    "Recording",
    "Task",
    "holds_back",
    "judge",
    "judge_name",
    "mark_task",
]

Item = Mapping[str, Any]


def judge(
    items: Sequence[Item] | pd.DataFrame,
    *,
    by: str | Recording | InProcess,
    task: str | Task,
    language: str = "en",
    prompt: str = "",
    samples: int = 1,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    seed: int | None = None,
    logprobs: int = 0,
    units: Mapping[str, str] | None = None,
    documents: Sequence[tuple[str, str]] = (),
    **options: Any,
) -> Judgements:
    """Judgements of one judge on items.

    Parameters
    ----------
    items : sequence of mapping, or pandas.DataFrame
        Each with a unique ``id`` and the task's fields.
    by : str, Recording or callable
        See the table above.
    task : str or Task
        ``"entailment"`` (premise, hypothesis), ``"correctness"`` (question, gold, answer), or a :class:`Task`.
    language : str
        Of the prompt: ``en``, ``ru``, ``zh``.
    prompt : str
        Path of the user's own prompt file or folder.
    samples : int
        Judgements per item; a judge that is not a language model gives one.
    logprobs : int
        So many likeliest tokens are asked for at each place of a language model's reply, 0–20; where the endpoint gives them,
        a judgement has the ``probabilities`` of all labels, whose sum falls short of 1 by what is on other tokens.
    units : mapping, optional
        Item id → what it is about, where items are questions: under a budget all questions about one are asked together.
    documents : sequence of (str, str)
        Name and text of the data set's documents, which a judge that looks things up may search; others are not shown them.
    temperature, max_tokens, seed, options
        For a language model; ``options`` as in :func:`evalbench.models.chat.collect.collect`.

    Returns
    -------
    Judgements
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
        return offline.in_process(checked, by, chosen)
    if isinstance(by, Recording) or by.startswith(RECORDED):
        return offline.recorded(checked, by, chosen)
    if by == BASELINE:
        return offline.baseline(checked, chosen)
    if is_agent(by):
        from evalbench.judge.agent import loop

        how = loop.Asked(
            language=language,
            prompt=prompt,
            samples=samples,
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
            units=units or {},
            documents=documents,
        )
        return loop.judged(checked, by, chosen, how, options)
    if is_model_name(by):
        asked = _Asked(language, prompt, samples, temperature, max_tokens, seed, logprobs, units or {})
        return _language_model(checked, by, chosen, asked, options)
    return offline.cross_encoder(checked, by, chosen)


def _checked_items(items: Sequence[Item] | pd.DataFrame, task: Task) -> list[dict[str, Any]]:
    given = items if isinstance(items, Sequence) else cast("list[Item]", items.to_dict("records"))
    faults: list[str] = []
    seen: set[str] = set()
    for place, item in enumerate(given):
        name = item.get("id")
        if not isinstance(name, str) or not name:
            faults.append(f"item {place}: its id is {name!r}, not a text")
        elif name in seen:
            faults.append(f"item {place}: its id {name!r} appears twice")
        else:
            seen.add(name)
        for key in (*task.fields, *(k for k in task.optional if k in item)):
            fault = _field_fault(key, item.get(key), several=key in task.lists)
            if fault:
                faults.append(f"item {name!r}: {fault}")
    if faults:
        raise BadInput.listing(f"items for the task {task.name!r} need {', '.join(('id', *task.fields))}:", faults)
    return [{**dict.fromkeys(task.optional, ""), **item, **_as_lists(item, task)} for item in given]


def _field_fault(key: str, value: object, *, several: bool) -> str:
    if several and not isinstance(value, str):
        is_texts = isinstance(value, Sequence) and len(value) > 0 and all(isinstance(v, str) for v in value)
        return "" if is_texts else f"{key} is {value!r}, not a text or texts"
    return "" if isinstance(value, str) else f"{key} is {value!r}, not a text"


def _as_lists(item: Item, task: Task) -> dict[str, Any]:
    return {key: [item[key]] if isinstance(item[key], str) else list(item[key]) for key in task.lists if key in item}


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
    logprobs: int
    units: Mapping[str, str]


def _language_model(
    items: list[dict[str, Any]], by: str, task: Task, asked: _Asked, options: Mapping[str, Any]
) -> Judgements:
    from evalbench.models.accounting import accounting, calls_table
    from evalbench.models.chat.collect import collect
    from evalbench.models.chat.replay import judge_speaks
    from evalbench.models.exchange import Request, as_messages

    template = load_prompt(task.prompt or task.name, asked.language, asked.prompt or None)
    schema = reply_schema(task)
    requests = [
        Request(
            as_messages(template.render(**task.context, **{k: item[k] for k in (*task.fields, *task.optional)})),
            temperature=asked.temperature,
            max_tokens=asked.max_tokens,
            seed=asked.seed,
            logprobs=asked.logprobs,
            schema=schema,
            sample=sample,
            item_id=item["id"],
            purpose=task.name,
            prompt_hash=template.sha256,
            unit=asked.units.get(item["id"], ""),
            asked_at=judged_at(),
        )
        for item in items
        for sample in range(asked.samples)
    ]
    with judge_speaks(by):
        replies = collect(requests, by, **options)
    return Judgements(
        judge=by,
        task=task,
        rows=tuple(_of_reply(task, reply) for reply in replies),
        calls=calls_table(replies),
        accounting={
            **accounting(replies),
            "judge_prompts": [template.sha256],
            "judge_versions": sorted({reply.served_by for reply in replies if reply.served_by}),
        },
    )


def _of_reply(task: Task, reply: Reply) -> Judgement:
    item_id, sample = reply.request.item_id, reply.request.sample
    if reply.value is None:
        return Judgement(id=item_id, sample=sample, unscored=reply.unscored, detail=reply.detail)
    said = reply.value.model_dump(mode="json")
    label = str(said[task.answer]) if task.labels else ""
    parts = {name: said[name] for name in task.parts}
    likely = _likelihoods(task, reply)
    return labelled(
        task, item_id, label, sample=sample, reason=said.get("reason", ""), parts=parts, probabilities=likely
    )


def _likelihoods(task: Task, reply: Reply) -> tuple[float, ...]:
    """The probability of each label at the place of the verdict; empty where the reply has none."""
    if reply.logprobs is None or not task.labels:
        return ()
    from evalbench.models.chat.structured import option_probabilities

    return tuple(option_probabilities(reply, list(task.labels), after=f'"{task.answer}"').options.values())
