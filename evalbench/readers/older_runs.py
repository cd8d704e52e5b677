"""Runs of earlier versions as today's: their columns have the names that the vocabulary of all studies gives them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.readers.strict_yaml import read_yaml

if TYPE_CHECKING:
    import pandas as pd

NAMED_BY_ROLES = 3
"""The ``schema_version`` from which columns have the names of roles."""


@cache
def _renames() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = read_yaml(Path(__file__).with_name("older_runs.yaml"))
    return found


def names_of(results: Mapping[str, Any]) -> Mapping[str, str]:
    """Earlier name → name of today, for a run that has earlier ones; else nothing."""
    return {} if results["schema_version"] >= NAMED_BY_ROLES else _renames().get(results["study"], {})


def todays(results: dict[str, Any]) -> dict[str, Any]:
    """The content of a ``results.json`` by names of today; its ``schema_version`` stays, so that its files are renamed too.

    Examples
    --------
    >>> todays({"schema_version": 3, "study": "matching", "id": "id", "by": ["model"]})["by"]
    ['model']
    """
    names = names_of(results)
    if not names:
        return results
    out = {**results, "id": names.get(results["id"], results["id"]), "by": [names.get(c, c) for c in results["by"]]}
    for rows in ("summary", "slices"):
        if rows in results:
            out[rows] = [_keys(row, names) for row in results[rows]]
    if isinstance(results.get("decided_by"), dict):
        out["decided_by"] = _keys(results["decided_by"], names)
    return out


def _keys(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in row.items()}


def todays_frame(frame: pd.DataFrame, results: Mapping[str, Any]) -> pd.DataFrame:
    """A table of a run by names of today; a column that has one already stays."""
    names = {old: new for old, new in names_of(results).items() if new not in frame}
    return frame.rename(columns=names) if names else frame
