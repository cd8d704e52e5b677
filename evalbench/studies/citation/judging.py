"""One judge, asked each distinct question once, in the language of the answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalbench.judge.verdicts import InProcess, Judgement, judge

if TYPE_CHECKING:
    import pandas as pd

LANGUAGES = ("en", "ru", "zh")


@dataclass(frozen=True)
class Question:
    """One question to the judge.

    Attributes
    ----------
    lang : str
        Chooses the prompt.
    fields : mapping
        The task's fields.
    """

    lang: str
    fields: Mapping[str, Any]

    def key(self, task: str) -> str:
        """A name that depends on what is asked alone."""
        told = "\x1f".join([task, self.prompt_language, *(str(self.fields[k]) for k in sorted(self.fields))])
        return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def prompt_language(self) -> str:
        return self.lang if self.lang in LANGUAGES else "en"


@dataclass
class Bench:
    """A judge and what it has been asked so far.

    Attributes
    ----------
    by : str or callable
        As in :func:`evalbench.judge.verdicts.judge`.
    prompt : str
        A folder of one's own prompts.
    seed : int
    max_tokens : int
        Longest verdict.
    """

    by: str | InProcess
    prompt: str = ""
    seed: int = 0
    max_tokens: int = 1024
    calls: list[pd.DataFrame] = field(default_factory=list)
    accounting: list[Mapping[str, Any]] = field(default_factory=list)
    _known: dict[str, Judgement] = field(default_factory=dict)
    name: str = ""

    def ask(self, task: str, questions: Sequence[Question]) -> list[Judgement]:
        """A verdict per question, in their order."""
        keys = [q.key(task) for q in questions]
        new = {k: q for k, q in zip(keys, questions, strict=True) if k not in self._known}
        for language in LANGUAGES:
            items = [{"id": k, **q.fields} for k, q in sorted(new.items()) if q.prompt_language == language]
            if not items:
                continue
            verdicts = judge(
                items,
                by=self.by,
                task=task,
                language=language,
                prompt=self.prompt,
                seed=self.seed,
                max_tokens=self.max_tokens,
            )
            self.name = verdicts.judge
            self._known |= {row.id: row for row in verdicts.rows}
            self.calls.append(verdicts.calls)
            self.accounting.append(verdicts.accounting)
        return [self._known[k] for k in keys]
