"""Models of the RAG: an endpoint, recorded replies, or a function; every reply is kept for the table of calls."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import errors, kit
from evalbench.judge.agent.naming import model_behind
from evalbench.models import exchange, names, prompts
from evalbench.models.chat.collect import endpoint_identity

RECORDED = "recorded"
TASKS = {"answer": "rag_answer", "question": "chunk_question", "rewrite": "rewritten_question", "mark": "mark"}
Fields = Mapping[str, Any]
Model = str | Callable[[dict[str, Any]], str]
_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.):])\s*")


def asked_hash(fields: Fields) -> str:
    """What recorded replies are found by: a hash of everything that a prompt would show.

    Examples
    --------
    >>> asked_hash({"question": "Why?", "contexts": ["a", "b"]})
    'c8e607c1f5c87458'
    """
    told = json.dumps(fields, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
    return hashlib.sha256(told).hexdigest()[:16]


class Asker:
    """Asks one model; each distinct thing once.

    - ``model``: The name of an endpoint's model, ``recorded``, or a function of the fields.
    - ``replies``: The recorded ones.
    - ``prompt``: A folder of the user's own prompts.
    - ``settings``: ``temperature``, ``max_tokens``, ``seed`` of an endpoint's model.
    """

    def __init__(self, model: Model, replies: pd.DataFrame | None, prompt: str = "", **settings: Any) -> None:
        self.model, self.prompt, self.settings = model, prompt, settings
        self.replies: list[exchange.Reply] = []
        self._known: dict[tuple[str, str], exchange.Reply] = {}
        if isinstance(model, str) and model != RECORDED:
            at_hand(model, always=True)
        if model == RECORDED and replies is None:
            raise errors.BadInput(f"{RECORDED}: the data have no table replies")
        rows = replies.to_dict("records") if replies is not None and model == RECORDED else []
        self._recorded = {(row["purpose"], row["asked"]): row["reply"] for row in rows}

    def ask(self, purpose: str, rows: Sequence[Mapping[str, Any]]) -> list[exchange.Reply]:
        """A reply to each row, ``id``, ``lang`` and ``fields``; in their order."""
        keys = [(purpose, asked_hash(row["fields"])) for row in rows]
        new = {key: row for key, row in zip(keys, rows, strict=True) if key not in self._known}
        if isinstance(self.model, str) and self.model != RECORDED:
            found = kit.collecting.asked(
                list(new.values()),
                self.model,
                TASKS[purpose],
                lambda row: row["fields"],
                purpose=purpose,
                prompt=self.prompt,
                **self.settings,
            )
        else:
            found = [self._offline(purpose, key, row) for key, row in new.items()]
        self.replies += found
        self._known |= dict(zip(new, found, strict=True))
        return [self._known[key] for key in keys]

    def _offline(self, purpose: str, key: tuple[str, str], row: Mapping[str, Any]) -> exchange.Reply:
        """What was recorded, or what a function says; exceptions of a function are its own affair."""
        template = prompts.load_prompt(
            TASKS[purpose], prompts.prompt_language(TASKS[purpose], row["lang"], self.prompt), self.prompt or None
        )
        request = exchange.Request(
            exchange.as_messages(template.render(**row["fields"])),
            item_id=str(row["id"]),
            purpose=purpose,
            prompt_hash=template.sha256,
        )
        if callable(self.model):
            name, said = f"function:{getattr(self.model, '__name__', 'model')}", self.model(dict(row["fields"]))
            if not isinstance(said, str):
                raise TypeError(f"the function that answers gave {said!r}, not a text")
            return exchange.Reply(request=request, model=name, host="", text=said, raw=said)
        text = self._recorded.get(key)
        if text is None:
            detail = "the table replies has no reply to what this prompt shows"
            return exchange.Reply(request=request, model=RECORDED, host="", unscored="not-recorded", detail=detail)
        given = text.strip()
        return exchange.Reply(
            request=request, model=RECORDED, host="", text=text, raw=text, unscored="" if given else "no-text"
        )


def at_hand(name: str, *, always: bool = False) -> None:
    """Refuse a model that is not on this machine, or has no such form of a name, before hours of work.

    - ``always``: Whether the name must be that of a model; a judge may have another.
    """
    behind = name if always else model_behind(name)
    if always or names.is_model_name(behind):
        endpoint_identity(names.model(behind))


def one_line(text: str) -> str:
    """A generated question: the first line that has a word, without a bullet.

    Examples
    --------
    >>> one_line("\\n1. How long is the trial period?\\nThe question asks …")
    'How long is the trial period?'
    """
    return next(iter(lines(text)), "")


def lines(text: str) -> list[str]:
    """The lines of a reply, without bullets and numbers, none blank, each once.

    Examples
    --------
    >>> lines("1. When is it quiet?\\n- When is noise forbidden?\\n\\n1. When is it quiet?")
    ['When is it quiet?', 'When is noise forbidden?']
    """
    found = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in found if any(map(str.isalnum, line))))
