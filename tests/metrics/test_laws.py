"""What every card promises, whatever its metric is made from; the laws of text metrics are in test_text.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

import evalbench
from evalbench.metrics import registry
from evalbench.metrics.registry import Card, card, cards, metric

NOT_TEXTS = [entry for entry in cards() if not entry.kind.startswith("text")]


@pytest.mark.parametrize("entry", NOT_TEXTS, ids=lambda e: e.name)
def test_the_golden_example_gives_its_value_in_range_twice(entry: Card) -> None:
    given, expected = entry.example
    first, second = entry.function(**given), entry.function(**given)
    value, again = (np.asarray(getattr(found, "value", found)) for found in (first, second))
    assert (value == again).all()
    assert value == pytest.approx(np.asarray(expected))
    assert ((entry.range[0] <= value) & (value <= entry.range[1])).all()


@pytest.mark.parametrize("entry", cards(), ids=lambda e: e.name)
def test_every_card_says_what_to_know(entry: Card) -> None:
    assert entry.summary
    assert entry.reference
    assert entry.languages
    assert entry.range[0] < entry.range[1]
    assert not math.isnan(entry.range[0])
    assert entry.function.__doc__


def test_names_and_aliases_are_unique() -> None:
    names = [name for entry in cards() for name in (entry.name, *entry.aliases)]
    assert len(names) == len(set(names))


def test_a_taken_name_is_refused() -> None:
    with pytest.raises(ValueError, match="'rouge1' is taken by rouge1"):

        @metric(name="rouge1", kind="counts", range=(0, 1), higher_is_better=True, example=({}, 0), reference="none")
        def impostor() -> float:
            """Not ROUGE."""
            return 0.0


def test_a_metric_of_texts_is_listed_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_CARDS", {})
    own = {"range": (0, 1), "higher_is_better": True, "example": ({}, 1), "reference": "ours"}
    registry.metric(name="opens", kind="text", **own)(lambda output, reference: 1.0)
    registry.metric(name="counts", kind="counts", **own)(lambda tp: 1.0)
    assert [registry._CARDS[name].category for name in ("opens", "counts")] == ["other", ""]
    with pytest.raises(ValueError, match="metric 'tone': category 'accurate' is none of accuracy, syntactic"):
        registry.metric(name="tone", kind="text", category="accurate", **own)(lambda output, reference: 1.0)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(KeyError, match="did you mean"):
        card("rouge11")


def test_the_old_name_of_the_list_is_refused_with_the_new_one() -> None:
    with pytest.raises(AttributeError, match="is now evalbench.metrics.cards"):
        _ = evalbench.metrics.list
