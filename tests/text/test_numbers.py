from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import least

from evalbench.text.number_words import number_words
from evalbench.text.numbers import ascii_numerals, find_numbers


def values(text):
    return [n.value for n in find_numbers(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("no number", []),
        ("1,234,567.5", [Fraction(2469135, 2)]),
        ("1, 2 and 1,2,3", [1, 2, 1, 2, 3]),
        ("$1,200 or €3 or ₽5", [1200, 3, 5]),
        ("-5, −7, $-8, -$9, (-2)", [-5, -7, -8, -9, -2]),
        ("10-12 and B-2", [10, 12, 2]),
        ("20%, 20 % and 20 percent", [Fraction(1, 5)] * 3),
        ("3/4, 1 1/2, ½ and 2¾", [Fraction(3, 4), Fraction(3, 2), Fraction(1, 2), Fraction(11, 4)]),
        ("1/0", []),
        ("3² cats", [3]),
        ("٣٤ ７", [34, 7]),
        ("The sum is 18.", [18]),
        ("12 500,5 рубля, 3,75 и 1,234", [Fraction(25001, 2), Fraction(15, 4), 1234]),
        ("20 процентов", [Fraction(1, 5)]),
        ("1 200 runners in a 100 metre race", [1, 200, 100]),
        ("1,234,5 рубля", [1234, 5]),
        ("1.234.567 и 1.234,5 рубля", [1234567, Fraction(2469, 2)]),
        ("0,125 кг", [Fraction(1, 8)]),
        ("9" * 41, []),
    ],
)
def test_values(text, expected):
    assert values(text) == expected


def test_a_percentage_keeps_its_face_and_a_fraction_its_parts():
    percent, part = find_numbers("20% of 3/4")
    assert percent.readings() == {Fraction(1, 5), Fraction(20)}
    assert part.readings() == {Fraction(3, 4), Fraction(3), Fraction(4)}


@pytest.mark.parametrize(
    ("text", "face", "scaled"),
    [
        ("1.5 million", Fraction(3, 2), 1_500_000),
        ("2,5 млн рублей", Fraction(5, 2), 2_500_000),
        ("5 тысяч", 5, 5000),
        ("3 миллиарда", 3, 3 * 10**9),
        ("3万元", 3, 30_000),
        ("5千克", 5, 5),
        ("3 millionaires", 3, 3),
        ("7", 7, 7),
    ],
)
def test_a_word_behind_a_number_may_scale_it(text, face, scaled):
    (number,) = find_numbers(text)
    assert (number.value, number.face, number.scaled) == (face, face, scaled)


def test_positions_are_those_of_the_text():
    text = "in ２０２４ −5"
    assert [text[n.start : n.end] for n in find_numbers(text)] == ["２０２４", "−5"]


def test_ascii_numerals_keeps_the_length():
    text = "３²×٤＝½"
    assert len(ascii_numerals(text)) == len(text)
    assert ascii_numerals(text) == "3²*4=½"


@given(st.text(alphabet="0123456789,.  -/%½$яmi万", max_size=40), st.booleans())
def test_no_text_is_too_odd_to_read(text, spaced):
    for number in find_numbers(text, spaced=spaced):
        assert 0 <= number.start < number.end <= len(text)


@pytest.mark.parametrize(
    "text", ["9" * 10**5, "-" * 10**5, "$ " * 10**5, "1," * 10**4, "1/" * 10**4, "1 000 " * 10**4 + "я"]
)
def test_hostile_texts_take_linear_time(text):
    assert least(lambda: find_numbers(text), goal=2, rounds=1) < 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        ("someone tenderly", set()),
        ("one hundred and five and two", {105, 2}),
        ("two thousand three hundred forty-five", {2345}),
        ("twenty five six", {25, 6}),
        ("two, three", {2, 3}),
        ("three dozen eggs", {3, 12, 36}),
        ("twice and triple", {2, 3}),
        ("two thirds", {2, 1, 3, Fraction(1, 3), Fraction(2, 3)}),
        ("a quarter", {1, 4, Fraction(1, 4)}),
        ("seventy-five percent", {75, Fraction(3, 4)}),
        ("двести тридцать пять и полтора", {235, Fraction(3, 2)}),
        ("три дюжины, вдвое", {3, 12, 36, 2}),
        ("две тысячи пять", {2005}),
        ("две трети", {2, 1, 3, Fraction(1, 3)}),
        ("трёх", {3}),
        ("三千零五", {3005}),
        ("一亿二千万", {120_000_000}),
        ("两万五千和十二", {25_000, 12}),
        ("三分之一，一半", {1, 3, Fraction(1, 3), 2, Fraction(1, 2)}),
        ("百分之二十", {20, Fraction(1, 5)}),
        ("他们一起走", set()),
        ("五千克苹果", {5}),
        ("二〇二四年", {2024}),
        ("两打鸡蛋", {2, 12, 24}),
    ],
)
def test_number_words(text, expected):
    assert number_words(text) == expected


def test_an_article_is_one_only_if_asked():
    assert number_words("a cow and an egg") == set()
    assert number_words("a cow and an egg", article_as_one=True) == {1}
