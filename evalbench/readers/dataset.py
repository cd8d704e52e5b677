"""From a name, a path or frames to the checked tables of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.notes import Note
from evalbench.core.result import DataLabel, Tables
from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.readers.cards import card_of, says_synthetic
from evalbench.readers.excel import tables_of_sheets
from evalbench.readers.files import digest
from evalbench.readers.former import as_before
from evalbench.readers.frames import by_table, frame_hash, raw_frames
from evalbench.readers.grouping import UNGROUPED, Grouping, grouping_of, keys_of, options_of, unused_clusters
from evalbench.readers.label_studio import with_marks
from evalbench.readers.large import STREAM, has_rows_of, is_dealt, is_reshaped, large_files, read_whole, refuse_reshaped
from evalbench.readers.located import locate
from evalbench.readers.log_store.address import is_log_store
from evalbench.readers.log_store.frames import columns_of_frames, logged
from evalbench.readers.model_files import is_written
from evalbench.readers.nameless import of_tables
from evalbench.readers.nested import unnested
from evalbench.readers.one_reference import one_reference
from evalbench.readers.one_table import tables_of
from evalbench.readers.renames import (
    adapted,
    all_at_once,
    found_in,
    todays_targets,
    unknown_renames,
    usual,
    without_left_out,
)
from evalbench.readers.replies import replies_read
from evalbench.readers.roles import PERHAPS, READ_AS, SURE, named
from evalbench.readers.row_numbers import without_row_numbers
from evalbench.readers.schema import SYSTEMS, TRIAL, Table
from evalbench.readers.tables import FAULTS_SHOWN, check, counted_as
from evalbench.readers.tools.direct import of_log, taken
from evalbench.readers.wide import of_people
from evalbench.readers.written import as_meant, empty_answers, has_numbers, numbered

if TYPE_CHECKING:
    import pandas as pd

Schema = Mapping[str, Table]
FRAMES = "frames"
"""The name of data that were made in Python."""


@dataclass(frozen=True)
class Dataset:
    """Checked tables and where they came from.

    - ``tables``: One per table of the schema that is there.
    - ``unused``: Table → columns that its schema does not name.
    - ``card``: What the data set's own card says, see :mod:`evalbench.readers.cards`.
    - ``rows``: The numbers by which messages name the rows of each table.
    - ``sheets``: Tables whose rows are counted as in a spreadsheet.
    - ``grouping``: The columns of clusters and slices, see :func:`load`.
    - ``keys``: The columns of each table that name things.
    - ``read_as``: Table → columns of other names → the columns of the study that they were read as.
    - ``given``: The tables as they were, where ``tables`` name each trial as a group of its own.
    - ``checks``: What reads further rows of the same tables as these were read.
    """

    label: DataLabel
    tables: Mapping[str, pd.DataFrame]
    remarks: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    unused: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    card: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, pd.Index] = field(default_factory=dict)
    sheets: frozenset[str] = frozenset()
    grouping: Grouping = UNGROUPED
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    given: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    read_as: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    checks: Callable[[Raw], Dataset] | None = field(default=None, repr=False)

    def of(self, frames: Mapping[str, pd.DataFrame]) -> Dataset:
        """Further rows of tables that are dealt, as raw frames, read and checked as these were."""
        assert self.checks is not None
        return self.checks(Raw(self.label, frames, self.files, card=self.card))

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks, and the columns that nothing uses."""
        return self.notes_beside(())

    def notes_beside(self, used: Iterable[str]) -> tuple[str, ...]:
        """The notes of a study that uses further columns, which its options name."""
        named = {*used, *self.grouping.columns}
        left = {table: [c for c in columns if c not in named] for table, columns in self.unused.items()}
        rest = [
            f"{table}: columns that are not used: {', '.join(columns)}" for table, columns in left.items() if columns
        ]
        return (*rest, *self.remarks)

    def __repr__(self) -> str:
        return "\n".join([f"<Dataset {self.label}>", repr(Tables(self.tables)), *self.notes])

    def __getitem__(self, table: str) -> pd.DataFrame:
        return self.tables[table]

    def get(self, table: str) -> pd.DataFrame | None:
        return self.tables.get(table)


