"""Escalation with a promise: who decides what, how the promise is set and said, what it costs; scripted judges."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from studied import evaluated, sample

from evalbench import load
from evalbench.errors import BadInput
from evalbench.judge.rows import Judgement
from evalbench.studies import cascade
from evalbench.studies.cascade.promised_agreement import together

N = 90
LABELLED = 70


def tables(wrong: int = 0) -> dict[str, pd.DataFrame]:
    """A is better on even questions; the first labels are against the judges on ``wrong`` of them."""
    ids = [f"q{i:02}" for i in range(N)]
    items = pd.DataFrame(
        {
            "id": ids,
            "question": [f"When does gate {i} open?" for i in range(N)],
            "answer_a": [f"At {i} sharp, {'good' if i % 2 == 0 else 'bad'}." for i in range(N)],
            "answer_b": [f"From {i + 100} on, {'bad' if i % 2 == 0 else 'good'}." for i in range(N)],
        }
    )
    labels = [
        {
            "id": name,
            "model": model,
            "annotator": "ada",
            "mark": 2 * float((model == "A") == ((i % 2 == 0) != (i < wrong))),
        }
        for i, name in enumerate(ids[:LABELLED])
        for model in ("A", "B")
    ]
    return {"items": items, "labels": pd.DataFrame(labels)}


def cheap(item: dict[str, Any]) -> str:
    """Right where the question's number is below 6 in its last place; elsewhere it likes what comes first."""
    easy = int(str(item["id"]).split("/")[0][-1]) < 6
    return ("FIRST" if "good" in item["first"] else "SECOND") if easy else "FIRST"


def strong(item: dict[str, Any]) -> str:
    """Right everywhere but where the number ends in 9: there it likes what comes first."""
    easy = int(str(item["id"]).split("/")[0][-1]) < 9
    return ("FIRST" if "good" in item["first"] else "SECOND") if easy else "FIRST"


def promised(wrong: int = 0, **more: Any):
    options = {
        "judge": cheap,
        "strong": strong,
        "run_stages": [9],
        "promise": 0.9,
        "n_resamples": 50,
        "min_agreement": 0.0,
    }
    return cascade.evaluate(load(tables(wrong), study="cascade"), **{**options, **more})


def test_the_first_judge_that_is_sure_enough_decides() -> None:
    result = promised()
    table = result.tables["escalation"].set_index("judge")
    assert table["decided"].tolist() == [54, 27, 9]
    assert table["asked"].tolist() == [90, 36, 9]
    assert table["calls"].tolist() == [180, 2 * (LABELLED + 8), 0]
    items = result.items.set_index("id")
    assert (
        items["outcome"][items["stage"] == 9]
        == ["a", "b"] * 0 + ["a" if int(i[1:]) % 2 == 0 else "b" for i in items.index[items["stage"] == 9]]
    ).all()
    assert items.loc["q06", "evidence"].startswith("function:strong, confidence 1.00")
    assert items.loc["q09", "open"] == 1
    (said,) = [n for n in result.notes if n.startswith("Promise")]
    assert (
        "at least 90% of the pairs that they decide, with confidence 90%, where the labelled ones are a random part: of 63 labelled"
        in said
    )
    assert "they disagree on 0, at most 3.6 %" in said
    assert "81 of 90 pairs are decided: 54 by function:cheap" in said
    assert "function:strong alone on every pair: 180" in said
    steps = result.tables["escalation_steps"]
    assert steps["chosen"].sum() == 1
    assert steps.loc[steps["chosen"], "disagreement_at_most"].item() <= 0.1


def test_where_labels_disagree_too_often_nothing_is_decided_and_it_is_said() -> None:
    result = promised(wrong=15)
    assert (result.items["stage"] == 0).all()
    assert result.tables["stages"].query("stage == 9")["left"].item() == N
    (said,) = [n for n in result.notes if n.startswith("Promise")]
    assert (
        "no confidence keeps it (of 63 labelled items of which judges are most sure, they disagree with people on 14)"
        in said
    )
    assert result.tables["escalation"]["decided"].tolist() == [0, 0, N]
    assert promised(wrong=15, promise=0.6).tables["escalation"]["decided"].tolist()[0] == 54


def test_one_judge_alone_and_no_judge() -> None:
    alone = promised(judge="", strong=strong)
    assert alone.tables["escalation"]["judge"].tolist() == ["function:strong", "people"]
    assert alone.tables["escalation"]["decided"].tolist() == [81, 9]
    none = promised(judge="", strong="")
    assert "escalation" not in none.tables
    assert cascade.escalation_shown(none) is None


def test_without_a_promise_nothing_changes() -> None:
    whole = evaluated("cascade", sample("cascade"))
    assert "escalation" not in whole.tables
    assert not [n for n in whole.notes if n.startswith("Promise")]


def test_a_judge_that_fails_is_not_sure() -> None:
    def broken(item: dict[str, Any]) -> str:
        return "PERHAPS"

    result = promised(judge=broken)
    assert result.tables["escalation"]["decided"].tolist() == [0, 81, 9]
    both = promised(judge=broken, strong=lambda item: "NEVER")
    assert both.items["unscored"].tolist() == ["unparsed"] * LABELLED + [""] * (
        N - LABELLED
    )  # who was not asked is open


def test_probabilities_are_averaged_over_the_orders() -> None:
    rows = {
        "ab": Judgement(id="1/ab", label="FIRST", probabilities=(0.6, 0.1, 0.2)),
        "ba": Judgement(id="1/ba", label="TIE", probabilities=(0.2, 0.3, 0.5)),
    }
    said = together(rows)
    assert said.outcome == "a"
    assert said.confidence == pytest.approx((0.6 / 0.9 + 0.3) / 2)
    lost = together({"ab": rows["ab"], "ba": Judgement(id="1/ba", unscored="cut", detail="d")})
    assert math.isnan(lost.confidence)
    assert lost.unscored == ("cut", "d")


def test_what_is_refused() -> None:
    with pytest.raises(BadInput) as error:
        promised(promise=1.0, promise_delta=0.0, stop_early=True)
    for fault in ("choose a share below 1", "promise_delta must be above 0", "one of them at a time"):
        assert fault in str(error.value)


def test_the_plan_has_the_calls_of_one_judge_to_those_of_both() -> None:
    data = load(tables(), study="cascade")
    row = cascade.plan(data, judge=cheap, strong=strong, run_stages=[9], promise=0.9).set_index("stage").loc[9]
    assert (row["calls_low"], row["calls_high"]) == (2 * N, 4 * N)
