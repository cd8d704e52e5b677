"""Other forms of true and predicted violations as the tables of the study, with a note for each guess."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, readers
from evalbench.studies.matching import names, unread
from evalbench.studies.matching.listed import unfolded

_WHAT = (*unread.PLACES, "rule", "category", "explanation", "correction")
_TABLES = {"truth": names.TRUE_LISTS, "predictions": names.FOUND_LISTS}


def violations_of(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Tables ``truth``, ``predictions`` and ``documents`` of whatever form they have.

    Raises ``BadInput`` for lists that are in no form that is read, and columns of which either could tell truth from
    predictions.
    """
    out = dict(frames)
    if "truth" not in out and "documents" in out and _list_of(out["documents"], names.TRUE_LISTS):
        out["truth"] = out.pop("documents")
    if "truth" not in out or any(frame.columns.has_duplicates for frame in out.values()):
        return out
    out |= {name: _of_former_names(frame, name) for name, frame in out.items()}
    notes: dict[str, list[str]] = {name: list(frame.attrs.get("notes", ())) for name, frame in out.items()}
    for name in out:
        if name in (*_TABLES, "documents"):
            out[name] = _own_names(out[name], name, "documents" in frames, notes[name])
    if "predictions" not in out:
        true = _list_of(out["truth"], names.TRUE_LISTS, but=_list_of(out["truth"], names.FOUND_LISTS[:-2]))
        found = _list_of(out["truth"], names.FOUND_LISTS, but=true)
        if not (true and found) and (sides := _sides(out["truth"])):
            true, found = sides
        if true and found:
            unread.refuse_answers(out["truth"], true, found)
            _unfold_both(out, true, found, notes)
        else:
            column = "" if {"rule", *unread.PLACES} & set(out["truth"].columns) else true or found
            if column:
                out["truth"] = _named(out["truth"], "text" if "text" in out["truth"] else "", notes["truth"])
            _parted(out, notes)
            if "predictions" not in out:
                unread.refuse_unread(out["truth"], column)
                if column:
                    _unfold(out, "truth", column, notes)
    for name, lists in _TABLES.items():
        if name not in out or {"rule", *unread.PLACES} & set(out[name].columns):
            continue
        if column := _list_of(out[name], lists) or _list_of(out[name], names.TRUE_LISTS):
            _unfold(out, name, column, notes)
    _texts_and_samples(out, notes)
    for name in _TABLES:
        if name in out:
            out[name] = _numbered(out[name], name, notes.setdefault(name, []), out.get("truth"))
    for name, said in notes.items():
        if name in out and said:
            out[name] = out[name].copy(deep=False)
            out[name].attrs["notes"] = list(dict.fromkeys(said))
    return out


def _of_former_names(frame: pd.DataFrame, table: str) -> pd.DataFrame:
    """Columns ``sample_id`` and ``checker`` as ``id`` and ``model``, whatever has these names beside them.

    An ``id`` of each row, beside that of its text, is the violation's.
    """
    columns = {str(c).strip() for c in frame.columns}
    if {"id", "sample_id"} <= columns and "violation_id" not in columns and table in _TABLES and len(frame) > 1:
        placed = any(names.known(columns, own) for own in ("rule", *unread.PLACES))
        if placed and not frame["id"].map(repr).duplicated().any():
            said = ["column id was read as violation_id (--map COLUMN=violation_id takes another)"]
            renamed = frame.rename(columns={"id": "violation_id"})
            frame = readers.roles.noted(renamed, frame, {"id": "violation_id"}, said)
    former = {"sample_id": "id", **({} if table == "truth" else {"checker": "model"})}
    return readers.former.under_new_names(frame, former)


def _checker_of(columns: Iterable[str]) -> str:
    """The column of checkers; empty without one."""
    return names.known(columns, "checker") or names.known(columns, "model")


