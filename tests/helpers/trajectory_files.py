"""Small files of trajectories, each of the same trial in another form: a search that fails, one that works, an answer."""

import json
from pathlib import Path

ASKED = {"name": "find_loan", "arguments": {"book": 7}}
POLICY, QUESTION, THOUGHT, FAILED, FOUND, ANSWER = (
    "Look everything up.",
    "When is book 7 due?",
    "I need the loan.",
    "Error: no shelf 9",
    '{"due": "2031-05-01"}',
    "On 1 May 2031.",
)
SHELF = {"name": "find_shelf", "arguments": {"shelf": 9}}


def called(number, name, arguments):
    return {"id": number, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def openai():
    return [
        {"role": "system", "content": POLICY},
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": None, "tool_calls": [called("c1", **SHELF)]},
        {"role": "tool", "tool_call_id": "c1", "content": FAILED},
        {"role": "assistant", "content": "", "tool_calls": [called("c2", **ASKED)]},
        {"role": "tool", "tool_call_id": "c2", "content": FOUND},
        {"role": "assistant", "content": ANSWER},
    ]


def anthropic():
    return [
        {"role": "user", "content": QUESTION},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": THOUGHT, "signature": "x"},
                {"type": "tool_use", "id": "c1", "name": SHELF["name"], "input": SHELF["arguments"]},
            ],
            "usage": {"input_tokens": 10, "output_tokens": 5},
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no shelf 9", "is_error": True}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c2", "name": ASKED["name"], "input": ASKED["arguments"]}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": FOUND}]}]},
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ]  # fmt: skip


def response():
    return {
        "id": "resp_1", "object": "response", "created_at": 1_900_000_000, "model": "fern-1b", "instructions": POLICY,
        "input": QUESTION, "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}, "status": "completed",
        "output": [
            {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": THOUGHT}]},
            {"type": "function_call", "call_id": "c1", "name": SHELF["name"], "arguments": json.dumps(SHELF["arguments"])},
            {"type": "function_call_output", "call_id": "c1", "output": FAILED},
            {"type": "function_call", "call_id": "c2", "name": ASKED["name"], "arguments": json.dumps(ASKED["arguments"])},
            {"type": "function_call_output", "call_id": "c2", "output": FOUND},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
        ],
    }  # fmt: skip


def tau(trial=0, reward=1.0, task=3):
    info = {"task": {"instruction": "You are Ann.", "actions": [{"name": "find_loan", "kwargs": {"book": 7}}], "outputs": ["1 May"]}}  # fmt: skip
    return {"task_id": task, "trial": trial, "reward": reward, "info": info, "traj": openai()}


def tau2():
    messages = [
        {"role": "user", "content": QUESTION, "timestamp": "2031-01-01T10:00:00", "cost": 0.25},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", **ASKED, "requestor": "assistant"}], "cost": 0.5},
        {"id": "c1", "role": "tool", "content": FOUND, "requestor": "assistant", "error": False},
        {"role": "assistant", "content": ANSWER, "usage": {"prompt_tokens": 9, "completion_tokens": 1}},
    ]  # fmt: skip
    criteria = {"actions": [{"action_id": "a", **ASKED}, {"action_id": "b", "requestor": "user", "name": "tap", "arguments": {}}]}  # fmt: skip
    return {
        "info": {"agent_info": {"llm": "fern-1b"}, "environment_info": {"policy": POLICY}},
        "tasks": [{"id": "3", "user_scenario": {"instructions": {"reason_for_call": QUESTION}}, "evaluation_criteria": criteria}],
        "simulations": [
            {"id": "s1", "task_id": "3", "trial": 0, "messages": messages, "reward_info": {"reward": 1.0}, "termination_reason": "user_stop"},
            {"id": "s2", "task_id": "3", "trial": 1, "messages": messages[:2], "reward_info": None, "termination_reason": "max_steps"},
        ],
    }  # fmt: skip


def write(path: Path, value) -> Path:
    """A JSON document, or JSON Lines of a list where the name says so; the readers never look at the name."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in value), encoding="utf-8")
    else:
        path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def told(cells) -> list:
    """The cells of a column of steps, None where there is nothing."""
    return [None if gone else cell for cell, gone in zip(cells, cells.isna(), strict=True)]
