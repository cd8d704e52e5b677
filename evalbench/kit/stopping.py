"""Items asked one batch after another, in an order fixed before the first call, until the evidence decides.

The question is whether the mean of an outcome in [0, 1] lies above or below a null value: one half for which of two answers
is better, the threshold for a share.  The plan is written down before anything is asked; the evidence is looked at after each
batch (:mod:`evalbench.core.betting`); items that were not asked are in no figure, and counted.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core import progress
from evalbench.core.arrays import Floats
from evalbench.core.betting import ALPHA, BOUND, ConfidenceSequence, confidence_sequence, log_evalues, looks
from evalbench.core.seeds import keys
from evalbench.core.wording import count, counted, estimate_text
from evalbench.errors import BadInput
from evalbench.readers.runs import RUN_FOLDER, whole_file

if TYPE_CHECKING:
    import pandas as pd

BATCH = 16
_SAID_UP_TO = 20_000
PLAN = "plan.json"
EVIDENCE = "evidence"
"""The table of the path of the evidence."""
NOT_ASKED = "not-asked"
"""The state of an item that stopping early left out: neither unscored nor undecided."""
Ask = Callable[[Sequence[str]], npt.ArrayLike]


class Plan(NamedTuple):
    """What is fixed before the first call.

    Attributes
    ----------
    order : tuple of str
        The items, in the order in which they are asked.
    batch : int
        After so many items each the evidence is looked at.
    alpha : float
        The probability of a decision where the mean is the null value.
    bound : float
        The share of the capital that one item can take.
    seed : int
        Of the order.
    """

    order: tuple[str, ...]
    batch: int = BATCH
    alpha: float = ALPHA
    bound: float = BOUND
    null: float = 0.5
    seed: int = 0

    @classmethod
    def drawn(
        cls, ids: Iterable[str], *, seed: int, batch: int = BATCH, alpha: float = ALPHA, null: float = 0.5
    ) -> Plan:
        """A plan over these items; the order depends on the ids and the seed alone.

        Raises
        ------
        BadInput
            If an id appears twice, or a value is out of its range.

        Examples
        --------
        >>> Plan.drawn(["a", "b", "c"], seed=0).order == Plan.drawn(["c", "a", "b"], seed=0).order
        True
        """
        named = sorted(ids)
        faults = [f"the id {one!r} appears twice" for one, after in itertools.pairwise(named) if one == after]
        faults += [f"batch is {batch}; at least 1"] * (batch < 1)
        faults += [f"alpha is {alpha}; above 0 and below 1"] * (not 0 < alpha < 1)
        faults += [f"the null value is {null}; above 0 and below 1"] * (not 0 < null < 1)
        if faults:
            raise BadInput.listing("no plan of stopping early:", faults)
        order = np.argsort(keys(seed, "stopping", named), kind="stable")
        return cls(tuple(named[i] for i in order), batch, alpha, BOUND, null, seed)

    def to_json(self) -> dict[str, Any]:
        """The field ``stopping`` of ``plan.json``, without its hash."""
        return {**self._asdict(), "order": list(self.order), "items": len(self.order)}

    @property
    def sha256(self) -> str:
        """Of the plan's content, which ``results.json`` repeats."""
        text = json.dumps(self.to_json(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Stopped(NamedTuple):
    """What was asked, and what it decided.

    Attributes
    ----------
    outcomes : (n,) array of float
        Of the items asked, in their order; NaN where an item could not be scored.
    path : ConfidenceSequence
        At each look.
    log_evalue : (k,) array of float
        Natural logarithm, at each look.
    decided : str
        ``above`` or ``below`` the null value; empty where it was not decided.
    """

    plan: Plan
    outcomes: Floats
    path: ConfidenceSequence
    log_evalue: Floats
    decided: str

    @property
    def asked(self) -> tuple[str, ...]:
        """The items that were asked."""
        return self.plan.order[: len(self.outcomes)]

    @property
    def not_asked(self) -> tuple[str, ...]:
        """The items that were not asked."""
        return self.plan.order[len(self.outcomes) :]

    @property
    def n_unscored(self) -> int:
        """Items that were asked and have no outcome."""
        return int(np.isnan(self.outcomes).sum())

    @property
    def interval(self) -> tuple[float | None, float, float]:
        """The mean and the confidence sequence when it stopped; no mean where nothing has an outcome."""
        if not len(self.path.n):
            return None, 0.0, 1.0
        value, low, high = (float(column[-1]) for column in self.path[1:])
        return (None if math.isnan(value) else value), low, high

    def sentence(self, what: str = "question", mean: str = "mean") -> str:
        """How it ended, in words.

        Parameters
        ----------
        what : str
            An item.
        mean : str
            The figure.
        """
        of = f"{count(len(self.outcomes))} of {counted(len(self.plan.order), what)}"
        rest = f"; {count(len(self.not_asked))} not asked" if self.not_asked else ""
        value, low, high = self.interval
        figure = "no outcome"
        if value is not None:
            row = {"value": value, "ci_low": low, "ci_high": high, "method": ""}
            figure = f"{mean} {estimate_text(row)}"
        null = f"{self.plan.null:g}"
        head = f"Decided after {of}{rest}" if self.decided else f"Not decided after {of}{rest}"
        holds = f"{self.decided} {null}" if self.decided else f"neither above nor below {null}"
        level = f"{100 * (1 - self.plan.alpha):g} %"
        return (
            f"{head}: {figure}, {holds}; the interval is a {level} confidence sequence, which holds whenever one stops."
        )

    def table(self) -> pd.DataFrame:
        """The path of the evidence, one row an item: ``n``, ``id``, ``outcome``, ``log10_e``, and at looks ``mean``, ``ci_low``, ``ci_high``."""
        import pandas as pd

        ids, log10_e = pd.Series(self.asked, dtype=object), _evalues(self.plan, self.outcomes) / math.log(10)
        each = {"n": range(1, len(ids) + 1), "id": ids, "outcome": self.outcomes, "log10_e": log10_e}
        looked = pd.DataFrame(dict(zip(("n", "mean", "ci_low", "ci_high"), self.path, strict=True)))
        return pd.DataFrame(each).merge(looked, on="n", how="left")

    def tables(self) -> dict[str, pd.DataFrame]:
        """``evidence`` and ``not_asked``, for ``Result.tables``."""
        import pandas as pd

        return {EVIDENCE: self.table(), "not_asked": pd.DataFrame({"id": self.not_asked}, dtype=object)}

    def to_json(self, what: str = "question", mean: str = "mean") -> dict[str, Any]:
        """For ``Result.stopping``: the plan's hash, how many were asked, what was decided; words as of :meth:`sentence`."""
        value, low, high = self.interval
        plan = {name: getattr(self.plan, name) for name in ("batch", "alpha", "bound", "null", "seed")}
        return {
            "plan_sha256": self.plan.sha256,
            **plan,
            "decided": self.decided,
            "items": len(self.plan.order),
            "asked": len(self.outcomes),
            "unscored": self.n_unscored,
            "not_asked": len(self.not_asked),
            "log10_e": float(self.log_evalue[-1] / math.log(10)) if len(self.log_evalue) else 0.0,
            "value": value,
            "ci_low": low,
            "ci_high": high,
            "sentence": self.sentence(what, mean),
        }

    def files(self, beside: Mapping[str, Any] | None = None) -> dict[str, bytes]:
        """``plan.json``, for ``Result.files``; ``beside`` as for :func:`ask_until_decided`."""
        return {PLAN: plan_bytes(self.plan, beside)}


def ask_until_decided(plan: Plan, ask: Ask, *, beside: Mapping[str, Any] | None = None) -> Stopped:
    """Ask batch after batch until the evidence decides, or nothing is left.

    The plan is written into the run's folder before the first call (outside a run it is in :meth:`Stopped.files` alone).  What
    a batch holds and where it stops depend on the plan and the outcomes, not on how many calls go out at a time; replies are
    kept as ever, so a run that was killed asks nothing twice and stops at the same item.

    Parameters
    ----------
    ask : callable
        From the ids of a batch to their outcomes, 0–1, in the same order; NaN where one could not be scored.
    beside : mapping, optional
        What else ``plan.json`` holds; the plan is its field ``stopping``.

    Raises
    ------
    ValueError
        If a batch has another number of outcomes than items, or one is out of its range.

    Examples
    --------
    >>> plan = Plan.drawn([f"q{i}" for i in range(805)], seed=0)
    >>> stopped = ask_until_decided(plan, lambda ids: [float(i != "q7") for i in ids])
    >>> stopped.decided, len(stopped.asked), len(stopped.not_asked)
    ('above', 16, 789)
    >>> print(stopped.sentence())
    Decided after 16 of 805 questions; 789 not asked: mean 1.00 [0.66, 1.00], above 0.5; the interval is a 95 % confidence \
sequence, which holds whenever one stops.
    """
    written(plan, beside)
    outcomes = np.empty(0)
    threshold = math.log(1 / plan.alpha)
    for end in looks(len(plan.order), plan.batch).tolist():
        batch = plan.order[len(outcomes) : end]
        found = np.asarray(ask(batch), dtype=float)
        if found.shape != (len(batch),):
            raise ValueError(f"one outcome for each of {len(batch)} items is needed, got shape {found.shape}")
        outcomes = np.append(outcomes, found)
        if _evalues(plan, outcomes)[-1] >= threshold:
            break
        _say_so_far(plan, outcomes)
    return stopped_at(plan, outcomes)


def _say_so_far(plan: Plan, outcomes: Floats) -> None:
    """Of a run that is followed the mean so far, whose interval holds whenever one looks; of many outcomes it takes too long."""
    known = int((~np.isnan(outcomes)).sum())
    if not (os.environ.get(progress.FILE) and known and len(outcomes) <= _SAID_UP_TO):
        return
    path = confidence_sequence(outcomes, [len(outcomes)], alpha=plan.alpha, bound=plan.bound)
    value, low, high = (float(column[-1]) for column in path[1:])
    progress.so_far("mean", value, low, high, known, len(outcomes) - known, len(plan.order))


METHOD = (
    "Stopped early: questions in an order of the seed, looked at after each batch; decided where the hedged capital that is bet against the "
    "null value reaches 1/α, which happens with probability α at most where the mean is the null value, however often it is looked at "
    "(Waudby-Smith & Ramdas 2024). Intervals of means are confidence sequences, which hold whenever one stops."
)


def written(plan: Plan | None, beside: Mapping[str, Any] | None = None) -> None:
    """Write ``plan.json`` into the run's folder, if there is one."""
    folder = os.environ.get(RUN_FOLDER)
    if folder:
        with whole_file(Path(folder) / PLAN) as temporary:
            temporary.write_bytes(plan_bytes(plan, beside))


def stopped_at(plan: Plan, outcomes: npt.ArrayLike) -> Stopped:
    """What the outcomes of the first items of a plan decide."""
    x = np.asarray(outcomes, dtype=float)
    at = looks(len(x), plan.batch)
    evidence = _evalues(plan, x)[at - 1]
    path = confidence_sequence(x, at, alpha=plan.alpha, bound=plan.bound, also=[plan.null])
    decided = ""
    if (evidence >= math.log(1 / plan.alpha)).any():
        decided = "above" if path.low[-1] >= plan.null else "below"
    return Stopped(plan, x, path, evidence, decided)


def _evalues(plan: Plan, outcomes: Floats) -> Floats:
    return log_evalues(outcomes, plan.null, alpha=plan.alpha, bound=plan.bound)


def plan_bytes(plan: Plan | None, beside: Mapping[str, Any] | None = None) -> bytes:
    """Content of ``plan.json``: what else it holds, and the plan with its hash as ``stopping``."""
    own = {} if plan is None else {"stopping": {**plan.to_json(), "sha256": plan.sha256}}
    content = {**(beside or {}), **own}
    return f"{json.dumps(content, ensure_ascii=False, indent=1)}\n".encode("utf-8", "backslashreplace")
