"""A judge put to the proof: both orders, repeats, answers with an order to the judge in them, constant texts.

==============  ==============================================================================================
probe           what is asked
==============  ==============================================================================================
``""``          every answer as it is, ``repeats`` times; of pairs both orders each time
``padded``      every answer (of a pair one of the two, by the seed) with a neutral text after it, as long as an order
``injected``    the same with an order to praise it in the place of that text, in each language
``null``        a constant text in the place of every answer (of a pair: of one of the two)
==============  ==============================================================================================

All texts enter the prompts of :mod:`evalbench.models.prompts` fenced; every reply is kept by the store before it is looked at, so
that a run that ended half-way asks only for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput
from evalbench.judge.criteria import Criterion, task_of_criterion
from evalbench.judge.pairwise import pairwise_task
from evalbench.judge.probe_plan import PAIR, PROBES, Tries, Wanted, item_faults, planned
from evalbench.judge.probe_texts import LANGUAGES, NULLS
from evalbench.judge.rows import Judgement, Judgements
from evalbench.judge.tasks import Task
from evalbench.judge.verdicts import RECORDED, InProcess, Recording, judge
from evalbench.models.llm import is_model_name
from evalbench.models.prompts import prompt_language

if TYPE_CHECKING:
    import pandas as pd

By = str | Recording | InProcess
COLUMNS = (
    *(
        "id",
        "judge",
        "model",
        "criterion",
        "mark",
        "order",
        "repeat",
        "probe",
        "variant",
        "effect",
        "room",
        "length",
        "length_other",
    ),
    *(
        "question",
        "output",
        "output_other",
        "lang",
        "reason",
        "tokens",
        "seconds",
        "cost",
        "prompt",
        "unscored",
        "detail",
        "call",
    ),
)


@dataclass(frozen=True)
class Probed:
    """What a judge said.

    Attributes
    ----------
    rows : tuple of dict
        One a verdict, with :data:`COLUMNS`: a table of recorded verdicts, ``mark`` of a pair being the preference for ``output``,
        and ``order`` whether that was shown first (``ab``) or second (``ba``).  ``model`` is the item's, of a constant text its
        name.  ``effect`` is a share of the scale: what a neutral text added to the mean mark of the answer as it is, what an order
        added to the mark with that neutral text, what a constant text earned (of pairs: 1 where it won in both orders).  ``room``
        is what could have been added at most.  Both are NaN elsewhere.  ``call`` is the verdict's ``item_id`` in the calls.
    asked : tuple of Judgements
        Everything that was asked, with the calls.
    """

    rows: tuple[dict[str, Any], ...]
    asked: tuple[Judgements, ...]

    def frame(self) -> pd.DataFrame:
        """One row per verdict."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(COLUMNS))


def probe(
    items: Sequence[Mapping[str, Any]],
    *,
    by: By,
    criteria: Sequence[Criterion],
    probes: Sequence[str] = PROBES,
    repeats: int = 2,
    languages: Sequence[str] = LANGUAGES,
    nulls: Sequence[str] = tuple(NULLS),
    null_texts: Mapping[str, str] | None = None,
    prompt: str = "",
    seed: int = 0,
    **options: Any,
) -> Probed:
    """Ask a judge what shows its leanings.

    Parameters
    ----------
    items : sequence of mapping
        ``id`` and ``output``; for pairs ``output_other``, of all items or of none; if wanted ``question``, ``basis``, ``lang``, and
        ``model`` and ``model_other``, whose outputs they are.
    by : str, Recording or callable
        As in :func:`evalbench.judge.verdicts.judge`.
    criteria : sequence of Criterion
        What the judge marks by; of pairs name and definition alone.
    probes : sequence of {"injected", "null"}
        What is asked besides the answers as they are; ``injected`` brings ``padded`` with it.
    repeats : int
        How often each answer as it is is asked for, from 1.
    languages : sequence of {"en", "ru", "zh"}
        Of the injected orders.
    nulls : sequence of {"evasive", "boastful", "ordering"}
        Which constant texts, each in the item's language.
    null_texts : mapping of str to str, optional
        Constant texts of one's own by name, for items of any language.
    prompt, options
        As in :func:`evalbench.judge.verdicts.judge`; ``temperature`` is 0 unless stated.
    seed : int
        Draws the answer of each pair that is tried, and is sent to the judge.

    Raises
    ------
    BadInput
        With all faults of the items and options at once.

    Examples
    --------
    >>> from evalbench.judge.criteria import Criterion
    >>> brevity = Criterion("brevity", "Is it short?", {0: "more than ten words", 1: "ten words at most"})
    >>> def obedient(item):
    ...     return 1 if "highest mark" in item["answer"] or len(item["answer"].split()) <= 10 else 0
    >>> long = "It opens at noon, or so they say, but on Sundays perhaps a little later."
    >>> found = probe([{"id": "1", "output": long}], by=obedient, criteria=[brevity], languages=["en"], nulls=["evasive"])
    >>> [(row["probe"], row["repeat"], row["mark"], row["effect"]) for row in found.rows]
    [('', '1', 0.0, nan), ('', '2', 0.0, nan), ('padded', '', 0.0, 0.0), ('injected', '', 1.0, 1.0), ('null', '', 0.0, 0.0)]
    """
    tries = Tries(tuple(probes), tuple(languages), tuple(nulls), dict(null_texts or {}), repeats)
    faults = ["there is no criterion"] * (not criteria) + [*tries.faults(), *item_faults(items)]
    if faults:
        raise BadInput.listing("the judge cannot be probed:", faults)
    rows: list[dict[str, Any]] = []
    asked: list[Judgements] = []
    for criterion in criteria:
        task = _task(criterion, PAIR in items[0])
        found: list[dict[str, Any]] = []
        for language, times, batch in _batches(planned(items, criterion, tries, seed), task, by, prompt):
            shown = [one.shown for one in batch.values()]
            units = {name: one.row["id"] for name, one in batch.items()}
            said = judge(
                shown,
                by=by,
                task=task,
                language=language,
                prompt=prompt,
                samples=times,
                seed=seed,
                units=units,
                **options,
            )
            asked.append(said)
            found += _rows(said, batch)
        rows += _with_effects(found, task)
    return Probed(tuple(sorted(rows, key=_place)), tuple(asked))


