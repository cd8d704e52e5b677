"""Why failed trajectories failed, as far as their calls show it: one cause each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.trajectories import turning
from evalbench.studies.trajectories.items import Followed

FORBIDDEN, ENDED, FAILS, WRONG, NOT_CALLED, ENDS, GOES_ON, LEAVES = (
    "a forbidden call",
    "ended by a limit or an error of the environment",
    "a call fails and is not made good",
    "called with other arguments than expected",
    "expected and not called",
    "ends before a call of a successful one",
    "goes on where a successful one ends",
    "leaves the way of a successful one",
)
UNKNOWN = "not known"
COLUMNS = ["run", "cause", "name", "how"]
_OFTENER = 2
"""So many times oftener than in successful trajectories a tool's failures are in failed ones that they explain."""


def causes_of(found: Followed, turns: pd.DataFrame) -> pd.DataFrame:
    """A row for each failed trajectory of known steps: ``run``, ``cause``, ``name`` of the tool, and ``how`` it leaves the way.

    The first that holds of: it calls a forbidden tool; a limit or an error of the environment ended it; a call failed that no later one makes good, of a tool for
    which that happens more than twice as often as in successful trajectories; an expected tool was called with other arguments; an
    expected tool was not called; it ends before the successful trajectory that it follows longest, goes on where that one ends, or leaves
    its way.
    """
    runs = found.runs[found.runs["n_calls"].notna()]
    failed, good = (runs[runs["success"] == mark] for mark in (0, 1))
    errors = _failing(found, failed, good)
    first = found.missed.drop_duplicates("run")
    missed = dict(zip(first["run"], zip(first["name"], first["called"], strict=True), strict=True))
    banned = found.calls[found.calls["forbidden"]].drop_duplicates("run").set_index("run")["name"].to_dict()
    parted = {
        run: (kind, name, other)
        for run, kind, name, other in turns[["run", "kind", "name", "instead_of"]].itertuples(index=False)
    }
    rows: list[tuple[int, str, str, str]] = []
    for run, stopped in failed[["run", "stopped"]].itertuples(index=False):
        if run in banned:
            rows.append((run, FORBIDDEN, banned[run], ""))
        elif stopped == 1:
            rows.append((run, ENDED, "", ""))
        elif run in errors:
            rows.append((run, FAILS, errors[run], ""))
        elif run in missed:
            name, called = missed[run]
            rows.append((run, WRONG if called else NOT_CALLED, name, ""))
        else:
            rows.append((run, *_parting(*parted.get(run, (turning.SAME, "", "")))))
    return pd.DataFrame(rows, columns=COLUMNS)


def _parting(kind: str, name: str, other: str) -> tuple[str, str, str]:
    """Cause, tool, and how it leaves the way, of a trajectory that calls ``name`` where a successful one calls ``other``."""
    if kind == turning.SAME:
        return UNKNOWN, "", ""
    if kind == turning.STOPPED:
        return ENDS, other, ""
    return (GOES_ON, name, "") if kind == turning.WENT_ON else (LEAVES, other, kind)


def _failing(found: Followed, failed: pd.DataFrame, good: pd.DataFrame) -> dict[int, str]:
    """Failed trajectory → the tool whose failure it did not make good, the last one."""
    calls = found.calls[found.calls["failed"] & ~found.calls["recovered"]]
    model = found.runs["model"].to_numpy()

    def rates(of: pd.DataFrame) -> pd.Series:
        own = calls[calls["run"].isin(of["run"])].drop_duplicates(["run", "name"])
        sizes = of.groupby("model").size()
        counts = own.groupby([model[own["run"].to_numpy(dtype=int)], "name"]).size()
        return counts / sizes.reindex(counts.index.get_level_values(0)).to_numpy()

    usual = rates(good)
    telling = {key for key, rate in rates(failed).items() if rate > _OFTENER * usual.get(key, 0.0)}
    own = calls[calls["run"].isin(failed["run"])]
    kept = [(model[run], name) in telling for run, name in zip(own["run"], own["name"], strict=True)]
    return dict(own.loc[np.array(kept, dtype=bool), ["run", "name"]].itertuples(index=False, name=None))


