from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import least

from evalbench.text.arithmetic import ArithmeticFault, parse


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "empty"),
        ("9**9**9", "exponent is not a whole number within ±64"),
        ("2^0.5", "exponent is not a whole number"),
        ("(" * 10_000 + "1" + ")" * 10_000, "longer than 300 characters"),
        ("(" * 100 + "1" + ")" * 100, "nested deeper than 32"),
        ("2^" * 100 + "1", "nested deeper than 32"),
        ("10^60" + "*10^60" * 6, "beyond 1024 bits"),
        ("1/0", "division by zero"),
        ("0^-1", "division by zero"),
        ("1/(2-2)", "division by zero"),
        ("1 1/0", "division by zero"),
        ("3²", "cannot read '²'"),
        ("x+2", "cannot read 'x'"),
        ("__import__('os')", "cannot read"),
        ("1)", "unexpected '\\)'"),
        ("(1", "a bracket is not closed"),
        ("2+", "ends where a number is expected"),
        ("*2", "unexpected '\\*'"),
        ("1 2", "unexpected '2'"),
    ],
)
def test_refused(expression, message):
    def refused():
        with pytest.raises(ArithmeticFault, match=message):
            parse(expression)

    assert least(refused, goal=0.05, rounds=1) < 0.05


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2*1/2", 1),
        ("2+3*4-1", 13),
        ("-2^2", -4),
        ("2^3^2", 512),
        ("2**-2", Fraction(1, 4)),
        ("--3", 3),
        ("2(3)", 6),
        ("(1+2)(3+4)", 21),
        ("$1,200 * 5%", 60),
        ("12 000 + 500", 12_500),
        ("2,5 × 2", 5),
        ("٣+٤", 7),
        ("10 – 3 ÷ 3", 9),
        ("3 x 4", 12),
        ("5 \\times 3", 15),
        ("007", 7),
        (".5+1.", Fraction(3, 2)),
        ("1 1/2 * 2", 3),
        ("1½ + ¾", Fraction(9, 4)),
        ("1 200/3", 400),
        ("12:3", 4),
        ("0,125 * 8", 1),
        ("\\frac{3}{4} * 8", 6),
        ("2 / \\dfrac{1}{2}", 4),
        ("1\\frac{1}{2} * 2", 3),
        ("\\frac{1+2}{3} \\cdot \\left(4\\right)", 4),
        ("1{,}200 + \\text{3}", 1203),
    ],
)
def test_values(expression, value):
    assert parse(expression).value == value


def test_numbers_and_operators():
    parsed = parse("-3 - 20% ÷ 2")
    assert parsed.numbers == (3, Fraction(1, 5), 2)
    assert parsed.operators == {"-", "/"}
    assert parse("-3").operators == frozenset()
    assert parse("1 1/2 : ½").numbers == (Fraction(3, 2), Fraction(1, 2))
    assert parse("1 1/2 : ½").operators == {"/"}


expressions = st.recursive(
    st.integers(0, 99).map(str),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
    max_leaves=12,
)


@given(expressions)
def test_agrees_with_python_on_its_own_grammar(expression):
    python_reads = expression.replace("(0", "( 0")
    assert parse(expression).value == eval(python_reads, {"__builtins__": {}})  # the oracle, on generated text only


@given(st.text(alphabet="0123456789+-*/:^().,%$ x×÷−²½٣=\\frac{}boxed", max_size=40))
def test_any_text_has_a_value_or_a_fault(text):
    with suppress(ArithmeticFault):
        assert isinstance(parse(text).value, Fraction)
