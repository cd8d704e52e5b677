"""Texts whose cells list entities, as one row per entity with its place counted from 0, and the texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers import entities, offsets
from evalbench.readers.finding import column_of, is_text
from evalbench.readers.renames import within
from evalbench.readers.role_names import plain, roles
from evalbench.readers.roles import READ_AS

if TYPE_CHECKING:
    import pandas as pd

IDS = ("id", "doc_id")
_USUAL = (("", ""), ("start", "end"), ("start_offset", "end_offset"))


def texts_in(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per row of a frame: the id of its text (its own, else by place, or by text where several models have it) and its text.

    - ``frame``: ``id``, ``text`` and, where they are there, ``model`` and ``lang`` are put in their places.

    Raises ``BadInput`` for ids that come with several texts: all of them.
    """
    import pandas as pd

    text = column_of(frame, "text", held=is_text)
    known = {plain(str(c)): str(c) for c in reversed(list(frame.columns))}
    own = next((known[plain(name)] for name in (*IDS, *roles()["id"].names) if plain(name) in known), "")
    ids: Any
    if own:
        ids = [str(cell).strip() for cell in frame[own]]
    else:
        shared = text or ("tokens" if "tokens" in frame else "")
        places = pd.factorize(frame[shared].map(repr))[0] if "model" in frame and shared else range(len(frame))
        ids = [f"s{i + 1:05d}" for i in places]
    out = pd.DataFrame({"id": ids}, index=frame.index)
    inner = within(frame, "data.text") if not text else None  # as Label Studio exports what it showed
    if text or inner is not None:
        out["text"] = frame[text] if text else inner
        differ = out["text"].map(repr) != out.groupby("id")["text"].transform("first").map(repr)
        if differ.any():
            head = f"column {own or text}: these ids come with several texts:"
            raise BadInput.listing(head, (f"{ids[k]} (row {row})" for k, row in enumerate(out.index) if differ.iloc[k]))
    said = [f"column {c} was read as {name}" for c, name in ((text, "text"), (own, "id")) if c and c != name]
    said += [] if own else ["no column id: texts were numbered in their order"]
    out.attrs["notes"] = said
    return out


def without_nulls(columns: Mapping[str, pd.Series], table: str) -> None:
    """Refuse cells that are no lists of entities: all of them, with their rows."""
    faults = []
    for name, cells in columns.items():
        for row, cell in cells.items():
            if not isinstance(cell, list):
                null = cell is None or cell != cell
                faults.append(
                    f"row {row}: {name} is {'null; write [] where there are no entities' if null else 'not a list'}"
                )
                continue
            wrong = (one for one in cell if entities.entity_of(one) is None)
            faults += [
                f"row {row}: {str(one)[:60]} in {name} is not an entity with start, end and class" for one in wrong
            ]
    if faults:
        raise BadInput.listing(f"{table}: true and predicted entities:" if len(columns) > 1 else f"{table}:", faults)


def rows_of(cells: pd.Series, shared: pd.DataFrame, counting: offsets.Counting = offsets.OURS) -> pd.DataFrame:
    """One row per entity that cells list: its place, class and string where they are said, and the columns of ``shared``."""
    import pandas as pd

    given = list(zip(*(shared[c] for c in shared.columns), strict=True))
    rows, places = [], []
    for row, own, cell in zip(cells.index, given, cells, strict=True):
        for one in map(entities.entity_of, cell):
            if one is None:
                raise ValueError(f"row {row}: not an entity")
            ends = (one.start, one.end)
            if all(isinstance(end, int) for end in ends):
                ends = counting.moved(*ends)
            rows.append((*own, *ends, one.kind, one.words))
            places.append(row)
    columns = [*shared.columns, "start", "end", "entity_class", "entity"]
    return pd.DataFrame(rows, columns=columns, index=pd.Index(places), dtype=object)


class Counted(NamedTuple):
    """How the places of columns are counted, and what is said of those that are not counted as ours are."""

    ways: dict[str, offsets.Counting]
    notes: list[str]


