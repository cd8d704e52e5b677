"""Clients of ``openai`` whose questions are logged: their methods that ask are replaced, in them and in their copies."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from evalbench.monitor.intake import Intake
from evalbench.monitor.places import Places
from evalbench.monitor.wrapping import wrapped

_ASKING, _COPYING = ("create", "parse"), ("copy", "with_options")  # stream asks create


def hooked(client: Any, intake: Intake) -> Any:
    """The same client, whose chats and responses are logged, and those of the clients that it makes.

    - ``client``: ``openai``'s, sync or async; one that is hooked already stays as it is.
    """

    def logging(places: Places) -> Callable[[Any], Any]:
        return lambda function: wrapped(function, places, intake, client)

    def copying(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def made(*args: Any, **kwargs: Any) -> Any:
            return hooked(function(*args, **kwargs), intake)

        made.__evalbench__ = intake  # type: ignore[attr-defined]
        return made

    chats, responses = client.chat.completions, getattr(client, "responses", None)
    for holder, names, replaced in (
        (chats, _ASKING, logging(Places.of_chat())),
        (responses, _ASKING, logging(Places.of_responses())),
        (client, _COPYING, copying),
    ):
        for name in names:
            function = getattr(holder, name, None)
            if callable(function) and getattr(function, "__evalbench__", None) is not intake:
                setattr(holder, name, replaced(function))
    return client
