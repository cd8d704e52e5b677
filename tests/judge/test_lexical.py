"""``baseline/lexical``: what it can tell, what it cannot, and that its card says the truth."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from evalbench.judge.lexical.alignment import (
    coverage,
    denials_differ,
    denied_words,
    gives_new_number,
    match_matrix,
    terms,
    weight,
)
from evalbench.judge.lexical.card import card
from evalbench.judge.lexical.equivalence import equivalence
from evalbench.judge.lexical.support import entailment, sentence_support, supports
from evalbench.judge.verdicts import judge

E, N = 0, 1
FIRM = (
    "The firm was founded in 1998 in Oslo. It makes twelve juices and employs 40 people. "
    "It does not sell alcohol. Sales rose last year."
)


# Words


def test_terms_fold_case_accents_and_number_words() -> None:
    assert terms("Zürich CAFÉ") == terms("zurich cafe")
    assert terms("шесть соков") == ("6", "соков")
    assert terms("йод") == terms("ЙОД")
    assert terms("กำลัง") != terms("กาลง")


def test_content_words_weigh_more_than_function_words() -> None:
    assert weight("the") == weight("и") < weight("dog") < weight("juices") == weight("1998") == 1


def test_inflections_match_and_numbers_do_not() -> None:
    found = match_matrix(["juices", "1998", "cat", "компании"], ["juice", "1999", "car", "компания"])
    assert np.diag(found).round(2).tolist() == [0.97, 0.0, 0.0, 0.95]
    assert match_matrix([], ["a"]).shape == (0, 1)


def test_coverage_of_nothing_is_zero() -> None:
    assert coverage((), ("a",)) == coverage(("a",), ()) == 0.0
    assert coverage(("same", "words"), ("words", "same")) == 1.0


def test_denials_are_of_words() -> None:
    assert denied_words("It does not sell alcohol") == {"sell"}
    assert denied_words("No.") == {""}
    assert denials_differ("It sells alcohol", "It does not sell alcohol")
    assert denials_differ("Сок полезен", "Сок не полезен")
    assert not denials_differ("It makes juice", "It makes juice, not stated since when")
    assert not denials_differ("It does not sell alcohol", "It doesn't sell alcohol")


# Entailment


@pytest.mark.parametrize(
    ("premise", "claim", "label"),
    [
        (FIRM, "The firm was founded in Oslo in 1998.", E),
        (FIRM, "It makes 12 juices.", E),
        (FIRM, "The moon is made of cheese.", N),
        (FIRM, "The firm was founded in 2005 in Oslo.", N),
        (FIRM, "The firm employs 90 people.", N),
        (FIRM, "It sells alcohol.", N),
        (FIRM, "Sales fell last year.", N),
        ("Компания основана в 1998 году в Казани.", "Компания была основана в Казани в 1998 году.", E),
        ("Компания основана в 1998 году в Казани.", "Компания основана в 2005 году в Казани.", N),
        ("Компания основана в 1998 году в Казани.", "Кошки любят молоко.", N),
        ("公司成立于1998年，总部在上海。", "公司总部在上海。", E),
        ("公司成立于1998年，总部在上海。", "公司成立于2005年。", N),
        ("公司成立于1998年，总部在上海。", "他喜欢猫。", N),
        (FIRM, "", N),
        ("", "The firm was founded in 1998.", N),
        ("!?", "…", N),
    ],
)
def test_entailment_of_plain_cases(premise: str, claim: str, label: int) -> None:
    found = entailment([premise], [claim])[0]
    assert found.argmax() == label, found
    assert found.sum() == pytest.approx(1)
    assert found[2] == 0


@pytest.mark.parametrize(
    "text", ["A red apple fell.", "Красное яблоко упало.", "红苹果掉了下来。", "سقطت التفاحة الحمراء."]
)
def test_a_text_entails_itself_and_equals_itself_in_every_script(text: str) -> None:
    assert entailment([text], [text])[0].argmax() == E
    assert equivalence(["?"], [[text]], [text]).tolist() == [1.0]


def test_what_seems_to_say_otherwise_needs_evidence() -> None:
    assert sentence_support("Dogs cannot fly to Mars.", FIRM).conflict == ""
    assert sentence_support("It makes 12 juices.", FIRM).conflict == ""
    assert sentence_support("The firm employs 90 people.", FIRM).conflict == "number"


PARTS = (
    *FIRM.split(". "), *["Она не продаёт 40 соков", "Продажи выросли в 1998 году", "Кошки любят молоко."],
    "公司成立于1998年，总部不在上海。", "It never fell.", "No.", "All won, none lost 12%.", "", "!?", "1998", "not 1999",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_no_verdict_of_the_baseline_is_a_contradiction(seed: int) -> None:
    """Random claims against random sources, made of parts that deny, oppose and outnumber each other."""
    dice = random.Random(seed)

    def text() -> str:
        chosen = dice.sample(PARTS, dice.randint(1, 4))
        words = " ".join(chosen).split()
        return " ".join(w for w in words if dice.random() > 0.2) if dice.random() < 0.5 else ". ".join(chosen)

    items = [{"id": str(i), "premise": text(), "hypothesis": text()} for i in range(200)]
    found = judge(items, by="baseline/lexical", task="entailment")
    assert {row.label for row in found.rows} == {"ENTAILMENT", "NEUTRAL"}
    assert not any("contradict" in row.reason for row in found.rows)
    claims, sources = [i["hypothesis"] for i in items], [i["premise"] for i in items]
    assert any(s.conflict for one in supports(sources, claims) for s in one), "conflicts are among the cases"
    assert not entailment(sources, claims)[:, 2].any()


HEIGHTS = "The survey gives the following heights: Mount Corven 2,914 metres, Mount Asker 2,633 metres."


@pytest.mark.parametrize(
    ("premise", "claim", "label"),
    [
        (HEIGHTS, "Mount Corven is 2,914 metres high.", E),
        (HEIGHTS, "Mount Corven is 3,120 metres high.", N),
        ("Население города 12 500 человек.", "Население города 13 700 человек.", N),
        ("这座山高2914米。", "这座山高3120米。", N),
        ("The opera was written by Ilda Renn in 1908.", "The opera was written by Ilda Renn in 1908.", E),
        ("The opera was written by Ilda Renn in 1908.", "The opera was written by Tomas Vale in 1908.", N),
    ],
)
def test_a_number_or_a_name_that_the_passage_lacks_is_not_entailed(premise: str, claim: str, label: int) -> None:
    assert entailment([premise], [claim])[0].argmax() == label


def test_numbers_are_compared_in_every_reading() -> None:
    assert not gives_new_number("A twenty percent fall, 1,000 in all", "It fell by 20% to 1000")
    assert not gives_new_number("Half of it fell", "It fell by 1/2")
    assert gives_new_number("It fell by 30%", "It fell by 20%")
    assert gives_new_number("Three fell", "Two fell")
    assert not gives_new_number("Some fell", "20 fell")


def test_a_scrambled_claim_is_supported_less() -> None:
    passage = "Anna Berg directed the film. Karl Lund wrote the music for the theatre in Bergen."
    right, swapped = (
        supports([passage], [c])[0][0].score for c in ("Karl Lund wrote the music.", "Anna Berg wrote the music.")
    )
    assert right > swapped


def test_the_order_of_rows_and_repeats_change_nothing() -> None:
    claims = ["It makes 12 juices.", "The moon is far.", "It sells alcohol.", "It makes 12 juices."]
    straight = entailment([FIRM] * 4, claims)
    assert entailment([FIRM] * 4, claims[::-1])[::-1].tobytes() == straight.tobytes()
    assert straight[0].tobytes() == straight[3].tobytes()


# Equivalence


@pytest.mark.parametrize(
    ("question", "golds", "answer", "same"),
    [
        ("how many geese?", ["6"], "six", True),
        ("capital of France?", ["Paris"], "It is Paris.", True),
        ("столица Франции?", ["Париж"], "Это Париж.", True),
        ("首都是哪里", ["北京"], "首都是北京", True),
        ("who played him?", ["actor Guy Henry's", "Guy Henry"], "guy henry", True),
        ("verdict?", ["not guilty"], "guilty", False),
        ("when?", ["1998"], "1999", False),
        ("who?", ["Anna Berg"], "Karl Lund", False),
        ("who?", ["Anna Berg"], "", False),
    ],
)
def test_equivalence_of_plain_cases(question: str, golds: list[str], answer: str, same: bool) -> None:
    assert (equivalence([question], [golds], [answer])[0] >= 0.5) == same


def test_repeating_the_question_earns_nothing() -> None:
    question = "who wrote the play about the white whale"
    echo, right = equivalence(
        [question] * 2, [["Anna Berg"]] * 2, ["the play about the white whale", "Anna Berg wrote it"]
    )
    assert echo < 0.3 < 0.5 < right


def test_no_items_and_no_gold_answers() -> None:
    assert equivalence([], [], []).shape == (0,)
    assert equivalence(["q", "q"], [[], ["a"]], ["b", "a"]).tolist() == [0.0, 1.0]


# The card


def test_the_baseline_is_above_its_peers_on_the_card() -> None:
    held_out = card()["measured"]["equivalence"][0]
    assert held_out["low"] > 0.754, "the whole interval above token F1's"
    assert held_out["auroc"] > held_out["token_f1"]["auroc"]
    for figure in card()["measured"]["entailment"]:
        assert figure["auroc"] >= figure["token_coverage"]["auroc"]


@pytest.mark.external
@pytest.mark.slow
def test_the_card_can_be_measured_again(
    external_data: Callable[[str], Path], script: Callable[[str], ModuleType]
) -> None:
    folder = external_data("natural_questions")
    measuring = script("card_lexical")
    measuring.DATA = folder.parent
    rows = [r for r in measuring.efficient_qa() if not measuring.in_first_half(r.question)]
    scores = equivalence([r.question for r in rows], [r.golds for r in rows], [r.answer for r in rows])
    again = measuring.auroc(np.array([r.label for r in rows]), scores)
    assert again == pytest.approx(card()["measured"]["equivalence"][0]["auroc"], abs=0.001)
    claims = measuring.claim_matrices()
    again = measuring.auroc(np.array([r.label for r in claims]), measuring.scores_of(claims))
    assert again == pytest.approx(card()["measured"]["entailment"][1]["auroc"], abs=0.001)
    assert measuring.called_supported(claims) == card()["measured"]["entailment"][1]["called_supported"]


@pytest.mark.external
def test_token_f1_of_the_script_is_the_published_one(
    external_data: Callable[[str], Path], script: Callable[[str], ModuleType]
) -> None:
    folder = external_data("natural_questions")
    expected = json.loads((folder / "expected.json").read_text())["human_verdict_on_predictions_vs_SQuAD_metrics"]
    measuring = script("card_lexical")
    measuring.DATA = folder.parent
    rows = measuring.efficient_qa()
    f1 = np.array([max(measuring.token_f1(r.answer, g) for g in r.golds) for r in rows])
    label = np.array([r.label for r in rows])
    assert f1[label == 1].mean() == pytest.approx(expected["definitely_correct"]["mean_token_f1"], abs=1e-4)
    assert f1[label == 0].mean() == pytest.approx(expected["definitely_incorrect"]["mean_token_f1"], abs=1e-4)
    assert measuring.auroc(label, f1) == pytest.approx(0.754, abs=0.001)
