"""Which items of two runs of different data have other inputs: another question, reference or source under the same id."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from evalbench.compare.versions import GIVEN
from evalbench.explorer.conditions import as_text
from evalbench.explorer.database import Database, quoted
from evalbench.explorer.sided import SIDES
from evalbench.readers import catalog

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.explorer.rows import Rows

_KEPT = 4


def same_data(left: Rows, right: Rows, content_unit: str = "") -> bool:
    """Whether two runs read the same data, or their ids are made of the inputs.

    - ``content_unit``: The column of such ids, where the study has one.
    """
    one, other = (rows.results["data"] for rows in (left, right))
    return catalog.same_data(one, other) or bool(content_unit and {left.id, right.id} == {content_unit})


def differing(left: Rows, right: Rows) -> pd.DataFrame:
    """The ids, as texts in the column ``k``, with which other texts were given to the one run than to the other.

    Looked at are the tables that both runs kept, as :mod:`evalbench.compare.versions` does: an id of which one has no text is
    not among them.
    """
    return _differing(left, right, tuple((rows.folder / "results.json").stat().st_mtime for rows in (left, right)))


@functools.lru_cache(maxsize=_KEPT)
def _differing(left: Rows, right: Rows, _at: tuple[float, ...]) -> pd.DataFrame:
    import pandas as pd

    parts: list[list[str]] = [[], []]
    files: dict[str, Any] = {}
    for i, rows in enumerate((left, right)):
        for table in (name for name, keys in rows.linked.items() if keys[0] == rows.id):
            view = f"{SIDES[i]} {table}"
            for column in (c for c in rows.columns_of(table) if c.name in GIVEN):
                text = as_text(column.name, "t")
                if column.kind == "list":
                    text = f"array_to_string(t.{quoted(column.name)}, chr(10))"
                files[view] = (rows.folder / rows.results["tables"][table]).resolve()
                parts[i].append(
                    f"SELECT DISTINCT {as_text(rows.id, 't')} k, hash('{column.name}', {text}) h FROM {quoted(view)} t WHERE {text} <> ''"
                )
    if not all(parts):
        return pd.DataFrame({"k": []}, dtype=object)
    # Each text counts once, in any order.
    one, other = (f"SELECT k, bit_xor(h) h FROM ({' UNION ALL '.join(own)}) GROUP BY k" for own in parts)
    found = Database(files).arrays(f"SELECT l.k FROM ({one}) l JOIN ({other}) r ON l.k = r.k WHERE l.h <> r.h")
    return pd.DataFrame({"k": found["k"].astype(object)})
