"""One notebook, one folder: checked before the start, honest about how it ended."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

from evalbench import studies
from evalbench.core import budget
from evalbench.core import progress as progressing
from evalbench.draw import marks
from evalbench.errors import BadInput
from evalbench.models.redact import redactor
from evalbench.readers import catalog
from evalbench.readers.files import not_fetched
from evalbench.readers.log_store.frames import absolute, is_of_a_log, state_of
from evalbench.readers.parameters import notebook_parameters
from evalbench.readers.partitions import parquet_files
from evalbench.readers.runs import NOTEBOOK, RUN_JSON, read_results, write_json
from evalbench.runs import folder as folders
from evalbench.runs import modules, provenance
from evalbench.runs.kernel import Ended, execute, memory_fault, timeout_fault
from evalbench.runs.notebooks import notebook_path, read_notebook
from evalbench.runs.parameters import (
    INSTEAD,
    checked_values,
    edited_defaults,
    file_parameters,
    for_other_data,
    with_corpora,
)
from evalbench.workbench import reports as reports_folder
from evalbench.workbench import root as find_root

Follow = Callable[[Callable[[], progressing.State]], AbstractContextManager[object]]

# BadInput and its kinds, as a kernel names them.
REFUSALS = ("BadInput", "ModelUnavailable", "EndpointFault")


@dataclass(frozen=True)
class Plan:
    """A run that has been checked and can start.

    - ``study``: A study's name, or the stem of the notebook.
    - ``parameters``: Those given, checked; paths are absolute.
    - ``in_force``: All of them: those given and the notebook's defaults.
    - ``edited``: Defaults of the notebook that are not the study's own; see
      :func:`evalbench.runs.parameters.edited_defaults`.
    - ``identity``: SHA-256 over study, parameters, bytes of data and files, code: equal runs have equal ones.
    - ``root``: The workbench, if there is one.
    - ``files``: The parameters that name files or folders, with their absolute paths.
    - ``dataset``: ``name@version`` where the data come from the catalog, else empty.
    - ``reports``: Where the folder of its run goes unless another is named.
    - ``modules``: The metrics that are files or folders with modules, with their absolute paths.
    - ``limits``: ``max_calls`` and ``max_cost`` of the run's budget, where it has them; see
      :func:`evalbench.runs.limits.limited`.
    - ``variables``: Further variables of the kernel; see :func:`evalbench.runs.again.judged_again`.
    """

    study: str
    notebook: Path
    parameters: Mapping[str, Any]
    in_force: Mapping[str, Any]
    edited: Mapping[str, Mapping[str, Any]]
    identity: str
    root: Path | None
    files: Mapping[str, Path]
    dataset: str
    reports: Path
    modules: Mapping[str, Path] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_at_home(self) -> bool:
        """Whether the workbench was named or found upwards, and is not just the package's own."""
        return self.root is not None and self.root == self.reports.parent

    @property
    def hash8(self) -> str:
        """The first eight characters of the identity."""
        return self.identity[:8]


class Run(NamedTuple):
    """A finished run."""

    folder: Path
    status: str
    error: str
    results: Mapping[str, Any] | None

    @property
    def light(self) -> str:
        return str(self.results["light"]) if self.results else "grey"


