"""What is done to a row in the writer's thread before the store gets it: no key of the application is in it."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from evalbench.models.redact import redactor
from evalbench.monitor.calls import is_the_question, plain, question

_MOST_REDACTORS = 32
_LOOKS_AGAIN_S = 1.0
_LEAST_SECRET = 8
_BETWEEN = re.compile(r"[\s,;=]+")
_TEXTS = ("response", "model", "prompt_version", "error", "comment")
_NUMBERS = ("latency", "input_tokens", "output_tokens", "cost")


class Secrets:
    """Keys of one call, which nobody sees who prints or dumps it."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[str, ...] = ()) -> None:
        self.values = values

    @classmethod
    def of(cls, client: Any, headers: Any) -> Secrets:
        """The key of an ``openai`` client, and what the headers of a request hold."""
        if client is None and not headers:
            return NO_SECRETS
        found = [client.api_key] if isinstance(getattr(client, "api_key", None), str) else []
        if isinstance(headers, Mapping):
            for value in headers.values():
                found += _BETWEEN.split(value) if isinstance(value, str) else []
        return cls(tuple(value for value in found if len(value) >= _LEAST_SECRET))

    def and_(self, others: Secrets) -> Secrets:
        """Those of both."""
        return Secrets(tuple(dict.fromkeys((*self.values, *others.values)))) if others.values else self


NO_SECRETS = Secrets()


class Cleaner:
    """Makes rows that are written of rows as they were queued."""

    def __init__(self) -> None:
        self._redactors: dict[tuple[str, ...], Callable[[str], str]] = {}
        self._environment: dict[str, str] = {}
        self._looked = -_LOOKS_AGAIN_S

    def cleaned(self, table: str, row: dict[str, Any]) -> dict[str, Any]:
        """A row of the table, as the store takes it."""
        redact = self._redactor(row.pop("secrets", NO_SECRETS).values)
        ts = datetime.fromtimestamp(float(row["ts"]), UTC)
        if table == "feedback":
            return {**row, "ts": ts, "comment": _text(row["comment"], redact)}
        asked = plain(row["request"], redact)
        stages = plain(row["stages"] or {}, redact)
        if not is_the_question(asked):
            stages = {"messages": asked, **stages}
        return {
            **row,
            **{name: _text(row[name], redact) for name in _TEXTS if name in row},
            **{name: _number(row[name]) for name in _NUMBERS if name in row},
            "ts": ts,
            "request": question(asked) or "",
            "stages": stages or None,
        }

    def _redactor(self, secrets: tuple[str, ...]) -> Callable[[str], str]:
        if time.monotonic() - self._looked >= _LOOKS_AGAIN_S:
            self._looked = time.monotonic()
            environment = dict(os.environ)
            if environment != self._environment:
                self._environment = environment
                self._redactors.clear()
        found = self._redactors.get(secrets)
        if found is None:
            if len(self._redactors) >= _MOST_REDACTORS:
                self._redactors.clear()
            found = self._redactors[secrets] = redactor(*secrets)
        return found


def _text(value: Any, redact: Callable[[str], str]) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else redact(value)
    return json.dumps(plain(value, redact), ensure_ascii=False)


def _number(value: Any) -> float | int | None:
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if value - value == 0 else None
