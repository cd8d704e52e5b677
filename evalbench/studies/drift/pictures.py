"""Pictures and tables of a drift result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.drift import lights, statistics
from evalbench.studies.drift.finer_tables import LEAST_SLICES

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

_DROPS: Mapping[str, str] = {
    "drop": "measured",
    "expected_drop": "expected (test 4)",
    "predicted_drop": "predicted (test 5)",
}
_MOST_TYPICAL = 10


def _note(text: str) -> pd.DataFrame:
    return pd.DataFrame({"note": [text]})


def picture_months(result: core.Result) -> tuple[Picture, str] | None:
    """The drop in each period of OOT, measured and forecast, over the bands of the lights; None without two periods."""
    table = result.tables["lights"]
    rows = table[table["part"] == "period"]
    drawn = [column for column in _DROPS if rows[column].notna().any()]
    if len(rows) < 2 or not drawn:
        return None
    at = np.arange(len(rows))
    period = result.parameters["period"]
    figure, alt = draw.pictures.lines(
        {_DROPS[column]: draw.pictures.Line(at, rows[column].to_numpy(dtype=float)) for column in drawn},
        title=f"Drop of the key metric in each {period} of OOT",
        xlabel=f"{period} of OOT",
        ylabel="drop (percentage points)",
    )
    (ax,) = figure.axes
    shown = at if len(at) <= 8 else at[:: -(-len(at) // 8)]
    ax.set_xticks(shown, rows["name"].iloc[shown])
    cuts = lights.bands_for("drop", result.parameters["preset"], result.parameters["lights"]).cuts
    low, high = ax.get_ylim()
    low, high = min(low, -5.0), max(high, cuts[1] + 5)
    for start, end, colour in (
        (low, cuts[0], draw.pictures.GOOD),
        (cuts[0], cuts[1], draw.pictures.WARN),
        (cuts[1], high, draw.pictures.BAD),
    ):
        ax.axhspan(start, end, color=colour, alpha=0.07, linewidth=0, zorder=0)
    for text in ax.texts:  # they were placed on the scale that the lines alone asked for
        text.set_visible(False)
    ends = sorted(
        (float(known[-1]), _DROPS[column]) for column in drawn if len(known := rows[column].dropna().to_numpy())
    )
    step, before = (high - low) / 16, -math.inf
    for y, name in ends:
        before = max(y, before + step)
        shade = next(line.get_color() for line, column in zip(ax.lines, drawn, strict=True) if _DROPS[column] == name)
        ax.annotate(
            name, (at[-1], before), xytext=(8, 0), textcoords="offset points", va="center", fontsize=8.5, color=shade
        )
    ax.set_ylim(low, high)
    ax.axhline(0, color=draw.pictures.MUTED, linewidth=0.8, zorder=1)
    return figure, f"{alt} Bands: green below {cuts[0]:g} pp, red above {cuts[1]:g}."


def picture_statistics(result: core.Result) -> tuple[Picture, str] | None:
    """Every statistic of responses and requests with its interval; None where none has a value."""
    known = {f"{name}_{part}": title for name, title in statistics.NAMES.items() for part in ("responses", "requests")}
    rows = [e for e in result.summary.estimates if e.metric in known]
    if not any(e.value is not None for e in rows):
        return None
    excess = result.parameters["psi_light_on"] == "excess"
    return draw.pictures.interval_bars(
        [f"{core.verdict.SYMBOLS[e.light]} {e.title}" for e in rows],
        [e.value for e in rows],
        [e.ci_low for e in rows],
        [e.ci_high for e in rows],
        title="How far the texts of OOT are from those of OOS",
        xlabel=f"stability index{' beyond chance' if excess else ''}; of new tokens their "
        + ("increase" if result.parameters["new_tokens"] == "increase" else "ratio less 1"),
    )


def picture_quality(result: core.Result) -> tuple[Picture, str] | None:
    """The key metric of both samples, and that of OOT as tests 4 and 5 forecast it; None without any."""
    names = {
        "quality": "",
        "expected_quality": "OOT, expected (test 4)",
        "predicted_quality": "OOT, predicted (test 5)",
    }
    rows = [e for e in result.summary.estimates if e.metric in names and e.value is not None]
    if not rows:
        return None
    labels = [names[e.metric] or f"{e.group['side'].upper()}, measured" for e in rows]
    return draw.pictures.interval_bars(
        labels,
        [e.value for e in rows],
        [e.ci_low for e in rows],
        [e.ci_high for e in rows],
        title="The key metric, measured and forecast",
        xlabel="key metric (0–1)",
        domain=(0, 1),
    )


def lights_table(result: core.Result) -> pd.DataFrame:
    """Each test in all of OOT, in each period and in each value of a slice."""
    table = result.tables["lights"]
    ran = [test for test in lights.TESTS if test in result.parameters["tests"]]
    figures = {
        "key_metric": "drop",
        "separability": "gini",
        "local_drift": "expected_drop",
        "global_drift": "predicted_drop",
    }
    rows: Any = table.to_dict("records")
    names = {"all": "all of OOT"}
    part = [
        names.get(r["part"]) or (r["name"] if r["part"] == "period" else f"{r['part']}: {r['name'] or 'no value'}")
        for r in rows
    ]
    columns: dict[str, Any] = {"part of OOT": part, "rows": table["n_oot"], "labels": table["n_labels"]}
    for test in ran:
        columns[lights.TITLES[test]] = kit.cases.cells([_lit(r, test, figures.get(test, "")) for r in rows])
    return pd.DataFrame(columns)


def _lit(row: Mapping[str, Any], test: str, figure: str) -> draw.Html:
    """A light with the figure behind it."""
    value = row.get(figure, math.nan)
    if test == "statistics":
        said = "" if row[test] in ("grey", "unlit") else f"{row['n_red']} red, {row['n_yellow']} yellow"
    elif value != value:
        said = ""
    else:
        said = (
            f"Gini {core.wording.signed(f'{value:.2f}')}"
            if test == "separability"
            else f"{core.wording.signed(f'{value:.1f}')} pp"
        )
    return draw.Html(
        f"{draw.verdict.light_word(row[test])}<br>{draw.escape(said)}"
        if said
        else str(draw.verdict.light_word(row[test]))
    )


def statistics_shown(result: core.Result) -> pd.DataFrame:
    """Every statistic: the index, what chance gives, both presets' lights, and whether it goes with the key metric."""
    if "statistics" not in result.tables:
        return _note("Test 2 did not run")
    table = result.tables["statistics"]
    rows: Any = table.to_dict("records")
    lit = {preset: preset.replace("_", " ") for preset in lights.PRESETS}
    return pd.DataFrame(
        {
            "statistic": [statistics.NAMES[r["statistic"]] for r in rows],
            "of": table["of"],
            "judged by": [core.wording.signed(kit.cases.score_text(r["value"])) for r in rows],
            "PSI": [kit.cases.score_text(r["psi"]) for r in rows],
            "by chance": [kit.cases.score_text(r["by_chance"]) for r in rows],
            "p": [core.wording.p_text(r["p"]) for r in rows],
            **({"all rows": [kit.cases.score_text(x) for x in table["all_rows"]]} if "all_rows" in table else {}),
            **{
                f"light, {name}": kit.cases.cells([draw.verdict.light_word(r[preset]) for r in rows])
                for preset, name in lit.items()
            },
            "with the key metric": [_correlation(r) for r in rows],
        }
    )


