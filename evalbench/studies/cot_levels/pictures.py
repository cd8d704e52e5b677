"""Pictures, tables and annotated solutions of a cot_levels result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.draw.html import Html, escape, language_attributes
from evalbench.draw.pictures import distribution, heat_map
from evalbench.draw.spans import Span, highlight
from evalbench.draw.tables import clamped, folded, html_table, text_block
from evalbench.metrics.reasoning import LEVELS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

    from evalbench.core.result import Result

LONGEST_STEP = 1000
_LEVEL_NAMES = {"answer": "1 answer", "steps": "2 steps", "similarity": "3 similarity", "coherence": "4 coherence"}


def picture_levels(result: Result) -> tuple[Picture, str]:
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


def picture_scores(result: Result) -> tuple[Picture, str]:
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
    """The most frequent faults of steps: how many steps of each model, and of all."""

    faults = result.tables["faults"]
    named = faults.assign(
        **{"what is wrong": [_kind(k, n) for k, n in zip(faults["kind"], faults["number"], strict=True)]}
    ).drop_duplicates(["id", "model", "step", "what is wrong"])
    counts = named.value_counts(["model", "what is wrong"]).unstack("model", fill_value=0)
    counts = counts.reindex(columns=sorted(result.items["model"].unique()), fill_value=0)
    table = counts.assign(steps=counts.sum(axis=1).astype(int)).reset_index().rename_axis(columns=None)
    return table.sort_values(["steps", "what is wrong"], ascending=[False, True]).head(rows)


def _kind(kind: str, number: str) -> str:
    """A fault without what is particular to its step."""
    return {
        "wrong": "an equation is wrong",
        "unread": "an equation cannot be read",
        "unsourced": f"{number} has no source",
    }[kind]


def faults_in_words(faults: pd.DataFrame) -> str:
    """The faults of one step as a reader sees them."""
    said = [f"{r.equation}: {r.detail}" for r in faults[faults["kind"] == "unread"].itertuples()]
    wrong = faults[faults["kind"] == "wrong"].itertuples()
    said += [f"{r.equation} is wrong: the left side is {r.detail}" for r in wrong]
    numbers = list(dict.fromkeys(faults.loc[faults["kind"] == "unsourced", "number"]))
    if numbers:
        said.append(f"{', '.join(numbers)} {'has' if len(numbers) == 1 else 'have'} no source")
    return "; ".join(said)


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
    shown, faults = (_rows(result.tables[table], name, model) for table in ("steps", "faults"))
    of_step = [faults[faults["step"] == step] for step in shown["step"]]
    said = [_said(text, own) for text, own in zip(shown["text"], of_step, strict=True)]
    table = pd.DataFrame(
        {
            "step": shown["step"].to_numpy(),
            "what the response says": pd.Series(said, dtype=object),
            "equations right": [_mark(v, e) for v, e in zip(shown["accurate"], shown["equations"], strict=True)],
            "numbers sourced": [_mark(v, e) for v, e in zip(shown["coherent"], shown["equations"], strict=True)],
            "what is wrong": [faults_in_words(own) for own in of_step],
        }
    )
    head = (
        f'<p class="eb-doc-title">{escape(name)}, {escape(model)}: level 4 {item["coherence"]:.2f}, '
        f"final {item['final']:.2f}</p><p{language_attributes(solution['question'])}>{escape(solution['question'])}</p>"
    )
    return Html(head + html_table(table, caption=f"Steps of {model} on {name}", rows=40))


def _said(text: str, faults: pd.DataFrame) -> Html:
    """A step with its unsourced numbers marked; of a very long one the beginning, until it is opened."""
    if len(text) > LONGEST_STEP:
        return clamped(text, LONGEST_STEP)
    unsourced = faults[(faults["kind"] == "unsourced") & (faults["end"] > faults["start"])]
    return highlight(text, [Span(r.start, r.end, "unsourced", "no source") for r in unsourced.itertuples()])


def _row(frame: pd.DataFrame, name: str, model: str) -> Any:
    return _rows(frame, name, model).iloc[0]


def _rows(frame: pd.DataFrame, name: str, model: str) -> pd.DataFrame:
    return frame[(frame["id"] == name) & (frame["model"] == model)]


def _mark(value: Any, equations: str) -> str:
    import pandas as pd

    if pd.isna(value):
        return "– cannot be read" if equations else "– no equation"
    return "✓ yes" if value else "✗ no"
