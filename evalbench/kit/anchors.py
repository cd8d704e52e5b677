"""Anchors: the same labelled answers judged at every run, which separate the drift of a judge from that of the system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from evalbench.core.judge_drift import MARGIN, JudgeDrift, drift_light, drift_sentence, judge_drift
from evalbench.core.judged_by import JudgedBy, judge_changes, judge_unknown, kept_verdicts
from evalbench.core.result import Estimate
from evalbench.core.stats import Measured
from evalbench.core.verdict import Light
from evalbench.core.wording import counted, p_equals
from evalbench.errors import BadInput
from evalbench.readers.anchors import KEYS, read_anchors

if TYPE_CHECKING:
    import pandas as pd

OPTIONS = ("anchors_then", "anchors_now", "anchors_margin")
"""The options of a study that takes anchors; their words are those of :func:`anchored`."""
_ANCHOR, _SIGNED = "anchor", "−1–1"


class Anchored(NamedTuple):
    """The drift of a judge on its anchors.

    Attributes
    ----------
    fit : mapping
        JSON values for an option of ``summarise``, see :func:`judge_estimates`: ``drift``, ``light``, ``why``, ``sentence``,
        ``void`` (what changed of the judge, in words; empty for the same judge), ``moved`` (in words; empty where no move
        of the same judge is shown).
    table : DataFrame
        ``id, model, trial, criterion, label, then, now, change``, the largest changes first.
    """

    fit: dict[str, Any]
    table: pd.DataFrame
    notes: tuple[str, ...]


def anchored(
    *,
    anchors_then: str = "",
    anchors_now: str = "",
    anchors_margin: float = MARGIN,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Anchored | None:
    """How far a judge moved on its anchors between two judgings.

    Parameters
    ----------
    anchors_then : str
        Anchors as the judge judged them at the time of the earlier sample: ``anchors.jsonl`` of a run of ``judge_audit``, that
        run's folder, or a table with ``id``, ``mark`` and if wanted ``label``, ``judge``, ``prompt``, ``version``.
    anchors_now : str
        The same answers as it judged them at the time of the later sample.
    anchors_margin : float
        A move of the judge that matters, as a share of the scale.

    Returns
    -------
    Anchored or None
        None where no anchors are given.

    Raises
    ------
    BadInput
        If one file is given alone, a file is not a table of anchors, or the two share no answer.
    """
    faults = []
    if bool(anchors_then) != bool(anchors_now):
        faults.append("anchors_then and anchors_now go together: the same answers, judged at two times")
    if not 0 < anchors_margin <= 1:
        faults.append(f"anchors_margin must be a share of the scale, above 0 and up to 1; got {anchors_margin!r}")
    if faults:
        raise BadInput.listing("anchors:", faults)
    if not anchors_then:
        return None
    paths = [Path(name).expanduser() for name in (anchors_then, anchors_now)]
    return compared(*(read_anchors(path) for path in paths), margin=anchors_margin, seed=seed, n_resamples=n_resamples)


def compared(
    earlier: tuple[pd.DataFrame, JudgedBy],
    later: tuple[pd.DataFrame, JudgedBy],
    *,
    margin: float = MARGIN,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Anchored:
    """Two judgings of anchors against each other; tables as :func:`evalbench.readers.anchors.read_anchors` returns them.

    Labels are those of the later table, of answers that it does not label those of the earlier one.  An answer whose text
    changed (``answer``) is no anchor any more.

    Raises
    ------
    BadInput
        If no answer is in both.
    """
    both, notes = _joined(earlier[0], later[0])
    then, now = (both[name].to_numpy(dtype=float) for name in ("then", "now"))
    order = both["id"].astype(str).to_numpy()
    drift = judge_drift(then, now, both["label"].to_numpy(dtype=float), units=order, seed=seed, n_resamples=n_resamples)
    changes = judge_changes(earlier[1], later[1])
    void = "; ".join(changes)
    light, why = drift_light(drift, void=void, margin=margin)
    kept = "" if void or drift.moved else kept_verdicts(earlier[1], later[1])
    if kept:
        light, why = "grey", kept
    if unknown := judge_unknown(earlier[1], later[1]):
        notes.append(
            f"Whether the judge's {' or '.join(unknown).replace('judge', 'name')} changed cannot be checked: it is not known of both judgings."
        )
    sentence = drift_sentence(drift, _ANCHOR, another=bool(void))
    fit = {
        "drift": drift.to_json(),
        "light": light,
        "why": why,
        "sentence": sentence,
        "void": void,
        "moved": "" if void or not drift.moved else sentence.rstrip("."),
    }
    change = np.abs(now - then)
    table = both.assign(change=now - then)
    table = table.iloc[np.lexsort((both["id"].astype(str), -np.nan_to_num(change, nan=-1)))].reset_index(drop=True)
    return Anchored(fit, table, tuple(notes))


def _joined(earlier: pd.DataFrame, later: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The answers of both tables, in the order of their names, and what must be said of the others."""
    keys = list(KEYS)
    both = earlier.merge(later, on=keys, suffixes=("_then", "_now"), validate="one_to_one")
    notes = []
    answers = both["answer_then"].astype(str), both["answer_now"].astype(str)
    other = ((answers[0] != answers[1]) & (answers[0] != "") & (answers[1] != "")).to_numpy()
    alone = len(earlier) + len(later) - 2 * len(both)
    both = both[~other]
    if not len(both):
        raise BadInput(
            "anchors: no answer is in both files"
            + (f"; {counted(int(other.sum()), 'answer')} with another text at the later time" if other.any() else "")
            + f" (compared by {', '.join(keys)})"
        )
    if other.any():
        notes.append(f"{counted(int(other.sum()), 'anchor')} left out: the text of the answer is another one now.")
    if alone:
        notes.append(f"{counted(alone, 'anchor')} left out, judged at one of the two times only.")
    labels = both["label_then"], both["label_now"]
    if n := int((labels[0].notna() & labels[1].notna() & (labels[0] != labels[1])).sum()):
        notes.append(f"The labels of {counted(n, 'anchor')} differ between the two times; those of now count.")
    label = labels[1].fillna(labels[0])
    out = both[keys].assign(label=label, then=both["mark_then"], now=both["mark_now"])
    return out.sort_values(keys, kind="stable", ignore_index=True), notes


