"""Tables on a report page: hidden rows, anchors, CSV within the page, and the page's size."""

import base64
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.draw.html import case_anchor
from evalbench.draw.marks import is_safe
from evalbench.draw.tables import Html, html_table
from evalbench.report.render import render
from evalbench.report.rows import CSV_BYTES, PAGE_BYTES, anchored, csv_links, csv_text, fitted, with_items_behind


def test_rows_behind_the_open_ones_are_there_with_texts_cut():
    frame = pd.DataFrame({"id": range(600), "text": ["<b>" + "word " * 100] * 600, "drawn": [Html("<i>5</i>")] * 600})
    out = html_table(frame, file="items.parquet")
    assert out.count("<tr>") == 501
    assert is_safe(out)
    opened, rest = out.split('<tbody class="eb-rest">')
    assert opened.count("eb-clamp") == 20
    assert "eb-clamp" not in rest
    assert rest.count("<i>") == 0
    assert "&lt;b&gt;word" in rest
    assert max(map(len, re.findall(r">([^<]*)…<", rest))) <= 210
    assert "show the first 500 rows, long texts cut to 200 characters" in rest
    assert "first 20 of 600 rows, the rest is in items.parquet" in rest


def test_the_open_rows_decide_nothing_about_a_mixed_column():
    out = html_table(pd.DataFrame({"a": pd.Series([1] * 20 + ["<x>", None], dtype=object)}))
    assert "&lt;x&gt;" in out
    assert is_safe(out)


def test_the_largest_hidden_rows_leave_a_page_that_is_too_large():
    few = html_table(pd.DataFrame({"a": ["few"] * 30}))
    many = html_table(pd.DataFrame({"b": ["many" * 40] * 400}))
    page = f"{few}{many}end"
    assert fitted(page) == page
    small = fitted(page, 30_000)
    assert small.count("eb-rest") == small.count("eb-all") == 1
    assert "show all 30 rows" in small
    assert "first 20 of 400 rows" in small
    assert small.endswith("end")
    assert "eb-rest" not in fitted(page, 10)


def test_a_case_has_one_anchor_and_links_to_it():
    frame = pd.DataFrame({"id": ["a b", "<x>", None], "n": 1})
    out = anchored(html_table(frame) + html_table(frame))
    ids = re.findall(r' id="([^"]+)"', out)
    assert ids == [case_anchor("a b"), case_anchor("<x>")]
    assert out.count("href=") == 4
    assert "data-case" not in out
    assert is_safe(out)


@given(st.text(), st.text())
def test_different_cases_have_different_harmless_anchors(one, other):
    assert re.fullmatch(r"case-[\w.-]*", case_anchor(one), re.ASCII)
    assert (case_anchor(one) == case_anchor(other)) == (one == other)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\n@x", "＝1"])
def test_no_text_is_a_formula(text):
    frame = pd.DataFrame({text: [text], "number": [-1.5], "list": [[text, "b"]]})
    read = csv_text(frame)
    assert f"'{text}" in read
    assert ",-1.5," in read
    assert read.startswith(("'", "\"'"))


def test_the_smallest_tables_have_links_and_the_others_their_file(tmp_path):
    for name, n in (("small", 10), ("middle", 3000), ("large", 9000), ("vast", 400_000)):
        pd.DataFrame({"a": [f"word {i * 7919 % 10007}" for i in range(n)]}).to_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "damaged.parquet").write_bytes(b"no")
    links = csv_links(tmp_path, [f"{n}.parquet" for n in ("vast", "large", "middle", "small", "damaged", "absent")])
    assert list(links) == ["small.parquet", "middle.parquet"]
    assert sum(map(len, links.values())) < CSV_BYTES + 500
    data = re.search(r"base64,([^\"]+)", links["small.parquet"])[1]
    assert base64.b64decode(data).decode("utf-8-sig").splitlines()[:2] == ["a", "word 0"]


def test_a_page_of_many_items_keeps_to_its_size(run_folder):
    made = run_folder()
    folder, items = made.path, made.result.items
    wide = pd.concat([items.assign(id=[f"{i}-{k}-" + "x" * 150 for k in items["id"]]) for i in range(10)])
    wide.to_parquet(folder / "items.parquet")
    first = render(folder).read_bytes()
    assert len(first) < PAGE_BYTES
    assert b"show the first 500 rows" in first
    assert render(folder).read_bytes() == first
    (folder / "items.parquet").write_bytes(b"damaged")
    page = render(folder).read_bytes()
    assert b'id="items"' not in page
    assert b'"#items"' not in page


def test_a_sheet_with_the_full_texts_has_the_anchor_of_its_case():
    frame = pd.DataFrame({"id": ["p, 1", "<x>"]})
    title = '<p class="eb-doc-title">{}</p>'
    sheets = [title.format(t) for t in ("p, 1, fern: final 0.5", "p, 1, oak", "&lt;x&gt;, oak", "someone else, oak")]
    out = anchored(html_table(frame) + "".join(sheets), {"p, 1", "<x>", "p"})
    first = f'<a class="case" id="{case_anchor("p, 1")}" href="#{case_anchor("p, 1")}">p, 1</a>'
    assert f'<p class="eb-doc-title">{first}, fern: final 0.5</p>' in out
    again = re.sub(' id="[^"]*"', "", first)
    assert f'<p class="eb-doc-title">{again}, oak</p>' in out
    assert re.findall(r' id="([^"]+)"', out) == [case_anchor("p, 1"), case_anchor("<x>")]
    assert '<p class="eb-doc-title">someone else, oak</p>' in out


def test_a_picture_leads_to_the_items_of_the_groups_that_it_names():
    figure = '<figure class="eb-figure eb-picture"><svg><text>{}</text><text>a &lt;b&gt;</text></svg></figure>'
    out = with_items_behind(
        figure.format("oak") + figure.format("0.5"),
        {"oak": "model=oak", "a <b>": 'model="a <b>"', "elm": "model=elm"},
        "#items",
    )
    assert re.findall('data-filter="([^"]*)"', out) == [
        f"&quot;{name}&quot;" for name in ("oak", "a &lt;b&gt;", "a &lt;b&gt;")
    ]
    assert is_safe(out)
    many = [f"m{i}" for i in range(9)]
    named = figure.format("</text><text>".join(many))
    filters = {name: f"model={name}" for name in many}
    assert re.findall('data-filter="([^"]*)"', with_items_behind(named, filters, "#items")) == [""]