def plan(
    target: str, parameters: Mapping[str, Any] | None = None, root: Path | None = None, base: Path | None = None
) -> Plan:
    """Check a run before it starts.

    - ``target``: A study's name, or the path of any notebook with a parameters cell that calls ``record``.
    - ``parameters``: Values, or texts as on the command line.
    - ``root``: The workbench, found upwards otherwise.
    - ``base``: Where relative paths start; the current folder by default.

    Raises ``BadInput``: All faults of the parameters at once; unknown studies, notebooks, data sets, files.
    """
    base = (base or Path.cwd()).resolve()
    if target.endswith(".ipynb"):
        target = str(base / Path(target).expanduser())
    notebook = notebook_path(target, root)
    node = read_notebook(notebook)
    known = notebook_parameters(node, notebook.name)
    if not any("record(" in _text(c) for c in node["cells"] if c["cell_type"] == "code"):
        raise BadInput(f"{notebook.name}: never calls record(result), so its run would have no result")
    study = notebook.stem
    options = studies.study(study).options() if study in studies.names() else {}
    own = {name: option.default for name, option in options.items()}
    values = checked_values(known, parameters or {}, notebook.name, own)
    sample = ((node.get("metadata") or {}).get("evalbench") or {}).get("sample") or {}
    if sample and own:
        values |= for_other_data(sample, known, values, own)
    if study.startswith(".") or study == "index.html":
        raise BadInput(
            f"{notebook.name}: the name of a notebook names the folder of its reports; "
            "it must not begin with a dot or be that of the index: rename it"
        )
    full = {name: p.default for name, p in known.items()} | values
    try:
        workbench = find_root(root)
    except BadInput:
        workbench = None
    paths, faults = file_paths(study, full, workbench, base)
    found, module_faults = modules.local_modules(full, base)
    faults += module_faults
    values |= {name: str(path) for name, path in paths.items()}
    values, full = (
        with_corpora(own, lambda corpus: str((base / Path(corpus).expanduser()).resolve())) for own in (values, full)
    )
    if "data" not in paths and is_of_a_log(full.get("data"), base):
        full["data"] = values["data"] = absolute(full["data"], base)
    values |= {name: value for name, value in modules.absolute(full, found).items() if value != full[name]}
    faults += [
        f"{name}: {path}: no such file or folder{_meant(str(full[name]), workbench)}"
        for name, path in paths.items()
        if not path.exists() and not parquet_files(path)
    ]
    if faults:
        raise BadInput.listing(f"{study}: the run cannot start:", faults)
    identity = _identity(study, modules.by_content(full, found), paths, notebook, workbench)
    edited = edited_defaults(known, studies.defaults(study))
    return Plan(
        study=study,
        notebook=notebook,
        parameters=values,
        in_force=full | values,
        edited=edited,
        identity=identity,
        root=workbench,
        files=paths,
        dataset=_dataset(full, paths),
        reports=reports_folder(root),
        modules={
            modules.absolute({modules.METRICS: [name]}, found)[modules.METRICS][0]: path for name, path in found.items()
        },
    )


def environment(planned: Plan) -> dict[str, str]:
    """The variables that a kernel of this plan needs besides the usual ones."""
    seed = planned.in_force.get("seed", 0)
    limits = budget.environment(
        cast("int | None", planned.limits.get("max_calls")),
        planned.limits.get("max_cost"),
        seed if type(seed) is int else 0,
    )
    root = {"EVALBENCH_ROOT": str(planned.root)} if planned.is_at_home else {}
    return {**limits, **root, **planned.variables}


def file_paths(
    study: str, values: Mapping[str, Any], root: Path | None, base: Path
) -> tuple[dict[str, Path], list[str]]:
    """Absolute paths of all parameters that name files, and what is wrong with the data set's name."""
    tables = tuple(studies.study(study).SCHEMA) if study in studies.names() else ()
    paths = file_parameters(values, tables)
    faults: list[str] = []
    data = values.get("data")
    if isinstance(data, str) and data:
        if catalog.NAME.match(data) and not (base / data).exists():
            try:
                catalog.entry_files(catalog.entry(data, root), root)
            except BadInput as error:
                faults.append(str(error))
        elif not is_of_a_log(data, base) and (address := not_fetched(data)):
            faults.append(f"data: {address}")
        elif not is_of_a_log(data, base):
            paths["data"] = Path(data).expanduser()
    return {name: (base / path).resolve() for name, path in paths.items()}, faults


def _meant(given: str, root: Path | None) -> str:
    """The data sets of that name, where the version was left out."""
    labels = [label for label in catalog.entries(root) if label.startswith(f"{given}@")] if root else []
    return f"; is {' or '.join(labels)} meant?" if labels else ""


def _dataset(values: Mapping[str, Any], paths: Mapping[str, Path]) -> str:
    """The data set of the catalog, or nothing, also where files are read instead of it."""
    data = "" if any(name.endswith(INSTEAD) for name in paths) else values.get("data")
    return data if isinstance(data, str) and "data" not in paths and catalog.NAME.match(data) else ""


def _identity(
    study: str, values: Mapping[str, Any], paths: Mapping[str, Path], notebook: Path, root: Path | None
) -> str:
    """Files and the corpora of judges count by their content, not by their names."""
    stated = {name: value for name, value in sorted(values.items()) if name not in paths}
    stated = with_corpora(stated, lambda corpus: provenance.bytes_hash(Path(corpus)))
    content = {name: provenance.bytes_hash(path) for name, path in sorted(paths.items())}
    dataset = _dataset(values, paths)
    if dataset:
        files = catalog.entry_files(catalog.entry(dataset, root), root)
        content["data"] = json.dumps({t: provenance.bytes_hash(p) for t, p in sorted(files.items())})
    elif "data" not in paths and is_of_a_log(values.get("data"), Path.cwd()):
        content["data"] = state_of(values["data"])
    whole = json.dumps([study, stated, content, provenance.code_version(notebook)], sort_keys=True, default=str)
    return hashlib.sha256(whole.encode()).hexdigest()


