"""What a citation refers to: a supplied text, a fetched page, or nothing that can be read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlsplit

import pandas as pd

from evalbench import errors, readers
from evalbench.studies.citation import inputs
from evalbench.text import locate, quotations
from evalbench.web.fetch import Page

MAX_PASSAGE = 6000
"""Characters of a source that the judge reads at most."""
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Source:
    """A source as the citation names it.

    - ``text``: None: it is not at hand, so nothing is known. Empty: there is no such source.
    - ``origin``: ``supplied``, ``web``, or why there is no text.
    - ``unscored``: Why it cannot be judged although it was supplied; else empty.
    - ``near``: The supplied address that differs from the cited one in case or blanks alone; else empty.
    """

    text: str | None
    title: str = ""
    kind: str = ""
    origin: str = ""
    unscored: str = ""
    near: str = ""

    @property
    def premise(self) -> str:
        """Title and text, as a judge reads them."""
        return f"{self.title}\n{self.text}" if self.title else self.text or ""


class Shelf:
    """The supplied sources, by question and address, and by question and title.

    A source that was supplied for other questions only is found too: what it says is known.
    """

    def __init__(self, sources: pd.DataFrame | None) -> None:
        self._named: dict[tuple[str, str], Source] = {}  # by question, "" for none, and name
        self._all: dict[str, dict[str, Source]] = {}  # by name, each text once
        self._alike: dict[str, str] = {}  # the address as it is written, by what is left of it without case and blanks
        for row in sources.to_dict("records") if sources is not None else ():
            source = Source(row["text"], row.get("title", ""), row.get("kind", ""), "supplied")
            if not row["text"].strip():
                source = replace(source, text=None, origin="the supplied source has no text", unscored="empty-source")
            self._alike.setdefault(_bare(row["url"]), row["url"])
            for name in _names(row["url"], source.title):
                self._named.setdefault((str(row.get("id") or ""), name), source)
                self._all.setdefault(name, {}).setdefault(source.text or "", source)

    def find(self, question: str, citation: inputs.Citation) -> Source | None:
        """The supplied source that a citation names: by address, or by title where it gives no address.

        Of the question, else one without a question, else of others: of several texts all, one below the other.
        """
        name = _name(citation)
        if not name:
            return None
        own = self._named.get((question, name)) or self._named.get(("", name))
        several = list(self._all.get(name, {}).values())
        if own or not several:
            return own
        texts = [source.text for source in several if source.text]
        return replace(several[0], text="\n\n".join(texts), origin="supplied", unscored="") if texts else several[0]

    def has(self, question: str, citation: inputs.Citation) -> bool:
        """Whether what a citation names was supplied for its question."""
        return (question, _name(citation)) in self._named

    def near(self, url: str) -> str:
        """The supplied address that is this one but for case and blanks."""
        return self._alike.get(_bare(url), "") if url.strip() else ""


def _names(url: str, title: str) -> list[str]:
    """Those of a source."""
    plain = title.casefold().strip()
    return [f"url {address_key(url)}", *([f"title {plain}"] if plain else [])]


def _name(citation: inputs.Citation) -> str:
    """The name by which a citation finds its source; empty where it gives none."""
    return _names(citation.url, "")[0] if citation.url else "".join(_names("", citation.title)[1:])


def reached(supplied: pd.DataFrame | None, answers: Sequence[inputs.Answer]) -> pd.DataFrame | None:
    """Those of all sources by which a shelf finds for these answers what it finds with all of them.

    They are the sources of their questions, and all that have the name of one that its question lacks.
    """
    if supplied is None:
        return None
    ids = supplied["id"].fillna("").astype(str) if "id" in supplied else pd.Series("", supplied.index)
    own = ids.isin({answer.id for answer in answers}).to_numpy()
    shelf = Shelf(supplied[own])
    lacking = [c for a in answers for c in a.citations if not shelf.has(a.id, c)]
    names, bare = {_name(c) for c in lacking}, {_bare(c.url) for c in lacking if c.url.strip()}
    titles = supplied["title"] if "title" in supplied else [""] * len(supplied)
    wanted = [
        here or (bool(lacking) and (not names.isdisjoint(_names(url, title)) or _bare(url) in bare))
        for here, url, title in zip(own, supplied["url"], titles, strict=True)
    ]
    return supplied[wanted]


def _bare(url: str) -> str:
    return re.sub(r"\s|%20", "", address_key(url)).casefold()


def check(data: readers.Dataset) -> None:
    """Refuse sources of one question and address that differ; the same page may be supplied for many questions.

    Raises ``BadInput``: Names each address with its rows.
    """
    frame = data.get("sources")
    if frame is None or not len(frame):
        return
    questions = frame["id"].fillna("").astype(str) if "id" in frame else frame["url"].map(lambda _: "")
    found = frame.assign(id=questions, url=frame["url"].map(address_key))
    several = found.groupby(["id", "url"], sort=False)["text"].nunique().rename("n").reset_index()
    faults = [
        f"{row['url']}{' of id ' * bool(row['id'])}{row['id']}: {row['n']} different texts"
        for row in several[several["n"] > 1].to_dict("records")
    ]
    if faults:
        raise errors.BadInput.listing(
            "sources: one address has several texts; join them, tell the addresses apart, or name the question of each in id:",
            faults,
            headed=True,
        )


def address_key(url: str) -> str:
    """Addresses that differ in scheme, case of the host, fragment or a last slash are the same source.

    Examples
    --------
    >>> address_key("HTTPS://Lexica.example/A/#top") == address_key("http://lexica.example/A")
    True
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url.strip()
    if not parts.netloc:
        return url.strip()
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}{query}"


