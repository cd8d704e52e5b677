"""What the anchors of a judge say of the tests that rest on its marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evalbench.studies.drift import figures

RESTING = ("key_metric", "local_drift", "global_drift")
"""The tests of the key metric, measured or forecast."""
PEOPLES = "label"
"""The column of people's labels: no judge's move changes it."""


def reason_of(fit: Mapping[str, Any], metric: str) -> str:
    """Why tests of the key metric say nothing of the system; empty where they do.

    Parameters
    ----------
    fit : mapping
        Of :class:`evalbench.kit.anchors.Anchored`.
    metric : str
        The key metric.

    Examples
    --------
    >>> reason_of({"void": "the judge from a to b", "moved": "", "light": "grey"}, "score")
    'the judge changed (the judge from a to b)'
    >>> reason_of({"void": "the judge from a to b", "moved": "", "light": "grey"}, "label")
    ''
    """
    if metric == PEOPLES:
        return ""
    if fit["void"]:
        return f"the judge changed ({fit['void']})"
    moved = str(fit["moved"]).partition(" on the same ")[0]  # the whole sentence follows
    return f"{moved[:1].lower()}{moved[1:]}" if moved and fit["light"] == "red" else ""


def held_by_judge(test: figures.Test, judge_drift: Mapping[str, Any] | None, *, again: bool = False) -> figures.Test:
    """A test of the key metric without a light where the judge changed or moved; its figures stay shown.

    ``again``: another test has given the reason whole.
    """
    reason = (judge_drift or {}).get("reason") or ""
    if not reason or test.name not in RESTING or test.light in ("grey", "unlit"):
        return test
    shown = f"a drop may be the judge's; by itself it would be {test.light}"
    may = "a drop may be hidden by the judge" if test.light == "green" else shown
    why = f"{'the judge moved or changed' if again else reason}, so {may}"
    estimates = [replace(e, light="grey") if e.light not in ("grey", "unlit") else e for e in test.estimates]
    return replace(test, light="grey", why=why, estimates=estimates, drawn=test.drawn[:0])
