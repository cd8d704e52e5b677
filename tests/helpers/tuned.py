"""A small RAG to be tuned: ten documents, a question to each, and parts by fixed rules, which are fakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalbench import BadInput, rag_tuning, studies
from evalbench.core.result import Result

WORDS = ["bees", "dogs", "boats", "fires", "huts", "markets", "lanterns", "bicycles", "deposits", "shutters"]


def bag(texts: list[str]) -> np.ndarray:
    """An embedding for tests: how often each word occurs."""
    return np.array([[1e-3 + text.lower().count(word) for word in WORDS] for text in texts])


def documents() -> pd.DataFrame:
    rows = [
        (f"d{i}", f"About {word}. The {word} are regulated. Much is said of {word} here.")
        for i, word in enumerate(WORDS)
    ]
    return pd.DataFrame(rows, columns=["doc_id", "text"])


def questions() -> pd.DataFrame:
    rows = [(f"q{i}", f"What of {word}?", f"The {word} are regulated.", f"d{i}") for i, word in enumerate(WORDS)]
    return pd.DataFrame(rows, columns=["id", "question", "reference", "doc_id"])


def evaluated(tables: dict[str, pd.DataFrame] | None = None, **options: Any) -> Result:
    given = {"documents": documents(), "questions": questions(), **(tables or {})}
    quick = {"embed": bag, "n_resamples": 50, "chunk_sizes": [], "chunk_size": 60, **options}
    return rag_tuning.evaluate(studies.load(given, study="rag_tuning"), **quick)


def refusal(tables: dict[str, pd.DataFrame] | None = None, **options: Any) -> str:
    with pytest.raises(BadInput) as caught:
        evaluated(tables, **options)
    return str(caught.value)


def quality(result: Result, setting: str) -> list[float]:
    rows = result.items[result.items["setting"] == setting]
    return rows["quality"].tolist()


def first_sentence(fields: dict[str, Any]) -> str:
    return fields["contexts"][0] if fields["contexts"] else "I do not know."


def writer(fields: dict[str, Any]) -> str:
    if "chunk" in fields:
        return f"What does it say of {fields['chunk'].split()[1]}?"
    return "\n".join(f"{i}. {fields['question']} {'again ' * i}" for i in range(1, fields["n"] + 1))
