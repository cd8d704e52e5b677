"""The dry run of a plan: what its notebook would ask models, without asking."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from evalbench import studies
from evalbench.core import dry
from evalbench.errors import BadInput
from evalbench.kit.options import taken
from evalbench.models.redact import redactor
from evalbench.readers.runs import NOTEBOOK
from evalbench.runs.folder import RUN
from evalbench.runs.kernel import execute
from evalbench.runs.run import REFUSALS, Plan, environment
from evalbench.runs.tables import tables_of


def dry_run(
    planned: Plan, *, timeout: float | None = None, fork: bool = False, memory: int | None = None
) -> tuple[dry.Plan, str]:
    """What a run would ask, its notebook executed without a request and without a folder in the reports.

    - ``timeout``: Seconds for each pass.
    - ``fork``: Fork the kernel from a preloaded process.
    - ``memory``: MB that the kernel may take.

    Returns: Why the notebook failed, where it did before anything was noted; else empty.

    Raises ``BadInput`` if the notebook refuses its data.
    """
    own = studies.study(planned.study).plan if planned.study in studies.names() else None
    if own is not None:
        given = taken(studies.study(planned.study).evaluate, planned.in_force)
        frame = own(tables_of(planned), **{name: value for name, value in given.items() if name != "data"})
        rows = json.loads(frame.to_json(orient="records"))
        return dry.plan_of_table(rows, frame.attrs.get("notes", ())), ""
    failed: list[str] = []

    def one(stand: dry.Stand) -> dry.Noted:
        with tempfile.TemporaryDirectory(prefix="evalbench-") as folder:
            file, out = Path(folder) / "asked.json", Path(folder) / NOTEBOOK
            env = {**environment(planned), RUN: folder, "HF_HUB_OFFLINE": "1", dry.FILE: str(file), dry.AS: stand}
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
