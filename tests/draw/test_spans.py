"""Marked texts: overlapping, nested, empty and impossible spans."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.draw.html import plain
from evalbench.draw.spans import Document, Span, documents, highlight


def bare(out):
    """The text under the marks."""
    return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"<sup.*?</sup>", "", out)))


def test_all_spans_outside_the_text_are_listed_at_once():
    with pytest.raises(ValueError, match=re.escape("spans outside the text of 5 characters: [-1, 3), [2, 6), [4, 3)")):
        highlight("abcde", [Span(-1, 3), Span(0, 2), Span(2, 6), Span(4, 3)])


def test_overlapping_spans_are_split_at_their_ends():
    out = highlight("abcdef", [Span(0, 4, "truth"), Span(2, 6, "prediction")])
    assert re.findall(r'<mark class="([^"]+)"[^>]*>([^<]*)</mark>', out) == [
        ("eb-truth", "ab"),
        ("eb-prediction eb-truth", "cd"),
        ("eb-prediction", "ef"),
    ]


def test_matched_pairs_share_a_number_and_the_unmatched_have_none():
    out = highlight("abcdef", [Span(0, 2, "truth", pair=1), Span(0, 2, "prediction", pair=1), Span(4, 6, "truth")])
    assert re.findall(r"<sup[^>]*>(\w+)</sup>", out) == ["P1", "T1", "T"]


def test_nested_and_empty_spans():
    out = highlight("abc", [Span(0, 3, "truth"), Span(1, 2, "entity", "PER"), Span(3, 3, "prediction")])
    assert bare(out) == "abc"
    assert out.count("<sup") == 3
    assert 'class="eb-other eb-truth"' in out
    assert out.endswith("P</sup>")


def test_texts_labels_and_kinds_are_escaped():
    out = highlight("<b>x</b>\u202e", [Span(0, 3, '"><script>', '" onmouseover="x')])
    assert "<script>" not in out
    assert "<b>" not in out
    assert 'title="&quot; onmouseover=&quot;x"' in out
    assert "RLO" in out


def test_spans_may_be_mappings():
    span = {"start": 0, "end": 2, "kind": "truth", "label": "no", "pair": 3, "other": 1}
    assert highlight("abc", [span]) == highlight("abc", [Span(0, 2, "truth", "no", 3)])


SEEN = st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]).filter(lambda c: plain(c) == c)


@given(st.text(SEEN, max_size=30), st.data())
def test_marking_never_changes_the_text(text, data):
    ends = st.integers(0, len(text))
    spans = [
        Span(*sorted((a, b)), kind)
        for a, b, kind in data.draw(
            st.lists(st.tuples(ends, ends, st.sampled_from(["truth", "prediction", "x"])), max_size=6)
        )
    ]
    assert bare(highlight(text, spans)) == text


def test_documents_have_a_legend_a_language_and_a_list_of_spans():
    out = documents(
        [
            Document("s-1", "Пейте воду", [Span(0, 5, "truth", "без приказов", 1)], note="two contexts are lost"),
            {"title": "<s-2>", "text": "plain", "spans": []},
        ]
    )
    assert "true span" in out
    assert "predicted span" not in out
    assert '<div class="eb-text" lang="ru">' in out
    assert "&lt;s-2&gt;" in out
    assert "no spans" in out
    assert "<summary>1 span</summary>" in out
    assert "“" not in out
    assert "two contexts are lost" in out
