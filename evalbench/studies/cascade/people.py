"""People's labels: what they prefer, how far they agree, and the table that goes to them and comes back (stage 13)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.cascade import state

TO_LABEL = "to_label.csv"
COLUMNS = (
    "id",
    "question",
    "contexts",
    "reference",
    "answer_a",
    "answer_b",
    "model_a",
    "model_b",
    "winner",
    "annotator",
    "comment",
)
WINNERS = ("a", "b", "tie")
DIVIDED = "annotators-divided"
"""The label of a tie of annotators, of whom as many find the one answer better as the other."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def signs_of(labels: pd.DataFrame, models: Mapping[str, str]) -> pd.DataFrame:
    """One row per question and annotator who marked both answers: id, annotator, sign (1: A is better, −1: B, 0: neither).

    - ``labels``: ``id, model, mark`` and, where there are any, ``annotator`` and ``criterion``.
    - ``models``: Side → the name of its model.
    """
    keys = [name for name in ("criterion", "annotator") if name in labels]
    known = labels.assign(**{name: labels[name].fillna("").astype(str) for name in keys}).dropna(subset=["mark"])
    known = known.assign(annotator=known.get("annotator", ""), criterion=known.get("criterion", ""))
    side = {name: side for side, name in models.items()}
    known = known.assign(side=known["model"].astype(str).map(side)).dropna(subset=["side"])
    wide = known.pivot_table(index=["id", "annotator", "criterion"], columns="side", values="mark", aggfunc="mean")
    if wide.empty or not set(state.SIDES) <= set(wide.columns):
        return pd.DataFrame({"id": [], "annotator": [], "sign": []})
    gap = (wide["a"] - wide["b"]).dropna().round(9)
    signs = pd.DataFrame({"sign": np.sign(gap.to_numpy(float))}, index=gap.index)
    each = signs.groupby(level=["id", "annotator"])["sign"].sum().reset_index()
    return each.assign(sign=np.sign(each["sign"].to_numpy(float)))


def preferences(labels: pd.DataFrame, models: Mapping[str, str]) -> dict[str, state.Preference]:
    """What most annotators prefer of each question; as many for the one as for the other is a tie."""
    signs = signs_of(labels, models)
    found = {}
    for name, own in signs.groupby("id")["sign"]:
        mean = float(own.mean())
        found[str(name)] = state.Preference(state.compared(mean, 0.0), len(own), bool(mean == 0 and own.any()))
    return found


def agreement(labels: pd.DataFrame, models: Mapping[str, str], *, seed: int, n_resamples: int) -> core.stats.Measured:
    """Krippendorff's alpha (interval) of which answer is better."""
    signs = signs_of(labels, models)
    if signs["annotator"].nunique() < 2:
        return core.stats.Measured(None, note="fewer than two annotators")
    return core.agreement.krippendorff_alpha(
        signs["id"].to_numpy(), signs["sign"].to_numpy(float), "interval", seed=seed, n_resamples=n_resamples
    )


def mean_marks(labels: pd.DataFrame, models: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Question → side → the mean mark of its answer."""
    found: dict[str, dict[str, float]] = {}
    side = {name: side for side, name in models.items()}
    known = labels.dropna(subset=["mark"])
    means = known.groupby(["id", "model"])["mark"].mean().reset_index()
    for name, model, mark in zip(means["id"], means["model"], means["mark"], strict=True):
        if str(model) in side:
            found.setdefault(str(name), {})[side[str(model)]] = float(mark)
    return found


def scale_of(labels: pd.DataFrame) -> tuple[float, float]:
    """The least and the greatest mark that people gave."""
    marks = labels["mark"].dropna()
    return (float(marks.min()), float(marks.max())) if len(marks) else (0.0, 1.0)


def annotated(cases: Sequence[state.Case], desk: state.Desk, returned: Mapping[str, state.Preference]) -> state.Found:
    """What annotators said of the questions that are left: in the table that came back, else in the labels at hand."""
    found = state.Found()
    for case in cases:
        said = returned.get(case.id)
        label = "annotators"
        if said is None:
            said, label = case.people, "labels-at-hand"
        if said is not None:
            assert said.outcome in state.SCORES
            label = DIVIDED if said.divided else label
            found.decided[case.id] = state.Decision(said.outcome, label, f"{said.n} annotator{'s' * (said.n != 1)}")
    return found


def to_label(cases: Sequence[state.Case], models: Mapping[str, str]) -> bytes:
    """The table that goes to annotators, as CSV: both answers side by side, and an empty column ``winner`` (a, b or tie).

    ``evalbench label page to_label.csv --side-by-side`` makes a page of it.  A cell that a spreadsheet would take for a formula begins
    with an apostrophe.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for case in sorted(cases, key=lambda case: case.id):
        contexts = "\n".join((*case.relevant, *case.contexts))
        row: list[Any] = [
            case.id,
            case.question,
            contexts,
            case.reference,
            case.a,
            case.b,
            models["a"],
            models["b"],
            "",
            "",
            "",
        ]
        writer.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in row])
    return out.getvalue().encode("utf-8")
