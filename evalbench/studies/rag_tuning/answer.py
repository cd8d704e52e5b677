"""With how many chunks, of what size, by which embedding and with how many queries a RAG is best."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.studies.rag_tuning import sections
from evalbench.studies.rag_tuning.summary import AT_1, HITS, TITLES, best_cells

UNITS = {AT_1: "generated question", HITS.metric: "question"}


NO_SIZE, NO_QUERIES = "; no size of chunks is shown to be best.", "Several queries are not shown to help."


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """The number of chunks, their size, the embedding, the queries; what is not known."""
    by_k, size = numbers(summary, facts), best_size(facts)
    chunks, queries = _chunks(by_k, size, facts), _queries(facts)
    if chunks.endswith(NO_SIZE) and queries == NO_QUERIES:
        chunks, queries = (
            chunks.replace(NO_SIZE, "; no size of chunks and no number of queries is shown to be best."),
            "",
        )
    said = [chunks, _embedding(summary, facts), queries]
    for e in _open(summary, facts):
        what = "How well the embedding finds chunks" if e.metric == AT_1 else "How often questions find their source"
        said.insert(0, f"{what} is not known: {kit.doubts.lacking(e, facts, UNITS[e.metric])}.")
    parts = [part for part in said if part] or ["How the RAG should be tuned is not known: nothing was compared."]
    return kit.answering.answered(
        summary,
        facts,
        kit.doubts.within(kit.doubts.with_doubt(summary, parts), 37),
        next=_next(summary, facts, by_k, size),
    )


def numbers(summary: core.Summary, facts: Facts) -> list[core.Estimate]:
    """The target metric by the number of chunks, the best first, of equals the fewest chunks."""
    target = str(facts.parameters["target_metric"])
    own = [e for e in summary.estimates if e.metric == target and e.value is not None and _k(e) is not None]
    return sorted(own, key=lambda e: (-round(e.value or 0.0, 12), _k(e) or 0))


def _k(e: core.Estimate) -> int | None:
    found = re.fullmatch(r"k=(\d+)", e.group.get("setting", ""))
    return int(found[1]) if found else None


def best_size(facts: Facts) -> tuple[int, int] | None:
    """Size and overlap of the chunks that are shown to be better than every other."""
    table = facts.tables.get("compared_chunks")
    found = best_cells(table) if table is not None else []
    if not found:
        return None
    rows = facts.tables["settings"]
    rows = rows[rows["setting"] == found[0]]
    return None if rows.empty else (int(rows["size"].iloc[0]), int(rows["overlap"].iloc[0]))


def _chunks(by_k: Sequence[core.Estimate], size: tuple[int, int] | None, facts: Facts) -> str:
    compared = facts.tables.get("compared_chunks")
    if not by_k or kit.doubts.lacking(by_k[0], facts, "question"):
        return ""
    best, most = by_k[0], core.counted(_k(by_k[0]) or 0, "chunk")
    if not best.value:
        return "No question finds its source, however many chunks are taken." if best.metric in TITLES else ""
    if best.metric == HITS.metric:
        said = f"Questions find their source most often with {most}, {_value(best)}"
        if by_k[-1].value == best.value:
            said = f"With {most} {_value(best)} of questions find their source, with more no more"
    else:
        of = "" if best.metric in TITLES else " of answers"
        said = f"The {kit.saying.title_of(best)}{of} is highest with {most}, {_value(best)}"
    if size:
        return f"{said}; {size[0]} characters each are shown to be best."
    none = compared is not None and not compared.empty
    return f"{said}{NO_SIZE if none else '.'}"


def _value(e: core.Estimate) -> str:
    return kit.saying.figure(e) if kit.saying.is_share(e) else core.wording.value_text(e, [e])


def _embedding(summary: core.Summary, facts: Facts) -> str:
    e = next((o for o in summary.estimates if o.metric == AT_1), None)
    if e is None or e.value is None or kit.doubts.lacking(e, facts, UNITS[AT_1]):
        return ""
    few = ", which is too few" if e.light == "red" else ""
    return f"The embedding finds the right chunk first for {kit.saying.share(e.value, e.cuts)} of questions{few}."


def _queries(facts: Facts) -> str:
    """Whether several queries help, on the target metric."""
    table = facts.tables.get("compared_queries", pd.DataFrame())
    own = [d for d in _differences(table) if d.metric == facts.parameters["target_metric"]]
    if not own:
        return ""
    if not own[0].better:
        return NO_QUERIES
    return f"Several queries {'harm' if own[0].better == sections.SINGLE else 'help'}, {kit.saying.BEYOND_CHANCE}."


def _differences(table: pd.DataFrame) -> list[kit.saying.Difference]:
    return [kit.saying.difference_of(row, "setting") for row in table.to_dict("records")]


def _open(summary: core.Summary, facts: Facts) -> list[core.Estimate]:
    """The figures of embedding and questions that carry no light for want of items."""
    own = [e for e in summary.estimates if e.metric in UNITS and e.light == "grey"]
    return [e for e in own if kit.doubts.lacking(e, facts, UNITS[e.metric])][:1]


def _next(
    summary: core.Summary, facts: Facts, by_k: Sequence[core.Estimate], size: tuple[int, int] | None
) -> str | None:
    for e in _open(summary, facts):
        if e.metric == HITS.metric and (short := core.stats.FEW_UNITS - e.n) > 0:
            return f"Name the sources of {core.counted(short, 'more question')}."
        return kit.doubts.adding(e, facts, UNITS[e.metric])
    if summary.verdict.light == "unlit":
        return "Set question_model and n_chunks to look at the embedding."
    if summary.verdict.light == "red":
        return "Try another embedding."
    if by_k and not by_k[0].value and by_k[0].metric in TITLES:
        return "Check the sources that the questions name."
    tried = []
    if by_k and by_k[0].value and _k(by_k[0]) != facts.parameters.get("k"):
        tried.append(f"{core.counted(_k(by_k[0]) or 0, 'chunk')} (k = {_k(by_k[0])})")
    if size and size[0] != facts.parameters.get("chunk_size"):
        tried.append(f"chunks of {size[0]} characters")
    return f"Try {' and '.join(tried)}." if tried else None
