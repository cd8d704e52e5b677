"""A table of answers to blinded items: what the page shows, and the key that stays with the sender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from evalbench.core.seeds import rng
from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.judge.criteria import Criterion
from evalbench.readers.dataset import Dataset, checked_tables, read
from evalbench.readers.former import under_new_names
from evalbench.readers.schema import Column, Table

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

TEXTS = ("question", "contexts", "reference")
PAIR = ("truth_id", "prediction_id")
"""Of a pair of violations, beside the text's ``id`` and the checker, ``model``."""
OF_PAIRS = {"sample_id": "id", "checker": "model", "is_match": "mark"}
"""What columns of pairs were called before, beside an ``id`` and a ``model`` of each item's own, and are called now."""
KEPT = (*PAIR, "probability", "stratum")
"""Columns that never reach the page, and that ``label merge --key`` sets beside each label."""
SIDES = ("left", "right")
_SIDES = {"output_a": "answer_a", "output_b": "answer_b"}
_TEXT: Any = {"required": False, "empty_ok": True}
_ANSWER: Any = {**_TEXT, "keep_null": True}
SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("id", "id"),
            Column("model", "id", groups=True, required=False, help="whose answer it is; goes into the key alone"),
            Column("question", "text", former=("prompt",), **_TEXT, help="what was asked"),
            Column("contexts", "texts", former=("context",), **_TEXT, help="what the answer was to rest on"),
            Column("reference", "texts", **_TEXT, help="the right answer, or several"),
            Column("answer", "text", former=("output",), **_ANSWER, help="the answer that is marked"),
            Column("answer_a", "text", **_ANSWER, help="side by side: one answer"),
            Column("answer_b", "text", **_ANSWER, help="and the other"),
            Column("model_a", "id", required=False),
            Column("model_b", "id", required=False),
            *(Column(name, "id", required=False) for name in PAIR),
            Column("probability", "float", required=False, low=0, high=1, help="with which a plan drew the item"),
            Column("stratum", "text", **_TEXT),
        ),
        help="one row per answer to be labelled",
    )
}


@dataclass(frozen=True)
class Item:
    """What an annotator sees at once.

    - ``id``: Under which it is labelled.
    - ``texts``: Those of :data:`TEXTS` that it has.
    - ``answers``: One, or two side by side.
    - ``key``: Its ``id`` and ``model`` in the table, of two answers ``left`` and ``right``; and of :data:`KEPT` what it
      has.
    """

    id: str
    texts: Mapping[str, str]
    answers: tuple[str, ...]
    key: Mapping[str, Any]


@dataclass(frozen=True)
class Items:
    """The items of one page, in the order in which they are shown.

    - ``opaque``: Whether ids of the page are its own, so that labels can only be read with the key.
    """

    items: tuple[Item, ...]
    opaque: bool
    notes: tuple[str, ...]


def read_items(
    source: str | Path,
    criterion: Criterion,
    *,
    columns: Mapping[str, str] | None = None,
    side_by_side: bool = False,
    seed: int = 0,
    shuffle: bool = True,
    root: Path | None = None,
) -> Items:
    """The items of a table.

    - ``source``: A file, a folder, or ``name@version``.
    - ``columns``: Column of the file → column that we expect.
    - ``side_by_side``: Whether two answers are compared: those of each two models to one id, or ``answer_a`` and
      ``answer_b``.
    - ``shuffle``: Whether items come in a random order, so that none is judged by its neighbours; else in that of the
      table.
    - ``root``: The workbench.

    Raises ``BadInput``: With all faults at once.
    """
    raw = read(str(source), SCHEMA, root=root)
    frames = {name: _as_now(frame, columns or {}) for name, frame in raw.frames.items()}
    data = checked_tables(replace(raw, frames=frames), SCHEMA, columns=columns)
    frame, notes = _with_answers(data, side_by_side)
    faults = [*_basis_faults(frame, criterion), *([] if side_by_side else _doubled(frame))]
    if faults:
        raise BadInput.listing(f"{source}: cannot be labelled:", faults)
    made = _pairs(frame, seed) if side_by_side else _singles(frame)
    if not made:
        raise BadInput(
            f"{source}: nothing to label: {'no id has answers of two models' if side_by_side else 'no answer'}"
        )
    unlabelled, found = _blinded(made, seed)
    order = rng(seed, "label/order").permutation(len(made)) if shuffle else range(len(made))
    ordered = tuple(unlabelled[i] for i in order)
    unused = tuple(name for name in data.unused.get("items", ()) if name)
    hidden = [f"columns that are not shown: {', '.join(unused)}"] if unused else []
    kept = [note for note in data.notes if "columns that are not used" not in note]
    return Items(ordered, unlabelled[0].id != made[0].id, (*kept, *notes, *found, *hidden))


