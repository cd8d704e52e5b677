"""What trajectories say of small summaries: every light, one agent, two, many; nothing known."""

from __future__ import annotations

from typing import Any

import pandas as pd
from toy_summary import answered, compared, figure, sentence, summary

from evalbench.core.result import Estimate
from evalbench.core.verdict import Light
from evalbench.studies.trajectories.causes import FAILS, LEAVES, UNKNOWN


def reached(
    light: Light = "unlit", metric: str = "success", title: str = "success", **agents: float | None
) -> list[Estimate]:
    shared: dict[str, Any] = {"method": "percentile bootstrap", "higher_is_better": True, "title": title}
    return [
        figure(metric, v, light, group={"model": m}, note="" if v is not None else "no mark", **shared)
        for m, v in agents.items()
    ]


def failing(*causes: tuple[str, str, str], model: str = "fern") -> dict[str, pd.DataFrame]:
    """Failed trials of an agent: cause, tool, and how it leaves the way."""
    frame = pd.DataFrame(causes, columns=["cause", "name", "how"])
    return {"causes": frame.assign(id=[f"t{i}" for i in range(len(frame))], model=model)}


def said(*rows: Estimate, **more: Any) -> str:
    return sentence("trajectories", summary(*rows), by=("model",), **more)


def test_one_agent_has_its_share_that_of_every_trial_and_where_it_leaves_the_way() -> None:
    rows = [*reached(fern=0.42), *reached(metric="pass_hat_k", title="pass^4", fern=0.2)]
    failed = failing(*[(FAILS, "pay", "")] * 9, (LEAVES, "book", "another tool"))
    assert said(*rows, tables=failed) == (
        "Fern reaches the goal in 42% of trials, and in all of 4 trials for 20% of tasks. 9 of fern’s 10 failed trials: “pay” fails."
    )
    for how, words in (
        ("another tool", "they leave the way at “pay”"),
        ("other arguments", "“pay” with other arguments"),
    ):
        assert said(*rows, tables=failing(*[(LEAVES, "pay", how)] * 5)).endswith(
            f" All of fern’s 5 failed trials: {words}."
        )
    assert said(*reached("green", fern=0.9)).startswith("Fern reaches the goal in 90% of trials; ")
    assert "not good enough" in said(*reached("red", fern=0.1))


def test_of_two_agents_a_difference_is_said_only_where_it_is_shown() -> None:
    rows = reached(oak=0.9, fern=0.5)
    better = compared(("success", "oak", "fern", "better"))
    alike = compared(("success", "oak", "fern", "no difference shown"))
    assert (
        said(*rows, tables=better)
        == "Oak reaches the goal more often than fern, in 90% of trials against 50%, more than chance explains."
    )
    assert said(*rows, tables=alike) == "Oak reaches the goal in 90% of trials and fern in 50%; no difference is shown."
    assert (
        said(*rows) == "Oak reaches the goal in 90% of trials and fern in 50%; whether that is chance was not tested."
    )


def test_how_far_two_agents_are_apart_is_beside_what_decides() -> None:
    rows = reached(oak=0.9, fern=0.5)
    sized = compared(("success", "fern", "oak", "worse"))
    sized["comparison"] = sized["comparison"].assign(difference=-0.4, ci_low=-0.55, ci_high=-0.25)
    found = answered("trajectories", summary(*rows), by=("model",), tables=sized)
    assert found.decided_by.text.endswith("; oak less fern: 40 points [25, 55].")


def test_of_many_agents_best_and_worst_are_named() -> None:
    rows = reached(oak=0.9, fern=0.5, elm=0.7)
    pairs = [("success", a, b, "better") for a, b in (("oak", "fern"), ("oak", "elm"), ("elm", "fern"))]
    assert (
        said(*rows, tables=compared(*pairs)) == "Oak reaches the goal most often, in 90% of trials, fern least, in 50%."
    )


def test_a_cause_of_few_failed_trials_or_one_as_frequent_as_another_is_not_named() -> None:
    few = [(FAILS, "pay", "")] * 4, [*[(FAILS, "pay", "")] * 5, *[(FAILS, "book", "")] * 5], [(UNKNOWN, "", "")] * 9
    for own in few:
        assert said(*reached(fern=0.42), tables=failing(*own)) == "Fern reaches the goal in 42% of trials."


def test_a_forbidden_call_comes_first_with_its_tool_and_where_it_is() -> None:
    rows = [*reached(oak=0.9), figure("forbidden_calls", 0.05, "red", group={"model": "oak"}, higher_is_better=False)]
    goal = "Oak reaches the goal in 90% of trials."
    assert said(*rows) == f"Oak called a forbidden tool in 2 of 40 trajectories. {goal}"
    calls = [("oak", "refund", True), ("oak", "find", False), ("fern", "pay", True)]
    table = pd.DataFrame(calls, columns=["model", "name", "forbidden"])
    tables = {"tool_calls": table}
    assert said(*rows, tables=tables) == f"Oak called a forbidden tool (refund) in 2 of 40 trajectories. {goal}"
    found = answered("trajectories", summary(*rows), by=("model",), tables=tables)
    assert (found.next.text, found.next.at) == (
        "Look at the 2 calls of forbidden tools.",
        "what-a-reviewer-must-look-at",
    )
    tables["tool_calls"] = pd.concat([table, table.assign(name="pay")])
    assert "Oak called forbidden tools (pay and 1 more) in 2 of 40" in said(*rows, tables=tables)


def test_who_has_many_trials_without_a_mark_is_not_said_to_be_better() -> None:
    def rows(**agents: tuple[float, int, int]) -> list[Estimate]:
        shared: dict[str, Any] = {"higher_is_better": True, "title": "success"}
        return [
            figure("success", value, group={"model": name}, **{**shared, "n": n, "n_unscored": lost})
            for name, (value, n, lost) in agents.items()
        ]

    assert (
        said(*rows(west=(1.0, 3, 22)))
        == "West reaches the goal in 100% of trials (3 scored); 22 of 25 trials have no mark."
    )
    better = compared(("success", "west", "east", "better"))
    assert said(*rows(west=(1.0, 3, 22), east=(0.5, 25, 0)), tables=better) == (
        "West reaches the goal in 100% of trials (3 scored) and east in 50% of trials; which is better is not known: 22 of 25 trials of "
        "west have no mark."
    )
    three = rows(west=(1.0, 3, 22), east=(0.5, 25, 0), north=(0.4, 25, 0))
    assert said(*three) == "Which agent reaches the goal most often is not known: 22 of 25 trials of west have no mark."
    few = rows(west=(1.0, 24, 1), east=(0.5, 25, 0))
    assert said(*few, tables=better).startswith("West reaches the goal more often than east")


def test_what_is_not_known_is_said_not_to_be() -> None:
    assert said(*reached(oak=None)) == "How often the goal is reached is not known: no trajectory has a mark."
    assert (
        said(*reached("grey", oak=0.9)) == "Oak reaches the goal in 90% of trials. Whether that is enough is not known."
    )
