"""What the cascade passes from stage to stage: questions, decisions, and what a stage found and spent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from evalbench import kit
from evalbench.judge import rows, verdicts

By = str | verdicts.Recording | verdicts.InProcess
Outcome = Literal["a", "b", "tie", "set-aside"]
SCORES: Mapping[str, float] = {"a": 1.0, "b": -1.0, "tie": 0.0}
SIDES = ("a", "b")


class Preference(NamedTuple):
    """What people prefer of one question's answers.

    - ``outcome`` ({"a", "b", "tie"})
    - ``n``: Annotators behind it.
    - ``divided``: Whether as many of them find the one better as the other.
    """

    outcome: Outcome
    n: int
    divided: bool = False


@dataclass(frozen=True)
class Case:
    """One question, both answers, and what they can be judged against.

    - ``reference``: The ground truth; empty where there is none.
    - ``relevant``: Chunks that are labelled relevant.
    - ``contexts``: Chunks without labels.
    - ``facts``: Facts that an answer must have.
    - ``dictionary``: Entries of the fact dictionary whose term the question has.
    - ``suspect``: Sides whose query was classified wrongly.
    - ``marks``: Side → the mean mark that people gave this answer.
    """

    id: str
    question: str
    a: str
    b: str
    lang: str
    reference: str = ""
    relevant: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    dictionary: tuple[str, ...] = ()
    suspect: tuple[str, ...] = ()
    people: Preference | None = None
    marks: Mapping[str, float] = field(default_factory=dict)

    def answer(self, side: str) -> str:
        return self.a if side == "a" else self.b

    @property
    def basis(self) -> str:
        """Everything at hand that a judge may rest on, as one text."""
        return "\n".join(filter(None, [self.reference, *self.facts, *self.relevant, *self.dictionary, *self.contexts]))


@dataclass(frozen=True)
class Decision:
    """Win, loss or tie of one question, and why.

    - ``outcome`` ({"a", "b", "tie", "set-aside"})
    - ``label``: Its kind, such as ``both-failed``.
    - ``quality_a``, ``quality_b``: What the stage says of each answer by itself, 0–1; NaN where it only compares.
    """

    outcome: Outcome
    label: str = ""
    evidence: str = ""
    quality_a: float = math.nan
    quality_b: float = math.nan


@dataclass
class Found:
    """What one stage found.

    - ``equal``: Questions that it looked at without finding a difference, with the evidence.
    - ``failed`` (dict of id to (str, str)): Questions on which its instrument failed: reason and detail.
    - ``quality`` (dict of id to (float, float)): Of questions that it did not decide.
    - ``instrument``: What decided: ``baseline/lexical``, a judge's name, or empty where nothing but the texts did.
    - ``contradictions`` (list of (str, str)): Question and what contradicts what.
    - ``stopped``: Where asking stopped early.
    - ``not_asked``: Questions that were then left out.
    - ``escalated``: Where pairs went from judge to judge.
    """

    decided: dict[str, Decision] = field(default_factory=dict)
    equal: dict[str, str] = field(default_factory=dict)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)
    quality: dict[str, tuple[float, float]] = field(default_factory=dict)
    asked: list[rows.Judgements] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    instrument: str = ""
    contradictions: list[tuple[str, str]] = field(default_factory=list)
    stopped: kit.stopping.Stopped | None = None
    not_asked: tuple[str, ...] = ()
    escalated: Any = None

    def add(self, other: Found) -> None:
        """Take in what was found on other questions."""
        self.decided |= other.decided
        self.equal |= other.equal
        self.failed |= other.failed
        self.quality |= other.quality
        self.asked += other.asked
        self.contradictions += other.contradictions
        self.instrument = other.instrument

    @property
    def n_calls(self) -> int:
        return sum(len(one.calls) for one in self.asked)

    def counted(self, cases: Sequence[Case]) -> None:
        """Count the calls of each question; a call that several share counts for the first."""
        known = {case.id for case in cases}
        self.calls = {}
        for one in self.asked:
            for item_id in one.calls["item_id"]:
                name = str(item_id)
                while name not in known and "/" in name:
                    name = name.rpartition("/")[0]
                if name in known:
                    self.calls[name] = self.calls.get(name, 0) + 1


@dataclass(frozen=True)
class Desk:
    """Who is asked, and every option of the run.

    - ``judge``, ``strong``, ``answerer``: Who marks; who compares pairs; who answers questions.
    - ``settings``: Of a language model.
    - ``options``: The study's options.
    """

    judge: By | None
    strong: By | None
    answerer: By | None
    prompt: str
    settings: Mapping[str, Any]
    options: Mapping[str, Any]


def compared(a: float, b: float, least: float = 1e-9) -> Outcome:
    """Which of two qualities is higher, by more than ``least``.

    Examples
    --------
    >>> compared(1.0, 0.0), compared(0.0, 0.5), compared(0.5, 0.5)
    ('a', 'b', 'tie')
    """
    return "a" if a - b > least else "b" if b - a > least else "tie"


def by_language(cases: Sequence[Case], prompts: Sequence[str], folder: str) -> dict[str, list[Case]]:
    """The cases by the language in which all these prompts exist, English otherwise."""
    from evalbench.models.prompts import prompt_language

    spoken = {
        lang: lang if all(prompt_language(name, lang, folder) == lang for name in prompts) else "en"
        for lang in {case.lang for case in cases}
    }
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(spoken[case.lang], []).append(case)
    return dict(sorted(found.items()))