def _as_now(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """A raw table under today's names, where it has those of plans and of other studies before."""
    there = {*frame.columns}
    former = {
        **_SIDES,
        **({"doc_id": "id"} if "id" not in there else {}),
        **(OF_PAIRS if {*PAIR, "sample_id"} <= there else {}),
    }
    asked = {*columns, *columns.values()}
    return under_new_names(frame, {old: new for old, new in former.items() if not asked & {old, new}})


def _with_answers(data: Dataset, side_by_side: bool) -> tuple[pd.DataFrame, list[str]]:
    """The rows that have an answer, in the long form."""
    import pandas as pd

    frame = data["items"].reset_index(drop=True)
    wide = {"answer_a", "answer_b"} <= set(frame.columns)
    if side_by_side and wide:
        rest = frame.drop(columns=[c for c in ("answer", "model") if c in frame])
        parts = [
            rest.assign(answer=frame[f"answer_{side}"], model=frame.get(f"model_{side}", side)) for side in ("a", "b")
        ]
        frame = pd.concat(parts)
    elif "answer" not in frame:
        way = "; its answers answer_a and answer_b are compared by --side-by-side" if wide else ""
        raise BadInput(f"the table has no column answer (--map COLUMN=answer){way}")
    if side_by_side and "model" not in frame:
        raise BadInput(
            "answers side by side need a column model with several answers to one id, or columns answer_a and answer_b"
        )
    absent = frame["answer"].isna()
    notes = [f"{counted(int(absent.sum()), 'row')} without an answer left out"] if absent.any() else []
    return frame[~absent].reset_index(drop=True), notes


def _doubled(frame: pd.DataFrame) -> list[str]:
    keys = [name for name in ("id", "model", *PAIR) if name in frame]
    doubled = frame[frame.duplicated(keys, keep=False)]
    if not len(doubled):
        return []
    first = ", ".join(str(doubled.iloc[0][key]) for key in keys)
    more = "" if "model" in frame else "; a column model would tell the answers apart"
    return [f"{counted(len(doubled), 'row')} share {' and '.join(keys)}, first {first}{more}"]


def _basis_faults(frame: pd.DataFrame, criterion: Criterion) -> list[str]:
    needed = {"ground_truth": ("reference",), "context": ("contexts",), "any": ("reference", "contexts")}
    columns = needed.get(criterion.needs_basis)
    if not columns or not len(frame):
        return []
    there = sum((_joined(frame[c]) != "" for c in columns if c in frame), start=frame["id"] == None)  # noqa: E711
    lacking = frame[~there.astype(bool)]
    if not len(lacking):
        return []
    return [
        f"the criterion {criterion.name!r} needs {' or '.join(columns)}: {counted(len(lacking), 'row')} without it, "
        f"first {lacking.iloc[0]['id']}"
    ]


def _joined(cells: pd.Series) -> pd.Series:
    """One text a row; several are parted by an empty line."""
    return cells.map(lambda cell: "\n\n".join(cell) if isinstance(cell, list) else cell or "")


def _singles(frame: pd.DataFrame) -> list[Item]:
    columns = {name: _joined(frame[name]).tolist() for name in TEXTS if name in frame}
    kept = {name: frame[name].tolist() for name in ("id", "model", *KEPT) if name in frame}
    return [
        Item(
            "|".join(filter(None, (kept["id"][i], *(kept[name][i] for name in PAIR if name in kept)))),
            {name: texts[i] for name, texts in columns.items() if texts[i]},
            (answer,),
            {name: values[i] for name, values in kept.items() if values[i] == values[i] and values[i] != ""},
        )
        for i, answer in enumerate(frame["answer"].tolist())
    ]


def _pairs(frame: pd.DataFrame, seed: int) -> list[Item]:
    """Each two answers to one id, the sides by the seed and the item."""
    made = []
    singles = _singles(frame)
    groups: dict[str, list[Item]] = {}
    for item in singles:
        groups.setdefault(item.id, []).append(item)
    for id_, answers in groups.items():
        models = [str(a.key["model"]) for a in answers]
        if len(set(models)) < len(models):
            raise BadInput(f"id {id_}: several answers of one model, so it cannot be said which two are compared")
        for pair in combinations(sorted(answers, key=lambda a: str(a.key["model"])), 2):
            name = "|".join((id_, *(str(a.key["model"]) for a in pair)))
            swapped = bool(rng(seed, "label/sides", name).integers(2))
            left, right = pair[::-1] if swapped else pair
            kept = {k: v for k, v in left.key.items() if k not in ("id", "model") and right.key.get(k) == v}
            key = {"id": left.key["id"], "left": left.key["model"], "right": right.key["model"], **kept}
            made.append(Item(id_, left.texts, (*left.answers, *right.answers), key))
    return made


def _blinded(made: Sequence[Item], seed: int) -> tuple[list[Item], list[str]]:
    """Items under ids that name no model and are each item's own; texts that name one are counted."""
    models = {str(item.key[name]) for item in made for name in ("model", *SIDES) if name in item.key}
    parts = {part for model in models for part in _name_parts(model)}
    ids = [item.id for item in made]
    named = any(part in id_.casefold() for id_ in set(ids) for part in parts)
    notes = []
    if named or len(set(ids)) < len(ids):
        width = len(str(len(ids)))
        places = rng(seed, "label/ids").permutation(len(ids)) + 1
        made = [Item(f"item-{n:0{width}d}", i.texts, i.answers, i.key) for n, i in zip(places, made, strict=True)]
    shown = [
        any(part in text.casefold() for text in (*item.answers, *item.texts.values()) for part in parts)
        for item in made
    ]
    if any(shown):
        notes.append(
            f"{counted(sum(shown), 'item')} of {len(made)} show a model's name in their own texts, which the page does not change"
        )
    return list(made), notes


def _name_parts(model: str) -> set[str]:
    """How a model's name may appear: whole, or without version and path."""
    short = model.split("@")[0].split("/")[-1]
    return {part.casefold() for part in (model, short) if len(part) >= 3}
