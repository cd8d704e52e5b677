"""How well does a search find the passages that answer?

Input: one or several runs (what a search found per query, by score or rank) and judgements of relevance (qrels), as tables or
as TREC files; optionally the texts of passages and queries, and whether models' answers were right.

Figures: the mean over queries of precision, recall, hit rate, average precision, nDCG, reciprocal rank and others at any depth k
(trec_eval; Järvelin & Kekäläinen 2002; Chapelle et al. 2009; method document ``handbook``, whose own forms end in
``_handbook``), runs compared query by query, and the accuracy of answers by the relevance of the first passage.  No
metric has a threshold of its own, so the light is unlit until ``lights`` gives one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core, kit, readers
from evalbench.metrics.ranking import TIES
from evalbench.studies.contract import offered
from evalbench.studies.rag_retrieval import figures, inputs, made, odd_runs, summary
from evalbench.studies.rag_retrieval.items import MEAN, Rules, by_run
from evalbench.studies.rag_retrieval.tables import answers_of, inverted, parted, reversed_order, shares, shown

QUESTION = "How well does a search find the passages that answer?"
MAKES_ITEMS = ("k", "ties")
MEASURED_BY = {
    **dict.fromkeys(("relevant_from", "ties", "tie_orders", "no_relevant", "absent"), ("*",)),
    **dict.fromkeys(("k", "ks"), ()),
    "max_grade": ("err*", "*_handbook*"),
    "min_per_query": ("auc*",),
}


def evaluate(
    data: readers.Dataset,
    *,
    metrics: Sequence[str] = summary.METRICS,
    k: int = summary.K,
    ks: Sequence[int] = summary.KS,
    relevant_from: float = 1.0,
    max_grade: float | None = None,
    min_per_query: int = 5,
    ties: str = "descending",
    tie_orders: int = 100,
    no_relevant: str = "skip",
    absent: str = summary.AUTO,
    lights: Mapping[str, Mapping[str, float]] | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Judge rankings of passages by their relevance.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="rag_retrieval")``: tables run, qrels; optional documents, questions, answers.
    metrics : sequence of str
        Of ``ndcg, ndcg_exponential, ndcg_handbook, average_precision, average_precision_min, average_precision_handbook, mrr,
        precision, recall, f1, hit_rate, r_precision, err, err_handbook, auc``; the first orders the runs and the queries.
    k, ks
        How many passages your system reads: the depth of the headline, the comparison and the light; the depths of the curves.
    relevant_from : float
        A passage is relevant from this grade on.
    max_grade : float, optional
        The highest grade of the scale, whether the table has it or not; needed for ``err`` and ``err_handbook``.
    min_per_query : int
        A query with fewer judged passages among the first k has no AUC.
    ties : {"descending", "ascending", "random", "mean"}
        Passages with equal scores: by their id ``descending``, as trec_eval, or ``ascending``, in a ``random`` order, or the
        ``mean`` over orders.
    tie_orders : int
        Over how many random orders the mean goes.
    no_relevant : {"skip", "zero"}
        Queries without a relevant passage: ``skip`` them, since no search could do better, or count ``zero``, as
        pytrec_eval.
    absent : {"auto", "zero", "skip"}
        Judged queries that a run lacks: count ``zero``, as trec_eval -c, or ``skip`` them, as trec_eval without it.  ``auto``
        counts zero too, compares runs on the queries that both have, and leaves a run's light grey where it lacks more than
        ``max_unscored`` of them.
    lights : mapping of str to mapping, optional
        Metric → its thresholds at k, e.g. ``{"ndcg": {"green_from": 0.7, "yellow_from": 0.5}}``, at or above.
    max_unscored, seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per query and run, a column per metric and depth.  ``tables``: ``curves``, ``grades``,
        ``passages`` of the queries to look at, ``parted`` and ``comparison`` where there are several runs,
        ``answer_by_passage`` and ``answer_correlation`` where there are answers.

    Raises
    ------
    BadInput
        For faulty options; runs that share no query with the qrels, or have neither score nor rank: all at once.

    Examples
    --------
    >>> import pandas as pd
    >>> run = pd.DataFrame({"id": ["q"] * 2, "doc_id": ["a", "b"], "score": [0.9, 0.4]})
    >>> qrels = pd.DataFrame({"id": ["q"], "doc_id": ["b"], "relevance": [1]})
    >>> from evalbench import load
    >>> result = evaluate(load({"run": run, "qrels": qrels}, study="rag_retrieval"), metrics=["mrr"], n_resamples=10)
    >>> result.estimate("mrr_at_5", model="run").value
    0.5
    """
    options = kit.stated(evaluate, locals())
    names = list(dict.fromkeys(figures.bare(name) for name in metrics))
    checks = kit.Checks({**options, "metrics": names})
    checks.some(metrics=figures.NAMES)
    checks.at_least(1, "k", "ks", "tie_orders")
    checks.at_least(2, "min_per_query")
    checks.within(-100, 100, "relevant_from")
    checks.that(
        max_grade is None or 0 < max_grade <= 100, f"max_grade must be above 0 and at most 100, got {max_grade!r}"
    )
    wanting = [name for name in names if name in figures.NEED_SCALE]
    scale = f"{', '.join(wanting)}: max_grade, the highest grade of the scale, must be given"
    checks.that(max_grade is not None or not wanting, scale)
    checks.choices(ties=(*TIES, MEAN), no_relevant=("skip", "zero"))
    summary.check_options(checks)
    if isinstance(max_grade, int | float) and wanting:
        checks.tried(lambda: inputs.within_scale(data["qrels"], max_grade))
    checks.refuse("rag_retrieval")
    if not any(map(kit.parts.is_dealt, data.tables.values())):
        inputs.check(data)
    options |= {"metrics": names, "lights": summary.rules_of(lights or {}, names, k)}
    depths = sorted({*ks, k})
    by_chance = ties in ("random", MEAN)  # drawn for all queries in their order
    found = kit.parts.made(made.made_of, data, options, inputs.SCHEMA, together=by_chance)
    of_tables = inputs.notes_of(found.tables[made.ROWS], found.tables[made.NAMES])
    labels = list(dict.fromkeys(found.tables[made.ODD]["model"]))
    grades = shares(found.tables[made.GRADES], labels)
    items = kit.grouping.carried(by_run(found.items), found.data or data)
    each = None if found.rows is None else by_run(found.rows)
    runs = found.trials.names(labels)
    first = figures.Figure(names[0], k)
    tables = {"grades": grades, **tables_of(items, options, depths)}
    texts = data.get("documents")
    known = {} if texts is None else dict(zip(texts["doc_id"], texts["text"], strict=True))
    chosen = shown(items, items if each is None else each, first.name)
    passages = found.tables[made.PASSAGES]
    passages = passages[passages["id"].isin(chosen)].reset_index(drop=True)
    tables["passages"] = passages.assign(text=[known.get(passage, "") for passage in passages["doc_id"]])
    if (questions := data.get("questions")) is not None:
        tables["questions"] = questions[questions["id"].isin(chosen)]
        tables["questions"] = tables["questions"][["id", "question"]].sort_values("id", ignore_index=True)
    said: list[str] = []
    if (answers := data.get("answers")) is not None:
        of_answers = answers_of(items, answers, names, k, Rules(**kit.taken(Rules, options)), n_resamples)
        tables["answer_by_passage"], tables["answer_correlation"], said = of_answers
    result = kit.result_of(
        evaluate,
        data,
        options,
        items,
        by=("model",),
        judged=kit.collecting.several("run", runs),
        some=tables,
        notes=[
            *data.notes,
            *of_tables,
            *summary.notes(items, **kit.taken(summary.notes, options)),
            *said,
            inverted(tables["grades"]),
            *odd_runs.cautions(found.tables[made.ODD], k),
            *reversed_order(found.tables[made.TURNED], first),
            core.compared.left_out_note(len(runs), "runs", first.name),
        ],
        method=summary.method(names, depths, options),
    )
    return found.trials.reported(result, each, summary.measures(names, k, ties))


def tables_of(items: pd.DataFrame, options: Mapping[str, Any], depths: Sequence[int]) -> dict[str, pd.DataFrame]:
    """The tables that follow from the items: curves, comparison, and the queries where two runs part."""
    names, k, ties = options["metrics"], options["k"], options["ties"]
    drawn: dict[str, Any] = {name: options[name] for name in ("seed", "n_resamples")}
    first = figures.Figure(names[0], k).name
    compared = [m for m in summary.measures(names, k, ties) if not m.metric.startswith(figures.UNJUDGED)]
    counts = options["absent"] == "zero"
    return {
        "curves": summary.curves_of(items, names, depths, ties=ties, **drawn),
        "comparison": kit.comparing.compare_groups(
            items, compared, "model", rank_by=first, absent_counts=counts, **drawn
        ),
        "parted": parted(items, first),
    }


globals().update(offered(__name__))
