"""Runs of OpenHands in both forms of its events; the files are ours."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from evalbench import load
from evalbench.cli import group
from evalbench.errors import BadInput
from evalbench.readers.trajectories import recognised, stream_trajectories
from evalbench.studies import trajectories

TIME = "2026-03-01T10:00:0{}"


def action(n: int, kind: str, source: str = "agent", call: str = "", **args: Any) -> dict[str, Any]:
    event = {"id": n, "timestamp": TIME.format(n), "source": source, "message": "", "action": kind, "args": args}
    if call:
        written = json.dumps({key: value for key, value in args.items() if key != "thought"})
        reply = {"message": {"tool_calls": [{"id": f"c{n}", "function": {"name": call, "arguments": written}}]}}
        response = {"model": "oak-7b", "choices": [reply]}
        event["tool_call_metadata"] = {"function_name": call, "tool_call_id": f"c{n}", "model_response": response}
    return event


def seen(n: int, kind: str, content: str, cause: int, code: int | None = None) -> dict[str, Any]:
    extras = {} if code is None else {"metadata": {"exit_code": code}}
    event = {"id": n, "timestamp": TIME.format(n), "source": "agent", "message": "", "observation": kind}
    return {**event, "content": content, "extras": extras, "cause": cause}


def history(*, solved: bool = True) -> list[dict[str, Any]]:
    return [
        action(0, "system", content="Mend what is asked for."),
        action(1, "message", "user", content="The tide table has an empty row."),
        action(2, "recall", "user", query="tide"),
        action(3, "run", call="execute_bash", command="grep tide table.csv", thought="I look for it."),
        seen(4, "run", "no such file", 3, 2),
        action(5, "edit", path="table.py", new_str="skip()"),
        seen(6, "edit", "changed" if solved else "nothing changed", 5),
        action(7, "finish", final_thought="The row is gone."),
        seen(8, "agent_state_changed", "", 7),
    ]


def record(n: int, held: Any, **more: Any) -> dict[str, Any]:
    used = {"accumulated_cost": 0.02, "accumulated_token_usage": {"prompt_tokens": 900, "completion_tokens": 100}}
    own = {"llm_config": {"model": "oak-7b"}, "max_iterations": 30}
    return {
        "instance_id": f"tide-{n}",
        "instruction": "Mend it.",
        "metadata": own,
        "history": held,
        "metrics": used,
    } | more


def written(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def test_actions_and_observations_are_steps_and_what_the_tool_does_for_itself_is_none(tmp_path: Path) -> None:
    path = written(tmp_path / "output.jsonl", record(1, history(), test_result={"report": {"resolved": True}}))
    assert recognised(path) == "openhands"
    (made,) = stream_trajectories(path)
    assert (made.id, made.model, made.mark, made.question) == ("tide-1", "oak-7b", 1.0, "Mend it.")
    assert made.policy == "Mend what is asked for."
    assert [(s.kind, s.role, s.name) for s in made.steps] == [
        ("message", "system", ""),
        ("message", "user", ""),
        ("note", "assistant", ""),
        ("call", "assistant", "execute_bash"),
        ("result", "tool", "execute_bash"),
        ("call", "assistant", "edit"),
        ("result", "tool", "edit"),
        ("message", "assistant", ""),
    ]
    call, failed, edit, done = (made.steps[i] for i in (3, 4, 5, 7))
    assert json.loads(call.arguments or "") == {"command": "grep tide table.csv"}
    assert (failed.error, failed.text, failed.call_id) == (1, "no such file", call.call_id)
    assert json.loads(edit.arguments or "") == {"path": "table.py", "new_str": "skip()"}
    assert (done.text, done.cost, done.tokens) == ("The row is gone.", 0.02, 1000.0)


def test_pairs_of_an_action_and_an_observation_are_read_alike(tmp_path: Path) -> None:
    events = [event for event in history() if event["id"] not in (0, 1, 2)]
    pairs = [events[i : i + 2] for i in range(0, len(events), 2)]
    one, other = (
        next(iter(stream_trajectories(written(tmp_path / f"{name}.jsonl", record(1, held)))))
        for name, held in (("flat", events), ("pairs", pairs))
    )
    assert one == other


def test_events_that_name_their_kind_are_read(tmp_path: Path) -> None:
    def event(kind: str, source: str, **more: Any) -> dict[str, Any]:
        return {"id": "x", "kind": kind, "source": source, "timestamp": TIME.format(1), **more}

    said = {"role": "user", "content": [{"type": "text", "text": "Mend the table."}]}
    events = [
        event("SystemPromptEvent", "agent", system_prompt={"type": "text", "text": "Be brief."}),
        event("MessageEvent", "user", llm_message=said),
        event("ActionEvent", "agent", tool_name="terminal", tool_call_id="a", thought=[{"type": "text", "text": "Look."}],
              action={"kind": "ExecuteBashAction", "command": "ls"}),
        event("ObservationEvent", "environment", tool_name="terminal", tool_call_id="a",
              observation={"content": [{"type": "text", "text": "table.py"}], "is_error": False}),
        event("ActionEvent", "agent", tool_name="terminal", tool_call_id="b",
              tool_call={"id": "b", "name": "terminal", "arguments": '{"command": "rm"}'}, action={}),
        event("AgentErrorEvent", "agent", tool_name="terminal", tool_call_id="b", error="not allowed"),
        event("ActionEvent", "agent", tool_name="finish", tool_call_id="c", action={"message": "Done."}),
    ]  # fmt: skip
    (made,) = stream_trajectories(written(tmp_path / "output.jsonl", record(1, events)))
    assert [(s.kind, s.name, s.text, s.error) for s in made.steps] == [
        ("message", "", "Be brief.", None),
        ("message", "", "Mend the table.", None),
        ("note", "", "Look.", None),
        ("call", "terminal", None, None),
        ("result", "terminal", "table.py", 0),
        ("call", "terminal", None, None),
        ("result", "terminal", "not allowed", 1),
        ("message", "", "Done.", None),
    ]
    assert [json.loads(s.arguments) for s in made.steps if s.arguments] == [{"command": "ls"}, {"command": "rm"}]


def test_one_run_s_events_are_a_trajectory(tmp_path: Path) -> None:
    path = tmp_path / "events.json"
    path.write_text(json.dumps(history()), encoding="utf-8")
    (made,) = stream_trajectories(path)
    assert (made.model, sum(step.kind == "call" for step in made.steps)) == ("oak-7b", 2)


def test_events_of_the_tool_alone_are_said_in_one_message(tmp_path: Path) -> None:
    path = tmp_path / "events.json"
    path.write_text(json.dumps([action(n, "recall", "user", query="x") for n in range(3)]), encoding="utf-8")
    with pytest.raises(BadInput, match="no action and no observation in 3 events"):
        list(stream_trajectories(path))


@pytest.mark.slow
def test_a_run_reads_them_with_nothing_but_data(tmp_path: Path) -> None:
    rows = [record(n, history(solved=n % 2 == 0), test_result={"resolved": n % 2 == 0}) for n in range(6)]
    path = written(tmp_path / "output.jsonl", *rows)
    result = trajectories.evaluate(load(path, study="trajectories"), n_resamples=50)
    assert result.estimate("success", model="oak-7b").value == 0.5
    assert result.estimate("failed_calls", model="oak-7b").value == 0.5
    printed = CliRunner().invoke(group, ["data", "check", str(path)]).output
    assert "6 trajectories of 6 tasks, 1 agent, 48 steps; 6 of 6 have a mark" in " ".join(printed.split())


@pytest.mark.parametrize("seed", range(40))
def test_mutated_files_are_rows_or_one_message(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    rows = [json.dumps(record(n, history())) for n in range(3)]

    def mutated(value: Any) -> Any:
        if draw.random() < 0.08:
            return draw.choice([None, 7, "x", [], {}, [[]], True, float("1e300"), "\ud800"])
        if isinstance(value, dict):
            return {key: mutated(one) for key, one in value.items() if draw.random() > 0.04}
        return [mutated(one) for one in value] if isinstance(value, list) else value

    for k in range(5):
        path = tmp_path / f"{k}.jsonl"
        text = "\n".join(json.dumps(mutated(json.loads(row))) for row in rows)
        path.write_text(text[: draw.randrange(len(text) // 2, len(text) + 1)], encoding="utf-8")
        try:
            trajectories.evaluate(load(path, study="trajectories"), n_resamples=10)
        except BadInput as error:
            assert str(path.name) in str(error)  # noqa: PT017
