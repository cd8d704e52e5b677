"""A model that is asked again, and replies that are lost."""

from __future__ import annotations

import pandas as pd
from chat import chat_endpoint

from evalbench import load, reproduction


def table(answers: dict[str, list[str | None]], **columns: object) -> pd.DataFrame:
    """A row for each answer to each question."""
    rows = [(i, str(n), text) for i, texts in answers.items() for n, text in enumerate(texts, 1)]
    return pd.DataFrame(rows, columns=["id", "trial", "answer"]).assign(**columns)


def judged(frame: pd.DataFrame, **options):
    data = load({"items": frame}, study="reproduction")
    return reproduction.evaluate(data, **{"n_resamples": 100, "embed": "", **options})


def values(result, **group):
    group = group or {"model": "model not named"}
    return {e.metric: e.value for e in result.summary.estimates if e.group == group}


# -- lights --------------------------------------------------------------------------------------


def test_a_model_is_asked_again_with_other_seeds_and_not_for_what_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    frame = pd.DataFrame({"id": ["a", "b", "c"], "question": ["A?", "B?", "C?"], "reference": ["1", "1", "1"]})
    said = iter(range(1000))
    with chat_endpoint(lambda prompt: str(next(said) % 2) if prompt == "A?" else "1") as server:
        first = judged(frame, model=server.name, n_generations=3, temperature=0.7)
        assert sorted(body["seed"] for body in server.bodies) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
        assert {body["temperature"] for body in server.bodies} == {0.7}
        again = judged(frame, model=server.name, n_generations=3, temperature=0.7)
        assert len(server.bodies) == 9
        more = judged(frame, model=server.name, n_generations=5, temperature=0.7)
        assert len(server.bodies) == 15
    assert first.to_json() == again.to_json()
    assert first.items["n_generations"].tolist() == [3, 3, 3]
    assert more.items["n_generations"].tolist() == [5, 5, 5]
    assert first.items["n_answers"].tolist() == [2, 1, 1]
    assert len(first.tables["calls"]) == 9
    assert any("asked each prompt 3 times at temperature 0.7" in note for note in first.notes)


def test_a_reply_without_text_is_lost_and_a_question_of_such_unscored(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    frame = pd.DataFrame({"id": ["a", "b"], "question": ["A?", "B?"]})
    with chat_endpoint(lambda prompt: None if prompt == "A?" else "1") as server:
        result = judged(frame, model=server.name, n_generations=2)
    assert result.items["unscored"].tolist() == ["no-text", ""]
    assert result.light == "grey"
    assert "no text" in result.sentence
