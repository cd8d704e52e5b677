"""Generations: the table's own, a row each or listed, or a model's, asked several times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.models.exchange import Reply

EXACT, CREATIVE = "exact", "creative"
TASKS = (EXACT, CREATIVE)
QUESTION = ("test_set", "id", "model")
ONE_SET = ""
"""The test set of a table that names none."""


def adapted(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """The table as it is read: columns of our names that hold something else left out, ids by questions where there are none."""
    items = frames.get("items")
    if items is None:
        return frames
    notes, items = list(items.attrs.get("notes", ())), items.copy(deep=False)
    for name, (values, what) in MEANT.items():
        if name in items:
            cells = items[name].map(_plainly)
            said = set(cells) - {""}
            if said and not said & values:
                items = items.drop(columns=name)
                notes.append(f"column {name} is not used: it does not say {what}")
            elif name == "task":
                items = items.assign(task=cells)
    names = {str(name).strip().casefold() for name in items}
    if "answer" in names and not names & {"id", "samples", "question"}:
        raise errors.BadInput(
            f"{NO_QUESTION}{readers.renames.usual('question', map(str, items)) or _that_repeat(items)}"
        )
    if "id" not in names and "samples" not in names and "question" in items and items["question"].map(_is_text).all():
        items = _named_by_questions(items)
        notes.append(NAMED_BY_QUESTION)
    items.attrs = {**frames["items"].attrs, "notes": tuple(notes)}
    return {**frames, "items": items}


def _named_by_questions(items: pd.DataFrame) -> pd.DataFrame:
    """Generations without ids, a row each: those of the same text of a question answer it."""
    numbers = pd.factorize(items["question"], sort=True)[0] + 1
    width = max(4, len(str(len(items))))
    return items.assign(id=[f"q{number:0{width}d}" for number in numbers])


def _plainly(cell: Any) -> str:
    """A raw cell in small letters; empty where there is nothing."""
    return "" if pd.api.types.is_scalar(cell) and pd.isna(cell) else str(cell).strip().casefold()


MEANT = {
    "task": ({*TASKS}, "exact or creative"),
    "correct": ({"0", "1", "0.0", "1.0", "true", "false", "yes", "no"}, "whether a generation is right (0 or 1)"),
}
"""Columns that tables of others have with another meaning, and what ours hold."""
NAMED_BY_QUESTION = (
    "no column id: rows with the same question are answers to one (--map COLUMN=id takes a column instead)"
)


NO_QUESTION = (
    "no column id or question shows which rows are answers to one question, so that none can be compared; name one"
)


def _that_repeat(items: pd.DataFrame) -> str:
    """The options for the columns that are the same in several rows and not in all."""
    kinds = {str(c): items[c].astype(str).nunique() for c in items if str(c) != "answer"}
    found = [name for name, n in kinds.items() if 1 < n < len(items)]
    return f": {' or '.join(f'--map {name}=id' for name in found)}" if found else " (--map COLUMN=id)"


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str) and bool(cell.strip())


def check_generations(data: readers.Dataset) -> None:
    """Refuse a generation that is there twice, ids of several questions, and test sets of two tasks.

    Raises
    ------
    BadInput
    """
    frame = data["items"]
    faults = []
    keys = [name for name in (*QUESTION, "trial") if name in frame]
    if "trial" in frame:
        twice = frame[frame.duplicated(keys, keep="first")].drop_duplicates(keys)
        faults = [f"{_named(row, keys)} appears more than once" for row in twice[keys].to_dict("records")]
    if "samples" in frame:
        own = [name for name in ("trial", "correct") if name in frame]
        faults += [
            f"column {name} is that of one generation, and samples lists several; give each a row" for name in own
        ]
    if "task" in frame:
        tasks = frame.assign(test_set=frame.get("test_set", ONE_SET)).groupby("test_set")["task"].nunique()
        shown = [f"test set {name}" if name else "the table" for name in tasks.index[tasks > 1]]
        faults += [f"{name} has two tasks; a column test_set names a set for each" for name in shown]
    faults += _of_several_questions(frame) + _marks_of_one(frame)
    if faults:
        raise errors.BadInput.listing("items:", faults)


def _of_several_questions(frame: pd.DataFrame) -> list[str]:
    """The fault of ids that several questions share: their answers are no repeats of one."""
    if "question" not in frame:
        return []
    asked = frame.assign(question=[" ".join(q.split()) if isinstance(q, str) else "" for q in frame["question"]])
    keys = [name for name in QUESTION if name in frame]
    several = asked[asked["question"] != ""].drop_duplicates([*keys, "question"])
    several = several[several.duplicated(keys, keep=False)]
    if several.empty:
        return []
    first = several[(several[keys] == several[keys].iloc[0]).all(axis=1)]
    one, other = (core.wording.cut(question, 40) for question in first["question"].iloc[:2])
    n, of = several["id"].nunique(), several["id"].iloc[0]
    return [
        f"ids are repeated: {core.counted(n, 'id')} of several questions each, first {of} ({one!r} and {other!r}); answers are repeats of "
        "one another only where the question is the same: --map id= goes by the questions, --map question= by the ids"
    ]


def _named(row: Mapping[Any, Any], keys: list[str]) -> str:
    return ", ".join(f"{key} {row[key]}" for key in keys)


_RATERS = {"annotator", "judge", "criterion"}
_MARKING = {*_RATERS, "mark", "score", "human", "metric"}
"""Roles of columns that say what somebody made of an answer, and not which answer it is."""


def told_apart(frame: pd.DataFrame, max_unscored: float) -> bool:
    """Whether rows of one question differ in anything but marks; else an answer was listed again, and not given again.

    A table with up to ``max_unscored`` of further generations that differ is still one of copies.  Places in a list tell generations apart.
    """
    further = int(frame.duplicated([name for name in QUESTION if name in frame]).sum())
    if "samples" in frame or not further:
        return True
    cells = frame.drop(columns=_of_roles(frame, _MARKING)).astype(str)
    return further - int(cells.duplicated().sum()) > max_unscored * further


def _of_roles(frame: pd.DataFrame, wanted: set[str]) -> list[str]:
    return [str(name) for name in frame if wanted & readers.role_names.roles_of(str(name))]


def _marks_of_one(frame: pd.DataFrame) -> list[str]:
    """The fault of rows that are several people's marks of one answer."""
    if not (raters := _of_roles(frame, _RATERS)) or told_apart(frame, kit.MAX_UNSCORED):
        return []
    marks = _of_roles(frame, _MARKING)
    return [
        f"rows of one question differ in {core.wording.listed(marks, last=' and ')} alone: they are marks of one answer, and not generations; "
        f"human_correlation compares the marks, --map {raters[0]}=trial reads them as generations all the same"
    ]