def run(
    planned: Plan,
    *,
    out: Path | None = None,
    timeout: float | None = None,
    attempt: int = 1,
    progress: Follow | None = None,
    fork: bool = False,
    memory: int | None = None,
    about: Mapping[str, Any] | None = None,
) -> Run:
    """Execute a plan into a fresh folder and render its page.

    - ``out``: The folder for reports; by default ``reports`` of the workbench, or of the current folder outside of one.
    - ``timeout``: Seconds for the whole notebook.
    - ``attempt``: Counted in ``run.json``.
    - ``progress``: Given a function that reports what the run is at, a context to hold while it runs, such as
      :class:`evalbench.core.progress.Shown`.
    - ``fork``: Fork the kernel from a preloaded process.
    - ``memory``: MB that the kernel may take.
    - ``about``: Further fields of ``run.json``.

    Returns: ``status``: ok, failed, died, timeout, or no-result where the notebook ended without :func:`record`.

    Raises ``BadInput`` if the notebook refused its data; its folder is removed again. Or if the folder cannot be made.
    """
    if timeout is not None and (fault := timeout_fault(timeout)):
        raise BadInput(f"timeout: {fault}")
    if fault := memory_fault(memory):
        raise BadInput(f"memory: {fault}")
    reports = out or planned.reports
    folder = folders.create(reports.resolve(), planned.study, planned.hash8)
    clock = time.monotonic()
    threading.Thread(target=_import_for_the_page, name="page", daemon=True).start()
    begun = {**provenance_of(planned, folder, folders.now(), attempt), **(about or {})}
    key = secrets.token_hex(16)
    env = {folders.RUN: str(folder), marks.KEY: key, **environment(planned)}
    try:
        write_json(folder / RUN_JSON, begun)
        env[progressing.FILE] = str(folder / progressing.NAME)
        with progress(lambda: progressing.told(folder / progressing.NAME)) if progress else nullcontext():
            ended = execute(planned.notebook, folder / NOTEBOOK, planned.parameters, env, timeout, fork, memory)
    except BaseException as error:
        stopped = "interrupted (Ctrl-C or a signal)"
        said = stopped if isinstance(error, KeyboardInterrupt) else f"{type(error).__name__}: {error}"
        _close(folder, begun, Ended("failed", said), time.monotonic() - clock, key)
        raise
    if ended.kind in REFUSALS:
        shutil.rmtree(folder)
        raise BadInput(redactor()(ended.error.removeprefix(f"{ended.kind}: ")))
    ended = _close(folder, begun, ended, time.monotonic() - clock, key)
    results = read_results(folder) if ended.status == "ok" else None
    return Run(folder, ended.status, ended.error, results)


def _import_for_the_page() -> None:
    """What the page is made with, imported while the kernel works."""
    for name in ("evalbench.runs.closing", "mistune", "jinja2", "pygments.lexers.python"):
        import_module(name)


def _close(folder: Path, begun: Mapping[str, Any], ended: Ended, seconds: float, key: str) -> Ended:
    from evalbench.runs.closing import close

    return close(folder, begun, ended, seconds, key)


def provenance_of(planned: Plan, folder: Path, started: str, attempt: int) -> dict[str, Any]:
    """What ``run.json`` says when a run starts."""
    return {
        "schema_version": folders.RUN_SCHEMA_VERSION,
        "study": planned.study,
        "run_id": folder.name,
        "status": "running",
        "error": "",
        "started": started,
        "finished": None,
        "seconds": None,
        "attempt": attempt,
        "host": folders.host(),
        "process": os.getpid(),
        "parameters": dict(planned.in_force),
        "given": sorted(planned.parameters),
        "edited_defaults": dict(planned.edited),
        "data": _data_label(planned),
        "git": provenance.git_state(planned.root or planned.notebook.parent),
        "versions": provenance.versions(),
        "sha256": {
            "notebook": provenance.bytes_hash(planned.notebook),
            "package": provenance.package_hash(),
            "identity": planned.identity,
        },
    }


def _data_label(planned: Plan) -> dict[str, str] | None:
    """Name and version of the data, as far as they are known before they are read."""
    if planned.dataset:
        name, _, version = planned.dataset.partition("@")
        return {"name": name, "version": version}
    return {"name": planned.files["data"].name, "version": ""} if "data" in planned.files else None


def _text(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)