@dataclass(frozen=True)
class Raw:
    """Raw frames of a data set before any check.

    - ``sources``: The name of each table's file.
    - ``notes``: How the files were read, where that was a guess.
    - ``written``: Tables whose cells were written as texts, so that a list or a number may be one of them.
    """

    label: DataLabel
    frames: Mapping[str, pd.DataFrame]
    sources: Mapping[str, str]
    notes: tuple[str, ...] = ()
    written: frozenset[str] = frozenset()
    card: Mapping[str, str] = field(default_factory=dict)


def load(
    data: Any,
    schema: Schema,
    *,
    columns: Mapping[str, str] | None = None,
    cluster: str | Sequence[str] = "",
    slices: str | Sequence[str] = (),
    root: Path | None = None,
    adapt: Callable[[Mapping[str, pd.DataFrame]], Mapping[str, pd.DataFrame]] | None = None,
    further: Callable[[Dataset], object] | None = None,
    **files: str | Path,
) -> Dataset:
    """Read and check the tables of a study.

    Parameters
    ----------
    data : str, Path, mapping of str to DataFrame, or DataFrame
        ``name@version`` of the catalog, a file, a folder with one file per table (named as the table) or one JSON file
        per row, frames by table, or one frame where the study needs one table; whatever has ``to_pandas``, such as a
        frame of Polars, a table of Arrow or a data set of Hugging Face, is a frame, and so are a list of dicts and a dict of lists.
        A log store, ``FILE.sqlite``, ``sqlite:///FILE?from=TIME&to=TIME`` or ``postgresql://HOST/DATABASE?from=TIME``, is the
        schema's first table, see :func:`evalbench.readers.log_store.frames.logged`.
        A file is the schema's first table, a nested JSON Lines file of documents that list the rows of other tables, or a
        result file of another tool, see :mod:`evalbench.readers.tools`.
    schema : mapping of str to Table
    columns : mapping, optional
        Renames: column in the file → column that we expect; for every table.
    cluster : str or sequence of str
        A column, or several, of any table: items with the same value are drawn together in every interval and test.
    slices : str or sequence of str
        Columns of any table whose values the figures are also given for.
    root : Path, optional
        The workbench, found upwards otherwise.
    adapt : callable, optional
        From the raw frames to those of the schema, for files in a published form of their own; texts under ``notes`` in a
        frame's ``attrs`` become remarks.
    further : callable, optional
        What a study refuses beyond the schema, by raising :class:`BadInput`.  Asked where rows break the schema: the
        rest of the rows may have faults of that kind, and all are told at once.
    **files : str or Path
        Further files by table name, or by a name under which one is read instead of ``data``
        (:attr:`~evalbench.readers.schema.Table.alone`); an empty string counts as not given.

    Raises
    ------
    BadInput
        All faults of all tables in one message, with file, column and rows.
    """
    grouping = {"cluster": cluster, "slices": slices}
    raw = read(data, schema, root=root, columns=columns, **files)
    if adapt and is_reshaped(raw.frames, by_roles(raw, schema, columns or {}, adapt, (cluster, slices))[0], schema):
        raw = read(data, read_whole(schema), root=root, columns=columns, **files)
    return checked_tables(raw, schema, columns=columns, adapt=adapt, further=further, **grouping)