def judge_estimates(fit: Mapping[str, Any] | None) -> tuple[Estimate, ...]:
    """The judge's own figures as rows of a summary: ``judge_shift``, which has the light, ``judge_changed``, ``judge_agreement_drift``.

    Parameters
    ----------
    fit : mapping or None
        Of :class:`Anchored`; None gives no rows.
    """
    if fit is None:
        return ()
    drift = JudgeDrift.of_json(fit["drift"])
    unit = _SIGNED if drift.scale == (0, 1) else "mark"
    shift = _row(drift, drift.shift, "judge_shift", "judge: move of its marks", unit=unit)
    p = f"p {p_equals(drift.p)}; " if drift.p is not None else ""
    rows = [
        _lit(shift, cast("Light", fit["light"]), f"{p}{fit['why']}"),
        _row(drift, drift.changed, "judge_changed", "judge: verdicts that changed"),
    ]
    if drift.agreement.value is not None:
        note = f"{drift.then.value:.3g} then, {drift.now.value:.3g} now"
        rows.append(
            _row(
                drift,
                drift.agreement,
                "judge_agreement_drift",
                "judge: change of its agreement with people",
                unit=_SIGNED,
                note=note,
            )
        )
    return tuple(rows)


def _row(drift: JudgeDrift, figure: Measured, metric: str, title: str, unit: str = "0–1", note: str = "") -> Estimate:
    return Estimate(
        metric=metric,
        title=title,
        value=figure.value,
        ci_low=figure.ci_low,
        ci_high=figure.ci_high,
        method=figure.method,
        n=figure.n,
        n_of="anchors",
        n_unscored=drift.n_left_out,
        unit=unit,
        higher_is_better=None,
        note="; ".join(filter(None, (figure.note, note))),
    )


def _lit(row: Estimate, light: Light, note: str) -> Estimate:
    return replace(row, light=light, note="; ".join(filter(None, (row.note, note))))
