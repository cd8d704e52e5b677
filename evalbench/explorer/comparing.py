"""Two runs of a study, or two groups of a run, item by item: pairs by filter, and the figures that ``evalbench compare`` has of them."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench import studies
from evalbench.compare.changes import mean
from evalbench.compare.runs import Differences, Hooks, compare, paired_groups
from evalbench.compare.sides import Side, read_side
from evalbench.core.clusters import CLUSTER
from evalbench.core.compared import ANOTHER_JUDGE, ANOTHER_MEASURE
from evalbench.core.comparison import compare_measures
from evalbench.core.measures import Measure, mean_of, share_of
from evalbench.core.wording import count, listed, title_of
from evalbench.errors import BadInput
from evalbench.explorer.database import as_json
from evalbench.explorer.families import figure_row, figure_rows, on_page
from evalbench.explorer.inputs import same_data
from evalbench.explorer.pairing import NEITHER, ONLY_LEFT, ONLY_RIGHT, Pairs
from evalbench.explorer.rows import shortened
from evalbench.explorer.sided import Score, group_of, sides
from evalbench.explorer.standing import AFTER_LOOKING
from evalbench.kit.options import taken
from evalbench.kit.trials import COUNTS
from evalbench.kit.verdicts import N_RESAMPLES, SEED
from evalbench.readers.runs import RESULTS_JSON

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.explorer.rows import Rows

SAMPLED_FROM = 10_000
"""Of more pairs than this the figures are those of so many, drawn evenly, and said to be."""
_KEPT, _TRIED, _FEW = 2, 6, 100
_VOID = (ANOTHER_JUDGE, ANOTHER_MEASURE)


class Compared(NamedTuple):
    """Two sides.

    - ``figures``: A row each: the group, ``metric``, ``title``, ``left``, ``right``, ``difference`` (right − left), ``ci_low`` and
      ``ci_high`` (95 %), ``n`` (units that both have); ``p``, ``p_holm``, ``n_tests`` and ``family`` (for what ``p_holm`` is
      adjusted) and ``outcome`` of the right against the left unless the items were filtered. Of two groups of one run, figures
      that its page compares are those of the page. One that was chosen by a column is the first.
    - ``items``: A row for each id and group that a side has, the largest changes first: ``left``, ``right``, ``change`` (right − left; NaN
      where one has no value, or the inputs differ) and ``verdict``, one of :data:`evalbench.explorer.pairing.VERDICTS`.
    - ``metric``: By what the items are compared, in words.
    - ``names``: Of the two sides.
    - ``only``: How many items only the left and only the right side has.
    - ``notes``: What to beware of.
    """

    figures: pd.DataFrame
    items: pd.DataFrame
    metric: str
    names: tuple[str, str]
    only: tuple[int, int]
    notes: tuple[str, ...]


class Figures(NamedTuple):
    """The differences of two sides in figures; see :class:`Compared`."""

    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]


def compared(
    left: Rows, right: Rows, groups: tuple[str, str] = ("", ""), metric: str = "", where: str = ""
) -> Compared:
    """Two sides, item by item.

    - ``groups``: Of each side, such as ``"model=oak"``; empty for all of the run.
    - ``metric``: The figure, or column of the items, by which they are compared; by default the one that decides
      the light, else the first that differs.
    - ``where``: A filter; of each pair one item fits it.

    Raises ``BadInput`` for a filter or a group that cannot be read, and where the two cannot be compared.
    """
    import pandas as pd

    pairs = paired(left, right, groups, metric, where)
    found = figures(left, right, groups, metric, where)
    counts = pairs.counts
    return Compared(
        pd.DataFrame([{**row["group"], **{k: v for k, v in row.items() if k != "group"}} for row in found.rows]),
        pairs.frame(),
        pairs.score.title,
        (pairs.sides[0].name, pairs.sides[1].name),
        (counts.get(ONLY_LEFT, 0), counts.get(ONLY_RIGHT, 0)),
        found.notes,
    )


def paired(left: Rows, right: Rows, groups: tuple[str, str], metric: str = "", where: str = "") -> Pairs:
    """The pairs of two sides; those that were asked for last are kept, since they are sorted and turned over."""
    return _paired(left, right, _written(left, right), groups, metric, where.strip())


def figures(left: Rows, right: Rows, groups: tuple[str, str], metric: str = "", where: str = "") -> Figures:
    """The figures of two sides by ``evalbench compare``; without tests where the items were filtered."""
    return _figures(left, right, _written(left, right), groups, metric, where.strip())


def scores(of: Sequence[Side], rows: Sequence[Rows], hooks: Hooks) -> dict[str, Score]:
    """By what two sides can be compared item by item: figures that are sums over items, then columns of numbers, yes and no."""
    stated = [{row["metric"] for row in side.results["summary"]} for side in of]
    columns = [{c.name: c.kind for c in one.columns_of("items") if c.kind in ("number", "yes/no")} for one in rows]
    own = [{c.name for c in one.columns_of("items")} for one in rows]
    others = [names - set(numbers) for names, numbers in zip(own, columns, strict=True)]
    measures = definitions(hooks, of[0]) or []
    found = {}
    for measure in measures:
        summed = {name.removeprefix("#") for name in measure.sums}
        known_columns = hooks.with_sums is not None or all(summed <= one for one in own)
        if all(measure.metric in one for one in stated) and known_columns and not any(summed & one for one in others):
            found[measure.metric] = Score(measure.metric, measure.title, measure, measure.higher_is_better, True)
    draws = {measure.sums[0]: measure for measure in measures if measure.interval == "wilson"}
    left_out = {rows[0].id, rows[1].id, *rows[0].by, *rows[1].by, CLUSTER, *COUNTS, *found}
    named = [name for name in columns[0] if name in columns[1] and name not in left_out]
    for name in sorted(named, key=lambda name: (name not in stated[0], name != "score")):
        known = draws.get(name)
        higher = next((row.get("higher_is_better") for row in of[0].results["summary"] if row["metric"] == name), None)
        measure = Measure(name, (name, f"#{name}"), mean, interval="wilson" if known else "bootstrap")
        found[name] = Score(name, name, measure, known.higher_is_better if known else higher, False)
    return found


def decides(of: Sequence[Side], known: Container[str]) -> str:
    """The figure that decided the light of a side's run, where sides can be compared by it; else empty."""
    named = [str((side.results.get("decided_by") or {}).get("metric", "")) for side in of]
    return next((name for name in named if name in known), "")


