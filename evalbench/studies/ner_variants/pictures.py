"""Pictures and tables of an ner_variants result."""

from __future__ import annotations

import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.ner_variants import summary


def picture_f1(result: core.Result) -> draw.Drawn:
    """F1 of every wording."""
    rows = [e for e in result.summary.estimates if e.metric == "f1"]
    names = [e.group["model"] for e in rows]
    return draw.pictures.estimate_bars(
        names, rows, title="F1 of every wording of the request", xlabel="F1 (0–1)", domain=(0, 1)
    )


def picture_gains(result: core.Result) -> draw.Drawn | None:
    """What a fuller description, or one class per request, adds on the same texts; None with a single wording."""
    rows = [e for e in result.summary.estimates if e.metric in summary.TITLES]
    if not rows:
        return None
    names = [_short(e.group["model"], result) for e in rows]
    return draw.pictures.estimate_bars(
        names, rows, title="F1 gained by another wording, same texts", xlabel="gain (percentage points)"
    )


def _short(name: str, result: core.Result) -> str:
    """A wording without its model, where there is one model only."""
    asked = result.items["asked"].unique()
    return name.removeprefix(f"{asked[0]}, ") if len(asked) == 1 else name


def picture_classes(result: core.Result) -> draw.Drawn:
    """F1 of every class in every wording."""
    sums = result.items.groupby(["entity_class", "model"], sort=True)[["n_true", "n_predicted", "hits"]].sum(
        min_count=1
    )
    f1 = core.ratio(2 * sums["hits"].to_numpy(float), (sums["n_true"] + sums["n_predicted"]).to_numpy(float))
    table = sums.assign(f1=f1)["f1"].unstack("model")
    return draw.pictures.heat_map(
        table.to_numpy(dtype=float),
        [*map(str, table.index)],
        [_short(str(name), result) for name in table.columns],
        title="F1 of every class in every wording",
        unit="F1 (0–1)",
        low=0,
        high=1,
    )


def gains(result: core.Result) -> pd.DataFrame:
    """The gain of every class, with its interval and, for a fuller description, its light."""
    show: kit.cases.Show = {
        "wordings": "wordings",
        "class": lambda row: row["entity_class"] or "all classes",
        "gain, pp": lambda row: core.wording.rounded(
            *(None if x != x else x for x in (row["gain"], row["gain_low"], row["gain_high"]))
        ),
        "texts": "n",
        "light": lambda row: row["light"] if row["metric"] == summary.GAIN else "",
    }
    return kit.cases.shown(result.tables["gains"], show)


def unread(result: core.Result, rows: int = 10) -> pd.DataFrame:
    """Replies without a score, and why."""
    own = result.tables["replies"]
    own = own[own["unscored"] != ""].head(rows)
    return own[["id", "model", "entity_class", "answer", "unscored", "why"]].reset_index(drop=True)
