"""inspect_ai: archives of every method, scores that are not numbers, errors, epochs, older logs."""

import json
import zipfile
from types import SimpleNamespace

import inspect_log as logs
import pytest
from inspect_log import as_eval, as_json, graded, header, sample, score

from evalbench.errors import BadInput
from evalbench.readers.tools.known import imported

SAMPLES = [sample("b", {"right": score("C")}), sample("a", {"right": score("I")})]
MEANS = {"right": 0.5}


def values(found, metric="right"):
    return found.frames["scores"].query("metric == @metric")[["id", "value", "detail"]].values.tolist()


@pytest.mark.parametrize(("method", "frames"), [(0, 1), (8, 1), (93, 1), (93, 3)])
def test_archives_of_every_method_give_the_tables_of_the_document(tmp_path, method, frames):
    one = imported(as_eval(tmp_path / "a.eval", header(means=MEANS), SAMPLES, method, frames))
    other = imported(as_json(tmp_path / "a.json", header(means=MEANS), SAMPLES))
    for table in ("items", "scores", "metrics", "figures"):
        assert one.frames[table].to_dict("records") == other.frames[table].to_dict("records")
    assert values(one) == [["a", 0.0, ""], ["b", 1.0, ""]]


def test_a_missing_zstd_is_one_clear_message(tmp_path, monkeypatch):
    path = as_eval(tmp_path / "a.eval", header(), SAMPLES)
    monkeypatch.setattr("pyarrow.Codec", SimpleNamespace(is_available=lambda name: False))
    with pytest.raises(
        BadInput, match="compressed by zstd, which this build of pyarrow lacks: install pyarrow from PyPI"
    ):
        imported(path)


def test_values_are_read_as_the_tool_reads_them_and_anything_else_is_unscored(tmp_path):
    given = ["C", "P", "N", "yes", "False", True, 0.25, "0.75", "often", None, [1], float("inf")]
    rows = [sample(f"{i:02}", {"right": score(value)}) for i, value in enumerate(given)]
    found = values(imported(as_json(tmp_path / "a.json", header(means={"right": 0.1}), rows)))
    assert [value for _, value, _ in found] == [1.0, 0.5, 0.0, 1.0, 0.0, 1.0, 0.25, 0.75, None, None, None, None]
    assert [words for _, _, words in found][8:] == [
        'inspect: the score is "often"', "inspect: the score is null", "inspect: the score is [1]", "inspect: the score is infinite"]  # fmt: skip


def test_several_values_are_a_metric_each(tmp_path):
    means = [{"name": "tone", "scorer": "panel", "metrics": {"mean": {"value": 0.5}}}]
    head = header(("panel",))
    head["results"]["scores"] = means
    rows = [sample("a", {"panel": score({"tone": 0.5, "style": "C"})}), sample("b", {}, error={"message": "E\nTrace"})]
    found = imported(as_json(tmp_path / "a.json", head, rows))
    assert values(found, "panel/tone") == [["a", 0.5, ""], ["b", None, "E"]]
    assert found.about["figures"][0]["agrees"]


def test_a_reply_without_a_grade_is_unscored_in_new_logs_and_in_old_ones(tmp_path):
    words = "Grade not found in model output: hm"
    new = [
        sample("a", {"right": graded("C", "GRADE: C")}),
        sample("b", {"right": graded(float("nan"), words, reason="grader_failed")}),
    ]
    old = [sample("a", {"right": graded("C", "GRADE: C")}), sample("b", {"right": graded("I", words)})]
    for rows, mean in ((new, 1.0), (old, 0.5)):
        found = imported(as_json(tmp_path / "a.json", header(means={"right": mean}, version="0.3.100"), rows))
        assert values(found) == [["a", 1.0, ""], ["b", None, words]]
        marks = found.frames["judgements"][["id", "judge", "mark", "label", "judge_prompt"]].values.tolist()
        assert marks == [
            ["a", "local/oak-7b", 1.0, "C", "Is it right?"],
            ["b", "local/oak-7b", None, "", "Is it right?"],
        ]
    (figure,) = found.about["figures"]
    assert (figure["tool_value"], figure["ours"], figure["reason"]) == (0.5, 1.0, "ungraded-as-0")
    assert (
        figure["words"]
        == "1 of 2 replies of the judge had no grade; the tool counts them as 0, ours leaves them unscored"
    )


