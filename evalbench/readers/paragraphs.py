"""Questions that stand beside the text that answers them, as tables of documents and of questions: SQuAD's rows and the like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalbench.core.wording import counted
from evalbench.readers.finding import column_of, is_text

if TYPE_CHECKING:
    import pandas as pd

_ENDS = re.compile(r"[.!?…。！？\n]+[\"»”’)]*\s*")


def parted(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables ``documents`` (doc_id, text) and ``questions`` (id, question, reference, doc_id, passage); nothing of other tables.

    Equal texts are one document.  The passage is the sentence around the place of the right answer, where the table has places.
    """
    import pandas as pd

    text = column_of(frame, "text", held=is_text) or column_of(frame, "contexts", held=is_text)
    question = column_of(frame, "question", held=is_text)
    if not text or not question:
        return {}
    own = column_of(frame, "doc_id") if column_of(frame, "doc_id") not in ("", "id") else ""
    shared = own and not (frame.groupby(own)[text].nunique() > 1).any() and frame[own].notna().all()
    codes, _ = pd.factorize(frame[text].map(lambda cell: cell if isinstance(cell, str) else None))
    ids = (
        frame[own].astype(str)
        if shared
        else pd.Series([f"d{code + 1:04d}" if code >= 0 else "" for code in codes], frame.index)
    )
    documents = pd.DataFrame({"doc_id": ids, "text": frame[text]}).drop_duplicates("doc_id")
    documents = documents[documents["doc_id"] != ""]
    asked = frame[question].map(lambda cell: isinstance(cell, str) and bool(cell.strip()))
    right = column_of(frame, "reference") or column_of(frame, "answer", "reference")
    given = frame[right] if right else pd.Series([None] * len(frame), frame.index)
    places = [_answer(cell) for cell in given]
    questions = pd.DataFrame({"question": frame[question], "doc_id": ids}).assign(
        **({"reference": pd.Series([answer for answer, _ in places], frame.index, dtype=object)} if right else {}),
        **({"id": frame["id"]} if "id" in frame else {"id": [f"q{i:04d}" for i in range(1, len(frame) + 1)]}),
    )
    said = [
        f"columns {question} and {text}: {counted(len(documents), 'different text')} were read as the documents of {len(frame)} rows"
    ]
    said += [f"column {right} was read as reference"] if right and right != "reference" else []
    if any(start is not None for _, start in places):
        passages = [_around(cell, *place) for cell, place in zip(frame[text], places, strict=True)]
        questions["passage"] = passages
        lost = sum(start is not None and not passage for (_, start), passage in zip(places, passages, strict=True))
        said += [f"the passages are the sentences at the places of {right}"]
        said += [
            f"{counted(lost, 'answer')} of {right} {'is' if lost == 1 else 'are'} not at its place, so that no passage is known"
        ] * (lost > 0)
    documents.attrs = {**frame.attrs, "notes": [*frame.attrs.get("notes", ()), *said]}
    return {"documents": documents, "questions": questions[asked]}


def _answer(cell: Any) -> tuple[str | None, int | None]:
    """The first right answer of a cell, and where it begins in its text, if the cell says so."""
    if isinstance(cell, Mapping):
        texts, starts = cell.get("text"), cell.get("answer_start", cell.get("start"))
        text = next(iter(texts), None) if isinstance(texts, list) else texts
        start = next(iter(starts), None) if isinstance(starts, list) else starts
        return (text, start if isinstance(start, int) else None) if isinstance(text, str) else (None, None)
    if isinstance(cell, list):
        return _answer(cell[0]) if cell else (None, None)
    return (None, None) if cell is None or cell != cell else (str(cell), None)


def _around(text: Any, answer: str | None, start: int | None) -> str:
    """The sentence of a text that holds an answer at its place; empty where it is not there.

    Examples
    --------
    >>> _around("It rained. The crane was of oak. It stood.", "oak", 28)
    'The crane was of oak.'
    """
    if not isinstance(text, str) or not answer or start is None or text[start : start + len(answer)] != answer:
        return ""
    ends = [0, *(match.end() for match in _ENDS.finditer(text)), len(text)]
    first = max(end for end in ends if end <= start)
    last = min(end for end in ends if end >= start + len(answer))
    return text[first:last].strip()