def check_there_are_answers(data: readers.Dataset, model: str) -> None:
    """Refuse a table without answers where no model is asked, and one without questions where one is.

    Raises
    ------
    BadInput
    """
    names = set(data["items"].columns)
    if not model and not names & {"answer", "samples"}:
        hint = readers.renames.usual("answer", names) or readers.renames.usual("samples", names)
        raise errors.BadInput(
            f"the table has no column answer or samples{hint}; give one, or a model to collect answers from (--model)"
        )
    if model and "question" not in names:
        raise errors.BadInput(
            "the table has no column question, which the model is asked"
            + (readers.renames.usual("question", names) or "; --map COLUMN=question takes another")
        )
    if model:
        blank = data["items"].loc[~data["items"]["question"].map(_is_text), "id"].drop_duplicates()
        if len(blank):
            raise errors.BadInput.listing("items: column question is empty:", [f"id {name}" for name in blank])


def generations_of(data: readers.Dataset, options: Mapping[str, Any]) -> tuple[pd.DataFrame, list[Reply]]:
    """One row per generation: ``test_set, id, model, task, answer, unscored`` and, where there are, ``trial, question,
    reference, correct``; in the order of their questions and trials.

    Without a column ``trial`` or lists the generations of a question have no order: they are in that of their texts.
    """
    rows = kit.sampling.sampled(data["items"], options["sample_method"], options["n_samples"], options["random_state"])
    rows = rows.assign(test_set=rows.get("test_set", ONE_SET), task=_tasks(rows, options["task"]))
    if options["model"]:
        found, replies = _collected(rows, options)
    else:
        found, replies = _given(rows.assign(model=rows.get("model", kit.collecting.UNNAMED))), []
        found = found.assign(unscored=kit.answers.why_unscored(found["answer"]))
    kept = ["test_set", "id", "model", "task", "trial", "question", "answer", "reference", "correct", "unscored"]
    found = found[[name for name in kept if name in found]]
    order = [*QUESTION, "trial" if "trial" in found else "answer"]
    return found.sort_values(order, key=_in_order, kind="stable", ignore_index=True), replies