def test_nan_with_a_reason_in_the_metadata_takes_the_explanation(tmp_path):
    rows = [sample("a", {"right": score(float("nan"), "no answer was found", metadata={"unscored_reason": "x"})})]
    assert values(imported(as_json(tmp_path / "a.json", header(), rows))) == [["a", None, "no answer was found"]]


def test_an_error_of_a_sample_does_not_void_the_scores_that_it_has(tmp_path):
    head = header(("right", "judged"), means={"right": 1.0}, version="0.3.200")
    head["eval"]["scorers"][1]["options"] = {"model": {"model": "local/oak-7b"}}
    failed = sample("b", {"right": score("I")}, error={"message": "RuntimeError('gone')\nmore", "traceback": "…"})
    found = imported(
        as_json(tmp_path / "a.json", head, [sample("a", {"right": score("C"), "judged": score("C")}), failed])
    )
    assert values(found) == [["a", 1.0, ""], ["b", 0.0, ""]]
    assert values(found, "judged") == [["a", 1.0, ""], ["b", None, "RuntimeError('gone')"]]
    (figure,) = found.about["figures"]
    assert (figure["tool_value"], figure["ours"], figure["reason"]) == (1.0, 0.5, "failed-left-out")
    assert "leaves them out of its mean although some have this score" in figure["words"]
    assert found.frames["judgements"]["judge"].tolist() == ["local/oak-7b", "local/oak-7b"]


def test_epochs_are_trials_and_the_mean_is_that_of_the_questions(tmp_path):
    rows = [sample("a", {"right": score("C")}, 1), sample("a", {"right": score("C")}, 2), sample("b", {"right": score("I")}, 1),
            sample("b", {}, 2, error={"message": "gone"})]  # fmt: skip
    found = imported(as_json(tmp_path / "a.json", header(epochs=2, means={"right": 0.5}), rows))
    assert found.frames["items"][["id", "trial"]].values.tolist() == [["a", 1], ["a", 2], ["b", 1], ["b", 2]]
    assert found.about["metrics"]["right"]["mean_scored"] == pytest.approx(2 / 3)
    assert found.about["figures"][0]["agrees"]
    pooled = imported(as_json(tmp_path / "a.json", header(epochs=2, means={"right": 1.0}, reducer="max"), rows))
    assert pooled.about["figures"][0]["reason"] == "trials-pooled"


def test_ids_of_numbers_and_texts_stay_apart(tmp_path):
    head = header()
    head["eval"]["dataset"] = {"sample_ids": [3, "3", "007"]}
    rows = [sample(i, {"right": score("C")}) for i in (3, "3", "007")]
    found = imported(as_json(tmp_path / "a.json", head, rows))
    assert sorted(found.frames["items"]["id"]) == ["007", "3", "3 (text)"]
    assert any("ids are both numbers and texts (3)" in note for note in found.about["notes"])


