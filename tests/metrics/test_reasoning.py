import json
import math
from fractions import Fraction

import pytest
from timing import least

from evalbench.errors import BadInput
from evalbench.metrics.coherence import CONSTANTS, Fault, constants_of, given_numbers, step_coherence
from evalbench.metrics.reasoning import (
    final_answer_accuracy,
    four_levels,
    steps_ratio_score,
    steps_similarity,
    weighted_mean,
)
from evalbench.metrics.registry import cards
from evalbench.text.solutions import parse_solution, same_number

COWS = (
    "A farmer has three milk cows. The smallest, Ada, gives two pails a day, the largest three times that amount, "
    "and the last one pail more than Ada. How many pails is that in a week?"
)
REFERENCE = (
    "Ada gives 2 pails.\nThe largest gives 3 * 2 = <<3*2=6>>6.\nThe last gives 2 + 1 = <<2+1=3>>3.\n"
    "Together <<2+6+3=11>>11.\nA week is 7 days: <<11*7=77>>77.\n#### 77"
)
RESPONSE = (
    "Ada <<2=2>>2\nlargest <<2*3=6>>6\nlast <<2+1=3>>3\nall <<2+6+3=11>>11\nweek <<7=7>>7\nso <<11*7=77>>77\n#### 77"
)


def test_refusals():
    with pytest.raises(ValueError, match="the reference has no number behind a marker"):
        final_answer_accuracy("#### 3", "three")
    with pytest.raises(ValueError, match="counts of response steps"):
        steps_ratio_score([1, 2], [1])
    with pytest.raises(ValueError, match="negative"):
        steps_ratio_score([-1], [1])
    with pytest.raises(ValueError, match="2 weights for"):
        weighted_mean([1, 2, 3], [1, 1])
    with pytest.raises(ValueError, match="not all 0"):
        weighted_mean([1, 2], [0, 0])


def test_the_worked_check():
    assert final_answer_accuracy(RESPONSE, REFERENCE) == 1
    assert steps_ratio_score(6, 5) == 1
    coherence = step_coherence(parse_solution(RESPONSE), COWS)
    assert coherence.accuracy == 1
    assert coherence.coherence == pytest.approx(4 / 6)
    assert coherence.score == pytest.approx(0.917, abs=5e-4)
    assert [c.coherent for c in coherence.steps] == [True, True, True, True, False, False]
    assert [(f.kind, f.number) for f in coherence.steps[5].faults] == [("unsourced", "7")]
    final = weighted_mean([1, 1, 0.853, 0.917])
    assert round(float(final), 3) == 0.946
    assert round(float(weighted_mean([1, 1, 0.853, 0.917], [1, 1, 1, 1])), 3) == 0.942


def test_words_are_those_without_digits_of_the_whole_solution():
    assert steps_similarity("Six pails <<2*3=6>>6\n#### 6", "six pails <<3*2=6>>\nA: 6") == pytest.approx(
        0.8 + 0.2 * 2 / 3
    )
    assert steps_similarity("一 二", "一 二") == 1
    assert steps_similarity("", "") == 1


def test_steps_ratio_at_its_bounds():
    got = steps_ratio_score([4, 12, 3, 0, 13, 100, 3], [5, 10, 5, 5, 10, 5, 0])
    assert got[:6] == pytest.approx([1, 1, 0.75, 0.2, 1.2 / 1.3, 0.5])
    assert math.isnan(got[6])


@pytest.mark.parametrize(
    ("text", "strict", "flexible"),
    [
        ("#### 18", 18, 18),
        ("so 5.\n#### $1,234.50 dollars", Fraction(2469, 2), Fraction(2469, 2)),
        ("A: 7\nQ: another? 9", 7, 9),
        ("#### 3\n#### 4", 3, 4),
        ("#### Step 1: add 2\n2+2=4\n#### 4", 4, 4),
        ("A: Let me think.\nIt is 5", None, 5),
        ("The answer is 42.", None, 42),
        ("no idea", None, None),
        ("ends so #### -3", -3, -3),
        ("**A:** 12", 12, 12),
        ("#### \\boxed{18}", 18, 18),
        ("#### $\\boxed{\\frac{3}{4}}$", Fraction(3, 4), Fraction(3, 4)),
        ("#### ½", Fraction(1, 2), Fraction(1, 2)),
        ("#### 12 000", 12_000, 12_000),
        ("#### 1,234,5 рубля", 1234, 5),
    ],
)
def test_extractors(text, strict, flexible):
    parsed = parse_solution(text)
    assert (parsed.strict and parsed.strict.value) == strict
    assert (parsed.flexible and parsed.flexible.value) == flexible


