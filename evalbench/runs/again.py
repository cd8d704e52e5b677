"""An old run judged again: the plan of a run that asks a judge about the answers that the old one recorded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalbench import studies
from evalbench.core.judging_time import AGAIN
from evalbench.core.judging_time import VARIABLE as JUDGED_AT
from evalbench.errors import BadInput
from evalbench.judge.agent.naming import model_behind
from evalbench.models.names import is_model_name
from evalbench.readers.runs import FINISHED, RESULTS_JSON, RUN_JSON, read_results, read_run
from evalbench.runs.run import Plan, plan
from evalbench.runs.tables import tables_of

INSTRUMENTS = ("judge", "answer_judge", "strong", "answerer")
"""The options of studies that name a judge, or a model that answers a judge's own questions: none is a system under test."""


def judged_again(
    folder: Path,
    judge: str = "",
    given: Mapping[str, Any] | None = None,
    *,
    judged_at: str = "",
    root: Path | None = None,
) -> Plan:
    """The plan of a run that judges an old run's answers again, without asking the system that gave them.

    - ``folder``: Of the old run.
    - ``judge``: Who judges; the old run's judge by default, which is then asked anew.
    - ``given``: Options that differ from the old run's, such as ``judge_prompt``; ``data``, where the old run's lie
      elsewhere now.
    - ``judged_at``: The name of the judging, see :mod:`evalbench.core.judging_time`; by default the date (UTC) where
      the judge is the old one.
    - ``root``: The workbench, found upwards otherwise.

    Raises ``BadInput`` if the folder is not that of a finished run, its study asks no judge, or its data are others
    now.
    """
    run = read_run(folder) if (folder / RUN_JSON).is_file() else {}
    if run.get("status") not in FINISHED:
        raise BadInput(f"{folder}: not the folder of a finished run (status {run.get('status', 'unknown')})")
    results = read_results(folder)
    study = str(results["study"])
    options = studies.study(study).options() if study in studies.names() else {}
    if "judge" not in options:
        raise BadInput(f"{folder}: the study {study} asks no judge, so its run cannot be judged again")
    before = run.get("parameters")
    if not before:
        raise BadInput(
            f"{folder}: recorded from a notebook, so the files of its options are not known; "
            f"judge a run of `evalbench run {study}` again"
        )
    then = str(before.get("judge") or "")
    now = judge or then
    if not now:
        raise BadInput(f"{folder}: the run had no judge; name one with --judge")
    wanted = {**before, **(given or {}), "judge": now}
    if not judged_at and now == then and is_model_name(model_behind(now)):
        judged_at = datetime.now(UTC).strftime("%Y-%m-%d")
    planned = plan(study, wanted, root)
    _refuse_other_data(planned, results, folder)
    asked = {str(planned.in_force[name]) for name in INSTRUMENTS if planned.in_force.get(name)}
    about = {
        "run": folder.name,
        "identity": str((run.get("sha256") or {}).get("identity") or _file_hash(folder / RESULTS_JSON)),
        "then": then,
        "now": now,
        "judges": sorted(asked),
    }
    stated = json.dumps({**about, "judged_at": judged_at}, sort_keys=True)
    identity = hashlib.sha256(f"{planned.identity}{stated}".encode()).hexdigest()
    variables = {AGAIN: json.dumps({**about, "folder": str(folder.resolve())}, sort_keys=True)}
    return replace(planned, identity=identity, variables=variables | ({JUDGED_AT: judged_at} if judged_at else {}))


def _refuse_other_data(planned: Plan, results: Mapping[str, Any], folder: Path) -> None:
    found = tables_of(planned).label.sha256
    if found != results["data"]["sha256"]:
        raise BadInput(
            f"{folder.name}: its data {results['data']['name']} are others now (SHA-256 {found[:12]}, then "
            f"{results['data']['sha256'][:12]}), so these are not the answers that it judged; --data names those of then"
        )


def _file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
