"""The names that people give to the columns of a table of steps."""

from __future__ import annotations

from collections.abc import Collection, Sequence

TASKS = ("task_id", "id", "task", "example_id", "question_id", "instance_id", "item_id", "case_id", "sample_id")
RUNS = (
    *("trial", "trajectory_id", "run_id", "run", "trajectory", "episode", "episode_id", "rollout", "rollout_id"),
    *("session_id", "session", "conversation_id", "conversation", "dialogue_id", "dialogue", "dialog_id", "chat_id"),
    *("thread_id", "trace_id", "trial_id", "attempt", "epoch", "repeat", "seed"),
)
NUMBERS = frozenset({"trial", "trial_id", "attempt", "epoch", "repeat", "seed"})
"""Those of :data:`RUNS` that tell the trials of one task apart, and name nothing by themselves."""
STEPS = ("step", "step_id", "step_index", "step_number", "step_no", "turn", "turn_id", "position", "seq", "index")
KINDS = ("kind", "step_type", "event_type", "type", "event")
SURE_TOOLS = ("tool", "tool_name", "function_name")
"""Names that nothing but a tool has."""
TOOLS = ("tool", "tool_name", "function", "function_name", "action", "name")
ARGUMENTS = (
    *("arguments", "args", "tool_args", "tool_input", "tool_arguments", "action_input", "parameters", "kwargs"),
    "input",
)
OUTPUTS = ("output", "tool_output", "observation", "result", "tool_result", "response")
TEXTS = ("text", "content", "message", "utterance")
ANSWERS = ("answer", "final_answer", "final_output", "reply", "agent_message", "assistant_message")
"""What the agent says once it has the output of the row."""
THOUGHTS = ("thought", "reasoning", "thinking")
TIMES = ("time", "timestamp", "ts", "created_at", "start_time")
SECONDS = ("seconds", "duration", "duration_s", "latency", "latency_s")
MILLISECONDS = ("duration_ms", "latency_ms")
TOKENS, COSTS, PARENTS = ("tokens", "total_tokens", "n_tokens"), ("cost", "cost_usd"), ("parent", "parent_id")
CALL_IDS = ("call_id", "tool_call_id")
READ = frozenset(
    {
        *(*TASKS, *RUNS, *STEPS, *KINDS, *TOOLS, *ARGUMENTS, *OUTPUTS, *TEXTS, *ANSWERS, *THOUGHTS),
        *(*TIMES, *SECONDS, *MILLISECONDS, *TOKENS, *COSTS, *PARENTS, "role", *CALL_IDS),
    }
)
AGENT = "assistant"
"""A column of agents' names, in a table without another, where its cells are names."""


def named(wanted: Sequence[str], names: Collection[str]) -> str:
    """The first of the names that are looked for; empty where none is there."""
    return next((name for name in wanted if name in names), "")


def task_and_run(names: Collection[str]) -> tuple[str, str]:
    """The columns of a table that name the task and the trial; a table that names only one of them has a task.

    Examples
    --------
    >>> task_and_run(["conversation", "task_id"]), task_and_run(["attempt", "session"]), task_and_run(["trial"])
    (('task_id', 'conversation'), ('session', 'attempt'), ('trial', ''))
    """
    task = named((*TASKS, *(name for name in RUNS if name not in NUMBERS), *RUNS), names)
    return task, named([name for name in RUNS if name != task], names)
