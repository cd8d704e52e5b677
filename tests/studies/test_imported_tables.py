"""Tables and folders of other tools that a reader could take for something else than they are."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from evalbench import load
from evalbench.errors import BadInput
from evalbench.kit.comparing import compare_groups, shown
from evalbench.readers.tools.known import imported as read
from evalbench.studies import imported

TIME = "2026-01-02T03-04-05.000006"


def evaluated(frame: pd.DataFrame):
    return imported.evaluate(load({"items": frame}, study="imported"), n_resamples=100)


def test_words_among_numbers_are_unscored_and_the_metric_stays():
    cells = ["1", "0", "1", "ERROR", "N/A", "timeout", "1", "0"]
    result = evaluated(pd.DataFrame({"id": [f"q{i}" for i in range(8)], "accuracy": cells, "f1": 0.5}))
    figure = result.estimate("accuracy", model="model not named")
    assert (figure.value, figure.n, figure.n_unscored) == (pytest.approx(0.6), 5, 3)
    assert "3 of 8 have no score of accuracy." in result.summary.verdict.sentence
    assert {"ERROR", "N/A", "timeout"} <= set(result.tables["reasons"]["detail"])
    assert any("accuracy (3 cells, such as ERROR)" in note for note in result.notes)


def test_a_column_of_words_is_named_as_not_used():
    result = evaluated(pd.DataFrame({"id": ["a", "b"], "when_asked": ["early", "late"], "f1": [0.5, 1.0]}))
    assert any("columns that are not used: when_asked" in note for note in result.notes)


def test_numbers_too_large_for_a_score_are_unscored():
    frames = {
        "items": pd.DataFrame({"id": ["a", "b"]}),
        "scores": pd.DataFrame({"id": ["a", "b"], "metric": "loss", "value": [1e308, 0.5]}),
    }
    result = imported.evaluate(load(frames, study="imported"), n_resamples=100)
    figure = result.estimate("loss", model="model not named")
    assert (figure.value, figure.n, figure.n_unscored) == (0.5, 1, 1)
    assert result.tables["reasons"]["detail"].tolist() == ["too large for a score, 1e+308"]


def test_the_direction_is_assumed_by_the_name_and_said():
    frame = pd.DataFrame({"id": ["a", "b"], "error_rate": [0.1, 0.9], "faithfulness": [0.1, 0.9]})
    result = evaluated(frame)
    assert result.parameters["directions"] == {"error_rate": "lower", "faithfulness": "higher"}
    assert any("error_rate (lower is better)" in note for note in result.notes)
    assert imported.worst(result, "error_rate").loc[0, "id"] == "b"


def test_zero_is_no_rounding_of_another_figure():
    frames = {
        "items": pd.DataFrame({"id": ["a", "b"]}),
        "scores": pd.DataFrame({"id": ["a", "b"], "metric": "f1", "value": [0.5, 0.4]}),
        "figures": pd.DataFrame({"metric": ["f1"], "tool_value": [0.0]}),
    }
    table = imported.evaluate(load(frames, study="imported"), n_resamples=100).tables["theirs"]
    assert table["agrees"].tolist() == ["no"]
    assert "rounded" not in table["why"].iloc[0]


def test_a_difference_without_an_interval_shows_none():
    items = pd.DataFrame({"unit": ["a", "a", "b", "b"], "id": ["a", "a", "b", "b"], "model": ["x", "y"] * 2, "f1": [0.0, 1.0, 0.5, None], "unscored": ["", "", "", "imported"], "undefined": ""})  # fmt: skip
    table = shown(compare_groups(items, imported.measures(["f1"]), "model", units="unit", n_resamples=100), "model")
    assert "nan" not in " ".join(map(str, table.to_numpy().ravel()))


def lm_eval(folder, scores):
    folder.mkdir()
    for task, values in scores.items():
        rows = [{"doc_id": i, "doc": {"q": f"{task} {i}?"}, "target": "a", "arguments": {"gen_args_0": {"arg_0": f"{task} {i}?", "arg_1": {}}},
                 "resps": [["a"]], "filtered_resps": ["a"], "filter": "none", "metrics": ["exact_match"], "exact_match": v, "doc_hash": f"{task}{i}"}
                for i, v in enumerate(values)]  # fmt: skip
        (folder / f"samples_{task}_{TIME}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    results = {task: {"exact_match,none": sum(v) / len(v)} for task, v in scores.items()}
    about = {"results": results, "higher_is_better": {t: {"exact_match": True} for t in scores}, "model_name": "fern",
             "n-samples": {t: {"effective": len(v)} for t, v in scores.items()}, "config": {}, "lm_eval_version": "0.4.13", "configs": {}}  # fmt: skip
    (folder / f"results_{TIME}.json").write_text(json.dumps(about), encoding="utf-8")
    return folder


def test_figures_of_several_tasks_are_compared_task_by_task_and_pooling_is_said(tmp_path):
    folder = lm_eval(tmp_path / "run", {"easy": [1.0, 1.0], "hard": [0.0, 0.0]})
    result = imported.evaluate(load(folder, study="imported"), n_resamples=100)
    table = result.tables["theirs"]
    assert table[["part", "theirs", "ours", "n"]].values.tolist() == [
        ["task = easy", 1, 1, 2],
        ["task = hard", 0, 0, 2],
    ]
    assert any("exact_match: a mean over all rows pools several tasks" in note for note in result.notes)


def test_a_folder_of_a_tools_files_is_no_table_of_ours(tmp_path):
    row = {"user_input": "a?", "response": "b", "reference": "c", "faithfulness": 0.5}
    (tmp_path / "one.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert any("a run of ragas" in note for note in load(tmp_path, study="imported").notes)


def test_a_table_of_ones_own_gets_the_way_to_its_page(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("id,model,accuracy\nq1,a,1\n", encoding="utf-8")
    with pytest.raises(BadInput, match="evalbench run imported --data"):
        read(path)


def test_marks_in_words_are_1_and_0_with_a_note_and_kinds_of_texts_are_no_marks():
    rows = pd.DataFrame(
        {"id": ["1", "2", "3"], "answer": ["a", "b", "c"], "helpful": ["Yes", "no", "yes"], "thumbs": ["👍", "👎", ""]}
    )
    result = imported.evaluate(load(rows.assign(sentiment=["positive", "negative", "positive"]), study="imported"))
    assert [result.estimate(name, model="model not named").value for name in ("helpful", "thumbs")] == [
        pytest.approx(2 / 3),
        0.5,
    ]
    assert {e.metric for e in result.summary.estimates} == {"helpful", "thumbs"}
    assert any("helpful (yes as 1, no as 0); thumbs (👍 as 1, 👎 as 0)" in note for note in result.notes)