def test_steps_end_at_the_answer():
    assert [s.text for s in parse_solution("one\n\n two \n#### 5\nthree").steps] == ["one", "two"]
    assert len(parse_solution("one\ntwo").steps) == 2
    assert [s.text for s in parse_solution("eins\nAntwort: 5", ("Antwort:",)).steps] == ["eins"]


def test_percent_answers_match_either_reading():
    def number(text):
        return parse_solution(text).flexible

    assert same_number(number("20%"), number("20"))
    assert same_number(number("20%"), number("0.2"))
    assert same_number(number("1.5 million"), number("1,500,000"))
    assert same_number(number("3万"), number("30000"))
    assert not same_number(number("20"), number("0.2"))
    assert same_number(number("0.3333333"), number("1/3"))
    assert not same_number(number("70000001"), number("70000000"))


@pytest.mark.parametrize(
    ("line", "equations"),
    [
        ("So 5 + 3 = 8, and 8 * 2 = 16.", ["5 + 3 = 8", "8 * 2 = 16"]),
        ("(that is 5 + 3 = 8)", ["5 + 3 = 8"]),
        ("(a) 5 + 3 = 8 (eggs)", ["5 + 3 = 8"]),
        ("30×2＝60（元），", ["30*2=60"]),
        ("He drives 60 / 2 = 30/hour.", ["60 / 2 = 30"]),
        ("2 * (5 + 3) = 16 and (5 + 3) * 2 = 16", ["2 * (5 + 3) = 16", "(5 + 3) * 2 = 16"]),
        ("- 5 + 3 = 8", ["5 + 3 = 8"]),
        ("1. 2 x 3 = 6 apples", ["2 * 3 = 6"]),
        ("3 × 12 000 = 36 000 ₽", ["3 * 12 000 = 36 000 ₽"]),
        ("25% of 80 = 20", []),
        ("3 apples + 4 apples = 7 apples", []),
        ("Total = 5", []),
        ("Шаг: 12 : 3 = 4, 10:2=5", ["12 / 3 = 4", "10/2=5"]),
        ("Step 1: 3 + 4 = 7", ["3 + 4 = 7"]),
        ("1½ * 2 = 3", ["1½ * 2 = 3"]),
        ("So 0.2 × 50 = \\boxed{10}", ["0.2 * 50 = 10"]),
    ],
)
def test_inline_equations(line, equations):
    found = parse_solution(line).equations
    assert [e.text for e in found] == equations
    assert all(e.holds() for e in found)


def test_inline_equations_are_read_only_without_annotations():
    assert [e.text for e in parse_solution("5 + 3 = 8\n<<8*2=16>>").equations] == ["8*2=16"]


@pytest.mark.parametrize("inside", ["3*4=12 eggs", "3 boxes * 4 eggs = 12 eggs", "3*4=12个", "3 штуки * 4 = 12 штук"])
def test_units_in_an_annotation_are_passed_over(inside):
    (equation,) = parse_solution(f"<<{inside}>>").equations
    assert equation.holds()
    assert equation.used == (3, 4)


def test_an_incoherent_result_is_no_source_and_a_step_without_equation_is_left_out():
    got = step_coherence(parse_solution("<<7*2=14>>\nwords\n<<14+1=15>>\n<<2+2=5>>\n<<5+2=7>>"), "Two and 2 and one")
    assert [c.coherent for c in got.steps] == [False, None, False, True, True]
    assert got.coherence == 0.5
    assert got.accuracy == 0.75
    assert [f[:4] for f in got.steps[3].faults] == [("wrong", "2+2=5", "", "4")]


