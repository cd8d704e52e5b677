"""The tables of a run, looked at before its kernel starts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.models.redact import redactor
from evalbench.readers.schema import file_names

if TYPE_CHECKING:
    from evalbench.runs.run import Plan

MOST_BYTES = 30_000_000
"""Larger files are read once only, by the notebook."""


def refuse_tables(planned: Plan) -> None:
    """Refuse what the study's notebook would refuse, in the time of reading the tables.

    Nothing is looked at where the notebook does not read the study's tables, or these are a data set of the catalog as
    it is.

    Raises
    ------
    BadInput
        As the notebook would say it.
    """
    values = planned.in_force
    source = json.loads(planned.notebook.read_text(encoding="utf-8"))["cells"]
    code = "".join("".join(cell["source"]) for cell in source if cell["cell_type"] == "code")
    reads = re.search(rf"load\(\s*data,\s*study=[\"']{re.escape(planned.study)}[\"']", code)
    columns = values.get("columns") or None
    if not reads or not values.get("data") or (planned.dataset and not columns):
        return
    known = file_names(studies.study(planned.study).SCHEMA)
    further = {name: path for name, path in planned.files.items() if name in known}
    paths = [*further.values(), *(path for name, path in planned.files.items() if name == "data")]
    sizes = [f.stat().st_size for p in paths for f in ([p] if p.is_file() else p.rglob("*")) if f.is_file()]
    if sum(sizes) > MOST_BYTES:
        return
    data = planned.files.get("data", values["data"])
    try:
        tables = studies.load(data, study=planned.study, columns=columns, root=planned.root, **further)
        studies.refuse(tables, planned.study, values)
    except BadInput as error:
        raise BadInput(redactor()(str(error))) from None
