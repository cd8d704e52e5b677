"""Natural Questions' published forms as the tables that ``citation`` reads.

NQ-open and EfficientQA (JSON Lines, Parquet): ``question, answer`` (a list of short answers).  Pairs of a query and a long answer:
``query, answer``.  Questions with their gold passages: ``question, answers, ctxs`` (title and text of each passage).  Natural
Questions itself: ``question`` with ``text``, ``annotations`` with ``short_answers``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def questions(frames: Mapping[str, pd.DataFrame], said: str = "") -> dict[str, pd.DataFrame]:
    """Tables ``answers`` (id, question, reference) and, where passages are given, ``sources``; other frames as they are.

    - ``frames``: Raw frames of a data set; the questions are in ``answers``.
    - ``said``: The column of what a model answered, which is not the right one; it is kept.

    Returns: Ids are ``q1, q2, …`` in the order of the file where it has none. A question without any short answer is
    left with an empty list of right answers: its correctness is undefined.

    Examples
    --------
    >>> import pandas as pd
    >>> raw = {"answers": pd.DataFrame({"question": ["who?"], "answer": [["Ada", "Ada L."]]})}
    >>> questions(raw)["answers"].to_dict("records")
    [{'id': 'q1', 'question': 'who?', 'reference': ['Ada', 'Ada L.']}]
    """
    import pandas as pd

    raw = frames.get("answers")
    if raw is None or "reference" in raw:
        return dict(frames)
    asked = next((c for c in ("question", "query", "question_text") if c in raw), None)
    gold = next((c for c in ("answer", "answers", "annotations") if c in raw and c != said), None)
    if asked is None or gold is None:
        return dict(frames)
    named = raw["id"].tolist() if "id" in raw else [f"q{i}" for i in range(1, len(raw) + 1)]
    out = pd.DataFrame(
        {
            "id": named,
            "question": [q.get("text", "") if isinstance(q, Mapping) else q for q in raw[asked]],
            "reference": [list(dict.fromkeys(_texts(a))) for a in raw[gold]],
        },
        index=raw.index,
    )
    kept = [c for c in ("model", "lang", said, "citations") if c and c in raw]
    answers = pd.concat([out, raw[kept]], axis=1)
    if "ctxs" not in raw or "sources" in frames:
        return dict(frames) | {"answers": answers}
    passages = [
        {"url": f"{name}-{n}", "id": name, "title": p.get("title", ""), "text": p.get("text", "")}
        for name, listed in zip(named, raw["ctxs"], strict=True)
        for n, p in enumerate(listed or [], 1)
    ]
    sources = pd.DataFrame(passages, columns=["url", "id", "title", "text"])
    return dict(frames) | {"answers": answers, "sources": sources}


def _texts(answer: Any) -> Iterable[str]:
    """Every answer text in a string, a list, or NQ's nested annotations."""
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, Mapping):
        if isinstance(answer.get("text"), str):
            yield answer["text"]
        else:
            yield from _texts(answer.get("short_answers", answer.get("text", [])))
    elif isinstance(answer, Iterable):
        for part in answer:
            yield from _texts(part)
