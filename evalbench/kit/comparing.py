"""Every pair of groups compared, figure by figure, as one family of tests: one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.arrays import Bools, Ints
from evalbench.core.compared import ALPHA, Comparison, best_compared, held_back, left_out_note
from evalbench.core.comparison import Compared, adjusted_together, compare_sides
from evalbench.core.measures import Measure, drawn_in_turn, unit_sums
from evalbench.core.sides import Side, Sides
from evalbench.core.wording import count, counted, difference_parts, p_text
from evalbench.kit.evidence import groups_of, needed, without_absent
from evalbench.kit.verdicts import MAX_UNSCORED, N_RESAMPLES, SEED

if TYPE_CHECKING:
    import pandas as pd

_LINES = 3
"""Of more pairs than so many, only those of neighbouring rank are put into words."""


def compare_groups(
    items: pd.DataFrame,
    measures: Sequence[Measure],
    by: str,
    *,
    units: str = "id",
    rank_by: str = "",
    paired: bool = True,
    absent_counts: bool = False,
    seed: int = SEED,
    n_resamples: int = N_RESAMPLES,
) -> pd.DataFrame:
    """Every pair of groups, or of the best of many, on every measure, paired on the units that both have.

    Parameters
    ----------
    by, units : str
        The columns of the group and of the resampling unit.
    rank_by : str
        The measure that orders the groups: the better one of a pair is the first.  By default every measure picks the
        best of many for itself, and pairs are in order of their names.
    paired : bool
        False where the groups have units of their own, such as the sessions of two models: independent samples.
    absent_counts : bool
        Whether rows that the study filled in (column ``row_absent``) are compared too, since an option says what they mean.

    Returns
    -------
    DataFrame
        By measure, then by pair: ``{by}_a``, ``{by}_b`` and the fields of
        :class:`evalbench.core.compared.Comparison`, and ``held_back``: why none is shown where the p-value alone or the
        interval would show a difference.  p-values swap the two groups' rows within units; Holm's adjustment
        covers the whole table; ``smallest`` is the difference that is shown with 80 % power when tested alone.  Empty
        for a single group.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalbench.core.measures import mean_of
    >>> ids = [f"q{i}" for i in range(8)]
    >>> items = pd.DataFrame({"id": ids * 2, "model": ["fern"] * 8 + ["oak"] * 8, "score": [0.1] * 8 + [0.9] * 8})
    >>> found = compare_groups(items, [mean_of("score")], "model", rank_by="score")
    >>> found[["model_a", "model_b", "difference", "outcome", "p_holm"]].to_dict("list")
    {'model_a': ['oak'], 'model_b': ['fern'], 'difference': [0.8], 'outcome': ['better'], 'p_holm': [0.0078125]}
    """
    import pandas as pd

    items = items if absent_counts else without_absent(items)
    whose, groups = groups_of(items, by)
    wanted: dict[tuple[str, str], list[Measure]] = {}
    for measure in measures:
        ranking = next((m for m in measures if m.metric == rank_by), measure)
        best = best_compared(_ranked(items, ranking, by))
        for pair in combinations(best if rank_by else sorted(best), 2):
            wanted.setdefault(pair, []).append(measure)
    found: list[tuple[tuple[str, str], Comparison]] = []
    shared: dict[tuple[str, str], str] = {}
    for (a, b), listed in wanted.items():
        of = whose == groups.index(a), whose == groups.index(b)
        for some in drawn_in_turn(listed, int(of[0].sum())):
            compared = _compared(
                items, of, some, units, seed=seed, names=(a, b), paired=paired, n_resamples=n_resamples
            )
            found += [((a, b), c) for c in compared.comparisons]
        if paired and (alone := compared.only_a + compared.only_b):
            share = f"{compared.n_shared} of {counted(compared.n_shared + alone, 'unit')}"
            shared[a, b] = f" Compared on {share}, those that both have."
    lost = _lost(items, whose, groups)
    order = [m.metric for m in measures]
    found.sort(key=lambda one: order.index(one[1].metric))
    pairs = [pair for pair, _ in found]
    adjusted = adjusted_together([c for _, c in found], pairs)
    return pd.DataFrame(
        [
            {
                f"{by}_a": a,
                f"{by}_b": b,
                **c.row(),
                "words": c.words
                + shared.get((a, b), "")
                + (_of_lost({name: lost[name] for name in (a, b) if lost}) if _shows_one(c) else ""),
                "held_back": held_back(c),
            }
            for (a, b), c in zip(pairs, adjusted, strict=True)
        ]
    )


def _shows_one(c: Comparison) -> bool:
    """Whether a difference between the two is shown."""
    return c.outcome in ("better", "worse", "higher", "lower")


def _compared(
    items: pd.DataFrame, of: Iterable[Bools], measures: Sequence[Measure], units: str, *, paired: bool, **options: Any
) -> Compared:
    """Two groups' items compared; of a group only its sums by unit are in memory."""
    own = needed(items, measures, units, ())
    one, other = (_summed(own[here], measures, units) for here in of)
    sides = Sides.of(one, other, measures, paired=paired)
    del one, other  # their sums are those of the sides
    return compare_sides(sides, measures, paired=paired, **options)


