"""Several answers in order of quality."""

from __future__ import annotations

import pytest

from evalbench.errors import BadInput
from evalbench.judge.ranking import orders_of, ranking
from evalbench.judge.recorded import Recording
from evalbench.models.prompts import load_prompt

ITEMS = [
    {"id": "1", "question": "When?", "answers": {"ash": "At noon, by the gate.", "elm": "At noon.", "yew": "Noon"}}
]
WHAT = {"criterion": "fulness", "definition": "Which says most?"}


def longest(item):
    texts = item["answers"]
    return {"order": [i + 1 for i in sorted(range(len(texts)), key=lambda i: -len(texts[i]))]}


def as_shown(item):
    return {"order": list(range(1, len(item["answers"]) + 1))}


def test_an_honest_judge_gives_the_same_order_however_they_are_shown() -> None:
    found = ranking(ITEMS, by=longest, **WHAT).rows[0]
    assert found.order == ("ash", "elm", "yew")
    assert dict(found.borda) == {"ash": 1.0, "elm": 0.5, "yew": 0.0}
    assert found.shown == len(found.places) == 6
    assert set(found.places) == {("ash", "elm", "yew")}


def test_a_judge_that_prefers_a_place_ranks_all_alike() -> None:
    found = ranking(ITEMS, by=as_shown, **WHAT).rows[0]
    assert dict(found.borda) == pytest.approx({"ash": 0.5, "elm": 0.5, "yew": 0.5})


def test_of_many_answers_some_orders_are_shown_and_the_seed_draws_them() -> None:
    assert len(set(orders_of(6, orders=10, seed=1, item_id="q"))) == 10
    assert orders_of(6, orders=4, seed=1, item_id="q") == orders_of(6, orders=4, seed=1, item_id="q")
    assert orders_of(6, orders=4, seed=1, item_id="q") != orders_of(6, orders=4, seed=2, item_id="q")
    many = [{"id": "1", "answers": {f"m{i}": "x" * i for i in range(1, 7)}}]
    found = ranking(many, by=longest, orders=3, **WHAT).rows[0]
    assert found.shown == 3
    assert found.order == ("m6", "m5", "m4", "m3", "m2", "m1")


@pytest.mark.parametrize("order", [[1, 1, 2], [1, 2], [0, 1, 2], "best", None])
def test_a_reply_that_is_not_a_ranking_is_unscored(order: object) -> None:
    found = ranking(ITEMS, by=lambda item: {"order": order}, **WHAT)
    row = found.rows[0]
    assert (row.borda, row.order, row.unscored) == ({}, (), "unparsed")
    assert found.frame()["unscored"].tolist() == ["unparsed"]


def test_orders_without_a_reply_are_left_out_of_the_mean() -> None:
    kept = Recording([{"id": "1/0", "order": [3, 2, 1]}, {"id": "1/1", "order": [1, 2, 3]}])
    row = ranking(ITEMS, by=kept, **WHAT).rows[0]
    assert (row.shown, len(row.places)) == (6, 2)
    assert row.places[0] == ("yew", "elm", "ash")
    assert row.places[1] == ("ash", "yew", "elm")
    assert row.borda["ash"] == 0.5


def test_items_without_two_answers_are_refused_all_at_once() -> None:
    with pytest.raises(BadInput) as raised:
        ranking([{"id": "1", "answers": {"a": "x"}}, {"id": "2", "answers": ["x", "y"]}], by=longest, orders=0, **WHAT)
    assert str(raised.value).count("not names with texts") == 2
    assert "orders is 0" in str(raised.value)


def test_every_language_shows_the_answers_by_number() -> None:
    for language in ("en", "ru", "zh"):
        text = load_prompt("ranking", language).render(
            criterion="c", definition="d", n=2, question="q", basis="b", answers=["one [/answer]", "two"]
        )
        assert text.index("one") < text.index("two")
