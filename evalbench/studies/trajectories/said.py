"""What agents say: claims that nothing before holds, and tools that are named and never called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from evalbench.metrics.grounding import Ground, claims_in
from evalbench.studies.trajectories.inputs import AGENTS, USERS, Given
from evalbench.studies.trajectories.ordered import among, parts

AROUND = 60


def claims_of(found: Given) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What the agents' messages claim.

    Returns
    -------
    counts : DataFrame
        By ``run``: ``claims`` and ``ungrounded``; runs without a message that is known to be an agent's are left out.
    ungrounded : DataFrame
        ``run``, ``step``, ``kind``, ``claim``, ``around``.
    """
    policies, questions = found.runs["policy"].tolist(), found.runs["question"].tolist()
    counts: dict[int, int] = {}
    rows: list[dict[str, Any]] = []
    for steps, _ in parts(found.steps, found.expected, found.runs):
        _claimed(steps, policies, questions, counts, rows)
    ungrounded = pd.DataFrame(rows, columns=["run", "step", "kind", "claim", "around"])
    each = pd.DataFrame({"run": list(counts), "claims": list(counts.values())}, dtype=int)
    return each.assign(ungrounded=each["run"].map(ungrounded.groupby("run").size()).fillna(0).astype(int)), ungrounded


def _claimed(
    steps: pd.DataFrame, policies: list[str], questions: list[str], counts: dict[int, int], rows: list[dict[str, Any]]
) -> None:
    """Count the claims of some trajectories, and add those without ground."""
    speaks = (steps["kind"] == "message").to_numpy() & among(steps["role"], AGENTS)
    run = steps["run"].to_numpy()
    asked = set(run[among(steps["role"], USERS)].tolist())
    heard = (steps["kind"] != "call").to_numpy() | (steps["error"] != "").to_numpy()
    heard &= np.isin(run, run[speaks])
    ground = Ground()
    own = [steps[name].to_numpy()[heard].tolist() for name in ("run", "step", "text", "error")]
    for of, step, text, error, says in zip(*own, speaks[heard].tolist(), strict=True):
        if of not in counts:
            counts[of], ground = 0, Ground()
            ground.add(policies[of])
            ground.add("" if of in asked else questions[of])
        if not says:
            ground.add(text)
            ground.add(error)
            continue
        counts[of] += len(claims_in(text))
        for claim in ground.lacking(text):
            around = text[max(claim.start - AROUND, 0) : claim.end + AROUND]
            rows.append({"run": of, "step": step, "kind": claim.kind, "claim": claim.text, "around": around})


def named_and_never_called(found: Given, calls: pd.DataFrame) -> pd.DataFrame:
    """Tools that an agent names in words and calls nowhere in the trajectory: ``run``, ``step``, ``name``, ``around``.

    A tool is named by its own name, or by the words of it, where these are two or more.
    """
    tools = sorted({*calls["name"], *found.expected["name"]})
    phrases = {phrase.casefold(): tool for tool in tools for phrase in _phrases(tool)}
    columns = ["run", "step", "name", "around"]
    if not phrases:
        return pd.DataFrame(columns=columns)
    any_of = "|".join(map(re.escape, sorted(phrases, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)(?:{any_of})(?!\w)", re.IGNORECASE)
    steps = found.steps
    speaks = (steps["kind"] == "message").to_numpy() & among(steps["role"], AGENTS)
    says = steps.loc[speaks, ["run", "step", "text"]]
    called = set(zip(calls["run"], calls["name"], strict=True))
    rows = [row for row in _named(says, pattern, phrases) if (row["run"], row["name"]) not in called]
    return pd.DataFrame(rows, columns=columns).drop_duplicates(["run", "name"], ignore_index=True)


def _named(says: pd.DataFrame, pattern: re.Pattern[str], phrases: dict[str, str]) -> Iterator[dict[str, Any]]:
    for run, step, text in zip(says["run"], says["step"], says["text"].tolist(), strict=True):
        for match in pattern.finditer(text):
            if (tool := phrases.get(match[0].casefold())) is not None:
                around = text[max(match.start() - AROUND, 0) : match.end() + AROUND]
                yield {"run": run, "step": step, "name": tool, "around": around}


def _phrases(tool: str) -> Iterator[str]:
    words = [w for w in re.split(r"[_\-.\s]+|(?<=[a-z])(?=[A-Z])", tool) if w]
    if len(words) > 1:
        yield tool
        yield " ".join(words)
