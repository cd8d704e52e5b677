"""Pictures and tables of an explainability result."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from evalbench import core, draw, kit
from evalbench.readers import where
from evalbench.studies.explainability import inputs, summary


def picture_halves(result: core.Result) -> draw.Drawn:
    """The overall score and both halves with their intervals."""
    threshold = result.parameters["threshold"]
    return draw.pictures.estimate_bars(
        ["overall", *(half.words for half in inputs.HALVES.values())],
        [result.estimate(summary.OVERALL), *(result.estimate("score", part=name) for name in inputs.HALVES)],
        title=f"Explainability and its two halves (the overall score passes from {threshold:g} on)",
        xlabel="Mean final score (0–1)",
        domain=(0, 1),
    )


def picture_scores(result: core.Result) -> draw.Drawn:
    """How the scores of both halves are spread."""
    parts = result.items.groupby("part", sort=False)
    groups = {inputs.HALVES[str(part)].words: rows["score"].to_numpy() for part, rows in parts}
    behind = {
        half.words: draw.bars.Behind("score", where.of_group({"part": part}, ["part"]))
        for part, half in inputs.HALVES.items()
        if half.words in groups
    }
    return draw.pictures.distribution(
        groups, title="Final scores of both halves", xlabel="Final score (0–1)", domain=(0, 1), behind=behind
    )


def final_results_table(result: core.Result) -> pd.DataFrame:
    """The keys of ``FINAL_RESULTS_YYYYMMDD.json`` and their values, one a row."""
    content = json.loads(next(iter(result.files.values())))
    flat = pd.json_normalize(content).to_dict("records")[0]
    values = [value if isinstance(value, str) else json.dumps(value) for value in flat.values()]
    return pd.DataFrame({"key": list(flat), "value": values})


def worst(result: core.Result, rows: int = 10) -> pd.DataFrame:
    """The items with the lowest scores, with their texts and, where there are any, reasons."""
    lowest = kit.cases.worst_cases(result.items, "score", keys=["part", "id"], n=rows, unscored=True)
    reasons = [column for column in ("unscored", "undefined") if (lowest[column] != "").any()]
    columns = {name: name for name in ("id", "part", "score", *reasons)}
    texts = {"question": _asked, "the model's answer": lambda row: _text(row["answer"])}
    found = lowest.merge(result.tables["texts"], on=["id", "part"], how="left")
    return kit.cases.shown(found, columns if found["question"].isna().all() else {**columns, **texts})


def _asked(row: dict[str, Any]) -> draw.Html | None:
    return _text(row["question"], draw.tables.folded("right answer", row["reference"]) if row["reference"] else "")


def _text(text: Any, more: str = "") -> draw.Html | None:
    return draw.Html(f"{draw.tables.text_block(text)}{more}") if isinstance(text, str) else None
