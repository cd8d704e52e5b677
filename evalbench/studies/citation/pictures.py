"""Pictures, tables and annotated answers of a citation result."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.citation import items

_SHOWN = (
    *("final", "interpretability", "correctness", "support", "verification"),
    *("citation_recall", "citation_precision", items.CONSISTENCY),
)
# The labels of support and verification in words, in the order of the picture.
_SUPPORT = {
    "ENTAILMENT": "supported",
    "NEUTRAL": "not shown",
    "CONTRADICTION": "contradicted",
    "NO SOURCE": "no such source",
    "": "no verdict",
}
_VERIFIED = {
    "VERIFIED": "verified",
    "UNCERTAIN": "uncertain",
    "LIKELY_FABRICATED": "likely fabricated",
    items.NO_QUOTE: "not verified",
    "": "no verdict",
}


def picture_scores(result: core.Result) -> draw.Drawn:
    """Every score with its interval."""
    several = len({e.group["model"] for e in result.summary.estimates}) > 1
    rows = [e for metric in _SHOWN for e in result.summary.estimates if e.metric == metric]
    return draw.pictures.estimate_bars(
        [f"{e.title}, {e.group['model']}" if several else e.title for e in rows],
        rows,
        title=f"Scores of the cited answers (a final score from {result.parameters['threshold']:g} on passes)",
        xlabel="Score (0–1)",
        domain=(0, 1),
    )


def picture_labels(result: core.Result) -> draw.Drawn:
    """How many citations have which labels of support and verification."""
    labels = ["support_label", "verification_label"]
    citations = result.all_of("citations", labels)
    counts = citations.value_counts(labels)
    rows = [s for s in _SUPPORT if s in set(citations["support_label"])] or [""]
    columns = [v for v in _VERIFIED if v in set(citations["verification_label"])] or [""]
    matrix = [[float(counts.get((s, v), 0)) for v in columns] for s in rows]
    return draw.pictures.heat_map(
        matrix,
        [_SUPPORT[s] for s in rows],
        [_VERIFIED[v] for v in columns],
        title=f"{len(citations)} citations by support of their claim and by verification of their source",
        text=[[f"{int(v)}" for v in line] for line in matrix],
        unit="citations",
        low=0,
    )


def faulty_citations(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """Citations that are not supported or not verified, the worst first."""
    citations = result.tables["citations"]
    scored = citations.assign(score=citations[["support", "verification"]].mean(axis=1))
    columns = {name: name for name in (*items.KEYS, "n", "claim")}
    return kit.cases.worst_cases(
        scored[scored["score"] < 1],
        "score",
        keys=[*items.KEYS, "n"],
        n=rows,
        show={**columns, "verdict and why": _said},
    )


@kit.trials.each_trial
def worst(result: core.Result, rows: int = 10) -> pd.DataFrame:
    """The answers with the lowest final score, beside the right ones."""
    columns = {name: name for name in (*items.KEYS, "final")}
    texts = {"question and right answer": _asked, "the answer and its scores": _answered}
    return kit.cases.worst_cases(
        result.items, "final", keys=items.KEYS, n=rows, texts=result.tables["answers"], show={**columns, **texts}
    )


def _asked(row: dict[str, Any]) -> draw.Html:
    lang = draw.html.language_attributes(row["question"], row["lang"])
    gold = row["reference"]
    right = f"<q>{draw.tables.clamped(gold, 200)}</q>" if gold else "no right answer is given"
    return draw.Html(f"<div{lang}>{draw.tables.clamped(row['question'], 200)}<br>{right}</div>")


def _answered(row: dict[str, Any]) -> draw.Html:
    parts = ("interpretability", "correctness", "citation_recall")
    scores = ", ".join(f"{name.replace('_', ' ')} {kit.cases.score_text(row[name])}" for name in parts)
    return draw.Html(f"{draw.tables.text_block(row['answer'], code=row['lang'])}<strong>{draw.escape(scores)}</strong>")


@kit.trials.each_trial
def annotated(result: core.Result, n: int = 4) -> draw.Html:
    """Answers with their citations, sources and verdicts, the lowest scores first; found quotes are marked in their source."""
    cited = kit.cases.held(result.items[result.items["n_citations"] > 0], result.tables["answers"])
    chosen = kit.cases.worst_cases(cited, "final", keys=items.KEYS, n=n, unscored=True)
    if chosen.empty:
        return draw.Html('<p class="eb-small">No answer has a citation.</p>')
    return draw.Html("".join(_annotated_one(result, item) for item in chosen.to_dict("records")))


def _annotated_one(result: core.Result, item: dict[Any, Any]) -> draw.Html:
    citations, statements, answers = (
        kit.cases.rows_of(result.tables[t], item, items.KEYS) for t in ("citations", "statements", "answers")
    )
    answer, judge = answers.iloc[0], result.parameters["judge"]
    correct = item["correctness_label"].lower().replace("_", " ") or "not compared with a right one"
    title = f"{item['id']}, {item['model']}: final {kit.cases.score_text(item['final'])}, answer {correct}"
    told: kit.cases.Show = {
        "statement": "text",
        "cites": lambda row: f"[{row['cites']}]" if row["cites"] else "nothing",
        "supported by what it cites": lambda row: kit.cases.yes_no(row["recalled"], "not known"),
    }
    sources = kit.cases.shown(citations, {"n": "n", "claim, words quoted for it, verdict": _claim, "source": _source})
    return kit.cases.sheet(
        title,
        answer["question"],
        draw.tables.html_table(
            kit.cases.shown(statements, told),
            caption=f"Statements of {item['id']}, judged by {judge}",
            lang_columns={"statement": answer["lang"]},
        ),
        draw.tables.html_table(sources, caption=f"Citations of {item['id']}, judged by {judge}", clamp=400),
        code=answer["lang"],
    )


def _claim(row: dict[str, Any]) -> draw.Html:
    quote = f"<br><q>{draw.escape(row['quote'])}</q>" if row["quote"] else ""
    return draw.Html(
        f"<span{draw.html.language_attributes(row['claim'])}>{draw.escape(row['claim'])}{quote}</span><br>{_said(row)}"
    )


def _said(row: dict[str, Any]) -> draw.Html:
    """The verdicts on a citation, and why; a reason that both have appears once."""
    support, why = _SUPPORT[row["support_label"]], row["support_reason"]
    verified, because = _VERIFIED[row["verification_label"]], row["verification_reason"]
    first = "" if why == because else f": {draw.escape(why)}"
    return draw.Html(
        f"<strong>{draw.escape(support)}</strong>{first}<br><strong>{draw.escape(verified)}</strong>: {draw.escape(because)}"
    )


def _source(row: dict[str, Any]) -> draw.Html:
    text = row["source_text"]
    if not text:
        return draw.escape(row["url"] or row["title"] or "no source named")
    start, end = max(0, row["located_start"] - 300), row["located_end"] + 300
    if row["located_start"] < 0:
        # The beginning, or of a long source the middle of what the judge read.
        begin = row["read_start"] and row["read_start"] + max(0, row["read_characters"] // 2 - 300)
        part = text[begin : begin + 600]
        return draw.Html(f"{'…' if begin else ''}{draw.escape(part)}{'…' if begin + len(part) < len(text) else ''}")
    span = draw.spans.Span(row["located_start"] - start, row["located_end"] - start, "located", "found in the source")
    return draw.spans.highlight(text[start:end], [span])
