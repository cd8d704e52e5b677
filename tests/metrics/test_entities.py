"""Entities by optimal assignment: worked cases, brute force, an independent library, and the order of predictions."""

from __future__ import annotations

import json
import math
from itertools import permutations
from typing import Any

import nervaluate
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.metrics import entities as module
from evalbench.metrics.entities import COUNTS, MODES, Entities, counts_of, entity_f1, matched
from evalbench.readers.tagged import chunks_of

STRATEGIES = {
    "StrictEvaluation": "strict",
    "ExactEvaluation": "exact",
    "PartialEvaluation": "partial",
    "EntityTypeEvaluation": "type",
}


def flat(texts: list[list[tuple[int, int, int]]]) -> Entities:
    rows = [(t, *entity) for t, listed in enumerate(texts) for entity in listed]
    return Entities(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def counts(truth: Entities, predicted: Entities, mode: str) -> dict[str, int]:
    found = matched(truth, predicted)
    nowhere = np.zeros(len(found.pairs.truth), dtype=np.int64)
    sizes = (np.array([len(truth.text)]), np.array([len(predicted.text)]))
    return {name: int(n[0]) for name, n in counts_of(found, mode, nowhere, *sizes).items()}


def tagged(tags: list[str], names: list[str]) -> list[tuple[int, int, int]]:
    chunks = chunks_of(tags, np.zeros(len(tags), dtype=np.int64))
    places = zip(chunks.first.tolist(), chunks.last.tolist(), chunks.kinds, strict=True)
    return [(a, b + 1, names.index(k)) for a, b, k in places]


# -- worked cases ----------------------------------------------------------------------------------


@pytest.mark.external
def test_the_24_cases_of_another_library(external_data):
    cases = json.loads((external_data("ner_metric_cases") / "nervaluate_cases.json").read_text(encoding="utf-8"))
    assert len(cases) == 24
    for case in cases:
        names = sorted({tag[2:] for side in ("true", "pred") for tag in case[side] if tag != "O"})
        truth, predicted = (flat([tagged(case[side], names)]) for side in ("true", "pred"))
        found = counts(truth, predicted, STRATEGIES[case["strategy_class"]])
        assert found == {name: case["expected"][name] for name in COUNTS}, case["name"]


@pytest.mark.external
def test_figures_of_conlleval(external_data):
    lines = (external_data("ner_metric_cases") / "conlleval_ground_truth.txt").read_text(encoding="utf-8").split("\n")
    rows = [line.split() for line in lines]
    text = np.cumsum([not row for row in rows])[[bool(row) for row in rows]]
    tokens = [row for row in rows if row]
    sides = []
    for column in (-2, -1):
        chunks = chunks_of([row[column] for row in tokens], text)
        sides.append(list(zip(chunks.first.tolist(), chunks.last.tolist(), chunks.kinds, strict=True)))
    truth, predicted = ([(a, b + 1, kind) for a, b, kind in side] for side in sides)
    assert (len(truth), len(predicted)) == (459, 539)
    assert round(100 * entity_f1([truth], [predicted]), 2) == 74.35
    assert len(set(truth) & set(predicted)) == 371


def test_every_mode_on_one_example():
    truth = [[(0, 5, "LOC"), (10, 20, "PER"), (30, 40, "ORG")]]
    predicted = [[(0, 5, "PER"), (10, 15, "PER"), (50, 60, "ORG")]]
    assert [round(entity_f1(truth, predicted, mode), 4) for mode in MODES] == [0, 0.3333, 0.5, 0.3333]


def test_without_any_entity_there_is_no_value():
    assert math.isnan(entity_f1([[]], [[]]))
    assert entity_f1([[(0, 1, "A")]], [[]]) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"truth": [[]], "predicted": []}, "1 texts with true entities, 0"),
        ({"truth": [[(3, 3, "A")]], "predicted": [[]]}, "0 ≤ start < end"),
        ({"truth": [[]], "predicted": [[]], "mode": "fuzzy"}, "mode must be one of strict, exact, partial, type"),
    ],
)
def test_refusals(options, said):
    with pytest.raises(ValueError, match=said):
        entity_f1(**options)


def test_too_many_overlapping_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 10)
    side = flat([[(0, 100, 0)] * 4])
    with pytest.raises(BadInput, match="more than 10 pairs of spans may overlap"):
        matched(side, side)