def counted(causes: pd.DataFrame) -> pd.DataFrame:
    """Of each agent how often each cause is, the most frequent first: ``model``, ``cause``, ``name``, ``n``, ``of``, ``tasks``, ``case``.

    - ``causes``: With ``id`` and ``model``.
    """
    causes = causes.assign(n_alike=causes["how"] == turning.OTHER_ARGUMENTS)
    each = causes.groupby(["model", "cause", "name"], sort=True)
    out = each.agg(n=("id", "size"), tasks=("id", "nunique"), other_arguments=("n_alike", "sum"), case=("id", "first"))
    out = out.reset_index().assign(of=lambda own: own["model"].map(causes.groupby("model").size()))
    return out.sort_values(["model", "n", "cause", "name"], ascending=[True, False, True, True], ignore_index=True)


def said(rows: pd.DataFrame, least: int, whose: Mapping[str, str]) -> str:
    """What most failed trials of agents have in common, a sentence; nothing of few, or where no cause is clearly the first.

    - ``rows``: Of :func:`counted`.
    - ``least``: Fewer failed trials with one cause name none.
    - ``whose``: The agents that are spoken of, and the possessive of each.

    Examples
    --------
    >>> row = {"model": "oak", "cause": FAILS, "name": "find", "n": 27, "of": 35, "other_arguments": 0}
    >>> said(pd.DataFrame([row]), 5, {"oak": "oak's"})
    '27 of oak’s 35 failed trials: “find” fails.'
    """
    first = {}
    for model in whose:
        own = rows[(rows["model"] == model) & (rows["cause"] != UNKNOWN)]
        if len(own) and own["n"].iloc[0] >= least and _ahead(own["n"].tolist()):
            first[model] = own.iloc[0]
    alike = len(first) == len(whose) > 1 and len({(row["cause"], row["name"]) for row in first.values()}) == 1
    if alike:
        n, of = (sum(int(row[count]) for row in first.values()) for count in ("n", "of"))
        return f"{_many(n, of)} failed trials: {_clause(next(iter(first.values())))}."
    parts: list[str] = []
    for model, row in first.items():
        part, every = core.wording.count(int(row["n"])), core.wording.count(int(row["of"]))
        many = f"all of {whose[model]} {every}" if part == every else f"{part} of {whose[model]} {every}"
        parts.append(f"{many}{'' if parts else ' failed trials'}: {_clause(row)}")
    text = "; ".join(parts).replace("'s ", "’s ")
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _many(n: int, of: int) -> str:
    return f"All {core.wording.count(n)}" if n == of else f"{core.wording.count(n)} of {core.wording.count(of)}"


def _ahead(counts: list[int]) -> bool:
    """Whether the first of several causes is ahead of the second by more than chance: a sign test, one-sided 5 %."""
    from scipy.stats import binomtest

    return len(counts) < 2 or bool(binomtest(counts[0], counts[0] + counts[1], alternative="greater").pvalue <= 0.05)


def _clause(row: pd.Series) -> str:
    name = f"“{row['name']!s:.60}”"
    if row["cause"] == LEAVES:
        return (
            f"{name} with other arguments" if 2 * row["other_arguments"] > row["n"] else f"they leave the way at {name}"
        )
    return {
        FORBIDDEN: f"{name} is forbidden",
        ENDS: f"they end before {name}",
        GOES_ON: f"they go on with {name}",
        ENDED: "a limit or an error ends them",
        FAILS: f"{name} fails",
        WRONG: f"{name} with wrong arguments",
        NOT_CALLED: f"{name} is not called",
    }[row["cause"]]
