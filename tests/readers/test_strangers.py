"""Identifiers that are there in another writing."""

import pytest

from evalbench.readers.strangers import written_otherwise


@pytest.mark.parametrize(
    ("own", "known", "what"),
    [
        (["Q1", "Q2"], ["q1", "q2"], "case"),
        (["q 1"], ["q1"], "blanks"),
        (["Q 1"], ["q1"], "case and blanks"),
        (["1.0", "2.0"], ["1", "2"], "how a number is written"),
        (["007"], ["7"], "how a number is written"),
        (["doc-1"], ["doc_1"], "signs"),
        (["q1", "x", "y"], ["q1 ", "z"], ""),
        (["a"], ["b"], ""),
        ([], ["b"], ""),
        (["a"], [], ""),
        (["a"], ["a"], ""),
        (["a", "B"], ["a", "b"], "case"),
        (["nan"], ["NaN"], "case"),
        (["Ä1"], ["ä1"], "case"),
        (["cafe\u0301"], ["caf\u00e9"], "Unicode form"),
    ],
)
def test_what_identifiers_differ_by(own, known, what):
    found = written_otherwise(own, known)
    assert (f"by {what} alone" in found) if what else found == ""


def test_where_some_are_others_their_number_is_said():
    assert (
        written_otherwise(["A", "B", "x"], ["a", "b"])
        == "2 of these 3 differ from known ones by case alone, such as A and a"
    )
