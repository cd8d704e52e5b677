"""Cited answers: support, ALCE's citation recall and precision, source verification, interpretability."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.metrics.registry import metric

Verification = Literal["VERIFIED", "UNCERTAIN", "LIKELY_FABRICATED"]

SUPPORT: Mapping[str, float] = {"ENTAILMENT": 1.0, "NEUTRAL": 0.5, "CONTRADICTION": 0.0}
VERIFICATION: Mapping[str, float] = {"VERIFIED": 1.0, "UNCERTAIN": 0.5, "LIKELY_FABRICATED": 0.0}
CORRECTNESS: Mapping[str, float] = {"CORRECT": 1.0, "PARTIALLY_CORRECT": 0.5, "INCORRECT": 0.0}

# (quote found in the source, what the source says about the claim)
_VERDICTS: Mapping[tuple[bool, str], Verification] = {
    (True, "ENTAILMENT"): "VERIFIED",
    (True, "NEUTRAL"): "VERIFIED",
    (True, "CONTRADICTION"): "UNCERTAIN",
    (False, "ENTAILMENT"): "UNCERTAIN",
    (False, "NEUTRAL"): "LIKELY_FABRICATED",
    (False, "CONTRADICTION"): "LIKELY_FABRICATED",
}

_ALCE = "Gao, Yen, Yu, Chen 2023, Enabling large language models to generate text with citations, section 4.3"


class Cited(NamedTuple):
    """What the premises of a set of statements entail; 1 or 0, NaN where the judge gave no verdict.

    Attributes
    ----------
    joined : (n_statements,) array
        Whether the joined texts of all its citations entail the statement; 0 for one that cites nothing.
    statement : (n_citations,) array of int
        The statement that each citation belongs to.
    alone : (n_citations,) array
        Whether the citation's text alone entails it.
    rest : (n_citations,) array
        Whether the others without it do; 0 where there are none.
    """

    joined: Floats
    statement: npt.NDArray[np.int64]
    alone: Floats
    rest: Floats

    def precise(self) -> Floats:
        """1 for each precise citation, else 0; NaN where it is not known."""
        recalled = self.joined[self.statement]
        needless = (self.alone == 0) & (self.rest == 1)
        unknown = (np.isnan(self.alone) & (self.rest != 0)) | (np.isnan(self.rest) & (self.alone != 1))
        precise = np.where(unknown, np.nan, np.where(needless, 0.0, 1.0))
        return np.where(np.isnan(recalled), np.nan, np.where(recalled == 1, precise, 0.0))


Entails = Callable[[Sequence[tuple[tuple[int, ...], int]]], npt.ArrayLike]


def cited(citations: Sequence[Sequence[int]], entails: Entails) -> Cited:
    """Ask a judge what ALCE's two figures need, in at most three rounds and no question in vain.

    Parameters
    ----------
    citations : sequence of sequences of int
        For every statement the sources that it cites.
    entails : callable
        From pairs (sources to join, index of the statement) to 1, 0, or NaN for no verdict.  First asked about all
        citations of each statement; then, where these entail it and are several, about each alone; then, where one
        alone does not, about the others without it.

    Examples
    --------
    >>> facts = {((1,), 0), ((1, 2), 1), ((2,), 1)}
    >>> judged = cited([[1], [1, 2], []], lambda asked: [float(q in facts) for q in asked])
    >>> judged.joined.tolist(), judged.precise().tolist()
    ([1.0, 1.0, 0.0], [1.0, 0.0, 1.0])
    """

    def ask(questions: list[tuple[tuple[int, ...], int]]) -> Floats:
        return np.asarray(entails(questions), dtype=float) if questions else np.empty(0)

    citing = [i for i, sources in enumerate(citations) if sources]
    joined = np.zeros(len(citations))
    joined[citing] = ask([(tuple(citations[i]), i) for i in citing])
    statement = np.array([i for i in citing for _ in citations[i]], dtype=np.int64)
    source = [s for i in citing for s in citations[i]]
    single = np.array([len(citations[i]) == 1 for i in statement], dtype=bool)
    alone = np.where(single, joined[statement], np.nan)
    rest = np.where(single, 0.0, np.nan)
    several = np.flatnonzero(~single & (joined[statement] == 1))
    alone[several] = ask([((source[c],), int(statement[c])) for c in several])
    doubtful = several[alone[several] == 0]
    others = [tuple(s for s in citations[statement[c]] if s != source[c]) for c in doubtful]
    rest[doubtful] = ask([(o, int(statement[c])) for o, c in zip(others, doubtful, strict=True)])
    return Cited(joined, statement, alone, rest)


@metric(
    kind="citations",
    range=(0, 1),
    higher_is_better=True,
    needs=("context", "judge"),
    reference=_ALCE,
    example=({"joined": [1.0, 1.0, 0.0]}, 2 / 3),
)
def citation_recall(joined: npt.ArrayLike) -> float:
    """Share of statements that the joined texts of their citations entail; an uncited statement counts 0.

    Parameters
    ----------
    joined : (n_statements,) array
        As in :class:`Cited`; NaN entries (no verdict) are left out.

    Returns
    -------
    float
        0–1; NaN without statements.

    Examples
    --------
    >>> round(citation_recall([1, 1, 0]), 3)
    0.667
    """
    return _mean(joined)


@metric(
    kind="citations",
    range=(0, 1),
    higher_is_better=True,
    needs=("context", "judge"),
    reference=_ALCE,
    example=({"precise": [1.0, 0.0, 1.0]}, 2 / 3),
)
def citation_precision(precise: npt.ArrayLike) -> float:
    """Share of citations that are precise.

    A citation is precise if its statement's recall is 1 and it is not needless: needless is one whose text alone
    does not entail the statement while the others without it do.

    Parameters
    ----------
    precise : (n_citations,) array
        :meth:`Cited.precise`; NaN entries are left out.

    Returns
    -------
    float
        0–1; NaN without citations.

    Examples
    --------
    >>> round(citation_precision([1, 0, 1]), 3)
    0.667
    """
    return _mean(precise)


def _mean(values: npt.ArrayLike) -> float:
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    if ((known < 0) | (known > 1)).any():
        raise ValueError("verdicts must be between 0 and 1")
    return float(known.mean()) if known.size else float("nan")


def source_verdict(*, located: bool, judged: str) -> tuple[Verification, str]:
    """Verification of a quote whose source's text is at hand.

    A quote that is not in its source is taken for invented unless the source entails the claim.  Without a quote
    there is nothing to verify: what the source says about the claim is support.

    Parameters
    ----------
    located : bool
        Whether the quote was found in the source by fuzzy match.
    judged : {"ENTAILMENT", "NEUTRAL", "CONTRADICTION"}
        What the source says about the claim.

    Raises
    ------
    ValueError
        For an unknown ``judged``.

    Examples
    --------
    >>> source_verdict(located=False, judged="NEUTRAL")
    ('LIKELY_FABRICATED', 'the quote is not in the source, which was judged not to show the claim')
    """
    if judged not in SUPPORT:
        raise ValueError(f"judged is {judged!r}; one of {', '.join(SUPPORT)}")
    says = {"ENTAILMENT": "to support", "NEUTRAL": "not to show", "CONTRADICTION": "to contradict"}[judged]
    where = "is in the source" if located else "is not in the source"
    return _VERDICTS[located, judged], f"the quote {where}, which was judged {says} the claim"


@metric(
    kind="counts",
    range=(0, 1),
    higher_is_better=True,
    needs=("context", "judge"),
    reference="explainability (docs/methods.md), Interpretability Score; the weights 0.5, 0.5 are ours",
    example=({"support": 1.0, "verification": 0.5}, 0.75),
)
def interpretability(
    support: npt.ArrayLike, verification: npt.ArrayLike, weights: Sequence[float] = (0.5, 0.5)
) -> Floats:
    """Weighted mean of support and verification, renormalised where one of them has no value.

    Parameters
    ----------
    support, verification : (n,) arrays, 0–1
        NaN where unknown.
    weights : two non-negative numbers, not both 0

    Returns
    -------
    (n,) array
        NaN where neither has a value.

    Examples
    --------
    >>> interpretability([1.0, float("nan")], [0.5, 0.0]).tolist()
    [0.75, 0.0]
    """
    from evalbench.metrics.reasoning import weighted_mean

    return weighted_mean(np.stack([np.asarray(support, float), np.asarray(verification, float)], -1), weights)
