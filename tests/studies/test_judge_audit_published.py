"""Audits of verdicts that others recorded, against the figures that they published."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalbench import judge_audit, load
from evalbench.core.agreement import cohen_kappa
from evalbench.studies.judge_audit.inputs import read
from evalbench.studies.judge_audit.items import items_of

pytestmark = pytest.mark.external

OF_WINNER = {"1": 1.0, "2": 0.0, None: np.nan}


def lines(file: Path):
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def llmbar(external_data) -> dict[str, pd.DataFrame]:
    """As a user would convert it: the subset is the criterion, the first output the answer."""
    folder = external_data("llmbar")
    items, of = lines(folder / "items.jsonl"), defaultdict(list)
    for item in items:
        of[item["subset"]].append(f"{item['subset']}/{item['i']}")
    labels = [(f"{i['subset']}/{i['i']}", "people", float(int(i["label"]) == 1)) for i in items]
    verdicts = [
        (name, run["evaluator"], run["subset"], order, OF_WINNER[winner])
        for run in lines(folder / "verdicts.jsonl")
        for name, pair in zip(of[run["subset"]], run["winners"], strict=True)
        for order, winner in zip(("ab", "ba"), pair, strict=True)
    ]
    return {
        "verdicts": pd.DataFrame(verdicts, columns=["id", "judge", "criterion", "order", "mark"]),
        "labels": pd.DataFrame(labels, columns=["id", "annotator", "mark"]),
    }


def judged_by(tables: dict[str, pd.DataFrame], judge: str):
    verdicts = tables["verdicts"]
    return load({**tables, "verdicts": verdicts[verdicts["judge"] == judge]}, study="judge_audit")


@pytest.mark.slow
def test_llmbar_counts_of_all_runs(llmbar, external_data) -> None:
    rows = json.loads((external_data("llmbar") / "expected.json").read_text())["rows"]
    published = {f"{r['evaluator']}: {r['subset']}": r["published"] for r in rows}
    readings = read(load(llmbar, study="judge_audit"))
    items, _ = items_of(readings, null_model="", labels_drawn="random")
    labels = llmbar["labels"].set_index("id")["mark"]
    verdicts = readings.verdicts.assign(human=readings.verdicts["id"].map(labels))
    verdicts["right"] = verdicts["mark"] == verdicts["human"]
    verdicts["judge"] += ": " + verdicts["criterion"]
    each = verdicts.groupby(["judge", "order"])["right"].sum().unstack("order")
    items["agreed"] = items["inconsistent"] == 0
    items["both"] = items["agreed"] & (items["mark"] == items["human"])
    # Pairs of which neither order has a winner count as equal there; here they have no verdict.
    items["neither"] = items["unscored"] != ""
    found = items.groupby("judge")[["agreed", "both", "neither"]].sum().join(each)
    assert set(found.index) == set(published)
    assert len(found) == 333

    def count(name: str) -> list[int]:
        return [int(published[judge][name].split(" / ")[0]) for judge in found.index]

    assert found["ab"].tolist() == count("correct_False")
    assert found["ba"].tolist() == count("correct_True")
    assert found["both"].tolist() == count("correct_both")
    assert (found["agreed"] + found["neither"]).tolist() == count("equal")


def test_llmbar_kappa_is_not_the_published_one(llmbar) -> None:
    """Their evaluator takes the winner "2" for 0: kappa 0.27 at 95 % accuracy, where it is 0.90, and 0.93 over both orders."""
    result = judge_audit.evaluate(judged_by(llmbar, "GPT-4/Vanilla"), n_resamples=200)
    rows = result.items[result.items["criterion"] == "Natural"]
    both = rows[rows["inconsistent"] == 0]
    own = {e.metric: e for e in result.summary.estimates if e.group["judge"] == "GPT-4/Vanilla: Natural"}
    assert cohen_kappa(both["mark"], both["human"], n_resamples=1).value > 0.9
    assert own["kappa"].value > 0.85
    assert own["inconsistent"].value == pytest.approx(0.05)
    assert own["first_slot"].value == pytest.approx(0.505)
    assert own["first_slot"].light == "green"


def test_llmbar_a_judge_that_likes_the_first_place_is_named(llmbar) -> None:
    result = judge_audit.evaluate(judged_by(llmbar, "Falcon/Vanilla"), n_resamples=200)
    probes = result.tables["probes"].set_index(["judge", "probe"])
    assert probes.loc[("Falcon/Vanilla: Neighbor", "place"), "finding"] == "prefers the answer shown first"
    assert result.light == "red"


@pytest.fixture(scope="module")
def alpaca(external_data) -> pd.DataFrame:
    rows = pd.read_parquet(external_data("alpaca_eval") / "verdicts_2.parquet")
    return pd.DataFrame(
        {
            "id": rows["row"].astype(str),
            "judge": "gpt-4-turbo",
            "model": rows["system"],
            "mark": rows["preference"] - 1,
            "length": rows["length_system"],
            "length_other": rows["length_baseline"],
        }
    )


def test_alpaca_null_model_is_gameable_and_doubled_rows_are_named(alpaca: pd.DataFrame) -> None:
    kept = alpaca[
        alpaca["model"].isin(
            ["NullModel", "vicuna-13b-v1.5", "vicuna-7b-v1.5", "gpt4_0613_concise", "Qwen2-72B-Instruct"]
        )
    ]
    data = load({"verdicts": kept}, study="judge_audit")
    result = judge_audit.evaluate(data, null_model="NullModel", n_resamples=200)
    (null,) = [e for e in result.summary.estimates if e.metric == "null_answer"]
    assert null.value == pytest.approx(0.7692, abs=5e-5)
    assert null.ci_low > 0.7
    assert "gameable: rewards a constant text" in result.tables["agreement"]["found"].iloc[0]
    doubled = next(note for note in result.notes if "appear more than once" in note)
    assert "1\u202f610 rows" in doubled
    assert "vicuna-13b-v1.5: 805" in doubled
    assert "vicuna-7b-v1.5: 805" in doubled
    assert any(
        note.startswith("gpt-4-turbo marks models of its own family") and "gpt4_0613_concise" in note
        for note in result.notes
    )
    rates = result.items[result.items["model"] != "NullModel"].groupby("model")["mark"].agg(["mean", "size"])
    assert (rates["size"] == 805).all()


@pytest.mark.slow
def test_alpaca_length_within_each_of_56_systems(alpaca: pd.DataFrame) -> None:
    """NullModel, and the baseline against itself, whose column is constant, have no part in it."""
    result = judge_audit.evaluate(
        load({"verdicts": alpaca}, study="judge_audit"), null_model="NullModel", n_resamples=50
    )
    why = result.tables["probes"].set_index("probe").loc["length", "why"]
    assert "Spearman of mark and length is 0.26" in why
    assert "the mean of 56 models (0.14 to 0.37)" in why
