"""Labels that people gave: the table that ``evalbench label merge`` writes, or one of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.errors import BadInput
from evalbench.readers.cells import Fault
from evalbench.readers.schema import Column, Table
from evalbench.readers.tables import FAULTS_SHOWN, check

if TYPE_CHECKING:
    import pandas as pd

_TEXT: Any = {"required": False, "empty_ok": True}
LABELS = Table(
    (
        Column("id", "id", help="the item that was labelled"),
        Column("model", "id", help="whose answer it is, where there are several", **_TEXT),
        Column("criterion", "id", help="what was asked of it", **_TEXT),
        Column("annotator", "id", **_TEXT),
        Column("mark", "float", empty_ok=True, help="empty where the annotator skipped the item"),
        Column("skipped", "text", **_TEXT),
        Column("comment", "text", **_TEXT),
        Column("probability", "float", low=0, high=1, help="with which a plan drew the item", **_TEXT),
        Column("stratum", "text", **_TEXT),
        Column("selected_by", "text", help="the filter and the order with which somebody found the item", **_TEXT),
    ),
    help="one row per item, annotator and criterion",
)
_OTHER_NAMES = {"id": ("doc_id",), "model": ("system",), "mark": ("score", "is_match", "label")}


def label_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of labels under our names: ``doc_id``, ``system`` and ``score`` are ``id``, ``model`` and ``mark``.

    Examples
    --------
    >>> import pandas as pd
    >>> list(label_columns(pd.DataFrame({"doc_id": ["a"], "score": [1], "comment": [""]})))
    ['id', 'mark', 'comment']
    """
    return with_our_names(frame, _OTHER_NAMES)


