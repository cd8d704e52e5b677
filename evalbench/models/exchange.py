"""What is asked of a model and what comes back: :class:`Request` and :class:`Reply`, both values."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel

from evalbench.core.unscored import Unscored
from evalbench.errors import BadInput

_ROLES = ("system", "developer", "user", "assistant")
MOST_LOGPROBS = 20


class TokenLogprob(NamedTuple):
    """One token of a reply, its natural log-probability, and the likeliest tokens at its place."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...]


class Tool(NamedTuple):
    """A tool that a model may call; ``parameters`` is the JSON schema of its arguments, as a text."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True)
class Request:
    """One question to a model.

    - ``messages``: ``{"role": …, "content": …}``; a plain text becomes one user message, a list a tuple.
    - ``temperature``: 0 to 2; None leaves it to the endpoint.
    - ``max_tokens``: The longest reply, from 1.
    - ``seed``: ``seed + sample`` is sent: samples differ, runs repeat where the endpoint honours it.
    - ``schema``: The value that the reply must hold.
    - ``logprobs``: How many likeliest tokens per place are wanted, 0 to 20; 0 asks for none.
    - ``sample``: The how-manieth sample of one question this is, from 0: each is asked and kept on its own.
    - ``item_id``, ``purpose``, ``prompt_hash``: For accounting: the item that it is for, what it is for, and the hash
      of the prompt's template. They do not change what is asked: equal questions share one call.
    - ``unit``: The study's item, where ``item_id`` names a question about it: a budget asks all questions of an item
      together.
    - ``asked_at``: Part of the key where it is not empty: what was asked under another name is asked anew.
    - ``tools``: What the model may call; the reply's text is then its calls, see :mod:`evalbench.models.wire.tool_calls`.

    Raises ``BadInput``: With all faults at once.

    Examples
    --------
    >>> Request("Is it so?").messages
    ({'role': 'user', 'content': 'Is it so?'},)
    """

    messages: tuple[Mapping[str, str], ...]
    temperature: float | None = 0.0
    max_tokens: int | None = None
    seed: int | None = None
    schema: type[BaseModel] | None = None
    logprobs: int = 0
    sample: int = 0
    item_id: str = ""
    purpose: str = ""
    prompt_hash: str = ""
    unit: str = ""
    asked_at: str = ""
    tools: tuple[Tool, ...] = ()

    def __post_init__(self) -> None:
        messages = as_messages(self.messages)
        object.__setattr__(self, "messages", messages)
        faults = [*_message_faults(messages), *_option_faults(self)]
        if faults:
            raise BadInput.listing(f"a request{f' for {self.item_id}' if self.item_id else ''} is invalid:", faults)
        if not self.prompt_hash:
            object.__setattr__(self, "prompt_hash", text_hash(self.prompt_text))

    @property
    def prompt_text(self) -> str:
        """The messages as one text: a single user message as it is, several as JSON."""
        if len(self.messages) == 1 and self.messages[0]["role"] == "user":
            return self.messages[0]["content"]
        return json.dumps(list(self.messages), ensure_ascii=False)

    def key(self, endpoint: str) -> str:
        """SHA-256 of everything that shapes the reply, the endpoint's identity, the sample's number and ``asked_at``."""
        return text_hash(
            json.dumps(
                [
                    endpoint,
                    [[message["role"], message["content"]] for message in self.messages],
                    None if self.temperature is None else float(self.temperature),
                    self.max_tokens,
                    self.seed,
                    schema_text(self.schema) if self.schema else None,
                    self.logprobs,
                    self.sample,
                    *([self.asked_at] if self.asked_at else []),
                    *([{"tools": self.tools}] if self.tools else []),
                ],
                ensure_ascii=False,
                separators=(",", ":"),
            )
        )


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back for one request, always: a failure is a reply with a reason.

    - ``model``, ``served_by``, ``host``: The name that was asked for, the model as the endpoint named it, the
      endpoint's host.
    - ``another``: The endpoint names another model than was asked for
      (:func:`evalbench.models.endpoint.is_another_model`).
    - ``text``: The answer, without a reasoning block in ``<think>`` tags.
    - ``value``: The parsed value where a schema was given and met.
    - ``unscored``: Empty, or one of :data:`evalbench.core.unscored.REASONS`.
    - ``detail``: What the endpoint or the parser said about it, without keys.
    - ``raw``: The reply as it came; the body where it was no chat completion.
    - ``logprobs``: None where none were asked for or the endpoint gives none.
    - ``finish``: Why the endpoint stopped: ``stop``, ``length``, …
    - ``tokens_in``, ``tokens_out``: Summed over the asks; None where the endpoint does not count.
    - ``seconds``: From sending to the whole reply, summed over the attempts; of the original call where it is cached.
    - ``cost``: Of the original call; None where no price is known.
    - ``cached``: Nothing was sent for it in this run.
    - ``requests``: HTTP requests that were sent for it, in this run or the original one.
    - ``retries``: Those of them that repeat one which failed.
    - ``reasks``: Times that a reply did not fit the schema and was asked for again.
    - ``errors``: One reason per attempt that failed and was retried or given up.
    - ``not_taken``: Parameters that the endpoint refused and that were left out.
    - ``key``: Its key in the cache; empty where it is not for keeping.
    - ``not_kept``: Why the cache could not take it; empty where it did, or nothing was to be kept.
    """

    request: Request
    model: str
    host: str
    served_by: str = ""
    another: bool = False
    text: str = ""
    value: BaseModel | None = None
    unscored: Unscored = ""
    detail: str = ""
    raw: str = ""
    logprobs: tuple[TokenLogprob, ...] | None = None
    finish: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float = 0.0
    cost: float | None = None
    cached: bool = False
    requests: int = 0
    retries: int = 0
    reasks: int = 0
    errors: tuple[str, ...] = ()
    not_taken: tuple[str, ...] = ()
    key: str = ""
    not_kept: str = ""


