"""A study that stops early: answers collected until the evidence decides, estimates that hold then, the path of the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.betting import ALPHA, SEQUENCE, confidence_sequence
from evalbench.core.measures import Measure, ratio
from evalbench.core.result import Estimate, Result
from evalbench.core.wording import count
from evalbench.draw.lines import Line, lines
from evalbench.kit.stopping import EVIDENCE, Plan, Stopped, ask_until_decided

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from evalbench.models.exchange import Reply

PLACE = "place"
"""The items' column of the place in the order of asking."""
_OF_RESAMPLES = ("the interval is too narrow", "the interval has no width", "have no value and are left out")


class Collected(NamedTuple):
    """Answers that were asked for until the evidence decided.

    Attributes
    ----------
    answers : DataFrame
        The rows that were asked, with what was answered.
    replies : list of Reply
    stopped : Stopped
    """

    answers: pd.DataFrame
    replies: list[Reply]
    stopped: Stopped


def collected_until(
    rows: pd.DataFrame,
    plan: Plan,
    ask: Callable[[pd.DataFrame], tuple[pd.DataFrame, list[Reply]]],
    score: Callable[[pd.DataFrame], pd.Series],
) -> Collected:
    """A model's answers, asked for until their mean score is decided.

    Parameters
    ----------
    rows : DataFrame
        With a column ``id``.
    plan : Plan
        Over these ids.
    ask : callable
        From the rows of a batch to them with their answers, and the replies, as
        :func:`evalbench.kit.collecting.collected` gives them.
    score : callable
        From answers to scores, 0–1, by id; NaN where one could not be scored.
    """
    import pandas as pd

    found: list[pd.DataFrame] = [rows.head(0)]
    replies: list[Reply] = []

    def outcomes(ids: Sequence[str]) -> npt.ArrayLike:
        answers, more = ask(rows[rows["id"].isin(ids)])
        found.append(answers)
        replies.extend(more)
        return score(answers).reindex(list(ids)).to_numpy(dtype=float)

    stopped = ask_until_decided(plan, outcomes)
    return Collected(pd.concat(found[1:] or found, ignore_index=True), replies, stopped)


def placed(items: pd.DataFrame, stopped: Stopped) -> pd.DataFrame:
    """The items with their place in the order of asking, from 1 on, by which :func:`sequenced` finds it again."""
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
    estimates : sequence of Estimate
    items : DataFrame
        Of :func:`placed`; without places the estimates stay as they are.
    measures : sequence of Measure
        Of these estimates.
    alpha : float
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
