"""tau-bench's published trajectories of the airline domain as tables of steps, tasks and outcomes."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd


@cache
def tables(folder: Path) -> dict[str, pd.DataFrame]:
    """The tables of ``gpt-4o-airline.json.gz``: a result that begins with *Error* is a tool's error."""
    with gzip.open(folder / "gpt-4o-airline.json.gz", "rt", encoding="utf-8") as file:
        entries = json.load(file)
    steps: list[dict[str, Any]] = []
    for entry in entries:
        key = {"id": str(entry["task_id"]), "model": "gpt-4o", "trial": str(entry["trial"])}
        rows = [row for message in entry["traj"] for row in rows_of(message)]
        steps += [{**key, "step": i, **row} for i, row in enumerate(rows)]
    by_task = {str(entry["task_id"]): entry["info"]["task"] for entry in entries}
    tasks = [
        {
            "id": task,
            "question": info["instruction"],
            "expected": json.dumps([{"name": call["name"], "arguments": call["kwargs"]} for call in info["actions"]]),
        }
        for task, info in by_task.items()
    ]
    outcomes = [
        {"id": str(e["task_id"]), "model": "gpt-4o", "trial": str(e["trial"]), "mark": e["reward"]} for e in entries
    ]
    return {"steps": pd.DataFrame(steps), "tasks": pd.DataFrame(tasks), "outcomes": pd.DataFrame(outcomes)}


def rows_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """One chat message as steps: its text, its calls, or a tool's result."""
    if message["role"] == "tool":
        text = str(message["content"])
        error = text if text.startswith("Error") else ""
        return [
            {
                "kind": "result",
                "name": message["name"],
                "call_id": message["tool_call_id"],
                "text": text,
                "error": error,
            }
        ]
    rows = [{"kind": "message", "role": message["role"], "text": message["content"]}] if message["content"] else []
    for call in message.get("tool_calls") or []:
        own = call["function"]
        rows.append({"kind": "call", "name": own["name"], "arguments": own["arguments"], "call_id": call["id"]})
    return rows
