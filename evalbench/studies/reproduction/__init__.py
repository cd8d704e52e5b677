"""Does a model give the same answer to the same question again, where it should, and another one, where it should?

Input: generations, several of each question: a row each (``id, answer``, and if wanted ``trial``), or listed (``id, samples``);
or a model and questions, then each question is asked ``n_generations`` times.  With ``reference`` or ``correct`` answers are right or
wrong too.  ``test_set`` names sets of questions, each of which has a light.

Figures (method document ``handbook``, «Стабильность без таргета: воспроизведение ответа»): for exact tasks how much the answers to
one question differ in words, for creative ones in meaning, each over all pairs, in percentage points; how many questions ever get
another answer; how many are sometimes right and sometimes wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from evalbench import core, kit, readers
from evalbench.models.accounting import embeddings_counted
from evalbench.models.similarity.embed import card_of, language_warning
from evalbench.models.similarity.embed import embed as embedded
from evalbench.readers import Column, Table
from evalbench.studies.contract import offered
from evalbench.studies.reproduction import inputs, method, summary
from evalbench.studies.reproduction.items import graded, items_of, trials_of
from evalbench.text.odd_texts import odd_text_notes

QUESTION = "Does a model give the same answer to the same question again?"
MAKES_ITEMS = ("task",)
MEASURED_BY = {**dict.fromkeys(("n_generations", "task"), ("*",)), "embed": ("semantic_diversity",)}
SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("id", "id", help="the question"),
            Column(
                "answer",
                "text",
                former=("output",),
                required=False,
                empty_ok=True,
                keep_null=True,
                help="a generation; null: lost; needed unless there are samples or a model is asked",
            ),
            Column(
                "samples",
                "texts",
                required=False,
                empty_ok=True,
                help="all generations of a question, a JSON list; lost ones need a row each",
            ),
            Column(
                "trial", "id", required=False, help="the how-manieth generation of its question this is, or its name"
            ),
            Column("model", "id", groups=True, required=False, help="whose generation it is, where there are several"),
            Column("test_set", "id", groups=True, required=False, help="the set that the question belongs to"),
            Column("task", "text", required=False, choices=inputs.TASKS, help="what the test set's answers should be"),
            Column(
                "question",
                "text",
                required=False,
                empty_ok=True,
                help="the question as it was asked",
                former=("prompt",),
            ),
            Column(
                "reference",
                "texts",
                required=False,
                empty_ok=True,
                help="a right answer, or a JSON list of some",
                perhaps=("answer",),
            ),
            Column("correct", "bool", required=False, empty_ok=True, help="whether the generation is right"),
        ),
        help="one row per generation, or per question with a list of them",
    )
}


adapt = inputs.adapted
check = inputs.check_generations


def needs(data: readers.Dataset, *, model: str) -> None:
    """Refuse a table without answers where no model is asked, and one without questions where one is."""
    inputs.check_there_are_answers(data, model)


def evaluate(
    data: readers.Dataset,
    *,
    model: str = "",
    n_generations: int = 5,
    temperature: float = 1.0,
    max_tokens: int = 512,
    task: str = "",
    embed: str = "use-multilingual",
    lights: Mapping[str, Mapping[str, float]] | None = None,
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Compare the generations of each question with each other.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="reproduction")``: table items.
    model : str
        Ask this model each question; without it the table's generations are judged.
    n_generations : int
        How often a model is asked each question.
    temperature, max_tokens
        Of the replies (the figures hold for this temperature alone); the longest reply.
    task : str
        ``exact`` (answers should repeat, judged by words) or ``creative`` (they should vary, judged by meaning); empty: what
        the column ``task`` says of each test set, or where there is none, ``exact``.
    embed : str
        Embedding model of the meaning, see :func:`evalbench.models.similarity.embed.embedder`; empty leaves the meaning out.
    lights : mapping of str to mapping, optional
        Thresholds of your own, e.g. ``{"lexical_diversity": {"green_to": 2, "yellow_to": 4}}``.
    sample_method, n_samples, random_state
        See :func:`evalbench.kit.sampling.sample_ids`.
    max_unscored : float
        A larger share of unscored questions, or of lost and empty generations, makes a group's light grey.
    seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per question of a test set and model, with ``copied`` where the further generations are copies of
        whole rows.  ``tables``: ``generations``, ``trials`` where answers are
        marked right or wrong, and where collected ``calls``.

    Raises
    ------
    BadInput
        For faults of the table or the options, all at once.
    """
    options = kit.stated(evaluate, locals())
    needs(data, model=model)
    check(data)
    checks = kit.Checks(options)
    checks.at_least(2, "n_generations")
    if task:
        checks.choice("task", task, (*inputs.TASKS, summary.SEVERAL))
        checks.that(task != summary.SEVERAL or "task" in data["items"], f"task: {summary.SEVERAL} needs a column task")
    checks.vectors()
    tasks = inputs.tasks_of(data, task)
    checks.that(embed or "creative" not in tasks, "embed: a creative task is judged by meaning, which needs a model")
    rules = checks.tried(lambda: summary.rules_of(lights, tasks)) or {}
    checks.that(embed or summary.MEANING not in rules, f"lights: {summary.MEANING} needs an embedding model (embed)")
    marking = {"reference"} if model else {"reference", "correct"}
    lit = [name for name in summary.MARKED if name in rules]
    marked = f"lights: {', '.join(lit)} needs answers that are marked: a column {' or '.join(sorted(marking))}"
    checks.that(not lit or marking & set(data["items"]), marked)
    checks.refuse("reproduction")
    options |= {"lights": rules, "task": task if task in inputs.TASKS else _task_of(data, tasks)}
    core.progress.at("reading the generations")
    rows, replies = inputs.generations_of(data, options)
    rows = graded(rows)
    with embeddings_counted() as spent:
        items, generations, found = items_of(rows, functools.partial(embedded, by=embed) if embed else None)
    if set(items["test_set"]) == {""}:
        items, generations = (frame.drop(columns="test_set") for frame in (items, generations))
    core.progress.at(f"intervals, {n_resamples} resamples")
    items = kit.grouping.carried(items, data)
    if not model and not inputs.told_apart(data["items"], max_unscored):
        items["copied"] = True
    by = ("model", *(("test_set",) if "test_set" in items else ()))
    said = [language_warning(card_of(embed), [text for text in rows["answer"] if text])] if embed else []
    beside = {"listed_beside": not model and {"answer", "samples"} <= set(data["items"])}
    marks = {"marks": "correct" if "correct" in data["items"] and not model else "reference"}
    return kit.result_of(
        evaluate,
        data,
        options,
        items,
        by=by,
        judged=kit.collecting.several("model", items["model"]),
        items_of="questions × models",
        tables={"generations": generations, **trials_of(generations, by)},
        notes=(
            *data.notes,
            *method.notes(rows, options | beside),
            *found,
            *said,
            *odd_text_notes(rows["answer"].dropna(), max_unscored, "generation", alike=False),
        ),
        method=method.described({**options, **marks}, rows),
        replies=replies,
        spent=spent,
    )


def _task_of(data: readers.Dataset, tasks: Sequence[str]) -> str:
    """The task that the table names, of all its test sets; empty where it names none."""
    return "" if "task" not in data["items"] else tasks[0] if len(tasks) == 1 else summary.SEVERAL


globals().update(offered(__name__))
