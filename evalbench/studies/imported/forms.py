"""What is decided of all rows before any of them is made into items: which metrics there are, and whether every question is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.readers.cells import as_texts
from evalbench.readers.large import STREAM, Large, is_dealt
from evalbench.readers.parquet import cells_of
from evalbench.readers.partitions import Part
from evalbench.readers.role_names import names_no_score
from evalbench.studies.imported.columns import MOST_METRICS, OWN, Cells, Form, cells_in, form_of, together

HASH = "question_hash"
T = TypeVar("T")
Texts = Mapping[str, pd.Series]


class Forms(NamedTuple):
    """What a table holds.

    - ``metrics``: As asked for; else those of the most answers first, then by name.
    - ``words``: Metric → the words of its column that are marks, where metrics are columns.
    - ``hashed``: Whether every question has a hash.
    """

    metrics: tuple[str, ...]
    words: Mapping[str, Mapping[str, str]]
    hashed: bool
    notes: tuple[str, ...]


def forms_of(data: readers.Dataset, metrics: Sequence[str]) -> Forms:
    """The forms of all rows, also of tables that are read in parts.

    - ``metrics``: Which, in this order; by default all.

    Raises ``BadInput``: All faults at once.
    """
    faults: list[str] = []
    items, scores = data["items"], data.get("scores")
    unit = next((name for name in (HASH, "question") if name in items), "")
    free = [c for c in data.unused.get("items", ()) if c in items and c not in data.grouping.columns]
    wanted = [m for m in metrics if m in free] or [c for c in free if c not in OWN]
    hashed = bool(unit) and all(_of_all(data, "items", [unit], _all_said))
    if scores is not None:
        asked = sum(_of_all(data, "scores", ["metric"], _names), Counter[str]())
        found, notes = dict.fromkeys(sorted(asked, key=lambda name: (-asked[name], name)), Form()), list[str]()
    else:
        several = _of_all(data, "items", wanted, _cells)
        found, notes = _columns({name: together(own[name] for own in several) for name in wanted}, metrics, faults)
    lost = [name for name in metrics if name not in found]
    faults += [f"metrics: no scores of {', '.join(lost)}; there are {', '.join([*found][:40]) or 'none'}"] * bool(lost)
    names = tuple(metrics) or tuple(found)
    if not names and not faults:
        faults.append("there are no scores: neither a table scores nor a column of numbers in items")
    if len(names) > MOST_METRICS:
        faults.append(
            f"there are {len(names)} metrics; name at most {MOST_METRICS} of them: -p 'metrics=[\"{names[0]}\"]'"
        )
    if faults:
        raise errors.BadInput.listing(f"imported scores{readers.tables.counted_as(faults, data.sheets)}:", faults)
    return Forms(names, {name: found[name].words for name in names}, hashed, tuple(notes))


def _columns(
    cells: Mapping[str, Cells], metrics: Sequence[str], faults: list[str]
) -> tuple[dict[str, Form], list[str]]:
    """The columns of numbers, in the order of their names, and notes on how they are read."""
    forms = {name: form_of(own) for name, own in cells.items()}
    faults += [
        f"metric {name}: the column holds other cells than numbers"
        for name, form in forms.items()
        if form is None and name in metrics
    ]
    known = {name: form for name, form in forms.items() if form is not None}
    aside = [name for name in known if names_no_score(name) and not metrics]
    if len(aside) == len(known):
        aside = []
    read = {name: form for name, form in known.items() if name not in aside}
    if not read:
        return {}, []
    mixed = [
        f"{name} ({core.counted(form.lost, 'cell')}, such as {form.such_as:.40})"
        for name, form in read.items()
        if form.lost
    ]
    said = {name: {word.casefold(): mark for word, mark in form.words.items()} for name, form in read.items()}
    marked = [f"{name} ({', '.join(f'{w} as {n}' for w, n in own.items())})" for name, own in said.items() if own]
    notes = [f"Marks in words that were read as numbers: {'; '.join(marked)}."] if marked else []
    notes += [f"Cells of metrics that hold no number, which are unscored: {', '.join(mixed)}."] if mixed else []
    if not metrics:
        note = f"Columns of numbers that were read as metrics: {', '.join(read)}; metrics=[…] names others."
        notes.append(note + (f" By their names no scores: {', '.join(aside)}." if aside else ""))
    return dict(sorted(read.items())), notes


def _names(texts: Texts) -> Counter[str]:
    named = texts["metric"].astype(str).str.strip()
    return Counter(named[named != ""].tolist())


def _cells(texts: Texts) -> dict[str, Cells]:
    return {name: cells_in(own) for name, own in texts.items()}


def _all_said(texts: Texts) -> bool:
    return all(bool((own.fillna("").astype(str).str.strip() != "").all()) for own in texts.values())


def _of_all(data: readers.Dataset, table: str, columns: Sequence[str], of: Callable[[Texts], T]) -> list[T]:
    """What a function makes of columns of texts: of all rows, or batch by batch of a table that is read in parts."""
    frame = data[table]
    if not is_dealt(frame):
        return [of({name: frame[name] for name in columns})]
    large: Large = frame.attrs[STREAM]
    named = {**{own: source for source, own in data.read_as.get(table, {}).items()}, **large.renamed}
    work = partial(_of_part, columns={name: named.get(name, name) for name in columns}, of=of)
    with kit.workers.workers(min(kit.workers.processes(), len(large.parts))) as over:
        return [one for several in over(work, large.parts) for one in several]


def _of_part(part: Part, columns: Mapping[str, str], of: Callable[[Texts], T]) -> list[T]:
    """What a function makes of each batch of some rows."""
    import pyarrow as pa

    found = []
    for where, batch in part.batches([*columns.values()]):
        cells = cells_of(where.source, pa.Table.from_batches([batch]))
        texts = {own: pd.Series(as_texts(cells[name]), dtype=object) for own, name in columns.items()}
        found.append(of(texts))
    return found
