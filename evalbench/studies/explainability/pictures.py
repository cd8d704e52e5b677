"""Pictures and tables of an explainability result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evalbench.draw.html import Html
from evalbench.draw.pictures import distribution, estimate_bars
from evalbench.draw.tables import folded, text_block
from evalbench.studies.explainability.parts import PARTS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

    from evalbench.core.result import Result


def picture_halves(result: Result) -> tuple[Picture, str]:
    """The overall score and both halves with their intervals."""
    rows = [result.estimate("XAI_overall_score"), *(result.estimate("score", part=name) for name in PARTS)]
    threshold = result.parameters["threshold"]
    return estimate_bars(
        ["overall", "chains of thought", "cited answers"],
        rows,
        title=f"Explainability and its two halves (the overall score passes from {threshold:g} on)",
        xlabel="Mean final score (0–1)",
        domain=(0, 1),
    )


def picture_scores(result: Result) -> tuple[Picture, str]:
    """How the scores of both halves are spread."""
    names = {"cot": "chains of thought", "citation": "cited answers"}
    groups = {names[part]: rows["score"].to_numpy() for part, rows in result.items.groupby("part", sort=False)}
    return distribution(groups, title="Final scores of both halves", xlabel="Final score (0–1)", domain=(0, 1))


def final_results_table(result: Result) -> pd.DataFrame:
    """The keys of ``FINAL_RESULTS_YYYYMMDD.json`` and their values, one a row."""
    import pandas as pd

    content = json.loads(next(iter(result.files.values())))
    flat = pd.json_normalize(content).to_dict("records")[0]
    shown = [value if isinstance(value, str) else json.dumps(value) for value in flat.values()]
    return pd.DataFrame({"key": list(flat), "value": shown})


def worst(result: Result, rows: int = 10) -> pd.DataFrame:
    """The items with the lowest scores, with their texts and, where there are any, reasons."""
    import pandas as pd

    lowest = result.items.sort_values(["score", "part", "id"], kind="stable").head(rows)
    silent = [column for column in ("unscored", "undefined") if (lowest[column] == "").all()]
    shown = lowest.drop(columns=silent).reset_index(drop=True)
    merged = shown[["id", "part"]].merge(result.tables["texts"], on=["id", "part"], how="left")
    if merged["question"].isna().all():
        return shown
    asked = [
        _text(q, folded("right answer", r) if r else "")
        for q, r in zip(merged["question"], merged["right"], strict=True)
    ]
    said = [_text(text, "") for text in merged["said"]]
    return shown.assign(
        question=pd.Series(asked, dtype=object), **{"the model's answer": pd.Series(said, dtype=object)}
    )


def _text(text: Any, more: str) -> Html | None:
    return Html(f"{text_block(text)}{more}") if isinstance(text, str) else None
