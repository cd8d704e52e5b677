"""Every pair of several sides, as one family of tests; a pair that cannot be compared says why."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from evalbench.compare.answers import Answered, answered
from evalbench.compare.experiment import Experiment
from evalbench.compare.runs import Differences, Hooks, compare, one_family
from evalbench.compare.sides import Side
from evalbench.errors import BadInput

MOST_SIDES = 12  # 66 pairs


class Refused(NamedTuple):
    """A pair without a comparison."""

    reference: Side
    side: Side
    reason: str


class Pairs(NamedTuple):
    """Pairs of sides, each against the one that was named before it.

    - ``sides``: As they were named.
    - ``found``: In the order of the sides; Holm's adjustment covers the headline figures of all pairs together, and all
      further figures together.
    - ``answers``: Tokens and seconds per answer of each pair, as they were found; empty where nobody looked.
    """

    sides: tuple[Side, ...]
    found: tuple[Differences, ...]
    refused: tuple[Refused, ...] = ()
    answers: tuple[tuple[Answered, ...], ...] = ()
    experiment: Experiment | None = None

    @classmethod
    def against_the_first(cls, found: Sequence[Differences]) -> Pairs:
        """Comparisons with one reference."""
        return cls((found[0].reference, *(d.side for d in found)), tuple(found))


def compare_pairs(sides: Sequence[Side], hooks: Hooks, **options: Any) -> Pairs:
    """Compare each two of several sides.

    - ``sides``: At least two, at most :data:`MOST_SIDES`.
    - ``hooks``: Of the study of the first.
    - ``**options``: Those of :func:`evalbench.compare.runs.compare`.

    Raises ``BadInput`` if there are too many sides, or no two can be compared: with each pair's reason.
    """
    if len(sides) > MOST_SIDES:
        raise BadInput(f"{len(sides)} runs: at most {MOST_SIDES} are compared with each other; name fewer")
    if len(sides) == 2:
        return Pairs(tuple(sides), compare(sides[0], sides[1:], hooks, **options))
    found: list[Differences] = []
    refused: list[Refused] = []
    for reference, side in itertools.combinations(sides, 2):
        try:
            found += compare(reference, [side], hooks, **options)
        except BadInput as error:
            refused.append(Refused(reference, side, " ".join(str(error).split())))
    if not found:
        raise BadInput.listing("no two of these runs can be compared:", [pair.reason for pair in refused])
    return Pairs(tuple(sides), one_family(found), tuple(refused))


def with_answers(pairs: Pairs, *, seed: int, n_resamples: int = 2000) -> Pairs:
    """Pairs with the tokens and seconds per answer of those whose runs carry them."""
    return pairs._replace(answers=tuple(answered(d, seed=seed, n_resamples=n_resamples) for d in pairs.found))
