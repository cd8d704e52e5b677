"""The results file of lm-eval, ``results_TIME.json``: model, version, directions and figures of each task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.tools.safe import document, mapping
from evalbench.readers.tools.shapes import number_of

_MOST = 20_000_000
_PRETRAINED = re.compile(r"(?:^|,)(?:pretrained|model|peft)=([^,]+)")


class Results(NamedTuple):
    """What a results file says of one task; empty where there is none beside the samples."""

    task: str = ""
    model: str = ""
    version: str | None = None
    higher: Mapping[str, bool] = {}
    figures: Mapping[str, Any] = {}
    effective: int | None = None
    alone: tuple[str, ...] = ()


def is_results(value: Any) -> bool:
    """Whether a document is a results file."""
    whole = mapping(value)
    return isinstance(whole.get("results"), dict) and bool({"configs", "versions"} & set(whole)) and "config" in whole


def beside_of(path: Path, task: str, time: str) -> Results:
    """What the results file of the same time says, or the only one of the folder that has the task."""
    named = [p for p in path.resolve().parent.glob("*results*.json") if p.stat().st_size <= _MOST]
    same = [p for p in named if time and time in p.name]
    for candidate in same or named:
        try:
            value = document(candidate)
        except BadInput:
            if same:
                raise
            continue
        if is_results(value) and (found := _task_of(value, task, path.stem)):
            return _of(value, found, [p.stem for p in candidate.parent.glob("*samples_*.jsonl")])
    return Results()


def _task_of(value: Mapping[str, Any], task: str, stem: str) -> str:
    """The task of a samples file: the one that its name states, else the longest of the run that its name ends in."""
    tasks = mapping(value["results"])
    if task:
        return task if task in tasks else ""
    ends = [name for name in tasks if stem == name or stem.endswith((f"_{name}", f"-{name}"))]
    return max(ends, key=len, default="")


def _of(value: Mapping[str, Any], task: str, samples: Sequence[str]) -> Results:
    config = mapping(value.get("config"))
    figures = {key: figure for key, figure in mapping(value["results"])[task].items() if "," in key}
    higher = {k: v for k, v in mapping(mapping(value.get("higher_is_better")).get(task)).items() if isinstance(v, bool)}
    count = number_of(mapping(mapping(value.get("n-samples")).get(task)).get("effective"))
    version = value.get("lm_eval_version")
    return Results(
        task,
        str(value.get("model_name") or _pretrained(config.get("model_args")) or config.get("model") or ""),
        str(version) if version else None,
        higher,
        figures,
        None if count is None else int(count),
        tuple(name for name in mapping(value["results"]) if not any(f"samples_{name}" in stem for stem in samples)),
    )


def _pretrained(arguments: Any) -> str:
    """The model among the arguments of a run, which are a text or an object."""
    if isinstance(arguments, dict):
        return str(arguments.get("pretrained") or arguments.get("model") or "")
    found = _PRETRAINED.search(str(arguments or ""))
    return found[1] if found else ""
