"""Pictures and tables of a stability result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rapidfuzz.distance import Levenshtein

from evalbench import core, draw, kit
from evalbench.studies.stability import summary

MOST_ROWS = 40
_LONGEST = 1000
"""Of longer texts the edits are not marked, nor of variants that share less with their query than this."""
_ALIKE = 0.5


def _rows(result: core.Result) -> pd.DataFrame:
    """The augmentations that are drawn: all, or of many those with the largest drops."""
    table = result.tables["drops"]
    if len(table) > MOST_ROWS:
        table = table.loc[
            table[summary.DROP]
            .sort_values(ascending=False, na_position="last", kind="stable")
            .index[:MOST_ROWS]
            .sort_values()
        ]
    return table


def _labels(rows: pd.DataFrame, *, lights: bool) -> list[str]:
    """Augmentation, and model where there are several, behind the light's symbol."""
    several = "model" in rows and rows["model"].nunique() > 1
    names = rows["augmentation"] + ", " + rows["model"] if several else rows["augmentation"]
    return [
        f"{core.verdict.SYMBOLS[light]} {name}" if lights else str(name)
        for name, light in zip(names, rows["light"], strict=True)
    ]


def picture_drops(result: core.Result) -> draw.Drawn:
    """The drop under every augmentation with its interval, over the bands of the lights."""
    rows = _rows(result)
    values, lows, highs = ([None if x != x else x for x in rows[c]] for c in (summary.DROP, "low", "high"))
    yellow, red = summary.rules_of(result.parameters["lights"]).cuts
    many = len(result.tables["drops"]) > len(rows)
    figure, alt = draw.pictures.interval_bars(
        _labels(rows, lights=True),
        values,
        lows,
        highs,
        title=f"How far {result.parameters['metric']} falls{f': the {len(rows)} largest drops' if many else ' under each augmentation'}",
        xlabel="drop in percentage points, right of 0 worse",
    )
    (ax,) = figure.axes
    known = [x for column in (values, lows, highs) for x in column if x is not None]
    left, right = min([-5.0, *(x - 2 for x in known)]), max([red + 5, *(x + 2 for x in known)])
    for low, high, colour, word in (
        (left, yellow, draw.pictures.GOOD, "green"),
        (yellow, red, draw.pictures.WARN, "yellow"),
        (red, right, draw.pictures.BAD, "red"),
    ):
        ax.axvspan(low, high, color=colour, alpha=0.08, linewidth=0, zorder=0)
        ax.text(low + 0.3, -0.47, word, fontsize=7.5, color=draw.pictures.MUTED, va="top")
    ax.axvline(0, color=draw.pictures.MUTED, linewidth=0.8, zorder=1)
    ax.set_xlim(left, right)
    lit = "; ".join(f"{name} {light}" for name, light in zip(_labels(rows, lights=False), rows["light"], strict=True))
    return figure, f"{alt} Bands: green below {yellow:g}, red above {red:g}. Lights: {lit}."


def picture_changed(result: core.Result) -> draw.Drawn | None:
    """The shares of items that got worse and that got better; None where no item has a score on both sides."""
    rows = _rows(result)
    rows = rows[rows["changed"].notna()]
    if rows.empty:
        return None
    labels = _labels(rows, lights=False)
    worse, better = (100 * share.to_numpy(dtype=float) for share in (rows["worse"], rows["changed"] - rows["worse"]))
    figure, ax = draw.pictures.new_figure(7.2, 0.9 + 0.3 * len(rows))
    places = range(len(rows))
    ax.barh(places, worse, color=draw.pictures.BAD, alpha=0.6, height=0.6)
    ax.barh(places, -better, color=draw.pictures.GOOD, alpha=0.6, height=0.6)
    for y, (down, up) in enumerate(zip(worse, better, strict=True)):
        ax.annotate(
            f"{down:.0f}",
            (down, y),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=draw.pictures.INK,
        )
        ax.annotate(
            f"{up:.0f}",
            (-up, y),
            xytext=(-4, 0),
            textcoords="offset points",
            va="center",
            ha="right",
            fontsize=8,
            color=draw.pictures.INK,
        )
    ax.axvline(0, color=draw.pictures.MUTED, linewidth=0.8)
    reach = 1.25 * max(worse.max(), better.max(), 8.0)
    ax.set_xlim(-max(1.25 * better.max(), 0.25 * reach), reach)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_yticks(places, [draw.style.shortened(label) for label in labels])
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", color=draw.pictures.GRID, linewidth=0.7)
    ax.xaxis.set_major_formatter(lambda x, _: f"{abs(x):g}")
    ax.set_xlabel("share of items in percent: left of the line the score rose, right of it the score fell")
    title = "Items whose score changed, for the better and for the worse"
    draw.pictures.title_at_top(figure, title)
    said = "; ".join(
        f"{name} {down:.0f} worse, {up:.0f} better" for name, down, up in zip(labels, worse, better, strict=True)
    )
    return figure, f"{title}. Percent of items: {said}."


