"""A scripted judge with planted lies in its evidence and its sums: every one is refused and counted, whatever the endpoint."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tool_endpoint import FakeEndpoint, call, steps_before, verdict

from evalbench.judge.rag import SUPPORT
from evalbench.judge.tasks import CORRECTNESS, ENTAILMENT, mark_task
from evalbench.judge.verdicts import judge

PASSAGE = "The desk opens at nineteen, never on Mondays. Entry costs 5.50 euros; it was -5 degrees. Coffee is not sold, tea is free."
STATEMENT = "Coffee is free and 2 + 2 = 5."
ITEM = {"id": "1", "passages": [PASSAGE], "statement": STATEMENT, "question": "Is coffee free?"}
TRUE = [(1, "never on Mondays")]
FOUND = "evidence-not-found"
SUM = "wrong-arithmetic"

QUOTES = {
    "not there": [(1, "Coffee is free")],
    "a changed word": [(1, "always on Mondays")],
    "a word left out": [(1, "Coffee is sold")],
    "a cut word": [(1, "opens at nine")],
    "a cut number": [(1, "Entry costs 5")],
    "the decimals of a number": [(1, "50 euros")],
    "a number without its sign": [(1, "5 degrees")],
    "put together of single words": [(1, "Coffee … is … free")],
    "put together of two sentences": [(1, "Coffee is … tea is free")],
    "put together of letters": [(1, "C … o … f … f … e … e … f … r … e … e")],
    "parts in another order": [(1, "tea is free … never on Mondays")],
    "never opened": [(4, "Coffee is free on Fridays")],
    "a snippet that was found, never opened": [(5, "Coffee is free on Fridays")],
    "no such passage": [(99, "never on Mondays")],
    "passage zero": [(0, "never on Mondays")],
    "the answer itself": [(2, "Coffee is free")],
    "the whole answer": [(2, STATEMENT)],
    "the question": [(3, "Is coffee free?")],
    "answer and question": [(2, "Coffee is free"), (3, "Is coffee free?")],
    "empty": [(1, "")],
    "blanks": [(1, " \n\t ")],
    "an ellipsis": [(1, "…")],
    "quotation marks": [(1, "“”")],
    "a full stop": [(1, ".")],
    "three letters": [(1, "tea")],
    "three letters and signs": [(1, "tea,.!?;:")],
    "no evidence": [],
    "one of two": [*TRUE, (1, "coffee is free")],
    "invisible letters": [(1, "Coffee is\u200b free")],
    "other letters that look alike": [(1, "never оn Mоndays")],
}
REASONS = {
    "a numbered quote": 'It says "coffee is free" [1].',
    "a numbered quote in words": "It says “coffee is free” (passage 1).",
    "of what was not opened": 'It says "never on Mondays" [4].',
    "a quote without a number": 'The passage says "coffee is free for everybody", so it holds.',
    "in guillemets": "Там сказано «кофе здесь всегда бесплатный для всех».",
}
SUMS = [
    "2 + 2 = 5", "2+2=5", "So 12 * 3 = 35 hours.", "First 1 + 1 = 2, then 2 * 9 = 19.", "10 / 4 = 3", "1/3 = 0.34", "2 × 3 = 7",
    "20% * 50 = 12", "It is 7 − 2 = 4.", "2 + 2 = 4 = 5", "Two plus two is five.", "2 plus 2 equals 5", "The sum of 2 and 2 is 5.",
    "Twelve times three makes 35.", "half of ten is 4", "20 percent of 50 is 12", "2 apples plus 2 apples are 5 apples",
    "2 + 2 is 5", "two + two = five", "twenty-five minus five is twenty-one", 'As it says, "3 + 3 = 7".',
    "Два плюс два равно пять.", "Сумма 2 и 2 равна 5.", "Трижды три — десять.", "三乘以四等于十三", "二加二是五", "３ + ３ = ７",
]  # fmt: skip
RIGHT = [
    "2 + 2 = 4", "10 / 3 = 3.33", "20 / 3 = 6.66", "1000 / 7 = 143", "2/3 = 67%", "two plus two is four", "Дважды два — четыре.",
    "二加二等于四", f'It claims that "{STATEMENT}"', 'It claims "2 + 2 = 5", which is wrong.', "It is open 9-5, which is 8 hours.",
    "x plus 2 is 5.", "Passage 1 is right, 2 is not.", "It opens at nineteen, not nine.", "Three of them is two too many.",
    "The passage says “never on Mondays”.", "On 2024-11-05 it was 5.", "1) it opens 2) it closes", "No sum: a = b.",
]  # fmt: skip


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "cafe.md").write_text("Coffee is free on Fridays.", encoding="utf-8")
    return tmp_path / "docs"


def heard(fake: FakeEndpoint, corpus: Path, said: dict[str, Any]) -> dict[str, str]:
    """What becomes of verdicts: the label, or why there is none."""

    def says(messages: list[dict[str, Any]]) -> Any:
        return said[_which(messages)] if steps_before(messages) else call("search", query="coffee")

    fake.says = says
    items = [{**ITEM, "id": name, "question": f"<{name}> Is coffee free?"} for name in said]
    found = judge(items, by=f"agent[corpus={corpus}]:{fake.model}", task=SUPPORT)
    counted = Counter(row.unscored for row in found.rows if row.unscored)
    assert found.accounting["unscored"] == dict(counted), "they are counted"
    assert all(bool(row.label) != bool(row.unscored) == bool(row.detail) for row in found.rows)
    return {row.id: row.unscored or row.label for row in found.rows}


def _which(messages: list[dict[str, Any]]) -> str:
    return re.findall(r"<([^<>]+)> Is coffee free", str(messages[0]["content"]))[0]


@pytest.mark.parametrize("tools", ["takes", "refuses"])
def test_a_quote_that_proves_nothing_is_refused(fake: FakeEndpoint, corpus: Path, tools: str) -> None:
    fake.tools = tools
    said = heard(fake, corpus, {lie: verdict("SUPPORTED", quotes) for lie, quotes in QUOTES.items()})
    assert said == dict.fromkeys(QUOTES, FOUND)


def test_a_quote_of_the_reason_that_is_not_there_is_refused(fake: FakeEndpoint, corpus: Path) -> None:
    said = heard(fake, corpus, {lie: verdict("SUPPORTED", TRUE, reason) for lie, reason in REASONS.items()})
    assert said == dict.fromkeys(REASONS, FOUND)


def test_a_wrong_sum_is_refused(fake: FakeEndpoint, corpus: Path) -> None:
    said = heard(fake, corpus, {f"sum {n}": verdict("SUPPORTED", TRUE, wrong) for n, wrong in enumerate(SUMS)})
    assert set(said.values()) == {SUM}


def test_what_is_right_is_believed(fake: FakeEndpoint, corpus: Path) -> None:
    said = heard(fake, corpus, {f"sum {n}": verdict("NOT_SUPPORTED", TRUE, right) for n, right in enumerate(RIGHT)})
    assert {RIGHT[int(name.split()[1])]: why for name, why in said.items() if why != "NOT_SUPPORTED"} == {}


@pytest.mark.parametrize(
    ("task", "item", "answer", "source"),
    [
        (ENTAILMENT, {"premise": "The desk is shut.", "hypothesis": "The desk is open."}, "The desk is open", "The desk is shut"),
        (CORRECTNESS, {"question": "Open?", "gold": ["It is shut today."], "answer": "It is open today."}, "open today", "shut today"),
        (
            mark_task("right", "Is it right?", {0: "no", 1: "yes"}, needs_basis=True),
            {"answer": "It is open today.", "basis": "It is shut today."}, "open today", "shut today",
        ),
    ],
)  # fmt: skip
def test_in_every_task_with_a_source_the_answer_proves_nothing(
    fake: FakeEndpoint, task: Any, item: dict[str, Any], answer: str, source: str
) -> None:
    shown = [text for value in item.values() for text in (value if isinstance(value, list) else [value])]

    def says(quote: str) -> Any:
        number = next(
            n
            for n, text in enumerate(sorted(shown, key=lambda t: t not in item.get("gold", [])), start=1)
            if quote in text
        )
        label = next(iter(task.labels))
        own = {"mark": int(label)} if task.answer == "mark" else {"label": label}
        return lambda _: {
            "tool": "verdict",
            "evidence": [{"passage": number, "quote": quote}],
            "verdict": {"reason": "so", **own},
        }

    fake.says = says(answer)
    (row,) = judge([{"id": "1", **item}], by=f"agent:{fake.model}", task=task).rows
    assert (row.unscored, row.detail) == (FOUND, "it quotes only what is to be judged, and no source")
    fake.says = says(source)
    (row,) = judge([{"id": "2", **item}], by=f"agent:{fake.model}", task=task, samples=1, seed=1).rows
    assert row.label