def definitions(hooks: Hooks, side: Side) -> list[Measure] | None:
    """The figures of a study that are functions of sums; None where the run does not record an option that they need."""
    if hooks.measures is None:
        return []
    options = side.options(hooks.measures)
    try:
        inspect.signature(hooks.measures).bind(**options)
    except TypeError:
        return None
    return list(hooks.measures(**options))


def _written(*runs: Rows) -> tuple[float, ...]:
    return tuple((rows.folder / RESULTS_JSON).stat().st_mtime for rows in runs)


@functools.lru_cache(maxsize=_KEPT)
def _paired(left: Rows, right: Rows, _at: tuple[float, ...], groups: tuple[str, str], metric: str, where: str) -> Pairs:
    of = sides(left, right, groups)
    hooks = Hooks.of(studies.study(str(of[0].results["study"])))
    known = scores(of, (left, right), hooks)
    if metric and metric not in known:
        raise BadInput(f"items are not compared by {metric!r}; they are by {', '.join(known) or 'nothing'}")
    if not known:
        raise BadInput("the items of these runs have no column of numbers in common by which they can be compared")
    first, chosen = None, metric or decides(of, known)
    for name in [chosen] if chosen else list(known)[:_TRIED]:
        found = Pairs(left, right, of, known[name], hooks, where)
        first = first or found
        if set(found.counts) - {"same", NEITHER, ONLY_LEFT, ONLY_RIGHT}:
            return found
    assert first is not None
    return first


