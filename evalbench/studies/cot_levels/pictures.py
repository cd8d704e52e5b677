"""Pictures, tables and annotated solutions of a cot_levels result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.metrics import coherence, reasoning
from evalbench.studies.cot_levels import items

LONGEST_STEP = 1000


def picture_levels(result: core.Result) -> draw.Drawn:
    """Mean of every level per model, the references' level 4 beside them."""
    means = result.items.groupby("model", sort=True)[[*items.COLUMNS.values(), "final"]].mean()
    ceiling = result.items.drop_duplicates("id")["reference_coherence"].mean()
    return draw.pictures.heat_map(
        np.vstack([means.to_numpy(), [np.nan, np.nan, np.nan, ceiling, np.nan]]),
        [*map(str, means.index), "the references"],
        [*(f"{number} {level}" for number, level in enumerate(reasoning.LEVELS, 1)), "final"],
        title="Mean score of every model on the four levels",
        unit="score (0–1); the references' level 4 is the ceiling of that level",
        low=0,
        high=1,
    )


def picture_evidence(result: core.Result) -> draw.Drawn | None:
    """The path of the evidence, where asking stopped early."""
    return kit.early.picture_of_evidence(result)


def picture_scores(result: core.Result) -> draw.Drawn:
    """How the final scores are spread."""
    models = {str(m): rows["final"].to_numpy() for m, rows in result.items.groupby("model", sort=True)}
    return draw.pictures.distribution(
        models,
        title=f"Final scores of the responses (a score from {result.parameters['threshold']:g} on passes)",
        xlabel="Final score (0–1)",
        domain=(0, 1),
        behind=draw.bars.of_groups("final", "model", models),
    )


def reasons(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """The most frequent faults of steps: how many steps of each model, and of all."""
    faults = result.all_of("faults", [*items.KEYS, "step", "kind", "number"])
    kinds = {"wrong": "an equation is wrong", "unread": "an equation cannot be read"}
    named = faults.assign(**{"what is wrong": faults["kind"].map(kinds).fillna(faults["number"] + " has no source")})
    steps = named.drop_duplicates([*items.KEYS, "step", "what is wrong"])
    counts = steps.value_counts(["model", "what is wrong"]).unstack("model", fill_value=0)
    counts = counts.reindex(columns=sorted(result.items["model"].unique()), fill_value=0)
    table = counts.assign(steps=counts.sum(axis=1).astype(int)).reset_index().rename_axis(columns=None)
    return table.sort_values(["steps", "what is wrong"], ascending=[False, True]).head(rows)


@kit.trials.each_trial
def worst(result: core.Result, rows: int = 10) -> pd.DataFrame:
    """The responses with the lowest final score, beside their problems."""
    show = {"id": "id", "model": "model", "final": "final"}
    own = {"the problem": _problem, "the response and its levels": _response}
    texts = result.tables["solutions"]
    return kit.cases.worst_cases(result.items, "final", keys=items.KEYS, n=rows, texts=texts, show={**show, **own})


def _problem(case: dict[str, Any]) -> draw.Html:
    return draw.Html(
        draw.tables.text_block(case["question"], 300) + draw.tables.folded("reference solution", case["reference"])
    )


def _response(case: dict[str, Any]) -> draw.Html:
    levels = ", ".join(f"{level} {kit.cases.score_text(case[column])}" for level, column in items.COLUMNS.items())
    return draw.Html(f"{draw.tables.text_block(case['answer'])}<strong>{draw.escape(levels)}</strong>")


@kit.trials.each_trial
def annotated(result: core.Result, n: int = 4) -> draw.Html:
    """Annotated solutions: for every step whether its equations are right and its numbers have a source, and why not.

    Responses with faulty steps, lowest level 4 first, the models in turn.
    """
    faulty = result.items[(result.items["coherence"] < 1) & (result.items["n_equations"] > 0)]
    texts = result.tables["solutions"]
    held = kit.cases.held(faulty, texts)
    cases = kit.cases.worst_cases(held, "coherence", keys=items.KEYS, n=None, texts=texts)
    if cases.empty:
        return draw.Html('<p class="eb-small">Every step of every response is right and sourced.</p>')
    return draw.Html(
        "".join(_annotated_one(result, case) for case in kit.cases.in_turn(cases, "model", n).to_dict("records"))
    )


def _annotated_one(result: core.Result, case: Mapping[Any, Any]) -> draw.Html:
    steps, faults = (kit.cases.rows_of(result.tables[name], case, items.KEYS) for name in ("steps", "faults"))
    own = {step: faults[faults["step"] == step] for step in steps["step"]}
    table = kit.cases.shown(
        steps.assign(unknown=np.where(steps["equations"] == "", "no equation", "cannot be read")),
        {
            "step": "step",
            "what the response says": lambda step: _said(step["text"], own[step["step"]]),
            "equations right": lambda step: kit.cases.yes_no(step["accurate"], step["unknown"]),
            "numbers sourced": lambda step: kit.cases.yes_no(step["coherent"], step["unknown"]),
            "what is wrong": lambda step: coherence.in_words(own[step["step"]].itertuples()),
        },
    )
    title = f"{case['id']}, {case['model']}: level 4 {case['coherence']:.2f}, final {case['final']:.2f}"
    caption = f"Steps of {case['model']} on {case['id']}"
    return kit.cases.sheet(title, case["question"], draw.tables.html_table(table, caption=caption, rows=40))


def _said(text: str, faults: pd.DataFrame) -> draw.Html:
    """A step with its unsourced numbers marked; of a very long one the beginning, until it is opened."""
    if len(text) > LONGEST_STEP:
        return draw.tables.clamped(text, LONGEST_STEP)
    unsourced = faults[(faults["kind"] == "unsourced") & (faults["end"] > faults["start"])]
    places = unsourced[["start", "end"]].to_numpy(dtype=int).tolist()
    return draw.spans.highlight(text, [draw.spans.Span(start, end, "unsourced", "no source") for start, end in places])