def test_constants_and_articles_are_sources_by_option():
    solution = parse_solution("<<7*1=7>>")
    assert step_coherence(solution, "a week").steps[0].faults == (
        Fault("unsourced", "7*1=7", "7", "", 2, 3),
        Fault("unsourced", "7*1=7", "1", "", 4, 5),
    )
    assert step_coherence(solution, "a week", article_as_one=True, common_constants=[7]).score == 1
    assert 7 in CONSTANTS["everyday"]


def test_rounded_results_are_wrong_unless_forgiven():
    solution = parse_solution("<<10/3=3.33>>")
    assert step_coherence(solution, "10 and 3").accuracy == 0
    assert step_coherence(solution, "10 and 3", relative_tolerance=0.001).accuracy == 1
    assert not parse_solution("<<70000000=70000001>>").equations[0].holds()


def test_no_equation_no_coherence():
    assert math.isnan(step_coherence(parse_solution("just words"), "2").score)


def test_given_numbers_in_three_languages():
    assert given_numbers("Half of 20%") == {Fraction(1, 2), 1, 2, 20, Fraction(1, 5)}
    assert {5, 12} <= given_numbers("пять яблок и 12 груш")
    assert {3, 20} <= given_numbers("三个人，20个苹果")


@pytest.mark.parametrize(
    "equation",
    [
        "9**9**9=1",
        "(" * 10_000 + "1" + ")" * 10_000 + "=1",
        "1/0=0",
        "²+²=4",
        "=",
        "1=",
        "a=b",
        "1" * 5000 + "=1",
        "\x00=1",
    ],
)
def test_hostile_equations_are_left_out_with_a_reason_and_cheap(equation):
    def judged():
        parse_solution.cache_clear()
        return step_coherence(parse_solution(f"<<{equation}>>\n#### 1"), "1")

    got = judged()
    assert least(judged, goal=0.05, rounds=1) < 0.05
    assert math.isnan(got.score)
    assert [f.kind for f in got.steps[0].faults] == ["unread"]
    assert got.steps[0].faults[0].detail


@pytest.mark.parametrize(
    "text",
    [
        "<<" * 50_000,
        "=" * 100_000,
        "1+" * 50_000 + "=",
        *(
            pytest.param(text, marks=pytest.mark.slow)
            for text in (
                "(" * 100_000 + "1=1",
                "1=1 " * 20_000,
                "#### " * 20_000,
                "\\boxed{1" * 20_000,
                "Answer:\n" * 20_000,
                "*_" * 50_000 + "A: Answer",
                "1=(1" * 20_000,
                "Step 1 - " * 20_000,
            )
        ),
    ],
)
def test_hostile_texts_take_linear_time(text):
    def judged():
        parse_solution.cache_clear()
        step_coherence(parse_solution(text), text)

    assert least(judged, goal=3, rounds=1) < 3


@pytest.mark.external
def test_agrees_with_the_authors_on_every_real_solution(external_data):
    with (external_data("gsm8k") / "example_model_solutions.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    judged = [
        (row["ground_truth"], answer["solution"], answer["is_correct"])
        for row in rows
        for answer in row.values()
        if isinstance(answer, dict)
    ]
    assert len(judged) == 5276
    assert all(final_answer_accuracy(solution, truth) == flag for truth, solution, flag in judged)


@pytest.mark.external
def test_every_reference_annotation_is_exact(external_data):
    with (external_data("gsm8k") / "test.jsonl").open(encoding="utf-8") as lines:
        solutions = [parse_solution(json.loads(line)["answer"]) for line in lines]
    annotations = [
        e for s in solutions for e in s.equations if "<<" + e.text + ">>" in "".join(t.text for t in s.steps)
    ]
    assert len(annotations) >= 4281
    assert all(len({side.value for side in e.sides}) == 1 for e in annotations)


