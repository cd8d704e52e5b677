"""What is wrong with a text that is no JSON, in words for who wrote it."""

from __future__ import annotations

import json

_SHOWN = 20
_MISSING = {"Expecting ',' delimiter": "a comma", "Expecting ':' delimiter": "a colon"}


def in_words(error: json.JSONDecodeError) -> str:
    """What is wrong, and where.

    Examples
    --------
    >>> def of(text):
    ...     try:
    ...         json.loads(text)
    ...     except json.JSONDecodeError as error:
    ...         return in_words(error)
    >>> of('{"id": 1, "questi'), of('[{"id": 1},')
    ('it ends within a text that begins at character 11: is it cut off, or has the text a line break?', 'it ends before it is complete: is it cut off?')
    >>> of("{'id': 1}"), of('{"id": 1 "n": 2}')
    ("a name needs double quotes at character 2, before 'id': 1}", 'a comma is missing at character 10, before "n": 2}')
    """
    text, at = error.doc, error.pos
    rest = text[at:].lstrip()
    place = f"character {error.colno}" if text.count("\n") == 0 else f"line {error.lineno}, character {error.colno}"
    before = rest.split("\n")[0]
    before = before[:_SHOWN] + "…" * (len(before) > _SHOWN)
    what, lacking = error.msg, _MISSING.get(error.msg)
    if what.startswith("Unterminated string"):
        return f"it ends within a text that begins at {place}: is it cut off, or has the text a line break?"
    if not rest:
        return "it ends before it is complete: is it cut off?"
    if lacking:
        return f"{lacking} is missing at {place}, before {before}"
    if what == "Extra data":
        return f"something follows its end at {place}: {before}"
    if rest[0] in "}]" and text[:at].rstrip().endswith(","):
        return f"a comma too many before {rest[0]} at {place}"
    if "property name" in what:
        return f"a name needs double quotes at {place}, before {before}"
    if what == "Expecting value":
        return f"no value begins so at {place}: {before} (a text has double quotes)"
    if "control character" in what:
        return f"a text has a line break or a control character at {place}; write it as \\n"
    return f"{what} at {place}"
