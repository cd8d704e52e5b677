"""Two systems compared figure by figure: difference, interval, p-value, and the verdict in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.clusters import said, widened
from evalbench.core.compared import ALPHA, ANOTHER_JUDGE, ANOTHER_MEASURE, Comparison, Outcome, in_words
from evalbench.core.ends import at_an_end, unlike_at_most
from evalbench.core.measures import Columns, Drawn, Measure, intervals
from evalbench.core.planning import equivalent, least_p, smallest_difference
from evalbench.core.resample import drawn_in_words
from evalbench.core.seeds import rng
from evalbench.core.sides import Side, Sides, values_of
from evalbench.core.significance import Permutation, holm, mcnemar, shuffle_test, swap_test
from evalbench.core.stats import bootstrap_cautions, bootstrap_sums, no_width, percentile_interval


class Compared(NamedTuple):
    """All figures of two systems, and the units that only one of them has."""

    comparisons: tuple[Comparison, ...]
    n_shared: int
    only_a: int
    only_b: int


def compare_measures(
    columns_a: Columns,
    columns_b: Columns,
    measures: Sequence[Measure],
    *,
    units_a: npt.ArrayLike,
    units_b: npt.ArrayLike,
    seed: int,
    names: tuple[str, str] = ("A", "B"),
    paired: bool = True,
    margins: Mapping[str, float] | None = None,
    n_resamples: int = 2000,
    n_permutations: int = 10_000,
    alpha: float = ALPHA,
) -> Compared:
    """Compare two systems on figures that are functions of column sums.

    Parameters
    ----------
    columns_a, columns_b : mapping of str to (n,) arrays
        The items' columns of either system, as for :func:`evalbench.core.measures.estimate`.
    units_a, units_b : (n,) arrays
        The resampling unit of each item; clusters, where the columns hold some, are drawn and swapped together.
    names : (str, str)
        What the systems are called in the sentences.
    paired : bool
        Pair on the unit's id: units of one side alone are counted and left out.  Otherwise the systems are
        independent samples of units.
    margins : mapping of metric to float, optional
        Where the interval lies inside ±margin, the two are equivalent.
    alpha : float
        A difference is shown where Holm's p-value is at most alpha.

    Returns
    -------
    Compared
        Figures in the order given.  The order of items on either side changes nothing.

    Notes
    -----
    Paired: bootstrap of the difference over units, p-value by swapping the systems' rows within units (for means:
    sign flips).  Unpaired: independent bootstraps, p-value by dealing the units anew.  Where all units touch an end of
    the scale, a bootstrap has no width.  Unpaired: Newcombe's interval, d ∓ √((a − aₗ)² + (bᵤ − b)²) and its like, with
    Wilson's of a side that touches an end and the percentile interval of one that does not.  Paired, where all
    differences are alike: those of new units are unlike in a share of at most w, Wilson's upper end for 0 of n, and
    anywhere between the ends.

    References
    ----------
    Yeh (2000), COLING, for swapping within units; Berg-Kirkpatrick et al. (2012), EMNLP, for the paired bootstrap;
    Newcombe (1998), Statistics in Medicine 17, 873–890, method 10; Zou & Donner (2008), Statistics in Medicine 27,
    1693–1702, for other intervals in place of Wilson's.

    Examples
    --------
    >>> from evalbench.core.measures import share_of
    >>> ids = [f"q{i:02}" for i in range(40)]
    >>> a, b = {"right": [1] * 40}, {"right": [1, 0] * 20}
    >>> out = compare_measures(a, b, [share_of("right")], units_a=ids, units_b=ids, seed=0)
    >>> out.comparisons[0].outcome, out.comparisons[0].difference
    ('better', 0.5)
    """
    one, other = Side.of(columns_a, measures, units_a), Side.of(columns_b, measures, units_b)
    return compare_sides(
        Sides.of(one, other, measures, paired=paired),
        measures,
        seed=seed,
        names=names,
        paired=paired,
        margins=margins,
        n_resamples=n_resamples,
        n_permutations=n_permutations,
        alpha=alpha,
    )


def compare_sides(
    sides: Sides,
    measures: Sequence[Measure],
    *,
    seed: int,
    names: tuple[str, str] = ("A", "B"),
    paired: bool = True,
    margins: Mapping[str, float] | None = None,
    n_resamples: int = 2000,
    n_permutations: int = 10_000,
    alpha: float = ALPHA,
) -> Compared:
    """As :func:`compare_measures`, of the sums of items by unit."""
    repeated = sorted({f.metric for f in measures if sum(g.metric == f.metric for g in measures) > 1})
    unknown = sorted(set(margins or {}) - {f.metric for f in measures})
    if repeated or unknown:
        raise ValueError(
            "; ".join(
                [f"two figures of one name: {', '.join(repeated)}"] * bool(repeated)
                + [f"a margin for a figure that is not compared: {', '.join(unknown)}"] * bool(unknown)
            )
        )
    value_of = values_of(measures)
    a, b = sides.table_a, sides.table_b
    values = [value_of(t.sum(axis=0, keepdims=True))[0] for t in (a, b)]
    enough = min(len(a), len(b)) >= 2
    own: tuple[Floats, ...] = ()
    if not enough:
        replicates = np.full((1, len(measures)), np.nan)
        tests = [Permutation(None, note="fewer than two units")] * len(measures)
    elif paired:
        both = bootstrap_sums([a, b], lambda sums: sums, rng(seed, "comparison/bootstrap"), n_resamples)
        replicates = value_of(both[:, : a.shape[1]]) - value_of(both[:, a.shape[1] :])
        tests = swap_test(a, b, value_of, rng(seed, "comparison/swap"), n_permutations)
    else:
        own = tuple(
            bootstrap_sums(side, value_of, rng(seed, "comparison/bootstrap", name), n_resamples)
            for name, side in (("a", a), ("b", b))
        )
        replicates = own[0] - own[1]
        tests = shuffle_test(a, b, value_of, rng(seed, "comparison/shuffle"), n_permutations)
    sizes_a, sizes_b = sides.clusters_a or sides.n_a, sides.clusters_b or sides.n_b
    clusters = [min(pair) for pair in zip(sizes_a, sizes_b, strict=True)] if sides.clusters_a else None
    differences = np.stack([values[0] - values[1], *intervals(values[0] - values[1], replicates, clusters)])
    agreed = {
        j: found
        for j, measure in enumerate(measures)
        if (
            found := _agreed(
                measure.ends,
                (float(values[0][j]), float(values[1][j])),
                (sizes_a[j], sizes_b[j]),
                (float(differences[1, j]), float(differences[2, j])),
                [side[:, j] for side in own],
                widened(min(sizes_a[j], sizes_b[j])) if clusters else 0.95,
            )
        )
    }
    for j, (low, high, _) in agreed.items():
        differences[1:, j] = low, high
    adjusted = holm([math.nan if t.p is None else t.p for t in tests])
    compared = tuple(
        _compare_one(
            measure,
            (float(values[0][j]), float(values[1][j])),
            Drawn(
                value, low, high, replicates[:, j], min(sizes_a[j], sizes_b[j]), sides.clustered, clusters is not None
            ),
            tests[j],
            float(adjusted[j]),
            sides=sides,
            at=j,
            names=names,
            margin=(margins or {}).get(measure.metric),
            alpha=alpha,
            paired=paired,
            n_tests=max(1, int(np.isfinite(adjusted).sum())),
            agreed=agreed[j][2] if j in agreed else "",
        )
        for j, (measure, (value, low, high)) in enumerate(zip(measures, differences.T.tolist(), strict=True))
    )
    return Compared(compared, sides.n_shared, sides.only_a, sides.only_b)


def _agreed(
    scale: tuple[float, float] | None,
    values: tuple[float, float],
    n: tuple[int, int],
    interval: tuple[float, float],
    own: Sequence[Floats],
    level: float,
) -> tuple[float, float, str] | None:
    """The interval of a difference, and its name, where all units of a side touch an end of the scale; else None.

    ``own``: each side's replicates; none where the sides are paired.
    """
    if scale is None or min(n) < 2 or not np.isfinite([*values, *interval]).all():
        return None
    a, b = values
    width = scale[1] - scale[0]
    if not own:
        touch = all(value in scale for value in values)
        if not no_width(*interval) or not (touch or a != b):
            return None
        low, high = unlike_at_most(a - b, n[0], (-width, width))
        return low, high, f"worst case of {n[0]} units of which all agree"
    ends = [at_an_end(value, of, scale) for value, of in zip(values, n, strict=True)]
    if ends == [None, None]:
        return None
    (la, ua), (lb, ub) = (
        end or tuple(map(float, percentile_interval(drawn, level))) for end, drawn in zip(ends, own, strict=True)
    )
    low = a - b - math.hypot(a - la, ub - b)
    high = a - b + math.hypot(ua - a, b - lb)
    return max(low, -width), min(high, width), "Newcombe's, with Wilson's where all units of a side agree"


def _compare_one(
    measure: Measure,
    values: tuple[float, float],
    drawn: Drawn,
    test: Permutation,
    p_holm: float,
    *,
    sides: Sides,
    at: int,
    names: tuple[str, str],
    margin: float | None,
    alpha: float,
    paired: bool,
    n_tests: int,
    agreed: str,
) -> Comparison:
    defined = all(math.isfinite(v) for v in values)
    bounded = defined and drawn.n_units >= 2 and math.isfinite(drawn.low) and math.isfinite(drawn.high)
    difference = drawn.value if defined else None
    usable = drawn.replicates[np.isfinite(drawn.replicates)]
    spread = float(np.std(usable, ddof=1)) if bounded and len(usable) > 1 else 0.0
    rows_a, rows_b = sides.table_a[:, sides.columns[at]], sides.table_b[:, sides.columns[at]]
    same = paired and bounded and bool((rows_a == rows_b).all())
    tested = bounded and test.p is not None
    sizes = [(of or n)[at] for of, n in ((sides.clusters_a, sides.n_a), (sides.clusters_b, sides.n_b))]
    least = least_p(*sizes, paired=paired) if tested else None
    one_item_each = paired and not drawn.clustered
    outcome = _outcome(measure, difference, drawn, p_holm, same=same, tested=tested, margin=margin, alpha=alpha)
    found = Comparison(
        metric=measure.metric,
        title=measure.title,
        unit=measure.unit,
        higher_is_better=measure.higher_is_better,
        value_a=values[0] if math.isfinite(values[0]) else None,
        value_b=values[1] if math.isfinite(values[1]) else None,
        difference=difference,
        ci_low=drawn.low if bounded else None,
        ci_high=drawn.high if bounded else None,
        p=test.p if tested else None,
        p_holm=p_holm if tested else None,
        p_mcnemar=_mcnemar(rows_a, rows_b) if tested and one_item_each and _of_draws(measure, rows_a, rows_b) else None,
        smallest=smallest_difference(spread) if spread > 0 and least is not None and least <= alpha else None,
        least_p=least,
        n_differ=int((rows_a != rows_b).any(axis=1).sum()) if paired and tested else None,
        n_tests=n_tests,
        margin=margin,
        n_a=sides.n_a[at],
        n_b=sides.n_b[at],
        n_left_out=sides.n_shared - sides.n_a[at] if paired else 0,
        n_clusters=drawn.n_units if drawn.clusters else None,
        method=_method(
            drawn_in_words(len(drawn.replicates), drawn.n_units), test, agreed, paired=paired, clusters=drawn.clusters
        )
        if bounded
        else "",
        outcome=outcome,
        words="",
        note=_note(measure, drawn, defined=defined),
    )
    return replace(found, words=in_words(found, names))


def _outcome(
    measure: Measure,
    difference: float | None,
    drawn: Drawn,
    p_holm: float,
    *,
    same: bool,
    tested: bool,
    margin: float | None,
    alpha: float,
) -> Outcome:
    if difference is None or not tested:
        return "undefined"
    if same:
        return "same"
    if margin is not None and equivalent(drawn.low, drawn.high, margin):
        return "equivalent"
    return _direction(measure.higher_is_better, difference, p_holm, alpha)


def _direction(higher_is_better: bool | None, difference: float, p_holm: float, alpha: float) -> Outcome:
    if not p_holm <= alpha or difference == 0:
        return "no difference shown"
    if higher_is_better is None:
        return "higher" if difference > 0 else "lower"
    return "better" if (difference > 0) == higher_is_better else "worse"


def _of_draws(measure: Measure, *rows: Floats) -> bool:
    """Whether a figure is the share of units that are right, each of them right or wrong."""
    return measure.interval == "wilson" and all(np.isin(each, (0.0, 1.0)).all() for each in rows)


def _mcnemar(rows_a: Floats, rows_b: Floats) -> float:
    """From 0/1 sums of unclustered units; a unit left out is 0 on both sides and counts for neither."""
    return mcnemar(int((rows_a[:, 0] > rows_b[:, 0]).sum()), int((rows_a[:, 0] < rows_b[:, 0]).sum()))


def _method(resamples: str, test: Permutation, agreed: str, *, paired: bool, clusters: bool) -> str:
    of = "clusters" if clusters else "units"
    kind = f"swaps within {of}" if paired else f"{of} dealt anew"
    how = "all" if test.exact else f"{test.n_permutations}"
    if agreed:
        return f"{agreed}; {how} {kind}"
    drawn = "percentile bootstrap of clusters, widened by t" if clusters else "percentile bootstrap"
    return f"{'paired' if paired else 'independent'} {drawn}, {resamples}; {how} {kind}"


def _note(measure: Measure, drawn: Drawn, *, defined: bool) -> str:
    if drawn.n_units == 0:
        return "no unit has a value on both sides"
    if not defined:
        return measure.undefined
    if drawn.n_units < 2:
        return f"fewer than two {'clusters' if drawn.clusters else 'units'}: no interval and no test"
    no_value = float(np.isnan(drawn.replicates).mean())
    few = said(drawn.n_units) if drawn.clusters else None
    return "; ".join(bootstrap_cautions(drawn.low, drawn.high, no_value, drawn.n_units, few))


def adjusted_together(
    comparisons: Sequence[Comparison], names: Sequence[tuple[str, str]], *, alpha: float = ALPHA
) -> tuple[Comparison, ...]:
    """Comparisons of several pairs of systems as one family: Holm's adjustment over all, outcomes and words anew.

    Parameters
    ----------
    names : sequence of (str, str)
        What the two systems of each comparison are called.

    Examples
    --------
    >>> from evalbench.core.measures import mean_of
    >>> ids, high, low = [f"q{i}" for i in range(8)], {"x": [0.9] * 8}, {"x": [0.1] * 8}
    >>> one = compare_measures(high, low, [mean_of("x")], units_a=ids, units_b=ids, seed=0).comparisons[0]
    >>> one.p, [c.p_holm for c in adjusted_together([one] * 3, [("a", "b")] * 3)]
    (0.0078125, [0.0234375, 0.0234375, 0.0234375])
    """
    p_values = holm([math.nan if c.p is None else c.p for c in comparisons])
    n_tests = max(1, sum(c.p is not None for c in comparisons))
    out = []
    for c, p, pair in zip(comparisons, p_values.tolist(), names, strict=True):
        outcome = c.outcome
        if (
            c.p is not None
            and c.difference is not None
            and outcome not in ("same", "equivalent", ANOTHER_JUDGE, ANOTHER_MEASURE)
        ):
            outcome = _direction(c.higher_is_better, c.difference, p, alpha)
        changed = replace(c, p_holm=None if c.p is None else p, outcome=outcome, n_tests=n_tests)
        out.append(replace(changed, words=in_words(changed, pair)))
    return tuple(out)
