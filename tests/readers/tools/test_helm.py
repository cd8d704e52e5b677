"""HELM: instances, perturbations, splits, choices, statistics that counted nothing, annotations."""

import json
import shutil

import pytest

from evalbench import load
from evalbench.errors import BadInput
from evalbench.readers.tools.known import imported
from evalbench.studies import study

TYPOS = {"name": "typos", "prob": 0.1, "fairness": False, "robustness": True}


def state(name, text=" so", *, split="test", perturbation=None, trial=0, reference=None, logprob=-1.0, **further):
    instance = {"id": name, "split": split, "input": {"text": f"Frage {name}?"}, "references": [
        {"output": {"text": "so"}, "tags": ["correct"]}, {"output": {"text": "nein"}, "tags": []}]}  # fmt: skip
    found = {
        "instance": instance | ({"perturbation": perturbation} if perturbation else {}), "train_trial_index": trial,
        "request": {"model": "org/fern-1b", "prompt": f"Few shots. Frage {name}?", "temperature": 0.0},
        "result": {"success": True, "completions": [{"text": text, "logprob": logprob}], "request_time": 0.5, "cached": False},
    }  # fmt: skip
    return found | ({} if reference is None else {"reference_index": reference}) | further


def stats(name, values, *, split="test", perturbation=None, trial=0):
    listed = [
        {"name": {"name": k, "split": split, **({"perturbation": perturbation} if perturbation else {})}, "count": 0 if v is None else 1, **({} if v is None else {"mean": v})}
        for k, v in values.items()
    ]  # fmt: skip
    return {"instance_id": name, "train_trial_index": trial, "stats": listed} | (
        {"perturbation": perturbation} if perturbation else {}
    )


