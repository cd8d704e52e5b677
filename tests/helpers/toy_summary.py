"""Summaries made by hand, and what a study answers to them: no evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import studies
from evalbench.core.answer import MOST_WORDS, Answer
from evalbench.core.result import Estimate, Summary
from evalbench.core.verdict import Light, Verdict, worst
from evalbench.kit.answering import Facts


def figure(metric: str, value: float | None, light: Light = "unlit", **more: Any) -> Estimate:
    """A figure of 40 items with an interval of ±0.1."""
    ends: dict[str, Any] = {} if value is None else {"ci_low": value - 0.1, "ci_high": value + 0.1}
    return Estimate(**{"metric": metric, "value": value, "n": 40, "unit": "0–1", "light": light, **ends, **more})


def summary(*estimates: Estimate, light: Light | None = None, **more: Any) -> Summary:
    """The worst light of all, and the first figure that has it."""
    found = light or worst([e.light for e in estimates])
    first = next((e for e in estimates if e.light == found and found != "unlit"), None)
    decided = {"metric": first.metric, **first.group} if first else None
    return Summary(estimates, Verdict(found, "…", decided_by=decided, **more))


def compared(*rows: tuple[str, str, str, str], by: str = "model") -> Mapping[str, pd.DataFrame]:
    """The table of compared groups, on 40 items of both: metric, A, B, outcome of A."""
    columns = ("metric", f"{by}_a", f"{by}_b", "outcome")
    return {
        "comparison": pd.DataFrame(list(rows), columns=list(columns)).assign(difference=0.3, unit="0–1", n_a=40, n_b=40)
    }


def answered(study: str, found: Summary, **facts: Any) -> Answer:
    """What the study says; short in any case."""
    hook = studies.study(study).answer
    assert hook is not None
    said = hook(found, Facts(**facts))
    assert said.size <= MOST_WORDS, said
    return said


def sentence(study: str, found: Summary, **facts: Any) -> str:
    return answered(study, found, **facts).answer


def of_models(names: Sequence[str]) -> list[dict[str, str]]:
    return [{"model": name} for name in names]