def test_a_later_prediction_that_fits_is_not_lost_to_an_earlier_one():
    """Where the first that fits is taken, the exact prediction comes too late."""
    truth, late = [[(0, 4, "A")]], [[(0, 9, "A"), (0, 4, "A")]]
    for mode in MODES:
        assert entity_f1(truth, late, mode) == entity_f1(truth, [late[0][::-1]], mode) == pytest.approx(2 / 3)


def test_nested_spans_of_one_class_find_two_partners():
    truth, predicted = [[(0, 10, "A"), (0, 4, "A")]], [[(0, 10, "A"), (6, 9, "A")]]
    assert entity_f1(truth, predicted, "type") == 1
    assert entity_f1(truth, predicted, "strict") == 0.5


# -- brute force -----------------------------------------------------------------------------------

spans = st.tuples(st.integers(0, 8), st.integers(1, 5), st.integers(0, 1)).map(lambda s: (s[0], s[0] + s[1], s[2]))
few = st.lists(spans, max_size=5)


def credit(true: tuple[int, int, int], predicted: tuple[int, int, int], mode: str) -> float:
    exact, same = true[:2] == predicted[:2], true[2] == predicted[2]
    if min(true[1], predicted[1]) <= max(true[0], predicted[0]):
        return 0.0
    return {"strict": exact and same, "exact": exact, "partial": 1 if exact else 0.5, "type": same}[mode]


def best(truth: list[Any], predicted: list[Any], mode: str) -> float:
    short, long = sorted((truth, predicted), key=len)
    sides = (lambda a, b: (a, b)) if short is truth else (lambda a, b: (b, a))
    return max(
        (
            sum(credit(*sides(a, b), mode) for a, b in zip(short, case, strict=True))
            for case in permutations(long, len(short))
        ),
        default=0.0,
    )


@settings(max_examples=150, deadline=None)
@given(few, few)
def test_no_assignment_has_more_credit(truth, predicted):
    for mode in MODES:
        found = counts(flat([truth]), flat([predicted]), mode)
        assert found["correct"] + found["partial"] / 2 == best(truth, predicted, mode), mode
        assert min(found.values()) >= 0


@settings(max_examples=100, deadline=None)
@given(st.lists(few, min_size=1, max_size=4), st.lists(few, min_size=1, max_size=4), st.randoms())
def test_the_order_of_predictions_changes_nothing(truth, predicted, shuffled):
    n = max(len(truth), len(predicted))
    truth, predicted = (side + [[]] * (n - len(side)) for side in (truth, predicted))
    one, again = flat(truth), flat(predicted)
    order = list(range(len(again.text)))
    shuffled.shuffle(order)
    other = Entities(*(column[order] for column in again))
    first, second = matched(one, again), matched(one, other)
    for way in first.taken:
        pairs = [
            sorted(
                (int(t), *(int(column[p]) for column in side))
                for t, p in zip(
                    found.pairs.truth[found.taken[way]], found.pairs.predicted[found.taken[way]], strict=True
                )
            )
            for found, side in ((first, again), (second, other))
        ]
        assert pairs[0] == pairs[1], way


def test_large_tangles_are_assigned_as_small_ones():
    """More spans in one tangle than are tried one by one."""
    truth = [[(i, i + 30, 0) for i in range(12)]]
    predicted = [[(i, i + 30, 0) for i in range(3, 15)]]
    found = counts(flat(truth), flat(predicted), "strict")
    assert found == {"correct": 9, "incorrect": 3, "partial": 0, "missed": 0, "spurious": 0}


# -- an independent library ------------------------------------------------------------------------


def test_nervaluate_agrees_where_spans_do_not_overlap():
    """On flat tags it counts as we do, but for *type*, where the first prediction takes what the next one needs."""
    draw = np.random.default_rng(3)
    tags = np.array(["O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"])
    true = [tags[draw.integers(6, size=12)].tolist() for _ in range(60)]
    said = [[str(draw.choice(tags)) if draw.random() < 0.25 else tag for tag in row] for row in true]
    names = ["PER", "LOC"]
    truth, predicted = (flat([tagged(row, names) for row in side]) for side in (true, said))
    listed = [
        [[{"label": names[k], "start": a, "end": b - 1} for a, b, k in tagged(row, names)] for row in side]
        for side in (true, said)
    ]
    results = nervaluate.Evaluator(*listed, tags=names, loader="dict").evaluate()["overall"]
    for mode in ("strict", "exact", "partial"):
        own = counts(truth, predicted, mode)
        assert own == {name: getattr(results[mode], name) for name in COUNTS}, mode
    assert counts(truth, predicted, "type")["correct"] >= results["ent_type"].correct