@pytest.mark.external
@pytest.mark.parametrize("method", ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"])
def test_annotations_of_real_solutions(external_data, method):
    published = json.loads((external_data("gsm8k") / "expected.json").read_text())["methods"][method]
    with (external_data("gsm8k") / "example_model_solutions.jsonl").open(encoding="utf-8") as lines:
        texts = [json.loads(line)[method]["solution"] for line in lines]
    equations = [e for t in texts if "<<" in t for e in parse_solution(t).equations]
    # Ours reads thousands separators and percent as well, and stops at the answer, so it may read a few more or fewer.
    read = [e for e in equations if e.sides]
    assert abs(len(read) - published["annotations_evaluable"]) <= 15
    exact = sum(len({side.value for side in e.sides}) == 1 for e in read)
    assert abs(exact - published["annotations_exact"]) <= 15
    assert abs(sum(e.holds(0.001) for e in read) - published["annotations_ok_rel_1e3"]) <= 15


def test_the_four_levels_are_those_of_their_functions():
    seen = four_levels(RESPONSE, REFERENCE, COWS)
    coherence = step_coherence(parse_solution(RESPONSE), COWS)
    assert seen.answer_strict == seen.answer_flexible == seen.marked == 1
    assert seen.steps == steps_ratio_score(6, 5)
    assert seen.similarity == steps_similarity(RESPONSE, REFERENCE)
    level_4 = (coherence.accuracy, coherence.coherence, coherence.score, coherence.steps)
    assert (seen.accuracy, seen.sourced, seen.coherence, seen.checks) == level_4
    assert (seen.n_steps, seen.n_reference_steps, seen.n_equations, seen.n_unread) == (6, 5, 6, 0)


@pytest.mark.parametrize("response", ["", " \n"])
def test_an_empty_response_scores_0_on_every_level(response):
    seen = four_levels(response, REFERENCE, COWS)
    assert set(seen[:7]) == {0}
    assert math.isnan(seen.marked)


def test_constants_are_a_list_by_name_or_numbers():
    assert constants_of("everyday") == CONSTANTS["everyday"]
    assert constants_of("7, 0.5") == (7, 0.5)
    for text in ("some", "", "nan", "1, inf"):
        with pytest.raises(BadInput, match="common_constants must be none, everyday or numbers"):
            constants_of(text)


def test_the_cards_examples_hold():
    mine = [c for c in cards() if c.function.__module__ == "evalbench.metrics.reasoning"]
    assert len(mine) == 3
    for card in mine:
        given, expected = card.example
        assert float(card.function(**given)) == pytest.approx(expected), card.name


@pytest.mark.parametrize(
    ("solution", "question"),
    [
        ("<<5-7=-2>>\n<<-2+10=8>>", "From five take seven, then add ten."),
        ("<<-5+3=-2>>", "It is −5 degrees and gets 3 degrees warmer."),
        ("10-(-3)=13", "From 10 to -3"),
        ("12 500 - 2 500 = 10 000", "Цена 12 500 рублей, скидка 2 500 рублей."),
        ("2,5 * 100 = 250", "Куплено 2,5 кг яблок по 100 рублей."),
        ("先算 3+4=7，再算 4×2＝8。", "小明有三个苹果，又买了四个，翻倍"),
        ("<<30000*2=60000>>", "工厂每月生产3万件，两个月共多少件？"),
        ("1,500,000 / 3 = 500,000", "3 towns share 1.5 million."),
        ("<<1 1/2*4=6>>", "Each of 4 cups holds 1 1/2 spoons."),
    ],
)
def test_signs_separators_and_scripts_do_not_hide_a_source(solution, question):
    got = step_coherence(parse_solution(solution), question)
    assert (got.accuracy, got.coherence) == (1.0, 1.0), got.steps


@pytest.mark.parametrize(
    ("response", "truth"),
    [
        ("Ответ: 1 200 рублей\n#### 1 200", "#### 1200"),
        ("Всего 2,5 кг\n#### 2,5", "#### 2.5"),
        ("总共１，２００元\n#### １，２００", "#### 1200"),
        ("答案\n#### −7", "#### -7"),
    ],
)
def test_answers_written_as_other_languages_write_them(response, truth):
    assert final_answer_accuracy(response, truth) == 1.0
    assert final_answer_accuracy(response, truth, extractor="flexible") == 1.0
