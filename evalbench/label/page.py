"""The page of an annotator: one file that opens from disk, asks nothing of any server and shows no model's name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from evalbench.draw.hidden import marked
from evalbench.draw.html import Html, character_name, css, language
from evalbench.errors import BadInput
from evalbench.judge.criteria import Criterion
from evalbench.label.items import TEXTS, Items

LANGUAGES = ("en", "ru", "zh")
_SCRIPTS = ("state.js", "view.js", "main.js")
_BREAK = "\x00"  # always marked, so no text holds it
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def page_and_key(
    items: Items,
    criterion: Criterion,
    *,
    side_by_side: bool = False,
    language: str = "en",
    title: str = "",
    instructions: str = "",
    send_to: str = "",
    seed: int = 0,
) -> tuple[str, dict[str, Any]]:
    """The page as HTML, and its key, which stays with the sender.

    - ``side_by_side``: Whether each item has two answers.
    - ``language`` ({"en", "ru", "zh"}): Of the buttons when the page opens; the page can change it.
    - ``title``: Of the page; by default the criterion's name.
    - ``instructions``: Shown before the first item.
    - ``send_to``: To whom the saved file goes, in words for the last screen.
    - ``seed``: That gave the items their order and sides; into the key.

    Returns: The key: ``page`` (a digest of what is shown, which each saved label carries), ``criterion``, ``mode``,
    ``marks``, ``seed``, and under ``items`` for each id of the page the row that it came from.

    Raises ``BadInput`` for another language.
    """
    if language not in LANGUAGES:
        raise BadInput(f"the page has buttons in {', '.join(LANGUAGES)}; not in {language!r}")
    mode = "pairs" if side_by_side else "single"
    shown = {
        "mode": mode,
        "criterion": _criterion(criterion),
        "items": [
            {
                "id": item.id,
                "texts": [[name, _text(item.texts[name])] for name in TEXTS if name in item.texts],
                "answers": [_text(answer) for answer in item.answers],
            }
            for item in items.items
        ],
    }
    digest = hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:16]
    data = {
        "format": 1,
        "page": digest,
        **shown,
        "language": language,
        "sendTo": send_to,
        "instructions": pieces(instructions) if instructions.strip() else [],
    }
    key = {
        "format": 1,
        "page": digest,
        "criterion": criterion.name,
        "mode": mode,
        "marks": list(criterion.scale),
        "seed": seed,
        "items": {item.id: dict(item.key) for item in items.items},
    }
    return _html(data, title or criterion.name, language), key


def pieces(text: str) -> list[str]:
    r"""A text in pieces: plain ones at even places, between them the names of characters that hide, reorder or steer.

    Examples
    --------
    >>> pieces("abc\u202edef")
    ['abc', 'RLO', 'def']
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return marked(plain, lambda character: f"{_BREAK}{character_name(character)}{_BREAK}").split(_BREAK)


def in_script(value: Any) -> Html:
    r"""JSON that may be within a ``script`` element, whatever its texts hold.

    Examples
    --------
    >>> in_script({"a": "</script>"})
    '{"a":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Html(text.translate(_IN_SCRIPT))


def _text(text: str) -> dict[str, Any]:
    return {"pieces": pieces(text), "lang": language(text), "chars": len(text)}


def _criterion(criterion: Criterion) -> dict[str, Any]:
    return {
        "name": criterion.name,
        "definition": criterion.definition,
        "lang": language(criterion.definition) or "en",
        "scale": [[mark, when] for mark, when in criterion.scale.items()],
        "examples": [
            {"mark": example.mark, "text": pieces(example.text), "reason": example.reason}
            for example in criterion.examples
        ],
    }


def _html(data: Mapping[str, Any], title: str, code: str) -> str:
    from evalbench.report.page import environment, policy

    script = '(() => {\n"use strict";\n' + "".join(_asset(name) for name in _SCRIPTS) + "})();"
    template = environment().from_string(_asset("label.html.jinja"))
    return str(
        template.render(
            language=code,
            title=title,
            policy=policy(script),
            style=Html(css() + _asset("label.css")),
            data=in_script(data),
            words=in_script(json.loads(_asset("words.json"))),
            script=Html(script),
        )
    )


def _asset(name: str) -> str:
    return resources.files("evalbench.label.templates").joinpath(name).read_text(encoding="utf-8")
