"""The budget of a planned run, and its dry run: what it would ask models, without asking."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalbench import studies
from evalbench.core import dry
from evalbench.core.budget import limit_faults
from evalbench.errors import BadInput
from evalbench.kit.options import taken
from evalbench.models.chat.rationing import unpriced
from evalbench.models.names import is_model_name, model
from evalbench.models.redact import redactor
from evalbench.readers.runs import NOTEBOOK
from evalbench.runs.folder import RUN
from evalbench.runs.kernel import execute
from evalbench.runs.run import REFUSALS, Plan, environment
from evalbench.runs.tables import tables_of


def limited(planned: Plan, max_calls: int | None = None, max_cost: float | None = None) -> Plan:
    """The plan with a budget, see :mod:`evalbench.core.budget`; a run with another budget is another run.

    Raises
    ------
    BadInput
        If a limit is out of range, or the cost is limited and a model that the parameters name has no price.
    """
    limits = {name: n for name, n in (("max_calls", max_calls), ("max_cost", max_cost)) if n is not None}
    if not limits:
        return planned
    faults = [*limit_faults(max_calls, max_cost)]
    if max_cost is not None:
        faults += [unpriced(name) for name in model_names(planned.in_force) if model(name).price is None]
    if faults:
        raise BadInput.listing(f"{planned.study}: the run cannot start:", faults)
    identity = hashlib.sha256(f"{planned.identity}{json.dumps(limits, sort_keys=True)}".encode()).hexdigest()
    return replace(planned, limits=limits, identity=identity)


def model_names(values: Mapping[str, Any]) -> list[str]:
    """The language models that parameters name."""
    texts = [text for value in values.values() for text in (value if isinstance(value, list) else [value])]
    found = [text for text in texts if isinstance(text, str) and is_model_name(text)]
    return [text for text in dict.fromkeys(found) if "#" in text or not text.startswith(("http://", "https://"))]


def dry_run(
    planned: Plan, *, timeout: float | None = None, fork: bool = False, memory: int | None = None
) -> tuple[dry.Plan, str]:
    """What a run would ask, its notebook executed without a request and without a folder in the reports.

    Parameters
    ----------
    planned : Plan
    timeout : float, optional
        Seconds for each pass.
    fork : bool
        Fork the kernel from a preloaded process.
    memory : int, optional
        MB that the kernel may take.

    Returns
    -------
    Plan
    str
        Why the notebook failed, where it did before anything was noted; else empty.

    Raises
    ------
    BadInput
        If the notebook refuses its data.
    """
    own = studies.study(planned.study).plan if planned.study in studies.names() else None
    if own is not None:
        tables = tables_of(planned)
        frame = own(tables, **{name: value for name, value in taken(own, planned.in_force).items() if name != "data"})
        return dry.plan_of_table([{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]), ""
    failed: list[str] = []

    def one(stand: dry.Stand) -> dry.Noted:
        with tempfile.TemporaryDirectory(prefix="evalbench-") as folder:
            file, out = Path(folder) / "asked.json", Path(folder) / NOTEBOOK
            env = {**environment(planned), RUN: folder, dry.FILE: str(file), dry.AS: stand}
            ended = execute(planned.notebook, out, planned.parameters, env, timeout, fork, memory)
            found = dry.read(file)
        error = redactor()(ended.error)
        if ended.kind in REFUSALS and not (stand != "none" and found.rounds):
            raise BadInput(error.removeprefix(f"{ended.kind}: "))
        found.ended = error
        if ended.status != "ok" and (stand == "none" or not found.rounds):
            failed.append(error)
        return found

    found = dry.plan_of(one)
    return found, next(iter(failed), "")
