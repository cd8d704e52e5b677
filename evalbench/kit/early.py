"""A study that stops early: answers collected until the evidence decides, estimates that hold then, the path of the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.betting import ALPHA, SEQUENCE, confidence_sequence
from evalbench.core.measures import Measure, ratio
from evalbench.core.result import Estimate, Result
from evalbench.core.wording import count
from evalbench.draw.lines import Line, lines
from evalbench.kit import collecting
from evalbench.kit.options import Checks, taken
from evalbench.kit.stopping import EVIDENCE, Plan, Stopped, ask_until_decided
from evalbench.kit.verdicts import by_group

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from evalbench.models.exchange import Reply
    from evalbench.readers.dataset import Dataset

PLACE = "place"
"""The items' column of the place in the order of asking."""
_OF_RESAMPLES = ("the interval is too narrow", "the interval has no width", "have no value and are left out")


class Collected(NamedTuple):
    """Answers of a model, of all rows or of those that were asked until the evidence decided.

    Attributes
    ----------
    answers : DataFrame
        The rows that were asked, with what was answered.
    stopped : Stopped or None
        None where all rows were asked.
    """

    answers: pd.DataFrame
    replies: list[Reply]
    stopped: Stopped | None = None


def check(checks: Checks, data: Dataset, what: str) -> None:
    """Refuse to stop early where it saves nothing or cannot be decided.

    Parameters
    ----------
    checks : Checks
        Of the options ``model``, ``threshold``, ``stop_early`` and ``stop_batch``.
    what : str
        What is asked, in the plural.
    """
    checks.at_least(1, "stop_batch")
    if checks.options["stop_early"]:
        free = "stop_early: responses that the table has cost nothing; name a model to ask"
        checks.that(checks.options["model"], free)
        checks.that(0 < checks.options["threshold"] < 1, "stop_early: needs a threshold above 0 and below 1")
        together = f"stop_early: {what} that are drawn together (cluster) are not asked one by one"
        checks.that(not data.grouping.cluster, together)


def collected(
    rows: pd.DataFrame,
    column: str,
    task: str,
    fields: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    score: Callable[[pd.DataFrame], pd.Series],
    *,
    threshold: float,
    stop_early: bool,
    stop_batch: int,
    seed: int,
    **others: Any,
) -> Collected:
    """The texts that are judged, where wanted asked for until it is decided on which side of the threshold their mean score is.

    Parameters
    ----------
    rows, column, task, fields
        See :func:`evalbench.kit.collecting.collected`.
    score : callable
        From answers to scores, 0–1, by id; NaN where one could not be scored.
    stop_early : bool
        Ask the model item by item, in an order of the seed, until a betting e-value decides whether the mean score is above or below the threshold.
    stop_batch : int
        After so many items each the evidence is looked at.
    **others
        The other options of the study, of which those of :func:`evalbench.kit.collecting.asked` are handed on.
    """
    import pandas as pd

    settings = taken(collecting.asked, {"seed": seed, **others})

    def ask(some: pd.DataFrame) -> tuple[pd.DataFrame, list[Reply]]:
        return collecting.collected(some, column, task, fields, **settings)

    if not stop_early:
        return Collected(*ask(rows))
    found: list[pd.DataFrame] = [rows.head(0)]
    replies: list[Reply] = []

    def outcomes(ids: Sequence[str]) -> npt.ArrayLike:
        answers, more = ask(rows[rows["id"].isin(ids)])
        found.append(answers)
        replies.extend(more)
        return score(answers).reindex(list(ids)).to_numpy(dtype=float)

    plan = Plan.drawn(rows["id"].unique(), seed=seed, batch=stop_batch, null=threshold)
    stopped = ask_until_decided(plan, outcomes)
    return Collected(pd.concat(found[1:] or found, ignore_index=True), replies, stopped)