def run(
    folder, states, per_instance, whole=(), names=("exact_match",), name="quiz:model=org_fern-1b", model="org/fern-1b"
):
    folder.mkdir(parents=True, exist_ok=True)
    spec = {
        "name": name,
        "adapter_spec": {"model": model},
        "metric_specs": [{"class_name": "c", "args": {"names": list(names)}}, {"class_name": "d", "args": {}}],
    }
    for file, value in (("run_spec", spec), ("scenario_state", {"request_states": states}), ("per_instance_stats", per_instance), ("stats", list(whole))):  # fmt: skip
        (folder / f"{file}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


def total(value, split="test", **further):
    return {"name": {"name": "exact_match", "split": split, **further}, "count": 1, "mean": value}


def test_a_perturbed_instance_is_a_row_of_its_own_and_stays_out_of_the_figures(tmp_path):
    folder = run(
        tmp_path / "r",
        [state("id1"), state("id1", " sso", perturbation=TYPOS), state("id2", split="valid")],
        [stats("id1", {"exact_match": 1.0, "num_references": 2}), stats("id1", {"exact_match": 0.0}, perturbation=TYPOS), stats("id2", {"exact_match": 0.0}, split="valid")],
        [total(1.0), total(0.0, perturbation={"name": "robustness", "computed_on": "worst"}), total(0.0, "valid")],
    )  # fmt: skip
    found = imported(folder)
    items = found.frames["items"]
    assert items[["id", "split"]].values.tolist() == [["id1", "test"], ["id1/typos", "test"], ["id2", "valid"]]
    assert items["perturbation"].tolist()[1] == "typos"
    assert [(f["slice"], f["tool_value"], f["ours"], f["agrees"]) for f in found.about["figures"]] == [
        ({"split": "test", "perturbation": ""}, 1.0, 1.0, True), ({"split": "valid", "perturbation": ""}, 0.0, 0.0, True)]  # fmt: skip
    assert list(found.about["metrics"]) == ["exact_match"]
    assert list(found.about["left_aside"]) == ["num_references"]


def test_a_statistic_that_counted_nothing_is_unscored(tmp_path):
    folder = run(
        tmp_path / "r", [state("a"), state("b")], [stats("a", {"exact_match": None}), stats("b", {"exact_match": 1.0})]
    )
    scores = imported(folder).frames["scores"][["id", "value", "detail"]].values.tolist()
    assert scores == [["a", None, "helm: no value"], ["b", 1.0, ""]]


def test_letters_are_mapped_back_and_references_are_the_correct_ones(tmp_path):
    lettered = state("a", " B", output_mapping={"A": "so", "B": "nein"})
    items = imported(
        run(tmp_path / "r", [lettered, state("b")], [stats(i, {"exact_match": 1.0}) for i in "ab"])
    ).frames["items"]
    assert items["answer"].tolist() == ["nein", " so"]
    assert items["raw_answer"].tolist() == [" B", None]
    assert items["reference"].tolist() == ["so", "so"]
    assert items[["question", "metadata_question"]].to_numpy().tolist()[0] == ["Few shots. Frage a?", "Frage a?"]


def test_of_a_request_for_each_reference_the_likeliest_is_the_answer(tmp_path):
    states = [state("a", "", reference=0, logprob=-5.0), state("a", "", reference=1, logprob=-2.0)]
    items = imported(run(tmp_path / "r", states, [stats("a", {"exact_match": 0.0})])).frames["items"]
    assert items["answer"].tolist() == ["nein"]


def test_a_request_that_failed_has_no_output(tmp_path):
    failed = state("a", result={"success": False, "error": "timeout", "completions": []})
    found = imported(run(tmp_path / "r", [failed, state("b")], [stats("b", {"exact_match": 1.0})]))
    assert found.frames["items"][["answer", "error"]].values.tolist() == [[None, "timeout"], [" so", None]]
    assert found.about["metrics"]["exact_match"]["missing"] == 1


def test_train_trials_are_trials_and_annotations_verdicts(tmp_path):
    judged = {"panel": {"oak-7b": {"score": 4, "reasoning": "good"}, "elm-2b": {"score": None}}}
    states = [
        state("a", trial=0, annotations=judged),
        state("a", trial=1, annotations={"own": {"score": 1}, "note": "x"}),
    ]
    found = imported(run(tmp_path / "r", states, [stats("a", {"exact_match": 1.0}, trial=i) for i in (0, 1)]))
    assert found.frames["items"]["trial"].tolist() == [1, 2]
    rows = found.frames["judgements"][["judge", "criterion", "mark", "reason", "unscored"]].values.tolist()
    assert [r[:2] for r in rows] == [["oak-7b", "panel"], ["elm-2b", "panel"], ["own", "own"]]
    assert [r[4] for r in rows] == ["", "imported", ""]


def test_folders_of_several_models_are_read_together_and_one_file_is_refused(tmp_path):
    one = run(tmp_path / "s" / "1", [state("a")], [stats("a", {"exact_match": 1.0})])
    run(tmp_path / "s" / "2", [state("a")], [stats("a", {"exact_match": 0.0})], model="org/oak-7b")
    found = imported(tmp_path / "s")
    assert found.about["models"] == ["org/fern-1b", "org/oak-7b"]
    assert found.frames["items"]["question_hash"].nunique() == 1
    with pytest.raises(BadInput, match="one file of a HELM run; import its folder"):
        imported(one / "scenario_state.json")
    shutil.copytree(one, tmp_path / "s" / "3")
    with pytest.raises(BadInput, match="the same ids of the same model are in several files"):
        imported(tmp_path / "s")


def test_a_specification_without_names_leaves_technical_statistics_aside(tmp_path):
    values = {"harmlessness": 0.5, "num_output_tokens": 7, "inference_runtime": 2.0, "exact_match@5": 1.0}
    found = imported(run(tmp_path / "r", [state("a")], [stats("a", values)], names=()))
    assert list(found.about["metrics"]) == ["harmlessness"]
    assert any("the run's specification names none" in words for words in found.about["assumed"])


def test_the_page_compares_a_figure_with_the_rows_that_no_perturbation_changed(tmp_path):
    folder = run(
        tmp_path / "r", [state("id1"), state("id1", " sso", perturbation=TYPOS)],
        [stats("id1", {"exact_match": 0.0}), stats("id1", {"exact_match": 0.9}, perturbation=TYPOS)], [total(0.0)],
    )  # fmt: skip
    result = study("imported").evaluate(load(folder, study="imported"), n_resamples=100)
    (row,) = result.tables["theirs"].to_dict("records")
    assert (row["part"], row["theirs"], row["ours"], row["n"], row["agrees"]) == (
        "split = test, no perturbation",
        0,
        0,
        1,
        "yes",
    )
    assert any("perturbed copies" in note for note in result.notes)


def test_copies_are_left_out_of_the_means_or_drawn_with_their_instances(tmp_path):
    names = [f"id{i}" for i in range(40)]
    states = [state(n, perturbation=p) for n in names for p in (None, TYPOS)]
    for copy in states[1::2]:
        copy["instance"]["input"]["text"] += "?"
    folder = run(
        tmp_path / "r", states,
        [stats(n, {"exact_match": float(i % 2 == 0 and p is None)}, perturbation=p) for i, n in enumerate(names) for p in (None, TYPOS)],
        [total(0.5)],
    )  # fmt: skip
    result = study("imported").evaluate(load(folder, study="imported"), n_resamples=100)
    found = result.estimate("exact_match", model="org/fern-1b")
    assert (found.value, found.n) == (0.5, 40)
    assert any(note.startswith("40 rows are perturbed copies of other rows, and left out") for note in result.notes)
    both = study("imported").evaluate(load(folder, study="imported", slices=["perturbation"]), n_resamples=100)
    pooled = both.estimate("exact_match", model="org/fern-1b")
    assert (pooled.value, pooled.n) == (0.25, 80)
    assert "40 clusters" in pooled.method
    assert any("drawn together with those that they are copies of" in note for note in both.notes)
    apart = {row["name"]: row["figure"] for row in both.tables["slices"].to_dict("records")}
    assert apart == {"": 0.5, "typos": 0.0}