def drops(result: core.Result) -> pd.DataFrame:
    """Every augmentation: its test, light, scores before and after, drop, items changed, and how surely the drop is one."""
    yellow, red = summary.rules_of(result.parameters["lights"]).cuts
    table = result.tables["drops"]
    rows = table.to_dict("records")
    figures = [e for e in result.summary.estimates if e.metric == summary.DROP]
    said = {tuple(e.group.values()): core.wording.estimate_text(e, figures) for e in figures}
    columns: dict[str, Any] = {
        "test": table["level"],
        "augmentation": table["augmentation"],
        **({"model": table["model"]} if "model" in table else {}),
        "light": [f"{core.verdict.SYMBOLS[light]}\N{NO-BREAK SPACE}{light}" for light in table["light"]],
        "before": [kit.cases.score_text(x) for x in table["before"]],
        "after": [kit.cases.score_text(x) for x in table["after"]],
        "drop, pp": [said[tuple(row[name] for name in result.by)] for row in rows],
        "relative": [_percent(row["relative_drop"]) for row in rows],
        "n": table["n"],
        "worse": table["n_worse"],
        "better": table["n_changed"] - table["n_worse"],
        f"p, < {yellow:g}": [core.wording.p_text(row["p_yellow"]) for row in rows],
        f"p, ≤ {red:g}": [core.wording.p_text(row["p_red"]) for row in rows],
    }
    return pd.DataFrame(columns, index=table.index)


def _percent(share: float) -> str:
    return "–" if share != share else core.percent(share)


def changes(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """The items whose score changed, the largest falls first, augmentations and models in turn, with the edits marked."""
    keys = [result.id, *result.by]
    own = kit.cases.held(result.items[result.items["changed"] == 1], result.tables["texts"], result.id)
    if own.empty:
        return pd.DataFrame({"note": ["the score of no item changed"]})
    found = kit.cases.worst_cases(own, summary.DROP, keys=keys, n=None, highest=[summary.DROP])
    # Each group's largest falls in turn, the groups with the largest drops first.
    groups = found.groupby([*result.by], sort=False).ngroup()
    found = kit.cases.in_turn(found.assign(group=groups.map("{:06d}".format)), "group", rows).drop(columns="group")
    several = "model" in found and result.items["model"].nunique() > 1
    found = found.merge(result.tables["texts"].drop(columns="level"), on=keys, how="left", validate="one_to_one")
    records: Any = found.to_dict("records")
    columns: dict[str, Any] = {"id": found["id"], "augmentation": found["augmentation"]}
    if several:
        columns["model"] = found["model"]
    columns[f"{result.parameters['metric']}, before → after"] = [
        f"{_score(row['before'])} → {_score(row['after'])}" for row in records
    ]
    if {"question", "variant"} & set(found):
        columns["query, and below it the variant"] = kit.cases.cells([_edited(row) for row in records])
    if {"answer", "answer_after"} & set(found):
        columns["answer, and below it the answer to the variant"] = kit.cases.cells(
            [_both(row.get("answer"), row.get("answer_after")) for row in records]
        )
    if "reference" in found:
        columns["reference"] = found["reference"]
    return pd.DataFrame(columns)


def _score(value: float) -> str:
    return f"{value:.2f}".removesuffix(".00")


def _both(first: Any, second: Any) -> draw.Html:
    return draw.Html(
        "<hr>".join(
            draw.tables.text_block(text, 300) if isinstance(text, str) else "<div>–</div>" for text in (first, second)
        )
    )


def _edited(row: Mapping[str, Any]) -> draw.Html:
    before, after = row.get("question"), row.get("variant")
    if not (isinstance(before, str) and isinstance(after, str) and before and after):
        return _both(before, after)
    if max(len(before), len(after)) > _LONGEST or Levenshtein.normalized_similarity(before, after) < _ALIKE:
        return _both(before, after)
    marked = marked_edits(before, after)
    return draw.Html(
        "<hr>".join(
            f"<div{draw.html.language_attributes(text)}>{html}</div>"
            for text, html in zip((before, after), marked, strict=True)
        )
    )


def marked_edits(before: str, after: str) -> tuple[draw.Html, draw.Html]:
    """Two texts with what differs marked: what went, and what came in its place.

    Examples
    --------
    >>> marked_edits("a cat", "a cst")[1]
    'a c<mark class="eb-prediction" title="was: a">s</mark>t'
    """
    old: list[str] = []
    new: list[str] = []
    for step in Levenshtein.opcodes(before, after):
        gone, come = before[step.src_start : step.src_end], after[step.dest_start : step.dest_end]
        if step.tag == "equal":
            old.append(draw.escape(gone))
            new.append(draw.escape(come))
            continue
        if gone:
            old.append(
                f'<mark class="eb-truth" title="{draw.html.attribute(f"became: {come}" if come else "left out")}">{draw.escape(gone)}</mark>'
            )
        if come:
            new.append(
                f'<mark class="eb-prediction" title="{draw.html.attribute(f"was: {gone}" if gone else "added")}">{draw.escape(come)}</mark>'
            )
    return draw.Html("".join(old)), draw.Html("".join(new))


def comparison(result: core.Result) -> pd.DataFrame:
    """Every two models on the drop under each augmentation; empty where there is one model."""
    return kit.comparing.shown(result.tables.get("comparison"), "model")
