"""Human correlation: published figures."""

import json

import pandas as pd
import pytest
from rated_panels import evaluate, value


@pytest.mark.external
class TestPublished:
    """UniEval's nine rows (pooled), and Topical-Chat by dialogue."""

    @pytest.fixture(scope="class")
    def folder(self, external_data):
        return external_data("unieval_meta_eval")

    @staticmethod
    def rows(folder, name):
        documents: dict = {}
        for i, item in enumerate(json.loads((folder / f"{name}_result.json").read_text("utf-8"))):
            key = (item["source"], item["context"]) if "context" in item else i
            yield {
                "id": f"d{documents.setdefault(key, len(documents)):04d}",
                "model": item.get("system_id", ""),
                **{f"human_{k}": v for k, v in item["scores"].items()},
                **{f"unieval_{k}": v for k, v in item["predict_scores"].items()},
            }

    @pytest.mark.parametrize("name", ["topical_chat", "sfres"])
    def test_the_published_rows_to_six_decimals(self, folder, name):
        frame = pd.DataFrame(self.rows(folder, name))
        if (frame["model"] == "").all():
            frame = frame.drop(columns="model")
        published = json.loads((folder / "expected.json").read_text())["files"][f"{name}_result.json"]["dims"]
        result = evaluate(
            frame,
            metrics=[f"unieval_{k}" for k in published],
            criteria=[f"human_{k}" for k in published],
            n_resamples=2,
        )
        checked = 0
        for criterion, row in published.items():
            for kind, figure in zip(("pearson", "spearman", "kendall"), row["published"], strict=True):
                found = value(
                    result,
                    scorer=f"unieval_{criterion}",
                    criterion=f"human_{criterion}",
                    level="dataset",
                    coefficient=kind,
                )
                assert round(found["value"], 6) == figure
                checked += 1
        assert checked == {"topical_chat": 18, "sfres": 9}[name]

    def test_topical_chat_by_dialogue(self, folder):
        frame = pd.DataFrame(self.rows(folder, "topical_chat"))
        result = evaluate(frame, metrics=["unieval_overall"], criteria=["human_overall"], trusted=["human_overall"])
        assert frame["id"].nunique() == 60
        assert result.estimate("trusted_mean", scorer="unieval_overall").value == pytest.approx(0.6780, abs=5e-5)
        pooled = value(result, level="dataset", coefficient="spearman")
        assert round(pooled["value"], 6) == 0.662583


@pytest.mark.external
def test_ragchecker_s_meta_evaluation(external_data):
    """Differences of two answers' marks against the preferences of two annotators, pooled."""
    folder = external_data("ragchecker")
    lines = [json.loads(line) for line in (folder / "meta_eval.jsonl").read_text("utf-8").splitlines()]
    expected = json.loads((folder / "expected.json").read_text())["meta"]
    for label in ("correctness_label", "completeness_label", "overall_label"):
        difference = [line["ragchecker2"][label] - line["ragchecker1"][label] for line in lines]
        rows = [
            {"id": f"q{i:03d}", "model": f"label {k}", "delta": d, "preference": float(human[label])}
            for i, (line, d) in enumerate(zip(lines, difference, strict=True))
            for k, human in enumerate(line["human"])
        ]
        result = evaluate(
            pd.DataFrame(rows), metrics=["delta"], criteria=["preference"], level="dataset", n_resamples=2
        )
        found = [100 * value(result, level="dataset", coefficient=c)["value"] for c in ("pearson", "spearman")]
        assert found == pytest.approx(expected[label]["ragchecker_vs_human"], abs=0.05)
