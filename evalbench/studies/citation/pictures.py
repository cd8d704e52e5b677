"""Pictures, tables and annotated answers of a citation result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalbench.draw.html import Html, escape, language_attributes
from evalbench.draw.pictures import estimate_bars, heat_map
from evalbench.draw.spans import Span, highlight
from evalbench.draw.tables import clamped, html_table, text_block
from evalbench.studies.citation.scoring import NO_QUOTE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

    from evalbench.core.result import Result

_SHOWN = (
    "final", "interpretability", "correctness", "support", "verification", "citation recall (ALCE)",
    "citation precision (ALCE)", "claim_consistency_seed",
)  # fmt: skip
_SUPPORT = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION", "NO SOURCE", "")
_VERIFIED = ("VERIFIED", "UNCERTAIN", "LIKELY_FABRICATED", NO_QUOTE, "")
_NAMES = {
    "ENTAILMENT": "supported", "NEUTRAL": "not shown", "CONTRADICTION": "contradicted", "NO SOURCE": "no such source",
    "": "no verdict", "LIKELY_FABRICATED": "likely fabricated", NO_QUOTE: "not verified",
}  # fmt: skip


def picture_scores(result: Result) -> tuple[Picture, str]:
    """Every score with its interval."""
    several = len({e.group["model"] for e in result.summary.estimates}) > 1
    rows = [e for metric in _SHOWN for e in result.summary.estimates if e.metric == metric]
    names = [f"{e.metric}, {e.group['model']}" if several else e.metric for e in rows]
    return estimate_bars(
        [name.replace("_seed", " (seed)").replace("_", " ") for name in names],
        rows,
        title=f"Scores of the cited answers (a final score from {result.parameters['threshold']:g} on passes)",
        xlabel="Score (0–1)",
        domain=(0, 1),
    )


def picture_labels(result: Result) -> tuple[Picture, str]:
    """How many citations have which labels of support and verification."""
    citations = result.tables["citations"]
    counts = citations.value_counts(["support_label", "verification_label"])
    rows = [s for s in _SUPPORT if s in set(citations["support_label"])] or [""]
    columns = [v for v in _VERIFIED if v in set(citations["verification_label"])] or [""]
    matrix = [[float(counts.get((s, v), 0)) for v in columns] for s in rows]
    return heat_map(
        matrix,
        [_name(s) for s in rows],
        [_name(v) for v in columns],
        title=f"{len(citations)} citations by support of their claim and by verification of their source",
        text=[[f"{int(v)}" for v in line] for line in matrix],
        unit="citations",
        low=0,
    )


def _name(label: str) -> str:
    return _NAMES.get(label, label.lower())


def faulty_citations(result: Result, rows: int = 20) -> pd.DataFrame:
    """Citations that are not supported or not verified, the worst first."""
    import pandas as pd

    citations = result.tables["citations"]
    worst_first = citations.assign(score=citations[["support", "verification"]].mean(axis=1))
    faulty = worst_first[worst_first["score"] < 1].sort_values(["score", "id", "model", "n"], kind="stable")
    shown = faulty.head(rows)
    said = pd.Series([_said(row) for row in shown.to_dict("records")], index=shown.index, dtype=object)
    return shown.assign(**{"verdict and why": said})[["id", "model", "n", "claim", "verdict and why"]]


def worst(result: Result, rows: int = 10) -> pd.DataFrame:
    """The answers with the lowest final score, beside the right ones."""
    import pandas as pd

    scored = result.items.dropna(subset=["final"])
    items = scored.sort_values(["final", "id", "model"], kind="stable").head(rows)
    merged = items.merge(
        result.tables["answers"][["id", "model", "lang", "question", "gold_answer", "answer"]], on=["id", "model"]
    )
    records = merged.to_dict("records")
    return merged[["id", "model", "final"]].assign(
        **{
            "question and right answer": pd.Series([_asked(row) for row in records], dtype=object),
            "the answer and its scores": pd.Series([_answered(row) for row in records], dtype=object),
        }
    )


_PARTS = {"interpretability": "interpretability", "correctness": "correctness", "alce_recall": "citation recall"}


def _asked(row: dict[str, Any]) -> Html:
    lang = language_attributes(row["question"], row["lang"])
    return Html(f"<div{lang}>{clamped(row['question'], 200)}<br>{_right(row['gold_answer'])}</div>")


def _right(gold: str) -> str:
    return f"<q>{clamped(gold, 200)}</q>" if gold else "no right answer is given"


def _answered(row: dict[str, Any]) -> Html:
    scores = ", ".join(f"{name} {_score(row[c])}" for c, name in _PARTS.items())
    return Html(f"{text_block(row['answer'], code=row['lang'])}<strong>{escape(scores)}</strong>")


def _score(value: float) -> str:
    return "–" if value != value else f"{value:.2f}"


def annotated(result: Result, n: int = 4) -> Html:
    """Answers with their citations, sources and verdicts, the lowest scores first; found quotes are marked in their source."""
    with_citations = result.items[result.items["n_citations"] > 0]
    chosen = with_citations.sort_values(["final", "id", "model"], kind="stable").head(n)
    if chosen.empty:
        return Html('<p class="eb-small">No answer has a citation.</p>')
    return Html("".join(_annotated_one(result, item) for item in chosen.to_dict("records")))


def _annotated_one(result: Result, item: dict[str, Any]) -> Html:
    import pandas as pd

    citations, statements, answers = (
        frame[(frame["id"] == item["id"]) & (frame["model"] == item["model"])]
        for frame in (result.tables["citations"], result.tables["statements"], result.tables["answers"])
    )
    answer = answers.iloc[0]
    lang = {"question": answer["lang"], "text": answer["lang"]}
    head = (
        f'<p class="eb-doc-title">{escape(item["id"])}, {escape(item["model"])}: final {_score(item["final"])}, '
        f"answer {escape(item['correctness_label'].lower().replace('_', ' ') or 'not compared with a right one')}</p>"
        f"<p{language_attributes(answer['question'], answer['lang'])}>{escape(answer['question'])}</p>"
    )
    said = pd.DataFrame(
        {
            "statement": statements["text"].to_numpy(),
            "cites": [f"[{c}]" if c else "nothing" for c in statements["cites"]],
            "supported by what it cites": [_yes(v) for v in statements["recalled"]],
        }
    )
    records = citations.to_dict("records")
    sources = pd.DataFrame(
        {
            "n": citations["n"].to_numpy(),
            "claim, words quoted for it, verdict": pd.Series([_claim(row) for row in records], dtype=object),
            "source": pd.Series([_source(row) for row in records], dtype=object),
        }
    )
    return Html(
        head
        + html_table(
            said,
            caption=f"Statements of {item['id']}, judged by {result.parameters['judge']}",
            lang_columns={"statement": lang["text"]},
        )
        + html_table(sources, caption=f"Citations of {item['id']}, judged by {result.parameters['judge']}", clamp=400)
    )


def _claim(row: dict[str, Any]) -> Html:
    quote = f"<br><q>{escape(row['quote'])}</q>" if row["quote"] else ""
    return Html(f"<span{language_attributes(row['claim'])}>{escape(row['claim'])}{quote}</span><br>{_said(row)}")


def _said(row: dict[str, Any]) -> Html:
    """The verdicts on a citation, and why; a reason that both have stands once."""
    told = [("support", row["support_reason"]), ("verification", row["verification_reason"])]
    parts = [
        f"<strong>{escape(_name(row[f'{what}_label']))}</strong>"
        + ("" if what == "support" and reason == told[1][1] else f": {escape(reason)}")
        for what, reason in told
    ]
    return Html(f"{parts[0]}<br>{parts[1]}")


def _source(row: dict[str, Any]) -> Html:
    text = row["source_text"]
    if not text:
        return escape(row["url"] or row["title"] or "no source named")
    start, end = max(0, row["located_start"] - 300), row["located_end"] + 300
    if row["located_start"] < 0:
        # The beginning, or of a long source the middle of what the judge read.
        begin = row["read_start"] and row["read_start"] + max(0, row["read_characters"] // 2 - 300)
        shown = text[begin : begin + 600]
        return Html(f"{'…' if begin else ''}{escape(shown)}{'…' if begin + len(shown) < len(text) else ''}")
    span = Span(row["located_start"] - start, row["located_end"] - start, "located", "found in the source")
    return highlight(text[start:end], [span])


def _yes(value: float) -> str:
    return "– not known" if value != value else "✓ yes" if value else "✗ no"
