"""The tables of runs, looked at before their kernels start."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.models.redact import redactor
from evalbench.readers.schema import file_names

if TYPE_CHECKING:
    from pathlib import Path

    from evalbench.readers.dataset import Dataset
    from evalbench.runs.run import Plan
    from evalbench.runs.suite import Job

MOST_BYTES = 30_000_000
"""Larger files are read once only, by the notebook."""


class _Source(NamedTuple):
    """What a run reads: equal ones give equal tables."""

    study: str
    data: Any
    columns: Mapping[str, str] | None
    cluster: str | Sequence[str]
    slices: str | Sequence[str]
    files: Mapping[str, Path]
    root: Path | None


def refuse_tables(planned: Plan) -> None:
    """Refuse what the study's notebook would refuse, in the time of reading the tables.

    Nothing is looked at where the notebook does not read the study's tables, or these are a data set of the catalog as
    it is.

    Raises ``BadInput``: As the notebook would say it.
    """
    if faults := _faults([planned]):
        raise faults[0]


def refuse_suite(jobs: Sequence[Job], suite: str) -> None:
    """:func:`refuse_tables` for all runs of a suite at once; tables that several runs read are read once.

    Raises ``BadInput``: Every run whose tables are refused, with its place in the file.
    """
    alike: dict[str, list[Job]] = {}
    for at, error in sorted(_faults([job.plan for job in jobs]).items()):
        alike.setdefault(str(error), []).append(jobs[at])
    if alike:
        raise BadInput.listing(
            f"{suite}: nothing was started:", [f"{_places(those)}: {_indented(text)}" for text, those in alike.items()]
        )


def _places(jobs: Sequence[Job]) -> str:
    """Where the runs are in the file: the run's label, or how many they are."""
    entries = dict.fromkeys(f"entry {job.entry} (line {job.line})" for job in jobs if job.line)
    label = jobs[0].label if len(jobs) == 1 else f"{len(jobs)} runs"
    return f"{', '.join(entries)}: {label}" if entries else label


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _faults(plans: Sequence[Plan]) -> dict[int, BadInput]:
    """Which plans are refused, and why; the tables of one source are held at a time."""
    sources: dict[str, tuple[_Source, list[int]]] = {}
    for at, planned in enumerate(plans):
        source = _source(planned)
        if source is not None:
            key = json.dumps(source[:-1], default=str, sort_keys=True)
            sources.setdefault(key, (source, []))[1].append(at)
    found: dict[int, BadInput] = {}
    for source, places in sources.values():
        try:
            tables = _loaded(source)
        except BadInput as error:
            found |= dict.fromkeys(places, _redacted(error))
            continue
        for at in places:
            try:
                studies.refuse(tables, source.study, plans[at].in_force)
            except BadInput as error:
                found[at] = _redacted(error)
    return found


def _redacted(error: BadInput) -> BadInput:
    return BadInput(redactor()(str(error)))


def _source(planned: Plan) -> _Source | None:
    """What is looked at; None where it is nothing."""
    values = planned.in_force
    cells = json.loads(planned.notebook.read_text(encoding="utf-8"))["cells"]
    code = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    reads = re.search(rf"load\(\s*data,\s*study=[\"']{re.escape(planned.study)}[\"']", code)
    columns = values.get("columns") or None
    cluster, slices = values.get("cluster") or "", values.get("slices") or ()
    if not reads or not values.get("data") or (planned.dataset and not (columns or cluster or slices)):
        return None
    source = _whole(planned)
    paths = [*source.files.values(), *(path for name, path in planned.files.items() if name == "data")]
    sizes = [f.stat().st_size for p in paths for f in ([p] if p.is_file() else p.rglob("*")) if f.is_file()]
    if sum(sizes) > MOST_BYTES:
        return None
    return source


def tables_of(planned: Plan) -> Dataset:
    """The tables that a study's notebook reads.

    Raises ``BadInput``: As the notebook would say it.
    """
    try:
        return _loaded(_whole(planned))
    except BadInput as error:
        raise _redacted(error) from None


def _whole(planned: Plan) -> _Source:
    values = planned.in_force
    known = file_names(studies.study(planned.study).SCHEMA)
    further = {name: path for name, path in planned.files.items() if name in known}
    chosen = values.get("columns") or None, values.get("cluster") or "", values.get("slices") or ()
    return _Source(planned.study, planned.files.get("data", values.get("data")), *chosen, further, planned.root)


def _loaded(source: _Source) -> Dataset:
    return studies.load(
        source.data,
        study=source.study,
        columns=source.columns,
        cluster=source.cluster,
        slices=source.slices,
        root=source.root,
        **source.files,
    )