class Found(NamedTuple):
    """Where a citation's quote, or its claim, is in its source, and the passage that the judge reads.

    ``start``: where the passage begins in the source's text.
    """

    location: locate.Location | None
    passage: str
    start: int = 0


def find_passage(citation: inputs.Citation, source: Source, threshold: float) -> Found:
    """Locate a citation's quote (without one, its claim) in its source.

    Of a long source the judge reads the passage around it, or else around what shares most with the claim.
    """
    text = source.text or ""
    wanted = citation.quote if citation.quotes else citation.claim
    location = quotations.locate_quotation(wanted, text, threshold) if text else None
    if len(text) <= MAX_PASSAGE:
        return Found(location, source.premise)
    if location is not None:
        middle = (location.start + location.end) // 2
    else:
        middle = locate.likeliest_place(citation.claim, text, MAX_PASSAGE)
    start = max(0, min(middle - MAX_PASSAGE // 2, len(text) - MAX_PASSAGE))
    return Found(location, f"{source.title}\n{text[start : start + MAX_PASSAGE]}".strip(), start)


class Evidence(NamedTuple):
    """Answers and what is behind their citations, which are named by (id, model, n).

    - ``answers``: Sorted by id and model.
    """

    answers: tuple[inputs.Answer, ...]
    sources: Mapping[Key, Source]
    found: Mapping[Key, Found]


def evidence_of(
    answers: Sequence[inputs.Answer],
    shelf: Shelf,
    pages: Mapping[str, Page],
    *,
    sources_complete: bool,
    quote_threshold: float,
) -> Evidence:
    """Look up the source of every citation, and its quote or claim therein.

    - ``pages``: Fetched pages; empty without ``check_urls``.
    - ``sources_complete``: Whether the supplied sources are all that the model was given: one that is not among them
      then does not exist.
    - ``quote_threshold``: Least similarity of what is found.
    """
    cited = {(a.id, a.model, c.n): c for a in answers for c in a.citations}
    sources = {key: shelf.find(key[0], c) or _elsewhere(c, pages, shelf, sources_complete) for key, c in cited.items()}
    found = {key: find_passage(c, sources[key], quote_threshold) for key, c in cited.items()}
    return Evidence(tuple(sorted(answers, key=lambda a: (a.id, a.model))), sources, found)


def fetched(answers: Sequence[inputs.Answer], shelf: Shelf, allow_hosts: Sequence[str]) -> dict[str, Page]:
    """The pages of all addresses whose text was not supplied, from the web."""
    from evalbench.web import fetch as webfetch

    wanted = {c.url for a in answers for c in a.citations if c.url and shelf.find(a.id, c) is None}
    return webfetch.Fetcher(allow=frozenset(allow_hosts)).fetch_all(wanted)


def pages_table(pages: Mapping[str, Page]) -> dict[str, pd.DataFrame]:
    """The table ``pages``; none where nothing was fetched."""
    columns = ["url", "outcome", "detail", "hops", "characters"]
    shown = [(p.url, p.outcome, p.detail, " → ".join(p.hops), len(p.text)) for p in pages.values()]
    return {"pages": pd.DataFrame(shown, columns=columns)} if pages else {}


def _elsewhere(citation: inputs.Citation, pages: Mapping[str, Page], shelf: Shelf, sources_complete: bool) -> Source:
    page = pages.get(citation.url)
    if page is not None:
        if page.outcome == "ok" and not page.text.strip():
            return Source(None, origin="the page holds no text that can be read without running its scripts")
        if page.outcome == "ok":
            return Source(page.text, citation.title, origin="web")
        missing = page.verification == "LIKELY_FABRICATED"
        return Source("" if missing else None, origin=f"{page.outcome}: {page.detail}")
    if near := shelf.near(citation.url):
        return Source(None, origin=f"not supplied, but {near} was, which differs in case or blanks alone", near=near)
    if sources_complete:
        return Source("", origin="none of the supplied sources")
    if not citation.url and not citation.title:
        return Source(None, origin="the citation names no source")
    return Source(None, origin="not supplied, and the web was not asked")
