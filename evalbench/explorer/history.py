"""An item in other runs of the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.explorer.database import PLACE
from evalbench.report.history import read_runs

if TYPE_CHECKING:
    from evalbench.explorer.reports import Explorer

MOST_RUNS = 10


def history(explorer: Explorer, run: str, row: int) -> list[dict[str, Any]]:
    """The same item, of the same group, in the last ten other runs of this study on the same data (SHA-256), the newest first.

    Returns: ``run``, ``started``, ``light``, ``row`` (the item's place there) and ``item`` (its columns); runs that do not have the item, or
    whose files cannot be read, are left out.
    """
    rows = explorer.rows(run)
    place = rows.texts_of(row)
    sha256 = rows.results["data"]["sha256"]
    known = sorted(read_runs(explorer.reports), key=lambda one: str(one.started), reverse=True)
    same = [
        one
        for one in known
        if one.study == rows.results["study"]
        and one.sha256 == sha256
        and f"{one.study}/{one.run_id}" != run
        and one.light
    ]
    found: list[dict[str, Any]] = []
    for one in same[:MOST_RUNS]:
        name = f"{one.study}/{one.run_id}"
        try:
            there = explorer.rows(name)
            if (
                set(place) <= set(there.columns)
                and (at := there.first_places(list(place), [list(place.values())])[0]) is not None
            ):
                item = there.database.records(f"SELECT * EXCLUDE ({PLACE}) FROM items i WHERE {PLACE} = ?", [at])[0]
                found.append({"run": name, "started": one.started, "light": one.light, "row": at, "item": item})
        except BadInput:
            continue
    return found
