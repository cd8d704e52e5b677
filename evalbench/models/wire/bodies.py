"""What an endpoint sends is read to a bound: an endless or tightly packed reply must not fill the memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import cast

import httpx2

LONGEST = 64 * 2**20
# Deflate packs up to 1032 bytes into one: what was unpacked stays below 270 MB.
LONGEST_PACKED = 256 * 2**10
UNPACKED = {"accept-encoding": "identity"}
_PACKINGS = ("gzip", "x-gzip", "deflate")


class TooLong(ValueError):
    """A reply that is not read to its end; the message says why."""


class _Bounded(httpx2.AsyncByteStream):
    """A reply's bytes as they come, up to a number of them."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        got = 0
        async for chunk in self._stream:
            got += len(chunk)
            if got > self._most:
                raise TooLong(f"the reply is longer than {self._most:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def bounded(response: httpx2.Response) -> None:
    """Bound the reply of a client that asks for :data:`UNPACKED` ones; for its event hook ``response``.

    Raises ``TooLong``: Here for a packing that was not asked for and knows no bound; while reading, from 64 MiB on, of
    a packed reply from 256 KiB on.
    """
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    packed = packing not in ("", "identity")
    if packed and packing not in _PACKINGS:
        raise TooLong(f"the reply is packed as {packing!r}, which was not asked for")
    stream = cast(httpx2.AsyncByteStream, response.stream)
    response.stream = _Bounded(stream, LONGEST_PACKED if packed else LONGEST)
    # JSON is UTF-8 (RFC 8259, 8.1). The charset that a reply names is not believed: some of Python's raise on any byte.
    response.encoding = "utf-8"


_under_way: ContextVar[list[bool]] = ContextVar("under_way")


@contextmanager
def watched() -> Iterator[list[bool]]:
    """A list that is empty until the request of this block is built and on its way, see :func:`sent`."""
    underway: list[bool] = []
    outer = _under_way.set(underway)
    try:
        yield underway
    finally:
        _under_way.reset(outer)


async def sent(_: httpx2.Request) -> None:
    """Mark the request as sent; for a client's event hook ``request``."""
    _under_way.get([]).append(True)
