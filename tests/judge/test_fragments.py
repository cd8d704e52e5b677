"""Short answers and references are judged with their question in view, by ``baseline/lexical`` and in what a judge is asked."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from evalbench.judge import rag
from evalbench.judge.facts import check_facts
from evalbench.judge.lexical.fragments import in_view, same_answer
from evalbench.judge.lexical.support import entailment
from evalbench.judge.verdicts import judge
from evalbench.models.prompts import load_prompt
from evalbench.text.fragments import is_fragment

SHORT = [
    json.loads(line) for line in (Path(__file__).parents[1] / "data" / "short_answers.jsonl").open(encoding="utf-8")
]
CAPITAL = "What is the capital of Italy?"


def normalised(text: str) -> str:
    """As SQuAD: lower case, no punctuation, no articles."""
    bare = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def contains(reference: str, answer: str, lang: str = "en") -> bool:
    own, said = normalised(reference), normalised(answer)
    return own in said if lang == "zh" else f" {own} " in f" {said} "


def agreement(said: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Share of equal verdicts, and kappa."""
    same = float((said == right).mean())
    chance = said.mean() * right.mean() + (1 - said.mean()) * (1 - right.mean())
    return same, float((same - chance) / (1 - chance))


def verdict(statement: str, passages: list[str], question: str = CAPITAL, *, facts: bool = True) -> str:
    item = {"id": "1", **rag.support_fields(passages, statement, question, facts=facts)}
    return judge([item], by="baseline/lexical", task=rag.SUPPORT).rows[0].label


def test_the_baseline_agrees_with_people_on_short_answers_more_than_contains_does() -> None:
    right = np.array([row["verdict"] == "right" for row in SHORT])
    own = in_view(*zip(*((row["question"], row["reference"], row["answer"]) for row in SHORT), strict=True)) >= 0.5
    peer = np.array([contains(row["reference"], row["answer"], row["lang"]) for row in SHORT])
    assert len(SHORT) == 200
    assert len({row["lang"] for row in SHORT}) == 6
    assert agreement(own, right) > (0.94, 0.88)
    assert agreement(peer, right) < (0.83, 0.66)


@pytest.mark.external
def test_the_baseline_agrees_with_people_on_natural_questions_more_than_contains_does(
    external_data: Callable[[str], Path], script: Callable[[str], ModuleType]
) -> None:
    measuring = script("card_lexical")
    measuring.DATA = external_data("natural_questions").parent
    rows = [r for r in measuring.efficient_qa() if not measuring.in_first_half(r.question)]
    right = np.array([r.label == 1 for r in rows])
    own = same_answer([r.question for r in rows], [r.golds for r in rows], [r.answer for r in rows]) >= 0.5
    peer = np.array([any(contains(g, r.answer) for g in r.golds) for r in rows])
    assert all(np.array(agreement(own, right)) > agreement(peer, right))
    assert agreement(own, right) > (0.9, 0.6)


@pytest.mark.parametrize(
    ("statement", "label"),
    [
        ("The capital of Italy is Rome.", "SUPPORTED"),
        ("Rome", "SUPPORTED"),
        ("Rome, a city on the Tiber, is the capital.", "SUPPORTED"),
        ("The capital of Italy is Milan.", "NOT_SUPPORTED"),
        ("It is not Rome.", "NOT_SUPPORTED"),
        ("Rome or Milan.", "NOT_SUPPORTED"),
        ("I don't know.", "NO_CLAIM"),
        ("nan", "NO_CLAIM"),
        ("What is the capital of Italy?", "NO_CLAIM"),
        ("The capital of Italy.", "NO_CLAIM"),
        ("The passage does not say what it is.", "NO_CLAIM"),
    ],
)
def test_a_statement_beside_a_short_ground_truth(statement: str, label: str) -> None:
    assert verdict(statement, ["Rome"]) == label


def test_a_short_answer_beside_contexts_needs_what_was_asked_too() -> None:
    contexts = ["Rome is the capital of Italy. It lies on the Tiber.", "Dogs bathe in Milan. Boats leave at noon."]
    assert verdict("Rome", contexts, facts=False) == "SUPPORTED"
    assert verdict("Milan", contexts, facts=False) == "NOT_SUPPORTED"


def test_facts_of_a_few_words_are_asked_with_their_question() -> None:
    asked: list[Mapping[str, Any]] = []

    def scripted(item: dict[str, Any]) -> Any:
        if "sentences" in item:
            return {"claims": [{"sentence": 1, "claim": text} for text in item["sentences"]]}
        asked.append(item)
        return {"label": "SUPPORTED", "passages": []}

    item = {"id": "1", "question": CAPITAL, "answer": "The capital of Italy is the city of Rome.", "facts": ["Rome"]}
    check_facts([item], by=scripted)
    assert [one["question"] for one in asked] == [CAPITAL, CAPITAL]
    check_facts([{**item, "facts": ["The capital of Italy is Rome."]}], by=scripted)
    assert [one["question"] for one in asked[2:]] == ["", ""]


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_prompt_shows_the_question_only_where_it_is_needed(language: str) -> None:
    template = load_prompt("support", language)
    fields = {"passages": ["Rome"], "statement": "It is Rome."}
    longer, plain = template.render(**fields, question=CAPITAL), template.render(**fields, question="")
    assert len(longer) > len(plain) + 100
    assert "[question" in longer
    assert "[question" not in plain


def test_what_is_a_fragment() -> None:
    assert all(map(is_fragment, ["Rome", "Rome.", "at most 5 km", "六个"]))
    assert not any(
        map(is_fragment, ["", "It lies on the Tiber.", "A rule that holds for all who live in the old town there"])
    )


@pytest.mark.parametrize(
    ("premise", "claim"),
    [
        ("What is the capital of Land7? Its parks are old.", "The capital of Land7 is City7."),
        ("The bridge of Corven fell in 1908.", "Мост Corven упал в 1908 году."),
        ("The shop sells alcohol on Sundays.", "The shop does not sell alcohol on Sundays."),
        ("The firm of Oslo makes juices.", "The firm of Oslo makes 12 juices."),
    ],
)
def test_a_name_number_script_or_denial_that_the_source_lacks_is_not_entailed(premise: str, claim: str) -> None:
    assert entailment([premise], [claim])[0].argmax() == 1


def test_german_nouns_in_other_words_are_not_taken_for_names() -> None:
    premise = "Die Brücke der Stadt Corven wurde im Jahr 1908 von der Firma Renn gebaut."
    claim = "Im Jahr 1908 wurde die Brücke von der Firma Renn mit dem Geld der Stadt Corven gebaut."
    assert entailment([premise], [claim])[0].argmax() == 0