def _own_names(frame: pd.DataFrame, table: str, texts: bool, notes: list[str]) -> pd.DataFrame:
    """The columns that others name otherwise under our names."""
    renamed = {}
    for own in names.OTHERS:
        if own == "model" and table != "predictions":
            continue
        if own in ("text", "lang") and texts and table != "documents":
            continue
        found = names.known(frame.columns, own)
        if found and found != own and own not in frame and found not in renamed:
            renamed[found] = own
            notes.append(f"column {found} was read as {own} (--map COLUMN={own} takes another)")
    return frame.rename(columns=renamed)


def _list_of(frame: pd.DataFrame, wanted: Sequence[str], but: str = "") -> str:
    lowered = {str(c).strip().casefold(): str(c) for c in frame.columns}
    return next((lowered[n] for n in wanted if n in lowered and lowered[n] != but), "")


def _sides(frame: pd.DataFrame) -> tuple[str, str] | None:
    """The columns that list true and predicted violations as objects, as their names tell."""
    listing = [
        str(name)
        for name in frame.columns
        if (cells := [cell for cell in frame[name] if isinstance(cell, list) and cell])
        and all(isinstance(one, Mapping) and names.known(one, "rule", names.WITHIN) for cell in cells for one in cell)
    ]
    sides = readers.sides.sides_of(listing, "violations", ("true_violations", "found_violations"))
    return (sides.true, sides.found[0]) if sides and len(sides.found) == 1 else None


# -- one row per text ------------------------------------------------------------------------------


def _unfold_both(out: dict[str, pd.DataFrame], true: str, found: str, notes: dict[str, list[str]]) -> None:
    frame = out["truth"]
    checker = _checker_of(frame.columns)
    if checker and checker != "model":
        notes["truth"].append(f"column {checker} was read as model (--map COLUMN=model takes another)")
    frame = _named(frame, checker, notes["truth"])
    said: list[str] = [f"{names.BY_TEXT}: true violations of {true}, predicted ones of {found}"]
    once = frame[~frame.assign(_=frame[true].map(repr)).duplicated(["id", "_"])] if checker else frame
    if checker and once["id"].duplicated().any():
        wrong = sorted(once.loc[once["id"].duplicated(), "id"].astype(str).unique())
        raise errors.BadInput.listing(
            "truth: texts with other true violations in the rows of another checker:", [f"sample {i}" for i in wrong]
        )
    out["truth"], way = unfolded(once, true, "truth", "", said)
    predictions, _ = unfolded(frame, found, "predictions", checker, said, way)
    systems = _systems(predictions, frame, checker)
    out["predictions"] = predictions
    out["predictions"].attrs[readers.schema.SYSTEMS] = systems
    notes["truth"] += said
    _documents(out, frame)


def _unfold(out: dict[str, pd.DataFrame], table: str, column: str, notes: dict[str, list[str]]) -> None:
    checker = _checker_of(out[table].columns) if table == "predictions" else ""
    frame = _named(out[table], checker, notes.setdefault(table, []))
    said = [f"{names.BY_TEXT}: its violations are those of {column}"]
    out[table], _ = unfolded(frame, column, table, checker, said)
    if table == "predictions":
        out[table].attrs[readers.schema.SYSTEMS] = _systems(out[table], frame, checker)
    notes[table] += said
    _documents(out, frame)


def _systems(predictions: pd.DataFrame, texts: pd.DataFrame, checker: str) -> tuple[str, ...]:
    """All checkers, also those that list nothing in any text."""
    listed = predictions["model"].dropna() if "model" in predictions else ()
    named = [*(texts[checker] if checker else ()), *predictions.attrs.get(readers.schema.SYSTEMS, ()), *listed]
    return tuple(dict.fromkeys(str(name) for name in named)) or (names.NOT_NAMED,)


def _named(frame: pd.DataFrame, checker: str, notes: list[str]) -> pd.DataFrame:
    """Rows of texts with their ids: a column of them, or numbers; equal texts share one where checkers do."""
    if "id" in frame:
        return frame
    own = next((str(c) for c in frame if str(c).strip().casefold() in ("id", "№", "номер")), "")
    if own:
        notes.append(f"column {own} was read as id (--map COLUMN=id takes another)")
        return frame.rename(columns={own: "id"})
    if checker and "text" in frame:
        numbers: Any = pd.factorize(frame["text"].map(repr))[0]
        notes.append("no column id: texts were numbered, equal texts share a number")
    else:
        numbers = range(len(frame))
        notes.append("no column id: texts were numbered in their order")
    return frame.assign(id=[f"s{i + 1:04d}" for i in numbers])


