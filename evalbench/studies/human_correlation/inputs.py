"""Any shape of human scores to one: an output a row with its texts and metric columns, a score of an annotator a row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import errors, kit, readers
from evalbench.readers import Column, Table
from evalbench.studies.human_correlation import panels

# With more annotators than this, the k-th rating of each output stands for annotator k.
MANY_ANNOTATORS = 12
# The metrics of the table of the method document (handbook, section 12).
DOCUMENTED = ("meteor", "sacrebleu", "rouge1")
SIDES = ("better", "worse")
_MARK = [*panels.KEYS, "criterion", "annotator", "mark"]
_MODEL = Column("model", "id", groups=True, required=False, former=("system",))

SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("id", "id", former=("doc_id",)),
            _MODEL,
            Column(
                "answer",
                "text",
                required=False,
                empty_ok=True,
                keep_null=True,
                help="null: unscored",
                former=("output",),
            ),
            Column("better", "text", required=False, empty_ok=True, keep_null=True, help="the text that people prefer"),
            Column("worse", "text", required=False, empty_ok=True, keep_null=True, help="the other text of the pair"),
            Column("reference", "texts", required=False, empty_ok=True, perhaps=("answer",)),
            Column("contexts", "texts", required=False, empty_ok=True, former=("context",)),
            Column("question", "text", required=False, empty_ok=True, help="the request", former=("prompt",)),
            Column("samples", "texts", required=False, empty_ok=True),
            Column("annotator", "id", required=False),
            Column("criterion", "id", required=False),
            Column("mark", "float", role="none", required=False, empty_ok=True),
            Column("seconds", "float", required=False, empty_ok=True, help="as `label merge` writes it; not used"),
            Column("probability", "float", required=False, empty_ok=True, help="as `label merge` writes it; not used"),
        ),
        no_trials="each output has human scores of its own, so that outputs are not averaged; name repeated ones as systems",
        help="one row per document and system, with a column per criterion and per ready-made metric; "
        "or one row per human score, with annotator, criterion, mark; or one row per pair, with better and worse",
    ),
    "ratings": Table(
        (
            Column("id", "id", former=("doc_id",)),
            _MODEL,
            Column("annotator", "id"),
            Column("criterion", "id"),
            Column("mark", "float", empty_ok=True),
        ),
        required=False,
        help="one row per human score",
    ),
    "pairs": Table(
        (
            Column("id", "id", former=("doc_id",)),
            Column("better", "id", help="the system whose output people prefer"),
            Column("worse", "id"),
            Column("criterion", "id", required=False),
            Column("annotator", "id", required=False),
        ),
        required=False,
        help="one row per comparison of two outputs of a document",
    ),
    "scores": Table(
        (
            Column("id", "id", former=("doc_id",)),
            Column("model", "id", required=False, former=("system",)),
            Column("metric", "id"),
            Column("value", "float", role="mark", empty_ok=True),
        ),
        required=False,
        help="ready-made metrics, a score a row; each becomes a column of items",
    ),
}


class Readings(NamedTuple):
    """What people and ready-made metrics said.

    - ``frame``: One row per document and system, in that order; texts and ready-made metric columns.
    - ``ratings``: id, model, criterion, annotator, mark; no gaps.
    - ``pairs``: id, better, worse (systems), criterion, annotator, where people compared outputs.
    - ``people``: The columns that were read as scores that people gave.
    """

    frame: pd.DataFrame
    ratings: pd.DataFrame
    criteria: tuple[str, ...]
    notes: tuple[str, ...]
    pairs: pd.DataFrame | None
    people: tuple[str, ...] = ()


def automatic(
    data: readers.Dataset, criteria: Sequence[str], options: Mapping[str, Any]
) -> tuple[list[str], tuple[str, ...]]:
    """The metrics of a table that names none: its columns of numbers that are not criteria, and those of the document.

    - ``options``: See :mod:`evalbench.kit.metric_options`.

    Returns: The metrics, and notes: which columns were taken for metrics, and what was not computed and why.
    """
    items, people = data["items"], [] if criteria else [part.column for part in _people(data)]
    free = [name for name in data.unused.get("items", ()) if name not in {*criteria, *people, "score"}]
    own = [name for name in free if _is_numeric(items[name])]
    if set(SIDES) <= set(items.columns):
        first, second = SIDES
        stems = [name.removesuffix(f"_{first}") for name in own if name.endswith(f"_{first}")]
        own = [stem for stem in stems if f"{stem}_{second}" in own]
    found, notes = kit.choosing.allowed(items.columns, options, among=[name for name in DOCUMENTED if name not in own])
    if not {"answer", *SIDES} & set(items.columns):
        found, notes = [], ()
    given = f"Columns that were read as scores that people gave: {', '.join(people)}; criteria=[…] names others."
    read = f"Columns of numbers that were read as metrics: {', '.join(own)}; metrics=[…] names others."
    inner = within_objects(items)
    left = [
        f"Numbers within objects, which were not read as metrics: {', '.join(inner)}; {_as_column(path, inner)}."
        for path in list(inner)[:1]
    ]
    return [*own, *found], (*([given] if people else []), *([read] if own else []), *left, *notes)


def _people(data: readers.Dataset) -> list[readers.wide.Part]:
    """The columns that people gave, by their names, of a table without another form of human scores."""
    items = data["items"]
    if {"ratings", "pairs"} & {*data.tables} or {"criterion", "mark"} <= {*items} or {*SIDES} <= {*items}:
        return []
    return readers.wide.of_people(items, SCHEMA["items"].columns)


def read(data: readers.Dataset, metrics: Sequence[str], criteria: Sequence[str]) -> Readings:
    """Bring any shape of human scores to one.

    - ``data``: Table ``items``, with one column per criterion, or long with ``annotator, criterion, mark``; or table
      ``ratings``. Pairs: table ``pairs``, or ``items`` with the texts ``better`` and ``worse``; an output's score is
      then the share of its comparisons that it won.
    - ``metrics``: Those that are columns of the table are read as numbers.
    - ``criteria``: By default all of a long form.

    Raises ``BadInput``: All faults at once: missing or non-numeric columns, repeated rows, criteria without any score.
    """
    faults: list[str] = []
    items, pairs = _compared(data, metrics, faults)
    if "model" not in items:
        items["model"] = ""
    inner = within_objects(items)
    faults += [f"metric {m}: no such column; {_as_column(m, inner)}" for m in metrics if m in inner]
    for name in [m for m in metrics if m in items.columns]:
        items[name] = _numbers(items[name], name, faults)
    given = data.get("ratings")
    if people := [] if criteria else _people(data):
        given = _of_columns(items, people, faults)
    ratings, long = _ratings(given, items, criteria, metrics, pairs, faults)
    asked = {*criteria, *([] if pairs is None else pairs["criterion"])}
    used = (*criteria, *sorted(asked - set(criteria))) if criteria else tuple(sorted(ratings["criterion"].unique()))
    ratings = ratings[ratings["criterion"].isin(used)].dropna(subset=["mark"])
    faults += [] if used or faults else ["there is no human score"]
    named = [f.partition(":")[0] for f in faults]
    empty = [f"criterion {c}" for c in used if c not in set(ratings["criterion"])]
    faults += [f"{criterion}: no score" for criterion in empty if criterion not in named]
    repeated = ratings[ratings.duplicated([*panels.KEYS, "criterion", "annotator"], keep=False)]
    if len(repeated):
        doc, system, criterion = repeated.iloc[0][[*panels.KEYS, "criterion"]]
        faults.append(
            f"{len(repeated)} duplicate scores for the same document, system, criterion and annotator, "
            f"first {doc}, {system or 'no system'}, {criterion}"
        )
    frame = items.drop_duplicates(panels.KEYS) if long else items
    doubled = frame[frame.duplicated(panels.KEYS, keep=False)]
    if len(doubled):
        faults.append(f"{len(doubled)} rows share id and model, first {doubled.iloc[0]['id']}")
    strangers = set(map(tuple, ratings[panels.KEYS].to_numpy())) - set(map(tuple, frame[panels.KEYS].to_numpy()))
    if strangers:
        tables = "ratings" if pairs is None else "ratings or pairs"
        docs = {str(d) for d in frame["id"]}
        near = readers.strangers.written_otherwise(sorted({d for d, _ in strangers if d not in docs}), docs)
        faults.append(
            f"table {tables}: {len(strangers)} documents and systems are not in items, first {min(strangers)}"
            + (f"; of id: {near}" if near else "")
        )
    if faults:
        raise errors.BadInput.listing(f"human scores{readers.tables.counted_as(faults, data.sheets)}:", faults)
    rated = [n for c, own in ratings.groupby("criterion")["mark"] for n in kit.marks.not_rated(own, f" of {c}")]
    ratings, notes = _few_annotators(ratings)
    return Readings(
        frame.sort_values(panels.KEYS, kind="stable", ignore_index=True),
        ratings,
        used,
        (*rated, *notes),
        pairs,
        tuple(part.column for part in people),
    )


def side_columns(metrics: Sequence[str]) -> list[str]:
    """The columns of ready-made metrics in a table of pairs, ``METRIC_better`` and ``METRIC_worse``."""
    return [f"{metric}_{side}" for metric in metrics for side in SIDES]


def _compared(
    data: readers.Dataset, metrics: Sequence[str], faults: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame | None]:  # fmt: skip
    """One row per output, and the pairs, of items that may hold the two texts of a pair, and of a table of pairs."""
    items, given = data["items"].copy(), data.get("pairs")
    items.index = data.rows.get("items", items.index + 1)
    if set(SIDES) <= set(items.columns):
        clash = [name for name in ("answer", "model") if name in items.columns]
        faults += [f"column {name} beside better and worse: a row is an output or a pair" for name in clash]
        faults += ["a table pairs beside the columns better and worse: which is it?"] if given is not None else []
        ready = [m for m in metrics if set(side_columns([m])) <= set(items.columns)]
        rest = items.drop(columns=[*SIDES, *clash, *side_columns(ready)])
        parts = [
            rest.assign(model=side, answer=items[side], **{m: items[f"{m}_{side}"] for m in ready}) for side in SIDES
        ]
        given = items[["id"]].assign(better="better", worse="worse")
        items = pd.concat(parts)
    if given is None:
        return items, None
    pairs = given.assign(criterion=given.get("criterion", "preference"), annotator=given.get("annotator", ""))
    same = pairs[pairs["better"] == pairs["worse"]]
    if len(same):
        faults.append(
            f"table pairs: in {len(same)} the better and the worse are one output, first {same.iloc[0]['id']}"
        )
    return items, pairs[["id", *SIDES, "criterion", "annotator"]]


def _ratings(
    separate: pd.DataFrame | None,
    items: pd.DataFrame,
    criteria: Sequence[str],
    metrics: Sequence[str],
    pairs: pd.DataFrame | None,
    faults: list[str],
) -> tuple[pd.DataFrame, bool]:
    """All human scores, and whether the items have several rows for an output."""
    scored = separate is not None or {"criterion", "mark"} <= set(items.columns)
    if pairs is not None:
        won = _share_won(pairs)
        by_columns = [c for c in criteria if c in items.columns or c not in set(won["criterion"])]
        if not (scored or by_columns):
            return won, False
        rest, long = _ratings(separate, items, by_columns, metrics, None, faults)
        return pd.concat([rest, won[~won["criterion"].isin(rest["criterion"])]]), long
    if separate is not None:
        return separate.assign(model=separate.get("model", ""))[_MARK], False
    named = items.assign(annotator=items.get("annotator", ""))
    if scored:
        return named[_MARK], True
    if not criteria:
        free = [name for name in items.columns if SCHEMA["items"].column(str(name)) is None]
        marks = [str(name) for name in free if _is_numeric(items[name])]
        first = json.dumps(marks[:1], ensure_ascii=False)
        way = (
            f"; those that people gave of its columns of numbers ({', '.join(marks)}), such as -p 'criteria={first}'; "
        )
        way = f"{way}the rest are taken for metrics" if marks else ""
        inner = within_objects(items)
        way += f"; numbers within objects: {', '.join(inner)}; {_as_column(next(iter(inner)), inner)}" if inner else ""
        faults.append(f"name the criteria: the table has neither criterion and mark columns nor a table ratings{way}")
    found = []
    for name in criteria:
        if name not in items.columns:
            inner = within_objects(items)
            hint = f"; {_as_column(name, inner)}" if name in inner else ""
            faults.append(f"criterion {name}: no such column; there are {', '.join(map(str, items.columns))}{hint}")
            continue
        if name in metrics:
            faults.append(f"column {name} is named as a metric and as a criterion: it would agree with itself")
        found.append(named.assign(criterion=name, mark=_numbers(items[name], name, faults))[_MARK])
    return (pd.concat(found) if found else pd.DataFrame({c: [] for c in _MARK})), "annotator" in items


def _of_columns(items: pd.DataFrame, people: Sequence[readers.wide.Part], faults: list[str]) -> pd.DataFrame:
    """The scores of columns that are named after who gave them, a row each; one alone is a criterion of its name."""
    alone = people[0].column if len(people) == 1 else "score"
    each = [
        items.assign(
            annotator=part.name if part.about else part.column,
            criterion=part.about or alone,
            mark=_numbers(items[part.column], part.column, faults),
        )[_MARK]
        for part in people
    ]
    return pd.concat(each, ignore_index=True)


def _share_won(pairs: pd.DataFrame) -> pd.DataFrame:
    """Human scores from pairs: the share of its comparisons that an output won, by criterion and annotator."""
    sides = [pairs.assign(model=pairs[side], mark=float(side == "better")) for side in SIDES]
    return pd.concat(sides).groupby(_MARK[:-1], sort=True)["mark"].mean().reset_index()


def _numbers(column: pd.Series, name: str, faults: list[str]) -> np.ndarray:
    """A column as floats, NaN where empty; cells that are not numbers are a fault, and infinite."""
    text = column.astype(str).str.strip()
    empty = text.isin(["", "nan", "None"])
    values = pd.to_numeric(text.where(~empty), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = np.flatnonzero((~np.isfinite(values)) & ~empty.to_numpy())
    if len(wrong):
        first = f"first {text.iloc[wrong[0]]!r} (row {column.index[wrong[0]]})"
        count = "1 cell is not a number" if len(wrong) == 1 else f"{len(wrong)} cells are not numbers"
        faults.append(f"column {name}: {count}, {first}")
    return np.where(np.isfinite(values) | empty, values, np.inf)


def within_objects(items: pd.DataFrame) -> dict[str, str]:
    """The numbers within objects of a table's further columns, and the name that each could have as a column."""
    found: dict[str, str] = {}
    for name in [str(c) for c in items if SCHEMA["items"].column(str(c)) is None]:
        cells = items[name].head(200).map(_object)
        own = pd.DataFrame({name: cells.astype(object)})
        for path in readers.renames.nested_names(own):
            if (values := readers.renames.within(own, path)) is not None and _is_numeric(values):
                last = path.rpartition(".")[2]
                found[path] = path.replace(".", "_") if last in items or last in found.values() else last
    return found


def _object(cell: Any) -> Any:
    try:
        return readers.files.parsed_json(cell) if isinstance(cell, str) and cell.startswith("{") else None
    except ValueError:
        return None


def _as_column(path: str, inner: Mapping[str, str]) -> str:
    option = f"{path}={inner[path]}"
    return f"--map {repr(option) if ' ' in option else option} makes a column {inner[path]} of {path}"


def _is_numeric(column: pd.Series) -> bool:
    """Whether every cell of a column is a number or empty, and some are numbers."""
    faults: list[str] = []
    return bool(np.isfinite(_numbers(column, "", faults)).any()) and not faults


def _few_annotators(ratings: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    count = ratings["annotator"].nunique()
    if count <= MANY_ANNOTATORS:
        return ratings, ()
    ordered = ratings.sort_values([*panels.KEYS, "criterion", "annotator"], kind="stable")
    place = ordered.groupby([*panels.KEYS, "criterion"], sort=False).cumcount() + 1
    note = f"{count} annotators: the k-th rating of each output, by annotator's name, stands for annotator k"
    return ordered.assign(annotator=place.map("rating {:02d}".format)), (note,)
