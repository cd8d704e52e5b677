"""On which topics a model is confidently wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalbench import core

CONFIDENT_FROM = 0.8
_NAMED = 3
COLUMNS = (
    "model", "topic", "n", "wrong", "confident", "confidently_wrong", "share", "elsewhere", "p", "p_holm", "shown",
)  # fmt: skip


def topics_of(items: pd.DataFrame, confident_from: float) -> pd.DataFrame:
    """Of every model and topic: how many of its confident answers are wrong, against its other topics.

    Columns: ``n`` answers whose correctness is known, ``wrong``, ``confident`` (p ≥ ``confident_from``), ``confidently_wrong``,
    ``share`` (of the confident ones), ``elsewhere`` (the same share over the model's other topics), ``p`` (Fisher's exact test,
    that the share is higher), ``p_holm`` (over all rows), ``shown``.  Empty without topics.
    """
    if "topic" not in items or not (items["topic"].astype(str) != "").any():
        return pd.DataFrame(columns=list(COLUMNS))
    known = items[items["wrong"].notna() & items["p"].notna() & (items["topic"].astype(str) != "")]
    sure = known["p"] >= confident_from - 1e-9
    counted = known.assign(
        n=1, confident=sure.astype(int), confidently_wrong=(sure & (known["wrong"] == 1)).astype(int)
    )
    counted["wrong"] = counted["wrong"].astype(int)
    table = (
        counted.groupby(["model", "topic"], sort=True)[["n", "wrong", "confident", "confidently_wrong"]]
        .sum()
        .reset_index()
    )
    total = table.groupby("model")[["confident", "confidently_wrong"]].transform("sum")
    rest, rest_wrong = (total[name] - table[name] for name in ("confident", "confidently_wrong"))
    with np.errstate(all="ignore"):
        table["share"] = table["confidently_wrong"] / table["confident"].where(table["confident"] > 0)
        table["elsewhere"] = rest_wrong / rest.where(rest > 0)
    counts = (table["confidently_wrong"], total["confident"], total["confidently_wrong"], table["confident"])
    table["p"] = np.where(
        (table["confident"] > 0) & (rest > 0), [_at_least(*map(int, row)) for row in zip(*counts, strict=True)], np.nan
    )
    table["p_holm"] = core.significance.holm(table["p"].to_numpy(float))
    table["shown"] = (table["p_holm"] <= core.compared.ALPHA).to_numpy()
    return table[list(COLUMNS)]


def _at_least(k: int, total: int, wrong: int, drawn: int) -> float:
    """How likely k or more of the answers drawn are wrong, by chance (hypergeometric); without scipy.stats, slow to import.

    Examples
    --------
    >>> round(_at_least(3, 10, 4, 5), 4)
    0.2619
    """
    i = np.arange(max(k, drawn - (total - wrong), 0), min(wrong, drawn) + 1)
    ways = _log_ways(wrong, i) + _log_ways(total - wrong, drawn - i) - _log_ways(total, drawn)
    return min(1.0, float(np.exp(ways).sum()))


def _log_ways(n: int, k: npt.ArrayLike) -> core.Floats:
    from scipy.special import gammaln

    chosen = np.asarray(k, dtype=float)
    ways: core.Floats = gammaln(n + 1) - gammaln(chosen + 1) - gammaln(n - chosen + 1)
    return ways


def remark_of(items: pd.DataFrame, confident_from: float) -> str:
    """The topics on which a model is confidently wrong, a sentence; empty where none is shown."""
    table = topics_of(items, confident_from)
    shown = (
        table[table["shown"].astype(bool)].sort_values(["p_holm", "model", "topic"], kind="stable")
        if len(table)
        else table
    )
    if not len(shown):
        return ""
    parts = [
        f"{row['model']} on {row['topic']} ({row['confidently_wrong']} of its {row['confident']} answers with p from "
        f"{confident_from:g} on are wrong, {core.percent(row['elsewhere'])} elsewhere)"
        for row in shown.head(_NAMED).to_dict("records")
    ]
    more = f"; and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return f"Confidently wrong: {'; '.join(parts)}{more}."
