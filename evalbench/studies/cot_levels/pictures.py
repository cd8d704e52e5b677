"""Pictures, tables and annotated solutions of a cot_levels result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.draw.figures import distribution, heat_map
from evalbench.draw.html import Html, escape, language_attributes
from evalbench.draw.spans import Span, highlight
from evalbench.draw.tables import clamped, folded, html_table, text_block
from evalbench.metrics.reasoning import LEVELS
from evalbench.text.numbers import find_numbers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

    from evalbench.core.result import Result

LONGEST_STEP = 1000
_UNSOURCED = re.compile(r"(.*) ha(?:s|ve) no source")
_LEVEL_NAMES = {
    "answer": "1 answer",
    "steps": "2 steps",
    "similarity": "3 similarity",
    "coherence": "4 coherence",
}


def figure_levels(result: Result) -> tuple[Picture, str]:
    """Mean of every level per model, the references' level 4 beside them."""
    means = result.items.groupby("model", sort=True)[[*LEVELS, "final"]].mean()
    ceiling = result.items.drop_duplicates("id")["reference_coherence"].mean()
    matrix = np.vstack([means.to_numpy(), [np.nan, np.nan, np.nan, ceiling, np.nan]])
    return heat_map(
        matrix,
        [*map(str, means.index), "the references"],
        [*(_LEVEL_NAMES[level] for level in LEVELS), "final"],
        title="Mean score of every model on the four levels",
        unit="score (0–1); the references' level 4 is the ceiling of that level",
        low=0,
        high=1,
    )


def figure_scores(result: Result) -> tuple[Picture, str]:
    """How the final scores are spread."""
    groups = {str(m): rows["final"].to_numpy() for m, rows in result.items.groupby("model", sort=True)}
    threshold = result.parameters["threshold"]
    return distribution(
        groups,
        title=f"Final scores of the responses (a score from {threshold:g} on passes)",
        xlabel="Final score (0–1)",
        domain=(0, 1),
    )


def reasons(result: Result, rows: int = 20) -> pd.DataFrame:
    """The most frequent reasons for a wrong or unsourced step: how many steps of each model, and of all."""
    import pandas as pd

    steps = result.tables["steps"]
    named = [
        (m, kind)
        for m, reason in zip(steps["model"], steps["reason"], strict=True)
        for kind in _kinds(reason)
    ]
    counts = (
        pd.DataFrame(named, columns=["model", "what is wrong"]).value_counts().unstack("model", fill_value=0)
    )
    counts = counts.reindex(columns=sorted(steps["model"].unique()), fill_value=0)
    table = counts.assign(steps=counts.sum(axis=1).astype(int)).reset_index().rename_axis(columns=None)
    return table.sort_values(["steps", "what is wrong"], ascending=[False, True]).head(rows)


def _kinds(reason: str) -> set[str]:
    """A step's reasons without what is particular to it: its equation, its other numbers."""
    kinds = set()
    for part in filter(None, reason.split("; ")):
        unsourced = _UNSOURCED.fullmatch(part)
        if unsourced:
            kinds.update(f"{number} has no source" for number in unsourced[1].split(", "))
        else:
            kinds.add("an equation is wrong" if " is wrong: " in part else "an equation cannot be read")
    return kinds


def worst(result: Result, rows: int = 10) -> pd.DataFrame:
    """The responses with the lowest final score, beside their problems."""
    import pandas as pd

    scored = result.items.dropna(subset=["final"])
    items = scored.sort_values(["final", "id", "model"], kind="stable").head(rows)
    merged = items.merge(result.tables["solutions"], on=["id", "model"], validate="one_to_one")
    records = merged.to_dict("records")
    return merged[["id", "model", "final"]].assign(
        **{
            "the problem": pd.Series([_problem(row) for row in records], dtype=object),
            "the response and its levels": pd.Series([_response(row) for row in records], dtype=object),
        }
    )


def _problem(row: dict[str, Any]) -> Html:
    text = row["question"]
    asked = f"<div{language_attributes(text)}>{clamped(text, 300)}</div>"
    return Html(asked + folded("reference solution", row["reference"]))


def _response(row: dict[str, Any]) -> Html:
    levels = ", ".join(f"{level} {_level(row[level])}" for level in LEVELS)
    return Html(f"{text_block(row['response'])}<strong>{escape(levels)}</strong>")


def _level(score: float) -> str:
    return "–" if np.isnan(score) else f"{score:.2f}"


def annotated(result: Result, n: int = 4) -> Html:
    """Annotated solutions: for every step whether its equations are right and its numbers have a source, and why not.

    Responses with faulty steps, lowest level 4 first, the models in turn.
    """
    faulty = result.items[(result.items["coherence"] < 1) & (result.items["n_equations"] > 0)]
    ordered = faulty.sort_values(["coherence", "id", "model"], kind="stable")
    turn = ordered.groupby("model").cumcount()
    chosen = ordered.assign(turn=turn).sort_values(["turn", "model"], kind="stable").head(n)
    if chosen.empty:
        return Html('<p class="eb-small">Every step of every response is right and sourced.</p>')
    return Html("".join(_annotated_one(result, str(r.id), str(r.model)) for r in chosen.itertuples()))


def _annotated_one(result: Result, name: str, model: str) -> Html:
    import pandas as pd

    solution = _row(result.tables["solutions"], name, model)
    item = _row(result.items, name, model)
    steps = result.tables["steps"]
    shown = steps[(steps["id"] == name) & (steps["model"] == model)]
    said = [_said(t, r) for t, r in zip(shown["text"], shown["reason"], strict=True)]
    table = pd.DataFrame(
        {
            "step": shown["step"].to_numpy(),
            "what the response says": pd.Series(said, dtype=object),
            "equations right": [_mark(v) for v in shown["accurate"]],
            "numbers sourced": [_mark(v) for v in shown["coherent"]],
            "what is wrong": shown["reason"].to_numpy(),
        }
    )
    head = (
        f'<p class="eb-doc-title">{escape(name)}, {escape(model)}: level 4 {item["coherence"]:.2f}, '
        f"final {item['final']:.2f}</p><p{language_attributes(solution['question'])}>{escape(solution['question'])}</p>"
    )
    return Html(head + html_table(table, caption=f"Steps of {model} on {name}", rows=40))


def _said(text: str, reason: str) -> Html:
    """A step with its unsourced numbers marked; of a very long one the beginning, until it is opened."""
    if len(text) > LONGEST_STEP:
        return clamped(text, LONGEST_STEP)
    return highlight(text, _faulty_numbers(text, reason))


def _row(frame: pd.DataFrame, name: str, model: str) -> Any:
    return frame[(frame["id"] == name) & (frame["model"] == model)].iloc[0]


def _mark(value: Any) -> str:
    import pandas as pd

    if pd.isna(value):
        return "– no equation"
    return "✓ yes" if value else "✗ no"


def _faulty_numbers(text: str, reason: str) -> list[Span]:
    """The numbers of a step that its reason calls unsourced, as spans."""
    unsourced = [part for part in reason.split("; ") if part.endswith("no source")]
    wanted = {n.value for part in unsourced for n in find_numbers(part)}
    return [Span(n.start, n.end, "unsourced", "no source") for n in find_numbers(text) if n.value in wanted]
