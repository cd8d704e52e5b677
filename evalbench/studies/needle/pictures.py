"""Pictures and tables of a needle result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.needle import method
from evalbench.studies.needle.grid import shares
from evalbench.studies.needle.items import COLUMNS, KEYS, SCORERS

MOST_MODELS = 4


def _models(result: core.Result) -> list[str]:
    """The models with the lowest recall, as many as are drawn."""
    means = result.items.groupby("model")["recall"].mean().sort_values(kind="stable", na_position="last")
    return sorted(means.index[:MOST_MODELS])


def picture_grid(result: core.Result) -> draw.Drawn | None:
    """Recall by depth (rows) and length (columns), haystacks side by side, one model below the other; None without either."""
    table = result.tables["cells"]
    table = table[table["model"].isin(_models(result))]
    if table[["length", "depth"]].isna().all(axis=None) or table["recall"].isna().all():
        return None
    rows, cols = (["model", "depth"], ["haystack", "length"])
    several = table["model"].nunique() > 1
    wide = table.assign(depth=table["depth"].fillna(-1), length=table["length"].fillna(-1)).pivot_table(
        index=rows, columns=cols, values="recall", dropna=False, sort=True
    )
    order: Any = sorted(wide.columns, key=lambda c: (c[0] != "vanilla", *c))
    wide = wide.reindex(columns=order).dropna(how="all", axis=1)
    kept: Any = list(wide.columns)
    names = [
        ", ".join(filter(None, [str(m) if several else "", "" if d < 0 else f"depth {d:.2g}"])) or "all"
        for m, d in wide.index
    ]
    return draw.pictures.heat_map(
        wide.to_numpy(float),
        names,
        [" ".join(filter(None, [str(h), "" if n < 0 else core.wording.count(round(n))])) or "all" for h, n in kept],
        title="Recall by depth of the fact and length of the context",
        unit="recall (0–1); columns: haystack and length in tokens",
        low=0,
        high=1,
    )


def picture_depths(result: core.Result) -> draw.Drawn | None:
    """Recall by depth over all lengths, either haystack a line; None without depths."""
    items = result.items
    known = items[items["recall"].notna() & items["depth"].notna() & items["model"].isin(_models(result))]
    if known["depth"].nunique() < 2:
        return None
    several = known["model"].nunique() > 1
    series: dict[str, Any] = {}
    for (model, haystack), own in known.groupby(["model", "haystack"], sort=True):
        of = shares(own, ["depth"])
        name = ", ".join(filter(None, [str(model) if several or not haystack else "", str(haystack)]))
        series[name] = draw.pictures.Line(
            *(of[column].to_numpy(float) for column in ("depth", "recall", "low", "high"))
        )
    return draw.pictures.lines(
        series,
        title="Recall by the depth of the fact, over all lengths",
        xlabel="depth of the fact (0: beginning, 1: end)",
        ylabel="recall (0–1)",
        domain=(0, 1.02),
    )


def picture_scorers(result: core.Result) -> draw.Drawn:
    """Recall of every model by each scorer, on the same replies."""
    wanted = [name for name in COLUMNS.values() if name in result.items]
    models = _models(result)
    rows = [result.estimate(name, model=str(model)) for model in models for name in wanted]
    whole = {model: result.estimate("recall", model=str(model)).n for model in models}
    # A scorer that has no value for some expected answers rests on fewer replies.
    fewer = [f" (n {core.wording.count(e.n)})" if e.n != whole[e.group["model"]] else "" for e in rows]
    words = [f"{e.metric.replace('_', ' ')}{less}" for e, less in zip(rows, fewer, strict=True)]
    names = [f"{e.group['model']}, {word}" if len(models) > 1 else word for e, word in zip(rows, words, strict=True)]
    return draw.pictures.estimate_bars(
        names, rows, title="The same replies by every scorer", xlabel="recall (0–1)", domain=(0, 1)
    )


def grid(result: core.Result) -> pd.DataFrame:
    """Every cell of the grid."""
    table = result.tables["cells"]
    interval = [f"[{a:.2f}, {b:.2f}]" if a == a else "" for a, b in zip(table["low"], table["high"], strict=True)]
    found = table[["model", "haystack", "length", "depth", "n", "n_unscored", "recall"]]
    found = found.assign(recall=found["recall"].round(3), **{"95 % interval": interval})
    found = found.drop(columns=[] if found["haystack"].any() else ["haystack"])
    return found.dropna(axis=1, how="all").rename(columns={"n_unscored": "unscored"})


def where_recall_falls(result: core.Result) -> pd.DataFrame:
    """Of each model, haystack and length: the depth at which recall falls, with its interval; those that are shown first."""
    table = result.tables.get("falls")
    if table is None:
        return pd.DataFrame(columns=["where", "recall falls at depth"])
    rows = []
    for row in table.sort_values("p_holm", kind="stable").to_dict("records"):
        rows.append(
            {
                "where": method.place(row),
                "recall falls at depth": f"{row['depth']:.2f}" if row["shown"] else "no fall is shown",
                "95 % interval": f"[{row['low']:.2f}, {row['high']:.2f}]"
                if row["shown"] and row["low"] == row["low"]
                else "",
                "from": row["before"],
                "to": row["recall"],
                "p, Holm": core.wording.p_text(row["p_holm"]),
                "needles": row["needles"],
            }
        )
    return pd.DataFrame(rows)


def comparisons(result: core.Result) -> pd.DataFrame:
    """Every pair of models; empty for one model."""
    return kit.comparing.shown(result.tables.get("comparisons"), "model")


@kit.trials.each_trial
def parted(result: core.Result, rows: int = 8) -> pd.DataFrame:
    """Replies on which the scorers part, the models in turn."""
    items = result.items
    table = items[list(SCORERS)].to_numpy(float)
    with np.errstate(all="ignore"):
        known = np.isfinite(table).any(axis=1)
        spread = np.where(known, np.nanmax(np.where(known[:, None], table, 0), axis=1), 0)
        spread = spread - np.where(known, np.nanmin(np.where(known[:, None], table, 0), axis=1), 0)
    show: dict[str, Any] = {"id": "id", "model": "model", "expected": "reference", "the reply": _reply}
    show |= {name: (lambda case, name=name: kit.cases.score_text(case[name])) for name in SCORERS}
    odd = items.assign(spread=-spread)[spread > 0]
    cases = kit.cases.worst_cases(odd, "spread", keys=KEYS, n=None)
    return kit.cases.worst_cases(
        kit.cases.in_turn(cases, "model", rows) if len(cases) else cases,
        "spread",
        keys=KEYS,
        n=rows,
        texts=result.tables["replies"],
        show=show,
    )


@kit.trials.each_trial
def worst(result: core.Result, rows: int = 10) -> pd.DataFrame:
    """Replies that miss the fact, the models in turn, with what was asked and expected."""
    missed = result.items[result.items["recall"] < 1]
    cases = kit.cases.worst_cases(missed, "recall", keys=KEYS, n=None)
    show: dict[str, Any] = {
        "id": "id",
        "model": "model",
        "where": _where,
        "the question": lambda case: draw.Html(draw.tables.text_block(str(case.get("question") or "–"), 200)),
        "expected": "reference",
        "the reply": _reply,
    }
    chosen = kit.cases.in_turn(cases, "model", rows) if len(cases) else cases
    return kit.cases.worst_cases(chosen, "recall", keys=KEYS, n=rows, texts=result.tables["replies"], show=show)


def _where(case: dict[str, Any]) -> draw.Html:
    parts = [str(case["haystack"])]
    parts += [f"length {case['length']:g}"] if case["length"] == case["length"] else []
    parts += [f"depth {case['depth']:g}"] if case["depth"] == case["depth"] else []
    return draw.Html(draw.escape(", ".join(filter(None, parts)) or "–"))


def _reply(case: dict[str, Any]) -> draw.Html:
    return draw.Html(draw.tables.text_block(case["answer"], 300)) if case["answer"] else draw.Html("<i>empty</i>")
