"""Where replies are kept: a file of this machine, or a database that several machines share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from evalbench.errors import BadInput
from evalbench.models.store.cache import ReplyCache, usual_file
from evalbench.models.store.claims import Claims
from evalbench.readers.log_store.address import Address, address_of

if TYPE_CHECKING:
    from evalbench.models.store.server import ServerClaims, ServerReplies

VARIABLE = "EVALBENCH_REPLIES"


def place_of(named: str | Path | None = None) -> Address:
    """The place that a path or URL names; by default that of ``EVALBENCH_REPLIES``, else ``replies.sqlite`` in the cache's folder.

    Raises ``BadInput`` for a URL with a user or password in it, and for one of another database.

    Examples
    --------
    >>> str(place_of("postgresql://db.example/evalbench?user=ci"))
    'postgresql://db.example/evalbench?user=ci'
    >>> place_of("replies.sqlite").path.name
    'replies.sqlite'
    """
    if isinstance(named, Path):
        return Address(named)
    text = named or os.environ.get(VARIABLE, "").strip()
    if not text:
        return Address(usual_file())
    if "://" not in text:
        return Address(Path(text).expanduser().absolute())
    try:
        return address_of(text)
    except BadInput as error:
        raise BadInput(f"where replies are kept{'' if named else f' ({VARIABLE})'}: {error}") from None


def place_for(cache: bool | str | Path | ReplyCache) -> Address | None:
    """The place that a collection's option ``cache`` means; None where nothing is kept."""
    if isinstance(cache, ReplyCache):
        return Address(cache.path)
    return place_of(None if cache is True else cache) if cache else None


def replies_at(place: Address) -> ReplyCache | ServerReplies:
    """The replies of a place, opened.

    Raises ``BadInput`` if it cannot be reached, read or written.
    """
    if place.path:
        return ReplyCache(place.path)
    from evalbench.models.store.server import ServerReplies

    return ServerReplies(place)


def claims_at(place: Address) -> Claims | ServerClaims:
    """The claims of a place, opened.

    Raises ``BadInput`` if it cannot be reached, read or written.
    """
    if place.path:
        return Claims(place.path)
    from evalbench.models.store.server import ServerClaims

    return ServerClaims(place)
