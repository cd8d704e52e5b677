"""Labels of several annotators as one table, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.agreement import cohen_kappa, krippendorff_alpha
from evalbench.core.stats import Measured
from evalbench.errors import BadInput
from evalbench.label.items import PAIR
from evalbench.label.saved import Key
from evalbench.readers.where import in_words, parse

if TYPE_CHECKING:
    import pandas as pd

CONTRADICTING = "contradicting"
UNIT = ["criterion", "annotator", "item"]
LABELS = (
    "id",
    "model",
    "annotator",
    "criterion",
    "mark",
    "skipped",
    "comment",
    "seconds",
    "probability",
    "stratum",
    "selected_by",
)
"""Columns of the table of labels."""


@dataclass(frozen=True)
class Merged:
    """What several files hold together.

    - ``labels``: One row per item, annotator and criterion, the columns of :data:`LABELS`. Of pairs of violations those
      of ``pair_verdicts`` too: ``id`` is their text's, and ``mark`` goes from 0 to 1. Of answers compared side by side one
      row per answer: ``mark`` is the share of its comparisons that it won, a tie a half.
    - ``comparisons``: Of answers compared side by side: one row per comparison, with both models, their sides and the
      ``winner``.
    - ``rows``: One row per item, annotator and criterion, after duplicates: the columns of the files, ``item`` (an
      answer, or a pair of answers, on whatever page) and ``value`` (its mark, or the model that won).
    - ``duplicates``, ``contradictions``: Rows that said the same again; and rows of items that one annotator marked
      differently.
    - ``names``: Annotators' names that differ in case and blanks only.
    """

    labels: pd.DataFrame
    comparisons: pd.DataFrame | None
    rows: pd.DataFrame
    duplicates: pd.DataFrame
    contradictions: pd.DataFrame
    names: tuple[tuple[str, ...], ...] = field(default=())


def merge(saved: pd.DataFrame, keys: Mapping[str, Key]) -> Merged:
    """One row per item, annotator and criterion.

    Of rows that say the same one is kept.  Where one annotator marked one item differently, the later mark counts; where the files
    do not say which is later, none does, and the row is skipped as ``contradicting``.  All of them are listed.

    - ``saved``: From :func:`evalbench.label.saved.read_saved`.
    """
    known = [_key(keys, row) for row in saved[["page", "id"]].itertuples(index=False, name=None)]
    named = saved.assign(
        place=np.arange(len(saved)),
        item=[_item(key, *row) for key, row in zip(known, saved[["page", "id"]].to_numpy(), strict=True)],
        value=[_value(key, mark) for key, mark in zip(known, saved["mark"], strict=True)],
    )
    ordered = named.sort_values(["at", "place"], na_position="first", kind="stable")
    said = ["value", "skipped"]
    repeated = ordered.duplicated([*UNIT, *said], keep="last")
    duplicates = ordered[repeated].sort_values("place")
    rows = ordered[~repeated]
    clash = rows.duplicated(UNIT, keep=False)
    contradictions = rows[clash].sort_values([*UNIT, "at", "place"])
    last = rows.drop_duplicates(UNIT, keep="last").copy()
    undecided = _undecided(contradictions)
    wrong = [tuple(row) in undecided for row in last[UNIT].itertuples(index=False, name=None)]
    last.loc[wrong, ["mark", "value"]] = ""
    last.loc[wrong, "skipped"] = CONTRADICTING
    last = last.sort_values(["criterion", "item", "annotator"]).drop(columns="place").reset_index(drop=True)
    compared = {page for page, key in keys.items() if key.mode == "pairs"}
    pairs = last[last["page"].isin(compared)]
    table = None if pairs.empty else comparisons_of(pairs, keys)
    return Merged(
        labels_of(last[~last["page"].isin(compared)], table, keys),
        table,
        last,
        duplicates.drop(columns="place"),
        contradictions.drop(columns="place"),
        _alike(last["annotator"].unique()),
    )


def _item(key: Mapping[str, Any], page: str, id_: str) -> str:
    """What was labelled, on whatever page and side."""
    if not key:
        return f"{page}\x1f{id_}"
    models = sorted((key["left"], key["right"])) if "left" in key else [key.get("model", "")]
    return "\x1f".join((key["id"], *(key[name] for name in PAIR if name in key), *models))


def _value(key: Mapping[str, Any], mark: str) -> str:
    return str(key[mark]) if mark in ("left", "right") and mark in key else mark


def _undecided(contradictions: pd.DataFrame) -> set[tuple[str, ...]]:
    """Units whose latest rows carry no time, or the same."""
    found = set()
    for unit, rows in contradictions.groupby(UNIT):
        latest = rows["at"].max()
        if rows["at"].isna().any() or (rows["at"] == latest).sum() > 1:
            found.add(tuple(map(str, unit)))
    return found


def _alike(names: Any) -> tuple[tuple[str, ...], ...]:
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(" ".join(name.casefold().split()), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def labels_of(rows: pd.DataFrame, comparisons: pd.DataFrame | None, keys: Mapping[str, Key]) -> pd.DataFrame:
    """The table of labels; rows that were only commented on are left out."""
    import pandas as pd

    rows = rows[(rows["mark"] != "") | (rows["skipped"] != "")]
    known = [_key(keys, row) for row in rows[["page", "id"]].itertuples(index=False, name=None)]
    out = pd.DataFrame(
        {
            "id": [key.get("id", id_) for key, id_ in zip(known, rows["id"], strict=True)],
            "model": [key.get("model", "") for key in known],
            "annotator": rows["annotator"].to_numpy(),
            "criterion": rows["criterion"].to_numpy(),
            "mark": pd.to_numeric(rows["mark"].where(rows["mark"] != ""), errors="coerce").to_numpy(dtype=float),
            "skipped": rows["skipped"].to_numpy(),
            "comment": rows["comment"].to_numpy(),
            "seconds": rows["seconds"].to_numpy(dtype=float),
            "probability": np.array([key.get("probability", np.nan) for key in known], dtype=float),
            "stratum": [str(key.get("stratum", "")) for key in known],
            "selected_by": _selected_by(rows, keys),
        }
    )
    violations = [all(name in key for name in PAIR) for key in known]
    if any(violations):
        for name in PAIR:
            out[name] = [key.get(name, "") for key in known]
        ends = np.array([(min(keys[page].marks), max(keys[page].marks)) for page in rows["page"]], dtype=float)
        share = (out["mark"] - ends[:, 0]) / (ends[:, 1] - ends[:, 0])
        out["mark"] = np.where(violations, share, out["mark"])
    if comparisons is not None:
        out = pd.concat([out, _shares(comparisons)], ignore_index=True)
    if (out["model"] == "").all():
        out = out.drop(columns="model")
    rare = {"probability": out["probability"].isna(), **{name: out[name] == "" for name in ("stratum", "selected_by")}}
    out = out.drop(columns=[name for name, empty in rare.items() if empty.all()])
    order = [name for name in ("criterion", "id", *PAIR, "model", "annotator") if name in out]
    return out.sort_values(order, kind="stable", ignore_index=True)


def _selected_by(rows: pd.DataFrame, keys: Mapping[str, Key]) -> list[str]:
    """The filter and the order under which each item was come upon in the explorer; a filter of its group alone selects nothing."""
    return [
        selected_by(where, sort, keys[page].by if page in keys else ())
        for page, where, sort in rows[["page", "where", "sort"]].itertuples(index=False, name=None)
    ]


def selected_by(where: str, sort: str, by: Sequence[str]) -> str:
    """The filter and the order that chose an item, in words; empty where there are none but for the group's columns.

    Examples
    --------
    >>> selected_by("model=oak light=red", "-score", ["model"]), selected_by("model=oak", "model", ["model"])
    ('light=red, sorted by -score', '')
    """
    order = f"sorted by {sort}" if sort.removeprefix("-") not in ("", *by) else ""
    return ", ".join(filter(None, (_filtered(where, by), order)))


def _filtered(where: str, by: Sequence[str]) -> str:
    try:
        return in_words([term for term in parse(where) if term.column not in by])
    except BadInput:  # a hand wrote it
        return where


def _key(keys: Mapping[str, Key], place: tuple[str, str]) -> Mapping[str, Any]:
    page, id_ = place
    return keys[page].items[id_] if page in keys else {}


def comparisons_of(rows: pd.DataFrame, keys: Mapping[str, Key]) -> pd.DataFrame:
    """One row per comparison of two answers: both models, and the ``winner``, empty for a tie or a skipped pair."""
    import pandas as pd

    rows = rows[(rows["mark"] != "") | (rows["skipped"] != "")]
    known = [_key(keys, row) for row in rows[["page", "id"]].itertuples(index=False, name=None)]
    return pd.DataFrame(
        {
            "id": [key["id"] for key in known],
            "left": [key["left"] for key in known],
            "right": [key["right"] for key in known],
            "choice": rows["mark"].to_numpy(),
            "winner": [
                key.get(mark, "") if mark != "tie" else "" for key, mark in zip(known, rows["mark"], strict=True)
            ],
            "annotator": rows["annotator"].to_numpy(),
            "criterion": rows["criterion"].to_numpy(),
            "skipped": rows["skipped"].to_numpy(),
            "comment": rows["comment"].to_numpy(),
            "seconds": rows["seconds"].to_numpy(dtype=float),
        }
    )


def _shares(comparisons: pd.DataFrame) -> pd.DataFrame:
    """The share of its comparisons that each answer won, a tie a half; time and comments are those of comparisons."""
    import pandas as pd

    decided = comparisons[comparisons["choice"] != ""]
    sides = [
        decided.assign(
            model=decided[side],
            mark=np.where(decided["choice"] == "tie", 0.5, (decided["choice"] == side).astype(float)),
        )
        for side in ("left", "right")
    ]
    unit = ["id", "model", "annotator", "criterion"]
    shares = pd.concat(sides).groupby(unit, sort=True)["mark"].mean().reset_index()
    return shares.assign(skipped="", comment="", seconds=np.nan, probability=np.nan, stratum="", selected_by="")


# -- agreement --------------------------------------------------------------------------------------------------------


def agreement(rows: pd.DataFrame, *, seed: int = 0, n_resamples: int = 2000) -> dict[str, Any]:
    """How far annotators agree, for each criterion.

    - ``rows``: Of :class:`Merged`; rows without a mark do not count.

    Returns: For each criterion: ``items``, ``labels``, ``several`` (items with two or more labels), ``alpha`` (nominal,
    and of marks ``alpha_ordinal``), ``pairs`` (kappa of each two annotators), and for each annotator ``labels``,
    ``skipped``, ``flagged``, ``mean``, ``seconds`` (median), ``kappa`` with the mark that most of the others gave.
    """
    return {str(name): _of_criterion(part, seed, n_resamples) for name, part in rows.groupby("criterion")}


def _of_criterion(rows: pd.DataFrame, seed: int, n_resamples: int) -> dict[str, Any]:
    marked = rows[rows["value"] != ""]
    numeric = bool(len(marked) and marked["value"].str.fullmatch(r"-?\d+").all())
    values: Any = marked["value"].astype(float) if numeric else marked["value"]
    options = {"seed": seed, "n_resamples": n_resamples}
    units = marked["item"].to_numpy(dtype=str)
    found: dict[str, Any] = {
        "items": int(marked["item"].nunique()),
        "labels": len(marked),
        "several": int((marked.groupby("item").size() >= 2).sum()),
        "alpha": krippendorff_alpha(units, values.to_numpy(), "nominal", **options),
    }
    if numeric and marked["value"].nunique() > 2:
        found["alpha_ordinal"] = krippendorff_alpha(units, values.to_numpy(), "ordinal", **options)
    table = marked.pivot(index="item", columns="annotator", values="value")
    names = list(table.columns)
    found["pairs"] = [
        {"annotators": (a, b), "kappa": _kappa(table[a], table[b], options)} for a, b in combinations(names, 2)
    ]
    found["annotators"] = {
        str(name): _of_annotator(part, table, str(name), numeric, options) for name, part in rows.groupby("annotator")
    }
    return found


def _of_annotator(
    rows: pd.DataFrame, table: pd.DataFrame, name: str, numeric: bool, options: Mapping[str, int]
) -> dict[str, Any]:
    marked = rows[rows["value"] != ""]
    times = rows["seconds"].dropna()
    mean = float(marked["value"].astype(float).mean()) if numeric and len(marked) else None
    others = table.drop(columns=name) if name in table else table
    kappa = Measured(None, note="no other annotator")
    if name in table and others.shape[1]:
        kappa = _kappa(table[name], _most(others), options)
    return {
        "labels": len(marked),
        "skipped": int((rows["skipped"] != "").sum()),
        "flagged": int(rows["flag"].sum()),
        "mean": mean,
        "seconds": float(times.median()) if len(times) else None,
        "kappa": kappa,
    }


def _kappa(first: pd.Series, second: pd.Series, options: Mapping[str, Any]) -> Measured:
    return cohen_kappa(first.fillna("").to_numpy(dtype=str), second.fillna("").to_numpy(dtype=str), **options)


def _most(table: pd.DataFrame) -> pd.Series:
    """The mark that most gave each item; empty where two lead, or nobody marked it."""
    counts = (
        table.reset_index().melt(id_vars="item").dropna().groupby(["item", "value"]).size().rename("n").reset_index()
    )
    lead = counts[counts["n"] == counts.groupby("item")["n"].transform("max")]
    alone = lead[~lead.duplicated("item", keep=False)].set_index("item")["value"]
    return alone.reindex(table.index)