def _documents(out: dict[str, pd.DataFrame], frame: pd.DataFrame) -> None:
    if "documents" not in out and "text" in frame:
        columns = ["id", "text", *(["lang"] if "lang" in frame else [])]
        out["documents"] = frame[columns].drop_duplicates(["id", "text"])


# -- one table of both sides -----------------------------------------------------------------------


def _parted(out: dict[str, pd.DataFrame], notes: dict[str, list[str]]) -> None:
    """Rows that a column tells to be true or predicted as two tables."""
    frame = out["truth"]
    lowered = {str(c).strip().casefold(): str(c) for c in frame.columns}
    candidates = [lowered[n] for n in ((names.SIDE,) if names.SIDE in lowered else names.SIDES) if n in lowered]
    telling = [c for c in candidates if _tells(frame[c])]
    first = ""
    if (
        not telling
        and names.SIDE in lowered
        and (people := sorted({*frame[lowered[names.SIDE]].map(_word)} - {""}))
        and len(people) > 1
    ):
        telling, first = [lowered[names.SIDE]], people[0]
        notes["truth"].append(
            f"no word of column {names.SIDE} says which rows are the truth: {first} was taken for it, {', '.join(people[1:4])} for "
            f"{'a checker' if len(people) == 2 else 'checkers'}; the other way round precision and recall change places, F1 is the same"
        )
    if not telling:
        return
    if len(telling) > 1:
        options = " or ".join(f"--map '{c}={names.SIDE}'" for c in telling)
        raise errors.BadInput(
            f"truth: columns {' and '.join(telling)} each tell truth from predictions: which does? ({options})"
        )
    column = telling[0]
    cells = frame[column].map(_word)
    true = cells == first if first else cells.isin(names.TRUE_WORDS)
    truth, predictions = frame[true].drop(columns=column), frame[~true]
    words = predictions[column].map(_word)
    known = (lowered.get(n, "") for n in ("checker", "model", *names.OTHERS["model"]))
    checker = next((c for c in known if c and c != column), "")
    if checker:
        predictions = predictions.drop(columns={column, *({"model"} & {*predictions.columns} - {checker})})
        predictions = predictions.rename(columns={checker: "model"})
        truth = truth.drop(columns=checker)
    elif words.isin(names.FOUND_WORDS).all():
        predictions = predictions.drop(columns=column)
    else:
        predictions = predictions.rename(columns={column: "model"})
    systems = tuple(predictions["model"].astype(str).unique()) if "model" in predictions else (names.NOT_NAMED,)
    named = ", ".join(sorted(frame.loc[true, column].astype(str).unique()))
    notes["truth"].append(
        f"column {column} tells true violations ({named}: {core.counted(int(true.sum()), 'row')}) from predicted ones "
        f"({core.counted(int((~true).sum()), 'row')}); it was read as both tables (--map COLUMN={names.SIDE} takes another)"
    )
    if "documents" not in out and "text" in frame and "id" in frame:
        out["documents"] = _distinct_texts([frame])
    if "documents" in out and "text" in truth and "id" in truth:
        truth, predictions = _without_clean(truth, notes["truth"]), _without_clean(predictions, notes["truth"])
    predictions.attrs[readers.schema.SYSTEMS] = systems
    out |= {"truth": truth, "predictions": predictions}


def _tells(cells: pd.Series) -> bool:
    words = set(cells.map(_word))
    return bool(words & names.TRUE_WORDS) and bool(words - names.TRUE_WORDS - {""})


def _word(cell: Any) -> str:
    return cell.strip().casefold() if isinstance(cell, str) else "" if cell is None or cell != cell else str(cell)


