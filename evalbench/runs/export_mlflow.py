"""A finished run in a tracking store of MLflow: a local database, and the page and tables as artifacts beside it."""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.runs import ITEMS, PAGE, RESULTS_JSON
from evalbench.runs.export import Finished, refuse_keys, staged

STORE, ARTIFACTS = "mlflow.db", "mlartifacts"
RUN_TAG = "evalbench.run_id"
MISSING = "MLflow is not installed: pip install 'evalbench[mlflow]' (or mlflow itself)"
_NOT_A_NAME = re.compile(r"[^\w\-. :/]+")
_LONGEST_NAME, _LONGEST_VALUE = 200, 4000
_ENDS = {"": "value", ".ci_low": "ci_low", ".ci_high": "ci_high", ".n": "n", ".n_unscored": "n_unscored"}
_AT_ONCE = {"metrics": 900, "params": 90, "tags": 90}


def to_mlflow(run: Finished, target: Path) -> tuple[str, bool]:
    """Write a run as a run of the experiment ``evalbench/STUDY``.

    Each figure is the metric ``METRIC`` with ``METRIC.ci_low`` and ``METRIC.ci_high``, ``METRIC.n`` and ``METRIC.n_unscored``
    beside it; of several groups ``METRIC/GROUP``.  A figure without a value has the counts alone.

    - ``target``: The folder of ``mlflow.db`` and ``mlartifacts``, of which many runs may share one.

    Returns: MLflow's id of the run, and whether it is new; a run that is there is not written again.

    Raises ``BadInput`` if MLflow is not installed, the store cannot be read, or the run would hold the value of a key.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_CONFIGURE_LOGGING", "false")
    try:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    except ImportError as error:
        raise BadInput(MISSING) from error
    target = target.resolve()
    named = _named(run)
    with staged(target / STORE) as folder:
        files = _artifacts(run, folder)
        (folder / "named.json").write_text(json.dumps(named, ensure_ascii=False), encoding="utf-8")
        refuse_keys(folder)
        try:
            client = MlflowClient(tracking_uri=f"sqlite:///{target / STORE}")
            experiment = _experiment(client, f"evalbench/{run.results['study']}", target / ARTIFACTS)
            found = client.search_runs([experiment], f"tags.`{RUN_TAG}` = '{_quoted(run)}'", max_results=1)
            if found:
                return str(found[0].info.run_id), False
            return _written(client, experiment, run, named, files), True
        except ImportError as error:  # the small package of MLflow leaves what a database needs to the extra
            raise BadInput(f"{MISSING}: {error}") from error
        except MlflowException as error:
            raise BadInput(f"{target / STORE}: MLflow cannot write it ({error.message})") from error


def _quoted(run: Finished) -> str:
    return _NOT_A_NAME.sub("_", run.folder.name)


def _experiment(client: Any, name: str, artifacts: Path) -> str:
    there = client.get_experiment_by_name(name)
    if there is not None:
        return str(there.experiment_id)
    return str(client.create_experiment(name, artifact_location=(artifacts / name.replace("/", "-")).as_uri()))


def _written(client: Any, experiment: str, run: Finished, named: Mapping[str, Any], files: list[Path]) -> str:
    """A whole run; one that could not be written is deleted."""
    from mlflow.entities import Metric, Param, RunTag

    began, ended = (_milliseconds(run.about.get(name)) for name in ("started", "finished"))
    made = client.create_run(experiment, run_name=run.folder.name, start_time=began)
    own = str(made.info.run_id)
    try:
        entries = {
            "metrics": [Metric(name, value, ended or began or 0, 0) for name, value in named["metrics"].items()],
            "params": [Param(name, value) for name, value in named["params"].items()],
            "tags": [RunTag(name, value) for name, value in named["tags"].items()],
        }
        for kind, each in entries.items():
            for start in range(0, len(each), _AT_ONCE[kind]):
                client.log_batch(own, **{kind: each[start : start + _AT_ONCE[kind]]})
        for file in files:
            client.log_artifact(own, str(file))
        client.set_terminated(own, "FINISHED", end_time=ended)
    except BaseException:
        client.delete_run(own)
        raise
    return own


def _artifacts(run: Finished, folder: Path) -> list[Path]:
    names = [PAGE, RESULTS_JSON, ITEMS, *run.results["tables"].values()]
    found = [name for name in dict.fromkeys(names) if (run.folder / name).is_file()]
    return [Path(shutil.copyfile(run.folder / name, folder / name)) for name in found]


def _named(run: Finished) -> dict[str, dict[str, Any]]:
    """Metrics, parameters and tags as MLflow takes them."""
    results = run.results
    data = results["data"]
    tags = {
        RUN_TAG: _quoted(run),
        "evalbench.study": results["study"],
        "evalbench.judged": results["judged"],
        "evalbench.light": results["light"],
        "evalbench.data": "@".join(filter(None, [data["name"], data["version"]])),
        "evalbench.data_sha256": data["sha256"],
        "evalbench.synthetic": str(bool(data.get("synthetic"))).lower(),
        "mlflow.note.content": results["sentence"],
    }
    params = {name: json.dumps(value, ensure_ascii=False) for name, value in results["parameters"].items()}
    return {
        "metrics": dict(_metrics(results)),
        "params": {_name(name): _cut(value) for name, value in params.items()},
        "tags": {name: _cut(value) for name, value in tags.items()},
    }


def _metrics(results: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Each figure under a name of its own."""
    groups = {tuple(str(row[c]) for c in results["by"] if row.get(c) is not None) for row in results["summary"]}
    taken: set[str] = set()
    for row in results["summary"]:
        group = [str(row[c]) for c in results["by"] if row.get(c) is not None] if len(groups) > 1 else []
        plain = name = _name("/".join([row["metric"], *(one.replace("/", "_") for one in group)]))
        number = 2
        while taken & {f"{name}{end}" for end in _ENDS}:
            name, number = f"{plain} {number}", number + 1
        taken |= {f"{name}{end}" for end in _ENDS}
        for end, key in _ENDS.items():
            if row.get(key) is not None:
                yield f"{name}{end}", float(row[key])


def _name(text: str) -> str:
    """A name that MLflow takes: no leading separator, no `..`, no other signs than it knows.

    Examples
    --------
    >>> _name("Correct [GEval]"), _name("/../x"), _name("моё: 1")
    ('Correct _GEval_', 'x', 'моё: 1')
    """
    parts = [part for part in _NOT_A_NAME.sub("_", text).split("/") if part.strip(". ")]
    return "/".join(parts)[:_LONGEST_NAME].strip(" /") or "_"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _milliseconds(stamp: Any) -> int | None:
    try:
        return int(datetime.datetime.fromisoformat(str(stamp)).timestamp() * 1000)
    except ValueError:
        return None
