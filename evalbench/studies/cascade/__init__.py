"""Is one model better than another, worse, or the same, at the least cost?

Input: questions, the answers of two models, and whatever these can be judged against: ground truths, chunks with or without labels of
their relevance, must-have facts, a dictionary of facts, classes of the questions, labels that people gave to some answers.

Thirteen stages (method document ``handbook``), each of which decides some of the questions and hands the rest on, those that cost
nothing first: naive checks, equal answers, labels of duplicates, criteria without facts, ground truth, relevant chunks, a strong model's
answer, marks with facts, pairs, ranking, must-have facts, closed questions, annotators.  Figures: the advantage of A with a paired test and the
bounds that open questions leave, the quality of each model, calls made and saved.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from evalbench import core, kit, readers
from evalbench.judge import dag, entail, verdicts
from evalbench.models.accounting import embeddings_counted
from evalbench.studies.cascade import (
    bases,
    cost,
    inputs,
    method,
    people,
    same_answers,
    stages,
    state,
    stopping_early,
    summary,
)
from evalbench.studies.cascade.every_pair import beside
from evalbench.studies.cascade.items import contradictions_table, items_of, stages_table, texts_of
from evalbench.studies.cascade.naive_checks import checked_pattern
from evalbench.studies.cascade.truth import TRUTH_BY
from evalbench.studies.contract import offered

QUESTION = "Is model A better than model B, worse, or the same, at the least cost?"
MEASURED_BY = {
    **dict.fromkeys(
        ("answerer", "run_stages", "truth_by", "task", "criteria", "criteria_file", "graph", "naive"), ("*",)
    ),
    **dict.fromkeys(
        ("least_words", "most_words", "pattern", "json_answers", "forbidden", "same_from", "duplicates_from"), ("*",)
    ),
    **dict.fromkeys(
        ("geval_samples", "n_orders", "n_questions", "min_agreement", "agreement_as_truth", "promise"), ("*",)
    ),
    **dict.fromkeys(("promise_delta", "annotators", "basis_quality", "stop_early", "stop_batch"), ("*",)),
    **dict.fromkeys(("strong", "margin"), ()),
}
JUDGED_OPTIONS = ("origin",)
NAIVE = ("decide", "filter")


def evaluate(
    data: readers.Dataset,
    *,
    judge: str | Callable[[dict[str, Any]], object] = "",
    strong: str | Callable[[dict[str, Any]], object] = "",
    answerer: str | Callable[[dict[str, Any]], object] = "",
    judge_prompt: str = "",
    judge_max_tokens: int = 1024,
    run_stages: Sequence[int] = (),
    truth_by: str = entail.BASELINE,
    task: str = "question_answering",
    criteria: Sequence[str] | str = bases.AUTO,
    criteria_file: str = "",
    graph: str = "",
    naive: str = "decide",
    least_words: int = 0,
    most_words: int = 0,
    pattern: str = "",
    json_answers: bool = False,
    forbidden: Sequence[str] = (),
    embed: str = "use-multilingual",
    same_from: float = 0.93,
    duplicates_from: float = 0.88,
    geval_samples: int = 5,
    n_orders: int = 6,
    n_questions: int = 5,
    min_agreement: float = summary.MIN_AGREEMENT,
    agreement_as_truth: float = 0.8,
    stop_early: bool = False,
    stop_batch: int = kit.stopping.BATCH,
    promise: float = 0.0,
    promise_delta: float = 0.1,
    annotators: bool = True,
    margin: float = summary.MARGIN,
    basis_quality: Mapping[str, str] = {},
    origin: str = "not stated",
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Compare two models question by question, at the least cost.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="cascade")``: tables items, labels, annotated, dictionary, verdicts.
    judge : str or callable
        Who marks answers (stages 4, 8, 10 to 12): a chat model, a judge that the data set's table of verdicts names, ``recorded`` for that table,
        ``recorded:FILE``; empty: nobody, and these stages are left out.
    strong, answerer : str or callable
        Who compares pairs (stage 9), the judge where it is empty; who answers questions (stages 7 and 12), another model than the judge (empty: nobody).
    judge_prompt, judge_max_tokens
        A folder of your own prompts ``geval``, ``pairwise``, ``ranking``, …; longest reply of a language model that judges.
    run_stages : sequence of int
        Which of the stages 1 to 13 may run; none named: all.
    truth_by : {"baseline/lexical", "judge"}
        Who says whether an answer agrees with a ground truth (stages 5 to 7): words, numbers and vectors without a call, or the judge.
    task : {"question_answering", "domain_knowledge", "brainstorming", "generation", "chat", "rewriting", "translation", "summarization"}
        What the questions ask for; it chooses the criteria by the method document's table.
    criteria : "auto" or sequence of str
        ``auto``: those of the task, or names of ``evalbench criteria`` or of the file.
    criteria_file, graph : str
        A YAML file of your own criteria; a YAML file with a decision graph, which then gives the marks of stage 8.
    naive : {"decide", "filter"}
        A question of which one answer fails a naive check is decided for the other (``decide``), or set aside (``filter``).
    least_words, most_words : int
        Answers of fewer words fail; answers of more words fail (0: no limit).
    pattern, json_answers, forbidden
        A regular expression that answers must have a match of; whether answers must be JSON; words, or several in a row, that no answer may
        have (stage 4).
    embed : str
        Embedding model of the similarities; see :func:`evalbench.models.similarity.embed.embedder`.
    same_from, duplicates_from : float
        Similarity from which two answers with equal numbers say the same; similarity from which two questions ask the same.
    geval_samples, n_orders, n_questions : int
        Samples of a mark where the endpoint gives no probabilities; orders in which five answers or more are shown for a ranking;
        closed questions to an answer at most.
    min_agreement, agreement_as_truth : float
        A stage that agrees with people's labels on a smaller share hands its questions on; labels serve as ground truth where the whole interval of
        Krippendorff's alpha, over at least 20 questions, lies above this.
    stop_early, stop_batch
        Pairs (stage 9) are asked in an order of the seed until a betting e-value over the questions decides which model is better, and the
        others are not asked; after so many questions each the evidence is looked at.
    promise : float
        Pairs (stage 9) go from the judge to the strong one and then to people, so that judges agree with people on at least this share of what they decide; set on the labelled questions that reach the stage; 0: no promise, the strong judge alone.
    promise_delta : float
        The promise is kept with probability 1 less this.
    annotators : bool
        Whether what all stages leave goes to annotators; otherwise what a judge found equal is a tie.
    margin : float
        Advantages within ±margin are equivalent; 0: none are.
    basis_quality : mapping of str to str
        How good a basis is: ``good``, ``ambiguous`` or ``bad``, e.g. ``{"ground_truth": "ambiguous"}``.
    origin : {"not stated", "production", "hand-written", "synthetic", "dialogue seeds"}
        Where the questions come from.
    max_unscored : float
        More unscored questions than this share make the light grey.

    Returns
    -------
    Result
        ``items``: one row per question.  ``tables``: ``stages``, ``plan``, ``bases``, ``criteria``, ``texts``, ``contradictions`` where there are any,
        ``every_pair`` where the judge of pairs is recorded, ``calls``.  ``files``: ``to_label.csv``, ``plan.json``.

    Raises
    ------
    BadInput
        For faults of the options, all at once.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalbench.studies import load
    >>> rows = {"id": ["1", "2"], "question": ["When does it open?", "Is it dear?"], "reference": ["At 9.", ""]}
    >>> rows |= {"answer_a": ["It opens at 9.", "No."], "answer_b": ["It opens at 10.", "No!"]}
    >>> result = evaluate(load(pd.DataFrame(rows), study="cascade"))
    >>> result.items[["outcome", "stage"]].values.tolist()
    [['a', 5], ['tie', 2]]
    """
    options = kit.stated(evaluate, locals())
    setting, agreed, models, options = _set(data, options, judge, strong, answerer)
    cases = list(setting.every.values())
    with embeddings_counted() as spent:
        planned = cost.planned(setting)
        content = {"options": json.loads(json.dumps(options, default=str)), "stages": planned.to_dict("records")}
        setting = replace(setting, beside=content)
        kit.stopping.written(setting.stop_plan, content)
        course = stages.run(setting)
    core.progress.at(f"intervals, {n_resamples} resamples")
    items = kit.grouping.carried(items_of(data["items"], course, setting.every, models, annotators), data)
    judged = setting.desk.strong is not None or setting.desk.answerer is not None
    hand = bases.at_hand(data, cases, options, labels_agree=setting.labels_agree, judged=judged)
    marks = data.get("labels")
    found = contradictions_table(course, cases, people.scale_of(marks)[1] if marks is not None else 1.0)
    both = beside(items, cases, setting, margin=margin, seed=seed, n_resamples=n_resamples)
    left = {name for name, open_ in zip(items["id"], items["open"], strict=True) if open_ == 1}
    files = {people.TO_LABEL: people.to_label([case for case in cases if case.id in left], models)} if left else {}
    return kit.result_of(
        evaluate,
        data,
        options,
        items,
        by=(),
        judged=inputs.judged_in_words(models),
        tables={
            "stages": stages_table(course),
            "plan": planned,
            "bases": bases.bases_table(hand, cases, basis_quality),
            "criteria": bases.tasks_table(task, setting.criteria),
            "texts": texts_of(cases),
            **(stopping_early.tables_of(course.stopped, items) if course.stopped else {}),
            **(course.escalated.tables() if course.escalated else {}),
        },
        some={"contradictions": found, "every_pair": both, **_calls(course)},
        notes=(
            *data.notes,
            *inputs.unmatched(data, models),
            *same_answers.overruled(items, setting.every, setting.returned),
            *method.notes(items, cases, course, hand, options, *agreed),
        ),
        method=method.described(options) + ((kit.stopping.METHOD,) if course.stopped else ()),
        spent=[*(one.accounting for one in course.asked), *spent],
        stopping=stopping_early.to_json(course.stopped, items) if course.stopped else {},
        files={**files, kit.stopping.PLAN: kit.stopping.plan_bytes(setting.stop_plan, content)},
    )


