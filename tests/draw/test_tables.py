"""Frames as escaped tables: what is refused, what stays text, what is said about the rest."""

import re

import numpy as np
import pandas as pd
import pytest

from evalbench.draw.tables import Html, clamped, folded, html_table, text_block


@pytest.mark.parametrize("options", [{"rows": 0}, {"clamp": 0}, {"total": 1}])
def test_impossible_sizes_are_refused(options):
    with pytest.raises(ValueError, match="must be at least 1, total=. at least 2|must be at least 1"):
        html_table(pd.DataFrame({"a": ["x", "y"]}), **options)


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", '<img src=x onerror="alert(1)">', "$5 … $6", "a\u202eb", "007", "None", "NA", "nan"],
)
def test_a_cell_comes_out_as_text(text):
    import html

    out = html_table(pd.DataFrame({"output": [text]}))
    cell = re.search(r"<td[^>]*>(.*)</td>", out)[1]
    shown = html.unescape(re.sub(r'<span class="eb-ctl"[^>]*>RLO</span>', "\u202e", cell.replace("<wbr>", "")))
    assert shown == text
    assert "no value" not in out


def test_names_of_columns_and_captions_are_escaped_too():
    out = html_table(pd.DataFrame({"<b>": [1]}), caption='"><script>')
    assert "<b>" not in out
    assert "<script>" not in out


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA, pd.NaT, np.nan])
def test_no_value_is_a_dash_with_a_title(value):
    assert 'title="no value">–<' in html_table(pd.DataFrame({"a": [value]}, dtype=object))


def test_an_empty_text_is_not_a_missing_one():
    out = html_table(pd.DataFrame({"a": ["", None]}))
    assert '<td class="w"></td>' in out
    assert out.count("–") == 1


def test_fractions_in_hidden_rows_are_not_rounded_to_whole_numbers():
    out = html_table(pd.DataFrame({"recall": [1.0, 0.0, 1.0, 1 / 3]}), rows=2)
    assert re.findall(r'<td class="n">([^<]*)</td>', out) == ["1.00", "0.00", "1.00", "0.33"]


def test_numbers_stand_right_with_common_decimals():
    out = html_table(pd.DataFrame({"x": [0.123456, 12.5, np.nan], "n": [3, 123456, 2], "flag": [True, False, True]}))
    assert '<td class="n">0.1</td>' in out
    assert '<td class="n">12.5</td>' in out
    assert '<td class="n">123\u202f456</td>' in out
    assert ">yes<" in out
    assert ">no<" in out
    assert '<td class="n">−0.200</td>' in html_table(pd.DataFrame({"x": [-0.2, 0.1]}))


def test_a_note_in_place_of_a_table_is_a_sentence():
    html = html_table(pd.DataFrame({"note": ["<b>no judge</b> was asked"]}), caption="the pairs")
    assert "the pairs" not in html
    assert "<p>&lt;b&gt;no judge&lt;/b&gt; was asked.</p>" in html
    assert "<table" not in html


def test_infinite_and_zero_columns_do_not_break():
    out = html_table(pd.DataFrame({"a": [np.inf, -np.inf, 1.5], "b": [0.0, 0.0, 0.0]}))
    assert ">∞<" in out
    assert ">−∞<" in out
    assert ">1.50<" in out
    assert ">0<" in out
    assert ">∞<" in html_table(pd.DataFrame({"a": [np.inf]}))


def test_long_texts_are_folded_and_whole():
    text = "word " * 100
    out = clamped(text, 50)
    assert out.startswith('<details class="eb-clamp"><summary>')
    assert "whole text, 500 characters" in out
    assert text in out
    assert clamped("short", 50) == "short"


def test_the_rest_is_counted_and_named():
    frame = pd.DataFrame({"a": range(30)})
    assert "first 20 of 30 rows</p>" in html_table(frame)
    out = html_table(frame.head(20), total=1234, file="items.parquet")
    assert "first 20 of 1\u202f234 rows, the rest is in items.parquet" in out
    assert "first" not in html_table(frame.head(20))


def test_an_empty_frame_says_so():
    assert "no rows" in html_table(pd.DataFrame({"a": []}))
    assert "no rows" in html_table(pd.DataFrame())


def test_the_box_scrolls_and_is_reachable_and_named():
    out = html_table(pd.DataFrame({"a": [1]}), caption="Worst cases")
    assert 'tabindex="0" role="group" aria-label="Worst cases"' in out


def test_languages_are_found_or_given():
    out = html_table(pd.DataFrame({"a": ["Пейте воду"], "b": ["eau"], "c": ["اشرب"]}), lang_columns={"b": "fr"})
    assert 'lang="ru"' in out
    assert 'lang="fr"' in out
    assert 'lang="ar" dir="auto"' in out


def test_html_cells_pass_and_lists_are_joined():
    frame = pd.DataFrame(
        {"a": pd.Series([Html("<mark>x</mark>")], dtype=object), "b": [["one", "<two>"]], "c": [{"k": "é"}]}
    )
    out = html_table(frame)
    assert "<mark>x</mark>" in out
    assert "one; &lt;two&gt;" in out
    assert "{&quot;k&quot;: &quot;é&quot;}" in out


def test_a_frame_with_two_columns_of_one_name():
    out = html_table(pd.DataFrame([[1, "x"]], columns=["a", "a"]))
    assert ">1<" in out
    assert ">x<" in out


def test_a_fold_escapes_what_is_not_html():
    out = folded("verdict <b>", "Ответ <i>\nи ещё")
    assert out.startswith('<details class="eb-fold"><summary>verdict &lt;b&gt;</summary>')
    assert '<div class="eb-whole" lang="ru">Ответ &lt;i&gt;\nи ещё</div>' in out
    assert "<b>x</b>" in folded("s", Html("<b>x</b>"))


def test_a_block_of_text_is_escaped_in_its_language_and_says_that_it_is_empty():
    assert text_block("<b>x</b>", code="en") == '<div lang="en">' + clamped("<b>x</b>", 200) + "</div>"
    assert "<b>" not in text_block("<b>x</b>")
    assert 'lang="ru"' in text_block("Пейте больше воды")
    assert text_block(" \n") == "<div><em>empty</em></div>"


@pytest.mark.parametrize(("rows", "folds"), [(10, False), (11, True)])
def test_a_table_that_may_fold_does_so_from_eleven_rows_on(rows: int, folds: bool) -> None:
    out = html_table(pd.DataFrame({"a": range(rows)}), caption="All <b> of it.", fold=True)
    assert out.startswith("<details") is folds
    if folds:
        assert "<summary>11 rows: All &lt;b&gt; of it.</summary>" in out
        assert "<figcaption>" not in out
