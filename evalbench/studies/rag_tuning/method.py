"""How the figures of a rag_tuning result are computed, and what a reader must know besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core
from evalbench.judge.entail import holds_back
from evalbench.metrics import rank_fusion, registry
from evalbench.studies.rag_tuning import inputs, summary
from evalbench.studies.rag_tuning.rag import SENTENCES, WHOLE, Index
from evalbench.studies.rag_tuning.sections import EMBEDDING, JUDGED, LOW_MARK, Rag, fusion_depth


def described(options: Mapping[str, Any], key: registry.Card | None) -> tuple[str, ...]:
    """The formulas and their sources, a line each."""
    n = options["n_search"]
    chunker = {
        SENTENCES: "whole sentences, as many as the size allows; a longer sentence is cut between words; the next chunk repeats as many "
        "whole sentences as come nearest to the overlap",
        WHOLE: "every document is one chunk",
    }.get(options["chunker"], f"by {options['chunker']}")
    said = [
        f"Chunks: {chunker}; sizes and overlaps in characters.",
        f"Vectors: {options['embed']}; search by cosine, the nearest first.",
        "A chunk carries a source where it is of the same document and, where a passage is named, shares half of the shorter of the two with it.",
        "hit rate at k: whether one of the first k chunks carries a source; reciprocal rank: 1 / the rank of the first that does, 0 beyond k; "
        "recall: share of the question's sources that one of the first k carries; precision: share of the k places that carry one.",
    ]
    if key is not None:
        judged = f", judged by {options['answer_judge']}" if key.name in JUDGED else ""
        said.append(
            f"{key.name}: {key.summary} ({key.reference}); answers of {options['model']} out of the first k chunks{judged}."
        )
    said += [
        f"Top-k: k grows from {0 if key else 1} to k = {options['k']} at least, and on until {options['target_metric']} has not grown "
        f"{options['patience']} times in a row, to {options['most_k']} at most. Best k: the highest mean (method document ragnotes), the smallest of equals. "
        "Beside it the one-standard-error choice (ours; Breiman et al. 1984, section 3.4.3): the smallest k whose mean is at least the highest minus its standard error.",
        "Chunks: a setting is called the best only where it is better than every other in paired tests (sign flips over questions) after Holm's adjustment over all pairs.",
        f"Embedding (method document ragnotes): a question is written for each of the sampled chunks; hit rates, reciprocal rank and place of that very chunk among the first {n}. "
        f"Lights: @1 below .3 red, to .4 yellow, above green; @{n} below .5 red, to .7 yellow, above green; the worse decides.",
        f"Several queries: {options['n_rewrites']} further wordings by a model; {_fusion(options['fusion'])}, over the first {fusion_depth(options['k'])} chunks of each; compared in pairs with the single query.",
    ]
    return tuple(said)


def _fusion(how: str) -> str:
    if how == "rrf":
        return f"reciprocal rank fusion, Σ 1 / ({rank_fusion.CONSTANT} + rank) (Cormack, Clarke and Büttcher 2009)"
    return "the union of the rankings, by best rank"


def notes(
    rag: Rag,
    index: Index,
    items: pd.DataFrame,
    sections: pd.DataFrame,
    searched: Mapping[str, Any],
    generated: pd.DataFrame | None,
    options: Mapping[str, Any],
    key: registry.Card | None,
) -> list[str]:
    """What a reader must know besides: sections that do not apply, documents without a chunk, questions without a source."""
    applies = zip(sections["section"], sections["why"], strict=True)
    said = [f"Not applicable: {section} ({why})." for section, why in applies if why]
    empty = int((rag.documents["text"].str.strip() == "").sum())
    if empty:
        said.append(f"Documents without text: {empty} of {len(rag.documents)}; they have no chunk.")
    reasons = {
        inputs.NO_SOURCE: "name no source",
        inputs.LOST_PASSAGE: "name a passage that is not in its document",
        inputs.EMPTY_SOURCE: "have a source without text",
    }
    for why, words in reasons.items():
        found = int((rag.sources.why == why).sum())
        if found:
            short = f"{found} of {core.counted(len(rag.questions), 'question')} {words}"
            text = f"{short}: retrieval has no figure for them."
            few = why == inputs.NO_SOURCE and options["max_unscored"] * len(rag.questions) < found < len(rag.questions)
            kind: Any = "unmatched" if why == inputs.LOST_PASSAGE else "absent" if few else ""
            said.append(core.Note(kind, short, text) if kind else text)
    n = len(index.texts)
    if options["k"] > n:
        said.append(f"There are {core.counted(n, 'chunk')}, fewer than k = {options['k']}: all are found.")
    if searched["search"] == "exact":
        said.append(f"Search over {core.wording.count(n)} chunks: exact.")
    else:
        said.append(
            f"Search over {core.wording.count(n)} chunks: {searched['search']}; its recall@10 against the exact search is {searched['recall']:.3f} "
            f"on {core.counted(searched['n_queries'], 'query', 'queries')}."
        )
    if key is not None and key.name in JUDGED and holds_back(str(options["answer_judge"])):
        said.append(
            f"{key.name} was judged by {options['answer_judge']}, which compares words: it shows how the study works, not how good answers are."
        )
    said += _unscored(items)
    if generated is not None and len(generated):
        if not options["judge"]:
            said.append(
                "Nobody marked whether the chunks answer the generated questions (judge): poor questions lower the hit rates as a poor embedding does."
            )
        low = int((generated["undefined"] == LOW_MARK).sum())
        if low:
            said.append(
                f"{low} of {core.counted(len(generated), 'generated question')} marked {options['min_mark']:g} or lower are left out."
            )
    return said


def _unscored(items: pd.DataFrame) -> list[str]:
    said = []
    for part, rows in items.groupby("part", sort=True):
        failed = rows["unscored"][rows["unscored"] != ""]
        if len(failed):
            share = core.percent(len(failed) / len(rows))
            said.append(
                f"Unscored in section {part}: {len(failed)} of {len(rows)} items, {share} ({core.unscored.counted(failed)})."
            )
    return said


def _without_sources(sources: inputs.Sources) -> str:
    """Why no question has a source that can be found."""
    if (lost := int((sources.why == inputs.LOST_PASSAGE).sum())) > 0:
        return f"{lost} of {core.counted(len(sources.why), 'question')} name a passage that is not in its document, none one that is"
    empty = (sources.why == inputs.EMPTY_SOURCE).any()
    return "the sources of the questions have no text" if empty else "no question names a source"


def sections_of(
    *,
    key: registry.Card | None,
    sources: inputs.Sources,
    varies: bool,
    cells: Sequence[Any],
    target_metric: str,
    writes: bool,
    n_chunks: int,
    n_rewrites: int,
) -> dict[str, str]:
    """Why each section does not apply; empty where it does."""
    no_quality = (
        "" if key is not None or len(sources.question) else f"{_without_sources(sources)}, and no model answers"
    )
    chunks = (
        no_quality
        or ("" if varies else "the chunker takes no size")
        or ("" if len(cells) > 1 else "fewer than two settings are asked for")
    )
    no_writer = "" if writes else "no model writes questions"
    return {
        "top k": no_quality,
        "k = 0": no_quality
        or (
            ""
            if key is not None
            else f"{summary.TITLES[target_metric]} needs chunks; answers have a figure without any"
        ),
        "chunks": chunks,
        EMBEDDING: ("n_chunks is 0" if not n_chunks else "") or no_writer,
        "queries": no_quality or ("n_rewrites is 0" if not n_rewrites else "") or no_writer,
    }