def checked_tables(
    raw: Raw,
    schema: Schema,
    *,
    columns: Mapping[str, str] | None = None,
    cluster: str | Sequence[str] = "",
    slices: str | Sequence[str] = (),
    adapt: Callable[[Mapping[str, pd.DataFrame]], Mapping[str, pd.DataFrame]] | None = None,
    further: Callable[[Dataset], object] | None = None,
) -> Dataset:
    """What was read, checked; see :func:`load`."""
    given, (frames, columns) = columns or {}, by_roles(raw, schema, columns or {}, adapt, (cluster, slices))
    refuse_reshaped(raw.frames, frames, schema)
    sources = {name: raw.sources.get(name, raw.label.name) for name in frames}
    said = [(name, note) for name, frame in frames.items() for note in frame.attrs.get("notes", ())]
    read_as = {name: dict(frame.attrs[READ_AS]) for name, frame in frames.items() if READ_AS in frame.attrs}
    frames, nameless = of_tables(frames, schema, columns or {})
    frames, without_ids = numbered(frames, schema, columns or {})
    said += [*without_ids.items(), *nameless.items()]
    tables, broken, faults, unused = {}, {}, [], {}
    remarks = [*raw.notes, *(_of_source(sources[name], note) for name, note in said)]
    for name, table in schema.items():
        if name not in frames:
            if table.required:
                where = f"as {name!r} of a mapping of frames" if raw.label.name == FRAMES else f"with -p {name}=FILE"
                held = [c.name for c in table.columns if f"a column {c.name} of" in table.help]
                others = [str(c) for frame in frames.values() for c in frame.columns]
                hint = "".join(usual(column, others) for column in held if column not in others)
                faults.append(f"table {name} is missing ({table.help}); give it {where}{hint}")
            continue
        frame = frames[name]
        if name in raw.written:
            frame, guessed = as_meant(frame, table, columns or {})
            remarks += [f"{sources[name]}: {note}" for note in guessed]
        tables[name], found = check(frame, table, columns)
        tables[name].attrs |= {key: frame.attrs[key] for key in (SYSTEMS, STREAM) if key in frame.attrs}
        remarks += [_of_source(sources[name], note) for note in tables[name].attrs.pop("notes")]
        other = {**(columns or {}), **read_as.get(name, {})}
        other = {source: column for source, column in other.items() if not {source, column} <= {*frame.columns}}
        faults += [f"{sources[name]}: {fault.as_given(other)}" for fault in found]
        if table.no_trials and TRIAL in tables[name]:
            tables[name] = tables[name].drop(columns=TRIAL)
            remarks.append(f"{sources[name]}: the column {TRIAL} is not used: {table.no_trials}")
        rows = [row for fault in found for row in fault.rows]
        broken[name] = frames[name].index.isin(rows) if all(f.rows for f in found) else None
        unused[name] = tuple(str(c) for c in tables[name].columns if table.column(str(c)) is None)
        absent = [c.name for c in table.columns if c.name not in tables[name]]
        of_somebody = {part.column for part in of_people(tables[name], table.columns)}
        hints = [(column, usual(column, [c for c in unused[name] if c not in of_somebody])) for column in absent]
        remarks += [f"{sources[name]}: no column {column}{hint}" for column, hint in hints if hint]
        remarks += empty_answers(tables[name], table, sources[name])
    faults += unknown_renames(columns, frames.values(), schema)
    other_names = {source: column for own in read_as.values() for source, column in own.items()}
    grouping, wrong = grouping_of(cluster, slices, tables, other_names)
    faults += wrong
    rows_of = {name: frames[name].index for name in tables}
    dealt = {name: schema[name] for name, table in tables.items() if is_dealt(table)}
    if faults and further is not None and not dealt:
        faults += _further_faults(raw.label, tables, rows_of, broken, schema, further)
    faults = list(dict.fromkeys(faults))
    if faults:
        head = f"{raw.label}: {counted(len(faults), 'fault')}{counted_as(faults[:FAULTS_SHOWN], _sheets(raw))}:"
        raise BadInput.listing(head, faults, FAULTS_SHOWN, all_at_once([*faults, *remarks]))
    remarks = list(dict.fromkeys([*remarks, *unused_clusters(tables, schema, grouping, sources)]))
    names = found_in({**given, **columns, **other_names}, [raw.frames[name] for name in dealt if name in raw.frames])
    theirs: dict[str, Any] = options_of(grouping, [tables[name] for name in dealt])
    again = partial(checked_tables, schema=dealt, columns=names, adapt=adapt, **theirs)
    own = (tables, tuple(remarks), sources, unused, raw.card, rows_of, _sheets(raw), grouping, keys_of(schema))
    return Dataset(raw.label, *own, read_as=read_as, checks=again)


