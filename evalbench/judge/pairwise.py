"""Which of two answers is better: asked in both orders, so that a judge's liking for a place cannot decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evalbench.errors import BadInput
from evalbench.judge.rows import Judgement, Judgements
from evalbench.judge.tasks import Task
from evalbench.judge.verdicts import InProcess, Recording, judge

if TYPE_CHECKING:
    import pandas as pd

Winner = Literal["A", "B", "TIE", ""]
ORDERS = ("ab", "ba")
_OF_SHOWN = {"ab": {"FIRST": "A", "SECOND": "B", "TIE": "TIE"}, "ba": {"FIRST": "B", "SECOND": "A", "TIE": "TIE"}}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What a judge said of one pair of answers.

    Attributes
    ----------
    winner : {"A", "B", "TIE", ""}
        The one that both orders name; TIE where both say so or the orders disagree; empty where an order has no verdict.
    ab, ba : {"A", "B", "TIE", ""}
        What was said with A shown first, and with B.
    position_inconsistent : bool
        The orders name different winners, or one of them a tie.
    reasons : tuple of str
        Of both orders.
    unscored : str
        Why there is no winner; empty where there is one.
    """

    id: str
    winner: Winner
    ab: Winner
    ba: Winner
    position_inconsistent: bool
    reasons: tuple[str, str]
    unscored: str = ""
    detail: str = ""

    @property
    def score(self) -> float:
        """1 where A wins, 0 where B wins, ½ for a tie, NaN without a winner."""
        return {"A": 1.0, "B": 0.0, "TIE": 0.5, "": float("nan")}[self.winner]


@dataclass(frozen=True)
class Pairs:
    """All pairs of a judge, in the order of the items, and what was asked: two verdicts per pair."""

    rows: tuple[Pair, ...]
    asked: Judgements

    def frame(self) -> pd.DataFrame:
        """One row per pair: id, winner, score, ab, ba, position_inconsistent, reason_ab, reason_ba, unscored, detail."""
        import pandas as pd

        columns = ["id", "winner", "score", "ab", "ba", "position_inconsistent", "reason_ab", "reason_ba", "unscored"]
        rows = [
            (p.id, p.winner, p.score, p.ab, p.ba, p.position_inconsistent, *p.reasons, p.unscored, p.detail)
            for p in self.rows
        ]
        return pd.DataFrame(rows, columns=[*columns, "detail"])


def pairwise_task(criterion: str, definition: str, *, needs_basis: bool = False) -> Task:
    """Comparing two answers by a criterion.

    Parameters
    ----------
    criterion, definition : str
        What is better, in words.
    needs_basis : bool
        Whether every pair must bring a ``basis`` (ground truth, context).

    Returns
    -------
    Task
        With the fields ``first``, ``second``, ``question`` (optional) and ``basis``.

    Raises
    ------
    BadInput
        If a text is empty.

    Examples
    --------
    >>> list(pairwise_task("brevity", "Which is shorter?").labels)
    ['FIRST', 'SECOND', 'TIE']
    """
    faults = [
        f"the {what} is empty" for what, text in (("name", criterion), ("definition", definition)) if not text.strip()
    ]
    if faults:
        raise BadInput.listing(f"criterion {criterion!r} is invalid:", faults)
    return Task(
        "pairwise",
        ("first", "second", "basis") if needs_basis else ("first", "second"),
        {"FIRST": 1.0, "SECOND": 0.0, "TIE": 0.5},
        optional=("question",) if needs_basis else ("question", "basis"),
        context={"criterion": criterion, "definition": definition},
        sources=("basis",) if needs_basis else (),
    )


def pairwise(
    items: Sequence[Mapping[str, Any]], *, by: str | Recording | InProcess, task: Task, **options: Any
) -> Pairs:
    """Compare A with B on every item, in both orders.

    A winner is one that both orders name.  Where the orders disagree the place decided, not the answer: a tie, counted as
    ``position_inconsistent``.

    Parameters
    ----------
    items : sequence of mapping
        ``id``, ``a`` and ``b``, and if wanted ``question`` and ``basis``.
    by : str, Recording or callable
        As in :func:`evalbench.judge.verdicts.judge`.  Recorded verdicts have the ids ``ID/ab`` and ``ID/ba``.
    task : Task
        From :func:`pairwise_task`.
    options
        As in :func:`evalbench.judge.verdicts.judge`.

    Raises
    ------
    BadInput
        As :func:`evalbench.judge.verdicts.judge` does.

    References
    ----------
    Zheng et al. (2023), Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, NeurIPS 2023, section 3.4.

    Examples
    --------
    >>> def longer(item):
    ...     return "FIRST" if len(item["first"]) > len(item["second"]) else "SECOND"
    >>> task = pairwise_task("fulness", "Which says more?")
    >>> pairwise([{"id": "1", "a": "Yes.", "b": "Yes, from noon."}], by=longer, task=task).rows[0].winner
    'B'
    >>> pairwise([{"id": "1", "a": "Yes.", "b": "No."}], by=lambda item: "FIRST", task=task).rows[0].position_inconsistent
    True
    """
    shown = [
        {
            **{name: item[name] for name in ("question", "basis") if item.get(name)},
            "id": f"{item.get('id')}/{order}" if isinstance(item.get("id"), str) and item["id"] else item.get("id"),
            "first": item.get(order[0]),
            "second": item.get(order[1]),
        }
        for item in items
        for order in ORDERS
    ]
    asked = judge(shown, by=by, task=task, **options)
    said = {row.id: row for row in asked.rows if row.sample == 0}
    return Pairs(tuple(_pair(str(item["id"]), said) for item in items), asked)


def _pair(name: str, said: Mapping[str, Judgement]) -> Pair:
    ab, ba = (said[f"{name}/{order}"] for order in ORDERS)
    winners: list[Any] = [_OF_SHOWN[order].get(one.label, "") for order, one in zip(ORDERS, (ab, ba), strict=True)]
    missing = next((one for one in (ab, ba) if one.unscored), None)
    agreed = winners[0] == winners[1]
    return Pair(
        id=name,
        winner="" if missing else winners[0] if agreed else "TIE",
        ab=winners[0],
        ba=winners[1],
        position_inconsistent=missing is None and not agreed,
        reasons=(ab.reason, ba.reason),
        unscored=missing.unscored if missing else "",
        detail=missing.detail if missing else "",
    )
