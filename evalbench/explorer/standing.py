"""The figures and the light of some of a run's items, or under other thresholds: what the study's own ``summarise`` says of them."""

from __future__ import annotations

import inspect
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.explorer.moved import Moved, moved
from evalbench.kit.options import Checks, of_another_type, taken

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.core.result import Summary
    from evalbench.explorer.rows import Rows
    from evalbench.studies.contract import Study

SAMPLED_FROM = 200_000
"""Of more items than this the figures are those of so many, drawn evenly, and said to be."""
AFTER_LOOKING = "These items were chosen after looking: their interval holds for them, but nothing is tested."
NEEDS_A_RUN = "other scores are needed: a new run"
_OTHERWISE = ("seed", "n_resamples", "judge", "metrics")
"""Of resampling, who judged, and what was measured: no thresholds."""


@dataclass(frozen=True)
class Standing:
    """What ``summarise`` says of items under options.

    - ``n``: Items that the filter leaves; ``of``: all.
    - ``sample``: So many of them were looked at; None where it was all.
    - ``summary``: None where no item is left.
    - ``note``: What holds for such figures; empty for those of the run.
    - ``line``: The options for ``evalbench run``, as ``-p name=value``.
    - ``moved``: Which of these items the options move; None where nothing is changed, or no item is left.
    """

    n: int
    of: int
    sample: int | None
    summary: Summary | None
    note: str
    line: str
    moved: Moved | None


def standing(rows: Rows, where: str = "", options: Mapping[str, Any] | None = None) -> Standing:
    """The figures of the items that a filter leaves, under other values of options that only ``summarise`` reads.

    Raises ``BadInput`` for a filter that cannot be read, and for options that are none of these, all at once.
    """
    hooks = studies.study(str(rows.results["study"]))
    changed = {name: _over(hooks, name, value, rows.results["parameters"]) for name, value in (options or {}).items()}
    _refuse(hooks, changed)
    n = rows.count(where)
    sample = SAMPLED_FROM if n > SAMPLED_FROM else None
    stated = {**rows.results["parameters"], **changed}
    _refuse_values(hooks, stated)
    frame = rows.frame(where, sample=sample) if n else None
    summary = None if frame is None else hooks.summarise(frame, **taken(hooks.summarise, stated))
    line = shlex.join(part for name, value in changed.items() for part in ("-p", f"{name}={_typed(value)}"))
    by_options = None
    if changed and frame is not None and summary is not None:
        before = _as_run(rows, where, frame)
        by_options = moved(
            hooks, frame, rows.by, (rows.results["parameters"], stated), (before.estimates, summary.estimates)
        )
    elif summary is not None:
        rows.keep_summary(where, summary)
    return Standing(n, rows.n, sample, summary, AFTER_LOOKING if n < rows.n else "", line, by_options)


def _as_run(rows: Rows, where: str, frame: pd.DataFrame) -> Summary:
    """What ``summarise`` says of the items under the run's own options; computed once for a filter."""
    if (kept := rows.summaries.get(where)) is not None:
        return kept
    hooks = studies.study(str(rows.results["study"]))
    found = hooks.summarise(frame, **taken(hooks.summarise, rows.results["parameters"]))
    rows.keep_summary(where, found)
    return found


def free_options(hooks: Study) -> dict[str, inspect.Parameter]:
    """The options of a study that only ``summarise`` reads, in the order of ``evaluate``."""
    read = inspect.signature(hooks.summarise).parameters
    return {
        name: option
        for name, option in hooks.options().items()
        if name in read and name not in (*_OTHERWISE, *hooks.MAKES_ITEMS)
    }


def _refuse(hooks: Study, options: Mapping[str, Any]) -> None:
    free, known = free_options(hooks), hooks.options()
    faults = []
    for name, value in options.items():
        if name not in known:
            faults.append(f"{name}: not an option of {hooks.name}; those that may change here are {', '.join(free)}")
        elif name not in free:
            faults.append(f"{name}: {NEEDS_A_RUN} (evalbench run {hooks.name} -p {name}=…)")
        elif fault := of_another_type(known[name], value):
            faults.append(fault)
    if faults:
        raise BadInput.listing("options that cannot change here:", faults)


def _refuse_values(hooks: Study, stated: Mapping[str, Any]) -> None:
    read = inspect.signature(hooks.summarise).parameters
    checks = Checks({name: stated.get(name, option.default) for name, option in read.items()})
    if hooks.check_options:
        hooks.check_options(checks)
    checks.refuse(hooks.name)


def _over(hooks: Study, name: str, value: Any, parameters: Mapping[str, Any]) -> Any:
    """An option's new value; of a word for each of several columns, those that are not named stay."""
    known = hooks.options()
    each = name in known and str(known[name].annotation).startswith("Mapping[str, str]")
    return {**(parameters.get(name) or {}), **value} if each and isinstance(value, Mapping) else value


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