def by_roles(
    raw: Raw,
    schema: Schema,
    columns: Mapping[str, str],
    adapt: Callable[[Mapping[str, pd.DataFrame]], Mapping[str, pd.DataFrame]] | None,
    grouping: Iterable[Any] = (),
) -> tuple[dict[str, pd.DataFrame], Mapping[str, str]]:
    """The raw frames with a study's columns, those of other names and shapes among them, and the renames that are left to do.

    - ``grouping``: Options that name columns, which are not taken for others that they only may mean.
    """
    options = [o.split(",") if isinstance(o, str) else o if isinstance(o, (list, tuple)) else () for o in grouping]
    kept = {name.strip(): name.strip() for names in options for name in names if isinstance(name, str) and name.strip()}
    given, asked = without_left_out(raw.frames, todays_targets(columns, schema))
    given = without_row_numbers(given, [*asked, *kept])
    present = {str(column).strip() for frame in given.values() for column in frame.columns}
    asked = {source: target for source, target in asked.items() if source != target or source in present}
    first = named(with_marks(given, schema), schema, asked, SURE if adapt else PERHAPS)
    frames, left = adapted(one_reference(as_before(first, schema, asked), schema), asked, adapt)
    surely = named(frames, schema, left, SURE)
    own = [column.name for table in schema.values() for column in table.columns]
    return without_row_numbers(named(surely, schema, {**kept, **left}), [*own, *left, *kept], index=True), left


def _of_source(source: str, note: str) -> str:
    """A note with the file that it is about before it; its rank stays."""
    said = f"{source}: {note}"
    return Note(note.kind, note.short, said) if isinstance(note, Note) else said


def _sheets(raw: Raw) -> frozenset[str]:
    return frozenset() if raw.label.name == FRAMES else raw.written


def _further_faults(
    label: DataLabel,
    tables: Mapping[str, pd.DataFrame],
    rows: Mapping[str, pd.Index],
    broken: Mapping[str, Any],
    schema: Schema,
    further: Callable[[Dataset], object],
) -> Sequence[str]:
    """What a study refuses in the rows that keep the schema; nothing where a table or a column is not there."""
    whole = [name for name, table in schema.items() if table.required or name in tables]
    if any(broken.get(name) is None for name in whole):
        return ()
    sound = {name: frame[~broken[name]] for name, frame in tables.items()}
    left = {name: rows[name][~broken[name]] for name in tables}
    keys = {name: schema[name].unique[0] for name in tables if schema[name].unique}
    # A document that was left out must not be missed by the rows that belong to it.
    gone = {
        key: {id for name, k in keys.items() if k == key for id in set(tables[name][k]) - set(sound[name][k])}
        for key in keys.values()
    }
    for name, key in [(name, key) for name in sound for key in gone if key in sound[name]]:
        kept = ~sound[name][key].isin(gone[key]).to_numpy()
        sound[name], left[name] = sound[name][kept].reset_index(drop=True), left[name][kept]
    if not all(map(len, sound.values())):
        return ()
    try:
        further(Dataset(label, sound, rows=left))
    except BadInput as error:
        return [f"{error.head} {fault}".lstrip() for fault in error.faults] or (str(error),)
    return ()


