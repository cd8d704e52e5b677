"""A list of answers in order of quality: asked in several orders of showing them, and averaged."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalbench.core.seeds import rng
from evalbench.errors import BadInput
from evalbench.judge.rows import Judgement, Judgements
from evalbench.judge.tasks import Task
from evalbench.judge.verdicts import InProcess, Recording, judge

if TYPE_CHECKING:
    import pandas as pd

ALL_ORDERS_TO = 4
"""Up to so many answers every order is shown."""
ORDERS = 6


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """How a judge ranked the answers to one question.

    Attributes
    ----------
    borda : mapping of str to float
        Of each answer's name the share of the others that it was placed before, 0–1, over the orders with a verdict; ½ of each
        is what shuffling alone would give.  Empty without a verdict.
    places : tuple of tuple of str
        The names, best first, as each order with a verdict gave them.
    shown : int
        Orders that were shown.
    unscored : str
        Why there is no ranking; empty where there is one.
    """

    id: str
    borda: Mapping[str, float]
    places: tuple[tuple[str, ...], ...]
    shown: int
    unscored: str = ""
    detail: str = ""

    @property
    def order(self) -> tuple[str, ...]:
        """The names, best first; equal ones by name."""
        return tuple(sorted(self.borda, key=lambda name: (-self.borda[name], name)))


@dataclass(frozen=True)
class Rankings:
    """All rankings of a judge, in the order of the items, and what was asked."""

    rows: tuple[Ranking, ...]
    asked: tuple[Judgements, ...]

    def frame(self) -> pd.DataFrame:
        """One row per item and answer: id, name, borda, place, shown, unscored."""
        import pandas as pd

        rows = [
            (r.id, name, r.borda[name], place, r.shown, "")
            for r in self.rows
            for place, name in enumerate(r.order, start=1)
        ]
        rows += [(r.id, "", math.nan, 0, r.shown, r.unscored) for r in self.rows if r.unscored]
        return pd.DataFrame(rows, columns=["id", "name", "borda", "place", "shown", "unscored"])


def ranking_task(criterion: str, definition: str, n: int) -> Task:
    """Ranking ``n`` answers by a criterion.

    Examples
    --------
    >>> ranking_task("brevity", "Which is shorter?", 3).fields
    ('answers',)
    """
    from typing import Annotated

    from pydantic import AfterValidator, Field

    def each_once(places: list[int]) -> list[int]:
        if sorted(places) != list(range(1, n + 1)):
            raise ValueError(f"expected each number from 1 to {n} once, got {places}")
        return places

    if n < 2:
        raise BadInput(f"a ranking needs two answers at least, got {n}")
    kind = Annotated[list[int], Field(min_length=n, max_length=n), AfterValidator(each_once)]
    return Task(
        "ranking",
        ("answers",),
        {},
        optional=("question", "basis"),
        lists=("answers",),
        context={"criterion": criterion, "definition": definition, "n": n},
        parts={"order": (kind, f"the numbers of all {n} answers, best first, each once")},
    )


def orders_of(n: int, *, orders: int = ORDERS, seed: int = 0, item_id: str = "") -> list[tuple[int, ...]]:
    """The orders in which ``n`` answers are shown: all of them up to four answers, else ``orders`` different seeded ones.

    Examples
    --------
    >>> orders_of(2)
    [(0, 1), (1, 0)]
    >>> len(orders_of(7, orders=5)), len(orders_of(4))
    (5, 24)
    """
    if n <= ALL_ORDERS_TO:
        return list(itertools.permutations(range(n)))
    generator = rng(seed, "judge/ranking", item_id)
    found: dict[tuple[int, ...], None] = {}
    while len(found) < min(orders, math.factorial(n)):
        found.setdefault(tuple(int(i) for i in generator.permutation(n)))
    return list(found)


def ranking(
    items: Sequence[Mapping[str, Any]],
    *,
    by: str | Recording | InProcess,
    criterion: str,
    definition: str,
    orders: int = ORDERS,
    seed: int = 0,
    **options: Any,
) -> Rankings:
    """Rank the answers to each question, in several orders of showing them, and average the places (Borda).

    An answer's Borda score in one ranking of n is (n − place)/(n − 1): 1 for the best, 0 for the last; the mean is over the
    orders whose reply was a ranking.

    Parameters
    ----------
    items : sequence of mapping
        ``id``, ``answers`` (name to text, two at least), and if wanted ``question`` and ``basis``.
    by : str, Recording or callable
        As in :func:`evalbench.judge.verdicts.judge`; the reply has ``order``, the numbers as shown, best first.  Recorded ones
        have the ids ``ID/0``, ``ID/1``, … in the order of :func:`orders_of`.
    orders : int
        How many orders are shown of five answers or more; up to four, all are.
    options
        As in :func:`evalbench.judge.verdicts.judge`.

    Raises
    ------
    BadInput
        For an item without two answers, or as :func:`evalbench.judge.verdicts.judge` does.

    References
    ----------
    Borda (1781), Mémoire sur les élections au scrutin; Tang et al. (2024), Found in the Middle: Permutation Self-Consistency, for
    several orders.

    Examples
    --------
    >>> def longest(item):
    ...     texts = item["answers"]
    ...     return {"order": [i + 1 for i in sorted(range(len(texts)), key=lambda i: -len(texts[i]))]}
    >>> items = [{"id": "1", "answers": {"fern": "Yes.", "oak": "Yes, from noon."}}]
    >>> ranking(items, by=longest, criterion="fulness", definition="Which says most?").rows[0].order
    ('oak', 'fern')
    """
    faults = [
        f"item {item.get('id')!r}: answers is {item.get('answers')!r}, not names with texts, two at least"
        for item in items
        if not isinstance(item.get("answers"), Mapping) or len(item["answers"]) < 2
    ]
    if orders < 1:
        faults.append(f"orders is {orders}; at least 1")
    if faults:
        raise BadInput.listing("answers cannot be ranked:", faults)
    shown_in = {
        item["id"]: orders_of(len(item["answers"]), orders=orders, seed=seed, item_id=item["id"]) for item in items
    }
    said: dict[str, Judgement] = {}
    asked = []
    for n in sorted({len(item["answers"]) for item in items}):
        of_n = [
            {
                **{name: item[name] for name in ("question", "basis") if item.get(name)},
                "id": f"{item['id']}/{place}",
                "answers": [list(item["answers"].values())[i] for i in order],
            }
            for item in items
            if len(item["answers"]) == n
            for place, order in enumerate(shown_in[item["id"]])
        ]
        found = judge(of_n, by=by, task=ranking_task(criterion, definition, n), seed=seed, **options)
        said.update((row.id, row) for row in found.rows if row.sample == 0)
        asked.append(found)
    return Rankings(tuple(_ranking(item, shown_in[item["id"]], said) for item in items), tuple(asked))


def _ranking(item: Mapping[str, Any], shown: Sequence[tuple[int, ...]], said: Mapping[str, Judgement]) -> Ranking:
    names = list(item["answers"])
    replies = [said[f"{item['id']}/{place}"] for place in range(len(shown))]
    places = tuple(
        tuple(names[order[number - 1]] for number in reply.parts["order"])
        for order, reply in zip(shown, replies, strict=True)
        if not reply.unscored
    )
    if not places:
        why = replies[0]
        return Ranking(id=item["id"], borda={}, places=(), shown=len(shown), unscored=why.unscored, detail=why.detail)
    last = len(names) - 1
    borda = {name: sum(last - one.index(name) for one in places) / (last * len(places)) for name in names}
    return Ranking(id=item["id"], borda=borda, places=places, shown=len(shown))
