"""Calls that do not fit the schema of their tool, calls of tools that do not exist, and how far two runs differ by chance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from judged_agents import judged, steps

from evalbench import load
from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.studies import trajectories

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
ROWS = steps(
    ("a", 1, "call", "pay", '{"n": 1}'), ("a", 2, "call", "pay", '{"n": "1"}'), ("a", 3, "call", "find", '{"x": 1}'),
    ("b", 1, "call", "pay", "{"), ("b", 2, "call", "fly", "{}"), ("b", 3, "call", "pay", ""), ("b", 4, "call", "pay", '{"n": 2}'),
)  # fmt: skip


def tools(*rows: tuple[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["name", "parameters"], dtype=object)


def figure(found: Result, metric: str) -> Any:
    return found.estimate(metric, model="model not named")


def test_calls_that_do_not_parse_or_do_not_fit_are_counted_of_those_that_have_a_schema() -> None:
    found = judged({"steps": ROWS, "tools": tools(("pay", NUMBER), ("find", None))})
    own = figure(found, "misfit_calls")
    assert own.value == 3 / 5
    assert own.n == 2
    assert own.ci_low < 3 / 5 < own.ci_high
    assert figure(found, "unknown_calls").value == 1 / 7
    assert found.items[["n_held", "n_misfit", "n_unknown"]].to_numpy().tolist() == [[2, 1, 0], [3, 2, 1]]
    listed = found.tables["misfits"]
    assert listed[["id", "step", "name", "why"]].to_numpy().tolist() == [
        ["a", 2, "pay", "$.n: '1' is not of type 'integer'"],
        ["b", 1, "pay", "not JSON"],
        ["b", 2, "fly", "unknown tool"],
        ["b", 3, "pay", "$: 'n' is a required property"],
    ]
    by_tool = found.tables["tools"].set_index("name")
    assert by_tool["misfits"].to_dict() == {"pay": 3, "find": 0, "fly": 0}
    assert by_tool["unknown"].to_dict() == {"pay": 0, "find": 0, "fly": 1}
    assert {"Calls of tools that are not listed: 1 of 7, such as fly (table misfits)."} <= set(found.notes)
    assert any("No schema is given of 1 tool that is called, such as find" in note for note in found.notes)
    assert "is not of type" in trajectories.misfits(found).to_string()


def test_without_schemas_the_figures_are_undefined_and_say_why() -> None:
    bare = judged({"steps": ROWS}, figures=["misfit_calls", "unknown_calls"])
    assert (figure(bare, "misfit_calls").value, figure(bare, "unknown_calls").value) == (None, None)
    assert "no call is of a tool whose schema is given" in figure(bare, "misfit_calls").note
    assert "no table lists the tools" in figure(bare, "unknown_calls").note
    named = judged({"steps": ROWS, "tools": tools(("pay", None), ("find", None))}, figures=["misfit_calls"])
    assert "no call is of a tool whose schema is given" in figure(named, "misfit_calls").note
    assert "misfit_calls" not in {e.metric for e in judged({"steps": ROWS}).summary.estimates}
    assert trajectories.misfits(judged({"steps": ROWS})).empty


def test_every_schema_that_is_none_is_named_in_one_message() -> None:
    wrong = tools(("pay", {"type": "no"}), ("fly", {"$ref": "http://x/y"}), ("find", NUMBER))
    with pytest.raises(BadInput) as caught:
        judged({"steps": ROWS, "tools": wrong})
    assert len(caught.value.faults) == 2
    assert "parameters of pay" in caught.value.faults[0]
    assert "$.type" in caught.value.faults[0]
    assert "nothing is fetched" in caught.value.faults[1]


@pytest.mark.parametrize(
    "form",
    [
        [{"type": "function", "function": {"name": "pay", "parameters": NUMBER}}],
        [{"name": "pay", "input_schema": NUMBER}],
        [{"name": "pay", "parameters": json.dumps(NUMBER)}],
    ],
)
def test_tools_are_read_as_providers_list_them(tmp_path: Path, form: list[dict[str, Any]]) -> None:
    (tmp_path / "steps.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS.to_dict("records")))
    (tmp_path / "tools.json").write_text(json.dumps(form))
    found = trajectories.evaluate(load(tmp_path, study="trajectories"), n_resamples=50)
    assert found.items["n_misfit"].tolist() == [1, 2]
    assert found.items["n_unknown"].tolist() == [1, 1]


def test_a_schema_that_takes_too_long_leaves_the_call_out_of_the_figure() -> None:
    endless = {"properties": {"n": {"$ref": "#/properties/n"}}}
    found = judged({"steps": ROWS, "tools": tools(("pay", endless), ("find", NUMBER), ("fly", None))})
    assert found.items["n_held"].tolist() == [1, 2]
    assert any("take too long to be held against the schema of their tool: 3 of 7" in note for note in found.notes)


def test_how_far_two_runs_must_differ_is_on_the_page() -> None:
    rows = pd.DataFrame(
        [
            {"id": f"t{i}", "trial": t, "step": 1, "kind": "message", "mark": int((i + t) % 3 > 0)}
            for i in range(20)
            for t in (1, 2)
        ]
    )
    found = judged({"steps": rows})
    assert any("over these 20 tasks must differ by more than" in note for note in found.notes)
    few = judged({"steps": rows[rows["id"] < "t12"]})
    assert not any("must differ by more than" in note for note in few.notes)
    assert any("is not known: 4 tasks tried more than once" in note for note in few.notes)
    once = judged({"steps": rows[rows["trial"] == 1].drop(columns="trial")})
    assert any("No task was tried twice" in note for note in once.notes)


def test_figures_of_no_known_scale_that_are_alike_have_no_interval() -> None:
    found = judged({"steps": steps(("a", 1, "call", "x"), ("b", 1, "call", "y"), seconds=1.0)})
    for metric in ("calls", "seconds"):
        own = figure(found, metric)
        assert (own.value, own.ci_low, own.ci_high, own.n) == (1, None, None, 2)
        assert "no interval" in own.note
    assert figure(found, "loops").ci_high > 0.5
