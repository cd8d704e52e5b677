"""Where one collection's replies go: a cache that fails is refused before anything is paid for, and ends nothing afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.models.chat.kept import for_cache, is_an_answer
from evalbench.models.exchange import Reply
from evalbench.models.store.places import claims_at, replies_at
from evalbench.readers.log_store.address import Address

if TYPE_CHECKING:
    from evalbench.models.store.cache import ReplyCache
    from evalbench.models.store.claims import Claims
    from evalbench.models.store.server import ServerClaims, ServerReplies

_PATIENCE_S = 1.0
_failed: set[Address] = set()  # caches that failed in this process while replies were under way


class Keeping:
    """The cache and the claims of one collection; a context manager.

    As long as nothing was sent, a cache that cannot be used is refused with one message. Once replies are under way none of
    them is lost for it: the collection goes on, and what cannot be kept is handed on with the reason in
    :attr:`~evalbench.models.exchange.Reply.not_kept`. It is tried again with every reply, a disk may have room again; not
    where trying takes long.

    - ``place``: Of the replies.

    Raises ``BadInput`` if it cannot be used, unless replies of this process were under way already: then this
    collection goes without.
    """

    def __init__(self, place: Address) -> None:
        self._place = place
        self._under_way = place in _failed
        self._fault = ""
        self._tries = True
        self._claims: Claims | ServerClaims | None = None
        self._cache: ReplyCache | ServerReplies | None = None
        with ExitStack() as stack:
            try:
                self._cache = cache = replies_at(place)
                stack.callback(cache.close)
            except BadInput as error:
                self._went_wrong(error)
            self._open = stack.pop_all()

    def known(self, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """What is kept of these keys."""
        if self._cache is None:
            return
        try:
            yield from self._cache.get_many(keys)
        except BadInput as error:
            self._went_wrong(error)

    def claim(self, keys: Sequence[str]) -> set[str]:
        """Those of these keys that nobody else asks for; all of them where the cache fails."""
        if self._fault:
            return set(keys)
        try:
            claims = self._claims
            if claims is None:
                self._claims = claims = claims_at(self._place)
                self._open.enter_context(claims)
            mine = claims.take(keys)
        except BadInput as error:
            self._went_wrong(error)
            return set(keys)
        self._under_way = True
        return mine

    def renew(self) -> None:
        """Keep the claims for another while."""
        if self._claims is None or self._fault:
            return
        try:
            self._claims.renew()
        except BadInput as error:
            self._went_wrong(error)

    def keep(self, key: str, reply: Reply) -> Reply:
        """Keep a reply that is an answer, and give up the claim of one that is none."""
        if not is_an_answer(reply):
            self._release(key)
            return reply
        reply = replace(reply, key=key)
        if self._cache is not None and self._tries:
            started = time.monotonic()
            try:
                self._cache.put(key, reply.model, reply.host, for_cache(reply))
                return reply
            except BadInput as error:
                self._went_wrong(error)
                self._tries = time.monotonic() - started < _PATIENCE_S
        return replace(reply, not_kept=self._fault)

    def _release(self, key: str) -> None:
        if self._claims is None or self._fault:
            return
        try:
            self._claims.release(key)
        except BadInput as error:
            self._went_wrong(error)

    def _went_wrong(self, error: BadInput) -> None:
        if not self._under_way:
            raise error
        _failed.add(self._place)
        self._fault = str(error.__cause__ or error)

    def __enter__(self) -> Keeping:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
