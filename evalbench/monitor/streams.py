"""Streams that an application reads as before, and that are logged as they end."""

from __future__ import annotations

import time
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Protocol

from evalbench.monitor.calls import Pieces, Said, kind


class UnderWay(Protocol):
    """What is asked of a call: when its first text came, and what became of it."""

    first: float | None

    def end(self, reply: Said = ..., error: str | None = ...) -> None: ...

    def lose(self) -> None: ...

    def fault(self, error: Exception, *, loses: bool) -> None: ...


def streamed(stream: Any, call: UnderWay, most: int, under_way: ContextVar[Any]) -> Any:
    """What the application reads instead of a stream; None where a reply is not one.

    - ``most``: Characters of a reply that is kept.
    - ``under_way``: Holds the call while the stream makes its next piece: what is called for it belongs to it.
    """
    if hasattr(type(stream), "__anext__"):
        return _AsyncStream(stream, call, Pieces(most), under_way)
    if hasattr(type(stream), "__next__"):
        return _Stream(stream, call, Pieces(most), under_way)
    return None


class _Watched:
    """Looks like the stream that it holds, also to ``isinstance``."""

    def __init__(self, stream: Any, call: UnderWay, pieces: Pieces, under_way: ContextVar[Any]) -> None:
        self._evalbench = stream, call, pieces, under_way

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._evalbench[0])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._evalbench[0], name)

    def _came(self, piece: Any) -> None:
        _, call, pieces, _ = self._evalbench
        try:
            if pieces.add(piece) and call.first is None:
                call.first = time.perf_counter()
        except Exception as error:  # noqa: BLE001 - the application gets its piece
            call.fault(error, loses=False)

    def _ended(self, error: BaseException | None = None) -> None:
        _, call, pieces, _ = self._evalbench
        try:
            if pieces.too_long:
                call.lose()
            else:
                call.end(pieces.said(), None if error is None else kind(error))
        except Exception as fault:  # noqa: BLE001 - the application reads on
            call.fault(fault, loses=True)

    def _left(self) -> None:
        """It is not read any further: half-way, unless the model had ended already."""
        _, _, pieces, _ = self._evalbench
        self._ended(None if pieces.finished else GeneratorExit())  # what a generator gets when it is closed

    def close(self) -> Any:
        self._left()
        return self._evalbench[0].close()

    def __del__(self) -> None:
        with suppress(Exception):
            self._left()


class _Piece:
    """The making of a piece, which belongs to the call; where it ends or fails, so does the call."""

    def __init__(self, watched: _Watched) -> None:
        self._watched = watched

    def __enter__(self) -> None:
        _, call, _, under_way = self._watched._evalbench
        self._token = under_way.set(call)

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        with suppress(ValueError):  # another context goes on with it
            self._watched._evalbench[3].reset(self._token)
        if error is not None:
            self._watched._ended(None if isinstance(error, StopIteration | StopAsyncIteration) else error)


class _Stream(_Watched):
    def __iter__(self) -> _Stream:
        return self

    def __next__(self) -> Any:
        with _Piece(self):
            piece = next(self._evalbench[0])
        self._came(piece)
        return piece

    def __enter__(self) -> _Stream:
        self._evalbench[0].__enter__()
        return self

    def __exit__(self, *raised: Any) -> Any:
        self._left()
        return self._evalbench[0].__exit__(*raised)


class _AsyncStream(_Watched):
    def __aiter__(self) -> _AsyncStream:
        return self

    async def __anext__(self) -> Any:
        with _Piece(self):
            piece = await self._evalbench[0].__anext__()
        self._came(piece)
        return piece

    def aclose(self) -> Any:
        self._left()
        return self._evalbench[0].aclose()

    async def __aenter__(self) -> _AsyncStream:
        await self._evalbench[0].__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> Any:
        self._left()
        return await self._evalbench[0].__aexit__(*raised)
