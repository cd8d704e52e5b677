"""Every stage of the cascade alone, with its basis missing, and with a scripted judge (a fake: a function in this process)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from cascaded import NINE, TEN, account, many, outcome, run, says

from evalbench.errors import BadInput


@pytest.mark.parametrize(
    ("a", "b", "options", "expected"),
    [
        ("", NINE, {}, "b"),
        (NINE, "I'm sorry, but I cannot help with that.", {}, "a"),
        (NINE, "Бассейн открывается в девять.", {}, "a"),
        ("", "", {}, "tie"),
        (NINE, "word " * 40, {}, "a"),
        (NINE, "Nine.", {"least_words": 3}, "a"),
        (NINE, f"{NINE} {NINE}", {"most_words": 6}, "a"),
        (NINE, "Early.", {"pattern": r"\d"}, "a"),
        ('{"at": 9}', NINE, {"json_answers": True}, "a"),
        (NINE, TEN, {}, ""),
    ],
)
def test_naive_checks(a, b, options, expected):
    result = run({"answer_a": [a], "answer_b": [b]}, 1, **options)
    assert outcome(result) == expected
    assert account(result, 1)["calls"] == 0


def test_naive_checks_may_only_filter():
    result = run({"answer_a": [""], "answer_b": [NINE]}, 1, naive="filter")
    assert outcome(result) == ""
    assert result.items["undefined"].tolist() == ["set aside"]
    assert result.items["label"].tolist() == ["one-failed"]
    both = run({"answer_a": [""], "answer_b": [""]}, 1, naive="filter")
    assert outcome(both) == "tie"
    assert both.items["label"].tolist() == ["both-failed"]


@pytest.mark.parametrize(
    ("b", "expected"),
    [("the pool opens at 9!", "tie"), (TEN, ""), ("At 9 the pool opens.", "tie"), ("Nobody knows.", "")],
)
def test_same_answers_need_the_same_numbers(b, expected):
    assert outcome(run({"answer_a": [NINE], "answer_b": [b]}, 2)) == expected


def test_parity_is_declared_only_where_losing_all_would_not_matter():
    def never(item: dict[str, Any]) -> str:
        raise AssertionError("parity asks nobody")

    result = run(many(100, 4), [1, 2, 9], strong=never)
    assert result.light == "green"
    assert account(result, 9)["calls"] == 0
    assert "parity" in account(result, 9)["why"]
    assert any("Parity" in note for note in result.notes)
    asked = run(many(100, 5), [1, 2, 9], strong=says(first="TIE"))
    assert account(asked, 9)["calls"] == 10
    without = run(many(100, 4), [1, 2, 9], strong=says(first="TIE"), margin=0.0)
    assert account(without, 9)["calls"] == 8


TWICE = {
    "id": ["q1", "q2"],
    "question": ["When does the pool open?", "At what time does the pool open?"],
    "answer_a": [NINE, NINE],
    "answer_b": [TEN, TEN],
}


def marks(*rows: tuple[str, str, float]) -> dict[str, pd.DataFrame]:
    return {"labels": pd.DataFrame(rows, columns=["id", "model", "mark"])}


def test_labels_are_carried_to_similar_answers_of_duplicates():
    result = run(TWICE, 3, marks(("q1", "A", 1), ("q1", "B", 0)))
    assert outcome(result, "q2") == "a"
    assert outcome(result, "q1") == ""  # nothing confirms its own labels
    crossed = run({**TWICE, "answer_a": [NINE, TEN], "answer_b": [TEN, NINE]}, 3, marks(("q1", "A", 1), ("q1", "B", 0)))
    assert outcome(crossed, "q2") == "b"
    other = run({**TWICE, "answer_a": [NINE, "Nobody knows."]}, 3, marks(("q1", "A", 1), ("q1", "B", 0)))
    assert outcome(other, "q2") == ""


def test_labels_that_contradict_each_other_go_on_and_are_listed():
    result = run(TWICE, 3, marks(("q1", "A", 1), ("q1", "B", 0), ("q2", "A", 0), ("q2", "B", 1)))
    assert outcome(result, "q1") == outcome(result, "q2") == ""
    assert set(result.tables["contradictions"]["id"]) == {"q1", "q2"}
    agreed = run(TWICE, 3, marks(("q1", "A", 1), ("q1", "B", 0), ("q2", "A", 2), ("q2", "B", 1)))
    assert outcome(agreed, "q1") == outcome(agreed, "q2") == "a"


def test_criteria_without_facts():
    pair = {"answer_a": ["Entry is free. Children pay half."], "answer_b": ["Entry is free for children."]}
    judge = says(answer=lambda item: 0 if "half" in item["answer"] else 1)
    result = run(pair, 4, judge=judge, criteria=["consistency"])
    assert outcome(result) == "b"
    assert account(result, 4)["calls"] == 2
    assert outcome(run(pair, 4, judge=says(answer=1), criteria=["consistency"])) == ""
    listed = run(pair, 4, forbidden=["pay half"])
    assert outcome(listed) == "b"
    assert account(listed, 4)["calls"] == 0


TRUE = {"answer_a": [NINE], "answer_b": [TEN], "reference": [NINE]}


@pytest.mark.parametrize(
    ("a", "b", "expected", "label"),
    [
        (NINE, TEN, "a", "one-right"),
        (NINE, "It opens at 9, as always.", "tie", "both-right"),
        (TEN, "At 11.", "tie", "both-wrong"),
    ],
)
def test_ground_truth_by_words(a, b, expected, label):
    result = run({"answer_a": [a], "answer_b": [b], "reference": [NINE]}, 5)
    assert outcome(result) == expected
    assert result.items["label"].tolist() == [label]
    assert account(result, 5)["calls"] == 0
    assert result.light == "grey"  # a comparison of words, which no label confirms


def test_ground_truth_by_the_judge():
    judge = says(gold=lambda item: "CORRECT" if item["answer"] == NINE else "INCORRECT")
    result = run(TRUE, 5, judge=judge, truth_by="judge")
    assert outcome(result) == "a"
    assert account(result, 5)["calls"] == 2
    partly = run(TRUE, 5, judge=says(gold="PARTIALLY_CORRECT"), truth_by="judge")
    assert outcome(partly) == ""
    assert "no judge is named" in account(run(TRUE, 5, truth_by="judge"), 5)["why"]


def labelled(n: int, annotators: tuple[str, ...], a: Callable[[int, str], float]) -> dict[str, pd.DataFrame]:
    rows = [
        (f"q{i:03}", model, who, a(i, who) if model == "A" else 1.0)
        for i in range(n)
        for who in annotators
        for model in ("A", "B")
    ]
    return {"labels": pd.DataFrame(rows, columns=["id", "model", "annotator", "mark"])}


def test_labels_of_high_agreement_are_the_truth():
    agreed = labelled(40, ("ada", "boris"), lambda i, who: 2.0 * (i % 2))
    result = run(many(40, 40), 5, agreed)
    assert [outcome(result, f"q{i:03}") for i in (0, 1)] == ["b", "a"]
    split = labelled(20, ("ada", "boris"), lambda i, who: 2.0 * ((i + (who == "ada") * (i % 3 == 0)) % 2))
    assert run(many(20, 20), 5, split).items["outcome"].eq("").all()


def test_relevant_chunks():
    pair = {"answer_a": [NINE], "answer_b": [TEN], "contexts": [["The rink opens at 10.", f"{NINE} It closes at 20."]]}
    result = run({**pair, "relevant": [[0, 1]]}, 6)
    assert outcome(result) == "a"
    assert account(run(pair, 6), 6)["why"] == "no question has chunks that are labelled relevant"
    judge = says(basis=lambda item: int(item["answer"] == TEN))
    assert outcome(run({**pair, "relevant": [[0, 1]]}, 6, judge=judge, truth_by="judge")) == "b"
    with pytest.raises(BadInput, match="column relevant: expected a list of 0 and 1"):
        run({**pair, "relevant": [[0, 1, 1]]}, 6)


def test_the_answer_of_a_strong_model():
    result = run({"answer_a": [NINE], "answer_b": [TEN]}, 7, answerer=says(question={"answer": NINE}))
    assert outcome(result) == "a"
    assert account(result, 7)["calls"] == 1
    assert "no model that answers" in account(run({"answer_a": [NINE], "answer_b": [TEN]}, 7), 7)["why"]


DICTIONARY = {"dictionary": pd.DataFrame({"term": ["pool", "rink"], "fact": [NINE, "The rink opens at 8."]})}


def test_marks_with_facts():
    seen = []

    def judge(item: dict[str, Any]) -> int:
        seen.append(item["basis"])
        return int(item["answer"] == NINE)

    result = run({"answer_a": [NINE], "answer_b": [TEN]}, 8, DICTIONARY, judge=judge)
    assert outcome(result) == "a"
    assert set(seen) == {NINE}
    assert result.items[["quality_a", "quality_b"]].values.tolist() == [[1.0, 0.0]]
    equal = run({"answer_a": [NINE], "answer_b": [TEN]}, 8, DICTIONARY, judge=says(basis=1))
    assert outcome(equal) == ""  # equal marks are no decision
    assert "dictionary" in account(run({"answer_a": [NINE], "answer_b": [TEN]}, 8, judge=judge), 8)["why"]


def test_marks_by_a_decision_graph(tmp_path):
    file = tmp_path / "graph.yaml"
    file.write_text(
        "name: right\nstart: borne\nnodes:\n  borne: {ask: 'Is it borne out?', choices: {'yes': {mark: 1}, 'no': {mark: 0}}}\n"
    )
    judge = says(answer=lambda item: "yes" if item["answer"] == NINE else "no")
    assert outcome(run({"answer_a": [NINE], "answer_b": [TEN]}, 8, DICTIONARY, judge=judge, graph=str(file))) == "a"


@pytest.mark.parametrize(
    ("reply", "expected", "annotators"),
    [
        (lambda item: "FIRST" if item["first"] == NINE else "SECOND", "a", True),
        (lambda item: "FIRST", "", True),
        (lambda item: "TIE", "", True),
        (lambda item: "TIE", "tie", False),
        (lambda item: "FIRST", "tie", False),
    ],
)
def test_pairs(reply, expected, annotators):
    result = run({"answer_a": [NINE], "answer_b": [TEN]}, 9, strong=reply, annotators=annotators)
    assert outcome(result) == expected
    assert account(result, 9)["calls"] == 2
    assert result.n_unscored == 0


def test_a_pair_without_a_verdict_is_unscored_and_may_be_decided_later():
    result = run({"answer_a": [NINE], "answer_b": [TEN]}, 9, strong=lambda item: {"unscored": "refused"})
    assert result.items["unscored"].tolist() == ["refused"]
    assert result.items["undefined"].tolist() == [""]
    assert result.items[["low", "high"]].values.tolist() == [[-1.0, 1.0]]
    facts = {"answer_a": [NINE], "answer_b": [TEN], "facts": [[NINE]]}
    later = run(facts, [9, 11], judge=FACTS, strong=lambda item: {"unscored": "refused"})
    assert later.items[["outcome", "unscored"]].values.tolist() == [["a", ""]]


def test_ranking_among_answers_to_duplicates():
    judge = says(answers=lambda item: {"order": sorted(range(1, 5), key=lambda i: item["answers"][i - 1] != NINE)})
    result = run(TWICE, 10, judge=judge)
    assert outcome(result, "q1") == outcome(result, "q2") == "a"
    assert account(result, 10)["calls"] == 24
    blind = run(TWICE, 10, judge=says(answers={"order": [1, 2, 3, 4]}))
    assert outcome(blind, "q1") == ""
    alone = run({"answer_a": [NINE], "answer_b": [TEN]}, 10, judge=judge)
    assert account(alone, 10)["why"] == "no two questions are duplicates"


FACTS = says(
    statement=lambda item: {
        "label": "SUPPORTED" if any(item["statement"] in p for p in item["passages"]) else "NOT_SUPPORTED",
        "passages": [],
    },
    sentences=lambda item: {"claims": [{"sentence": 1, "claim": text} for text in item["sentences"]]},
)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (NINE, TEN, "a"),
        (NINE, f"{NINE} Bring a hat.", "a"),
        (NINE, NINE, "tie"),
        ("Bring a hat. Bring a cap.", TEN, "b"),
        (f"{NINE} Bring a hat.", "", "a"),
    ],
)
def test_must_have_facts(a, b, expected):
    if not b:
        b = "Bring a hat."
    assert outcome(run({"answer_a": [a], "answer_b": [b], "facts": [[NINE]]}, 11, judge=FACTS)) == expected


def test_closed_questions():
    writer = says(answer=lambda item: {"questions": [{"question": f"{item['answer']}?", "answer": "YES"}]})
    other = says(question=lambda item: "YES" if NINE in item["question"] else "NO")
    result = run({"answer_a": [NINE], "answer_b": [TEN]}, 12, judge=writer, answerer=other)
    assert outcome(result) == "a"
    assert account(result, 12)["calls"] == 4
    with pytest.raises(BadInput, match="answerer must be another model than the judge"):
        run({"answer_a": [NINE], "answer_b": [TEN]}, 12, judge="openai/x", answerer="openai/x")


def test_labels_at_hand_decide_last():
    result = run({"answer_a": [NINE], "answer_b": [TEN]}, 13, marks(("q1", "A", 0), ("q1", "B", 2)))
    assert outcome(result) == "b"
    assert result.items["label"].tolist() == ["labels-at-hand"]


@pytest.mark.parametrize("stage", range(3, 14))
def test_a_stage_without_its_basis_says_why(stage):
    result = run({"answer_a": [NINE], "answer_b": [TEN]}, stage)
    own = account(result, stage)
    assert own["why"]
    assert own["decided"] == own["calls"] == own["looked"] == 0
    assert result.items["undefined"].tolist() == ["undecided"]


def test_a_stage_that_differs_from_people_hands_its_questions_on():
    worse = labelled(20, ("ada",), lambda i, who: 0.0)
    result = run(
        many(20, 20), [9, 13], worse, strong=says(first=lambda item: "FIRST" if item["first"] == NINE else "SECOND")
    )
    assert account(result, 9)["decided"] == 0
    assert account(result, 9)["calls"] == 40
    assert "0% of 20 labelled questions" in account(result, 9)["why"]
    assert set(result.items["stage"]) == {13}
    assert set(result.items["outcome"]) == {"b"}
    assert len(result.tables["contradictions"]) == 20
    few = labelled(9, ("ada",), lambda i, who: 0.0)
    assert (
        account(
            run(many(20, 20), [9], few, strong=says(first=lambda item: "FIRST" if item["first"] == NINE else "SECOND")),
            9,
        )["decided"]
        == 20
    )
