"""Keys of the environment: which variables hold one, in which forms it may be written, how it is found and taken out.

One list of names and one rule serve parameters that are refused, texts that are redacted and files that are scanned:

- A variable holds a key where its name says so (:data:`NAMES_A_KEY`), or where its value is an address with a user or
  password in it (``postgresql://user:password@host``): there the user and password are the key.  Of several keys in one
  value, of the lines of a private key and of headers (``OPENAI_CUSTOM_HEADERS``) each is one.
- A value of eight characters or more is found anywhere, as it is and as JSON, HTML, a Python literal, a URL or base64
  writes it, and also where only its beginning or end is left: half of it, and at least twelve characters.  Of a long one
  (a JWT) 128 characters from anywhere are enough.
- A shorter one, of at least four, is found as a whole word only.
- Words, names and numbers of less than twelve characters are no keys: ``EMPTY``, ``postgres``, ``created_at``, ``0.95``
  and ``1.0.0`` are values of variables that are named like keys, and appear in honest texts.
- The path of an existing file is not a key: what is in the file may be one.
"""

from __future__ import annotations

import base64
import functools
import html
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote

NAMES_A_KEY = re.compile(
    r"(?:^|_)(?:[a-z]*(?:api_?keys?|passwords?|passwd|passphrase|secrets?|token|credentials?)|keys?|(?:ssh)?pass|pat|jwt|dsn"
    r"|connection_?string|(?<=_)pwd|authorization|auth(?=$)|bearer|cookies?|webhook)(?:_|\d|$)",
    re.IGNORECASE,
)
# A name that goes on like this names something about a key.
_ABOUT_A_KEY = re.compile(
    r"_(?:file|path|dir|name|type|header|prefix|algorithm|column|mode|bands|metric)$", re.IGNORECASE
)
_AUTHORITY = re.compile(r"[^\s/?#]*")
_PORT = re.compile(r"[^:]*:\d*(?:[/?#]|$)")
_LONGEST_ADDRESS = 2000
_HEADERS = re.compile(r"_headers?$", re.IGNORECASE)
_BETWEEN_KEYS = re.compile(r"(?:\\n|[\s,;:=\"'{}])+")
# A word or several: created_at, sk-test, Password; or a number, a date, a version.
_PLAIN = re.compile(r"(?:(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)(?:[_\-. ]|$))+|[\d.,:+\-]+")
_ALWAYS = 8  # characters from which a value is found anywhere
_SHORTEST = 4
_SHORTEST_CUT = 12
_LONGEST_CUT = 128  # of a longer form this much is evidence; the head of a JWT, which is public, is shorter
_BLOCK = 64  # of a form of more than two such pieces each block is looked for: a part from its middle holds one
_SHORTEST_BASE64 = 7
MASK = "[key removed]"


def names_a_key(name: str) -> bool:
    """Whether a variable or parameter of this name holds a key.

    Examples
    --------
    >>> [names_a_key(name) for name in ("OPENAI_API_KEY_BACKUP", "GITHUB_PAT", "max_tokens", "PATH", "KEY_FILE")]
    [True, True, False, False, False]
    """
    return bool(NAMES_A_KEY.search(name)) and not _ABOUT_A_KEY.search(name)


def user_info(text: str) -> str:
    """User and password of the first address in a text that has any; else nothing.

    Examples
    --------
    >>> user_info("see http://me:pa@ss@host/v1"), user_info("http://host:8080/v1#a@b")
    ('me:pa@ss', '')
    """
    at = text.find("://")
    while at >= 0:
        if at and text[at - 1].isalnum():
            found = _before_host(text[at + 3 : at + 3 + _LONGEST_ADDRESS])
            if found:
                return found
        at = text.find("://", at + 3)
    return ""


def _before_host(rest: str) -> str:
    """What is before the last @ of an address; a colon that no port follows may begin a password with a slash in it."""
    authority = _AUTHORITY.match(rest)
    host = authority[0] if authority else ""
    if "@" in host:
        return host.rpartition("@")[0]
    if ":" in host and not _PORT.match(rest):
        return re.split(r"\s", rest, maxsplit=1)[0].rpartition("@")[0]
    return ""


def environment_keys() -> dict[str, str]:
    """Every key of the environment with the name of its variable, longest first."""
    found: dict[str, str] = {}
    for name, raw in os.environ.items():
        value = raw.strip()
        several = [part for part in _BETWEEN_KEYS.split(value) if _is_long_mixture(part)]
        if names_a_key(name) and not (os.path.isabs(value) and os.path.exists(value)):
            for part in (value, *several):
                found.setdefault(part, name)
        elif _HEADERS.search(name):
            for part in several:
                found.setdefault(part, name)
        if info := user_info(value):
            found.setdefault(info, name)
            # "postgres:postgres" is found as a whole; the word alone is in many texts.
            password = info.partition(":")[2]
            for part in (password, unquote(password)):
                found.setdefault(part, name)
    telling = {value: name for value, name in found.items() if _is_telling(value)}
    return dict(sorted(telling.items(), key=lambda pair: (-len(pair[0]), pair[0])))


def _is_telling(value: str) -> bool:
    """Whether a value is no word, name or number that honest texts hold too."""
    return len(value) >= _SHORTEST_CUT or (len(value) >= _SHORTEST and not _PLAIN.fullmatch(value))


