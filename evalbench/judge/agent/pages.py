"""Pages of the web that a judge opens: fetched once behind the guard, then kept with the replies, so that a chain repeats."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from evalbench.core import dry
from evalbench.judge.agent.desk import PageText
from evalbench.models.exchange import text_hash
from evalbench.models.store.cache import ReplyCache
from evalbench.models.store.places import place_for, replies_at
from evalbench.readers.log_store.address import Address
from evalbench.web.fetch import Fetcher

LONGEST_PAGE = 200_000


def reader(cache: bool | str | Path | ReplyCache, judged_at: str, fetcher: Fetcher | None = None) -> PageText:
    """A function from an address to its text and why there is none; of one judging each address is fetched once.

    - ``cache``: As of :func:`evalbench.models.chat.collect.collect`.
    - ``judged_at``: The name of the judging: another one fetches anew.
    """
    fetcher = fetcher or Fetcher()
    place = place_for(cache)
    known: dict[str, tuple[str, str]] = {}

    def page(url: str) -> tuple[str, str]:
        if dry.is_dry():
            dry.add("Pages of the web are not fetched here, so that questions about their texts are not counted.")
            return "", "this is a dry run"
        if url not in known:
            known[url] = (place and _kept(place, url, judged_at)) or _fetched(fetcher, url, place, judged_at)
        return known[url]

    return page


def _kept(place: Address, url: str, judged_at: str) -> tuple[str, str] | None:
    with replies_at(place) as store:
        for _, kept in store.get_many([_key(url, judged_at)]):
            if isinstance(kept.get("page"), str) and isinstance(kept.get("fault"), str):
                return kept["page"], kept["fault"]
    return None


def _fetched(fetcher: Fetcher, url: str, place: Address | None, judged_at: str) -> tuple[str, str]:
    found = fetcher.fetch(url)
    text, fault = found.text[:LONGEST_PAGE], "" if found.outcome == "ok" else f"{found.outcome}: {found.detail}"
    if place:
        with replies_at(place) as store:
            store.put(_key(url, judged_at), "a page of the web", _host(url), {"page": text, "fault": fault})
    return text, fault


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _key(url: str, judged_at: str) -> str:
    return text_hash("\n".join(("a page that a judge opened", judged_at, url.encode("utf-8", "replace").decode())))
