"""What a study says of an option that measures: the figures that it does not name stay as they are, and comparisons keep their verdict."""

from __future__ import annotations

from typing import Any

import pytest
from some_studies import some_studies
from studied import evaluated, sample, whole

from evalbench import studies
from evalbench.compare.runs import Hooks, compare
from evalbench.compare.sides import Side, with_names
from evalbench.core.result import Result
from evalbench.kit.measuring import moves

OTHER: list[tuple[str, str, Any]] = [
    ("citation", "threshold", 0.99),
    ("citation", "final_weights", {"correctness": 0.2, "interpretability": 0.8}),
    ("citation", "weights", {"support": 0.2, "verification": 0.8}),
    ("citation", "support_on", "claim_consistency_explainability"),
    ("citation", "quote_threshold", 0.5),
    ("citation", "sources_complete", True),
    ("confidence", "confident_from", 0.5),
    ("confidence", "coverage", 0.5),
    ("cot_levels", "threshold", 0.99),
    ("cot_levels", "weights", {"answer": 0.7, "steps": 0.1, "similarity": 0.1, "coherence": 0.1}),
    ("cot_levels", "common_constants", "everyday"),
    ("cot_levels", "answer_extractor", "flexible"),
    ("dialogue", "time_zone", "Europe/Moscow"),
    ("drift", "new_tokens", "ratio"),
    ("drift", "languages", ["en"]),
    ("drift", "n_bins", 5),
    ("drift", "n_neighbours", 3),
    ("drift", "formula", "handbook"),
    ("drift", "psi_light_on", "raw"),
    ("explainability", "weight_cot", 0.9),
    ("explainability", "cot_threshold", 0.99),
    ("human_correlation", "coefficient", "kendall"),
    ("human_correlation", "level", "system"),
    ("matching", "ha_thresholds", {"score": 0.9}),
    ("needle", "scorer", "word"),
    ("needle", "least_fall", 0.5),
    ("rag_generation", "n_questions", 1),
    ("rag_retrieval", "ks", [1, 2]),
    ("stability_top", "persistence", 0.5),
    ("text_metrics", "normalise", "squad"),
    ("text_metrics", "stem", True),
    ("text_metrics", "embed", "minilm"),
]


SOME = some_studies(dict.fromkeys(name for name, *_ in OTHER))


@pytest.mark.generated
@pytest.mark.parametrize(
    ("name", "option", "value"), [each for each in OTHER if each[0] in SOME], ids=lambda each: str(each)[:30]
)
def test_figures_that_an_option_is_not_said_to_move_stay(name: str, option: str, value: Any) -> None:
    named = studies.study(name).measured_by()[option]
    first, other = values(whole(name)), values(evaluated(name, sample(name), **{option: value}))
    moved = {key[0] for key in first if key in other and first[key] != other[key]}
    assert {metric for metric in moved if not moves(named, metric)} == set()


def values(result: Result) -> dict[tuple[Any, ...], float | None]:
    return {(e.metric, *e.group.items()): e.value for e in result.summary.estimates}


def test_runs_that_differ_in_a_threshold_have_no_verdict_on_who_passed_and_one_on_the_score() -> None:
    name = "citation"
    sides = with_names([
        Side(f"r{i}", result.to_json(), {}, result.items)
        for i, result in enumerate(evaluated(name, sample(name), **more) for more in ({}, {"threshold": 0.99}))
    ])  # fmt: skip
    found = compare(sides[0], sides[1:], Hooks.of(studies.study(name)), n_resamples=100, n_summaries=10)[0]
    outcomes = {(row.comparison.metric, row.comparison.outcome) for row in found.rows}
    assert {outcome for metric, outcome in outcomes if metric == "passed"} == {"another measure"}
    assert {outcome for metric, outcome in outcomes if metric != "passed"} <= {"same", "undefined"}
