"""Result files of tau-bench, a list of trials, and of tau2-bench, an object with tasks and simulations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalbench.readers.tools.safe import mapping, objects, sequence
from evalbench.readers.trajectories.about import ended_of, error_text
from evalbench.readers.trajectories.listed_tools import tools_in
from evalbench.readers.trajectories.looks import Look
from evalbench.readers.trajectories.messages import instruction_of, question_of, steps_of
from evalbench.readers.trajectories.parts import text_of_content
from evalbench.readers.trajectories.shape import (
    Malformed,
    Source,
    Trajectory,
    amount_of,
    expected_calls,
    json_text,
    mark_of,
    name_of,
    word_of,
)

NAMES = ("tau-bench", "tau2-bench")
FILES = "result files of tau-bench (a list with task_id, trial, reward, traj) and of tau2-bench (tasks, simulations)"


def recognised(look: Look) -> str:
    """``tau-bench`` or ``tau2-bench``; empty for any other file."""
    if look.form == "document" and isinstance(look.value, dict):
        simulations = sequence(look.value.get("simulations"))
        both = simulations and isinstance(look.value.get("tasks"), list)
        return NAMES[1] if both and all("task_id" in mapping(s) for s in simulations[:20]) else ""
    known = look.objects[:1] and {"task_id", "traj", "reward"} <= look.objects[0].keys()
    return NAMES[0] if known else ""


def read(look: Look, source: Source) -> Iterator[Trajectory]:
    """The trials of a result file; the calls that a task expects are its actions, the question the user's instruction."""
    if isinstance(look.value, dict):
        yield from _second(look.value, source)
        return
    for row, record in look.records(source):
        try:
            yield _first(record, row, source)
        except Malformed as error:
            source.fault(row, error)


def _first(record: Any, row: int, source: Source) -> Trajectory:
    if not isinstance(record, dict):
        raise Malformed(f"expected a trial, found {type(record).__name__}")
    info = mapping(record.get("info"))
    task = mapping(info.get("task"))
    steps = steps_of(record.get("traj"), source, "traj")
    outputs = task.get("outputs")
    error = info.get("error")
    return Trajectory(
        name_of(record.get("task_id")),
        steps,
        word_of(record.get("model")),
        name_of(record.get("trial")),
        mark=mark_of(record.get("reward")),
        ended=error_text(error) if error else "",
        question=word_of(task.get("instruction")) or question_of(steps),
        reference=json_text(outputs) if isinstance(outputs, list) and outputs else None,
        expected=expected_calls(task.get("actions")),
        policy=instruction_of(steps),
        row=row,
    )


def _second(value: Mapping[str, Any], source: Source) -> Iterator[Trajectory]:
    info = mapping(value.get("info"))
    model = word_of(mapping(info.get("agent_info")).get("llm"))
    policy = word_of(mapping(info.get("environment_info")).get("policy")) or None
    tasks = {name_of(task.get("id")): task for task in objects(value["tasks"])}
    for row, run in enumerate(value["simulations"], start=1):
        if not isinstance(run, dict):
            source.fault(row, f"expected a simulation, found {type(run).__name__}")
            continue
        own = name_of(run.get("task_id"))
        task = mapping(tasks.get(own))
        criteria = mapping(task.get("evaluation_criteria"))
        scenario = mapping(task.get("user_scenario")).get("instructions")
        try:
            steps = steps_of(run.get("messages"), source)
        except Malformed as error:
            source.fault(row, error)
            continue
        agents = [a for a in objects(criteria.get("actions")) if a.get("requestor", "assistant") == "assistant"]
        yield Trajectory(
            own,
            steps,
            model,
            name_of(run.get("trial")),
            mark=_mark(run, source),
            ended=ended_of(run.get("termination_reason")),
            question=_scenario(scenario) or question_of(steps),
            expected=expected_calls(agents) if isinstance(criteria.get("actions"), list) else None,
            policy=policy or instruction_of(steps),
            tools=tools_in(({"tools": mapping(info.get("environment_info")).get("tool_defs")},), steps),
            row=row,
        )


def _mark(run: Mapping[str, Any], source: Source) -> float | None:
    """The reward; a reward of more than 1 or none is unscored."""
    reward = mapping(run.get("reward_info")).get("reward")
    mark = mark_of(reward)
    if mark is None and amount_of(reward) is not None:
        source.note("reward: values that are not marks from 0 to 1 were left unscored")
    return mark


def _scenario(scenario: Any) -> str:
    """The instruction of the simulated user, as one text."""
    if isinstance(scenario, dict):
        keys = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
        return "\n".join(text for key in keys if (text := word_of(scenario.get(key))))
    return text_of_content(scenario)
