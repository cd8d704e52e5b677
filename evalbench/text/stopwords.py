"""Stop-words by ISO language code, never at the price of the answer."""

from __future__ import annotations

import re
from functools import cache

from evalbench.errors import BadInput

# Leaving these out would make opposite answers equal: 'not guilty' and 'guilty', 'above 5' and 'below 5'.
NEGATIONS = frozenset(
    [
        "no",
        "not",
        "nor",
        "none",
        "never",
        "neither",
        "nobody",
        "nothing",
        "nowhere",
        "without",
        "cannot",
        "не",
        "нет",
        "ни",
        "нельзя",
        "никогда",
        "никто",
        "ничто",
        "ничего",
        "никуда",
        "нигде",
        "без",
        "ні",
        "немає",
        "не",
        "不",
        "没",
        "無",
        "无",
        "未",
        "非",
        "别",
        "勿",
        "莫",
        "否",
        "ない",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "nie",
        "niemals",
        "ohne",
        "non",
        "pas",
        "ne",
        "jamais",
        "sans",
        "rien",
        "aucun",
        "nunca",
        "jamás",
        "sin",
        "nada",
        "não",
        "nem",
        "sem",
        "mai",
        "senza",
        "niente",
        "geen",
        "niet",
        "nie",
        "nigdy",
        "bez",
        "ni",
        "لا",
        "لم",
        "لن",
        "ليس",
        "غير",
        "नहीं",
        "न",
        "मत",
        "नही",
        "ikke",
        "inte",
        "ej",
        "yok",
        "değil",
        "ei",
        "tidak",
        "bukan",
    ]
)
OPPOSITES = frozenset(
    [
        "above",
        "below",
        "before",
        "after",
        "up",
        "down",
        "in",
        "out",
        "on",
        "off",
        "over",
        "under",
        "more",
        "less",
        "most",
        "few",
        "all",
        "any",
        "each",
        "both",
        "same",
        "other",
        "own",
        "only",
        "until",
        "once",
        "больше",
        "меньше",
        "более",
        "менее",
        "выше",
        "ниже",
        "вверх",
        "вниз",
        "вверху",
        "внизу",
        "наверху",
        "до",
        "после",
        "раньше",
        "позже",
        "лучше",
        "хорошо",
        "можно",
        "много",
        "мало",
        "немного",
        "несколько",
        "все",
        "всё",
        "всего",
        "всегда",
        "никогда",
        "иногда",
        "часто",
        "редко",
        "нередко",
        "да",
        "над",
        "под",
        "перед",
        "за",
        "против",
        "рядом",
        "близко",
        "далеко",
        "недалеко",
        "высоко",
        "низко",
        "давно",
        "недавно",
        "рано",
        "сначала",
        "потом",
        "год",
        "день",
        "раз",
        "上",
        "下",
        "前",
        "后",
        "大",
        "小",
        "有",
        "去",
        "来",
        "再",
        "最",
        "好",
        "每",
        "各",
        "同",
        "比",
        "从",
        "到",
        "起",
        "至",
    ]
)
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


def stop_word_languages() -> tuple[str, ...]:
    """ISO codes of the languages that have a list."""
    from stopwords import LANGUAGE_MAPPING

    return tuple(sorted(LANGUAGE_MAPPING))


def _carries_meaning(word: str) -> bool:
    contracted = word.replace("’", "'").endswith("n't")
    return word in NEGATIONS or word in OPPOSITES or contracted or bool(_NUMERAL.fullmatch(word))


def detect_language(text: str) -> str:
    """The language whose stop-words cover most of a text's words.

    Returns: ISO 639-1 code; ``""`` where no language covers at least a tenth of the words, or two cover equally many.

    Examples
    --------
    >>> detect_language("Кот сидит на окне, и он не хочет есть"), detect_language("12 34")
    ('ru', '')
    """
    from evalbench.text.words import words

    tokens = words(text, lower=True)
    covered = sorted(
        ((sum(token in _raw_words(code) for token in tokens), code) for code in stop_word_languages()), reverse=True
    )
    (first, language), (second, _) = covered[:2]
    return language if first > second and first >= 0.1 * len(tokens) else ""


@cache
def _raw_words(language: str) -> frozenset[str]:
    from stopwords import get_stopwords

    return frozenset(word.strip().lower() for word in get_stopwords(language))
