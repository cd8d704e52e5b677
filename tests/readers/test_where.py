"""The filter: what is typed is read, and what is read can be written again."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.readers.where import OPERATORS, Term, in_words, parse

TEXTS = st.text(st.sampled_from("ab -=\"<>!~|\\ \n\t'é中\u202e"), min_size=1, max_size=6)
COMPARED = st.builds(
    Term, TEXTS, st.sampled_from(OPERATORS), st.lists(TEXTS, min_size=1, max_size=3).map(tuple), st.booleans()
)
EMPTY = st.builds(Term, TEXTS, st.sampled_from(["=", "!="]), st.just(("",)), st.booleans())
WORDS = st.builds(Term, st.just(""), st.just("~"), TEXTS.map(lambda text: (text,)), st.booleans())


@given(st.lists(st.one_of(COMPARED, EMPTY, WORDS), max_size=4).map(tuple))
def test_written_terms_are_read_back(terms: tuple[Term, ...]) -> None:
    assert parse(in_words(terms)) == terms


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    with contextlib.suppress(BadInput):
        assert parse(in_words(parse(text))) == parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model=oak|birch", Term("model", "=", ("oak", "birch"))),
        ("score>=-0.5", Term("score", ">=", ("-0.5",))),
        ("-score<-1", Term("score", "<", ("-1",), True)),
        ("a==b", Term("a", "=", ("b",))),
        ("unscored!=", Term("unscored", "!=", ("",))),
        ('"my column"~"a \\"b\\""', Term("my column", "~", ('a "b"',))),
        ("refund", Term("", "~", ("refund",))),
        ("at=10:20-x", Term("at", "=", ("10:20-x",))),
    ],
)
def test_forms(text: str, expected: Term) -> None:
    assert parse(text) == (expected,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"abc', "a quote is not closed at place 1"),
        ("=b", "'=' fits nowhere at place 1"),
        ("a = b", "'=' fits nowhere at place 3"),
        ("a|b", "'|' at place 2"),
        ("length>=", "a value is missing after length>="),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse(text)
    assert message in str(refused.value)
