"""lm-eval: filters, repeats, choices, the results beside the samples, cut and early files."""

import json

import pytest

from evalbench.errors import BadInput
from evalbench.readers.tools.known import imported

TIME = "2026-03-01T10-00-00.000001"


def row(doc, scores, *, used="none", answers=("x",), target="x", filtered=None, **further):
    return {
        "doc_id": doc, "doc": {"question": f"Frage {doc}?", "level": "easy"}, "target": target,
        "arguments": {"gen_args_0": {"arg_0": f"Q: {doc}", "arg_1": {"until": ["\n"]}}},
        "resps": [list(answers)], "filtered_resps": [filtered or answers[0]], "filter": used,
        "metrics": list(scores), "doc_hash": f"h{doc}", "prompt_hash": "p", "target_hash": "t", **scores, **further,
    }  # fmt: skip


def choice(doc, scores, likelihoods, target, choices=(" red", " blue")):
    given = {f"gen_args_{i}": {"arg_0": f"Q: {doc}", "arg_1": text} for i, text in enumerate(choices)}
    pairs = [[str(value), "False"] for value in likelihoods]
    return row(doc, scores, target=target, arguments=given, resps=[[pair] for pair in pairs], filtered_resps=pairs)


def samples(folder, *rows, task="quiz", time=TIME):
    path = folder / f"samples_{task}_{time}.jsonl"
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
    return path


def results(folder, figures, *, task="quiz", effective=2, higher=None, time=TIME, **further):
    value = {
        "results": {task: {"name": task, "alias": task, "sample_len": 2, **figures}}, "configs": {}, "versions": {}, "config": {"model": "hf"},
        "higher_is_better": {task: higher or {}}, "n-samples": {task: {"original": 9, "effective": effective}},
        "lm_eval_version": "0.4.13", "model_name": "fern-1b", **further,
    }  # fmt: skip
    (folder / f"results_{time}.json").write_text(json.dumps(value), encoding="utf-8")


def test_a_pair_of_filters_gives_one_item_and_a_metric_each(tmp_path):
    rows = [
        row(i, {"exact_match": float(i)}, used="strict-match", answers=("It is 4.",), filtered="[invalid]")
        for i in (0, 1)
    ]
    rows += [row(i, {"exact_match": 1.0}, used="flexible-extract", answers=("It is 4.",), filtered="4") for i in (0, 1)]
    results(tmp_path, {"exact_match,strict-match": 0.5, "exact_match_stderr,strict-match": 0.5, "exact_match,flexible-extract": 1.0}, higher={"exact_match": True})  # fmt: skip
    found = imported(samples(tmp_path, *rows))
    assert found.frames["items"][["id", "answer", "raw_answer"]].values.tolist() == [["0", "[invalid]", "It is 4."], ["1", "[invalid]", "It is 4."]]  # fmt: skip
    facts = found.about["metrics"]
    assert {name: (f["n"], f["mean_scored"], f["direction_from"]) for name, f in facts.items()} == {
        "exact_match,strict-match": (2, 0.5, "file"), "exact_match,flexible-extract": (2, 1.0, "file")}  # fmt: skip
    assert all(figure["agrees"] for figure in found.about["figures"])
    assert len(found.about["figures"]) == 2
    scores = found.frames["scores"]
    assert scores["answer"].tolist() == ["[invalid]", "[invalid]", "4", "4"]
    assert found.about["models"] == ["fern-1b"]


def test_repeats_are_trials_and_their_scores_those_of_the_document(tmp_path):
    found = imported(samples(tmp_path, *(row(i, {"exact_match": 1.0}, answers=("a", "b", "c")) for i in (0, 1))))
    items, scores = found.frames["items"], found.frames["scores"]
    assert items[["id", "trial", "answer"]].values.tolist()[:3] == [["0", 1, "a"], ["0", 2, "b"], ["0", 3, "c"]]
    assert scores[["id", "value"]].values.tolist() == [["0", 1.0], ["1", 1.0]]
    assert "trial" not in scores
    facts = found.about["metrics"]["exact_match"]
    assert (facts["n"], facts["missing"], facts["not_applicable"], found.about["trials"]) == (2, 0, 0, 3)


def test_the_choice_of_the_largest_likelihood_is_the_output(tmp_path):
    rows = [
        choice(0, {"acc": 1.0}, [-0.2, -0.9], 0),
        choice(1, {"acc": 0.0}, [-0.7, -0.5], " red"),
        choice(2, {"acc": 0.0}, [-3, -2], "4", (" 4", " 5")),
    ]
    items = imported(samples(tmp_path, *rows)).frames["items"]
    assert items["answer"].tolist() == [" red", " blue", " 5"]
    assert items["reference"].tolist() == ["0", " red", "4"]
    assert items["reference_choice"].tolist() == [" red", None, None]
    assert items["choices"].tolist()[0] == [" red", " blue"]


