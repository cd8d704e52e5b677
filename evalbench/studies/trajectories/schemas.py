"""Calls held against the schemas of their tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench.errors import BadInput
from evalbench.metrics.tool_schemas import Check

HELD, NONE, UNKNOWN, TOO_MUCH = "held against", "none given", "unknown tool", "too large to be held against"
"""What is known of a call's schema; nothing where no tools are listed."""


def held(
    calls: pd.DataFrame, values: Sequence[Mapping[str, Any]], tools: Mapping[str, Check | None] | None
) -> pd.DataFrame:
    """The calls with ``schema`` and ``misfit``: what is known of the schema, and why the arguments do not fit it.

    Parameters
    ----------
    calls : DataFrame
        ``name``, ``arguments`` as written, ``unreadable``.
    values : sequence of mapping
        The arguments that were read.
    tools : mapping or None
        See :class:`~evalbench.studies.trajectories.inputs.Given`.

    Raises
    ------
    BadInput
        For a schema that refers to what is not in it.
    """
    known: dict[tuple[str, str], tuple[str, str]] = {}
    found = []
    rows = zip(calls["name"].tolist(), calls["arguments"].tolist(), calls["unreadable"].tolist(), values, strict=True)
    for name, text, fault, value in rows if tools is not None else ():
        key = name, text
        if key not in known:
            known[key] = _one(name, value, fault, tools or {})
        found.append(known[key])
    blank = [("", "")] * (len(calls) - len(found))
    schema, misfit = zip(*found, *blank, strict=True) if len(calls) else ((), ())
    own = {"schema": schema, "misfit": misfit}
    return calls.assign(**{name: pd.Series(cells, calls.index, dtype="str") for name, cells in own.items()})


def _one(name: str, value: Mapping[str, Any], fault: str, tools: Mapping[str, Check | None]) -> tuple[str, str]:
    if name not in tools:
        return UNKNOWN, ""
    check = tools[name]
    if check is None:
        return NONE, ""
    if fault:
        return HELD, fault
    try:
        why = check(value)
    except BadInput as error:
        raise BadInput(f"tools, parameters of {name:.80}: no JSON Schema that can be used: {error}") from None
    return (TOO_MUCH, "") if why is None else (HELD, why)