def _is_long_mixture(part: str) -> bool:
    return len(part) >= _SHORTEST_CUT and any(map(str.isdigit, part)) and any(map(str.isalpha, part))


class _Needle(NamedTuple):
    """A form of a key, and the part of it that is evidence; ``word`` if it must be a word of its own."""

    form: str
    at: int
    length: int
    word: bool


@functools.lru_cache(maxsize=64)
def _needles(value: str) -> tuple[_Needle, ...]:
    if len(value) < _ALWAYS:
        return (
            *(_Needle(form, 0, len(form), True) for form in _forms(value)),
            *(_Needle(form, 0, len(form), False) for form in _in_base64(value)),
        )
    return tuple(needle for form in (*_forms(value), *_in_base64(value)) for needle in _parts(form))


def _parts(form: str) -> Iterator[_Needle]:
    """What is looked for: beginning, end, and of a long form the blocks between them."""
    least = _least(form)
    yield _Needle(form, 0, least, False)
    if least < len(form):
        yield _Needle(form, len(form) - least, least, False)
    if len(form) > 2 * _LONGEST_CUT:
        for at in range(_BLOCK, len(form) - _BLOCK + 1, _BLOCK):
            yield _Needle(form, at, _BLOCK, False)


def _least(form: str) -> int:
    return min(len(form), max(_SHORTEST_CUT, min(_LONGEST_CUT, -(-len(form) // 2))))


def _forms(value: str) -> list[str]:
    """A value as texts write it: plain, as JSON (also within JSON), as HTML, as a Python literal, in a URL."""
    in_json = [json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (False, True)]
    in_html = [html.escape(value, quote=False), html.escape(value), html.escape(value).replace("&#x27;", "&#39;")]
    # Bytes of the environment that are not UTF-8 are surrogates here.
    in_url = [quote(value, safe, errors="surrogateescape") for safe in ("", "/")]
    in_url.append(quote_plus(value, errors="surrogateescape"))
    lower = [re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), form) for form in in_url]
    twice = [json.dumps(form, ensure_ascii=False)[1:-1] for form in (*in_json, *in_html)]
    return list(dict.fromkeys([value, *in_json, *in_html, repr(value)[1:-1], *twice, *in_url, *lower]))


def _in_base64(value: str) -> list[str]:
    """What of a value's base64 does not depend on what is around it: three alignments, two alphabets."""
    forms = []
    for before in range(3):
        content = b"\0" * before + value.encode("utf-8", "surrogateescape")
        own = base64.b64encode(content).decode()[-(-before * 8 // 6) : len(content) * 8 // 6]
        forms += [own, own.replace("+", "-").replace("/", "_")]
    return [form for form in dict.fromkeys(forms) if len(form) >= _SHORTEST_BASE64]


def _spans(text: str, needle: _Needle) -> Iterator[tuple[int, int]]:
    """Where a part of a form is, with as much of the form as is around it."""
    form, part = needle.form, needle.form[needle.at : needle.at + needle.length]
    found = text.find(part)
    while found >= 0:
        start, end = found, found + needle.length
        first, last = needle.at, needle.at + needle.length
        while start > 0 and first > 0 and text[start - 1] == form[first - 1]:
            start, first = start - 1, first - 1
        while end < len(text) and last < len(form) and text[end] == form[last]:
            end, last = end + 1, last + 1
        if not needle.word or not (_in_word(text, start - 1) or _in_word(text, end)):
            yield start, end
        found = text.find(part, end)


def _in_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def holds(text: str, value: str) -> bool:
    """Whether a key is in a text, in any of its forms.

    Examples
    --------
    >>> holds("Basic aHVudGVyMi1odW50ZXIy", "hunter2-hunter2"), holds("hunter", "hunter2-hunter2")
    (True, False)
    """
    return any(True for needle in _needles(value) for _ in _spans(text, needle))


def redactor(*more: str) -> Callable[[str], str]:
    """A function that replaces every key of the environment, and ``more`` ones, in a text, whatever form it has there.

    The environment is read once, when the function is made.

    Examples
    --------
    >>> redactor("hunter2-hunter2")("your key hunter2-hunter2 is wrong")
    'your key [key removed] is wrong'
    """
    keys = dict.fromkeys([*environment_keys(), *filter(_is_telling, more)])
    needles = list(dict.fromkeys(needle for key in keys for needle in _needles(key)))
    shortest = min((needle.length for needle in needles), default=0)

    def redact(text: str) -> str:
        if len(text) < shortest:  # most tokens of a reply with log-probabilities
            return text
        spans = sorted(span for needle in needles for span in _spans(text, needle))
        if not spans:
            return text
        parts: list[str] = []
        done = 0
        for start, end in spans:
            if start > done or not parts:
                parts += [text[done:start], MASK]
            done = max(done, end)
        return "".join([*parts, text[done:]])

    return redact


def redacted(content: Any, redact: Callable[[str], str]) -> Any:
    """A JSON value with every text and every name in it redacted."""
    if isinstance(content, str):
        return redact(content)
    if isinstance(content, dict):
        return {redact(str(name)): redacted(value, redact) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [redacted(value, redact) for value in content]
    return content


def printable(text: str) -> str:
    """Without characters that steer a terminal or turn the direction of writing: each becomes a blank.

    Examples
    --------
    >>> printable("red \x1b[31m text")
    'red  [31m text'
    """
    return "".join(character if character.isprintable() else " " for character in text)
