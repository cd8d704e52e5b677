"""Groups of equal answers: by their normalised texts, or by mutual entailment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evalbench import core, kit

EXACT, ENTAILMENT = "exact", "entailment"
CLUSTERS = (EXACT, ENTAILMENT)


class Grouped(NamedTuple):
    """The group of every text, and why an item's groups are not known (empty where they are)."""

    group: core.arrays.Ints
    unscored: np.ndarray[Any, Any]


def by_entailment(
    item: core.arrays.Ints,
    code: core.arrays.Ints,
    texts: Sequence[str],
    questions: Sequence[str],
    langs: Sequence[str],
    docket: kit.judging.Docket,
) -> Grouped:
    """Texts of one item that entail each other in both directions are one group.

    A text joins the first group whose first text it is equivalent to (Kuhn et al. 2023, algorithm 1); equal texts are one.

    - ``item``, ``code`` ((m,) arrays of int): The item of each text, ascending; a number that is the same for equal
      texts.
    - ``texts``: The m texts.
    - ``questions``, ``langs``: Of each item; a question that is there is put before its answers.
    - ``docket``: The judge of entailment.
    """
    n_items = len(questions)
    first, inverse = np.unique(np.stack([item, code], axis=1), axis=0, return_index=True, return_inverse=True)[1:]
    # Distinct texts of each item in the order in which they came.
    distinct: list[list[int]] = [[] for _ in range(n_items)]
    for place in sorted(first.tolist()):
        distinct[item[place]].append(place)
    heads: list[list[int]] = [[] for _ in range(n_items)]
    joined: dict[int, int] = {}
    unscored = np.full(n_items, "", dtype=object)

    def said(at: int) -> str:
        return f"{questions[item[at]]} {texts[at]}".strip()

    for turn in range(max(map(len, distinct), default=0)):
        pairs = [
            (own[turn], head)
            for i, own in enumerate(distinct)
            if turn < len(own) and not unscored[i]
            for head in heads[i]
        ]
        asked = [
            kit.judging.Question({"premise": said(a), "hypothesis": said(b)}, langs[item[a]] or "en", unit=str(item[a]))
            for one, head in pairs
            for a, b in ((one, head), (head, one))
        ]
        heard = docket.ask("entailment", asked) if asked else []
        for (one, head), there, back in zip(pairs, heard[::2], heard[1::2], strict=True):
            why = there.unscored or back.unscored
            if why:
                unscored[item[one]] = why
            elif there.label == back.label == "ENTAILMENT":
                joined.setdefault(one, head)
        for i, own in enumerate(distinct):
            if turn < len(own) and own[turn] not in joined:
                heads[i].append(own[turn])
    group_of = np.array([joined.get(place, place) for place in first.tolist()], dtype=np.int64)
    return Grouped(group_of[np.ravel(inverse)], unscored)
