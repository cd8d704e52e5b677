"""One judge of a run: each distinct question is asked once, in the item's language where the prompt exists in it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.errors import BadInput
from evalbench.judge.agent.naming import model_behind
from evalbench.judge.offline import RECORDED
from evalbench.judge.tasks import Task, task_of
from evalbench.judge.verdicts import InProcess, Judgement, Judgements, Recording, judge, judge_name
from evalbench.models.accounting import merged
from evalbench.models.llm import is_model_name
from evalbench.models.prompts import prompt_language

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.dataset import Dataset


OWN_TABLE = "recorded"
"""The judge whose verdicts are a table of the data set."""


def asks_a_model(judge: object) -> bool:
    """Whether a judge is a model or a function, whose calls are counted and limited in one place; others compare texts or are recorded.

    Examples
    --------
    >>> asks_a_model("openai/gpt-4o"), asks_a_model("recorded:verdicts.jsonl"), asks_a_model("baseline/lexical")
    (True, False, False)
    """
    if not isinstance(judge, str):
        return True
    recorded = judge == OWN_TABLE or judge.startswith(RECORDED)
    return not recorded and is_model_name(model_behind(judge))


def own_verdicts(data: Dataset, others: str) -> pd.DataFrame:
    """The table ``verdicts`` of a data set, which ``judge='recorded'`` reads.

    - ``others``: Which judges there are besides chat models.

    Raises ``BadInput`` if the data set has none.
    """
    table = data.get("verdicts")
    if table is None:
        raise BadInput(
            "judge='recorded' reads the verdicts of the data set, which has no table verdicts: give one (-p verdicts=FILE), or "
            f"another judge: a chat model (openai/MODEL, local/smollm2-135m), {others}"
        )
    return table


class Question(NamedTuple):
    """What a judge is asked.

    Attributes
    ----------
    fields : mapping
        The fields of the judge's task.
    lang : str
        The item's language; it chooses the prompt.
    id : str
        The question's name in the calls and in ``recorded:FILE``; by default a hash of what is asked.
    unit : str
        The item that it is about: under a budget an item's questions are asked together, in the order of the items.
    """

    fields: Mapping[str, Any]
    lang: str = "en"
    id: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Heard:
    """Everything that a judge was asked.

    Attributes
    ----------
    judge : str
        Its name; ``function:NAME`` for a function.
    answers : tuple of (Question, Judgement)
        Each distinct question once, sorted by the judgement's id.
    calls : tuple of DataFrame
        For the table ``calls``; empty where nothing was asked.
    accounting : mapping
        For ``Result.accounting``; empty where nothing was asked.
    """

    judge: str
    answers: tuple[tuple[Question, Judgement], ...]
    calls: tuple[pd.DataFrame, ...]
    accounting: Mapping[str, Any]


class Docket:
    """The questions to one judge, asked in as many rounds as a study needs; :meth:`heard` returns all of them.

    Parameters
    ----------
    by : str, Recording or callable
        As in :func:`evalbench.judge.verdicts.judge`.
    prompt : str
        A prompt file or folder of one's own.
    settings
        Of a language model: ``seed``, ``max_tokens``, …

    Examples
    --------
    >>> docket = Docket("baseline/lexical")
    >>> question = Question({"premise": "It makes 12 juices.", "hypothesis": "It makes twelve juices."})
    >>> [judgement.label for judgement in docket.ask("entailment", [question, question])]
    ['ENTAILMENT', 'ENTAILMENT']
    >>> docket.heard().accounting["calls"]
    1
    """

    def __init__(self, by: str | Recording | InProcess, *, prompt: str = "", **settings: Any) -> None:
        self.by, self.prompt, self.settings = by, prompt, settings
        self._known: dict[str, tuple[Question, Judgement]] = {}
        self._rounds: list[Judgements] = []
        self._units: dict[str, set[str]] = {}

    def ask(self, task: str | Task, questions: Sequence[Question]) -> list[Judgement]:
        """A judgement per question, in their order; the judge is asked only what it was not asked before."""
        chosen = task_of(task)
        name = chosen.prompt or chosen.name
        spoken = {lang: prompt_language(name, lang, self.prompt) for lang in {q.lang for q in questions}}
        keys = [_key(chosen, spoken[q.lang], q) for q in questions]
        for key, question in zip(keys, questions, strict=True):
            if question.unit:
                self._units.setdefault(question.id or key, set()).add(question.unit)
        new = {k: q for k, q in zip(keys, questions, strict=True) if k not in self._known}
        for language in sorted({spoken[q.lang] for q in new.values()}):
            batch = {q.id or k: (k, q) for k, q in new.items() if spoken[q.lang] == language}
            items = [{**q.fields, "id": name} for name, (_, q) in sorted(batch.items())]
            units = {name: q.unit for name, (_, q) in batch.items() if q.unit}
            settings = {**self.settings, "language": language, "prompt": self.prompt, "units": units}
            found = judge(items, by=self.by, task=chosen, **settings)
            self._rounds.append(found)
            for judgement in found.rows:
                key, question = batch[judgement.id]
                self._known[key] = (question, judgement)
        return [self._known[k][1] for k in keys]

    def heard(self) -> Heard:
        """Everything that was asked so far."""
        return Heard(
            judge=judge_name(self.by),
            answers=tuple(sorted(self._known.values(), key=lambda pair: pair[1].id)),
            calls=tuple(self._with_units(found.calls) for found in self._rounds if len(found.calls)),
            accounting=merged(found.accounting for found in self._rounds),
        )

    def _with_units(self, calls: pd.DataFrame) -> pd.DataFrame:
        """With a column ``asked_for``: the items whose verdicts rest on a call, where its name does not say so."""
        if not self._units:
            return calls
        return calls.assign(asked_for=calls["item_id"].map(lambda name: sorted(self._units.get(name, ()))))


def _key(task: Task, language: str, question: Question) -> str:
    """A hash that depends on what is asked alone, and on the question's name where it has one."""
    told = [task.name, language, *(str(question.fields[name]) for name in sorted(question.fields))]
    if task.context or question.id:
        told += [json.dumps(task.context, sort_keys=True, default=str), question.id]
    return hashlib.sha256("\x1f".join(told).encode("utf-8", "replace")).hexdigest()[:16]


