"""The thirteen stages in their order: what each needs, what it is run on, and the account of the whole course."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evalbench import core, kit
from evalbench.judge import dag, entail
from evalbench.judge.criteria import Criterion
from evalbench.studies.cascade import (
    bases,
    facts,
    marks_by_criteria,
    naive_checks,
    pairs,
    people,
    promised_agreement,
    same_answers,
    state,
    stopping_early,
    truth,
)

LEAST_LABELLED = 10
"""A stage is checked against people's labels where it decided so many labelled questions."""
PER_PAIR = 2
"""Calls that a strong judge needs for one pair, asked in both orders."""
FIRST_CHECKED = 5
"""From this stage on, one that differs from people's labels hands its questions on."""
BY_PEOPLE = ("labels-as-truth", "labels-of-duplicates")
"""Labels of decisions that people's labels gave, which these cannot check."""
PARITY = "parity: the answers differ on too few questions to matter"
NO_JUDGE = "no judge is named"
NO_STRONG = "no judge of pairs is named"
NO_ANSWERER = "no model that answers questions is named (answerer)"


class Stage(NamedTuple):
    """One stage."""

    number: int
    title: str


STAGES = tuple(
    Stage(number, title)
    for number, title in enumerate(
        (
            "naive checks", "same answers", "labels of duplicates", "criteria without facts", "ground truth", "relevant chunks",
            "a strong model's answer", "marks with facts", "pairs", "ranking with duplicates", "must-have facts",
            "closed questions", "annotators",
        ),
        1,
    )
)  # fmt: skip
TITLES: Mapping[int, str] = {stage.number: stage.title for stage in STAGES}


@dataclass(frozen=True)
class Setting:
    """Everything that the stages need beside the undecided questions.

    - ``same``: Duplicates of each question.
    - ``free``, ``factual``, ``criteria``: Those that need no basis, those that do, and all.
    - ``chosen``: Stages that may run.
    - ``stop_plan``: Where pairs are asked until the evidence decides.
    - ``beside``: What else is in ``plan.json``.
    """

    desk: state.Desk
    every: Mapping[str, state.Case]
    same: Mapping[str, Sequence[str]]
    free: tuple[Criterion, ...]
    factual: tuple[Criterion, ...]
    criteria: tuple[Criterion, ...]
    graph: dag.Dag | None
    returned: Mapping[str, state.Preference]
    labels_agree: bool
    chosen: frozenset[int]
    stop_plan: kit.stopping.Plan | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> Mapping[str, Any]:
        return self.desk.options

    @property
    def reads_truth(self) -> bool:
        """Whether stages 5 and 6 ask the judge."""
        return bool(self.options["truth_by"] != entail.BASELINE)

    def asks(self, number: int) -> bool:
        """Whether a stage asks a model."""
        if number in (5, 6):
            return self.reads_truth
        if number == 4:
            return bool(self.free) and self.desk.judge is not None
        return number in (7, 8, 9, 10, 11, 12)


def needs(number: int, setting: Setting) -> str:
    """Why a stage cannot run with what is at hand; empty where it can."""
    desk, quality, cases = setting.desk, setting.options["basis_quality"], list(setting.every.values())
    if number not in setting.chosen:
        return "not chosen (stages)"
    bad = {5: "ground_truth", 6: "chunks", 8: "dictionary", 11: "facts"}.get(number, "")
    if quality.get(bad) == bases.BAD:
        return f"the basis {bad} is stated to be bad (basis_quality)"
    reads = NO_JUDGE if setting.reads_truth and desk.judge is None else ""
    judges = NO_JUDGE if desk.judge is None else ""
    if number == 3:
        labelled = any(case.marks for case in cases)
        return "no answer has a label" if not labelled else "" if setting.same else "no two questions are duplicates"
    if number == 4:
        if setting.options["forbidden"]:
            return ""
        return "the task has no criterion without facts (criteria)" if not setting.free else judges
    if number == 5:
        if setting.labels_agree:
            return ""
        return "no question has a ground truth" if not any(case.reference for case in cases) else reads
    if number == 6:
        return (
            "no question has chunks that are labelled relevant" if not any(case.relevant for case in cases) else reads
        )
    if number == 7:
        return NO_ANSWERER if desk.answerer is None else reads
    if number == 8:
        if not any(marks_by_criteria.basis_of(case) for case in cases):
            return "no question has entries of a dictionary, or chunks"
        return (
            "the task has no criterion that needs facts (criteria)"
            if not (setting.factual or setting.graph)
            else judges
        )
    if number == 9:
        return NO_STRONG if desk.strong is None else ""
    if number == 10:
        return "no two questions are duplicates" if not setting.same else judges
    if number == 11:
        return "no question has a list of must-have facts" if not any(case.facts for case in cases) else judges
    if number == 12:
        return judges or (NO_ANSWERER if desk.answerer is None else "")
    if number == 13:
        return (
            ""
            if setting.returned or any(case.people for case in cases)
            else "no labels yet: the rest is in to_label.csv"
        )
    return ""