def _in_order(column: pd.Series) -> pd.Series:
    """Numbers in the order of their size, other names by alphabet."""
    numbers = pd.to_numeric(column, errors="coerce") if column.name == "trial" else column
    return numbers if column.name == "trial" and numbers.notna().all() else column


def _tasks(rows: pd.DataFrame, task: str) -> Any:
    if task in TASKS:
        return task
    return rows.get("task", EXACT)


def tasks_of(data: readers.Dataset, task: str) -> list[str]:
    """The tasks that there are."""
    found = _tasks(data["items"], task)
    return [found] if isinstance(found, str) else sorted(set(found))


def _given(rows: pd.DataFrame) -> pd.DataFrame:
    """The table's generations; those of a list are a row each, after ``answer`` where there is one."""
    if "samples" in rows:
        listed = [
            [*([own] if "answer" in rows else []), *(cell if isinstance(cell, list) else [cell])]
            for own, cell in zip(rows.get("answer", rows["id"]), rows["samples"], strict=True)
        ]
        rows = rows.assign(answer=pd.Series(listed, index=rows.index, dtype=object)).explode(
            "answer", ignore_index=True
        )
        texts = [text if isinstance(text, str) else None for text in rows["answer"]]
        rows = rows.assign(answer=pd.Series(texts, index=rows.index, dtype=object))
        return rows.assign(trial=(rows.groupby([*QUESTION]).cumcount() + 1).astype(str))
    return rows


def _collected(rows: pd.DataFrame, options: Mapping[str, Any]) -> tuple[pd.DataFrame, list[Reply]]:
    """Each question asked several times; equal questions with equal numbers share a call, and what is known is not asked."""

    from evalbench.models.chat.collect import collect
    from evalbench.models.exchange import Request

    first = rows.drop_duplicates(["test_set", "id"]).drop(
        columns=["model", "answer", "trial", "correct"], errors="ignore"
    )
    n = options["n_generations"]
    asked = first.loc[first.index.repeat(n)].reset_index(drop=True)
    sample = np.tile(np.arange(n), len(first))
    requests = [
        Request(
            ({"role": "user", "content": prompt},),
            temperature=options["temperature"],
            max_tokens=options["max_tokens"],
            seed=options["seed"],
            sample=int(k),
            item_id=i,
            purpose="generation",
        )
        for i, prompt, k in zip(asked["id"], asked["question"], sample, strict=True)
    ]
    replies = collect(requests, options["model"])
    texts = pd.Series([kit.answers.answer_of(reply) for reply in replies], index=asked.index, dtype=object)
    return asked.assign(
        model=options["model"],
        trial=(sample + 1).astype(str),
        answer=texts,
        unscored=kit.answers.why_unscored(texts, replies),
    ), replies