def test_messages_lists_choices_attachments_and_older_outputs(tmp_path):
    long = {"attachments": {"h1": "A long text."}}
    rows = [
        sample("a", {"right": score("C")}, input=[{"id": "m1", "role": "system", "content": "Kurz."},
               {"id": "m2", "role": "user", "content": [{"type": "text", "text": "attachment://h1"}, {"type": "image", "image": "attachment://h2"}]}],
               target=["4", "four"], choices=["x", "y"], metadata={"topic": "math", "contexts": ["c1", "c2"], "id": 7}, **long),
        sample("b", {"right": score("C")}, output={"choices": [{"message": {"content": [{"type": "text", "text": "Part"}, {"text": " two"}]}}]}),
        sample("c", {"right": score("C")}, output={"choices": [], "completion": ""}),
        sample("d", {"right": score("C")}, output={"choices": [{"message": {"content": ""}}], "completion": ""}),
    ]  # fmt: skip
    items = imported(as_json(tmp_path / "a.json", header(), rows)).frames["items"].to_dict("records")
    assert items[0]["question"] == "system: Kurz.\n\nuser: A long text."
    assert items[0]["messages"][0] == {"id": "m1", "role": "system", "content": "Kurz."}
    assert (items[0]["reference"], items[0]["choices"], items[0]["contexts"]) == (
        ["4", "four"],
        ["x", "y"],
        ["c1", "c2"],
    )
    assert (items[0]["topic"], items[0]["metadata_id"]) == ("math", 7)
    assert [item["answer"] for item in items] == ["ответ", "Part two", None, ""]


def test_ids_of_messages_are_not_in_the_hash_of_a_question(tmp_path):
    def one(key):
        asked = [{"id": key, "role": "user", "content": "Wer?"}]
        return imported(as_json(tmp_path / f"{key}.json", header(), [sample("a", {"right": score("C")}, input=asked)]))

    assert one("m1").frames["items"]["question_hash"].tolist() == one("m2").frames["items"]["question_hash"].tolist()


@pytest.mark.parametrize("samples", [None, []])
def test_a_log_without_samples_is_refused_with_its_figures(tmp_path, samples):
    head = header(means={"right": 0.43})
    del head["version"]
    with pytest.raises(BadInput, match=r"saved without samples.*right accuracy 0\.43.*log_samples"):
        imported(as_json(tmp_path / "a.json", head, samples))


def test_versions_and_states(tmp_path):
    with pytest.raises(BadInput, match="an inspect log of version 3; known is version 2"):
        imported(as_json(tmp_path / "a.json", {**header(), "version": 3}, SAMPLES))
    found = imported(as_json(tmp_path / "b.json", {**header(), "status": "cancelled"}, SAMPLES))
    assert any("status cancelled" in note for note in found.about["notes"])


def test_a_run_that_died_has_only_a_journal(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        logs.put(
            archive, "_journal/start.json", json.dumps({k: header()[k] for k in ("version", "eval", "plan")}).encode()
        )
        logs.put(archive, "samples/a_epoch_1.json", json.dumps(SAMPLES[0]).encode())
    found = imported(tmp_path / "a.eval")
    assert (found.about["rows"], found.about["tool_version"]) == (1, "0.3.285")
    assert any("status started" in note for note in found.about["notes"])


def test_a_folder_of_logs_is_read_task_by_task(tmp_path):
    for name, model, task in (("1", "fern", "quiz"), ("2", "oak", "quiz"), ("3", "oak", "maze")):
        head = header()
        head["eval"] |= {"model": model, "task": task}
        as_eval(tmp_path / f"{name}.eval", head, SAMPLES)
    found = imported(tmp_path)
    assert found.about["models"] == ["fern", "oak"]
    assert sorted(set(found.frames["items"]["id"])) == ["maze/a", "maze/b", "quiz/a", "quiz/b"]
    as_eval(tmp_path / "4.eval", header(), SAMPLES)
    as_eval(tmp_path / "5.eval", header(), SAMPLES)
    with pytest.raises(BadInput, match="the same ids of the same model are in several files; import one of them"):
        imported(tmp_path)


def test_a_panel_of_judges_is_named_whole(tmp_path):
    head = header()
    head["eval"]["scorers"][0]["options"] = {"model": [{"model": "local/oak"}, "local/elm"]}
    found = imported(as_json(tmp_path / "a.json", head, SAMPLES))
    assert set(found.frames["judgements"]["judge"]) == {"local/oak, local/elm"}
