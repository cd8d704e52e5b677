"""The terms of a page: only those that appear on it, one source, and no link without its place."""

from __future__ import annotations

import re

import pytest

from evalbench.draw.html import Html
from evalbench.report.glossary import MARK, TERMS, appearing, glossary_html, glossary_markdown, with_glossary
from evalbench.report.render import render


def test_names_and_anchors_are_each_of_one_term():
    assert len({term.anchor for term in TERMS}) == len(TERMS)
    assert all(term.meaning.endswith(".") for term in TERMS)


def test_only_what_a_reader_sees_counts():
    page = (
        '<style>Wilson</style><script>Holm</script><svg><text>kappa</text></svg><details class="code">McNemar</details>'
    )
    assert appearing(page) == ()
    assert [term.name for term in appearing(page + "<details><p>Wilson&#x27;s</p></details>")] == ["Wilson"]


def test_a_page_explains_its_own_words():
    page = with_glossary(f"<p>F1 0.7, Wilson</p>{MARK}")
    assert re.findall(r'<dt id="([^"]+)"', page) == ["term-wilson", "term-f1"]
    assert with_glossary(f"<p>nothing</p>{MARK}") == "<p>nothing</p>"


def test_a_text_of_the_data_is_no_mark():
    from evalbench.draw.html import escape

    assert MARK not in escape(MARK)
    assert isinstance(glossary_html(TERMS), Html)


@pytest.mark.parametrize("status", ["ok", "failed"])
def test_links_to_terms_lead_somewhere(run_folder, status):
    page = render(run_folder(status=status).path).read_text(encoding="utf-8")
    places = set(re.findall(r'id="(term[^"]*)"', page))
    linked = set(re.findall(r'href="#(term[^"]*)"', page))
    assert linked <= places
    assert bool(linked) is (status == "ok")


def test_the_document_has_every_term():
    text = glossary_markdown()
    assert all(f"| {term.name} | {term.meaning} |" in text for term in TERMS)