def plan(data: readers.Dataset, **options: Any) -> pd.DataFrame:
    """What the stages could decide and would cost, before any call; options as of :func:`evaluate`.

    Returns: One row a stage: stage, name, runs, why, questions, calls, cached calls, tokens and cost from low to high;
    a cost is NaN where a price is not known.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalbench.studies import load
    >>> rows = {"id": ["1"], "question": ["When does it open?"], "answer_a": ["At 9."], "answer_b": ["At 10."]}
    >>> found = plan(load(pd.DataFrame(rows), study="cascade"), strong="openai/any")
    >>> found.loc[found["runs"], ["stage", "calls_low", "calls_high"]].values.tolist()
    [[1, 0, 0], [2, 0, 0], [9, 2, 2]]
    """
    known = {name: parameter.default for name, parameter in _parameters().items()}
    given = {**known, **options}
    asked = {name: given[name] for name in ("judge", "strong", "answerer")}
    setting, *_ = _set(data, kit.stated(evaluate, {"data": data, **given}), **asked)
    stored = cost.from_store(setting)
    return cost.priced(cost.planned(setting, stored), setting, stored.cached)


def _parameters() -> Mapping[str, inspect.Parameter]:
    return dict(list(inspect.signature(evaluate).parameters.items())[1:])


plan.__signature__ = inspect.signature(evaluate)  # type: ignore[attr-defined]  # whose options it takes


