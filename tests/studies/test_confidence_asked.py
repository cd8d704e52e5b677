"""Confidence of a model that is asked, and meanings told apart by entailment."""

from __future__ import annotations

import math
import threading
from typing import Any

import pandas as pd
import pytest
from chat import chat_endpoint

from evalbench import confidence, load
from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.kit.collecting import UNNAMED

# p: 1, 1/2, 1/2, 0; right, right, wrong, wrong.
ROWS: dict[str, Any] = {
    "id": ["q1", "q2", "q3", "q4"],
    "answer": ["Oslo", "7", "нет", "teal"],
    "samples": [["oslo.", "Oslo"], ["7", "8"], ["да", "Нет!"], ["blue", "green"]],
    "correct": [1, 1, 0, 0],
}


def table(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in {**ROWS, **columns}.items()})


def often(frame: pd.DataFrame, times: int) -> pd.DataFrame:
    """The rows so many times, each a question of its own."""
    parts = [frame.assign(id=frame["id"].astype(str) + f"/{k}") for k in range(times)]
    return pd.concat(parts, ignore_index=True)


def result_of(frame: pd.DataFrame, **options: Any) -> Result:
    data = load({"items": frame}, study="confidence")
    return confidence.evaluate(data, **{"embed": "", "n_resamples": 50, **options})


QUESTIONS = pd.DataFrame({"id": ["q1", "q2", "q3"], "question": ["Capital?", "Цвет?", "How many?"], "reference": ["Oslo", "синий", "7"], "lang": ["en", "ru", "en"]})  # fmt: skip


class TestAsked:
    @pytest.fixture(autouse=True)
    def cache(self, tmp_path, monkeypatch):
        monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))

    def test_answers_and_samples_are_collected_once_and_resumed(self):
        def answer(prompt: str) -> str:
            return "Oslo" if "Capital" in prompt else "красный" if "Цвет" in prompt else "7"

        data = load({"items": QUESTIONS}, study="confidence")
        with chat_endpoint(answer) as server:
            options: dict[str, Any] = {"model": server.name, "samples_per_item": 4, "embed": "", "n_resamples": 50}
            result = confidence.evaluate(data, **options)
            assert len(server.answered) == 3 * (1 + 4)
            heated = [body for body in server.bodies if body["temperature"] == 1.0]
            assert len(heated) == 12
            assert sorted({body["seed"] for body in heated}) == [0, 1, 2, 3]
            assert {body["temperature"] for body in server.bodies} == {0.0, 1.0}
            again = confidence.evaluate(data, **options)
            assert len(server.answered) == 3 * (1 + 4)
        assert result.items["n_samples"].tolist() == [4, 4, 4]
        assert result.items["correct"].tolist() == [1, 0, 1]
        assert again.to_json() == result.to_json()
        assert result.tables["calls"]["purpose"].value_counts().to_dict() == {"sample": 12, "answer": 3}
        assert any("Ответьте" in body["messages"][0]["content"] for body in server.bodies)

    def test_samples_that_do_not_come_are_left_out_and_counted(self):
        seen, one_by_one = [], threading.Lock()

        def answer(prompt: str) -> str | None:
            with one_by_one:
                seen.append(prompt)
                return None if "Capital" in prompt and seen.count(prompt) == 3 else "7"

        with chat_endpoint(answer) as server:
            data = load({"items": QUESTIONS}, study="confidence")
            result = confidence.evaluate(data, model=server.name, samples_per_item=4, embed="", n_resamples=50)
        assert result.items["n_samples"].tolist() == [3, 4, 4]
        assert "which are left out: 1 of 12" in " ".join(result.notes)

    @pytest.mark.parametrize(
        ("columns", "said"), [(["id", "reference"], "no column question"), (["id", "question"], "no column reference")]
    )
    def test_what_a_model_needs(self, columns, said):
        with pytest.raises(BadInput, match=said):
            result_of(QUESTIONS[columns], model="openai/none")

    def test_no_samples_are_refused(self):
        with pytest.raises(BadInput, match="samples_per_item must be at least 1"):
            result_of(QUESTIONS, model="openai/none", samples_per_item=0)


class TestEntailment:
    SAMPLES = (["7", "seven", "8"], ["5", "6", "6"], ["да"], ["x", "y"])

    @staticmethod
    def judge(item: dict[str, Any]) -> str:
        words = {"7": "seven", "8": "eight"}
        one, other = (words.get(item[name].split()[-1], item[name].split()[-1]) for name in ("premise", "hypothesis"))
        return "ENTAILMENT" if one == other else "NEUTRAL"

    def test_answers_that_entail_each_other_are_one_group(self):
        frame = table(answer=["seven", "5", "нет", "x"], samples=list(self.SAMPLES), question=["How many?", "", "", ""])
        result = result_of(frame, clusters="entailment", judge=self.judge)
        assert result.items["n_clusters"].tolist() == [2, 2, 2, 2]
        assert result.items["cluster_entropy"].tolist()[0] == pytest.approx(
            -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
        )
        assert result_of(frame).items["n_clusters"].tolist() == [3, 2, 2, 2]
        assert set(result.tables["calls"]["purpose"]) == {"entailment"}

    def test_the_baseline_is_named_and_a_judge_is_needed(self):
        result = result_of(table(), clusters="entailment", judge="baseline/lexical")
        assert "baseline/lexical" in " ".join(result.notes)
        with pytest.raises(BadInput, match="needs a judge"):
            result_of(table(), clusters="entailment")

    def test_a_judge_that_fails_leaves_cluster_entropy_alone_without_a_value(self):
        def broken(item: dict[str, Any]) -> str:
            return "no label" if "teal" in str(item) else "NEUTRAL"

        result = result_of(table(), clusters="entailment", judge=broken)
        assert result.items["cluster_entropy"].isna().tolist() == [False, False, False, True]
        assert result.n_unscored == 0
        e = result.summary.estimate("auroc_cluster_entropy", model=UNNAMED)
        assert (e.n, e.n_unscored) == (3, 1)
        assert "cluster entropy is missing: 1 of 4" in " ".join(result.notes)
