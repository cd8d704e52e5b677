"""Scripted judges of trajectories, fakes, and planted trajectories without marks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import planted_agents

from evalbench import load
from evalbench.core.result import Result
from evalbench.studies import trajectories


def judged(frames: dict[str, pd.DataFrame], **options: Any) -> Result:
    return trajectories.evaluate(load(frames, study="trajectories"), **{"n_resamples": 50, **options})


def unmarked(n: int = 4, **outcomes: Any) -> dict[str, pd.DataFrame]:
    own = planted_agents.trajectories(n, **outcomes)
    return {name: own[name] for name in ("steps", "tasks")}


def fine(item: dict[str, Any]) -> dict[str, Any]:
    """A scripted judge, a fake, that finds nothing wrong."""
    return {"label": "no_failure", "steps": []} if item["criterion"] == "failure" else {"mark": 1}


def blaming(*steps: int, kind: str = "loop") -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A scripted judge, a fake, that names one kind and these steps for every trajectory."""

    def says(item: dict[str, Any]) -> dict[str, Any]:
        return {"label": kind, "steps": list(steps)} if item["criterion"] == "failure" else {"mark": 0}

    return says