def _set(
    data: readers.Dataset,
    options: dict[str, Any],
    judge: str | verdicts.InProcess,
    strong: str | verdicts.InProcess,
    answerer: str | verdicts.InProcess,
) -> tuple[stages.Setting, tuple[core.stats.Measured, kit.evidence.Gate], dict[str, str], dict[str, Any]]:
    """Options checked, and everything the stages need."""
    checks = kit.Checks(options)
    checks.choices(truth_by=TRUTH_BY, task=bases.TASKS, naive=NAIVE, origin=bases.ORIGINS)
    checks.at_least(0, "least_words", "most_words")
    checks.at_least(1, "geval_samples", "n_orders", "n_questions")
    checks.share("same_from", "duplicates_from", "agreement_as_truth", "promise", "promise_delta")
    summary.check_options(checks)
    if options["promise"]:
        checks.inside(0, 1, "promise_delta")
        always = "promise: no number of labels shows that judges always agree; choose a share below 1"
        checks.that(options["promise"] < 1, always)
    checks.that(not (options["promise"] and options["stop_early"]), "promise and stop_early: one of them at a time")
    checks.any_of(run_stages=stages.TITLES)
    bases.check_quality(checks, options["basis_quality"])
    checks.tried(lambda: checked_pattern(options["pattern"]))
    known = options["task"] in bases.TASKS
    chosen = (
        checks.tried(lambda: bases.criteria_of(options["task"], options["criteria"], options["criteria_file"]))
        if known
        else []
    )
    tree = checks.tried(lambda: dag.read_dag(options["graph"])) if options["graph"] else None
    asked = {"judge": judge, "strong": strong, "answerer": answerer}
    by = {name: checks.tried(functools.partial(inputs.judge_of, one, data)) for name, one in asked.items()}
    itself = "answerer must be another model than the judge: it would confirm itself"
    checks.that(answerer == "" or judge != answerer, itself)
    checks.refuse("cascade")
    own = chosen or []
    options = {**options, "criteria": [c.name for c in own]}
    settings = {
        "seed": options["seed"], "max_tokens": options["judge_max_tokens"],
        "documents": kit.documents.documents_of(data.tables, judge, strong),
    }  # fmt: skip
    desk = state.Desk(
        by["judge"], by["strong"] or by["judge"], by["answerer"], options["judge_prompt"], settings, options
    )
    inputs.check(data)
    cases, models, labels = inputs.cases_of(data), inputs.models_of(data), data.get("labels")
    agreed = (
        core.stats.Measured(None)
        if labels is None
        else people.agreement(labels, models, seed=options["seed"], n_resamples=options["n_resamples"])
    )
    trusted = kit.evidence.gate(
        "alpha of the labels", agreed.value, agreed.ci_low, agreed.ci_high, agreed.n,
        threshold=options["agreement_as_truth"], of=len(cases), unit="question",
    )  # fmt: skip
    allowed = frozenset(options["run_stages"] or stages.TITLES)
    setting = stages.Setting(
        desk=desk,
        every={case.id: case for case in cases},
        same=same_answers.duplicates(cases, desk) if allowed & {3, 10} else {},
        free=tuple(c for c in own if c.needs_basis == "none"),
        factual=tuple(c for c in own if c.needs_basis != "none"),
        criteria=tuple(own),
        graph=tree,
        returned=inputs.returned_of(data, models),
        labels_agree=trusted.allowed,
        chosen=allowed,
        stop_plan=stopping_early.plan_of([case.id for case in cases], options) if options["stop_early"] else None,
    )
    return setting, (agreed, trusted), models, options


def _calls(course: stages.Course) -> dict[str, Any]:
    found = [one.calls for one in course.asked if len(one.calls)]
    return {"calls": pd.concat(found, ignore_index=True)} if found else {}


globals().update(offered(__name__))
