"""What stands behind a citation: a supplied text, a fetched page, or nothing that can be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width
from urllib.parse import urlsplit

from evalbench.errors import BadInput
from evalbench.studies.citation.answers import Answer, Citation
from evalbench.text.locate import Location, likeliest_place, locate
from evalbench.text.numbers import find_numbers

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.web.fetch import Page

MAX_PASSAGE = 6000
# A few letters stand in any text: finding them proves nothing.
SHORTEST_QUOTE = 8
# Words left out of a quote, with or without brackets.
_LEFT_OUT = re.compile(r"[\[(]?(?:…|\.{3,}|(?:\. ){2,}\.)[\])]?")
# One sign for one, so that places stay: quotation marks and dashes are the typesetter's, not the author's.
_PLAIN = str.maketrans("“”„‟«»‘’‚‛′`–—−‐‑―", '"' * 6 + "'" * 6 + "-" * 6)
SHIPPED = Path(__file__).with_name("credibility.yaml")


@dataclass(frozen=True)
class Source:
    """A source as the citation names it.

    Attributes
    ----------
    text : str or None
        None: it is not at hand, so nothing is known.  Empty: there is no such source.
    title, kind : str
    origin : str
        ``supplied``, ``web``, or why there is no text.
    """

    text: str | None
    title: str = ""
    kind: str = ""
    origin: str = ""

    @property
    def premise(self) -> str:
        """Title and text, as a judge reads them."""
        return f"{self.title}\n{self.text}" if self.title else self.text or ""


class Shelf:
    """The supplied sources, by address and by title."""

    def __init__(self, sources: pd.DataFrame | None) -> None:
        self._by_url: dict[str, Source] = {}
        self._by_title: dict[str, Source] = {}
        for row in sources.to_dict("records") if sources is not None else ():
            source = Source(row["text"], row.get("title", ""), row.get("kind", ""), "supplied")
            self._by_url[address_key(row["url"])] = source
            if source.title:
                self._by_title.setdefault(source.title.casefold().strip(), source)

    def find(self, citation: Citation) -> Source | None:
        """The supplied source that a citation names: by address, or by title where it gives no address."""
        if citation.url:
            return self._by_url.get(address_key(citation.url))
        return self._by_title.get(citation.title.casefold().strip()) if citation.title else None


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


def sources_of(
    answers: Iterable[Answer], shelf: Shelf, pages: Mapping[str, Page], *, sources_complete: bool
) -> dict[tuple[str, str, int], Source]:
    """The source behind every citation, by (id, model, n).

    Parameters
    ----------
    answers : iterable of Answer
    shelf : Shelf
    pages : mapping of address to Page
        Fetched pages; empty without ``check_urls``.
    sources_complete : bool
        Whether the supplied sources are all that the model was given: one that is not among them then does not exist.
    """
    return {
        (a.id, a.model, c.n): shelf.find(c) or _elsewhere(c, pages, sources_complete)
        for a in answers
        for c in a.citations
    }


def _elsewhere(citation: Citation, pages: Mapping[str, Page], sources_complete: bool) -> Source:
    page = pages.get(citation.url)
    if page is not None:
        if page.outcome == "ok" and not page.text.strip():
            return Source(None, origin="the page holds no text that can be read without running its scripts")
        if page.outcome == "ok":
            return Source(page.text, citation.title, origin="web")
        missing = page.verification == "LIKELY_FABRICATED"
        return Source("" if missing else None, origin=f"{page.outcome}: {page.detail}")
    if sources_complete:
        return Source("", origin="none of the supplied sources")
    if not citation.url and not citation.title:
        return Source(None, origin="the citation names no source")
    return Source(None, origin="not supplied, and the web was not asked")


class Found(NamedTuple):
    """Where a citation's quote, or its claim, is in its source, and the passage that the judge reads.

    ``start``: where the passage begins in the source's text.
    """

    location: Location | None
    passage: str
    start: int = 0


def quotes(citation: Citation) -> bool:
    """Whether a citation gives a quote that is long enough to be looked for: eight letters or digits, wide ones count twice.

    Examples
    --------
    >>> quotes(Citation(1, "It sank.", quote="in the")), quotes(Citation(1, "It sank.", quote="sank in 1912"))
    (False, True)
    """
    return long_enough(citation.quote)


def long_enough(quote: str) -> bool:
    """Whether finding these words proves something."""
    inked = [c for c in quote if c.isalnum()]
    return len(inked) + sum(east_asian_width(c) in "WF" for c in inked) >= SHORTEST_QUOTE


def find_passage(citation: Citation, source: Source, threshold: float) -> Found:
    """Locate a citation's quote (without one, its claim) in its source.

    Of a long source the judge reads the passage around it, or else around what shares most with the claim.
    """
    text = source.text or ""
    wanted = citation.quote if quotes(citation) else citation.claim
    location = _located(wanted, text, threshold) if text else None
    if len(text) <= MAX_PASSAGE:
        return Found(location, source.premise)
    if location is not None:
        middle = (location.start + location.end) // 2
    else:
        middle = likeliest_place(citation.claim, text, MAX_PASSAGE)
    start = max(0, min(middle - MAX_PASSAGE // 2, len(text) - MAX_PASSAGE))
    return Found(location, f"{source.title}\n{text[start : start + MAX_PASSAGE]}".strip(), start)


def _located(wanted: str, text: str, threshold: float) -> Location | None:
    """Where a quote stands, whatever its quotation marks and dashes; the first part of one that leaves words out.

    All parts must stand there, one after the other.  A passage that is alike but lacks one of the numbers is another one.
    """
    plain = text.translate(_PLAIN)
    parts = [part.strip() for part in _LEFT_OUT.split(wanted.translate(_PLAIN)) if any(map(str.isalnum, part))]
    places: list[Location] = []
    end = 0
    for part in parts:
        # What is too short to be told from other words must stand there as it is.
        exactly = len(parts) > 1 and not long_enough(part)
        place = locate(part, plain[end:], 1.0 if exactly else threshold)
        if place is None or _numbers(part) - _numbers(plain[end:][place.start : place.end]):
            return None
        places.append(place)
        end += place.end
    if len(places) > 1:
        return places[0]._replace(how="in parts")
    return places[0] if places else None


def _numbers(text: str) -> set[Fraction]:
    return {n.value for n in find_numbers(text)}


class Credibility(NamedTuple):
    """Kinds of sources with their scores, and the hosts of each kind."""

    kinds: Mapping[str, float]
    hosts: Mapping[str, str]

    def kind(self, url: str, stated: str = "") -> str:
        """The kind of a source: as stated, by its host or a parent of it, else ``unknown``."""
        if stated in self.kinds:
            return stated
        try:
            labels = (urlsplit(url).hostname or "").split(".")
        except ValueError:
            labels = []
        parents = (".".join(labels[i:]) for i in range(len(labels)))
        return next((self.hosts[p] for p in parents if p in self.hosts), "unknown")


def read_credibility(path: str = "") -> Credibility:
    """The list of kinds and hosts, shipped or one's own.

    Raises
    ------
    BadInput
        If the file cannot be read or is not of the form of the shipped one; lists all faults.
    """
    import yaml

    file = Path(path).expanduser() if path else SHIPPED
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"credibility_file {file}: {error}") from error
    kinds = content.get("kinds") if isinstance(content, dict) else None
    hosts = content.get("hosts") if isinstance(content, dict) else None
    if not isinstance(kinds, dict) or not isinstance(hosts, dict):
        raise BadInput(f"credibility_file {file}: expected the mappings kinds and hosts")
    faults = [f"kind {k}: {v!r} is no number from 0 to 1" for k, v in kinds.items() if not _is_share(v)]
    faults += [f"hosts of {k}: no such kind" for k in hosts if k not in kinds]
    faults += [f"hosts of {k}: expected a list of texts" for k, v in hosts.items() if not _are_texts(v)]
    faults += [] if "unknown" in kinds else ["kinds lacks unknown"]
    if faults:
        raise BadInput.listing(f"credibility_file {file}:", faults)
    return Credibility(
        {k: float(v) for k, v in kinds.items()}, {h.lower(): kind for kind, listed in hosts.items() for h in listed}
    )


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in value)