def placed(items: pd.DataFrame, stopped: Stopped | None) -> pd.DataFrame:
    """The items with their place in the order of asking, from 1 on, by which :func:`sequenced` finds it again."""
    if stopped is None:
        return items
    place = {name: float(i) for i, name in enumerate(stopped.asked, 1)}
    return items.assign(**{PLACE: items["id"].map(place)})


def sequenced(
    estimates: Sequence[Estimate],
    items: pd.DataFrame,
    measures: Sequence[Measure],
    *,
    alpha: float = ALPHA,
    ends: Mapping[str, tuple[float, float]] = {},
) -> tuple[Estimate, ...]:
    """Estimates whose interval holds although asking stopped early: that of means in 0–1 is the confidence sequence.

    Parameters
    ----------
    items : DataFrame
        Of :func:`placed`; without places the estimates stay as they are.
    measures : sequence of Measure
        Of these estimates.
    ends : mapping of metric to (float, float)
        The least and the greatest score where these are not 0 and 1.

    Returns
    -------
    tuple of Estimate
        Other figures keep the interval of a number that was fixed before, with a note.
    """
    if PLACE not in items:
        return tuple(estimates)
    means = {f.metric: f.sums[0] for f in measures if f.value is ratio and f.sums[1] == f"#{f.sums[0]}"}
    ordered = items.sort_values(PLACE, kind="stable")
    out = []
    for e in estimates:
        rows = ordered
        for column, value in e.group.items():
            rows = rows[rows[column].astype(str) == value]
        least, greatest = ends.get(e.metric, (0.0, 1.0))
        scores = rows[means[e.metric]].to_numpy(dtype=float) if e.metric in means else np.full(1, 1 + greatest)
        outcomes = (scores - least) / (greatest - least)
        if e.value is None:
            out.append(e)
        elif ((outcomes < 0) | (outcomes > 1)).any():
            out.append(
                replace(e, note="; ".join(filter(None, [e.note, "stopped early: the interval is of a fixed number"])))
            )
        else:
            path = confidence_sequence(outcomes, [len(outcomes)], alpha=alpha)
            method = f"{100 * (1 - alpha):g} % {SEQUENCE} by betting"
            low, high = (least + (greatest - least) * float(end[-1]) for end in (path.low, path.high))
            note = "; ".join(part for part in e.note.split("; ") if not part.endswith(_OF_RESAMPLES))
            out.append(replace(e, ci_low=low, ci_high=high, method=method, note=note))
    return tuple(out)


def summed(items: pd.DataFrame, measures: Sequence[Measure], by: str, *, seed: int, n_resamples: int) -> dict[str, Any]:
    """What :func:`evalbench.kit.verdicts.worst_group` takes besides where asking stopped early; nothing where it did not.

    Resamples of what stopped early say nothing of how sure the light is.
    """
    if PLACE not in items:
        return {}
    found = by_group(items, measures, by, seed=seed, n_resamples=n_resamples)
    return {"estimates": sequenced(found, items, measures), "stable": lambda light: None}


def picture_of_evidence(result: Result) -> tuple[Figure, str] | None:
    """The e-value at each look, and the line at which it decides; None where a result was not stopped by evidence."""
    told, table = result.stopping, result.tables.get(EVIDENCE)
    if not told or table is None or not len(table):
        return None
    at, path = np.insert(table["n"].to_numpy(), 0, 0), np.insert(table["log10_e"].to_numpy(), 0, 0.0)
    decides = Line(at, np.full(len(at), math.log10(1 / told["alpha"])))
    series = {"e-value": Line(at, path), f"decides: {1 / told['alpha']:g}": decides}
    head = f"Evidence {told['decided']} {told['null']:g}" if told["decided"] else "Evidence without a decision"
    title = f"{head}: {count(told['asked'])} of {count(told['items'])} asked"
    return lines(series, title=title, xlabel="items asked", ylabel="e-value, powers of ten", mark_points=False)
