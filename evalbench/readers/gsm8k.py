"""GSM8K's published forms as the table that ``cot_levels`` reads.

Cobbe et al. 2021: ``train.jsonl``/``test.jsonl`` (or Parquet) hold ``question, answer``; ``example_model_solutions.jsonl`` holds
``question, ground_truth`` and, per model, an object with ``solution``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalbench.readers.roles import READ_AS
from evalbench.readers.schema import Column, Table

if TYPE_CHECKING:
    import pandas as pd

SOLUTION = "solution with <<a=b>> annotations, closed by #### answer; empty: levels 1 to 3 are undefined"
WORD_PROBLEMS = Table(
    (
        Column("id", "id", help="the problem"),
        Column("question", "text"),
        Column("reference", "text", empty_ok=True, help=SOLUTION, perhaps=("answer",)),
        Column(
            "answer",
            "text",
            required=False,
            empty_ok=True,
            keep_null=True,
            help="the model's solution; null: unscored",
            former=("response",),
        ),
        Column("model", "id", groups=True, required=False, help="who responded, where there are several"),
        Column("lang", "text", required=False, empty_ok=True, help="ISO 639-1 code, chooses the prompt"),
    ),
    trials="model",
    unique=("id", "model"),
    stem="gsm8k",
    help="one row per problem and model",
)


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """GSM8K's published files as the table ``items`` of word problems; other tables as they are."""
    return {**frames, "items": word_problems(frames["items"])} if "items" in frames else frames


def word_problems(raw: pd.DataFrame) -> pd.DataFrame:
    """The rows ``id, question, reference[, model, answer]`` of a GSM8K file; any other frame as it is.

    - ``raw``: As read by :func:`evalbench.readers.files.raw_frame`.

    Returns: Ids are ``q1, q2, …`` in the order of the file where it has none. The authors' own flags stay as a column
    ``is_correct``.

    Examples
    --------
    >>> import pandas as pd
    >>> word_problems(pd.DataFrame({"question": ["1 + 1?"], "answer": ["<<1+1=2>>2\\n#### 2"]})).columns.tolist()
    ['id', 'question', 'reference']
    """
    if "question" not in raw:
        return raw
    read = raw.attrs.get(READ_AS, {}).values()
    solved = [str(c) for c in raw.columns if raw[c].notna().any() and raw[c].map(_is_solution).all()]
    named = raw if "reference" in raw else raw.rename(columns={"ground_truth": "reference"})
    if solved and "reference" in named:
        return _solutions(_numbered(named), solved)
    if "answer" in raw and "reference" not in raw and "model" not in raw and "answer" not in read:
        return _numbered(raw.rename(columns={"answer": "reference"}))
    return raw


def _is_solution(cell: Any) -> bool:
    """Whether a cell is what a model has for a question; a null, or a null solution, is not an answer of that model."""
    return cell is None or (isinstance(cell, dict) and "solution" in cell and isinstance(cell["solution"], str | None))


def _numbered(frame: pd.DataFrame) -> pd.DataFrame:
    if "id" in frame:
        return frame
    return frame.assign(id=[f"q{i}" for i in range(1, len(frame) + 1)])[["id", *frame.columns]]


def _solutions(frame: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    """One row per question and model, in the order of the questions."""
    import pandas as pd

    shared = frame[["id", "question", "reference"]]
    parts = [
        shared.assign(
            model=model,
            answer=pd.Series([cell and cell["solution"] for cell in frame[model]], frame.index, dtype=object),
            is_correct=[str((cell or {}).get("is_correct", "")).lower() for cell in frame[model]],
        )
        for model in models
    ]
    return pd.concat(parts).sort_index(kind="stable")
