"""Where in a function's arguments that is what a log keeps: what is asked, and who asks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

_MESSAGES, _INPUT, _INSTRUCTIONS = "messages", "input", "instructions"
_CLIENTS = ("safety_identifier", "user")
_IDS = (str, int)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class _Place(NamedTuple):
    name: str
    position: int = -1

    def read(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if self.name in kwargs:
            return kwargs[self.name]
        return args[self.position] if 0 <= self.position < len(args) else None


class Places(NamedTuple):
    """The parameter with the request, and those with the client, of which the first that is given counts.

    ``of_system``: that with the system's message, where it is not one of the request.
    """

    of_request: _Place
    of_client: tuple[_Place, ...] = ()
    of_system: _Place | None = None

    def request(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What is asked; with a system's message of its own, messages."""
        asked = self.of_request.read(args, kwargs)
        system = self.of_system.read(args, kwargs) if self.of_system else None
        if not isinstance(system, str):
            return asked
        rest = asked if isinstance(asked, list) else [{"role": "user", "content": asked}] if asked else []
        return [{"role": "system", "content": system}, *rest]

    def client(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | int | None:
        """Who asks; None where nobody is named."""
        for place in self.of_client:
            value = place.read(args, kwargs)
            if isinstance(value, _IDS):
                return value
        return None

    @classmethod
    def of_chat(cls) -> Places:
        """Those of ``chat.completions.create``."""
        return cls(_Place(_MESSAGES), tuple(map(_Place, _CLIENTS)))

    @classmethod
    def of_responses(cls) -> Places:
        """Those of ``responses.create``."""
        return cls(_Place(_INPUT), tuple(map(_Place, _CLIENTS)), _Place(_INSTRUCTIONS))

    @classmethod
    def of(cls, function: Callable[..., Any], request: str = "", client: str = "") -> Places:
        """Those of a function.

        Raises ``TypeError`` if it has no parameter of a given name.

        Examples
        --------
        >>> def answer(question, user_id): ...
        >>> places = Places.of(answer, client="user_id")
        >>> places.request(["Why?"], {}), places.client(["Why?", "u-17"], {})
        ('Why?', 'u-17')
        """
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):  # written in C
            parameters = []
        takes_any = not parameters or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
        known = {p.name: place if p.kind in _POSITIONAL else -1 for place, p in enumerate(parameters)}
        for name in (request, client):
            if name and name not in known and not takes_any:
                raise TypeError(
                    f"{getattr(function, '__name__', function)} has no parameter {name!r}: {', '.join(known)}"
                )

        def place(name: str) -> _Place:
            return _Place(name, known.get(name, -1))

        clients = (client,) if client else _CLIENTS if _MESSAGES in known else ()
        if not request:
            own = [name for name in known if name not in ("self", "cls")]
            request = _MESSAGES if _MESSAGES in known or not own else own[0]
        return cls(place(request), tuple(map(place, clients)))
