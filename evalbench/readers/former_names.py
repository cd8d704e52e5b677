"""Runs of schema versions before 3, whose columns had names of their own, read under the names that they have since: ``former_names.yaml``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from evalbench.readers.strict_yaml import read_yaml

SINCE = 3
"""The version of ``results.json`` from which columns are named after what they hold."""
KEPT = frozenset({"calls", "contradictions", "verdicts"})
"""Tables of what models were asked and replied, whose columns never had other names."""
_RESULTS = "results.json"
_OF_COLUMNS = ("cluster", "slices")
"""Parameters that list columns."""


def former_names(study: str, table: str = "items") -> Mapping[str, str]:
    """Former name → today's name of the columns of a study's items and groups, or of a table.

    Examples
    --------
    >>> former_names("text_metrics")["output"], former_names("text_metrics", "calls")
    ('answer', {})
    """
    own = _known().get(study, {})
    of_table = own.get(table, {} if table in KEPT else own)
    return {former: name for former, name in of_table.items() if isinstance(name, str)}


def today(study: str, column: str) -> str:
    """Today's name of a column of a study's items."""
    return former_names(study).get(column, column)


def renamed(names: Iterable[str], former: Mapping[str, str]) -> dict[str, str]:
    """Which columns of a table are read under which name: not where another column has that name, and keeps it.

    Examples
    --------
    >>> renamed(["id", "run", "model"], {"run": "model", "query_id": "id"}), renamed(["run"], {"run": "model"})
    ({}, {'run': 'model'})
    >>> renamed(["output", "answer"], {"output": "answer", "answer": "answer_no"})
    {'output': 'answer', 'answer': 'answer_no'}
    """
    given = list(names)
    kept = {name for name in given if name not in former}
    return {name: former[name] for name in given if name in former and former[name] not in kept}


def renamed_of(file: Path, names: Iterable[str]) -> dict[str, str]:
    """As :func:`renamed`, of the columns of a run's file; empty where the run is not of an earlier version."""
    given = list(names)
    if _former().isdisjoint(given):
        return {}
    results = file.parent / _RESULTS
    try:
        study = _study_before(results, results.stat().st_mtime_ns)
    except OSError:
        return {}
    return renamed(given, former_names(study, file.stem)) if study else {}


def results_today(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a ``results.json`` with today's names of its columns; its ``schema_version`` stays."""
    former = former_names(str(content["study"])) if content["schema_version"] < SINCE else {}
    if not former:
        return dict(content)
    by = renamed([content["id"], *content["by"]], former)
    out = {**content, "id": by.get(content["id"], content["id"]), "by": [by.get(name, name) for name in content["by"]]}
    for name in ("summary", "decided_by", "trials", "stopping"):
        if name in content:
            out[name] = _with_keys(content[name], by)
    if "slices" in content:
        out["slices"] = [{**row, "column": former.get(row["column"], row["column"])} for row in content["slices"]]
    return {**out, "parameters": parameters_today(content["parameters"], former)}


def run_today(content: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The content of a ``run.json`` with today's names in its parameters, where its ``results.json`` is of an earlier version."""
    former = former_names(str(content.get("study") or folder.parent.name))
    results = folder / _RESULTS
    if not former or not content.get("parameters") or not results.is_file():
        return dict(content)
    before = _study_before(results, results.stat().st_mtime_ns)
    return {**content, "parameters": parameters_today(content["parameters"], former)} if before else dict(content)


def parameters_today(parameters: Mapping[str, Any], former: Mapping[str, str]) -> dict[str, Any]:
    """Parameters with today's names where they name columns: renames (``columns``), slices, clusters."""
    out = dict(parameters)
    for name in _OF_COLUMNS:
        if isinstance(listed := out.get(name), list):
            out[name] = [former.get(column, column) if isinstance(column, str) else column for column in listed]
        elif isinstance(listed, str):
            out[name] = former.get(listed, listed)
    if isinstance(renames := out.get("columns"), dict):
        out["columns"] = {s: former.get(to, to) if isinstance(to, str) else to for s, to in renames.items()}
    return out


def _with_keys(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_with_keys(each, names) for each in value]
    if isinstance(value, dict):
        own = renamed(value, names)
        return {own.get(key, key): _with_keys(each, names) for key, each in value.items()}
    return value


@lru_cache(maxsize=256)
def _study_before(results: Path, _at: int) -> str:
    """The study of a run of an earlier version; empty of any other."""
    try:
        content = json.loads(results.read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    version = content.get("schema_version") if isinstance(content, dict) else None
    return str(content.get("study")) if isinstance(version, int) and version < SINCE else ""


@cache
def _known() -> Mapping[str, Mapping[str, Any]]:
    content: dict[str, Mapping[str, Any]] = read_yaml(Path(__file__).with_suffix(".yaml"))
    return content


@cache
def _former() -> frozenset[str]:
    """The former names of all studies and tables."""
    each = [own if isinstance(own, dict) else {name: own} for of in _known().values() for name, own in of.items()]
    return frozenset(name for names in each for name in names)