def _correlation(row: Mapping[str, Any]) -> str:
    r, n = row["spearman"], row["n_slices"]
    if row["of"] != "responses":
        return "–"
    if r != r:
        return (
            f"undefined: {n} slices of {lights.LEAST_ROWS} labels, fewer than {LEAST_SLICES}"
            if n < LEAST_SLICES
            else "undefined"
        )
    return f"{core.wording.signed(kit.cases.score_text(r))}, p {core.wording.p_text(row['spearman_p'])}, {n} slices"


def backtest_shown(result: core.Result) -> pd.DataFrame:
    """The key metric of OOT beside both forecasts of it."""
    if "backtest" not in result.tables:
        return _note("OOT has no labels, or nothing was forecast")
    rows = result.tables["backtest"]

    def points(values: pd.Series) -> list[str]:
        return ["–" if x != x else f"{'+' if x > 0 else ''}{core.wording.signed(f'{100 * x:.1f}')}" for x in values]

    return pd.DataFrame(
        {
            "period": rows["period"].replace("all", "all of OOT"),
            "labels": rows["n"],
            "measured": [kit.cases.score_text(x) for x in rows["observed"]],
            "expected (test 4)": [kit.cases.score_text(x) for x in rows["expected"]],
            "test 4 off by, pp": points(rows["expected_error"]),
            "predicted (test 5)": [kit.cases.score_text(x) for x in rows["predicted"]],
            "test 5 off by, pp": points(rows["predicted_error"]),
        }
    )


