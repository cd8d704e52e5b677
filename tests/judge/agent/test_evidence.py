"""Quotes and sums of a verdict, checked against what was shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from generated import one_in_twenty

from evalbench.core.seeds import rng
from evalbench.judge.agent.bm25 import K1, B, Bm25
from evalbench.judge.agent.corpus import Corpus, Piece, corpus_of
from evalbench.judge.agent.desk import Desk, calculated, compared
from evalbench.judge.agent.evidence import faults, is_in
from evalbench.judge.agent.naming import agent_of
from evalbench.judge.agent.pages import reader
from evalbench.web.fetch import Page

TEXT = "The “small” desk opens at nine — daily, from 12 May.\nIt is closed on Mondays."


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("opens at nine", True),
        ("OPENS  AT\nNINE", True),
        ('the "small" desk', True),
        ("nine - daily", True),
        ("The … desk opens", False),
        ("The “small” desk … at nine — daily", True),
        ("The small … is closed", False),
        ("the “small” desk opens [...] closed on Mondays", True),
        ("opens at nin", False),
        ("from 1", False),
        ("closed on Mondays!", True),
        (TEXT, True),
        ("opens at ten", False),
        ("from 13 May", False),
        ("It is not closed on Mondays", False),
        ("It is closed on Sundays", False),
        ("closed on Mondays … desk opens", False),
        ("…", False),
        ("", False),
        ("the", False),
    ],
)
def test_a_quote_is_word_for_word_but_for_its_form(quote: str, there: bool) -> None:
    assert is_in(quote, TEXT) is there


def test_a_short_passage_is_quoted_whole() -> None:
    assert is_in("No.", "No.")
    assert not is_in("No.", "No. Yes.")


@pytest.mark.generated
def test_a_changed_word_is_always_found() -> None:
    words = ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "inlet", "juniper"]
    for seed in one_in_twenty(range(600)):
        draw = rng(seed, "quotes")
        text = list(draw.choice(words, 30))
        start = int(draw.integers(0, 20))
        quote = text[start : start + 8]
        assert is_in(" ".join(quote), " ".join(text))
        lie = list(quote)
        lie[int(draw.integers(0, 8))] = "zebra"
        assert faults("", [(1, " ".join(lie))], {1: " ".join(text)})[0] == "evidence-not-found"


def test_bm25_is_the_formula() -> None:
    import math

    index = Bm25(["desk desk nine", "coffee nine", "tea"])
    mean = (3 + 2 + 1) / 3
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    assert index.scores("desk")[0] == pytest.approx(idf * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / mean)))
    assert index.scores("desk")[1:].tolist() == [0.0, 0.0]
    assert index.best("nine desk", 5) == [0, 1]
    assert Bm25([]).best("x", 3) == []


def test_a_corpus_is_a_folder_or_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,The desk opens at nine.\n2,Coffee is free.\n", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("Tea costs two. " * 300, encoding="utf-8")
    found = corpus_of(str(tmp_path))
    assert [piece.source for piece in found.pieces[:2]] == ["a.csv, row 1", "a.csv, row 2"]
    assert all(len(piece.text) <= 1500 for piece in found.pieces)
    assert len(found.pieces) > 4
    assert found.pieces[found.best("when does the desk open", 1)[0]].text == "The desk opens at nine."


def test_only_what_was_opened_may_be_quoted() -> None:
    desk = Desk([("premise", "Tea.")], Corpus([Piece("x", "Coffee is free on Fridays.")]))
    assert "Coffee is free" in desk.search("coffee")
    assert list(desk.shown) == [1]
    desk.open(2)
    assert desk.shown[2] == "Coffee is free on Fridays."


def test_a_page_is_fetched_once_and_kept(tmp_path: Path) -> None:
    fetched: list[str] = []

    class Fake:
        """A fetcher of one page; a fake."""

        def fetch(self, url: str) -> Page:
            fetched.append(url)
            return Page(url, "ok", "HTTP 200", 200, (url,), "Coffee is free. " * len(fetched))

    for judging, times in (("", 1), ("", 1), ("later", 2)):
        page = reader(tmp_path / "cache.sqlite", judging, Fake())  # type: ignore[arg-type]
        text, fault = page("https://example.org/a")
        assert text.startswith("Coffee is free.")
        assert not fault
        assert len(fetched) == times
        desk = Desk([("answer", "x")], Corpus([]), page)
        assert "Coffee is free" in desk.open_url("https://example.org/a")
        assert "Coffee is free" in desk.shown[2]


def test_sums_and_comparisons_are_exact() -> None:
    assert calculated("0.1 + 0.2") == "0.1 + 0.2 = 0.3"
    assert calculated("1/3").startswith("1/3 = 0.3333")
    assert compared("0.3", "0.1+0.2") == "The numbers are equal."
    assert compared("abc", "abd").startswith("The texts differ; 67%")


def test_settings_are_read_from_the_name() -> None:
    agent = agent_of("agent[ calls = 4 , web=yes,tokens=500]:http://127.0.0.1:1/v1#m[x]")
    assert (agent.calls, agent.web, agent.tokens, agent.model) == (4, True, 500, "http://127.0.0.1:1/v1#m[x]")


def test_hostile_quotes_cost_little() -> None:
    text = "a" * 200_000
    for quote in ("aaaa", "a" * 5000, "aaa … " * 2000, "b" * 5000, "\u200b" * 5000, "…" * 5000, "aaaa " * 3000):
        assert not is_in(quote, text)
    reason = '"' + "aaaa " * 300 + '" [1] ' + "2 + 2 = " * 3000 + "two plus " * 3000
    assert faults(reason, [(1, "aaaa")], {1: text})[0] == "evidence-not-found"


def test_numbers_are_quoted_whole() -> None:
    text = "It was -5 degrees at 9:30, 1,200 people and 12.5 % of 40."
    for quote in ("1,200 people", "-5 degrees", "at 9:30", "12.5 % of 40"):
        assert is_in(quote, text), quote
    for quote in ("200 people", "5 degrees", "30, 1,200 people", "degrees at 9", "12.5 % of 4", "5 % of 40"):
        assert not is_in(quote, text), quote


def test_scripts_without_blanks_have_no_words_to_cut() -> None:
    assert is_in("办公室九点开门", "我们的办公室九点开门，周一休息。")
    assert not is_in("办公室十点开门", "我们的办公室九点开门，周一休息。")
