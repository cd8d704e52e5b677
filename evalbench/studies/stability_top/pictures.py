"""Pictures and tables of a stability_top result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.stability_top import items, summary
from evalbench.text.augment import Edit

SHORT = {"unchanged_strict": "strict", "unchanged_soft": "soft"}
MOST_LINES = 6
MOST_ROWS = 40
LONGEST = 80
"""Longer names of passages are cut until they are opened."""


def _estimates(result: core.Result, metric: str) -> list[core.Estimate]:
    """The figure of every augmentation, of many the lowest."""
    found = [e for e in result.summary.estimates if e.metric == metric]
    if len(found) > MOST_ROWS:
        kept = sorted(found, key=lambda e: 2.0 if e.value is None else e.value)[:MOST_ROWS]
        found = [e for e in found if e in kept]
    return found


def picture_kept(result: core.Result) -> draw.Drawn:
    """The share of passages that every augmentation leaves in the top."""
    return _bars(result, "unchanged_soft", "Passages of the top that stay", "mean share of the first k passages (0–1)")


def picture_unchanged(result: core.Result) -> draw.Drawn:
    """The share of tops that every augmentation leaves whole."""
    return _bars(result, "unchanged_strict", "Tops in which every passage stays", "share of questions (0–1)")


def _bars(result: core.Result, metric: str, title: str, xlabel: str) -> draw.Drawn:
    rows = _estimates(result, metric)
    names = [f"{core.verdict.SYMBOLS[e.light]} {e.group['augmentation']}" for e in rows]
    figure, alt = draw.pictures.estimate_bars(
        names, rows, title=f"{title}, k = {result.parameters['k']}", xlabel=xlabel, domain=(0, 1)
    )
    lit = "; ".join(f"{e.group['augmentation']} {e.light}" for e in rows)
    return figure, f"{alt} Lights: {lit}."


def picture_depths(result: core.Result, figure: str = "unchanged_soft") -> draw.Drawn | None:
    """A figure at every depth, of many augmentations the lowest at k; None where there is no value."""
    table = result.tables["by_k"].dropna(subset=[figure])
    if table.empty:
        return None
    at_k = table[table["k"] == min(result.parameters["k"], table["k"].max())].sort_values([figure, "augmentation"])
    names = sorted(at_k["augmentation"][:MOST_LINES])
    series = {name: _line(table[table["augmentation"] == name], figure) for name in names}
    few = len(at_k) > len(names)
    title = f"{summary.TITLES[figure].capitalize()} by depth{f', the {len(names)} lowest augmentations' if few else ''}"
    return draw.lines.lines(
        series, title=title, xlabel="k", ylabel=f"{summary.TITLES[figure]} (0–1)", domain=(-0.02, 1.02)
    )


def _line(own: pd.DataFrame, figure: str) -> draw.lines.Line:
    return draw.lines.Line(*(own[c].to_numpy() for c in ("k", figure, f"{figure}_low", f"{figure}_high")))


def figures(result: core.Result) -> pd.DataFrame:
    """Every augmentation: its list, and the figures at k that have a light, with their intervals."""
    found = {(e.group.get("augmentation", ""), e.metric): e for e in result.summary.estimates}
    names = list(dict.fromkeys(name for name, _ in found))
    levels = dict(zip(result.items["augmentation"], result.items["level"], strict=True))
    columns: dict[str, Any] = {"list": [levels.get(name, "") for name in names], "augmentation": names}
    for metric in SHORT:
        rows = [found[name, metric] for name in names]
        columns[SHORT[metric]] = core.wording.aligned(
            *([getattr(e, part) for e in rows] for part in ("value", "ci_low", "ci_high"))
        )
        if any(e.light != "unlit" for e in rows):
            columns[f"{SHORT[metric]}: light"] = kit.cases.cells(
                [draw.verdict.light_word(e.light) for e in rows], range(len(rows))
            )
    columns["questions"] = [found[name, "unchanged_soft"].n for name in names]
    return pd.DataFrame(columns)


def by_depth(result: core.Result) -> pd.DataFrame:
    """Every figure at every depth, with the changed shares of the method document."""
    table = result.tables["by_k"]
    out = table[["augmentation", "k"]].copy()
    for name in items.FIGURES:
        ends = ([None if np.isnan(v) else float(v) for v in table[c]] for c in (name, f"{name}_low", f"{name}_high"))
        out[summary.TITLES[name]] = core.wording.aligned(*ends)
    for name in ("strict", "soft"):
        out[f"changed ({name})"] = [kit.cases.score_text(x) for x in table[f"changed_{name}"]]
    return out


def worst(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """Questions whose top changed most, the augmentations in turn: edits marked, passages that went and that came."""
    keys = [result.id, *result.by]
    own = result.items[result.items["rbo"] < 1 - 1e-9]
    if own.empty:
        return pd.DataFrame({"note": ["no top changed"]})
    found = kit.cases.worst_cases(own, ["unchanged_soft", "rbo"], keys=keys, n=None)
    found = kit.cases.in_turn(found, "augmentation", rows)
    found = found.merge(result.tables["texts"], on=keys, how="left", validate="one_to_one")
    records: Any = found.to_dict("records")
    columns: dict[str, Any] = {"id": found["id"], "augmentation": found["augmentation"]}
    columns["kept"] = [kit.cases.score_text(row["unchanged_soft"]) for row in records]
    columns["rank-biased overlap"] = [kit.cases.score_text(row["rbo"]) for row in records]
    if found["question"].notna().any():
        columns["question, and below it the variant"] = kit.cases.cells([_texts(row) for row in records], found.index)
    columns["top before"] = kit.cases.cells([_top(row["top"], row["top_after"]) for row in records], found.index)
    columns["top after"] = kit.cases.cells([_top(row["top_after"], row["top"]) for row in records], found.index)
    return pd.DataFrame(columns)


def examples(result: core.Result, rows: int = 2) -> draw.Html:
    """What became of questions under every augmentation: originals beside variants, the edits marked."""
    texts = result.tables["texts"]
    texts = texts[
        [
            isinstance(a, str) and isinstance(b, str) and a != b
            for a, b in zip(texts["question"], texts["variant"], strict=True)
        ]
    ]
    if texts.empty:
        return draw.Html("<p>No question was changed here.</p>")
    records: Any = texts.groupby("augmentation", sort=True).head(rows).to_dict("records")
    return draw.edits.variants(
        draw.edits.Changed(f"{row['augmentation']}, {row['id']}", row["question"], row["variant"], _log(row))
        for row in records
    )


def _texts(row: Mapping[str, Any]) -> draw.Html:
    sides = row["question"], row["variant"]
    if not all(isinstance(text, str) for text in sides):
        return draw.Html("<hr>".join(draw.escape(text) if isinstance(text, str) else "–" for text in sides))
    marked = draw.edits.edited(*sides, _log(row))
    return draw.Html(
        "<hr>".join(
            f"<div{draw.html.language_attributes(text)}>{html}</div>" for text, html in zip(sides, marked, strict=True)
        )
    )


def _log(row: Mapping[str, Any]) -> list[Edit] | None:
    """The edits of a variant that was made here."""
    return [Edit(*edit) for edit in json.loads(row["edits"])] if isinstance(row["edits"], str) else None


def _top(own: Sequence[str], other: Sequence[str]) -> draw.Html:
    """Passages in their order; those that the other side lacks are marked."""
    lacks = set(other)
    shown = {n: draw.escape(n) if len(n) <= LONGEST else draw.tables.clamped(n, LONGEST) for n in own}
    names = [shown[n] if n in lacks else f'<mark class="eb-differs">{shown[n]}</mark>' for n in own]
    return draw.Html("<br>".join(names) or "–")
