"""The plan: which stages can run, on how many questions, and what they would cost, before any call."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from evalbench import core
from evalbench.judge import ranking, tasks
from evalbench.judge.agent.naming import model_behind
from evalbench.judge.criteria import task_of_criterion
from evalbench.models import accounting, llm, names, prompts
from evalbench.models.tokens import estimated
from evalbench.studies.cascade import marks_by_criteria, pairs, stages, state
from evalbench.text.sentences import sentences

LEAST_REPLY = 5
"""Tokens of the shortest reply."""
COLUMNS = (
    "stage", "name", "runs", "why", "questions_low", "questions_high", "calls_low", "calls_high", "input_tokens_low",
    "input_tokens_high", "output_tokens_low", "output_tokens_high",
)  # fmt: skip


REPEATS = 2
"""How often a question is repeated while its reply does not fit its form; the default of :func:`evalbench.models.chat.collect.collect`."""
NOTES = (
    "Cached calls are those whose replies the store already has, as far as stored replies lead; they cost nothing, and tokens and cost are "
    f"those of the others. The most tokens, and the highest cost, count every question as repeated {REPEATS} times because its reply "
    "does not fit; retries after failures are not counted.",
)
"""What a plan leaves out, for its readers."""


class Range(NamedTuple):
    """Of one question: calls, and tokens that are sent."""

    calls_low: float
    calls_high: float
    tokens_low: float
    tokens_high: float


class Known(NamedTuple):
    """What is certain before any call.

    - ``accounts``: Of the stages up to the first one that would send something.
    - ``left``: The questions that come to that one.
    - ``cached``: Requests of each stage that the store answers, also of later ones, as far as stored replies lead.
    """

    accounts: list[stages.Account]
    left: list[state.Case]
    parity: bool
    cached: Mapping[int, int]


def without_calls(setting: stages.Setting) -> Known:
    """What the stages that ask nobody decide."""
    course = stages.run(setting, ends_before=lambda number, _: setting.asks(number))
    return Known(course.accounts, course.left, course.parity, {})


def from_store(setting: stages.Setting) -> Known:
    """What they decide with the replies that the store has; functions as judges are not called for it."""
    desk = setting.desk
    everyone = [one for one in (desk.judge, desk.strong, desk.answerer) if one is not None]
    if not any(map(_is_asked, everyone)) or not all(isinstance(one, str) for one in everyone):
        return without_calls(setting)
    course = stages.run(setting, ends_before=lambda number, _: setting.asks(number))
    came: dict[int, list[state.Case]] = {}
    rounds: dict[int, list[core.dry.Round]] = {}
    with core.dry.noting("none") as noted:

        def begins(number: int, course: stages.Course) -> bool:
            came[number] = course.left
            noted.rounds = rounds[number] = []
            return False

        course = stages.run(setting, after=course, ends_before=begins)
    cached = {number: sum(one.cached for one in of) for number, of in rounds.items()}
    sends = [number for number, of in rounds.items() if any(one.to_send or one.not_asked for one in of)]
    if not sends:
        return Known(course.accounts, course.left, course.parity, cached)
    return Known(course.accounts[: sends[0] - 1], came[sends[0]], course.parity, cached)


def planned(setting: stages.Setting, known: Known | None = None) -> pd.DataFrame:
    """One row a stage, in the columns of :data:`COLUMNS`.

    Stages that ask nobody are run, so that the first one that asks has its exact number of questions; of those after it any number
    from none to all of these may be left.  With what is ``known`` from the store the first one is the first that sends something.
    """
    known = known or without_calls(setting)
    done = {account.number: account for account in known.accounts}
    left, first, rows = known.left, True, []
    for number, title in stages.STAGES:
        if number in done:
            account = done[number]
            runs = account.looked > 0
            calls = known.cached.get(number, 0)
            rows.append((number, title, runs, account.why, account.came, account.came, calls, calls, *[0] * 4))
            continue
        why = stages.PARITY if known.parity else stages.needs(number, setting)
        cases = [] if why else stages.looked_at(number, left, setting)
        why = why or ("" if cases else "no question that is left has what it needs")
        each = (
            costs(number, unlisted(cases, setting) if number == 4 else cases, setting) if setting.asks(number) else []
        )
        total = Range(*(sum(column) for column in zip(*each, strict=True))) if each else Range(0, 0, 0, 0)
        low = total if first and each and not (number == 9 and setting.stop_plan) else Range(0, 0, 0, 0)
        longest = setting.options["judge_max_tokens"]
        rows.append(
            (
                number, title, bool(cases), why, len(left) if first else 0, len(left), round(low.calls_low),
                round(total.calls_high), round(low.tokens_low), round(total.tokens_high), round(LEAST_REPLY * low.calls_low),
                round(longest * total.calls_high),
            )
        )  # fmt: skip
        first = first and not each
    return pd.DataFrame(rows, columns=list(COLUMNS))


def priced(plan: pd.DataFrame, setting: stages.Setting, cached: Mapping[int, int] = {}) -> pd.DataFrame:
    """The plan with its ``cached_calls``, the tokens of repeated questions, and ``cost_low`` and ``cost_high``: tokens × prices.

    Tokens are those of the calls that the store does not answer: of a stage, at its mean.  A cost is NaN where a model that may be
    asked has no price.

    Where a stage may ask two models, its range is from the cheaper one's least to the dearer one's most.  Recorded verdicts, and
    functions, cost nothing.
    """
    low: list[float] = []
    high: list[float] = []
    rows = []
    for row in plan.to_dict("records"):
        stored = cached.get(row["stage"], 0)
        row["why"] = row["why"] or checks_of(row, setting)
        asked = [one for one in asked_by(row["stage"], setting) if _is_asked(one)] if row["calls_high"] > stored else []
        if asked:  # each repetition sends the replies before it
            before = REPEATS * (REPEATS + 1) // 2
            row["input_tokens_high"] = row["input_tokens_high"] * (1 + REPEATS) + before * row["output_tokens_high"]
            row["output_tokens_high"] *= 1 + REPEATS
        for end in ("low", "high"):
            share = max(0.0, 1 - stored / row[f"calls_{end}"]) if row[f"calls_{end}"] else 1.0
            for name in ("input_tokens", "output_tokens"):
                row[f"{name}_{end}"] = round(share * row[f"{name}_{end}"])
        rows.append(row)
        for found, end, least in ((low, "low", min), (high, "high", max)):
            amounts = row[f"input_tokens_{end}"], row[f"output_tokens_{end}"]
            each = [accounting.cost(names.model(str(one)), *amounts) for one in asked]
            found.append(math.nan if None in each else least((one for one in each if one is not None), default=0.0))
    out = pd.DataFrame(rows, columns=plan.columns).assign(cost_low=low, cost_high=high)
    for place, end in enumerate(("low", "high"), [*out.columns].index("calls_high") + 1):
        out.insert(place, f"cached_calls_{end}", [cached.get(number, 0) for number in out["stage"]])
    out.attrs["notes"] = NOTES
    return out


def unlisted(cases: Sequence[state.Case], setting: stages.Setting) -> list[state.Case]:
    """Those that stage 4 asks about: its list of forbidden words does not decide them."""
    decided = marks_by_criteria.without_facts(cases, setting.desk, ()).decided
    return [case for case in cases if case.id not in decided]


def checks_of(row: Mapping[Any, Any], setting: stages.Setting) -> str:
    """The checks of a stage that has several, with the calls of each."""
    number = row["stage"]
    criteria = setting.free if number == 4 else setting.factual if number == 8 and setting.graph is None else ()
    low, high = (row[f"calls_{end}"] // max(len(criteria), 1) for end in ("low", "high"))
    listed = ["forbidden words, a list, no calls"] if number == 4 and setting.options["forbidden"] else []
    calls = f"{low:,} calls" if low == high else f"{low:,}–{high:,} calls"
    return "; ".join([*listed, *(f"{c.name}, {calls}" for c in criteria if setting.asks(number))])


def asked_by(number: int, setting: stages.Setting) -> tuple[state.By | None, ...]:
    """Whom a stage asks, or may ask."""
    desk = setting.desk
    if number == 7:
        return (desk.answerer, *([desk.judge] if setting.reads_truth else []))
    if number == 9:
        return (desk.strong, *([desk.judge] if setting.options["promise"] else []))
    return (desk.judge, *([desk.answerer] if number == 12 else []))


def costs(number: int, cases: Sequence[state.Case], setting: stages.Setting) -> list[Range]:
    """What a stage costs for each question; a ranking for each group of duplicates."""
    if number != 10:
        return [of_case(number, case, setting) for case in cases]
    left = {case.id for case in cases}
    return [
        of_group([setting.every[name] for name in group], setting)
        for group in pairs.groups_of(setting.same)
        if left & set(group)
    ]


def of_group(group: Sequence[state.Case], setting: stages.Setting) -> Range:
    """What the ranking of all answers of a group costs."""
    first, options, small = group[0], setting.options, is_small(10, setting)
    tokens = functools.partial(estimated, small=small)
    n = len(ranking.orders_of(2 * len(group), orders=options["n_orders"], seed=options["seed"], item_id=first.id))
    shown = sum(tokens(one.a) + tokens(one.b) for one in group) + max(tokens(one.basis) for one in group)
    return _fixed(n, n * (_frame_of("ranking", first.lang, small) + tokens(first.question) + shown))


def of_case(number: int, case: state.Case, setting: stages.Setting) -> Range:
    """What a stage costs for one question."""
    options, desk, small = setting.options, setting.desk, is_small(number, setting)
    tokens = functools.partial(estimated, small=small)
    answers = tokens(case.a) + tokens(case.b)
    question = tokens(case.question)
    if number in (5, 6):
        basis = tokens(case.reference) if number == 5 else sum(map(tokens, case.relevant))
        return _fixed(2, 2 * (_frame(tasks.CORRECTNESS, case, small) + question + basis) + answers)
    if number == 7:
        own = _frame_of("strong_answer", case.lang, small) + question
        if not setting.reads_truth:
            return _fixed(1, own)
        more = 2 * (_frame(tasks.CORRECTNESS, case, small) + question) + answers
        return Range(1, 3, own, own + more + 2 * options["judge_max_tokens"])
    if number in (4, 8):
        criteria = setting.free if number == 4 else setting.factual
        basis = 0 if number == 4 else tokens(marks_by_criteria.basis_of(case))
        if number == 8 and setting.graph is not None:
            deep = len(setting.graph.nodes)
            frames = [_frame(node.task, case, small) for node in setting.graph.nodes.values()]
            return Range(
                2,
                2 * deep,
                2 * (min(frames) + question),
                sum(2 * (f + question + basis) + answers for f in frames) + 2 * deep * options["judge_max_tokens"],
            )
        per = sum(2 * (_frame(task_of_criterion(c), case, small) + question + basis) + answers for c in criteria)
        most = options["geval_samples"] + 1 if _is_asked(desk.judge) else 1
        return Range(2 * len(criteria), 2 * len(criteria) * most, per, 1.6 * per * most)
    if number == 9:
        sent = 2 * (_frame(pairs.task_of(setting.criteria), case, small) + question + answers + tokens(case.basis))
        if options["promise"]:  # of the cheap judge alone, or of both
            return Range(2, 4, 0.7 * sent, 2.8 * sent)
        return _fixed(2, sent)
    if number == 11:
        said = sum(len(sentences(case.answer(side), case.lang)) + 1 for side in state.SIDES)
        least, most = 2 * (1 + len(case.facts)), 2 * (1 + len(case.facts)) + 4 * said
        frame = _frame_of("support", case.lang, small) + _frame_of("claims", case.lang, small)
        facts = sum(map(tokens, case.facts))
        return Range(least, most, least * 40, most * (frame + question + answers + facts))
    n = options["n_questions"]
    frame = _frame_of("closed_questions", case.lang, small) + _frame_of("closed_answer", case.lang, small)
    return Range(2, 2 + 2 * n, 80, (2 + 2 * n) * (frame + question + answers))


def _fixed(calls: int, sent: float) -> Range:
    return Range(calls, calls, 0.7 * sent, 1.4 * sent)


def _is_asked(by: state.By | None) -> bool:
    return isinstance(by, str) and llm.is_model_name(model_behind(by))


def is_small(number: int, setting: stages.Setting) -> bool:
    """Whether a stage asks a local model, whose small vocabulary makes more tokens of a text."""
    return any(isinstance(one, str) and one.startswith(("local/", "local:")) for one in asked_by(number, setting))


def _frame(task: tasks.Task, case: state.Case, small: bool) -> int:
    """Tokens of a prompt without its texts."""
    return _frame_of(task.prompt or task.name, case.lang, small, task.context)


def _frame_of(name: str, lang: str, small: bool, context: Mapping[str, Any] = {}) -> int:
    return _blank_prompt(name, lang, small, json.dumps(context, ensure_ascii=False, default=str))


@functools.cache
def _blank_prompt(name: str, lang: str, small: bool, context: str) -> int:
    blank = {
        "question": " ", "answer": " ", "basis": " ", "first": " ", "second": " ", "gold": [" "], "answers": [], "sentences": [],
        "passages": [], "statement": " ", "n": 1, "criterion": "", "definition": "", "scale": [], "examples": [], "notes": [],
        "choices": [], "ask": "", "steps": [],
    }  # fmt: skip
    template = prompts.load_prompt(name, prompts.prompt_language(name, lang, ""), None)
    return estimated(template.render(**{**blank, **json.loads(context)}), small=small)
