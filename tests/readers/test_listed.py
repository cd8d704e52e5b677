"""Replies that list entities: strictly one of two forms."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.readers.listed import Unparsed, listed

CLASSES = {"PER", "LOC"}


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("[]", ()),
        ('[("Мира", "PER")]', (("Мира", "PER"),)),
        ("[('O\\'Hara', 'PER'), ('O\\'Hara', 'PER')]", (("O'Hara", "PER"),) * 2),
        ('```python\n[("a", "LOC")]\n```', (("a", "LOC"),)),
        ('[["a", "LOC"]]', (("a", "LOC"),)),
        ('[(" a ", "LOC"), ("b", "ORG")]', (("a", "LOC"),)),
    ],
)
def test_tuples(reply, found):
    assert listed(reply, "tuples", CLASSES).entities == found


@pytest.mark.parametrize(
    "reply",
    [
        "", "  ", "There are none.", "Here: []", "[] and more", '[("a", "PER")', '[("a",)]', '[("a", "PER", 1)]', '[("a", 1)]', '("a", "PER")',
        '{"a": "PER"}', '[f"{1}"]', '[("" , "PER")]', '[__import__("os")]', "[" * 5000, '[("a" * 9**9, "PER")]', "```\n[]", '[(b"a", "PER")]', "None",
    ],
)  # fmt: skip
def test_what_is_not_a_list_of_tuples_is_refused(reply):
    with pytest.raises(Unparsed):
        listed(reply, "tuples", CLASSES)


def test_json():
    reply = '{"entities": [{"entity": "Мира", "entity_class": "PER"}, {"entity": "x", "entity_class": "Q"}]}'
    assert listed(reply, "json", CLASSES) == ((("Мира", "PER"),), (("x", "Q"),))


@pytest.mark.parametrize(
    "reply",
    [
        "", "[]", "{}", '{"entities": null}', '{"entities": [], "note": ""}', '{"entities": ["a"]}', '{"entities": [{"entity": "a"}]}',
        '{"entities": [{"entity": "a", "entity_class": 1}]}', '{"entities": []} ok', '{"entities": [], "entities": []}', '{"entities": [NaN]}',
    ],
)  # fmt: skip
def test_what_is_not_the_json_is_refused(reply):
    with pytest.raises(Unparsed):
        listed(reply, "json", CLASSES)


@given(st.text(), st.sampled_from(["tuples", "json"]))
def test_any_text_is_read_or_refused(reply, form):
    with contextlib.suppress(Unparsed):
        listed(reply, form, CLASSES)
