"""Forty responses in the ten usual forms of a final answer, and texts that have none."""

from fractions import Fraction

import pytest

from evalbench.text.final_answers import MARKERS, last_number, marked_answer
from evalbench.text.solutions import parse_solution

STEPS = "Mira fills 4 crates of 5 jars: 4 * 5 = 20.\nSix more make 20 + 6 = 26."

FORMS = {
    "hashes": ["#### 26", "####26", "#### $26", "#### **26** jars"],
    "boxed": [
        "\\boxed{26}",
        "The answer is $\\boxed{26}$.",
        "So she has $$\\boxed{26\\text{ jars}}$$ in all.",
        "Twice over: $\\boxed{5}$? No, $x = \\boxed{x = 26}$",
    ],
    "final answer": [
        "Final answer: 26",
        "final answer: 26 jars",
        "Therefore, the final answer is: 26.",
        "FINAL ANSWER: $26.00",
    ],
    "answer": ["Answer: 26", "ANSWER: 26", "The answer is: 26", "Answer: Mira has 26 jars."],
    "letter": ["A: 26", "A: $26", "Step 4 - A: 26", "Step 4: A: 26"],
    "bold": ["**Answer:** 26", "**Answer**: 26", "**Final Answer: 26**", "### **Final answer:** **26** jars"],
    "mid-line": [
        "That leaves 20 + 6 = 26 jars. Answer: 26",
        "We add them up, so the answer: 26 jars.",
        "That is all. A: 26",
        "So 20 + 6 = 26, final answer: 26.",
    ],
    "next line": ["Final answer:\n26", "**Answer:**\n\n**26**", "## Final Answer\n\n$26$ jars", "####\n26"],
    "russian": ["Ответ: 26", "**Ответ:** 26 банок", "Итого 20 + 6 = 26. Ответ: 26.", "Ответ:\n26"],
    "chinese": ["答案：26", "答案: 26个", "所以答案是：26。", "**最终答案：** 26"],
}
RESPONSES = [(form, closing) for form, closings in FORMS.items() for closing in closings]


def test_there_are_forty_in_ten_forms():
    assert (len(FORMS), len(RESPONSES)) == (10, 40)


@pytest.mark.parametrize(("form", "closing"), RESPONSES)
def test_a_usual_form_is_found_and_ends_the_steps(form, closing):
    parsed = parse_solution(f"{STEPS}\n{closing}")
    assert parsed.strict is not None
    assert parsed.strict.value == 26
    shown = [step.text for step in parsed.steps]
    assert shown[:2] == STEPS.split("\n")
    assert all(any(map(str.isdigit, text)) or text.endswith(".") for text in shown[2:]), shown
    assert [e.text for e in parsed.equations][:2] == ["4 * 5 = 20", "20 + 6 = 26"]


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 26.",
        "A: Let me think about the 5 jars.\nThey are 26.",
        "Answer:\nStep 1: take 5 jars\nStep 2: they make 26 jars",
        "Answer:\n1. First we count the jars",
        "Answer:\n20 + 6 = 26",
        "Plan A: 26 jars",
        "Vitamin A: 26 mg",
        "a: 26",
        "The boxed set has 26 jars",
        "Answer: let us see, 20 jars and 6 more",
        "Its answers: 26",
        "A: 5 + 3 = 8\nThen 8 * 2 = 16.\nThey are 16.",
        "A - 26",
        "",
    ],
)
def test_what_is_not_a_marked_answer_is_not_found(text):
    assert marked_answer(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Answer: 20\nso with six more\n#### 26", 26),
        ("Answer: 20 so far.\nFinal answer: 26", 26),
        ("First \\boxed{20}, then \\boxed{26}", 26),
        ("Answer: 20 + 6 = 26", 26),
        ("Answer: x = 26", 26),
        ("Final answer: 1 200 рублей", 1200),
        ("Answer: \\boxed{\\frac{3}{4}}", Fraction(3, 4)),
        ("Answer = 26", 26),
        ("#### 26 = 20 + 6", 26),
        ("Final Answer - 26", 26),
        ("Ответ — 26", 26),
        ("Final answer:\n\\[\n26\n\\]", 26),
        ("Answer:\n\\[ 26 \\]", 26),
        ("\\boxed{\\text{Mira has 26 jars}}", 26),
        ("Answer: 26 jars (20 + 6 = 26).\nI hope this helps!", 26),
        ("A: 26\n\nQ: How many are 2 + 2?\nA: 4", 26),
    ],
)
def test_of_several_markers_the_most_reliable_counts(text, value):
    assert marked_answer(text).number.value == value


def test_a_calculation_closed_by_a_box_stays_a_step():
    parsed = parse_solution("Together 20 + 6 = \\boxed{26}.")
    assert [e.text for e in parsed.equations] == ["20 + 6 = 26"]
    assert parsed.strict.value == 26


def test_markers_of_ones_own_replace_the_usual_ones():
    assert marked_answer("Lösung: 26", ("Lösung:",)).number.value == 26
    assert marked_answer("The answer is 26.", ("The answer is",)).number.value == 26
    assert marked_answer("#### 26", ("Lösung:",)) is None
    assert MARKERS[0] == "####"


@pytest.mark.parametrize("text", ["A: 7:30", "It is at 7:30.", "Answer: 2:3"])
def test_a_time_or_a_ratio_is_no_number(text):
    assert marked_answer(text) is None
    assert last_number(text) is None
