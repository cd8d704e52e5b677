"""The table of answers and their samples in its several shapes, or both collected from a model; and which answers are right."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import errors, kit, readers
from evalbench.metrics.registry import cards
from evalbench.models.exchange import Reply

SAMPLES_PER_ITEM, SAMPLE_TEMPERATURE = 10, 1.0
METRIC = "normalized_exact_match"
PROMPT = "short_answer"
KEYS = ("id", "model")
_NUMBERED = re.compile(r"samples?[ _.-]?(\d+)", re.IGNORECASE)
_SHAPES = (
    "a column samples with a list for each answer, columns sample_1, sample_2, …, or a column sample with one row each"
)


class Answers(NamedTuple):
    """Answers with their samples.

    - ``rows``: ``id``, ``model``, ``answer``, ``samples`` (a list of texts), ``unscored``, and what else the table has.
    - ``replies``: Of the model that was asked.
    """

    rows: pd.DataFrame
    replies: list[Reply]
    notes: tuple[str, ...]


def metrics() -> tuple[str, ...]:
    """Those that compare an answer with its reference and give 0–1."""
    return tuple(entry.name for entry in cards() if entry.needs == ("reference",) and entry.range == (0, 1))


# -- shapes of the table --------------------------------------------------------------------------


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Samples in numbered columns, or one a row, as one list for each answer; samples that are null are left out."""
    frame = frames.get("items")
    if frame is None or frame.columns.has_duplicates or not len(frame):
        return frames
    names = {str(name).strip(): name for name in frame.columns}
    numbered = sorted((int(m[1]), names[n]) for n in names if (m := _NUMBERED.fullmatch(n)))
    if "samples" in names:
        return {**frames, "items": _listed(frame, names["samples"])}
    if numbered:
        return {**frames, "items": _numbered_as_lists(frame, [name for _, name in numbered])}
    if "sample" in names and "id" in names:
        return {**frames, "items": _folded(frame, names)}
    return frames


def _noted(frame: pd.DataFrame, before: pd.DataFrame, *notes: str) -> pd.DataFrame:
    frame.attrs.update(before.attrs)
    frame.attrs["notes"] = [*before.attrs.get("notes", ()), *filter(None, notes)]
    return frame


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _as_texts(values: Sequence[Any]) -> list[Any]:
    """Numbers as the texts that they are written as, nulls left out; what else there is stays, for the check of the table."""
    return [
        str(v).lower() if isinstance(v, bool) else str(v) if isinstance(v, int | float) else v
        for v in values
        if not _absent(v)
    ]


def _listed(frame: pd.DataFrame, name: Any) -> pd.DataFrame:
    cells: list[Any] = []
    gone = 0
    for cell in frame[name]:
        value = cell
        if isinstance(cell, str) and cell.lstrip().startswith("["):
            try:
                value = readers.files.parsed_json(cell)
            except ValueError:
                value = cell
        if isinstance(value, list):
            known = _as_texts(value)
            gone += len(value) - len(known)
            value = known
        cells.append(value)
    out = frame.assign(**{str(name): pd.Series(cells, index=frame.index, dtype=object)})
    return _noted(out, frame, f"samples that are null, which were left out: {gone}" if gone else "")


def _numbered_as_lists(frame: pd.DataFrame, columns: Sequence[Any]) -> pd.DataFrame:
    rows = [[v for v in row if v != ""] for row in zip(*(frame[c] for c in columns), strict=True)]
    lists = [_as_texts(row) for row in rows]
    out = frame.drop(columns=list(columns)).assign(samples=pd.Series(lists, index=frame.index, dtype=object))
    gone = len(frame) * len(columns) - sum(map(len, lists))
    said = [f"columns {columns[0]} to {columns[-1]} were read as samples"]
    said += [f"empty cells of these columns, which are not samples: {gone}"] if gone else []
    return readers.roles.noted(out, frame, dict.fromkeys(map(str, columns), "samples"), said)