def looked_at(number: int, cases: Sequence[state.Case], setting: Setting) -> list[state.Case]:
    """Those of the questions that have what a stage needs."""
    has: Mapping[int, Callable[[state.Case], object]] = {
        3: lambda case: case.id in setting.same,
        5: lambda case: case.reference or (setting.labels_agree and case.people),
        6: lambda case: case.relevant,
        8: marks_by_criteria.basis_of,
        10: lambda case: case.id in setting.same,
        11: lambda case: case.facts,
        13: lambda case: case.people or case.id in setting.returned,
    }
    return [case for case in cases if has[number](case)] if number in has else list(cases)


def found_by(
    number: int, cases: Sequence[state.Case], setting: Setting, decided: Mapping[str, tuple[int, state.Decision]]
) -> state.Found:
    """What a stage finds on these questions, after what was decided before it."""
    desk, plan = setting.desk, setting.stop_plan
    if number == 9 and setting.options["promise"]:
        return promised_agreement.by_escalation(cases, desk, setting.criteria)
    if number == 9 and plan is not None:
        ask = functools.partial(pairs.by_pairs, desk=desk, criteria=setting.criteria)
        return stopping_early.until_decided(cases, plan, decided, ask, setting.beside)
    if number == 5:
        labelled = truth.of_labels(cases, desk) if setting.labels_agree else state.Found()
        rest = [case for case in cases if case.id not in labelled.decided]
        ambiguous = setting.options["basis_quality"].get("ground_truth") == bases.AMBIGUOUS
        usable = any(case.reference for case in rest) and not (setting.reads_truth and desk.judge is None)
        found = truth.against_truth(rest, desk, ambiguous=ambiguous) if usable else state.Found()
        found.decided = {**labelled.decided, **found.decided}
        return found
    run: Mapping[int, Callable[[], state.Found]] = {
        1: lambda: naive_checks.naive(cases, desk),
        2: lambda: same_answers.tied(cases, desk),
        3: lambda: same_answers.propagated(cases, desk, setting.every, setting.same),
        4: lambda: marks_by_criteria.without_facts(cases, desk, setting.free),
        6: lambda: truth.against_chunks(cases, desk),
        7: lambda: truth.against_strong(cases, desk),
        8: lambda: marks_by_criteria.with_facts(cases, desk, setting.factual, setting.graph),
        9: lambda: pairs.by_pairs(cases, desk, setting.criteria),
        10: lambda: pairs.by_ranking(cases, desk, setting.criteria, setting.every, setting.same),
        11: lambda: facts.by_facts(cases, desk),
        12: lambda: facts.by_closed_questions(cases, desk),
        13: lambda: people.annotated(cases, desk, setting.returned),
    }
    return run[number]()


@dataclass(frozen=True)
class Account:
    """One row of the table of stages.

    - ``came``, ``looked``, ``decided``, ``left``: Questions that came, that it could look at, that it decided, that
      went on.
    - ``calls``, ``saved``: Calls made; calls that asking about each decided pair in both orders would have cost, less
      those.
    - ``agreement``: Share of the decided questions with labels on which people say the same.
    - ``why``: Why it did not run, or handed on what it had decided.
    - ``not_asked``: Questions that stopping early left out.
    """

    number: int
    title: str
    came: int
    looked: int
    decided: int
    left: int
    calls: int = 0
    saved: int = 0
    agreement: float | None = None
    labelled: int = 0
    why: str = ""
    not_asked: int = 0


