"""A run as bytes, for workers that share no disk with the client.

Out goes a :class:`Parcel`: which notebook, which parameters, which entry of the catalog, and which files by their SHA-256.
A worker lays a small workbench out of it and plans the run anew: the plan must have the client's identity, so that
study, parameters, data and code are the same to the byte.  Back comes the run's folder, its files as bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers import catalog
from evalbench.readers.cards import card_path
from evalbench.readers.runs import NOTEBOOK, RESULTS_JSON, RUN_JSON
from evalbench.runs.limits import limited
from evalbench.runs.modules import absolute, sent
from evalbench.runs.run import Plan, plan

_TEXTS = (RUN_JSON, RESULTS_JSON, NOTEBOOK)  # where paths of the worker may stand


class Parcel(NamedTuple):
    """What a worker needs to lay out one run.

    - ``notebook``: Its path in the workbench.
    - ``parameters``: Those that name no file.
    - ``paths``: Those that do: parameter → path in the workbench.
    - ``files``: Path in the workbench → SHA-256 of the bytes.
    - ``entry``: The data set's entry of the catalog by its label, or nothing.
    - ``identity``: Of the plan.
    - ``modules``: Metrics that are modules of files → path in the workbench.
    - ``limits``: Of the plan.
    """

    notebook: str
    parameters: Mapping[str, Any]
    paths: Mapping[str, str]
    files: Mapping[str, str]
    entry: Mapping[str, Any]
    identity: str
    modules: Mapping[str, str]
    limits: Mapping[str, Any]


def pack(planned: Plan) -> tuple[Parcel, dict[str, Path]]:
    """A plan as a parcel, and the files that it needs by their SHA-256."""
    sources: dict[str, Path] = {f"notebooks/{planned.notebook.name}": planned.notebook}
    paths = {}
    for name, path in planned.files.items():
        paths[name] = f"files/{name}/{path.name}"
        inner = [path] if path.is_file() else [p for p in sorted(path.rglob("*")) if p.is_file()]
        sources |= {(PurePosixPath(paths[name]) / p.relative_to(path)).as_posix(): p for p in inner}
    entry: dict[str, Any] = {}
    if planned.dataset:
        found = catalog.entry(planned.dataset, planned.root)
        entry = {
            planned.dataset: {
                "study": list(found.studies),
                "title": found.title,
                "licence": found.licence,
                "synthetic": found.synthetic,
                "card": found.card,
                "files": dict(found.files),
            }
        }
        files = catalog.entry_files(found, planned.root)
        sources |= {f"data/{found.files[table]['path']}": path for table, path in files.items()}
        card = card_path(planned.dataset, planned.root)
        sources |= {f"data/{found.card}": card} if card and card.is_file() else {}
    modules, files = sent(planned.modules)
    sources |= files
    hashes = {name: _sha256(path.read_bytes()) for name, path in sources.items()}
    stated = {name: value for name, value in planned.parameters.items() if name not in planned.files}
    parcel = Parcel(
        f"notebooks/{planned.notebook.name}", stated, paths, hashes, entry, planned.identity, modules, planned.limits
    )
    return parcel, {hashes[name]: path for name, path in sources.items()}


def unpack(parcel: Parcel, blob: Callable[[str], bytes], where: Path) -> Plan:
    """Lay a parcel out as a workbench and plan its run.

    - ``blob``: The bytes of a SHA-256.
    - ``where``: An empty folder.

    Raises ``BadInput`` if bytes are not those of their SHA-256, a path leads out of the folder, or the plan is not the
    client's: the code differs.
    """
    where = where.resolve()
    for name, sha256 in parcel.files.items():
        target = (where / name).resolve()
        if not target.is_relative_to(where):
            raise BadInput(f"{name}: leads out of the workbench")
        content = blob(sha256)
        if _sha256(content) != sha256:
            raise BadInput(f"{name}: arrived with other bytes than were sent")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    (where / "data").mkdir(exist_ok=True)
    # JSON is YAML.
    (where / "data" / "catalog.yaml").write_text(json.dumps(parcel.entry), encoding="utf-8")
    paths = {name: str(where / path) for name, path in parcel.paths.items()}
    stated = absolute(parcel.parameters, {name: where / path for name, path in parcel.modules.items()})
    limits: Mapping[str, Any] = parcel.limits
    planned = limited(plan(str(where / parcel.notebook), {**stated, **paths}, where), **limits)
    if planned.identity != parcel.identity:
        raise BadInput("the run is not the same here: package or data differ from the client's")
    return planned


def folder_bytes(folder: Path) -> dict[str, bytes]:
    """The files of a run's folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def write_folder(folder: Path, files: Mapping[str, bytes], renamed: Mapping[str, str]) -> None:
    """Write a run's folder that came from a worker, ``run.json`` last; the worker's paths become the client's.

    - ``folder``: An empty folder.
    - ``renamed``: Path on the worker → path here.

    Raises ``ValueError`` if a name leads out of the folder.
    """
    for name, content in sorted(files.items(), key=lambda pair: pair[0] == RUN_JSON):
        if Path(name).name != name or name.startswith(".."):
            raise ValueError(f"{name!r}: a file of a run lies in its folder")
        if name in _TEXTS:
            for theirs, ours in renamed.items():
                content = content.replace(_inside_json(theirs), _inside_json(ours))
        (folder / name).write_bytes(content)


def _inside_json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
