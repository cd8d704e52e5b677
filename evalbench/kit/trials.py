"""Several trials of an item: judged one by one, then averaged, so that each item counts once.

A table whose schema names the column of its groups in ``trials`` may have a column ``trial``.  While a study judges, each
trial is a group of its own (:func:`spread`); its items then become one row per item and group (:meth:`Trials.averaged`),
and what the trials show is put beside the figures (:meth:`Trials.reported`).  Without trials nothing changes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from evalbench.core.measures import Measure
from evalbench.core.result import Result
from evalbench.kit.collecting import UNNAMED
from evalbench.kit.options import taken
from evalbench.kit.trial_tables import shown
from evalbench.readers.dealt import OF_ALL, Values
from evalbench.readers.large import STREAM
from evalbench.readers.schema import SYSTEMS, TRIAL, Table

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.dataset import Dataset

F = TypeVar("F", bound=Callable[..., Any])
ROWS = "trials"
"""The table of the items of every trial."""
COUNTS = ("n_trials", "n_trials_lost")
"""Columns of averaged items: their trials, and those that could not be scored."""
MOST_NAMES = 100
"""With more names of trials than this they are numbered within their items."""
_REASONS = ("unscored", "undefined")


@dataclass(frozen=True)
class Trials:
    """The trials of a table, and which of its groups they are while they are judged.

    Attributes
    ----------
    by : str
        The column of the groups.
    groups : mapping of str to (str, str)
        The group of each trial → the group that it belongs to, and the trial's name; empty where there are no trials.
    answers : DataFrame or None
        What was answered: the table's first column, ``by``, ``trial`` and ``answer``.
    """

    by: str = ""
    groups: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    answers: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()

    def plain(self, groups: Iterable[str]) -> list[str]:
        """Groups without their trials."""
        return [self.groups.get(name, (name, ""))[0] for name in groups]

    def names(self, groups: Iterable[str]) -> list[str]:
        """Groups without their trials, each once."""
        return list(dict.fromkeys(self.plain(groups)))

    def ending(self, endings: Iterable[str]) -> Trials:
        """The trials where a study gives its groups further names behind theirs."""
        own = {
            f"{label}{end}": (f"{group}{end}", trial)
            for end in endings
            for label, (group, trial) in self.groups.items()
        }
        return replace(self, groups=own)

    def described(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A table of groups with a row for each of their trials."""
        import pandas as pd

        if not self.groups:
            return frame
        labels = pd.DataFrame(
            [(group, label) for label, (group, _) in self.groups.items()], columns=[self.by, "_label"]
        )
        rows = frame.merge(labels, on=self.by, how="left")
        return rows.assign(**{self.by: rows["_label"].fillna(rows[self.by])}).drop(columns="_label")

    def named(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A table with its groups as they were, and the trials in a column of their own beside them."""
        import pandas as pd

        if not self.groups or self.by not in frame or TRIAL in frame or not frame[self.by].isin(self.groups).any():
            return frame
        place = list(frame.columns).index(self.by)
        codes, labels = pd.factorize(frame[self.by])
        old = np.array([self.groups.get(name, (name, "")) for name in labels], dtype=object).reshape(-1, 2)
        out = frame.assign(**{self.by: pd.Series(old[codes, 0], frame.index, dtype=frame[self.by].dtype)})
        out.insert(place + 1, TRIAL, pd.Series(old[codes, 1], frame.index, dtype=str))
        return out

    def summed(self, counts: pd.DataFrame) -> pd.DataFrame:
        """A table of counts by group, those of all trials of a group together."""
        own = self.named(counts)
        if TRIAL not in own:
            return own
        numbers = list(own.select_dtypes("number"))
        keys = [name for name in own if name not in (*numbers, TRIAL)]
        return own.groupby(keys, sort=False, as_index=False)[numbers].sum()[[c for c in own if c != TRIAL]]

    def averaged(
        self, items: pd.DataFrame, *names: str, unscored_too: bool = False
    ) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """One row per item and group out of the rows of its trials.

        Numbers are means over the scored trials (of all, where none is) that have one; an item is unscored, or undefined,
        only where all of its trials are.  Other columns keep a value that all trials share, else the different ones.

        Parameters
        ----------
        items : DataFrame
            A row per trial; in the order of its items.
        *names : str
            The columns that name an item within its group.
        unscored_too : bool
            Whether numbers are means over all trials that have one, since some are known of unscored ones, too.

        Returns
        -------
        items : DataFrame
            With ``n_trials`` and ``n_trials_lost``, those that could not be scored.
        rows : DataFrame or None
            The rows of the trials, for :meth:`reported`; None where there are none.
        """
        rows = self.named(items)
        if TRIAL not in rows or not self.groups:
            return items, None
        keys = [*names, self.by]
        which = rows.groupby(keys, sort=False, dropna=False).ngroup().to_numpy(dtype=np.int64)
        order = np.lexsort((_in_order(rows[TRIAL]), which))
        rows, which = rows.iloc[order].reset_index(drop=True), which[order]
        starts = np.flatnonzero(np.diff(which, prepend=-1))
        lost = (rows["unscored"] != "").to_numpy() if "unscored" in rows else np.zeros(len(rows), dtype=bool)
        all_lost = np.logical_and.reduceat(lost, starts)
        counted = ~lost | all_lost[which]
        out = rows.iloc[starts].reset_index(drop=True).drop(columns=TRIAL)
        for name in out.columns.difference([*keys, TRIAL], sort=False):
            out[name] = _one_of(rows[name], starts, which, counted | unscored_too)
        for name in [str(c) for c in out if str(c).endswith(_REASONS)]:
            whose = name.removesuffix("_unscored").removesuffix("_undefined") if name not in _REASONS else ""
            has = all_lost if name == "unscored" else out[whose].isna().to_numpy() if whose in out else None
            kept = counted if name == "undefined" else np.ones(len(rows), dtype=bool)
            out[name] = _reasons(rows[name], starts, which, kept, has)
        if {*_REASONS} <= set(out):
            out["undefined"] = np.where(out["unscored"] != "", "", out["undefined"])
        out["n_trials"] = np.diff(starts, append=len(rows))
        out["n_trials_lost"] = np.add.reduceat(lost.astype(int), starts)
        return out, rows

    def reported(
        self,
        result: Result,
        rows: pd.DataFrame | None,
        measures: Sequence[Measure] = (),
        with_sums: Callable[..., pd.DataFrame] | None = None,
    ) -> Result:
        """The result with what its trials show: tables ``trials``, ``noise``, ``pass_k`` and ``flickering``, and notes.

        Parameters
        ----------
        rows : DataFrame or None
            As :meth:`averaged` returns them beside the items of the result.
        measures : sequence of Measure
            The study's, over its items.
        with_sums : callable, optional
            The study's hook of that name.
        """
        if rows is None and not self.groups:
            return result
        tables = {name: self.named(table) for name, table in result.tables.items()}
        if rows is None:
            note = "The trials of the table are not used: the model is asked once for each row."
            return replace(result, tables=tables, notes=(*result.notes, note))
        if (result.items["n_trials"] < 2).all():
            return replace(result, tables=tables)
        scored = with_sums(rows, **taken(with_sums, result.parameters)) if with_sums else rows
        found = shown(result, scored, measures, self.answers)
        return replace(
            result,
            tables={**tables, ROWS: rows, **found.tables},
            trials=found.json,
            notes=(*result.notes, *self.notes, *found.notes),
        )


def joined(parts: Iterable[Trials]) -> Trials:
    """The trials of tables that have different items of the same groups."""
    several = list(parts)
    groups = {label: (of[0], of[1]) for one in several for label, of in one.groups.items()}
    ordered = dict(sorted(groups.items(), key=lambda one: (one[1][0], _key(one[1][1]))))
    notes = tuple(dict.fromkeys(note for one in several for note in one.notes))
    return Trials(next((one.by for one in several if one.by), ""), ordered, None, notes)


def each_trial(function: F) -> F:
    """A decorator for functions of a result that list cases: of items with trials, each trial is a case of its own.

    Its group is then called ``GROUP, trial NAME`` in the items and in the tables.
    """

    @functools.wraps(function)
    def called(result: Result, *given: Any, **options: Any) -> Any:
        return function(_each(result), *given, **options)

    return called  # type: ignore[return-value]


def _each(result: Result) -> Result:
    rows = result.tables.get(ROWS)
    if rows is None:
        return result
    by = str(rows.columns[list(rows.columns).index(TRIAL) - 1])

    def joined(table: pd.DataFrame) -> pd.DataFrame:
        if not {by, TRIAL} <= set(table):
            return table
        return table.assign(**{by: table[by] + ", trial " + table[TRIAL]}).drop(columns=TRIAL)

    return replace(result, items=joined(rows), tables={name: joined(table) for name, table in result.tables.items()})


def spread(data: Dataset, schema: Mapping[str, Table], table: str = "") -> tuple[Dataset, Trials]:
    """Data in which every trial of a group is a group of its own.

    Parameters
    ----------
    schema : mapping of str to Table
    table : str
        Which table's trials; by default those of the first that has some.

    Returns
    -------
    Dataset
        Without the column ``trial``.
    """
    for name in [table] if table else schema:
        by, frame = schema[name].trials, data.get(name)
        if by and frame is not None and TRIAL in frame:
            changed, trials = _spread(frame, schema[name])
            described = {
                other: trials.described(rows)
                for other, rows in data.tables.items()
                if other in schema and schema[other].describes and by in rows
            }
            return replace(data, tables={**data.tables, **described, name: changed}, given=data.tables), trials
    return data, Trials()


def _spread(frame: pd.DataFrame, table: Table) -> tuple[pd.DataFrame, Trials]:
    import pandas as pd

    by = table.trials
    rest = frame.drop(columns=TRIAL)
    group = frame[by].astype(str) if by in frame else pd.Series(UNNAMED, frame.index)
    trial = frame[TRIAL].astype(str)
    notes: tuple[str, ...] = ()
    if trial.nunique() > MOST_NAMES and not table.lists:
        keys = [group, *(frame[key] for key in table.unique if key not in (by, TRIAL) and key in frame)]
        ranked = pd.Series(_in_order(trial), frame.index).groupby(keys).rank(method="first").astype(int)
        many = f"more than {MOST_NAMES}" if STREAM in frame.attrs else trial.nunique()
        notes = (f"The {many} names of trials are numbers within their items here, in the order of the names.",)
        trial = ranked.astype(str)
    (whose, names), (which, known) = pd.factorize(group), pd.factorize(trial)
    codes, of = np.unique(whose * len(known) + which, return_inverse=True)
    here = [(names[code // len(known)], known[code % len(known)]) for code in codes.tolist()]
    pairs = _of_all(frame, by) or here
    taken_names, labels = {name for name, _ in pairs}, {}
    in_part = STREAM in frame.attrs and pairs is here  # which may have one trial of what has several elsewhere
    if len(pairs) == len(taken_names) and not in_part:
        return _all_known(rest, by, sorted(taken_names)), Trials()
    for pair in pairs:
        label = f"{pair[0]}, trial {pair[1]}"
        while label in taken_names:
            label += "′"
        labels[pair] = label
    own = {label: pair for pair, label in labels.items()}
    groups = dict(sorted(own.items(), key=lambda one: (one[1][0], _key(one[1][1]))))
    named = np.array([labels[pair] for pair in here], dtype=object)[of]
    changed = _all_known(rest.assign(**{by: pd.Series(named, frame.index, dtype=str)}), by, sorted(labels.values()))
    if systems := frame.attrs.get(SYSTEMS):
        own_labels: dict[str, list[str]] = {}
        for label, (one, _) in groups.items():
            own_labels.setdefault(one, []).append(label)
        changed.attrs[SYSTEMS] = tuple(label for name in systems for label in own_labels.get(name, [name]))
    answer = next((c.name for c in table.columns if c.keep_null and c.name in frame), "")
    answers = None
    if answer:
        answers = frame[[table.columns[0].name]].assign(**{by: group, TRIAL: trial, "answer": frame[answer]})
    return changed, Trials(by, groups, answers, notes)


def _of_all(frame: pd.DataFrame, by: str) -> list[tuple[str, str]]:
    """The groups and trials of all rows, where the frame is of a part that knows them."""
    known: Values = frame.attrs.get(OF_ALL, Values())
    of_unnamed = [(UNNAMED, trial) for (trial,) in known.get((TRIAL,), ())]
    return [(group, trial) for group, trial in known.get((by, TRIAL), ())] or of_unnamed


def _all_known(frame: pd.DataFrame, by: str, groups: Iterable[str]) -> pd.DataFrame:
    """A frame of a part that knows the groups of all rows by their new names."""
    if OF_ALL in frame.attrs:
        frame.attrs[OF_ALL] = Values({**frame.attrs[OF_ALL], (by,): [(name,) for name in groups]})
    return frame


def _key(name: str) -> tuple[bool, int, str]:
    """Numbers by their value, before other names."""
    whole = name.isascii() and name.isdigit() and len(name) < 19
    return not whole, int(name) if whole else 0, name


def _ranks(names: Iterable[str]) -> dict[str, int]:
    return {name: i for i, name in enumerate(sorted(set(names), key=_key))}


def _in_order(names: pd.Series) -> npt.NDArray[np.int64]:
    import pandas as pd

    codes, found = pd.factorize(names)
    ranks = _ranks(found)
    return np.array([ranks[name] for name in found], dtype=np.int64)[codes]


def _one_of(
    column: pd.Series, starts: npt.NDArray[Any], which: npt.NDArray[Any], counted: npt.NDArray[np.bool_]
) -> Any:
    """One value per item of a column: the mean of numbers, else what the trials hold."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        first = values[starts]
        if not pd.api.types.is_float_dtype(column.dtype) and (values == first[which]).all():
            return column.to_numpy()[starts]
        known = np.isfinite(values) & counted
        n = np.add.reduceat(known.astype(float), starts)
        # The first value is taken off before it is added up, so that equal ones have themselves as their mean.
        base = np.where(np.isfinite(first), first, 0.0)
        off = np.add.reduceat(np.where(known, np.where(known, values, 0) - base[which], 0), starts)
        with np.errstate(all="ignore"):
            return np.where(n > 0, base + off / n, np.nan)
    out = column.iloc[starts].tolist()
    if all(isinstance(cell, str) for cell in column):
        codes = pd.factorize(column)[0]
        differ = np.flatnonzero(np.maximum.reduceat(codes, starts) != np.minimum.reduceat(codes, starts))
        ends = np.append(starts[1:], len(column))
        for i in differ.tolist():
            out[i] = "; ".join(dict.fromkeys(cell for cell in column.iloc[starts[i] : ends[i]] if cell))
    return pd.Series(out, dtype=column.dtype)


def _reasons(
    column: pd.Series,
    starts: npt.NDArray[Any],
    which: npt.NDArray[Any],
    counted: npt.NDArray[np.bool_],
    has: npt.NDArray[np.bool_] | None,
) -> list[str]:
    """The reasons of items of which every trial that counts has one, each once."""
    given = (column != "").to_numpy()
    every = np.logical_and.reduceat(given | ~counted, starts)
    wanted = every if has is None else has
    out = [""] * len(starts)
    if not given.any():
        return out
    cells = column.tolist()
    ends = np.append(starts[1:], len(cells)).tolist()
    for i in np.flatnonzero(wanted & np.logical_or.reduceat(given & counted, starts)).tolist():
        parts = [part for cell in cells[starts[i] : ends[i]] for part in str(cell).split("; ") if part]
        out[i] = "; ".join(dict.fromkeys(parts))
    return out
