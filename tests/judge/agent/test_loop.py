"""A judge that looks things up, end to end on a scripted endpoint: both protocols, bounds, budget, resuming, hostile replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tool_endpoint import FakeEndpoint, call, steps_before, verdict

from evalbench.core import budget, dry
from evalbench.errors import BadInput
from evalbench.judge.pairwise import pairwise, pairwise_task
from evalbench.judge.rag import CLAIMS, SUPPORT
from evalbench.judge.rows import Judgements
from evalbench.judge.tasks import mark_task
from evalbench.judge.verdicts import judge

ITEM = {"id": "1", "passages": ["The desk opens at nine."], "statement": "Coffee is free on Fridays."}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "cafe.md").write_text("Coffee is free on Fridays. Tea costs 2 euros.", encoding="utf-8")
    (folder / "rooms.txt").write_text("The library has 40 seats.", encoding="utf-8")
    return folder


def looks_up(messages: list[dict[str, Any]]) -> Any:
    """Searches, opens, calculates, decides; a fake model."""
    steps = [
        call("search", query="free coffee"),
        call("open", passage=3),
        call("calculate", expression="2 * 3"),
        verdict("SUPPORTED", [(3, "Coffee is free on Fridays")], "The third passage says it; 2 * 3 = 6."),
    ]
    return steps[min(steps_before(messages), 3)]


def asked(fake: FakeEndpoint, settings: str = "", item: dict[str, Any] = ITEM, **options: Any) -> Judgements:
    name = f"agent[{settings}]:{fake.model}" if settings else f"agent:{fake.model}"
    return judge([item], by=name, task=SUPPORT, **options)


@pytest.mark.parametrize("tools", ["takes", "refuses", "ignores"])
def test_it_decides_by_what_it_looked_up_whatever_the_endpoint_does_with_tools(
    fake: FakeEndpoint, corpus: Path, tools: str
) -> None:
    fake.says, fake.tools = looks_up, tools
    found = asked(fake, f"corpus={corpus}")
    assert [row.label for row in found.rows] == ["SUPPORTED"]
    assert "[3, looked up: cafe.md] “Coffee is free on Fridays”" in found.rows[0].reason
    assert found.accounting["not_taken"] == (["tools"] if tools == "refuses" else [])
    assert len(fake.asked) == 4 + (tools == "refuses"), "the form is found out once"


def test_the_json_protocol_can_be_chosen(fake: FakeEndpoint, corpus: Path) -> None:
    fake.says = looks_up
    assert asked(fake, f"corpus={corpus}, protocol=json").rows[0].label == "SUPPORTED"
    assert not any("tools" in body for body in fake.asked)


def test_an_endpoint_of_tools_gets_the_conversation_in_its_own_form(fake: FakeEndpoint, corpus: Path) -> None:
    fake.says = looks_up
    asked(fake, f"corpus={corpus}")
    roles = [message["role"] for message in fake.asked[-1]["messages"]]
    assert roles == ["user", *["assistant", "tool"] * 3]
    ids = [m["tool_calls"][0]["id"] for m in fake.asked[-1]["messages"] if m["role"] == "assistant"]
    assert ids == [m["tool_call_id"] for m in fake.asked[-1]["messages"] if m["role"] == "tool"]


def test_every_step_is_among_the_calls_with_its_parent(fake: FakeEndpoint, corpus: Path) -> None:
    fake.says = looks_up
    calls = asked(fake, f"corpus={corpus}").calls
    assert calls["step"].tolist() == [1, 2, 3, 4]
    assert calls["parent"].tolist() == ["", *calls["key"].tolist()[:-1]]
    assert "2 * 3 = 6" in calls["result"].tolist()
    assert (calls["parsed"] == "").tolist() == [True, True, True, False]


def test_a_second_run_asks_nothing(fake: FakeEndpoint, corpus: Path) -> None:
    fake.says = looks_up
    first = asked(fake, f"corpus={corpus}")
    sent = len(fake.asked)
    again = asked(fake, f"corpus={corpus}")
    assert len(fake.asked) == sent
    assert again.rows == first.rows
    assert again.accounting["cache_hits"] == 4


@pytest.mark.parametrize("ends_at", [1, 2, 3])
def test_a_run_that_was_ended_goes_on_where_it_was(fake: FakeEndpoint, corpus: Path, ends_at: int) -> None:
    class Killed(BaseException):
        pass

    def killed(messages: list[dict[str, Any]]) -> Any:
        return looks_up(messages)

    heard: list[Any] = []

    def dies(reply: Any) -> None:
        heard.append(reply)
        if len(heard) == ends_at:
            raise Killed

    fake.says = killed
    with pytest.raises(Killed):
        asked(fake, f"corpus={corpus}", on_reply=dies)
    assert asked(fake, f"corpus={corpus}").rows[0].label == "SUPPORTED"
    bodies = [json.dumps(body["messages"], sort_keys=True) for body in fake.asked]
    assert len(bodies) == len(set(bodies)) == 4


def test_recorded_verdicts_of_its_calls_are_read_like_those_of_any_judge(
    fake: FakeEndpoint, corpus: Path, tmp_path: Path
) -> None:
    fake.says = looks_up
    first = asked(fake, f"corpus={corpus}")
    first.calls.to_parquet(tmp_path / "calls.parquet")
    read = judge([ITEM], by=f"recorded:{tmp_path / 'calls.parquet'}", task=SUPPORT)
    assert [(row.label, row.reason) for row in read.rows] == [(row.label, row.reason) for row in first.rows]


# Evidence -------------------------------------------------------------------------------------------------------------

LIES = {
    "not in the passage": verdict("SUPPORTED", [(1, "opens at ten")]),
    "another number": verdict("SUPPORTED", [(1, "The desk opens at nine thirty.")]),
    "a passage that is not there": verdict("SUPPORTED", [(9, "opens at nine")]),
    "a passage that was not opened": verdict("SUPPORTED", [(3, "Coffee is free on Fridays")]),
    "no evidence": verdict("SUPPORTED", []),
    "blank evidence": verdict("SUPPORTED", [(1, "  ")]),
    "a letter": verdict("SUPPORTED", [(1, "e")]),
    "one true, one false": verdict("SUPPORTED", [(1, "opens at nine"), (1, "never on Mondays")]),
    "in the reason": verdict("SUPPORTED", [(1, "opens at nine")], 'It says "free for all" [1].'),
    "parts in another order": verdict("SUPPORTED", [(1, "nine … desk opens")]),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("tools", ["takes", "refuses"])
def test_a_planted_quote_makes_the_verdict_unscored(fake: FakeEndpoint, corpus: Path, lie: str, tools: str) -> None:
    fake.tools = tools
    fake.says = lambda messages: LIES[lie] if steps_before(messages) else call("search", query="free coffee")
    found = asked(fake, f"corpus={corpus}")
    assert [(row.unscored, row.label) for row in found.rows] == [("evidence-not-found", "")]
    assert found.rows[0].detail
    assert found.accounting["unscored"] == {"evidence-not-found": 1}
    assert found.calls["parsed"].tolist() == ["", ""], "it is no recorded verdict either"


@pytest.mark.parametrize("wrong", ["2 + 2 = 5", "So 12 * 3 = 35 hours.", "First 1 + 1 = 2, then 2 * 9 = 19."])
def test_a_wrong_sum_makes_the_verdict_unscored(fake: FakeEndpoint, wrong: str) -> None:
    fake.says = lambda messages: verdict("SUPPORTED", [(1, "opens at nine")], wrong)
    found = asked(fake)
    assert found.rows[0].unscored == "wrong-arithmetic"
    assert found.accounting["unscored"] == {"wrong-arithmetic": 1}


@pytest.mark.parametrize(
    "right",
    [
        "2 + 2 = 4",
        'The answer says "2 + 2 = 5", which is wrong.',
        "10 / 3 = 3.33",
        "20 / 3 = 6.66",
        "x is y",
        "2 plus 2 is four",
    ],
)
def test_right_sums_and_quoted_wrong_ones_pass(fake: FakeEndpoint, right: str) -> None:
    fake.says = lambda messages: verdict("SUPPORTED", [(1, "opens at nine")], right)
    item = {**ITEM, "statement": "Coffee is free: 2 + 2 = 5."}
    assert asked(fake, item=item).rows[0].label == "SUPPORTED"


# Bounds ---------------------------------------------------------------------------------------------------------------


def never_ends(messages: list[dict[str, Any]]) -> Any:
    return call("search", query=f"desk {steps_before(messages)}")


@pytest.mark.parametrize(("settings", "replies"), [("", 9), ("calls=3", 4), ("tokens=100", 3), ("calls=1", 2)])
def test_at_its_bound_the_verdict_is_asked_for_once_more(fake: FakeEndpoint, settings: str, replies: int) -> None:
    fake.says = never_ends
    found = asked(fake, settings, max_reasks=0)
    assert found.rows[0].unscored == "agent-limit"
    assert found.accounting["unscored"]["agent-limit"] == 1
    assert len(fake.asked) == replies
    last = fake.asked[-1]
    assert [tool["function"]["name"] for tool in last["tools"]] == ["verdict"]
    assert "Give the verdict now" in last["messages"][-1]["content"]


def test_a_verdict_at_the_bound_counts(fake: FakeEndpoint) -> None:
    fake.says = lambda messages: (
        verdict("NOT_SUPPORTED", [(1, "opens at nine")]) if steps_before(messages) == 2 else never_ends(messages)
    )
    assert asked(fake, "calls=2").rows[0].label == "NOT_SUPPORTED"


def test_seconds_are_a_bound_too(fake: FakeEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.says = never_ends
    clock = iter(range(0, 100_000, 500))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    found = asked(fake, "seconds=300", max_reasks=0)
    assert found.rows[0].unscored == "agent-limit"
    assert len(fake.asked) == 2


def test_a_budget_ends_the_chain(fake: FakeEndpoint) -> None:
    fake.says = never_ends
    with budget.budget(max_calls=3):
        found = asked(fake)
    assert found.rows[0].unscored == "budget"
    assert len(fake.asked) == 3
    assert len(found.calls) == 3


def test_a_dry_run_says_how_many_steps_there_may_be(fake: FakeEndpoint) -> None:
    plan = dry.dry_run(lambda: asked(fake))
    assert not fake.asked
    assert [row["calls"] for row in plan.rows] == [[1, 9]] or [tuple(row["calls"]) for row in plan.rows] == [(1, 9)]


# Hostile replies ------------------------------------------------------------------------------------------------------

HOSTILE: dict[str, Any] = {
    "no JSON": "I would rather not.",
    "half a JSON": '{"tool": "verdict", "evidence": [',
    "null": "null",
    "unknown tool": {"tool": "rm", "path": "/"},
    "no tool": '{"query": "desk"}',
    "a verdict without one": '{"tool": "verdict"}',
    "a null verdict": '{"tool": "verdict", "evidence": null, "verdict": null}',
    "another label": verdict("EXCELLENT", [(1, "opens at nine")]),
    "evidence that is none": '{"tool": "verdict", "evidence": "all of it", "verdict": {"reason": "", "passages": [], "label": "SUPPORTED"}}',
    "a deep one": '{"tool": ' * 3000,
}


@pytest.mark.parametrize("tools", ["takes", "refuses"])
@pytest.mark.parametrize("reply", HOSTILE)
def test_a_hostile_reply_is_unscored(fake: FakeEndpoint, reply: str, tools: str) -> None:
    said = HOSTILE[reply]
    fake.tools = tools if isinstance(said, str) or said["tool"] == "verdict" else "ignores"
    fake.says = lambda messages: said
    found = asked(fake)
    assert [row.unscored for row in found.rows] == ["unparsed"]
    assert len(fake.asked) <= 4, "two replies more are asked for, and one refusal of tools"


ODD_CALLS = [
    call("search", query=""),
    call("search", query="x" * 50_000),
    call("search", query=None),
    call("open", passage=-1),
    call("open", passage=10**18),
    call("open", passage=None),
    call("calculate", expression="9**9**9**9"),
    call("calculate", expression="(" * 50_000),
    call("calculate", expression="__import__('os').system('true')"),
    call("calculate", expression="1/0"),
    call("compare", first="a" * 50_000, second="b"),
    call("compare", first=None, second=None),
]


@pytest.mark.parametrize("odd", ODD_CALLS, ids=lambda odd: json.dumps(odd)[:40])
def test_an_odd_call_gets_an_answer_and_the_judging_goes_on(fake: FakeEndpoint, odd: dict[str, Any]) -> None:
    fake.says = lambda messages: verdict("SUPPORTED", [(1, "opens at nine")]) if steps_before(messages) else odd
    found = asked(fake)
    assert found.rows[0].label == "SUPPORTED"
    assert 0 < len(found.calls["result"].iloc[0]) < 8000


def test_arguments_without_end_are_asked_for_anew(fake: FakeEndpoint) -> None:
    huge = call("search", query="x" * 1_000_000)
    fake.says = lambda messages: verdict("SUPPORTED", [(1, "opens at nine")]) if steps_before(messages) else huge
    found = asked(fake)
    assert found.rows[0].label == "SUPPORTED"
    assert found.calls["reasks"].tolist() == [1]
    assert len(json.dumps(fake.asked[-1])) < 30_000


def test_pages_are_not_opened_unless_wanted(fake: FakeEndpoint) -> None:
    fake.says = lambda messages: call("open_url", url="http://127.0.0.1:1/")
    assert asked(fake).rows[0].unscored == "unparsed"
    assert "open_url" not in json.dumps(fake.asked[0])


def test_the_guard_holds_for_pages_that_a_judge_opens(fake: FakeEndpoint) -> None:
    where = fake.model.partition("#")[0]
    fake.says = lambda messages: (
        verdict("SUPPORTED", [(1, "opens at nine")]) if steps_before(messages) else call("open_url", url=where)
    )
    found = asked(fake, "web=yes")
    assert found.rows[0].label == "SUPPORTED"
    assert found.calls["result"].iloc[0].startswith("The page cannot be read: refused-")


# Other tasks ----------------------------------------------------------------------------------------------------------


def test_marks_and_pairs_are_judged_too(fake: FakeEndpoint) -> None:
    def marks(messages: list[dict[str, Any]]) -> Any:
        return {
            "tool": "verdict",
            "evidence": [{"passage": 1, "quote": "At nine"}],
            "verdict": {"reason": "so", "mark": 1},
        }

    fake.says = marks
    task = mark_task("hours", "Does it name the hours?", {0: "no", 1: "yes"})
    found = judge([{"id": "1", "answer": "At nine.", "question": "When?"}], by=f"agent:{fake.model}", task=task)
    assert found.rows[0].value == 1.0

    def first(messages: list[dict[str, Any]]) -> Any:
        return {
            "tool": "verdict",
            "evidence": [{"passage": 1, "quote": "nine"}],
            "verdict": {"reason": "so", "label": "FIRST"},
        }

    fake.says = first
    pairs = pairwise(
        [{"id": "1", "a": "nine", "b": "nine"}],
        by=f"agent:{fake.model}",
        task=pairwise_task("hours", "Which is right?"),
    )
    assert pairs.rows[0].position_inconsistent


@pytest.mark.parametrize(
    "name",
    [
        "agent:",
        "agent[calls=0]:x",
        "agent[bogus=1]:x",
        "agent[corpus=no/such/place]:x",
        "agent[calls=2, calls=3]:x",
        "agent[web=maybe, protocol=xml]:x",
    ],
)
def test_a_faulty_name_is_refused_before_anything_is_asked(name: str) -> None:
    with pytest.raises(BadInput, match="invalid"):
        judge([ITEM], by=name, task=SUPPORT)


def test_what_has_no_labels_needs_no_evidence(fake: FakeEndpoint) -> None:
    claims = {"claims": [{"sentence": 1, "claim": "Coffee is free."}]}
    fake.says = lambda messages: {"tool": "verdict", "evidence": [], "verdict": claims}
    item = {"id": "1", "question": "Is it?", "sentences": ["Coffee is free."]}
    found = judge([item], by=f"agent:{fake.model}", task=CLAIMS)
    assert found.rows[0].parts == claims


def test_judge_audit_asks_it_and_counts_all_that_a_verdict_costs(fake: FakeEndpoint, tmp_path: Path) -> None:
    from evalbench import judge_audit, load

    def marks(messages: list[dict[str, Any]]) -> Any:
        said = {
            "tool": "verdict",
            "evidence": [{"passage": 1, "quote": "The code"}],
            "verdict": {"reason": "so", "mark": 1},
        }
        return said if steps_before(messages) else call("calculate", expression="1 + 1")

    fake.says = marks
    (tmp_path / "right.yaml").write_text(
        "name: right\ndefinition: Is it right?\nscale: {0: it is not, 1: it is}\n", encoding="utf-8"
    )
    items = pd.DataFrame({"id": ["1", "2", "3"], "output": [f"The code is {n}." for n in range(3)]})
    name = f"agent:{fake.model}"
    result = judge_audit.evaluate(
        load({"items": items}, study="judge_audit"),
        judge=name,
        criteria_file=str(tmp_path / "right.yaml"),
        probes=[],
        repeats=1,
        n_resamples=50,
    )
    assert result.tables["verdicts"]["mark"].tolist() == [1, 1, 1]
    assert result.tables["verdicts"]["tokens"].tolist() == [120, 120, 120], "two calls of 60 tokens each"
    assert result.tables["calls"]["step"].tolist() == [1, 2] * 3


def test_samples_have_chains_of_their_own(fake: FakeEndpoint, corpus: Path) -> None:
    fake.says = looks_up
    found = asked(fake, f"corpus={corpus}", samples=2)
    assert [row.sample for row in found.rows] == [0, 1]
    assert isinstance(found.calls, pd.DataFrame)
    assert len(found.calls) == 8