def with_our_names(frame: pd.DataFrame, others: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """A table whose columns have our names instead of the first of the other ones that it has; those it has stay."""
    names = {
        other: ours
        for ours, known in others.items()
        if ours not in frame and (other := next((o for o in known if o in frame), ""))
    }
    return frame.rename(columns=names)


def read_labels(path: Path) -> pd.DataFrame:
    """The rows of a table of labels.

    - ``path``: CSV, TSV, JSON, JSON Lines, Parquet or a sheet; the columns of :data:`LABELS`, or those that ``label
      merge`` writes.

    Returns: All columns of :data:`LABELS`, ``""`` or NaN where the file lacks them, and ``row``; a row that says the
    same again is left out.

    Raises ``BadInput``: With all faults at once, each with file, column and rows: cells of another type, a file without
    marks, an annotator who marked an item twice and differently, an item that was drawn with two probabilities.
    """
    from evalbench.readers.files import raw_table, read_bytes

    raw, _ = raw_table(path, read_bytes(path))
    named = label_columns(raw)
    if path.suffix in (".csv", ".tsv", ".xlsx"):
        named = _without_guards(named)
    frame, faults = check(named, LABELS)
    if not faults:
        frame = _whole(frame).assign(row=list(raw.index))
        faults = _clashes(frame)
    if faults:
        raise BadInput.listing(f"{path}: labels cannot be used:", map(str, faults), FAULTS_SHOWN)
    same = ["id", "model", "criterion", "annotator", "mark"]
    return frame.drop_duplicates(same, ignore_index=True)


def unguarded(cell: Any) -> Any:
    """A cell without the apostrophe that keeps a spreadsheet from reading it as a formula.

    Examples
    --------
    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    guarded = isinstance(cell, str) and cell[:1] == "'" and cell.lstrip("'").lstrip()[:1] in ("=", "+", "-", "@")
    return cell[1:] if guarded else cell


def _without_guards(frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    texts = [
        name for name in ("id", "model", "criterion", "annotator", "comment", "stratum", "selected_by") if name in frame
    ]
    # A Series of its own dtype: pandas would turn texts with None into its own kind, with NaN.
    own = {
        name: pd.Series([unguarded(cell) for cell in frame[name]], index=frame.index, dtype=object) for name in texts
    }
    return frame.assign(**own)


def _whole(frame: pd.DataFrame) -> pd.DataFrame:
    numbers = ("mark", "probability")
    columns = {c.name: frame.get(c.name, np.nan if c.name in numbers else "") for c in LABELS.columns}
    return frame[[]].assign(**columns)


def _clashes(frame: pd.DataFrame) -> list[Fault]:
    item = ["id", "model", "criterion"]
    marked = frame[frame["mark"].notna()]
    faults = [] if len(marked) else [Fault("mark", "no row has a mark")]
    faults += _several(marked, [*item, "annotator"], "mark", "was marked differently by one annotator")
    drawn = frame[frame["probability"].notna()]
    faults += _several(drawn, item, "probability", "was drawn with several probabilities")
    zero = drawn[drawn["probability"] == 0]
    return faults + ([Fault("probability", "is 0; over 0, up to 1", tuple(zero["row"]))] if len(zero) else [])


def _several(frame: pd.DataFrame, keys: Sequence[str], column: str, what: str) -> list[Fault]:
    """A fault for the items whose rows differ in a column."""
    distinct = frame.drop_duplicates([*keys, column])
    wrong = distinct[distinct.duplicated(list(keys), keep=False)]
    if not len(wrong):
        return []
    first = wrong.iloc[0]
    n = len(wrong.drop_duplicates(list(keys)))
    name = f"item {str(first['id'])[:60]!r}" + (f" and {n - 1} more" if n > 1 else "")
    return [Fault(column, f"{name} {what}", tuple(int(row) for row in wrong["row"]))]


def is_selected(rows: pd.DataFrame) -> pd.Series:
    """Which labels are of items that somebody looked for, with a filter or in an order, and that no plan drew.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"selected_by": ["", "light=red", "light=red"], "probability": [np.nan, np.nan, 0.5]})
    >>> is_selected(rows).tolist()
    [False, True, False]
    """
    return (rows["selected_by"] != "") & rows["probability"].isna()


def no_random_part(filters: Sequence[str]) -> str:
    """Why labels of items that somebody looked for do not count, with the first of the filters."""
    return f"given to items found with a filter or in an order (first {filters[0][:60]!r}), which are not a random part of the items"


class Decided(NamedTuple):
    """One label per item.

    - ``labels``: ``id, model, mark, probability, stratum``; ``mark`` is NaN where nobody gave one, or as many said the
      one as the other.
    - ``ties``: Items without a label because annotators are evenly divided.
    - ``several``: Items that several annotators marked.
    - ``skipped``: Items that nobody marked.
    - ``by_mean``: Whether the mean of the annotators was taken, since marks are others than 0 and 1.
    - ``selected``: By what the items of the labels that were left out had been looked for.
    """

    labels: pd.DataFrame
    ties: int
    several: int
    skipped: int
    by_mean: bool
    selected: tuple[str, ...] = ()


def decided(rows: pd.DataFrame, *, at_random: bool = False) -> Decided:
    """What the annotators of each item say together: of marks 0 and 1 what most say, of others the mean.

    ``at_random``: Without labels of items that somebody looked for.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"id": ["a", "a", "b", "b", "b"], "model": "", "mark": [0.0, 1, 1, 1, 0], "probability": np.nan, "stratum": ""})
    >>> found = decided(rows)
    >>> found.labels["mark"].tolist(), found.ties
    ([nan, 1.0], 1)
    """
    selected: tuple[str, ...] = ()
    if at_random:
        left_out = is_selected(rows)
        selected, rows = tuple(rows.loc[left_out, "selected_by"]), rows[~left_out]
    marks = rows["mark"].to_numpy(dtype=float)
    by_mean = bool((~np.isin(marks[~np.isnan(marks)], (0.0, 1.0))).any())
    of = rows.groupby(["id", "model"], sort=True)
    labels = of.agg(
        mark=("mark", "mean"), n=("mark", "count"), probability=("probability", "first"), stratum=("stratum", "first")
    ).reset_index()
    n = labels.pop("n").to_numpy()
    ties = np.zeros(len(labels), dtype=bool)
    if not by_mean:
        mean = labels["mark"].to_numpy(dtype=float)
        ties = mean == 0.5
        labels["mark"] = np.where(ties | np.isnan(mean), np.nan, (mean > 0.5).astype(float))
    return Decided(labels, int(ties.sum()), int((n > 1).sum()), int((n == 0).sum()), by_mean, selected)