def _summed(rows: pd.DataFrame, measures: Sequence[Measure], units: str) -> Side:
    return Side.of(rows, measures, rows[units])


def _lost(items: pd.DataFrame, whose: Ints, groups: Sequence[str]) -> dict[str, tuple[int, int]]:
    """How many of each group's items could not be scored, of how many; of its trials where it has several."""
    if "unscored" not in items:
        return {}
    lost: Any
    everything: Any
    if "n_trials_lost" in items:
        lost, everything = items["n_trials_lost"], items["n_trials"]
    else:
        lost, everything = items["unscored"] != "", np.ones(len(items))
    there = whose >= 0
    of, n = (np.bincount(whose[there], np.asarray(many)[there], len(groups)) for many in (lost, everything))
    return {name: (int(a), int(b)) for name, a, b in zip(groups, of, n, strict=True)}


def _of_lost(lost: Mapping[str, tuple[int, int]]) -> str:
    """How much of either group could not be scored, a sentence, where a difference may be of that; else empty."""
    many = [f"{count(n)} of {count(of)} of {name}" for name, (n, of) in lost.items() if n > MAX_UNSCORED * of]
    return f" {' and '.join(many)} could not be scored: the difference may be theirs." if many else ""


def _ranked(items: pd.DataFrame, measure: Measure, by: str) -> list[str]:
    """The groups, the best first; one without a value comes last."""
    sums, names = unit_sums(items, measure.sums, items[by])
    badness = measure.value(*sums.T) * (1 if measure.higher_is_better is False else -1)
    return [str(name) for _, name in sorted(zip(np.nan_to_num(badness, nan=np.inf), names, strict=True))]


def in_words(
    table: pd.DataFrame, by: str, metric: str, n_groups: int, *, ranked_by: str = "", called: str = ""
) -> list[str]:
    """The verdicts on one measure: of a few pairs all, of many those of neighbouring rank; and who was left out.

    Parameters
    ----------
    table : DataFrame
        Of :func:`compare_groups`.
    n_groups : int
        How many there are, compared or not.
    ranked_by : str
        What the best are the best by, in words; by default the measure.
    called : str
        What a group is called in words, if not as its column.
    """
    if table.empty:
        return []
    own = table[table["metric"] == metric]
    left_out = left_out_note(n_groups, f"{called or by}s", ranked_by or own["title"].iloc[0])
    if len(own) > _LINES:
        ranked = list(dict.fromkeys([*own[f"{by}_a"], *own[f"{by}_b"]]))
        neighbours = set(pairwise(ranked))
        own = own[[pair in neighbours for pair in zip(own[f"{by}_a"], own[f"{by}_b"], strict=True)]]
    return [*own["words"], *filter(None, [left_out])]