@functools.lru_cache(maxsize=4 * _KEPT)
def _figures(
    left: Rows, right: Rows, _at: tuple[float, ...], groups: tuple[str, str], metric: str, where: str
) -> Figures:
    pairs = paired(left, right, groups, metric, where)
    hooks = Hooks.of(studies.study(str(left.results["study"])))
    both = pairs.n - sum(pairs.counts.get(name, 0) for name in (ONLY_LEFT, ONLY_RIGHT))
    sample = SAMPLED_FROM if both > SAMPLED_FROM else None
    notes = [AFTER_LOOKING] if where else []
    page = {} if where else on_page(left, right, pairs.sides)
    if sample:
        others = "; those of the run's page are of all" if page else ""
        notes.append(f"The figures are those of {count(sample)} pairs, drawn evenly{others}.")
    if lacking := [side.run_id for side in pairs.sides if definitions(hooks, side) is None]:
        return Figures((), (*notes, f"{', '.join(lacking)}: results.json lacks options that the study's figures need."))
    unit = hooks.unit or left.id
    if lacking := [
        rows.folder.name for rows in (left, right) if unit not in {c.name for c in rows.columns_of("items")}
    ]:
        return Figures(
            (), (*notes, f"{', '.join(lacking)}: the items have no column {unit}, by which figures are compared.")
        )
    score, rows = pairs.score, []
    try:
        one, other = (_whole(pairs, i, where, sample) for i in (0, 1))
    except BadInput as error:
        return Figures((), (*notes, str(error)))
    try:
        (found,) = compare(one, [other], hooks, metric=score.name if score.figure else "", n_summaries=0)
    except BadInput as error:
        notes.append(f"No figure of the study can be compared: {' '.join(str(error).split())}")
        if not same_data(left, right, hooks.content_unit):
            return Figures((), tuple(notes))
        found = None
    if not score.figure:
        rows += _of_column(found, (one, other), pairs, hooks, tested=not where)
    stated = found.rows if found else ()
    lit = decides(pairs.sides, {*page, *(row.comparison.metric for row in stated)})
    rows += figure_rows(stated, page, lit, same_run=left.folder == right.folder, tested=not where)
    notes = [*map(str, found.notes if found else ()), *notes]
    if both and (slow := _not_sums(pairs, hooks, rows)):
        notes.append(f"Not sums over items, so that they take minutes: {listed(slow)}. evalbench compare has them.")
    return Figures(tuple(rows), tuple(dict.fromkeys(notes)))


