"""Pictures, tables and marked texts of an ner_conflicts result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.metrics.mentions import CLASS, TEXT
from evalbench.studies.ner_conflicts import summary
from evalbench.text.occurrences import comparable, places

LONGEST = 600
KEYS = ("id", "model")


def picture_shares(result: core.Result) -> draw.Drawn:
    """The share of texts with conflicts of every model."""
    rows = [e for e in result.summary.estimates if e.metric == summary.SHARE]
    return draw.pictures.estimate_bars(
        [e.group["model"] for e in rows],
        rows,
        title="Texts with conflicts, of those with a string whose place is open",
        xlabel="share (0–1)",
        domain=(0, 1),
    )


def picture_kinds(result: core.Result) -> draw.Drawn:
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
    return draw.pictures.heat_map(
        apart.astype(float),
        [*map(str, sums.index)],
        ["too seldom", "too seldom, nested", "too often", "not in the text"],
        title="Conflicts of every model by kind",
        text=[[f"{n:.0f}" for n in row] for row in apart],
        unit="conflicts; too seldom: by class and string, too often: by text and string",
        low=0,
    )


def comparisons(result: core.Result) -> pd.DataFrame:
    """Every pair of models on the share of texts with conflicts."""
    return kit.comparing.shown(result.tables.get("comparisons"), "model")


def by_class(result: core.Result) -> pd.DataFrame:
    """Conflicts by class and string of each class and model, and how many of them nesting explains."""
    own = result.tables["conflicts"]
    own = own[own["kind"] == CLASS]
    table = own.assign(missing=own["occurrences"] - own["predicted"]).groupby(["entity_class", "model"], sort=True)
    found = table.agg(conflicts=("nested", "size"), nested=("nested", "sum"), missing=("missing", "mean"))
    return found.reset_index().rename(
        columns={"entity_class": "class", "missing": "occurrences less predictions, mean"}
    )


def strings(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """The strings that are most often in conflict: in how many texts, of which kinds."""
    own = result.tables["conflicts"]
    kinds = own["kind"].where(~own["nested"], "nested")
    counts = own.assign(kind=kinds).drop_duplicates([*KEYS, "entity", "kind"]).value_counts(["entity", "kind"])
    table = counts.unstack("kind", fill_value=0).reindex(columns=[CLASS, "nested", TEXT], fill_value=0)
    table = table.assign(all=table.sum(axis=1)).reset_index().rename_axis(columns=None)
    return (
        table.sort_values(["all", "entity"], ascending=[False, True], ignore_index=True).head(rows).drop(columns="all")
    )


@kit.trials.each_trial
def marked(result: core.Result, n: int = 6) -> draw.Html:
    """Texts with most conflicts, the models in turn: every occurrence of a conflicting string is marked."""
    items = result.items[result.items["conflicting"] > 0]
    order = ["conflicting", "occurrences", *KEYS]
    cases = items.sort_values(order, ascending=[False, False, True, True], kind="stable")
    if cases.empty:
        return draw.Html('<p class="eb-small">No string is in conflict with its text.</p>')
    texts = result.tables["texts"].set_index("id")
    return draw.spans.documents(
        [_document(result, case, texts) for case in kit.cases.in_turn(cases, "model", n).to_dict("records")]
    )


def _document(result: core.Result, case: dict[Any, Any], texts: pd.DataFrame) -> draw.spans.Document:
    own = kit.cases.rows_of(result.tables["conflicts"], case, KEYS)
    how = {"case_sensitive": bool(result.parameters["case_sensitive"])}
    text = comparable(str(texts.at[case["id"], "text"]))
    plain = comparable(text, **how)
    spans, absent = [], []
    for entity, rows in own.groupby("entity", sort=True):
        said = "; ".join(map(_said, rows.to_dict("records")))
        string = comparable(str(entity), **how)
        found = places(plain, string, whole_words=bool(result.parameters["whole_words"]))
        spans += [draw.spans.Span(at, at + len(string), "conflict", said) for at in found]
        absent += [] if found else [f"{entity}: {said}"]
    cut = _cut(text, spans)
    lang = str(texts.at[case["id"], "lang"]) if "lang" in texts else None
    note = "; ".join(
        filter(
            None,
            [
                f"not in the text: {', '.join(absent)}" if absent else "",
                f"the first {LONGEST} characters of {len(text)}" if len(cut) < len(text) else "",
            ],
        )
    )
    title = f"{case['id']}, {case['model']}: {core.counted(len(own), 'conflict')}"
    return draw.spans.Document(title, cut, [s for s in spans if s.end <= len(cut)], note, lang or None)


def _cut(text: str, spans: list[draw.spans.Span]) -> str:
    return text if len(text) <= 2 * LONGEST else text[:LONGEST]


def _said(row: dict[Any, Any]) -> str:
    who = f"{row['entity_class']} predicted it" if row["entity_class"] else "all classes predicted it"
    nested = ", the rest lies inside other predicted strings" if row["nested"] else ""
    return f"{who} {row['predicted']} × of {row['occurrences']}{nested}"