@dataclass
class Course:
    """The whole way of all questions.

    - ``decided`` (dict of id to (int, Decision)): With the stage that decided it.
    - ``equal``: The last evidence of no difference.
    - ``failed`` (dict of id to (str, str)): Of questions that no stage could judge: the last reason.
    - ``handed_on`` (dict of id to (int, Decision)): What was decided against people's labels.
    - ``not_asked``: Questions that stopping early left out.
    """

    decided: dict[str, tuple[int, state.Decision]] = field(default_factory=dict)
    instrument: dict[str, str] = field(default_factory=dict)
    accounts: list[Account] = field(default_factory=list)
    equal: dict[str, str] = field(default_factory=dict)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)
    quality: dict[str, tuple[float, float]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    asked: list[Any] = field(default_factory=list)
    contradictions: list[tuple[str, int, str]] = field(default_factory=list)
    parity: bool = False
    left: list[state.Case] = field(default_factory=list)
    handed_on: dict[str, tuple[int, state.Decision]] = field(default_factory=dict)
    stopped: kit.stopping.Stopped | None = None
    not_asked: set[str] = field(default_factory=set)
    escalated: promised_agreement.Escalated | None = None


def run(
    setting: Setting, *, after: Course | None = None, ends_before: Callable[[int, Course], bool] | None = None
) -> Course:
    """Take all questions through the stages.

    - ``after``: One that ended early: it goes on.
    - ``ends_before``: Asked before each stage that can run, with its number and the course so far; where it is true,
      the course ends.
    """
    course = after or Course(left=list(setting.every.values()))
    for stage in STAGES[len(course.accounts) :]:
        why = needs(stage.number, setting)
        if course.parity and stage.number > 2:
            why = PARITY
        if not why and ends_before is not None and ends_before(stage.number, course):
            break
        course.left = _step(stage, course.left, setting, course, why)
        if stage.number == 2:
            course.parity = _parity(course, len(setting.every), setting)
    return course


def _step(stage: Stage, came: list[state.Case], setting: Setting, course: Course, why: str) -> list[state.Case]:
    """One stage; the questions that go on."""
    cases = [] if why else looked_at(stage.number, came, setting)
    if not cases:
        why = why or ("no question is left" if not came else "no question that is left has what it needs")
        course.accounts.append(Account(stage.number, stage.title, len(came), 0, 0, len(came), why=why))
        return came
    core.progress.at(f"stage {stage.number}, {stage.title}", len(course.decided), len(setting.every))
    found = found_by(stage.number, cases, setting, course.decided)
    found.counted(cases)
    share, labelled = _agreement(stage.number, cases, found)
    least = setting.options["min_agreement"]
    if share is not None and share < least and FIRST_CHECKED <= stage.number < STAGES[-1].number:
        said = f"agrees with people on {share:.0%} of {labelled} labelled questions, less than {least:.0%}"
        if labelled < LEAST_LABELLED:
            why = f"{said}; fewer than {LEAST_LABELLED} are too few to hand on what it decided"
        else:
            why = f"{said}: all go on"
            course.handed_on |= {name: (stage.number, d) for name, d in found.decided.items()}
            course.equal |= dict.fromkeys(found.decided, f"stage {stage.number} differs from people's labels")
            found.decided, found.not_asked, found.stopped = {}, (), None
    course.stopped = found.stopped or course.stopped
    course.not_asked |= set(found.not_asked)
    course.escalated = found.escalated or course.escalated
    course.decided |= {name: (stage.number, d) for name, d in found.decided.items()}
    course.instrument |= dict.fromkeys(found.decided, found.instrument)
    course.equal |= found.equal
    course.failed = {**course.failed, **found.failed}
    course.quality |= found.quality
    course.asked += found.asked
    course.contradictions += [(name, stage.number, said) for name, said in found.contradictions]
    for name, n in found.calls.items():
        course.calls[name] = course.calls.get(name, 0) + n
    gone = found.decided.keys() | set(found.not_asked)
    left = [case for case in came if case.id not in gone]
    n, calls, spared = len(found.decided), found.n_calls, len(found.not_asked)
    saved = PER_PAIR * (n + spared) - calls
    looked = len(cases) - spared
    course.accounts.append(
        Account(stage.number, stage.title, len(came), looked, n, len(left), calls, saved, share, labelled, why, spared)
    )
    return left


def _agreement(number: int, cases: Sequence[state.Case], found: state.Found) -> tuple[float | None, int]:
    """On which share of the labelled questions that a stage decided people say the same."""
    if number == STAGES[-1].number:
        return None, 0
    both = [
        (found.decided[case.id].outcome, case.people.outcome)
        for case in cases
        if case.people and case.id in found.decided and found.decided[case.id].label not in BY_PEOPLE
    ]
    return (sum(a == b for a, b in both) / len(both), len(both)) if both else (None, 0)


def _parity(course: Course, n: int, setting: Setting) -> bool:
    """Whether losing every question on which the answers differ would not matter."""
    margin = setting.options["margin"]
    ties = sum(d.outcome == "tie" for _, d in course.decided.values())
    return bool(2 in setting.chosen and n and margin and (n - ties) / n < margin)