def test_scores_are_taken_as_they_are_and_parts_of_a_figure_are_none(tmp_path):
    rows = [
        row(0, {"acc": True, "bleu": ["x", "y"]}),
        row(1, {"acc": float("nan"), "bleu": ["x", "y"]}),
        row(2, {"acc": None, "bleu": []}),
    ]
    found = imported(samples(tmp_path, *rows))
    assert found.frames["scores"][["metric", "value", "detail"]].values.tolist() == [
        ["acc", 1.0, ""], ["acc", None, "lm-eval: the score is NaN"], ["acc", None, "lm-eval: the score is null"]]  # fmt: skip
    assert "bleu" in found.about["left_aside"]


def test_samples_that_were_cut_say_both_counts(tmp_path):
    results(tmp_path, {"acc,none": 0.25}, effective=5000)
    (figure,) = imported(samples(tmp_path, row(0, {"acc": 1.0}), row(1, {"acc": 0.0}))).about["figures"]
    assert (figure["reason"], figure["tool_value"], figure["ours"]) == ("cut-file", 0.25, 0.5)
    assert figure["words"] == "the tool's figure is over 5000 documents, the samples hold 2 of them"


def test_without_results_model_and_direction_are_assumed(tmp_path):
    folder = tmp_path / "fern__1b"
    folder.mkdir()
    found = imported(samples(folder, row(0, {"word_perplexity": 12.0, "acc": 1.0})))
    assert found.about["models"] == ["fern__1b"]
    assert found.about["tool_version"] is None
    assert not found.about["metrics"]["word_perplexity"]["higher_is_better"]
    assert any("named after the folder" in words for words in found.about["assumed"])
    named = imported(samples(folder, row(0, {"acc": 1.0})), model="oak-7b").about
    assert named["models"] == ["oak-7b"]
    assert not any("named after the folder" in words for words in named["assumed"])


def test_questions_pair_by_task_and_document(tmp_path):
    samples(tmp_path, row(0, {"acc": 1.0}), task="quiz")
    samples(tmp_path, row(0, {"acc": 1.0}), task="maze")
    results(tmp_path, {"acc,none": 1.0})
    items = imported(tmp_path).frames["items"]
    assert sorted(items["id"]) == ["maze/0", "quiz/0"]
    assert items["question_hash"].nunique() == 2


def test_results_alone_are_refused_and_their_further_tasks_noted(tmp_path):
    results(tmp_path, {"acc,none": 1.0})
    with pytest.raises(BadInput, match=r"figures of quiz without rows; import the samples_\*\.jsonl"):
        imported(tmp_path / f"results_{TIME}.json")
    value = json.loads((tmp_path / f"results_{TIME}.json").read_text())
    value["results"]["maze"] = {"acc,none": 0.1}
    (tmp_path / f"results_{TIME}.json").write_text(json.dumps(value))
    found = imported(samples(tmp_path, row(0, {"acc": 1.0})))
    assert any("figures of maze too, of which no samples are beside it" in note for note in found.about["notes"])


def test_early_files_are_one_list_without_filters(tmp_path):
    rows = [{"doc_id": i, "doc": {"q": "a"}, "target": 1, "arguments": [["Q: a", " red"], ["Q: a", " blue"]],
             "resps": [[[-1.0, False]], [[-0.5, False]]], "filtered_resps": [[-1.0, False], [-0.5, False]], "acc": 1.0} for i in (0, 1)]  # fmt: skip
    path = tmp_path / "samples_quiz.jsonl"
    path.write_text(json.dumps(rows), encoding="utf-8")
    results(
        tmp_path,
        {"acc,none": 1.0},
        config={"model": "hf", "model_args": "pretrained=org/oak-7b,dtype=float"},
        model_name=None,
        lm_eval_version=None,
    )
    found = imported(path)
    assert (found.about["models"], found.about["rows"]) == (["org/oak-7b"], 2)
    assert found.frames["items"]["answer"].tolist() == [" blue", " blue"]
    assert found.frames["items"]["reference_choice"].tolist() == [" blue", " blue"]


def test_two_runs_in_one_file_are_refused(tmp_path):
    with pytest.raises(BadInput, match="line 2: doc_id 0 appears twice under the filter none"):
        imported(samples(tmp_path, row(0, {"acc": 1.0}), row(0, {"acc": 1.0})))