def shown(table: pd.DataFrame | None, by: str, *, called: str = "") -> pd.DataFrame:
    """The table as a notebook shows it: difference with its interval, Holm's p-value, the verdict and why none is shown.

    The last column is the smallest difference that so many units show with 80 % power when it is tested alone; a dash
    where a difference as large was found and not shown.  A pair that cannot be compared on any of several figures is one
    row, many such pairs too; where no pair can be, a sentence takes the place of the table.

    - ``called``: What a group is called in words, if not as its column.
    """
    import pandas as pd

    numbers = dict.fromkeys(("difference", "ci_low", "ci_high", "p_holm", "smallest"), float)
    rows = [] if table is None or table.empty else table.astype(numbers).to_dict("records")
    columns = ("figure", called or by, "against", "difference", "p, Holm", "verdict", "units", "80 % power for")
    lost = _incomparable(rows, by)
    if lost and len(lost) * len({r["metric"] for r in rows}) == len(rows):
        names = sorted({str(name) for pair in lost for name in pair})
        said = ", ".join(names) if len(names) <= 10 else f"{len(names)} {called or by}s"
        return pd.DataFrame({"note": [f"No two of {said} can be compared: {'; '.join(dict.fromkeys(lost.values()))}"]})
    cells = [
        (
            r["title"],
            r[f"{by}_a"],
            r[f"{by}_b"],
            "–" if np.isnan(r["difference"]) else " ".join(filter(None, difference_parts(r["difference"], *_ends(r)))),
            p_text(r["p_holm"]),
            _with_reason(r["outcome"], r["held_back"] or (r["note"] if r["outcome"] == "undefined" else "")),
            r["n_a"],
            f"{r['smallest']:.2g}" if abs(r["difference"]) < r["smallest"] or r["p_holm"] <= ALPHA else "–",
        )
        for r in rows
        if (r[f"{by}_a"], r[f"{by}_b"]) not in lost
    ]
    return pd.DataFrame([*cells, *_folded(lost, len({r["metric"] for r in rows}))], columns=columns)


def _ends(row: Mapping[Any, Any]) -> tuple[float | None, float | None]:
    """The ends of a difference's interval; None where there is none."""
    low, high = row["ci_low"], row["ci_high"]
    return (None, None) if np.isnan(low) or np.isnan(high) else (low, high)


def _incomparable(rows: Sequence[dict[Any, Any]], by: str) -> dict[tuple[str, str], str]:
    """The pairs that have no figure to compare, of several, each with its reason; none where a figure has its own."""
    reasons: dict[tuple[str, str], set[str]] = {}
    for r in rows:
        said = r["note"] if r["outcome"] == "undefined" else ""
        reasons.setdefault((r[f"{by}_a"], r[f"{by}_b"]), set()).add(said)
    several = len({r["metric"] for r in rows}) > 1 or len(reasons) > 1
    return {pair: said.pop() for pair, said in reasons.items() if several and len(said) == 1 and all(said)}


def _folded(lost: dict[tuple[str, str], str], n_figures: int) -> list[tuple[Any, ...]]:
    """One row a pair; of many pairs with one reason, one row."""
    pairs: dict[str, list[tuple[str, str]]] = {}
    for pair, why in lost.items():
        pairs.setdefault(why, []).append(pair)
    figures = "the figure" if n_figures == 1 else f"all {n_figures} figures"
    return [
        (figures, *names, "–", "–", _with_reason("undefined", why), 0, "–")
        for why, found in pairs.items()
        for names in (found if len(found) <= _LINES else [(f"{len(found)} pairs", "")])
    ]


def _with_reason(outcome: str, why: str) -> str:
    return f"{outcome}: {why}" if why else outcome
