"""The figures of each value of a slice, in every study: a decorator of ``summarise``.

A study's ``summarise`` takes any subset of units, so that the figures of a value are those of its rows.  The test against the
rest is a permutation of sums, for the figures that the study's ``measures`` define.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.clusters import codes, drawn_together
from evalbench.core.compared import ALPHA
from evalbench.core.dealing import value_tests
from evalbench.core.measures import Measure, unit_sums
from evalbench.core.result import Estimate, Summary
from evalbench.core.seeds import rng
from evalbench.core.significance import holm
from evalbench.core.slices import FEWEST, SLICE, Slice, Slices
from evalbench.core.wording import counted, estimate_text, p_equals
from evalbench.kit.options import taken

if TYPE_CHECKING:
    import pandas as pd

MOST_VALUES = 40
"""Of more values those with the most items are looked at."""
HEADLINE = 4
_OTHERS = "\0others"  # a name that no value has
"""So many figures are given for each value."""

Summarise = Callable[..., Summary]


def sliced(
    unit: str = "id",
    *,
    measures: Callable[..., Sequence[Measure]] | None = None,
    with_sums: Callable[..., pd.DataFrame] | None = None,
) -> Callable[[Summarise], Summarise]:
    """A decorator of ``summarise``: with slices in the items, their figures too, and the worst of them in the sentence.

    Parameters
    ----------
    unit : str
        The items' column of the resampling unit.
    measures, with_sums : callable, optional
        The study's hooks; without them values are not tested against the rest.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalbench.core.measures import mean_of
    >>> from evalbench.kit import verdicts
    >>> def measures():
    ...     return (mean_of("score"),)
    >>> @sliced(measures=measures)
    ... def summarise(items, *, seed=0, n_resamples=200):
    ...     return verdicts.worst_group(items, measures(), "model", seed=seed, n_resamples=n_resamples)
    >>> items = pd.DataFrame({"id": range(80), "score": [1, 1, 0, 1] * 10 + [0, 0, 0, 1] * 10, "unscored": "", "undefined": ""})
    >>> found = summarise(items.assign(**{"slice:topic": ["art"] * 40 + ["law"] * 40}))
    >>> [(s.name, s.figure, s.rest) for s in found.slices.rows], found.verdict.sentence.partition("Worst")[2]
    ([('art', 0.75, 0.25), ('law', 0.25, 0.75)], ' by topic: law, score 0.25 [0.12, 0.38], the rest 0.75, Holm p < 0.001 over 2 tests.')
    """

    def decorate(summarise: Summarise) -> Summarise:
        @functools.wraps(summarise)
        def called(items: pd.DataFrame, **options: Any) -> Summary:
            columns = [str(c) for c in items.columns if str(c).startswith(SLICE)]
            plain = items.drop(columns=columns) if columns else items
            found = summarise(plain, **options)
            defaults = {
                n: p.default for n, p in inspect.signature(summarise).parameters.items() if p.kind is p.KEYWORD_ONLY
            }
            every = {**defaults, **options}
            if not columns or every.get("n_resamples", 0) < 2:  # one of many resamples
                return found
            listed = measures(**taken(measures, every)) if measures else ()
            summed = with_sums(plain, **taken(with_sums, every)) if with_sums else plain
            slices = slices_of(
                plain,
                {c.removeprefix(SLICE): items[c].astype(str).to_numpy() for c in columns},
                found,
                lambda rows: summarise(rows, **options),
                {m.metric: m for m in listed},
                summed,
                unit=unit,
                seed=int(every.get("seed", 0)),
            )
            sentence = " ".join(filter(None, [found.verdict.sentence, slices.sentence]))
            return replace(found, slices=slices, verdict=replace(found.verdict, sentence=sentence))

        return called

    return decorate


def slices_of(
    items: pd.DataFrame,
    columns: Mapping[str, Any],
    whole: Summary,
    summarise: Summarise,
    measures: Mapping[str, Measure],
    summed: pd.DataFrame,
    *,
    unit: str,
    seed: int,
) -> Slices:
    """The headline figures of each value of these columns.

    Parameters
    ----------
    items : DataFrame
        Without the columns of slices.
    columns : mapping of str to (n,) array
        Column → each item's value.
    whole : Summary
        Of all items: which figures there are, and of which groups.
    summarise : callable
        Items → Summary.
    measures : mapping of metric to Measure
    summed : DataFrame
        The items with what the measures sum.
    unit, seed
        See :func:`sliced`.
    """
    lead = whole.verdict.decided_by["metric"] if whole.verdict.decided_by else whole.estimates[0].metric
    metrics = list(dict.fromkeys([lead, *(e.metric for e in whole.estimates)]))[:HEADLINE]
    rows: list[Slice] = []
    notes: list[str] = []
    for column, names in columns.items():
        kept = _largest(names)
        n_values = len(np.unique(names))
        if n_values > len(kept):
            left = int((~np.isin(names, kept)).sum())
            notes.append(
                f"{column} has {n_values} values: the {len(kept)} with the most items are looked at apart, the "
                f"{n_values - len(kept)} others ({counted(left, 'item')}) only among the rest of each"
            )
        of_values = {name: summarise(items[names == name]).estimates for name in kept}
        for metric in metrics:
            for e in (e for e in whole.estimates if e.metric == metric and set(e.group) <= set(items.columns)):
                rows += _of_group(e, column, names, of_values, measures.get(metric), summed, unit, seed)
    tested = {m for m in metrics if m in measures}
    if set(metrics) - tested and tested != set(metrics):
        titles = {e.metric: e.title for e in whole.estimates}
        notes.append(
            f"Not tested against the rest, since they are not sums over items: {', '.join(titles[m] for m in metrics if m not in tested)}"
        )
    adjusted = _adjusted(rows)
    return Slices(rows=tuple(adjusted), sentence=_sentence(adjusted, lead), notes=tuple(notes))


def _largest(names: Any) -> list[str]:
    """The values with most items, equal ones in order of their names."""
    values, counts = np.unique(names, return_counts=True)
    return [str(v) for v in values[np.lexsort((values, -counts))][:MOST_VALUES]]


def _of_group(
    whole: Estimate,
    column: str,
    names: Any,
    of_values: Mapping[str, Sequence[Estimate]],
    measure: Measure | None,
    summed: pd.DataFrame,
    unit: str,
    seed: int,
) -> list[Slice]:
    own = np.ones(len(names), dtype=bool)
    for key, value in whole.group.items():
        own &= summed[key].astype(str).to_numpy() == value
    rest, p = _against_rest(whole, column, names[own], list(of_values), measure, summed[own], unit, seed)
    found = []
    for name, estimates in of_values.items():
        e = next((e for e in estimates if e.metric == whole.metric and dict(e.group) == dict(whole.group)), None)
        n_items = int((names[own] == name).sum())
        if e is None or not n_items:
            continue
        few, other = e.n < FEWEST, rest.get(name)
        known = e.value is not None and other is not None
        found.append(
            Slice(
                column=column,
                name=name,
                group=dict(whole.group),
                metric=e.metric,
                title=e.title,
                unit=e.unit,
                higher_is_better=e.higher_is_better,
                n_items=n_items,
                n=e.n,
                figure=e.value,
                ci_low=e.ci_low,
                ci_high=e.ci_high,
                rest=other,
                difference=e.value - other if known else None,  # type: ignore[operator]
                p=None if few or not known else p.get(name),
                few=few,
            )
        )
    return found


def _against_rest(
    whole: Estimate,
    column: str,
    names: Any,
    kept: Sequence[str],
    measure: Measure | None,
    rows: pd.DataFrame,
    unit: str,
    seed: int,
) -> tuple[dict[str, float], dict[str, float]]:
    """By value the figure over all other items, and the p-value of the difference."""
    if measure is None:
        return {}, {}
    scored = np.ones(len(rows), dtype=bool)
    for name in measure.sums:
        scored &= np.isfinite(rows[name.removeprefix("#")].to_numpy(dtype=float))
    rows, names = rows[scored], names[scored]
    if len(np.unique(names)) < 2:
        return {}, {}
    _, block = codes(drawn_together(rows, rows[unit].to_numpy()))
    _, piece = codes(rows[unit].astype(str).to_numpy())
    values, of = codes(np.where(np.isin(names, kept), names, _OTHERS))
    pieces, _, at = np.unique(np.stack([piece, of, block]), axis=1, return_index=True, return_inverse=True)
    sums, ids = unit_sums(rows, measure.sums, np.char.zfill(at.ravel().astype(str), 12))
    order = np.asarray(ids, dtype=np.int64)
    table, value_of_piece, block_of_piece = sums, pieces[1][order], pieces[2][order]

    def statistic(s: Any) -> Any:
        return measure.value(*s.reshape(-1, s.shape[-1]).T).reshape(s.shape[:-1])

    tested = (np.bincount(of) >= FEWEST) & (values != _OTHERS)
    place = "/".join([column, whole.metric, *whole.group.values()])
    p_values = value_tests(table, value_of_piece, block_of_piece, statistic, rng(seed, "slices", place), tested=tested)
    own = np.stack([np.bincount(value_of_piece, weights=c, minlength=len(values)) for c in table.T], axis=1)
    with np.errstate(all="ignore"):
        others = statistic(table.sum(axis=0) - own)
    at_value = {str(v): j for j, v in enumerate(values)}
    there = [v for v in kept if v in at_value]
    rest = {v: float(others[at_value[v]]) for v in there if np.isfinite(others[at_value[v]])}
    return rest, {v: p for v in there if (p := p_values[at_value[v]]) is not None}


def _adjusted(rows: Sequence[Slice]) -> list[Slice]:
    """Holm's adjustment of each figure over all its values, columns and groups."""
    out = list(rows)
    for metric in {s.metric for s in rows}:
        at = [i for i, s in enumerate(rows) if s.metric == metric and s.p is not None]
        for i, p in zip(at, holm([rows[i].p or 0.0 for i in at]).tolist(), strict=True):
            out[i] = replace(out[i], p_holm=p)
    return out


def _sentence(rows: Sequence[Slice], lead: str) -> str:
    """The value that is worst, where it is shown to be worse than the rest."""
    tested = [s for s in rows if s.metric == lead and s.p_holm is not None]
    worse = [s for s in tested if s.worse_by > 0 and s.p_holm is not None and s.p_holm <= ALPHA]
    if not worse:
        return ""
    s = max(worse, key=lambda s: s.worse_by)
    e = Estimate(metric=s.metric, value=s.figure, ci_low=s.ci_low, ci_high=s.ci_high, unit=s.unit)
    other = Estimate(metric=s.metric, value=s.rest, ci_low=s.ci_low, ci_high=s.ci_high, unit=s.unit)
    whose = f" ({', '.join(s.group.values())})" if s.group else ""
    rest = estimate_text(other).partition(" [")[0]
    return (
        f"Worst by {s.column}: {s.shown}{whose}, {s.title} {estimate_text(e)}, the rest {rest}, "
        f"Holm p {p_equals(s.p_holm or 0.0)} over {counted(len(tested), 'test')}."
    )