def anchors_shown(result: core.Result) -> pd.DataFrame:
    """The anchors whose mark is another at the later time, the largest changes first."""
    if "anchors" not in result.tables:
        return _note("No anchors were given: anchors_then and anchors_now")
    rows = result.tables["anchors"]
    rows = rows[rows["change"].abs() > 0]
    if not len(rows):
        return _note("The judge gave every anchor the same mark again")
    named = {name: rows[name] for name in ("id", "model", "trial", "criterion") if (rows[name].astype(str) != "").any()}
    shown = {name: [kit.cases.score_text(x) for x in rows[name]] for name in ("label", "then", "now")}
    change = [f"{'+' if x > 0 else ''}{core.wording.signed(kit.cases.score_text(x))}" for x in rows["change"]]
    return pd.DataFrame({**named, **shown, "change": change})


def telling(result: core.Result) -> pd.DataFrame:
    """The features by which the classifier knows a side."""
    if "telling" not in result.tables:
        return _note("No classifier was fitted")
    rows = result.tables["telling"]
    return pd.DataFrame(
        {
            "feature": [f"“{name.replace(' ', '␣')}”" for name in rows["feature"]],
            "kind": rows["kind"],
            "side": rows["side"],
            "weight": [core.wording.signed(kit.cases.score_text(x)) for x in rows["weight"]],
            "in OOS": [f"{100 * x:.0f}%" for x in rows["oos"]],
            "in OOT": [f"{100 * x:.0f}%" for x in rows["oot"]],
            "may be a leak": rows["hint"].replace("", "–"),
        }
    )


def most_typical(result: core.Result) -> pd.DataFrame:
    """The requests of OOT that the classifier finds least like those of OOS."""
    if "typical" not in result.tables:
        return _note("No classifier was fitted")
    rows = result.tables["typical"].head(_MOST_TYPICAL)
    columns: dict[str, Any] = {"id": rows["id"]}
    if "period" in rows:
        columns["period"] = rows["period"]
    columns |= {
        "request": kit.cases.cells([draw.tables.text_block(text) for text in rows["question"]]),
        "probability of OOT": [kit.cases.score_text(x) for x in rows["gini_score"]],
    }
    return pd.DataFrame(columns)


def lowest_expected(result: core.Result) -> pd.DataFrame:
    """The requests of OOT whose neighbours let one expect the lowest quality, with their responses."""
    items = result.items
    rows = items[items["side"] == "oot"]
    if "expected" not in rows or not rows["expected"].notna().any():
        return _note("No quality is expected: that takes vectors and labels of OOS")
    show: dict[str, Any] = {
        "id": "id",
        **({"period": "period"} if "period" in rows else {}),
        "expected": lambda row: kit.cases.score_text(row["expected"]),
        "similarity to neighbours": lambda row: kit.cases.score_text(row["similarity"]),
        "label": lambda row: kit.cases.score_text(row["key"]),
        "request": lambda row: draw.tables.text_block(row["question"]),
        "response": lambda row: draw.tables.text_block(row["answer"]),
    }
    return kit.cases.worst_cases(rows, ["expected", "similarity"], keys=["id"], highest=["similarity"], show=show)
