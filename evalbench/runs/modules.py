"""Modules of metrics among a run's parameters: their files, found before the start, by content and sent to workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.metrics.registry import MODULE

METRICS = "metrics"


def local_modules(values: Mapping[str, Any], base: Path) -> tuple[dict[str, Path], list[str]]:
    """The files and folders of modules among the metrics by their names there, and what is wrong with the others.

    - ``values``: Parameters; ``metrics`` may hold ``evaluate:FILE.py``, ``evaluate:FOLDER``, ``evaluate:NAME``.
    - ``base``: Where relative paths start.
    """
    found: dict[str, Path] = {}
    faults = []
    for metric in named(values):
        from evalbench.kit.modules import files_of, source_of

        try:
            source = source_of(metric.removeprefix(MODULE), base)
            if source is not None:
                files_of(source)
                found[metric] = source
        except BadInput as error:
            faults.append(f"{METRICS}: {error}")
    return found, faults


def named(values: Mapping[str, Any]) -> list[str]:
    """The metrics that are modules."""
    metrics = values.get(METRICS)
    listed = metrics if isinstance(metrics, list) else []
    return [metric for metric in listed if isinstance(metric, str) and metric.startswith(MODULE)]


def renamed(values: Mapping[str, Any], name: Callable[[str], str]) -> dict[str, Any]:
    """Values with other names of the modules.

    Examples
    --------
    >>> renamed({"k": 1, "metrics": ["rougeL", "evaluate:a.py"]}, lambda metric: "evaluate:/srv/a.py")
    {'k': 1, 'metrics': ['rougeL', 'evaluate:/srv/a.py']}
    """
    modules = named(values)
    if not modules:
        return dict(values)
    return {**values, METRICS: [name(metric) if metric in modules else metric for metric in values[METRICS]]}


def absolute(values: Mapping[str, Any], modules: Mapping[str, Path]) -> dict[str, Any]:
    """Values in which local modules have absolute paths."""
    return renamed(values, lambda metric: f"{MODULE}{modules[metric]}" if metric in modules else metric)


def by_content(values: Mapping[str, Any], modules: Mapping[str, Path]) -> dict[str, Any]:
    """Values in which local modules have the SHA-256 of their files in place of the path."""
    from evalbench.kit.modules import files_of, sha256_of

    return renamed(
        values,
        lambda metric: (
            f"{MODULE}{modules[metric].name} {sha256_of(files_of(modules[metric]))}" if metric in modules else metric
        ),
    )


def sent(modules: Mapping[str, Path]) -> tuple[dict[str, str], dict[str, Path]]:
    """Where modules lie in the workbench of a worker, by their names, and their files by path there."""
    from evalbench.kit.modules import files_of

    paths: dict[str, str] = {}
    files: dict[str, Path] = {}
    for number, (metric, source) in enumerate(sorted(modules.items())):
        folder = f"modules/{number}"
        paths[metric] = f"{folder}/{source.name}"
        files |= {f"{folder}/{file.relative_to(source.parent).as_posix()}": file for file in files_of(source)}
    return paths, files
