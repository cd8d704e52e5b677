"""Files of every tool with one value changed: rows or one message, never another error."""

import copy
import json
import random
from pathlib import Path

import pytest
from generated import one_in_twenty
from inspect_log import graded, header, sample, score

from evalbench.errors import BadInput
from evalbench.readers.tools.known import imported

KEPT = Path(__file__).parents[2] / "data" / "imports"
OTHERS = (None, 3, -1.5, float("nan"), True, "x", "", [], [3], {}, {"a": None}, [[]], "attachment://x", 10**30)
RUBRIC = {"type": "llm-rubric", "value": "kind", "provider": "oak"}
PROMPTFOO = {
    "results": {"version": 3, "stats": {"successes": 1, "failures": 1, "errors": 1}, "prompts": [
        {"provider": "fern", "label": "p", "metrics": {"score": 1, "testPassCount": 1, "testFailCount": 1, "testErrorCount": 1, "namedScores": {"m": 1}, "namedScoresCount": {"m": 2}}}],
        "results": [
        {"testIdx": i, "promptIdx": 0, "vars": {"q": f"Wer {i}?", "context": ["c"]}, "provider": {"id": "fern"}, "prompt": {"raw": "r", "label": "p"},
         "response": {"output": "o", "tokenUsage": {"total": 3}}, "success": True, "score": 1, "failureReason": reason, "metadata": {"t": "x"}, "error": "e",
         "testCase": {"assert": [{"type": "equals", "metric": "m"}, RUBRIC], "description": "d"}, "latencyMs": 3,
         "gradingResult": None if reason == 2 else {"pass": True, "score": 1, "reason": "r", "componentResults": [
             {"assertion": {"type": "equals", "metric": "m"}, "pass": True, "score": 1, "reason": "r"}, {"assertion": RUBRIC, "pass": False, "score": 0, "reason": "No output"}]}}
        for i, reason in enumerate((0, 1, 2))]},
}  # fmt: skip
EVERY = [{"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "m", "evaluation_name": "n", "sample_id": f"s{i}", "interaction_type": "single_turn",
          "input": {"raw": "q", "reference": ["a"], "choices": ["a", "b"]}, "output": {"raw": ["a"]}, "messages": None, "evaluation": {"score": 1.0, "is_correct": True},
          "answer_attribution": [{"extracted_value": "a", "is_terminal": True}], "token_usage": {"total_tokens": 3}, "performance": {"latency_ms": 3}, "metadata": {"k": "v"}} for i in (0, 1)]  # fmt: skip
HELM = {
    "run_spec": {"name": "quiz:model=m", "adapter_spec": {"model": "m"}, "metric_specs": [{"args": {"names": ["em"]}}]},
    "scenario_state": {"request_states": [{"instance": {"id": f"i{i}", "split": "test", "input": {"text": "q"}, "references": [{"output": {"text": "a"}, "tags": ["correct"]}]},
        "train_trial_index": 0, "request": {"prompt": "p"}, "output_mapping": {"A": "a"}, "annotations": {"j": {"score": 1}},
        "result": {"success": True, "completions": [{"text": " A", "logprob": -1.0}], "request_time": 1.0}} for i in (0, 1)]},
    "per_instance_stats": [{"instance_id": f"i{i}", "train_trial_index": 0, "stats": [{"name": {"name": "em", "split": "test"}, "count": 1, "mean": 1.0}]} for i in (0, 1)],
    "stats": [{"name": {"name": "em", "split": "test"}, "count": 1, "mean": 1.0}],
}  # fmt: skip
INSPECT = {**header(("right", "judged"), means={"right": 0.5}), "samples": [
    sample("a", {"right": score("C"), "judged": graded("I", "GRADE: I")}, choices=["x"], metadata={"contexts": ["c"], "k": 1}),
    sample("b", {"right": score({"p": 1.0, "q": "C"})}, error={"message": "gone"}, input=[{"role": "user", "content": [{"text": "t"}]}])]}  # fmt: skip
SOURCES = (
    "ragas.jsonl",
    "deepeval.json",
    "deepeval_dialogue.json",
    "mlflow.json",
    "mlflow_legacy.json",
    "lm_eval",
    "promptfoo",
    "helm",
    "every",
    "inspect",
)


def read(name):
    if name == "lm_eval":
        return [json.loads(line) for path in sorted((KEPT / name).glob("*filters*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]  # fmt: skip
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in (KEPT / name).read_text(encoding="utf-8").splitlines()]
    own = {"promptfoo": PROMPTFOO, "helm": HELM, "every": EVERY, "inspect": INSPECT}
    return copy.deepcopy(own[name]) if name in own else json.loads((KEPT / name).read_text(encoding="utf-8"))


def places(value, so_far=()):
    """The path of every value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*so_far, key)
        yield from places(part, (*so_far, key))


def changed(value, draw):
    """A value with one of its parts replaced, or taken out."""
    *way, last = draw.choice(list(places(value)))
    part = value
    for key in way:
        part = part[key]
    if draw.random() < 0.3 and isinstance(part, dict):
        del part[last]
    else:
        part[last] = copy.deepcopy(draw.choice(OTHERS))
    return value


def written(folder, name, value):
    if name == "helm":
        for file, content in value.items():
            (folder / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")
        return folder
    if name in ("lm_eval", "every") or name.endswith(".jsonl"):
        path = folder / "samples_mill_2026-01-01T00-00-00.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in value), encoding="utf-8")
        return path
    path = folder / "run.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def outcome(path):
    try:
        return imported(path).about["rows"]
    except BadInput as error:
        return str(error)


@pytest.mark.parametrize("name", SOURCES)
def test_unchanged_they_are_read(tmp_path, name):
    assert outcome(written(tmp_path, name, read(name))) in (1, 2, 3)


@pytest.mark.generated
@pytest.mark.parametrize("name", SOURCES)
def test_one_value_changed(tmp_path, name):
    for case in one_in_twenty(range(600)):
        draw = random.Random(f"{name} {case}")
        value = read(name)
        for _ in range(draw.randint(1, 3)):
            value = changed(value, draw)
        folder = tmp_path / str(case)
        folder.mkdir()
        found = outcome(written(folder, name, value))
        assert found
        assert isinstance(found, int) or len(found) < 3000
