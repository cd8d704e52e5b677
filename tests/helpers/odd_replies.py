"""Replies that a generator breaks: a chat completion, or an error, mutated within its structure; for tests."""

from __future__ import annotations

import copy
import gzip
import json
import random
from typing import Any, NamedTuple

WHOLE: dict[str, Any] = {
    "id": "x",
    "object": "chat.completion",
    "created": 0,
    "model": "tiny",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "fine"},
            "logprobs": {
                "content": [{"token": "fine", "logprob": -0.5, "top_logprobs": [{"token": "fine", "logprob": -0.5}]}]
            },
        }
    ],
    "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
}
VECTORS: dict[str, Any] = {
    "object": "list",
    "data": [{"object": "embedding", "index": i, "embedding": [3.0, 4.0]} for i in range(2)],
    "model": "tiny",
    "usage": {"prompt_tokens": 9, "total_tokens": 9},
}
ERROR: dict[str, Any] = {"error": {"message": "no", "code": "x", "type": "y", "param": "seed"}}
_VALUES: list[Any] = [
    None, True, False, 0, -1, 10**400, -(10**400), 2**63, 0.1, 1e308, float("nan"), float("inf"), float("-inf"),
    "", " ", "\x00", "\ud83d", "\u202e", "stop", "length", "tool_calls", "x" * 100_000, "<think>", "</think>", "<think>a",
    [], {}, [None], [[]], [{}], {"": None}, {"message": 1}, {"content": ["fine"]}, [{"type": "text", "text": "fine"}],
]  # fmt: skip
_STATUSES = (200, 200, 200, 200, 200, 200, 201, 202, 204, 206, 400, 402, 403, 405, 408, 409, 413, 418, 422, 429,
             451, 500, 501, 502, 503, 504, 529, 599, 600, 999)  # fmt: skip
_HEADERS: list[tuple[str, str]] = [
    *(("Content-Type", f"application/json; charset={c}") for c in (
        "rot13", "zlib_codec", "idna", "undefined", "utf-7", "utf-16", "hex", "base64", "bz2", "punycode", "mbcs",
        "unicode_escape", "raw_unicode_escape", "\x7f", '"', "", "a;b=c",
    )),
    ("Content-Type", ""), ("Content-Type", "\xff\xfe"), ("Content-Type", "multipart/mixed; boundary=;;"),
    *(("Retry-After", w) for w in (
        "Fri, 31 Dec 10000 23:59:59 GMT", "Fri, 99 Foo 2020 99:99:99 GMT", "Thu, 01 Jan 1970 00:00:00 +9999999999999",
        "-1", "nan", "inf", "1e400", "9" * 500, "", "0", "\xff", "Mon, 31 Dec 99999999999999999999 1:1:1",
    )),
    *(("retry-after-ms", w) for w in ("nan", "-5", "x", "0", "9" * 500)),
    *(("Content-Encoding", w) for w in ("gzip", "deflate", "br", "zstd", "identity", "gzip, gzip", "\xff", "", "rot13")),
    *(("Set-Cookie", w) for w in ("a=b; expires=Fri, 31 Dec 10000 23:59:59 GMT", "=;;;", "\xff", "a=b; max-age=" + "9" * 400)),
    ("Location", "http://[::1"), ("x-request-id", "\xff"), ("Link", "<>;" * 1000), ("Content-Language", "\x01"),
]  # fmt: skip


class Odd(NamedTuple):
    """A reply as it goes over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes


def odd_reply(number: int, whole: dict[str, Any] = WHOLE) -> Odd:
    """The reply of this number to ``whole``'s question: one to four mutations of its body, sometimes of its bytes, headers and status."""
    draw = random.Random(f"odd reply {number}")
    status = draw.choice(_STATUSES)
    content: Any = copy.deepcopy(whole if status < 300 or draw.random() < 0.2 else ERROR)
    for _ in range(draw.randint(1, 4)):
        content = _mutated(content, draw)
    body = json.dumps(content).encode()
    if draw.random() < 0.35:
        body = _damaged(body, draw)
    headers = dict(draw.sample(_HEADERS, draw.choice((0, 0, 1, 1, 2, 3))))
    if draw.random() < 0.5 and headers.get("Content-Encoding") == "gzip":
        body = gzip.compress(body)
    return Odd(status, headers, body)


def _places(node: Any) -> list[tuple[Any, Any]]:
    """Every container and key of a value."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    return [(node, key) for key in keys] + [place for key in keys for place in _places(node[key])]


def _mutated(content: Any, draw: random.Random) -> Any:
    places = _places(content)
    if not places or draw.random() < 0.03:
        return copy.deepcopy(draw.choice(_VALUES))
    node, key = draw.choice(places)
    how = draw.choice(("set", "set", "set", "remove", "wrap", "repeat", "deepen", "add"))
    if how == "set":
        node[key] = copy.deepcopy(draw.choice(_VALUES))
    elif how == "remove":
        del node[key]
    elif how == "wrap":
        node[key] = [node[key]]
    elif how == "repeat":
        node[key] = [copy.deepcopy(node[key]) for _ in range(3)]
    elif how == "deepen":
        for _ in range(200):
            node[key] = {"a": node[key]}
    elif isinstance(node, dict):
        name = draw.choice(("tool_calls", "function_call", "refusal", "reasoning_content", "error", "content", "é"))
        node[name] = copy.deepcopy(draw.choice(_VALUES))
    return content


def _damaged(body: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(body) + 1)
    return draw.choice(
        (
            body[:at],
            body[:at] + bytes(draw.randrange(256) for _ in range(8)) + body[at:],
            b"\xef\xbb\xbf" + body,
            body.decode().encode("utf-16"),
            body.decode().encode("utf-32"),
            b"[" * 100_000,
            b'{"a":' * 100_000,
            b"9" * 10_000,
            b"data: " + body + b"\n\n",
            body + body,
            b"",
            b"\x00",
            b"<html>" + body,
        )
    )