def contradictions(
    docket: Docket, premises: Sequence[str], hypotheses: Sequence[str], language: str = "en"
) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Whether each premise contradicts its hypothesis, and why the judge gave no judgement where it gave none.

    Returns
    -------
    values : (n,) array
        Of a judge that gives the probability of every label P(contradiction) / (P(entailment) + P(contradiction)), as
        SelfCheckGPT-NLI does; of others 1 for a contradiction, else 0. NaN where there is no judgement.
    unscored : list of str
        Empty where there is one.

    Examples
    --------
    >>> docket = Docket(lambda item: "NEUTRAL" if item["premise"] == item["hypothesis"] else "CONTRADICTION")
    >>> contradictions(docket, ["It rains.", "It rains."], ["It rains.", "It does not rain."])[0].tolist()
    [0.0, 1.0]
    """
    pairs = zip(premises, hypotheses, strict=True)
    found = docket.ask("entailment", [Question({"premise": p, "hypothesis": h}, language) for p, h in pairs])
    return np.array([p_contradiction(judgement) for judgement in found], float), [j.unscored for j in found]


def p_contradiction(judgement: Judgement) -> float:
    """See :func:`contradictions`."""
    if judgement.unscored:
        return math.nan
    if not judgement.probabilities:
        return float(judgement.label == "CONTRADICTION")
    entailed, _, contradicted = judgement.probabilities
    return contradicted / (entailed + contradicted) if entailed + contradicted > 0 else 0.0


def contradictions_table(heard: Heard) -> pd.DataFrame:
    """One row per pair: call, passage, statement, label, p_contradiction, reason, unscored; sorted by the texts."""
    import pandas as pd

    rows = [
        (j.id, q.fields["premise"], q.fields["hypothesis"], j.label, p_contradiction(j), j.reason, j.unscored)
        for q, j in heard.answers
    ]
    columns = ["call", "passage", "statement", "label", "p_contradiction", "reason", "unscored"]
    table = pd.DataFrame(rows, columns=columns).astype({"p_contradiction": float})
    return table.sort_values(["passage", "statement"], kind="stable", ignore_index=True)
