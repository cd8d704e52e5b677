"""Judging an old run again: the system's replies come from that run's calls, only the judge is asked.

Where the environment names a run (``EVALBENCH_AGAIN``, JSON), every request that is not a judge's is answered by the reply to the same item, purpose,
sample and prompt that the run recorded, whatever the model's address is today.  Nothing is sent for it: what the run has no
reply to is unscored, ``not-recorded``, and what failed then failed for the same reason.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, cast

from evalbench.core.judging_time import AGAIN
from evalbench.core.unscored import REASONS
from evalbench.errors import BadInput
from evalbench.models.accounting import CALL_COLUMNS
from evalbench.models.chat.kept import from_cache, is_kept, kept_of
from evalbench.models.endpoint import Model
from evalbench.models.exchange import Reply, Request, text_hash
from evalbench.models.redact import redactor
from evalbench.readers.runs import CALLS, read_frame

_judging: ContextVar[bool] = ContextVar("judging", default=False)
_Key = tuple[str, str, int, str]


class Replay:
    """The replies of an old run in place of the system's.

    - ``about``: ``run`` (its name), ``folder``, ``identity``, ``judges`` (who may be asked), ``then`` and ``now`` (the
      judges).

    Raises ``BadInput`` if the run's calls cannot be read.
    """

    def __init__(self, about: Mapping[str, Any]) -> None:
        self.about = about
        self._rows = dict(_recorded(Path(about["folder"]) / CALLS))
        self._used: set[_Key] = set()
        self._missing: set[_Key] = set()
        self._redact = redactor()

    def replies(self, requests: Sequence[Request], target: Model) -> list[Reply]:
        """A recorded reply for each request; none is sent."""
        return [self._reply(request, target) for request in requests]

    def _reply(self, request: Request, target: Model) -> Reply:
        key = (request.purpose, request.item_id, request.sample, text_hash(self._redact(request.prompt_text)))
        row = self._rows.get(key)
        failed: dict[str, Any] = {"request": request, "model": target.name, "host": target.host, "cached": True}
        if row is None:
            self._missing.add(key)
            detail = f"{self.about['run']} has no reply to this prompt, and the system is not asked again"
            return Reply(**failed, unscored="not-recorded", detail=detail)
        self._used.add(key)
        if is_kept(row["unscored"]):
            reply = from_cache(row["key"], request, target, kept_of(row, self._redact))
            if reply is not None:
                return reply
        why = cast("Any", row["unscored"] if row["unscored"] in REASONS else "bad-response")
        return Reply(**failed, unscored=why, detail=self._redact(row["detail"]), raw=self._redact(row["reply"]))

    def account(self) -> dict[str, Any]:
        """What ``results.json`` says of it: JSON values that repeat."""
        return {
            "run": self.about["run"],
            "identity": self.about["identity"],
            "then": self.about["then"],
            "now": self.about["now"],
            "replies": len(self._used),
            "not_recorded": len(self._missing),
            "requests": 0,
        }


def _recorded(file: Path) -> Iterator[tuple[_Key, dict[str, Any]]]:
    """The rows of a table of calls by what was asked; the last of equal ones."""
    if not file.is_file():
        return
    frame = read_frame(file)
    lacking = [name for name in CALL_COLUMNS if name not in frame]
    if lacking:
        raise BadInput(f"{file}: not the calls of a run that can be judged again: no column {', '.join(lacking)}")
    for row in frame[[*CALL_COLUMNS]].astype(CALL_COLUMNS).to_dict("records"):
        asked = row["purpose"], row["item_id"], row["sample"], text_hash(row["prompt"])
        yield cast("_Key", asked), {str(name): value for name, value in row.items()}


@cache
def _replay(about: str) -> Replay:
    return Replay(json.loads(about))


def active() -> Replay | None:
    """The old run whose replies take the place of the system's; None where systems are asked."""
    about = os.environ.get(AGAIN)
    return _replay(about) if about else None


@contextmanager
def judge_speaks(name: str) -> Iterator[None]:
    """Requests within the block are a judge's: they are sent if it is the judge that judges again."""
    replay = active()
    before = _judging.set(replay is not None and name in replay.about["judges"])
    try:
        yield
    finally:
        _judging.reset(before)


def instead() -> Replay | None:
    """What answers in place of a model that is asked here; None where the model is asked."""
    return None if _judging.get() else active()
