"""Must-have facts: missing, denied, added; drawn from the reference where none are given."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evalbench.errors import BadInput
from evalbench.judge.facts import check_facts
from evalbench.judge.recorded import Recording

ITEM = {"id": "1", "question": "When?", "answer": "At noon. Bring a hat.", "facts": ["At noon.", "By the gate."]}


def scripted(item: dict[str, Any]) -> Any:
    """Whole sentences are claims, and support is containing them."""
    if "statement" in item:
        if any(f"Not {item['statement'].lower()}" in passage for passage in item["passages"]):
            return {"label": "CONTRADICTED", "passages": []}
        said = any(item["statement"] in passage for passage in item["passages"])
        return {"label": "SUPPORTED" if said else "NOT_SUPPORTED", "passages": [1] if said else []}
    return {"claims": [{"sentence": n, "claim": text} for n, text in enumerate(item["sentences"], start=1)]}


def test_a_missing_fact_and_an_extra_claim() -> None:
    row = check_facts([ITEM], by=scripted).rows[0]
    assert (row.missing, row.extra, row.recall) == (("By the gate.",), ("Bring a hat.",), 0.5)
    assert (row.incomplete, row.unreliable) == (True, True)


def test_a_full_answer_and_one_that_denies_a_fact() -> None:
    full = {**ITEM, "answer": "At noon. By the gate."}
    denying = {**ITEM, "id": "2", "answer": "At noon. Not by the gate."}
    one, two = check_facts([full, denying], by=scripted).rows
    assert (one.recall, one.incomplete, one.unreliable) == (1, False, False)
    assert (two.missing, two.contradicted) == (("By the gate.",), ("By the gate.",))


def test_facts_are_drawn_from_the_reference_where_none_are_given() -> None:
    item = {"id": "1", "question": "When?", "answer": "At noon.", "reference": "At noon. By the gate."}
    found = check_facts([item], by=scripted)
    assert found.rows[0].facts == ("At noon.", "By the gate.")
    assert found.rows[0].missing == ("By the gate.",)
    assert len(found.asked) == 2
    assert found.frame()["incomplete"].tolist() == [True]


def test_an_answer_without_claims_states_nothing_and_adds_nothing() -> None:
    def silent(item: dict[str, Any]) -> Any:
        return {"claims": []} if "statement" not in item else scripted(item)

    row = check_facts([{**ITEM, "answer": "I cannot say."}], by=silent).rows[0]
    assert (row.recall, row.extra, row.unreliable) == (0, (), False)


@pytest.mark.parametrize("where", ["1/answer", "1/fact/2", "1/claim/1"])
def test_a_verdict_that_is_missing_makes_the_answer_unscored(where: str) -> None:
    def failing(item: dict[str, Any]) -> Any:
        return {"unscored": "timeout", "detail": "slow"} if item["id"] == where else scripted(item)

    row = check_facts([ITEM], by=failing).rows[0]
    assert (row.unscored, row.detail) == ("timeout", f"{where}: slow")
    assert (row.incomplete, row.unreliable) == (None, None)
    assert math.isnan(row.recall)


def test_a_reference_without_facts_leaves_nothing_to_check() -> None:
    def silent(item: dict[str, Any]) -> Any:
        return {"claims": []}

    item = {"id": "1", "question": "When?", "answer": "At noon.", "reference": "Who knows?"}
    assert check_facts([item], by=silent).rows[0].unscored == "no-value"


def test_recorded_verdicts() -> None:
    rows = [
        {"id": "1/answer", "task": "claims", "claims": [{"sentence": 1, "claim": "It is at noon."}]},
        {"id": "1/fact/1", "task": "support", "label": "SUPPORTED", "passages": [1]},
        {"id": "1/fact/2", "task": "support", "label": "NOT_SUPPORTED", "passages": []},
        {"id": "1/claim/1", "task": "support", "label": "SUPPORTED", "passages": [1]},
    ]
    row = check_facts([ITEM], by=Recording(rows)).rows[0]
    assert (row.recall, row.extra) == (0.5, ())


def test_items_without_facts_and_reference_are_refused() -> None:
    with pytest.raises(BadInput, match="item '2': needs facts"):
        check_facts([ITEM, {"id": "2", "answer": "x", "facts": [" "]}], by=scripted)
    assert check_facts([], by=scripted).rows == ()
