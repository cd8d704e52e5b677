"""What a judge says of trajectories, as the page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, draw, kit
from evalbench.readers.schema import TRIAL
from evalbench.studies.trajectories.pictures import _what, _who
from evalbench.studies.trajectories.taxonomy import NO_FAILURE


def failures(result: core.Result) -> pd.DataFrame:
    """How often each agent fails in each way, by the judge, the most frequent kinds first; empty without a judge."""
    table = result.tables.get("fault_kinds")
    if table is None:
        return pd.DataFrame()
    own = table[table["trajectories"] > 0]
    if own.empty:
        return pd.DataFrame({"note": ["The judge names no failure"]})
    own = own.sort_values(["model", "trajectories", "kind"], ascending=[True, False, True], ignore_index=True)
    ends = ([None if v != v else v for v in own[c]] for c in ("share", "ci_low", "ci_high"))
    return pd.DataFrame(
        {
            "agent": own["model"],
            "group": own["group"],
            "kind": own["kind"].str.replace("_", " "),
            "trajectories": own["trajectories"],
            "tasks": own["tasks"],
            "share": core.wording.aligned(*ends),
            "such as": own["case"],
            "step": own["step"],
        }
    )


def failed_steps(result: core.Result, n: int = 3, rows: int = 60) -> draw.Html:
    """Trajectories in which the judge names a failure, step by step, the step that it names marked: one of each of the most frequent kinds."""
    table = result.tables.get("faults")
    if table is None:
        return draw.Html("")
    own = table[(table["mark"] != "") & (table["mark"] != NO_FAILURE)]
    often = own["mark"].value_counts()
    order = own.assign(often=own["mark"].map(often)).sort_values(
        ["often", "mark"], ascending=[False, True], kind="stable"
    )
    cases = order.drop_duplicates("mark").head(n).to_dict("records")
    return draw.Html("".join(_failed(result, case, rows) for case in cases))


def _failed(result: core.Result, case: Mapping[Any, Any], rows: int) -> draw.Html:
    steps = result.tables["steps"]
    own = kit.cases.rows_of(steps, case, ["id", "model", *([TRIAL] if TRIAL in steps else [])])

    n, at = len(own), int((own["step"] < case["step"]).sum())
    first = min(max(at - 2 * rows // 3, 0), max(n - rows, 0))
    own = own.iloc[first : first + rows]
    some = f"; {first + 1} to {first + len(own)} of {n}" if n > rows else ""

    def marked(step: Mapping[str, Any]) -> draw.Html:
        return draw.Html('<strong class="eb-call-bad">▶ here</strong>' if step["step"] == case["step"] else "")

    table = kit.cases.shown(own, {"step": "step", "failure": marked, "who": _who, "what": _what})
    trial = f", trial {case[TRIAL]}" if TRIAL in case else ""
    title = f"{case['id']}, {case['model']}{trial}: {case['mark'].replace('_', ' ')} at step {case['step']}"
    return kit.cases.sheet(
        title, case["reason"], draw.tables.html_table(table, caption=f"Steps of {title}{some}", rows=rows)
    )


def marked_calls(result: core.Result) -> pd.DataFrame:
    """Calls to which the judge gives less than the highest mark, the lowest first; empty without criteria of steps."""
    table = result.tables.get("step_verdicts")
    if table is None:
        return pd.DataFrame()
    own = table[table["mark"] < table["highest"]].sort_values(["mark", "id", "criterion"], ignore_index=True)
    names = {"task": "id", "model": "agent", TRIAL: "trial", "step": "step", "tool": "tool", "criterion": "criterion"}
    names |= {"mark": "mark", "reason": "the judge's reason"}
    return own[[name for name in names if name in own]].rename(columns=names)
