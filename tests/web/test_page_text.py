"""The text of a page, whatever its bytes."""

import pytest
from timing import least

from evalbench.web.page_text import decoded, html_text


@pytest.mark.parametrize(
    "page", ["<" * 10**6, "<script" * 10**5, "<!--" * 10**5, "<p>" * 10**5, "<script></script>" * 10**5]
)
def test_hostile_pages_take_linear_time(page):
    assert least(lambda: html_text(page), goal=2, rounds=1) < 2


@pytest.mark.parametrize("charset", ["punycode", "idna", "undefined", "unicode_escape", "zip", "a\0b", "no-such"])
def test_charsets_that_no_page_is_written_in_are_passed_over(charset):
    body = b"a-" + b"99" * 1_000_000
    assert decoded(body, charset) == body.decode()
    assert least(lambda: decoded(body, charset), goal=2, rounds=1) < 2


def test_charset_of_a_page_mark_then_header_then_declaration():
    assert decoded("Мир".encode("utf-16"), "latin-1") == "Мир"
    assert decoded("Мир".encode("cp1251"), "windows-1251") == "Мир"
    assert decoded('<?xml version="1.0" encoding="gb2312"?>你好'.encode("gbk"), marked_up=True)[-2:] == "你好"
    assert decoded(b'<meta charset="latin-1">\xff') == '<meta charset="latin-1">\ufffd'


def test_text_of_a_page():
    assert html_text("<HEAD><title>İ</title></HEAD>İ<SCRIPT>x</SCRIPT>y 1 < 2<br>z<!-- no -->") == "İy 1 < 2\nz"