def countings(columns: Mapping[str, pd.Series], texts: Sequence[Any], documented: Collection[str]) -> Counted:
    """How the places of each column are counted: as its keys say, as the texts show, or as documented of its name; else asked.

    - ``columns``: The first has the true entities, by which those of a model are read that keep to no way of counting.
    - ``texts``: Of each row; None where there is none.

    Raises ``BadInput``: The question, where nothing tells.
    """
    ways: dict[str, offsets.Counting] = {}
    notes: list[str] = []
    for name, cells in columns.items():
        found = [(entities.entity_of(each), text) for cell, text in zip(cells, texts, strict=True) for each in cell]
        known = [(one, text if isinstance(text, str) else "") for one, text in found if one]
        keys = sorted({one.names for one, _ in known}) or [("", "")]
        first = next(iter(ways.values()), None)
        way, note = counted(name, keys[0], entities.placed(known), first, name in documented and keys[0] in _USUAL)
        ways[name] = way
        notes += note
    return Counted(ways, notes)


def counted(
    what: str, names: tuple[str, str], places: Sequence[offsets.Place], first: offsets.Counting | None, documented: bool
) -> tuple[offsets.Counting, list[str]]:
    """How places are counted, and a note where it is not as ours are; see :func:`countings`.

    - ``names``: Of the columns or keys of both ends.
    - ``first``: How those before them are counted.
    """
    if named := offsets.said_by(names):
        return named, [f"places of {what} are counted {named}, as {names[0]} and {names[1]} say"]
    shown = offsets.shown_by(places)
    if shown is None and first is not None and offsets.likeliest(places) == first:
        shown = first
    if shown is None and places and not documented:
        offsets.refuse(what, names if all(names) else (f"the first number of {what}", "the second"))
    way = shown or offsets.OURS
    return way, [] if way == offsets.OURS else [f"places of {what} are counted {way}, as the texts show"]


def in_columns(frame: pd.DataFrame, texts: pd.DataFrame | None, what: str) -> pd.DataFrame:
    """A row per span, its ends counted from 0 with the end outside, where its columns have other names than ours; as it is else.

    - ``texts``: With ``id`` and ``text``; None where there are none, or spans have their text beside them.

    Raises ``BadInput``: The question, where neither names nor texts tell how places are counted.
    """
    import pandas as pd

    sources = {own: source for source, own in frame.attrs.get(READ_AS, {}).items() if own in ("start", "end")}
    sources |= {
        own: str(name)
        for name in frame.columns
        for own, names in (("start", offsets.START), ("end", offsets.END))
        if name in names
    }
    held = frame.rename(columns={source: own for own, source in sources.items() if source in frame})
    if not sources or not {"start", "end", "id"} <= set(held.columns):
        return frame
    own = column_of(held, "text", held=is_text)
    known = texts.set_index("id")["text"] if texts is not None and {"id", "text"} <= set(texts.columns) else None
    said = held[own] if own and known is None else held["id"].map(known.to_dict() if known is not None else {})
    ends = [[_whole(cell) for cell in held[side]] for side in ("start", "end")]
    words = held["entity"] if "entity" in held else [""] * len(held)
    places = [
        offsets.Place(start, end, text if isinstance(text, str) else "", word if isinstance(word, str) else "")
        for start, end, text, word in zip(*ends, said, words, strict=True)
        if start is not None and end is not None
    ]
    way, notes = counted(what, (sources.get("start", "start"), sources.get("end", "end")), places, None, False)
    moved = {"start": (ends[0], -way.first), "end": (ends[1], way.inside - way.first)}
    out = held.assign(**{
        side: pd.Series([cell if number is None else number + by for cell, number in zip(held[side], numbers, strict=True)], held.index, dtype=object)
        for side, (numbers, by) in moved.items()
    })  # fmt: skip
    out.attrs = {**frame.attrs, "notes": [*frame.attrs.get("notes", ()), *notes]}
    return out


def _whole(cell: Any) -> int | None:
    """A whole number, also as a text; None for anything else, which the schema refuses."""
    if isinstance(cell, str) and cell.strip().isdecimal():
        return int(cell)
    return (
        int(cell)
        if isinstance(cell, (int, float)) and not isinstance(cell, bool) and cell == cell and cell == int(cell)
        else None
    )
