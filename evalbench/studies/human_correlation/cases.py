"""The outputs on which a metric and the annotators part, with their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalbench.studies.human_correlation.analysis import direction
from evalbench.studies.human_correlation.pictures import best_metric, first_trusted

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.core.result import Result

_TEXTS = ("output", "reference", "prompt")


def disagreements(result: Result, scorer: str = "", criterion: str = "", rows: int = 10) -> pd.DataFrame | None:
    """The outputs that a metric and the annotators place farthest apart.

    Parameters
    ----------
    result : Result
    scorer : str
        By default the metric of the headline: of the highest mean over trusted criteria, else the first with scores.
    criterion : str
        By default the first trusted criterion, else the first.
    rows : int

    Returns
    -------
    DataFrame
        One row per output, with both scores.  Places count from the best, 1, among the outputs with both; ties share
        their mean place.  ``places apart``: place by the annotators − place by the metric, positive where the metric
        flatters the output.  None without a metric.
    """
    import pandas as pd

    if "correlations" not in result.tables:
        return None

    items, scorer = result.items, scorer or best_metric(result)
    criterion = criterion or first_trusted(result, scorer)
    both = items[(items["scorer"] == scorer) & (items["criterion"] == criterion)].dropna(subset=["score", "human"])
    lower = tuple(result.parameters["lower_is_better"])
    by_metric = (direction(scorer, lower) * both["score"]).rank(ascending=False)
    by_people = both["human"].rank(ascending=False)
    places = pd.DataFrame(
        {
            "doc_id": both["doc_id"],
            "system": both["system"],
            scorer: both["score"],
            criterion: both["human"],
            "places apart": by_people - by_metric,
        }
    )
    order = places["places apart"].abs().sort_values(ascending=False, kind="stable").index
    keys = ["doc_id", "system"]
    texts = result.tables["texts"]
    shown = texts[[*keys, *(c for c in _TEXTS if c in texts)]]
    if "reference" in shown:
        shown = shown.assign(reference=shown["reference"].map("\n".join))
    found = places.loc[order].head(rows).merge(shown, on=keys, how="left")
    return found if (found["system"] != "").any() else found.drop(columns="system")
