"""Stop-words by ISO language code, never at the price of the answer."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from evalbench.errors import BadInput

# Leaving these out would make opposite answers equal: 'not guilty' and 'guilty', 'above 5' and 'below 5'.
_KEPT = json.loads(Path(__file__).with_name("meaningful_words.json").read_text("utf-8"))
NEGATIONS = frozenset(" ".join(_KEPT["negations"]).split())
OPPOSITES = frozenset(" ".join(_KEPT["opposites"]).split())
_NUMERAL = re.compile(
    r"\d+|одн?[аоиу]?н?|одного|одной|дв[ае]|двух|три|четыре|пять|шесть|семь|восемь|девять|десять|\w+надцать|\w+дцать"
    r"|первый|второй|третий|четвертый|\w*[сш]естой|пятый|седьмой|восьмой|девятый|\w+надцатый|\w+дцатый|тысяч|миллионов"
    r"|one|two|three|first|second|[一二三四五六七八九十两半几]"
)


@cache
def stop_words(language: str) -> frozenset[str]:
    """The stop-words of a language.

    - ``language``: ISO 639-1 code, e.g. ``"en"``, ``"ru"``, ``"zh"``; ``""`` for none.

    Returns: Lower-cased. The list of the package ``stopwords`` without negations, numerals, and words whose loss would
    make opposite answers equal (above and below, before and after, больше and меньше, 上 and 下).

    Raises ``BadInput`` for a language without a list; the message names those that have one.

    Examples
    --------
    >>> "the" in stop_words("en"), "not" in stop_words("en"), "isn't" in stop_words("en")
    (True, False, False)
    """
    if not language:
        return frozenset()
    from stopwords import LANGUAGE_MAPPING, get_stopwords

    if language not in LANGUAGE_MAPPING:
        raise BadInput(f"no stop-words for language {language!r}; there are {', '.join(sorted(LANGUAGE_MAPPING))}")
    listed = (word.strip().lower() for word in get_stopwords(language))
    return frozenset(word for word in listed if word and not _carries_meaning(word))


def _carries_meaning(word: str) -> bool:
    contracted = word.replace("’", "'").endswith("n't")
    return word in NEGATIONS or word in OPPOSITES or contracted or bool(_NUMERAL.fullmatch(word))
