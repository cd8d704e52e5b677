"""One judge of contradiction for ``selfcheck_nli`` and ``context_contradiction``, asked each distinct pair once."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evalbench.judge.entail import LABELS, entailer
from evalbench.judge.verdicts import RECORDED, InProcess, Judgement, Judgements, judge
from evalbench.models.llm import is_model_name

if TYPE_CHECKING:
    import pandas as pd

Pair = tuple[str, str]
PROMPT_LANGUAGES = ("en", "ru", "zh")
_JUDGES = (
    "judge = a chat model (openai/MODEL, local/smollm2-135m), the folder of an NLI cross-encoder, or recorded:FILE"
)
NEEDED = f"it needs a judge of contradiction: {_JUDGES}"
BLIND = f"baseline/lexical compares words and never says that a text contradicts another: {_JUDGES}"


@dataclass
class Contradictions:
    """A judge and what it has said so far.

    Attributes
    ----------
    by : str or callable
        As in :func:`evalbench.judge.verdicts.judge`.
    language : str
        Of the prompt; English where there is none.
    """

    by: str | InProcess
    language: str = "en"
    verdicts: list[Judgements] = field(default_factory=list)
    rows: dict[Pair, Judgement] = field(default_factory=dict)
    values: dict[Pair, float] = field(default_factory=dict)

    def __call__(self, premises: Sequence[str], hypotheses: Sequence[str]) -> npt.NDArray[np.float64]:
        """P(contradiction) of each pair.

        A model of entailment gives P(contradiction) / (P(entailment) + P(contradiction)), as SelfCheckGPT-NLI does; a
        judge that gives labels 1 for a contradiction, else 0; NaN where it gave no verdict.
        """
        pairs = list(zip(premises, hypotheses, strict=True))
        self._ask(sorted(set(pairs) - set(self.rows)))
        return np.array([self.values[pair] for pair in pairs], dtype=float)

    def _ask(self, pairs: Sequence[Pair]) -> None:
        if not pairs:
            return
        by_label = callable(self.by) or self.by.startswith(RECORDED) or is_model_name(self.by)
        found, values = self._by_label(pairs) if by_label else self._by_probability(pairs)
        self.verdicts.append(found)
        self.rows |= dict(zip(pairs, found.rows, strict=True))
        self.values |= dict(zip(pairs, values, strict=True))

    def _by_label(self, pairs: Sequence[Pair]) -> tuple[Judgements, list[float]]:
        language = self.language if self.language in PROMPT_LANGUAGES else "en"
        found = judge(_items(pairs), by=self.by, task="entailment", language=language)
        return found, [math.nan if r.unscored else float(r.label == LABELS[2]) for r in found.rows]

    def _by_probability(self, pairs: Sequence[Pair]) -> tuple[Judgements, list[float]]:
        name = str(self.by)
        table = entailer(name).probabilities([p for p, _ in pairs], [h for _, h in pairs])
        said = iter(table)

        def likeliest(item: Mapping[str, Any]) -> dict[str, Any]:
            row = next(said)
            reason = ", ".join(f"{label.lower()} {p:.2f}" for label, p in zip(LABELS, row, strict=True))
            return {"label": LABELS[int(row.argmax())], "probability": float(row[0]), "reason": reason}

        found = judge(_items(pairs), by=likeliest, task="entailment")
        named = replace(
            found, judge=name, calls=found.calls.assign(model=name), accounting={**found.accounting, "models": [name]}
        )
        sides = table[:, [0, 2]].sum(axis=1)
        return named, np.divide(table[:, 2], sides, out=np.zeros(len(table)), where=sides > 0).tolist()

    def causes(self, premises: Iterable[str], hypotheses: Sequence[str]) -> str:
        """Why the judge gave no verdict on some of these pairs."""
        asked = (self.rows.get((p, h)) for p in premises for h in hypotheses)
        return "; ".join(sorted({row.unscored for row in asked if row is not None and row.unscored}))

    def table(self) -> pd.DataFrame:
        """One row per pair: call, passage, statement, label, p_contradiction, reason, unscored."""
        import pandas as pd

        rows = [
            (self.rows[p].id, *p, self.rows[p].label, self.values[p], self.rows[p].reason, self.rows[p].unscored)
            for p in sorted(self.rows)
        ]
        columns = ["call", "passage", "statement", "label", "p_contradiction", "reason", "unscored"]
        return pd.DataFrame(rows, columns=columns).astype({"p_contradiction": float})


def _items(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    return [{"id": _call(pair), "premise": pair[0], "hypothesis": pair[1]} for pair in pairs]


def _call(pair: Pair) -> str:
    """A name that depends on what is asked alone."""
    return hashlib.sha256("\x1f".join(pair).encode("utf-8", "replace")).hexdigest()[:16]
