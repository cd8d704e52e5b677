"""The figure that decides a run's light, where no column of the items has it: of which columns it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalbench import studies
from evalbench.core.result import deciding_row
from evalbench.core.wording import title_of
from evalbench.errors import BadInput
from evalbench.kit.options import taken

if TYPE_CHECKING:
    from evalbench.explorer.rows import Rows


def decided_from(rows: Rows) -> dict[str, Any] | None:
    """``metric``, ``title`` and ``columns``: those whose sums over the items give the figure; none where the study computes it otherwise.

    Returns: None where the figure is a column of the items, and where none decides.
    """
    row = deciding_row(rows.results)
    own = [column.name for column in rows.columns.values() if column.table == "items"]
    if row is None or row["metric"] in own:
        return None
    return {
        "metric": row["metric"],
        "title": title_of(row),
        "columns": [name for name in _summed(rows, row["metric"]) if name in own],
    }


def _summed(rows: Rows, metric: str) -> list[str]:
    """The columns that a figure sums or counts; none where the run's options do not give the figure by today's code."""
    measures = studies.study(str(rows.results["study"])).measures
    if measures is None:
        return []
    try:
        known = measures(**taken(measures, rows.results["parameters"]))
    except (BadInput, KeyError, TypeError, ValueError):
        return []
    found = next((measure for measure in known if measure.metric == metric), None)
    return list(dict.fromkeys(name.removeprefix("#") for name in found.sums)) if found else []
