"""Columns under names that others use, read as those of a study: by what they hold, with a note, the same for all studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from evalbench.readers.renames import nested_names, within
from evalbench.readers.role_names import RIGHT_OR_SAID, fit, plain, role_of
from evalbench.readers.role_values import first_cells, holds, is_number
from evalbench.readers.schema import TRIAL, Column, Table
from evalbench.readers.side_by_side import beside
from evalbench.readers.wide import answers_as_rows

if TYPE_CHECKING:
    import pandas as pd

READ_AS = "read_as"
"""In the ``attrs`` of a frame: its columns of other names, and the columns of the study that they were read as."""


def noted(
    frame: pd.DataFrame, before: pd.DataFrame, found: Mapping[str, str], said: Sequence[str] = ()
) -> pd.DataFrame:
    """A frame whose ``attrs`` hold those of another, what its columns were read as, and a note of each."""
    said = said or [f"column {source} was read as {column}" for source, column in found.items() if source != column]
    held = {**before.attrs.get(READ_AS, {}), **found}
    frame.attrs |= {**before.attrs, READ_AS: held, "notes": [*before.attrs.get("notes", ()), *said]}
    return frame


# -- names of others ------------------------------------------------------------------------------


SURE, PERHAPS = (0, 1), (0, 1, 2)
"""How well a name fits: its own or a synonym; or one that only may mean a column."""


def named(
    frames: Mapping[str, pd.DataFrame],
    schema: Mapping[str, Table],
    renames: Mapping[str, str],
    tiers: Sequence[int] = PERHAPS,
) -> dict[str, pd.DataFrame]:
    """The frames of a study, their columns of other names read as its own; see :func:`with_roles`."""
    held = held_by_others(frames, schema)
    varied = any(table.column("augmentation") for table in schema.values())
    return {
        name: _read(frame, schema[name], renames, held, varied, tiers) if name in schema else frame
        for name, frame in frames.items()
    }


def _read(
    frame: pd.DataFrame,
    table: Table,
    renames: Mapping[str, str],
    held: Sequence[Column],
    varied: bool,
    tiers: Sequence[int],
) -> pd.DataFrame:
    """One frame: several columns of answers as rows, other names as those of the study.

    - ``varied``: Whether the study's ``adapt`` reads what stands beside a changed question itself.
    """
    if varied and beside(list(map(str, frame.columns))):
        return frame
    out = with_roles(frame, table, renames, held, tiers)
    long, found, said = answers_as_rows(out, table, renames)
    return noted(long, out, found, said) if found else out


def held_by_others(frames: Mapping[str, pd.DataFrame], schema: Mapping[str, Table]) -> list[Column]:
    """Columns of tables that are not given, which another table may have."""
    absent = [table for name, table in schema.items() if name not in frames]
    return [column for table in absent for column in table.columns if f"a column {column.name} of" in table.help]


def with_roles(
    frame: pd.DataFrame,
    table: Table,
    renames: Mapping[str, str],
    held: Iterable[Column] = (),
    tiers: Sequence[int] = PERHAPS,
) -> pd.DataFrame:
    """A raw frame whose columns of other names have those of a study, where one alone fits, noted in ``attrs``.

    Names that are surely meant go first, those that may be meant (``result`` for an answer) last, and only where the values
    agree; values within objects count under their paths (``outputs.answer``).

    - ``renames``: What the user renames; their sources and targets are left alone.
    - ``held``: Columns of other tables that this one may have.
    - ``tiers``: How well names must fit.
    """
    if frame.columns.has_duplicates:
        return frame
    before = [str(c).strip() for c in frame.columns]
    frame = _instructed(frame, table, renames)
    names = {str(c).strip(): c for c in frame.columns}
    inner = {path: own for path in nested_names(frame) if (own := within(frame, path)) is not None}
    cells = {name: frame[column] for name, column in names.items()} | inner
    own_names = {c.name for c in table.columns}
    known = [*table.columns, *(column for column in held if column.name not in own_names)]
    found = predicted_labels(cells, known, renames) or right_answers(before, known, renames)
    open_to_adapt = right_alone(before, known, renames)
    gone = [name for name in found if name in own_names]
    clocks = [
        c.name for c in table.columns if c.type == "ts" and c.name in cells and not holds(cells[c.name], c, 0, cells)
    ]
    absent = [c for c in known if c.name not in names or c.name in clocks]
    wanted = [c for c in known if c.name in gone or (c in absent and c.name not in renames.values())]
    free = [n for n in cells if table.column(n) is None and n not in renames and n not in open_to_adapt]
    for tier in tiers:
        fitting = {
            column: [
                n for n in free if n not in found and fit(n, column) == tier and holds(cells[n], column, tier, cells)
            ]
            for column in wanted
            if column.name not in found.values()
        }
        found |= _told_apart(_numbered(fitting, cells), found)
    if not found:
        return frame
    passed = [names[name] for name in clocks if name in found.values() and name in names]
    renamed = frame.drop(columns=passed).rename(
        columns={names[source]: column for source, column in found.items() if source in names}
    )
    renamed = renamed.assign(**{column: inner[source] for source, column in found.items() if source not in names})
    return noted(renamed, frame, found)


def _numbered(fitting: Mapping[Column, Sequence[str]], cells: Mapping[str, pd.Series]) -> dict[str, Sequence[str]]:
    """Column → the names that fit it; runs that are numbered are trials, and no systems."""
    trials = {n for column, names in fitting.items() if column.name == TRIAL for n in names}
    numbered = {n for n in trials if all(map(is_number, first_cells(cells[n])))}
    return {c.name: [n for n in names if n not in numbered] if c.groups else names for c, names in fitting.items()}


def _told_apart(fitting: Mapping[str, Sequence[str]], found: Mapping[str, str]) -> dict[str, str]:
    """Which column each name is read as, where one alone is left for it: of an agent and a run, which may both be the model, one is the trial.

    - ``fitting``: Column → the names that fit it.
    - ``found``: What was found before.
    """
    new: dict[str, str] = {}
    while True:
        taken = {**found, **new}
        left = {c: [n for n in names if n not in taken] for c, names in fitting.items() if c not in taken.values()}
        column = next((c for c, names in left.items() if len(names) == 1), None)
        if column is None:
            return new
        new[left[column][0]] = column


def _instructed(frame: pd.DataFrame, table: Table, renames: Mapping[str, str]) -> pd.DataFrame:
    """A raw frame whose instruction and input (Alpaca's) together are the question."""
    names = {plain(str(c)): c for c in frame.columns}
    question = next((c for c in table.columns if (role := role_of(c)) is not None and role.name == "question"), None)
    parts = [names[name] for name in ("instruction", "input") if name in names]
    held = {str(c).strip() for c in frame.columns} | {*renames, *renames.values()}
    if question is None or len(parts) != 2 or question.name in held or {str(p).strip() for p in parts} & {*renames}:
        return frame
    first, second = (frame[part].map(lambda cell: cell.strip() if isinstance(cell, str) else "") for part in parts)
    out = frame.drop(columns=parts[1:]).assign(
        **{str(parts[0]): [f"{a}\n{b}".strip() for a, b in zip(first, second, strict=True)]}
    )
    out = out.rename(columns={parts[0]: question.name})
    said = f"columns {parts[0]} and {parts[1]} together were read as {question.name}"
    return noted(out, frame, dict.fromkeys(map(str, parts), question.name), [said])


_MOST_KINDS = 50
_PREDICTED = frozenset({
    "predicted", "pred", "y pred", "y hat", "prediction", "predicted label", "pred label", "predicted class", "model label", "model prediction",
    "предсказание", "предсказанная метка", "предсказанный класс", "预测", "预测标签",
})  # fmt: skip
_TRUE = frozenset({
    "label", "true label", "y true", "gold label", "gold", "target", "actual", "true", "class", "true class", "ground truth", "category",
    "метка", "истинная метка", "класс", "真实标签", "标签",
})  # fmt: skip


def predicted_labels(
    cells: Mapping[str, pd.Series], known: Sequence[Column], renames: Mapping[str, str]
) -> dict[str, str]:
    """The column of what a model predicted as the answer and that of what is true as the reference, where both hold the same labels."""
    by_role = {role.name: column.name for column in known if (role := role_of(column)) is not None}
    own = [by_role.get("answer"), by_role.get("reference")]
    free = [name for name in cells if name not in renames]
    sides = [[name for name in free if plain(name) in words] for words in (_PREDICTED, _TRUE)]
    if None in own or {*own} & {*cells, *renames.values()} or [len(side) for side in sides] != [1, 1]:
        return {}
    said, true = ({*map(str, first_cells(cells[side[0]]))} for side in sides)
    return {sides[0][0]: str(own[0]), sides[1][0]: str(own[1])} if said & true else {}


def are_labels(read_as: Mapping[str, str], answers: Iterable[str | None]) -> bool:
    """Whether answers are labels that a model predicted: by what was read as what, and since a few short ones repeat."""
    named = {target: plain(source) for source, target in read_as.items()}
    given = [answer for answer in answers if answer]
    kinds = {*given}
    few = len(kinds) * 1.5 <= len(given) and len(kinds) <= _MOST_KINDS and all(len(k.split()) <= 3 for k in kinds)
    return few and named.get("answer") in _PREDICTED and named.get("reference") in _TRUE


def right_answers(names: Iterable[str], known: Sequence[Column], renames: Mapping[str, str]) -> dict[str, str]:
    """The column called answer, or Alpaca's output, as the reference: another one is plainly what a model says, and none is right.

    Where the study itself calls answers so, only if it says that right ones may have the name too.
    """
    given = [name for name in names if name not in renames]
    by_role = {role.name: column for column in known if (role := role_of(column)) is not None}
    said, right = by_role.get("answer"), by_role.get("reference")
    if said is None or right is None or {said.name, right.name} & {*renames.values()}:
        return {}
    alpaca = {"instruction", "input", "output"} <= {plain(name) for name in given}
    called = (
        [name for name in given if plain(name) == "output"]
        if alpaca
        else [n for n in given if plain(n) in RIGHT_OR_SAID]
    )
    if len(called) != 1 or any(fit(name, right) in (0, 1) for name in given):
        return {}
    if called[0] == said.name and not alpaca and called[0] not in right.perhaps:
        return {}
    others = [name for name in given if name not in called and fit(name, said) in ((0, 1, 2) if alpaca else (0, 1))]
    return {called[0]: right.name} if len(others) == 1 else {}


def right_alone(names: Iterable[str], known: Sequence[Column], renames: Mapping[str, str]) -> list[str]:
    """The column called answer beside no model and no other answer, where a study needs right answers and may ask a model: they are those.

    A study's ``adapt`` reads it, as published sets of problems have it.
    """
    given = [name for name in names if name not in renames]
    by_role = {role.name: column for column in known if (role := role_of(column)) is not None}
    said, right, model = (by_role.get(name) for name in ("answer", "reference", "model"))
    if (
        said is None
        or right is None
        or said.required
        or not right.required
        or {*renames.values()} & {said.name, right.name}
    ):
        return []
    called = [name for name in given if plain(name) == "answer"]
    others = [n for n in given if n not in called and any(fit(n, c) in (0, 1) for c in (said, right))]
    named = model is not None and any(fit(name, model) in (0, 1) for name in given)
    return [] if others or named else called