def _without_clean(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Rows that name a text and no violation: the text has none."""
    blank = np.full(len(frame), bool({*_WHAT} & set(frame.columns)))
    for column in (c for c in ("rule", "violation_id", *_WHAT) if c in frame):
        rows = np.flatnonzero(blank)
        cells = frame[column].iloc[rows]
        blank[rows] = (cells.isna() | cells.astype(str).str.strip().isin(["", "[]"])).to_numpy()
    if not blank.any():
        return frame
    n = int(blank.sum())
    notes.append(f"{core.counted(n, 'row')} without rule, place and passage {'is' if n == 1 else 'are'} {names.CLEAN}")
    return frame[~blank]


# -- ids and texts ---------------------------------------------------------------------------------


def _texts_and_samples(out: dict[str, pd.DataFrame], notes: dict[str, list[str]]) -> None:
    """Ids of texts that are written out in each row instead, and the texts as a table where predictions name further ones."""
    sides = [name for name in _TABLES if name in out]
    lacking = [name for name in sides if "id" not in out[name]]
    if lacking and len(lacking) == len(sides) and all("text" in out[name] for name in sides) and "documents" not in out:
        codes = pd.factorize(pd.concat([out[name]["text"] for name in sides]).map(repr))[0]
        for name in sides:
            own_codes, codes = codes[: len(out[name])], codes[len(out[name]) :]
            out[name] = out[name].assign(id=[f"s{i + 1:04d}" for i in own_codes])
            notes.setdefault(name, []).append("no column id: rows of equal text are of one sample")
    if "documents" not in out and len(sides) == 2 and all({"text", "id"} <= set(out[n].columns) for n in sides):
        out["documents"] = _distinct_texts([out[name] for name in sides])
    if "documents" in out:
        for name in sides:
            systems = out[name].attrs.get(readers.schema.SYSTEMS) or (
                tuple(out[name]["model"].astype(str).unique()) if name == "predictions" and "model" in out[name] else ()
            )
            out[name] = _without_clean(out[name], notes.setdefault(name, [])).drop(columns="text", errors="ignore")
            out[name].attrs |= {readers.schema.SYSTEMS: systems} if systems else {}


def _distinct_texts(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    texts = pd.concat([f[["id", "text", *(["lang"] if "lang" in f else [])]] for f in frames])
    return texts.drop_duplicates(["id", "text"])


def _names_checkers(frame: pd.DataFrame, column: str, truth: pd.DataFrame | None) -> bool:
    """Whether a column names who found a violation, rather than where a text comes from."""
    if column.strip().casefold() in names.WHO:
        return True
    if truth is not None and column in truth and set(truth[column].map(_word)) <= names.TRUE_WORDS:
        return True
    if "id" not in frame:
        return False
    return bool((frame[column].map(_word).groupby(frame["id"].map(repr)).nunique() > 1).any())


def _numbered(frame: pd.DataFrame, table: str, notes: list[str], truth: pd.DataFrame | None) -> pd.DataFrame:
    """Violations with ids, and predictions with a checker."""
    if table == "predictions" and "model" not in frame:
        others = [
            str(c) for c in frame if str(c).strip().casefold() in names.SIDES and frame[c].map(_word).nunique() > 1
        ]
        who = next((c for c in others if _names_checkers(frame, c, truth)), None)
        if who is not None:
            notes.append(f"column {who} was read as model (--map COLUMN=model takes another)")
            return _numbered(frame.rename(columns={who: "model"}), table, notes, truth)
        frame = frame.assign(model=names.NOT_NAMED)
        notes.append(
            "no column model: all predictions were taken for those of one checker, which is not named"
            + (readers.renames.meant(others[0], "model") if others else "")
        )
    if "violation_id" in frame or "id" not in frame:
        return frame
    keys = ["id", *(["model"] if table == "predictions" else [])]
    numbers = frame.groupby([frame[key].map(repr) for key in keys], sort=False).cumcount() + 1
    whose = "each text" if table == "truth" else "each text and checker"
    notes.append(f"no column violation_id: violations were numbered in their order within {whose}")
    return frame.assign(violation_id=[f"{table[0]}{i}" for i in numbers])
