"""Edits as marks: escaped, faithful, by log or by comparison."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.draw.edits import Changed, edited, variants
from evalbench.text.augment import AUGMENTATIONS, augment
from evalbench.text.augment.edits import Edit

TEXTS = st.text(st.sampled_from("abc дёж 我们 <&>\"'é"), max_size=40)


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@given(TEXTS, st.sampled_from(sorted(AUGMENTATIONS)), st.booleans())
def test_both_texts_are_there_and_the_edits_marked(text, name, logged):
    found = augment(text, name, rate=0.4)
    old, new = edited(text, found.text, found.edits if logged else None)
    assert text_of(old).replace("·", " ") == text
    assert text_of(new).replace("·", " ") == found.text
    if logged:
        assert new.count("<mark") == sum(e.new_end > e.new_start for e in found.edits)
        assert old.count("<mark") == sum(e.end > e.start for e in found.edits)


def test_hostile_texts():
    attack = '<img src=x onerror="alert(1)">\u202e$5 and $6'
    for edits in (None, (Edit(0, len(attack), 0, 1, '"><script>'),)):
        old, new = edited(attack, "x", edits)
        assert "<img" not in old + new
        assert "<script" not in old + new
        assert "RLO" in old
    shown = variants([Changed("<b>q1</b>", attack, "y", None, "<i>note</i>")])
    assert not re.search(r"<(img|b|i|script)\b", shown)


def test_white_space_alone_becomes_visible():
    assert ">·</mark>" in edited("ab", "a b", (Edit(1, 1, 1, 2, "space added"),))[1]
    assert ">·</mark>" in edited("a b", "ab")[0]


def test_texts_with_little_in_common_are_compared_by_words():
    old, new = edited("where is that big cat", "откуда взялся cat")
    assert "eb-differs" in old
    assert new.endswith("cat")
    assert edited("", "") == ("", "")


def test_a_log_of_other_texts_is_refused():
    for edits in ((Edit(0, 1, 0, 1, "x"),), (Edit(1, 2, 1, 2, "x"), Edit(0, 1, 0, 1, "x"))):
        with pytest.raises(ValueError, match="not those between these two texts"):
            edited("abc", "adb", edits)
