"""Pictures, tables and marked texts of an ner_conflicts result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.wording import counted
from evalbench.draw.html import Html
from evalbench.draw.pictures import estimate_bars, heat_map
from evalbench.draw.spans import Document, Span, documents
from evalbench.kit.cases import in_turn, rows_of
from evalbench.kit.comparing import shown
from evalbench.kit.trials import each_trial
from evalbench.metrics.mentions import CLASS, TEXT
from evalbench.studies.ner_conflicts.summary import SHARE
from evalbench.text.occurrences import comparable, places

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

    from evalbench.core.result import Result

LONGEST = 600
KEYS = ("text_id", "model")


def picture_shares(result: Result) -> tuple[Picture, str]:
    """The share of texts with conflicts of every model."""
    rows = [e for e in result.summary.estimates if e.metric == SHARE]
    return estimate_bars(
        [e.group["model"] for e in rows],
        rows,
        title="Texts with conflicts, of those with a string whose place is open",
        xlabel="share (0–1)",
        domain=(0, 1),
    )


def picture_kinds(result: Result) -> tuple[Picture, str]:
    """How many conflicts of each kind every model has."""
    sums = result.items.groupby("model", sort=True)[["class_string_all", "nested", "text_string", "absent"]].sum()
    apart = np.stack(
        [
            sums["class_string_all"] - sums["nested"],
            sums["nested"],
            sums["text_string"] - sums["absent"],
            sums["absent"],
        ],
        axis=1,
    )
    return heat_map(
        apart.astype(float),
        [*map(str, sums.index)],
        ["too seldom", "too seldom, nested", "too often", "not in the text"],
        title="Conflicts of every model by kind",
        text=[[f"{n:.0f}" for n in row] for row in apart],
        unit="conflicts; too seldom: by class and string, too often: by text and string",
        low=0,
    )


def comparisons(result: Result) -> pd.DataFrame:
    """Every pair of models on the share of texts with conflicts."""
    return shown(result.tables.get("comparisons"), "model")


def by_class(result: Result) -> pd.DataFrame:
    """Conflicts by class and string of each class and model, and how many of them nesting explains."""
    own = result.tables["conflicts"]
    own = own[own["kind"] == CLASS]
    table = own.assign(missing=own["occurrences"] - own["predicted"]).groupby(["entity_class", "model"], sort=True)
    found = table.agg(conflicts=("nested", "size"), nested=("nested", "sum"), missing=("missing", "mean"))
    return found.reset_index().rename(
        columns={"entity_class": "class", "missing": "occurrences less predictions, mean"}
    )


def strings(result: Result, rows: int = 20) -> pd.DataFrame:
    """The strings that are most often in conflict: in how many texts, of which kinds."""
    own = result.tables["conflicts"]
    kinds = own["kind"].where(~own["nested"], "nested")
    counts = own.assign(kind=kinds).drop_duplicates([*KEYS, "entity", "kind"]).value_counts(["entity", "kind"])
    table = counts.unstack("kind", fill_value=0).reindex(columns=[CLASS, "nested", TEXT], fill_value=0)
    table = table.assign(all=table.sum(axis=1)).reset_index().rename_axis(columns=None)
    return (
        table.sort_values(["all", "entity"], ascending=[False, True], ignore_index=True).head(rows).drop(columns="all")
    )


@each_trial
def marked(result: Result, n: int = 6) -> Html:
    """Texts with most conflicts, the models in turn: every occurrence of a conflicting string is marked."""
    items = result.items[result.items["conflicting"] > 0]
    order = ["conflicting", "occurrences", *KEYS]
    cases = items.sort_values(order, ascending=[False, False, True, True], kind="stable")
    if cases.empty:
        return Html('<p class="eb-small">No string is in conflict with its text.</p>')
    texts = result.tables["texts"].set_index("text_id")
    return documents([_document(result, case, texts) for case in in_turn(cases, "model", n).to_dict("records")])


def _document(result: Result, case: dict[Any, Any], texts: pd.DataFrame) -> Document:
    own = rows_of(result.tables["conflicts"], case, KEYS)
    how = {"case_sensitive": bool(result.parameters["case_sensitive"])}
    text = comparable(str(texts.at[case["text_id"], "text"]))
    plain = comparable(text, **how)
    spans, absent = [], []
    for entity, rows in own.groupby("entity", sort=True):
        said = "; ".join(map(_said, rows.to_dict("records")))
        string = comparable(str(entity), **how)
        found = places(plain, string, whole_words=bool(result.parameters["whole_words"]))
        spans += [Span(at, at + len(string), "conflict", said) for at in found]
        absent += [] if found else [f"{entity}: {said}"]
    cut = _cut(text, spans)
    lang = str(texts.at[case["text_id"], "lang"]) if "lang" in texts else None
    note = "; ".join(
        filter(
            None,
            [
                f"not in the text: {', '.join(absent)}" if absent else "",
                f"the first {LONGEST} characters of {len(text)}" if len(cut) < len(text) else "",
            ],
        )
    )
    title = f"{case['text_id']}, {case['model']}: {counted(len(own), 'conflict')}"
    return Document(title, cut, [s for s in spans if s.end <= len(cut)], note, lang or None)


def _cut(text: str, spans: list[Span]) -> str:
    return text if len(text) <= 2 * LONGEST else text[:LONGEST]


def _said(row: dict[Any, Any]) -> str:
    who = f"{row['entity_class']} predicted it" if row["entity_class"] else "all classes predicted it"
    nested = ", the rest lies inside other predicted strings" if row["nested"] else ""
    return f"{who} {row['predicted']} × of {row['occurrences']}{nested}"
