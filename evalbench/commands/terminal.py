"""Everything that the command line says passes here: no key of the environment, nothing that steers a terminal.

Names of models, columns and files, and messages about them, come from data: a raw escape could repaint what was said before,
a bidi override reverse it.  Both standard streams are wrapped once, so that messages, tracebacks, warnings and progress
need no care of their own.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from evalbench.draw.html import plain
from evalbench.models.redact import redactor


def cleaned(text: str) -> str:
    r"""A text for a terminal: keys taken out, characters that steer or hide made visible.

    A carriage return stays where a text begins or ends with it, as progress bars do.

    Examples
    --------
    >>> cleaned("\rred \x1b[31m text, green\rred")
    '\rred ‹ESC›[31m text, green‹CR›red'
    """
    body = text.replace("\r\n", "\n").strip("\r")
    before = "\r" if text.startswith("\r") and body else ""
    after = "\r" if text.endswith("\r") else ""
    return before + plain(redactor()(body)).replace("\r", "‹CR›") + after


class CleanStream:
    """A text stream that writes :func:`cleaned` texts; all else is the stream's own, but for its raw ``buffer``.

    Where its reader has gone, as behind ``| head``, what follows is written nowhere, and the command goes on to its own exit code.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"a text is written here, not {type(text).__name__}")
        self._unless_closed(lambda: self._stream.write(cleaned(text)))
        return len(text)

    def flush(self) -> None:
        self._unless_closed(self._stream.flush)

    def _unless_closed(self, act: Callable[[], object]) -> None:
        try:
            act()
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())  # what the stream still holds goes there too
            os.close(nowhere)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self._stream, name)


def clean_streams() -> None:
    """Wrap this process's standard output and standard error."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or isinstance(stream, CleanStream):
            continue
        if hasattr(stream, "reconfigure"):
            ascii_only = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(errors="replace", **({"encoding": "utf-8"} if ascii_only else {}))
        setattr(sys, name, CleanStream(stream))
