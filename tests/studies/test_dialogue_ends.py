"""How sessions ended: few that were resolved, models of whose sessions no end is known, and what holds a light back."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from said_in_turns import result_of, turns

from evalbench import dialogue, load


def sessions(n: int, answers: int, resolved: int, model: str, start: int = 0) -> list[dict[str, object]]:
    roles = list(enumerate(["user", "assistant"] * answers))
    return [
        {"session_id": f"{model}{i}", "turn": t, "role": r, "resolved": resolved, "model": model}
        for i in range(start, start + n)
        for t, r in roles
    ]


def test_few_resolved_sessions_give_no_light_and_the_reason_is_said() -> None:
    few = [*sessions(3, 1, 1, "a"), *sessions(37, 2, 0, "a", 3), *sessions(30, 1, 1, "b")]
    result = dialogue.evaluate(load(pd.DataFrame(few), study="dialogue"), n_resamples=100, resolved_floor=0)
    said = "Only 3 sessions were resolved, fewer than 10"
    assert (result.light, result.verdict.would_be) == ("grey", "green")
    assert f"a: {said}, so the light stays grey; the figures alone would give green." in result.verdict.sentence
    rows = {(e.group["model"], e.metric): e for e in result.summary.estimates}
    assert rows["a", "answers_resolved"].light == "grey"
    assert said in rows["a", "answers_resolved"].note
    assert said not in rows["b", "answers_resolved"].note
    long = [*few[:6], *sessions(37, 9, 0, "a", 3), *sessions(30, 1, 1, "b")]
    result = dialogue.evaluate(load(pd.DataFrame(long), study="dialogue"), n_resamples=100)
    assert result.light == "red"
    assert "grey" not in result.verdict.sentence


@pytest.mark.parametrize("n", [9, 10])
def test_ten_resolved_sessions_are_enough(n: int) -> None:
    rows = [*sessions(n, 1, 1, "a"), *sessions(37, 2, 0, "a", n)]
    result = dialogue.evaluate(load(pd.DataFrame(rows), study="dialogue"), n_resamples=100, resolved_floor=0)
    assert result.light == ("green" if n == 10 else "grey")


def two_models(of_a: Any, of_b: Any) -> pd.DataFrame:
    """Forty sessions each of model a, of 2 answers, and of model b, of 5; with how they ended."""
    own = {f"a{i}": 2 for i in range(40)}, {f"b{i}": 5 for i in range(40)}
    return pd.concat([turns(own[0], model="a", resolved=of_a), turns(own[1], model="b", resolved=of_b)])


def test_a_model_of_whose_sessions_no_end_is_known_is_not_compared():
    found = result_of(two_models(1, None))
    assert "How sessions ended is not known of b, not compared with other models." in found.sentence
    assert not any("better" in note or "cannot be compared" in note for note in found.notes)
    assert any("a is better than b" in note for note in result_of(two_models(None, None)).notes)


def test_sessions_that_were_given_up_are_not_better_for_being_short():
    notes = result_of(two_models(0, 1)).notes
    assert any("resolved sessions: b is better than a" in note for note in notes)
    assert any("answers per session: b is higher than a" in note or "a is lower than b" in note for note in notes)
    assert not any("answers per session" in note and "better" in note for note in notes)


def test_few_resolved_sessions_are_at_best_yellow_and_the_share_is_in_the_sentence():
    frame = turns({f"s{i:02}": 2 for i in range(40)}, resolved={f"s{i:02}": int(i < 15) for i in range(40)})
    found = result_of(frame)
    assert found.light == "yellow"
    assert "esolved sessions 0.38" in found.sentence
    assert result_of(frame, resolved_floor=0).light == "green"


def test_ends_that_are_not_known_hold_the_light_back():
    frame = turns({f"s{i:02}": 2 for i in range(40)}, resolved={f"s{i:02}": 1 if i < 20 else None for i in range(40)})
    found = result_of(frame)
    assert found.light == "grey"
    assert "How 20 of 40 sessions ended is not known" in found.sentence