def as_messages(prompt: str | Sequence[Mapping[str, str]]) -> tuple[Mapping[str, str], ...]:
    """A plain text as one user message; a sequence of messages as a tuple."""
    return ({"role": "user", "content": prompt},) if isinstance(prompt, str) else tuple(prompt)


def text_hash(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=256)
def schema_text(schema: type[BaseModel]) -> str:
    """The JSON schema of a pydantic model as one text; its fields keep their order, in which a model fills them."""
    return json.dumps(schema.model_json_schema(), ensure_ascii=False, separators=(",", ":"))


def _message_faults(messages: tuple[Any, ...]) -> list[str]:
    if not messages:
        return ["it has no messages"]
    faults = []
    for place, message in enumerate(messages):
        if not isinstance(message, Mapping) or message.keys() != {"role", "content"}:
            faults.append(f"message {place}: expected a role and a content, nothing else")
            continue
        if message["role"] not in _ROLES:
            faults.append(f"message {place}: role {message['role']!r} is none of {', '.join(_ROLES)}")
        if not isinstance(message["content"], str):
            faults.append(f"message {place}: its content is {type(message['content']).__name__}, not a text")
        elif _has_lone_surrogate(message["content"]):
            faults.append(f"message {place}: its content holds a lone surrogate, which is not a character")
    return faults


def _has_lone_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _option_faults(request: Request) -> list[str]:
    faults = []
    heat = request.temperature
    if heat is not None and not (isinstance(heat, int | float) and math.isfinite(heat) and 0 <= heat <= 2):
        faults.append(f"temperature is {heat!r}; expected None or 0 to 2")
    if request.max_tokens is not None and not (_is_whole(request.max_tokens) and request.max_tokens >= 1):
        faults.append(f"max_tokens is {request.max_tokens!r}; expected None or a whole number from 1")
    if request.seed is not None and not _is_whole(request.seed):
        faults.append(f"seed is {request.seed!r}; expected None or a whole number")
    if not (_is_whole(request.logprobs) and 0 <= request.logprobs <= MOST_LOGPROBS):
        faults.append(f"logprobs is {request.logprobs!r}; expected 0 to {MOST_LOGPROBS}")
    if not (_is_whole(request.sample) and request.sample >= 0):
        faults.append(f"sample is {request.sample!r}; expected a whole number from 0")
    schema = request.schema
    if schema is not None and not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        faults.append(f"schema is {schema!r}; expected a pydantic model class")
    return faults


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