def _folded(frame: pd.DataFrame, names: Mapping[str, Any]) -> pd.DataFrame:
    """One row per answer out of one row per sample."""
    keys = [names[key] for key in KEYS if key in names]
    sample = names["sample"]
    index = pd.MultiIndex.from_arrays([frame[key].map(str) for key in keys])
    group, _ = pd.factorize(index)
    first = ~pd.Series(group).duplicated().to_numpy()
    own = [name for name in (names.get(n) for n in ("question", "answer", "correct", "reference", "topic")) if name]
    text = frame[own].map(str)
    odd = {
        str(name): [str(row) for row in frame.index[(text[name].to_numpy() != text[name].to_numpy()[first][group])]]
        for name in own
    }
    faults = [
        f"column {name}: differs from the answer's first row (rows {', '.join(at[:5])})"
        for name, at in odd.items()
        if at
    ]
    if faults:
        raise errors.BadInput.listing("rows of one id and model are one answer, one row for each sample:", faults)
    lists: list[list[Any]] = [[] for _ in range(int(first.sum()))]
    for place, value in zip(group, frame[sample], strict=True):
        if not _absent(value):
            lists[place].append(value)
    lists = [_as_texts(values) for values in lists]
    out = frame[first].drop(columns=[sample])
    out = out.assign(samples=pd.Series(lists, index=out.index, dtype=object))
    return _noted(out, frame, f"{len(frame)} rows of one sample each were read as {len(out)} answers")


# -- which answers are right ----------------------------------------------------------------------


def check(data: readers.Dataset) -> None:
    """Refuse values of ``correct`` that are neither a number nor right or wrong in words."""
    frame = data["items"]
    if "correct" in frame:
        rows = data.rows.get("items")
        marks_of(frame["correct"].tolist(), list(frame.index if rows is None else rows))


def marks_of(cells: Sequence[Any], rows: Sequence[Any] = ()) -> np.ndarray[Any, Any]:
    """Marks of correctness as numbers, NaN where a cell is empty.

    Raises ``BadInput`` for anything but numbers and the usual words, with the rows.

    Examples
    --------
    >>> marks_of(["1", "false", "", "верно", "0.5"]).tolist()
    [1.0, 0.0, nan, 1.0, 0.5]
    """
    found, odd = np.full(len(cells), np.nan), []
    for i, cell in enumerate(cells):
        word = str(cell or "").strip().casefold()
        if word in ("", "nan", "null", "none"):
            continue
        try:
            found[i] = float(readers.verdicts.truth_of(word) or word)
        except ValueError:
            odd.append(i)
    odd += np.flatnonzero(np.isinf(found)).tolist()
    if odd:
        at = ", ".join(str(rows[i] if len(rows) else i) for i in odd[:5])
        more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
        raise errors.BadInput.listing(
            "correctness:",
            [f"column correct: expected 0 or 1, or a number, found {str(cells[odd[0]])[:60]!r} (rows {at}{more})"],
        )
    return found


def right_or_wrong(marks: np.ndarray[Any, Any], correct_from: float | None, what: str) -> np.ndarray[Any, Any]:
    """1 for right, 0 for wrong, NaN where there is no mark.

    Raises ``BadInput`` if marks other than 0 and 1 exist and it is not stated from which on an answer is right.

    Examples
    --------
    >>> right_or_wrong(np.array([1.0, 0.0, np.nan]), None, "column correct").tolist()
    [1.0, 0.0, nan]
    >>> right_or_wrong(np.array([1.0, 3.0, 5.0]), 4, "column correct").tolist()
    [0.0, 0.0, 1.0]
    """
    known = ~np.isnan(marks)
    others = np.unique(marks[known & ~np.isin(marks, (0, 1))])
    if correct_from is None and len(others):
        listed = ", ".join(f"{v:g}" for v in others[:4]) + (", …" if len(others) > 4 else "")
        raise errors.BadInput(
            f"{what} has values other than 0 and 1 ({listed}); whether an answer is right must be discrete: "
            f"-p correct_from={others[-1]:g} calls an answer right from that value on"
        )
    return np.where(known, (marks >= (1.0 if correct_from is None else correct_from) - 1e-9).astype(float), np.nan)


