"""How many tokens a text has, estimated without a tokenizer."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalbench.models.endpoint import Model
from evalbench.models.exchange import Request, schema_text

HOW = (
    "Prompt tokens are estimated from words, digits, marks and scripts of the text: about ±10 % for English, roughly for other "
    "languages, whose tokens differ more between models."
)
# Tokens per: word of Latin letters, letter beyond its sixth, word of another alphabet, letter of one, ideograph, run of
# marks, mark, digit, line ends.  The first row is fitted to SmolLM2's tokenizer (49,152 tokens, mostly English), which
# scripts/token_estimate.py prints.  The second is set by hand for the larger vocabularies of endpoints, which hold whole
# words and numbers of many languages.
_SMALL = (0.95, 0.502, 0.61, 0.775, 1.656, 0.772, 0.245, 1.12, 1.584)
_LARGE = (0.961, 0.3, 0.6, 0.27, 0.8, 0.682, 0.285, 0.5, 0.9)
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_LETTERS = re.compile(r"[\u0370-\u1fff]+")
_IDEOGRAPHS = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uffdc]|[\U00020000-\U0003ffff]")
_MARKS = re.compile(r"[^\w\s]+")
_DIGIT = re.compile(r"\d")
_LINES = re.compile(r"\n+")
_PER_MESSAGE, _PER_REQUEST = 5, 3
_OWN_SYSTEM = 20  # the system message that a local model's template adds where there is none


def estimated(text: str, *, small: bool = False) -> int:
    """Tokens of a text.

    - ``small``: For a small, mostly English vocabulary, as local models have.

    Examples
    --------
    >>> estimated("What is the capital of France?", small=True)
    7
    """
    weights = _SMALL if small else _LARGE
    return round(sum(n * w for n, w in zip(counted(text), weights, strict=True)))


def counted(text: str) -> tuple[int, ...]:
    """What the estimate counts, in the order of its weights.

    Examples
    --------
    >>> counted("Ready at 12, Екатерина!")
    (2, 0, 1, 9, 0, 2, 2, 2, 0)
    """
    latin, letters, marks = _LATIN.findall(text), _LETTERS.findall(text), _MARKS.findall(text)
    return (
        len(latin),
        sum(len(word) - 6 for word in latin if len(word) > 6),
        len(letters),
        sum(map(len, letters)),
        0 if text.isascii() else len(_IDEOGRAPHS.findall(text)),
        len(marks),
        sum(map(len, marks)),
        len(_DIGIT.findall(text)),
        len(_LINES.findall(text)),
    )


def of_request(request: Request, target: Model) -> int:
    """Tokens of a prompt with what the chat's form adds to it."""
    small = target.provider == "local"
    messages: list[Mapping[str, str]] = list(request.messages)
    tokens = sum(estimated(m["content"], small=small) + _PER_MESSAGE for m in messages) + _PER_REQUEST
    if small:
        return tokens + (0 if any(m["role"] == "system" for m in messages) else _OWN_SYSTEM)
    return tokens + (estimated(schema_text(request.schema)) if request.schema else 0)


LONGEST_REPLY = 4096


def longest_reply(request: Request, target: Model, tokens_in: int) -> int:
    """The most tokens that one reply can have: ``max_tokens``, else what the context leaves, else :data:`LONGEST_REPLY`."""
    room = None if target.context is None else max(target.context - tokens_in, 1)
    stated = request.max_tokens
    return min(n for n in (stated, room) if n is not None) if (stated or room) else LONGEST_REPLY
