"""How should a RAG be tuned: how many chunks, of what size, by which embedding, with one query or several?

A small real RAG runs inside: documents, chunks, vectors, search, answers by a model; every part can be a function of the user's own.

Input: documents, and questions with the document (and, if known, the passage) that answers them, and the right answer.  Without
a model the figures are those of retrieval; without sources those of the answers; what does not apply is said.

Figures (method document ``ragnotes``): the target metric by the number of chunks, and by their size and overlap; hit rates of questions that
were written for single chunks, which need no labels and have lights; several wordings of a question, fused, against the single one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.judge.entail import BASELINE
from evalbench.models.accounting import embeddings_counted, merged
from evalbench.studies.contract import offered
from evalbench.studies.rag_tuning import checking, inputs, method, rag, sections, summary
from evalbench.studies.rag_tuning.asking import RECORDED, Asker, asked_hash, at_hand

QUESTION = "How should the RAG be tuned: how many chunks, of what size, by which embedding, with one query or several?"
MAKES_ITEMS = ("target_metric", "k", "n_search")
MEASURED_BY = {
    **dict.fromkeys(("target_metric", "question_model", "n_chunks", "n_search", "min_mark"), ("*",)),
    **dict.fromkeys(("answer_judge", "patience", "most_k", "hit_floor"), ()),
}
JUDGED_OPTIONS = (
    *("k", "chunker", "chunk_size", "overlap", "chunk_sizes", "overlaps", "embed", "search", "graph_from"),
    *("n_rewrites", "fusion"),
)
ITEMS = (
    "id", "part", "setting", "k", "quality", *sections.RETRIEVAL, "found_1", "found_n", "place", "reciprocal", "copied", "unscored", "undefined",
)  # fmt: skip


def evaluate(
    data: readers.Dataset,
    *,
    target_metric: str = summary.TARGET_METRIC,
    model: str | Callable[[dict[str, Any]], str] = "",
    question_model: str | Callable[[dict[str, Any]], str] = "",
    judge: str | Callable[[dict[str, Any]], object] = "",
    answer_judge: str | Callable[[dict[str, Any]], object] = BASELINE,
    labels: str = "",
    labels_of: str = "",
    labels_scale: Sequence[float] = (),
    labels_drawn: str = "random",
    correction: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 256,
    language: str = "en",
    k: int = summary.K,
    patience: int = 3,
    most_k: int = 20,
    chunker: str | rag.Chunker = rag.SENTENCES,
    chunk_size: int = 800,
    overlap: int = 0,
    chunk_sizes: Sequence[int] = (400, 800, 1600),
    overlaps: Sequence[int] = (0, 200),
    embed: str | rag.Embed = "use-multilingual",
    search: str | rag.Searcher = "auto",
    graph_from: int = 200_000,
    n_chunks: int = 50,
    n_search: int = summary.N_SEARCH,
    min_mark: float = 3.0,
    n_rewrites: int = 3,
    fusion: str = "rrf",
    lights: Mapping[str, Mapping[str, float]] | None = None,
    hit_floor: float = summary.HIT_FLOOR,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Tune a RAG on documents and questions.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="rag_tuning")``: tables documents, questions and, if wanted, sources and replies.
    target_metric : str
        What is tuned for: hit_rate, mrr, recall or precision; or, of a model's answers, a metric of texts by name (f1_score, rougeL, …), answer_correctness or faithfulness.
    model : str or callable
        Who answers out of the chunks, e.g. openai/gpt-4o, or recorded; without one there are figures of retrieval only.  A function gets ``question``
        and ``contexts`` and returns the answer.
    question_model : str or callable
        Who writes a question for a chunk and rewrites questions, if not model.  A function gets ``chunk``, or ``question`` and ``n``.
    judge, answer_judge : str or callable
        Who marks 1–5 whether a chunk answers the question that was written for it, and without one no question is left out; who judges the
        answers where target_metric is answer_correctness or faithfulness, as in rag_generation.
    prompt : str
        A folder of your own prompts: rag_answer, chunk_question, rewritten_question, mark, support.
    temperature, max_tokens
        Of the replies; the longest reply.
    language : str
        ISO code: of documents without a language of their own, and of the text metric.
    k, patience, most_k : int
        How many chunks your RAG hands to its model; the curve over k ends where the target metric has not grown so many times in a row; it ends
        there in any case.
    chunker : str or callable
        How documents are cut: sentences, documents (each is one chunk), or a function.  It gets the text, size, overlap and language, and returns ``(start, end)`` pairs.
    chunk_size, overlap : int
        The longest chunk, in characters; how many of them the next chunk repeats, as near as whole sentences come.
    chunk_sizes, overlaps : sequence of int
        The sizes that are tried; the overlaps that are tried with each of them.
    embed : str or callable
        Embedding model of chunks and questions.  A function gets texts and returns a row of numbers for each.
    search, graph_from
        auto, exact or graph (usearch), which is faster and does not find everything; with auto the graph is used from so many chunks on.
        A function gets the vectors and returns one that gets queries and k.
    n_chunks, n_search, min_mark
        How many chunks a question is written for (0: none); among how many chunks the question's own is looked for, at least 2; a question whose
        chunk is marked at most so is left out.
    n_rewrites : int
        How many further wordings of a question are searched for; 0: none.
    fusion : {"rrf", "union"}
        How their rankings become one: reciprocal rank fusion, or their union by best rank.
    lights : mapping of str to mapping, optional
        Thresholds of hit_rate_at_1 and hit_rate_at_5 in place of the document's, e.g. {"hit_rate_at_1": {"green_from": 0.6, "yellow_from": 0.4}}.
    hit_floor : float
        Where the questions of the table find their sources less often than this, at k, the light is at best yellow; 0 is the
        document's rule, which looks at generated questions alone.
    labels, labels_of, labels_scale, labels_drawn, correction, max_unscored, seed, n_resamples
        See :func:`evalbench.kit.labelled.given` and :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per question and setting, and per generated question.  ``tables``: ``settings`` of chunks, ``found`` chunks, ``answers``,
        ``generated`` questions, ``rewrites``, comparisons, ``sections``, ``calls``.

    Raises
    ------
    BadInput
        For faults of the options or sources that are not there, all at once; for a target metric that the table does not allow.
    """
    lights = lights or {}
    options = kit.stated(evaluate, locals())
    key, metric_options = checking.checked(options, data), checking.metric_options(options)
    options["target_metric"] = key.name if key else target_metric
    humans = kit.labelled.given(
        summary.judged_measures(options["target_metric"]), data["questions"], **kit.taken(kit.labelled.given, options)
    )
    inputs.check(data)
    documents = data["documents"].sort_values("doc_id", ignore_index=True)
    questions = data["questions"].sort_values("id", ignore_index=True)
    parts = rag.Parts(chunker, embed, search, graph_from, language)
    cutter, sources = rag.Cutter(documents, parts), inputs.sources_of(data, documents, questions)
    asking: dict[str, Any] = {"prompt": prompt, "temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    answering = Asker(model, data.get("replies"), **asking) if model and key else None
    same = not question_model or question_model == model
    writer = model if same else question_model
    writing = (answering if same and answering else Asker(writer, data.get("replies"), **asking)) if writer else None
    judging = None
    if key is not None and key.name in sections.JUDGED:
        judging = kit.judging.Docket(answer_judge, prompt=prompt, **_settings(answer_judge, data, seed, max_tokens))
    system = sections.Rag(
        documents,
        questions,
        sources,
        cutter,
        options["target_metric"],
        key,
        metric_options,
        answering,
        writing,
        judging,
    )
    docket = _docket(judge, data, prompt, seed, max_tokens)
    cells = sorted({*product(map(int, chunk_sizes), map(int, overlaps))})
    applies = method.sections_of(
        key=key,
        sources=sources,
        varies=parts.varies,
        cells=cells,
        target_metric=options["target_metric"],
        writes=bool(writer),
        n_chunks=n_chunks,
        n_rewrites=n_rewrites,
    )
    if applies["top k"] and applies[sections.EMBEDDING]:
        why = "; ".join(dict.fromkeys(applies.values()))
        raise errors.BadInput(
            f"rag_tuning: nothing can be computed: {why}. Name sources of the questions, or a model (--model)"
        )
    tables: dict[str, pd.DataFrame] = {}
    rows: list[pd.DataFrame] = []
    with embeddings_counted() as spent:
        index = rag.indexed(documents, cutter, chunk_size, overlap)
        queries = system.vectors()
        searched = rag.recall_of_search(index, queries, seed)
        if not applies["top k"]:
            rows += sections.by_top_k(system, index, queries, k, patience, most_k)
            tables["found"] = _found(system, index, queries, k)
        if not applies[sections.CHUNKS]:
            found, tables["settings"] = sections.by_chunks(system, index, queries, cells, k, (chunk_size, overlap))
            rows += found
        if not applies[sections.QUERIES]:
            found, tables["rewrites"] = sections.by_queries(system, index, queries, k, n_rewrites, fusion)
            rows += found
        if not applies[sections.EMBEDDING]:
            own, tables["generated"] = sections.of_embedding(
                system,
                index,
                n_chunks=n_chunks,
                n_search=n_search,
                seed=seed,
                name=str(options["embed"]),
                docket=docket,
                min_mark=min_mark,
            )
            rows.append(own)
    items = pd.concat([frame.dropna(axis=1, how="all") for frame in rows]).reindex(columns=list(ITEMS))
    items = items.astype(dict.fromkeys(ITEMS[4:-2], float)).sort_values(
        ["part", "k", "setting", "id"], kind="stable", ignore_index=True
    )
    resampled: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    own_judge = [judging.heard()] if judging else []
    items, fit, of_labels = humans.on(kit.grouping.carried(items, data), *own_judge, by="setting", **resampled)
    options |= fit
    tables |= {"answers": pd.concat(system.answers, ignore_index=True)} if system.answers else {}
    shown = [summary.key_measure(options["target_metric"])]
    for part, listed in (
        (sections.CHUNKS, shown),
        (sections.QUERIES, [*shown, *summary.measures(**kit.taken(summary.measures, options))[5:]]),
    ):
        if not applies[part]:
            tables[f"compared_{part}"] = summary.compared(items, part, listed, **resampled)
    tables["search"] = pd.DataFrame([searched])
    tables["sections"] = pd.DataFrame({"section": list(applies), "why": list(applies.values())})
    replies = [reply for asker in {id(a): a for a in (answering, writing) if a}.values() for reply in asker.replies]
    heard = [each.heard() for each in (docket, judging) if each is not None]
    sent = [reply for reply in replies if reply.host]
    return kit.result_of(
        evaluate,
        data,
        options,
        items,
        by=("setting",),
        judged=_judged(options),
        items_of="questions × settings, and generated questions",
        tables=tables,
        notes=(
            *data.notes,
            *method.notes(system, index, items, tables["sections"], searched, tables.get("generated"), options, key),
            *of_labels,
        ),
        method=method.described(options, key),
        replies=replies,
        heard=heard,
        accounting=merged([kit.collecting.accounting_of(sent, heard), *spent]),
    )


def _judged(options: Mapping[str, Any]) -> str:
    by = "recorded replies" if options["model"] == RECORDED else options["model"]
    answering = f", answers by {by}" if by else ""
    return f"a RAG: {options['embed']}, chunks of at most {options['chunk_size']} characters{answering}"


def _docket(judge: Any, data: readers.Dataset, prompt: str, seed: int, max_tokens: int) -> kit.judging.Docket | None:
    """Who marks generated questions; None where nobody does."""
    if not judge:
        return None
    if judge != RECORDED:
        return kit.judging.Docket(judge, prompt=prompt, **_settings(judge, data, seed, max_tokens))
    replies = data.get("replies")
    if replies is None:
        raise errors.BadInput(f"{RECORDED}: the data have no table replies")
    rows = replies[replies["purpose"] == "mark"]
    marks = dict(zip(rows["asked"], rows["reply"], strict=True))

    def recorded(item: Mapping[str, Any]) -> Mapping[str, Any]:
        said = marks.get(asked_hash({"chunk": item["answer"], "question": item["question"]}), "").strip()
        return (
            {"mark": said}
            if said in ("1", "2", "3", "4", "5")
            else {"unscored": "unparsed" if said else "not-recorded"}
        )

    return kit.judging.Docket(recorded)


def _settings(judge: Any, data: readers.Dataset, seed: int, max_tokens: int) -> dict[str, Any]:
    """What a judge that is a model is asked with; a model that is not there is refused before anything is computed."""
    if not isinstance(judge, str):
        return {}
    at_hand(judge)
    return {"seed": seed, "max_tokens": max_tokens, "documents": kit.documents.documents_of(data.tables, judge)}


def _found(system: sections.Rag, index: Any, queries: Any, k: int) -> pd.DataFrame:
    """The first ``k`` chunks of every question, with their cosines: ``id, question, rank, chunk, cosine, carries, text``."""
    nearest = index.search(queries, min(k, len(index.texts)))
    found = rag.judged(index, nearest.places, system.sources)
    n, depth = nearest.places.shape
    flat = nearest.places.ravel()
    return pd.DataFrame(
        {
            "id": np.repeat(system.questions["id"].to_numpy(), depth),
            "question": np.repeat(system.questions["question"].to_numpy(), depth),
            "rank": np.tile(np.arange(1, depth + 1), n),
            "chunk": [index.names[p] for p in flat],
            "cosine": nearest.scores.ravel().round(6),
            "carries": found.carries.ravel(),
            "text": [index.texts[p] for p in flat],
        }
    )


globals().update(offered(__name__))
