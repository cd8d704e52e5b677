"""Published trajectories and requirements are counted as they were published."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pandas as pd
import pytest
import tau_airline
from judged_agents import judged, runs


@pytest.mark.external
def test_published_trajectories_give_the_published_figures(external_data) -> None:
    folder: Path = external_data("tau_airline")
    known = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    counts = known["counts"]
    result = judged(tau_airline.tables(folder))
    curve = result.tables["pass_k"].set_index("k")
    for k, value in known["pass_hat_k"].items():
        assert curve["pass_hat_k"][int(k)] == pytest.approx(value, abs=1e-6)
        assert curve["pass_at_k"][int(k)] == pytest.approx(known["pass_at_k"][k], abs=1e-6)
    assert result.estimate("pass_hat_k", model="gpt-4o").value == pytest.approx(0.2)
    calls, tools = result.tables["tool_calls"], result.tables["tools"]
    assert len(calls) == tools["calls"].sum() == counts["calls"]
    assert calls["matched"].sum() == tools["right"].sum() == counts["matched_name_and_arguments"]
    assert calls["named"].sum() == counts["matched_name"]
    assert calls["repeated"].sum() == counts["identical_repeats"]
    assert calls["failed"].sum() == counts["tool_results_that_begin_with_Error"]
    assert len(runs(calls[calls["failed"]])) == counts["trajectories_with_such_an_error"]
    assert tools["expected"].sum() == counts["expected_calls"]
    of_kind = result.tables["contradictions"]["kind"].value_counts()
    assert of_kind["success without every expected call"] == counts["reward_1_without_every_expected_call"]
    without_success = counts["trajectories_with_every_expected_call"] - counts["and_reward_1"]
    assert of_kind["every expected call and no success"] == without_success
    precision = result.estimate("call_precision", model="gpt-4o").value
    recall = result.estimate("call_recall", model="gpt-4o").value
    assert (round(precision, 3), round(recall, 3)) == (0.336, 0.619)
    assert result.light == "unlit"


@pytest.mark.external
def test_published_requirements_give_the_published_shares(external_data) -> None:
    frames = devai(external_data("devai"))
    found = judged(frames, success_by="requirements")
    known = {"GPT-Pilot": (0.4454, 0.2760, 5), "MetaGPT": (0.2213, 0.0492, 0)}
    for model, (met, with_needs, whole) in known.items():
        assert found.estimate("requirements_met", model=model).value == pytest.approx(met, abs=5e-5)
        assert found.estimate("requirements_met_with_needs", model=model).value == pytest.approx(with_needs, abs=5e-5)
        assert found.estimate("every_requirement_met", model=model).value == pytest.approx(whole / 55)
        assert found.estimate("success", model=model).value == pytest.approx(whole / 55)
    assert len(found.tables["requirements"]) == 2 * 366


def devai(folder: Path) -> dict[str, pd.DataFrame]:
    """The verdicts of people on DevAI's requirements; of each trajectory one empty step."""
    rows = []
    with tarfile.open(folder / "judgments.tar.gz") as archive:
        for member in archive:
            parts = member.name.split("/")
            if "human_as_a_judge" in parts and member.name.endswith(".json"):
                task = json.load(archive.extractfile(member))
                model = parts[parts.index("judgment") + 1]
                rows += [
                    {
                        "id": task["name"],
                        "model": model,
                        "requirement": str(one["requirement_id"]),
                        "needs": [str(n) for n in one["prerequisites"]],
                        "met": bool(one["satisfied"]),
                    }
                    for one in task["requirements"]
                ]
    frame = pd.DataFrame(rows)
    return {"steps": frame[["id", "model"]].drop_duplicates().assign(step=1, kind="note"), "requirements": frame}