def read(
    data: Any,
    schema: Schema,
    *,
    root: Path | None = None,
    columns: Mapping[str, str] | None = None,
    **files: str | Path,
) -> Raw:
    """The raw frames of a data set, and its label; see :func:`load`."""
    alone = {table.alone: name for name, table in schema.items() if table.alone}
    unknown = [name for name in files if name not in schema and name not in alone]
    if unknown:
        raise BadInput(f"unknown table {', '.join(unknown)}; this study has {', '.join([*schema, *alone])}")
    if not isinstance(data, (str, Path)):
        return _of_frames(data, schema, columns or {})
    given = {name: Path(path).expanduser() for name, path in files.items() if str(path)}
    instead = " + ".join(path.name for name, path in given.items() if name in alone)
    main, first = next(iter(schema.items()))
    path, log = Path(data).expanduser(), None
    if not instead and is_log_store(data):
        beside = any(schema[name].dealt for name in given if name in schema)
        in_parts = first.dealt and not beside and has_rows_of(first, columns_of_frames(columns or {}), columns or {})
        sampled = first.sampled if in_parts or not first.dealt else 0
        log = logged(data, sampled, columns or {}, part_rows=first.part_rows if in_parts else 0)
    large = None if log or path.is_dir() else large_files(path, first, columns or {})
    other = of_log(*log, schema) if log else None if instead or large else taken(data, schema)
    paths: dict[str, Path] = {}
    name, version, synthetic = instead or (log.name if log else path.resolve().name), "", False
    if not instead and other is None:
        paths, name, version, synthetic = locate(data, schema, root)
        if version and len(paths) == 1 and (other := taken(next(iter(paths.values())), schema)):
            paths = {}
    paths |= {alone.get(name, name): path for name, path in given.items()}
    frames: dict[str, pd.DataFrame] = dict(other.frames) if other else {}
    digests: dict[str, str] = dict.fromkeys(frames, other.sha256) if other else {}
    notes: list[str] = [f"{name}: {note}" for note in other.notes] if other else []
    sources = dict.fromkeys(frames, name) | {table: paths[table].name for table in paths}
    for table, (frames[table], found, digests[table]) in tables_of(paths, schema, columns or {}).items():
        notes += [f"{sources[table]}: {note}" for note in found]
    before = frames
    written = frozenset(table for table, path in paths.items() if is_written(path) and not has_numbers(frames[table]))
    one = other is None and len(frames) == 1 and len(schema) > 1
    if one and (named := tables_of_sheets(next(iter(paths.values())), schema)):
        main = next(iter(frames))
        notes = [f"{sources[main]}: its sheets {', '.join(named)} were read as the tables of these names"]
        frames, sources, written = named, dict.fromkeys(named, sources[main]), frozenset(named)
    elif one:
        main, frame = next(iter(frames.items()))
        nested = unnested(frame, schema, sources[main])
        if nested:
            frames, sources = nested, dict.fromkeys(nested, sources[main])
    frames, found = replies_read(frames, schema, columns or {}, sources)
    if is_reshaped(before, frames, schema):
        return read(data, read_whole(schema), root=root, columns=columns, **files)
    card = {} if instead else card_of(data, root)
    label = DataLabel(name, version, digest(_judged(digests, schema)), synthetic or says_synthetic(card))
    return Raw(label, frames, sources, (*notes, *found), written, card)


def _judged(parts: Mapping[str, str], schema: Schema) -> Mapping[str, str]:
    """Those of the tables that do not only describe; all, where there are no others."""
    return {name: part for name, part in parts.items() if not schema[name].describes} or parts


def _of_frames(data: Any, schema: Schema, columns: Mapping[str, str]) -> Raw:
    data = by_table(data, next(iter(schema)), schema)
    unknown = [str(name) for name in data if name not in schema]
    if unknown:
        splits = all(hasattr(part, "to_pandas") for part in data.values())
        way_out = f"; take one of them, such as data[{unknown[0]!r}]" if splits and len(schema) == 1 else ""
        raise BadInput(f"unknown table {', '.join(unknown)}; this study has {', '.join(schema)}{way_out}")
    frames = raw_frames(data)
    parts = _judged({name: frame_hash(frame) for name, frame in frames.items()}, schema)
    sources = {name: f"frame {name}" for name in frames}
    frames, notes = replies_read(frames, schema, columns, sources)
    return Raw(DataLabel(FRAMES, "", digest(parts)), frames, sources, tuple(notes), written=frozenset(frames))