def _not_sums(pairs: Pairs, hooks: Hooks, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Figures that both runs state and only the study's ``summarise`` can compute, in words."""
    known = {measure.metric for measure in definitions(hooks, pairs.sides[0]) or ()} | {row["metric"] for row in rows}
    one, other = ({row["metric"]: title_of(row) for row in side.results["summary"]} for side in pairs.sides)
    return (
        [] if hooks.weighted else list(dict.fromkeys(one[name] for name in one if name in other and name not in known))
    )


def _whole(pairs: Pairs, at: int, where: str, sample: int | None) -> Side:
    """A side with its items: all of them, or those of a filter or a sample, with the figures that ``summarise`` has of these."""
    rows, side = pairs.rows[at], pairs.sides[at]
    if not where and sample is None:
        whole = read_side(rows.folder)
        return replace(side, items=whole.rows(side.selected))
    items = rows.at(pairs.places(at, sample))
    if items.empty:
        return replace(side, items=items)
    hooks = studies.study(str(side.results["study"]))
    options = taken(
        hooks.summarise, {**side.results["parameters"], "n_resamples": _FEW}
    )  # of these figures only the values
    try:
        summary = hooks.summarise(items, **options)
    except KeyError as error:
        raise BadInput(f"{side.run_id}: the items lack {error}, which today's code reads; run it anew") from error
    return replace(side, items=items, results={**side.results, "summary": [dict(e.row()) for e in summary.estimates]})


def _of_column(
    found: Differences | None, whole: tuple[Side, Side], pairs: Pairs, hooks: Hooks, *, tested: bool
) -> list[Mapping[str, Any]]:
    """The difference of a column's means, or of the share of yes, by the tests of ``evalbench compare``."""
    left, right = (found.reference, found.side) if found else whole
    name, unit = pairs.score.name, hooks.unit or pairs.rows[0].id
    left, right = (
        replace(side, items=side.items.assign(**{name: side.items[name].astype(float)})) for side in (left, right)
    )
    of: dict[str, Any] = {"unit": "", "scale": None, "higher_is_better": pairs.score.higher_is_better, "worst": None}
    yes = all(rows.own_column(name).kind == "yes/no" for rows in pairs.rows)
    measure = (
        share_of(name, **{**of, "title": f"share of {name}"})
        if yes
        else mean_of(name, **{**of, "title": f"mean of {name}"})
    )
    void = (
        next((row.comparison.outcome for row in found.rows if row.comparison.outcome in _VOID), None) if found else None
    )
    rows: list[Mapping[str, Any]] = []
    for group, (here, there) in paired_groups(left, right)[0]:
        a, b = right.rows(there), left.rows(here)
        done = compare_measures(
            a,
            b,
            [measure],
            units_a=a[unit],
            units_b=b[unit],
            seed=SEED,
            names=(right.name, left.name),
            n_resamples=N_RESAMPLES,
        )
        c = done.comparisons[0]
        rows.append(
            figure_row(
                group, replace(c, outcome=void, p=None, p_holm=None, words="") if void else c, True, tested=tested
            )
        )
    return rows


def page_of(
    left: Rows,
    right: Rows,
    groups: tuple[str, str],
    metric: str,
    where: str,
    *,
    verdict: str = "",
    sort: str = "",
    offset: int = 0,
    limit: int,
) -> dict[str, Any]:
    """Some of the pairs as JSON, with their places on both sides, and by what else they could be compared."""
    pairs = paired(left, right, groups, metric, where)
    of = pairs.sides
    known = scores(of, (left, right), Hooks.of(studies.study(str(of[0].results["study"]))))
    rows = pairs.page(verdict, sort, offset, limit)
    return {
        "metric": pairs.score.name,
        "title": pairs.score.title,
        "decides": decides(of, known),
        "scores": [{"name": one.name, "title": one.title, "figure": one.figure} for one in known.values()],
        "names": [side.name for side in of],
        "sides": [_said(side) for side in of],
        "same_run": left.folder == right.folder,
        "keys": pairs.keys,
        "counts": pairs.counts,
        "total": pairs.n,
        "n": pairs.counts.get(verdict, 0) if verdict else pairs.n,
        "filtered": AFTER_LOOKING if where.strip() else "",
        "rows": [{**row, "key": {name: shortened(value) for name, value in row["key"].items()}} for row in rows],
        **_code(left, right, groups, pairs, where.strip(), asked=metric),
    }


def difference_of(left: Rows, right: Rows, groups: tuple[str, str], metric: str, where: str) -> dict[str, Any]:
    """The figures of two sides as JSON."""
    found = figures(left, right, groups, metric, where)
    rows = [{name: as_json(value) for name, value in row.items()} for row in found.rows]
    return {"figures": rows, "notes": list(found.notes), "tested": not where.strip()}


def _said(side: Side) -> str:
    """Which run and group a side is."""
    return " ".join([side.run_id, *(f"{name}={value}" for name, value in side.selected.items())])


def _code(left: Rows, right: Rows, groups: tuple[str, str], pairs: Pairs, where: str, asked: str) -> dict[str, str]:
    """The cell of a notebook, and the command line, that compare the same; a filter has no command line."""
    same = left.folder == right.folder
    given = {"left": groups[0], "right": groups[1], "metric": asked, "where": where}
    named = [repr(str(right.folder))] * (not same) + [f"{name}={value!r}" for name, value in given.items() if value]
    cell = f"import evalbench\n\nrun = evalbench.open_run({str(left.folder)!r})\nrun.compare({', '.join(named)})"
    words = ["evalbench", "compare", str(left.folder), *([] if same else [str(right.folder)])]
    for option, text in zip(("--left", "--right"), groups, strict=True):
        words += [word for name, value in group_of(text).items() for word in (option, f"{name}={value}")]
    words += ["--metric", pairs.score.name] if asked and pairs.score.figure else []
    return {"code": cell, "line": "" if where else shlex.join(words)}