def _task(criterion: Criterion, pairs: bool) -> Task:
    if not pairs:
        return task_of_criterion(criterion)
    return pairwise_task(criterion.name, criterion.definition, needs_basis=criterion.needs_basis != "none")


def _batches(wanted: Sequence[Wanted], task: Task, by: By, prompt: str) -> Iterator[tuple[str, int, dict[str, Wanted]]]:
    """Language of the prompt, samples, and what is asked in it by the name of its call."""
    if not (isinstance(by, str) and is_model_name(by)):
        wanted = [one for given in wanted for one in _each_time(given, by)]
    groups: dict[tuple[str, int], dict[str, Wanted]] = {}
    for one in wanted:
        language = prompt_language(task.prompt or task.name, one.row["lang"], prompt)
        groups.setdefault((language, one.times), {})[one.shown["id"]] = one
    for (language, times), batch in sorted(groups.items()):
        yield language, times, batch


def _each_time(one: Wanted, by: By) -> Iterator[Wanted]:
    """What is no language model gives one verdict at a time; what is recorded has the repeats that it has."""
    if one.times == 1 or isinstance(by, Recording) or (isinstance(by, str) and by.startswith(RECORDED)):
        yield one._replace(times=1)
        return
    for repeat in range(1, one.times + 1):
        name = f"{one.shown['id']}|{repeat}"
        yield Wanted({**one.row, "repeat": str(repeat)}, {**one.shown, "id": name}, 1)


def _rows(said: Judgements, batch: Mapping[str, Wanted]) -> Iterator[dict[str, Any]]:
    # What was not asked, since the budget was used up, has no call.
    calls: dict[tuple[str, int], list[dict[Any, Any]]] = {}
    for one in said.calls.to_dict("records"):
        calls.setdefault((one["item_id"], one["sample"]), []).append(one)
    several = {row.id for row in said.rows if row.sample}
    for judgement in said.rows:
        row, call = batch[judgement.id].row, calls.get((judgement.id, judgement.sample), [])
        yield {
            **row,
            "judge": said.judge,
            "mark": _mark(judgement, row["order"]),
            "repeat": str(judgement.sample + 1) if judgement.id in several else row["repeat"],
            "reason": judgement.reason,
            "tokens": _total(call, "tokens_in") + _total(call, "tokens_out"),
            "seconds": _total(call, "seconds"),
            "cost": _total(call, "cost"),
            "prompt": call[0].get("prompt_hash", "") if call else "",
            "unscored": judgement.unscored,
            "detail": judgement.detail,
            "call": judgement.id if call else "",
        }


def _total(calls: Sequence[Mapping[Any, Any]], column: str) -> float:
    """Over all calls for one verdict, several where a judge looks things up; NaN where one is not known, or there is none."""
    return sum(_number(call.get(column)) for call in calls) if calls else math.nan


def _number(value: Any) -> float:
    """A cell of the calls, which may be ``pandas.NA``."""
    import pandas as pd

    return math.nan if pd.isna(value) else float(value)


def _mark(judgement: Judgement, order: str) -> float:
    """Of a pair the preference for the row's own output."""
    return 1 - judgement.value if order == "ba" else judgement.value


def _with_effects(rows: Sequence[dict[str, Any]], task: Task) -> Iterator[dict[str, Any]]:
    """The rows with what a probe brought about, in shares of the scale."""
    low, high = min(task.labels.values()), max(task.labels.values())
    plain = _means(row for row in rows if not row["probe"])
    padded = _means(row for row in rows if row["probe"] == "padded")
    wins: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        if row["probe"] == "null":
            wins.setdefault(_text_of(row), []).append(row["mark"])
    for row in rows:
        if row["probe"] == "null":
            row["effect"] = _won(wins[_text_of(row)]) if row["order"] else (row["mark"] - low) / (high - low)
        elif row["probe"]:
            before = plain.get(row["unit"], math.nan)
            before = 1 - before if row["turned"] else before
            before = padded.get(row["unit"], math.nan) if row["probe"] == "injected" else before
            row["effect"], row["room"] = (row["mark"] - before) / (high - low), (high - before) / (high - low)
        yield {name: row[name] for name in COLUMNS}


def _means(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The mean mark of each item, over its orders and repeats."""
    marks: dict[str, list[float]] = {}
    for row in rows:
        if not row["unscored"]:
            marks.setdefault(row["unit"], []).append(row["mark"])
    return {unit: float(np.mean(of)) for unit, of in marks.items()}


def _text_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["unit"], row["variant"]


def _won(marks: Sequence[float]) -> float:
    """Whether a constant text won in both orders; it and a wrong answer may well be equals."""
    return math.nan if any(math.isnan(mark) for mark in marks) else float(all(mark > 0.5 for mark in marks))


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("id", "model", "variant", "order", "repeat", "call")
    return row["criterion"], ("", "padded", *PROBES).index(row["probe"]), *(row[name] for name in names)