# -- answers and samples --------------------------------------------------------------------------


def needs(data: readers.Dataset, *, model: str = "") -> None:
    """Refuse a table without answers, samples or correctness where no model is asked, and one without questions where one is."""
    frame = data["items"]
    own = list(map(str, frame.columns))
    faults = []
    if model:
        if "question" not in frame:
            faults.append(f"there is no column question to ask the model{readers.renames.usual('question', own)}")
        if "reference" not in frame:
            said = "there is no column reference: the model's answers need one to be right or wrong"
            faults.append(f"{said}{readers.renames.usual('reference', own)}")
    else:
        if "answer" not in frame:
            said = "there is no column answer; give one, or a model to collect answers and samples from (--model)"
            faults.append(f"{said}{readers.renames.usual('answer', own)}")
        if "samples" not in frame:
            said = f"there are no samples: {_SHAPES}; or a model to collect them from (--model)"
            faults.append(f"{said}{readers.renames.usual('samples', own)}")
        elif not frame["samples"].map(len).any():
            faults.append("no answer has samples (N = 0): confidence needs one or more for each answer")
        if not {"correct", "reference"} & set(frame):
            said = "nothing says which answers are right: a column correct (0 or 1), or reference"
            faults.append(f"{said}{readers.renames.usual('correct', own) or readers.renames.usual('reference', own)}")
    if faults:
        raise errors.BadInput.listing("confidence: the table lacks what is judged:", faults)


def answered(
    rows: pd.DataFrame, *, model: str, samples_per_item: int, sample_temperature: float, options: Mapping[str, Any]
) -> Answers:
    """The table's answers and samples, or a model's: its answer at ``temperature``, its samples at ``sample_temperature``."""
    if not model:
        own, _ = kit.collecting.collected(kit.collecting.given(rows, "answer", "answers"), "answer", PROMPT, dict)
        own = own.sort_values([*KEYS], kind="stable", ignore_index=True)
        unscored = own["unscored"].to_numpy(object)
        without = (own["samples"].map(len).to_numpy() == 0) & (unscored == "")
        notes = [f"Answers without samples, which are unscored: {without.sum()}."] if without.any() else []
        return Answers(own.assign(unscored=np.where(without, "no-output", unscored)), [], tuple(notes))
    own = rows.drop(columns=[c for c in ("model", "answer", "samples", "correct") if c in rows]).drop_duplicates("id")
    own = own.sort_values("id", kind="stable", ignore_index=True)
    settings = {key: value for key, value in kit.taken(kit.collecting.asked, options).items() if key != "model"}

    def question(row: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"question": row["question"]}

    found, replies = kit.collecting.collected(own, "answer", PROMPT, question, model=model, **settings)
    heated = {**settings, "temperature": sample_temperature}
    drawn = kit.collecting.asked(own, model, PROMPT, question, purpose="sample", samples=samples_per_item, **heated)
    groups = [drawn[i : i + samples_per_item] for i in range(0, len(drawn), samples_per_item)]
    lists = [[text for text in map(kit.answers.answer_of, group) if text is not None] for group in groups]
    found["samples"] = pd.Series(lists, index=found.index, dtype=object)
    lost = sum(samples_per_item - len(texts) for texts in lists)
    # An item none of whose samples came has the reason of the first.
    empty = [group[0].unscored or "no-output" if not texts else "" for group, texts in zip(groups, lists, strict=True)]
    unscored = found["unscored"].to_numpy(object)
    found["unscored"] = np.where(unscored == "", np.array(empty, dtype=object), unscored)
    said = [
        f"Answers of {model} were collected, and {samples_per_item} samples of each question at temperature {sample_temperature:g}."
    ]
    said += [f"Samples that did not come, which are left out: {lost} of {len(drawn)}."] if lost else []
    return Answers(found, [*replies, *drawn], tuple(said))
