"""Keys of the environment: read by name, never shown, taken out of whatever an endpoint says."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

_NAMES_A_KEY = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SHORTEST_KEY = 8
MASK = "[key removed]"


def environment_keys() -> tuple[str, ...]:
    """The values of all environment variables whose name ends as a key's does, longest first.

    Values under eight characters are left alone: taking them out would eat words of honest text.
    """
    values = {v for name, v in os.environ.items() if _NAMES_A_KEY.search(name) and len(v) >= _SHORTEST_KEY}
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def redactor(*more: str) -> Callable[[str], str]:
    """A function that replaces every key of the environment, and ``more`` ones, in a text.

    The environment is read once, when the function is made.

    Examples
    --------
    >>> redactor("hunter2-hunter2")("your key hunter2-hunter2 is wrong")
    'your key [key removed] is wrong'
    """
    keys = tuple(key for key in (*environment_keys(), *more) if len(key) >= _SHORTEST_KEY)

    def redact(text: str) -> str:
        for key in keys:
            if key in text:
                text = text.replace(key, MASK)
        return text

    return redact


def printable(text: str) -> str:
    """Without characters that steer a terminal or turn the direction of writing: each becomes a blank.

    Examples
    --------
    >>> printable("red \x1b[31m text")
    'red  [31m text'
    """
    return "".join(character if character.isprintable() else " " for character in text)
