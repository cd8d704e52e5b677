"""Hostile text stays text; languages of text blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.core.wording import count, counted, signed
from evalbench.draw.html import Html, attribute, boxed, escape, language, language_attributes, plain, without_markup


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ('<img onerror="x">', "&lt;img onerror=&quot;x&quot;&gt;"),
        ("$5 … $6", "$5 … $6"),
        ("007", "007"),
        ("None", "None"),
        ("NA", "NA"),
        ("", ""),
        (7, "7"),
        ("{{ 7 * 7 }}", "{{ 7 * 7 }}"),
        ("it's & co", "it&#x27;s &amp; co"),
    ],
)
def test_text_comes_out_as_text(text, expected):
    assert escape(text) == expected


@pytest.mark.parametrize(
    "code", [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200B, 0xFEFF, 0x00, 0x1B, 0x85, 0xE0041, 0xD800]
)
def test_a_control_character_is_replaced_by_a_visible_mark(code):
    marked = escape(f"a{chr(code)}b")
    assert chr(code) not in marked
    assert f"U+{code:04X}" in marked
    assert marked.startswith("a<span")
    assert marked.endswith("</span>b")
    assert chr(code) not in plain(f"a{chr(code)}b")
    assert chr(code) not in attribute(f"a{chr(code)}b")


def test_line_ends_tabs_and_joiners_stay():
    text = "a\nb\tc\r\nمی\u200cخواهم 👩\u200d🔬"
    assert escape(text) == text


@given(st.text())
def test_escaped_text_holds_no_markup_but_our_marks(text):
    import re

    assert "<" not in re.sub(r'<span class="eb-ctl" title="[^"<>]*">[^<>]*</span>', "", escape(text))
    assert not set('<>"') & set(attribute(text))
    escape(text).encode("utf-8")


def test_html_is_not_escaped_twice():
    assert escape(escape("<b>")) == "&lt;b&gt;"
    assert escape(Html("<b>")) == "<b>"


def test_html_shows_itself_with_the_mark_by_which_the_page_knows_it():
    data, metadata = Html("<b>x</b>")._repr_mimebundle_()
    assert data["text/html"].startswith("<style>")
    assert data["text/html"].endswith("><b>x</b></div>")
    assert data["text/plain"] == "x"
    assert metadata == {"text/html": {"evalbench": "html"}}


def test_jupyterlab_typesets_no_formula_out_of_texts():
    page = boxed(escape("a coat for $80 of $120"))
    assert '<div class="eb mathjax_ignore tex2jax_ignore">a coat for $80 of $120</div>' in page


def test_the_text_of_drawn_html_keeps_cells_apart():
    assert without_markup(Html("<td>1</td><td>a<sup>2</sup> &lt; b</td>")) == "1 a2 < b"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Drink more water", ""),
        ("", ""),
        ("123 !? …", ""),
        ("Пейте больше воды", "ru"),
        ("多喝水", "zh"),
        ("水をもっと飲む", "ja"),
        ("물을 더 마셔요", "ko"),
        ("اشرب الماء", "ar"),
        ("שתו מים", "he"),
        ("πιες νερό", "el"),
        ("We call it «вода» in this long English sentence", ""),
        ("Fizzle 每天喝一瓶健康一整年", "zh"),
    ],
)
def test_script_suggests_the_language(text, code):
    assert language(text) == code


def test_direction_is_set_for_right_to_left_scripts_only():
    assert language_attributes("Пейте воду") == ' lang="ru"'
    assert language_attributes("اشرب الماء") == ' lang="ar" dir="auto"'
    assert language_attributes("plain") == ""
    assert language_attributes("plain", "de") == ' lang="de"'


def test_counts_and_signs():
    assert count(1_234_567) == "1\u202f234\u202f567"
    assert counted(1, "row") == "1 row"
    assert counted(2, "entry", "entries") == "2 entries"
    assert signed("-0.00") == "0.00"
    assert signed("-0.50") == "−0.50"
