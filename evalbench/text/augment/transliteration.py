"""Russian in Latin letters and back, by schemes with names."""

from __future__ import annotations

import itertools
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

import regex

from evalbench.errors import BadInput

_CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"


class Scheme(NamedTuple):
    """A transliteration: the Latin letters of а … я, and what makes it that one."""

    latin: str
    source: str
    all_capitals: bool = False  # Ж is ZH, not Zh
    short_c: bool = False  # ц is c before e, i, y, j


SCHEMES = {
    "ala-lc": Scheme(
        "a b v g d e io zh z i i k l m n o p r s t u f kh ts ch sh shch ' y ' e iu ia",
        "ALA-LC 1997 without diacritics, ъ and ь as one apostrophe and ё as io; as Unidecode writes it",
    ),
    "iso-9": Scheme(
        "a b v g d e ë ž z i j k l m n o p r s t u f h c č š ŝ ʺ y ʹ è û â",
        "ISO 9:1995, which is GOST 7.79-2000 system A: a letter for a letter",
    ),
    "gost-7.79-b": Scheme(
        "a b v g d e yo zh z i j k l m n o p r s t u f x cz ch sh shh `` y` ` e` yu ya",
        "GOST 7.79-2000 system B",
        short_c=True,
    ),
    "cyrtranslit": Scheme(
        "a b v g d e yo zh z i j k l m n o p r s t u f h cz ch sh shh '' y' ' e' yu ya",
        "GOST 7.79-2000 system B with apostrophes, h for х and cz for every ц; as the package cyrtranslit writes it",
        all_capitals=True,
    ),
    "transliterate": Scheme(
        "a b v g d e e zh z i j k l m n o p r s t u f h ts ch sh sch ' y ' e ju ja",
        "the Russian table of the package transliterate",
    ),
}
"""The schemes by name."""
INVERTIBLE = ("iso-9",)
"""What :func:`to_cyrillic` gives back exactly: texts without Latin letters; of a word with Ъ or Ь in it all letters are capital, or none but the first."""
_REMEMBERED = 1 << 16  # words
_ONLY_FIRST_CAPITAL = "юя"  # in all schemes
# What no scheme uses, for words that were never Russian.
_FOREIGN = {"w": "в", "q": "к", "x": "кс", "h": "х", "c": "к", "j": "й", "y": "й"}
_CYRILLIC_RUN = regex.compile(r"(?:[а-яёА-ЯЁ]\p{M}*)+")
_HAS_CYRILLIC, _HAS_LATIN = regex.compile(r"\p{Cyrillic}"), regex.compile(r"\p{Latin}")


def to_latin(text: str, scheme: str = "ala-lc") -> str:
    """Russian letters written in Latin ones; all other characters stay.

    - ``scheme``: ``ala-lc``, ``iso-9``, ``gost-7.79-b``, ``cyrtranslit`` or ``transliterate``; :data:`SCHEMES` says
      what each is.

    Raises ``BadInput`` for an unknown scheme.

    References
    ----------
    ISO 9:1995, table 1; GOST 7.79-2000, tables 1 and 2; ALA-LC Romanization Tables 1997, Russian.

    Examples
    --------
    >>> to_latin("Съешь щи, Юля"), to_latin("Съешь щи, Юля", "iso-9")
    ("S'esh' shchi, Iulia", 'Sʺešʹ ŝi, Ûlâ')
    """
    _known(scheme)
    return str(_CYRILLIC_RUN.sub(lambda found: _spelled(found[0], scheme), text))


def to_cyrillic(text: str, scheme: str = "ala-lc") -> str:
    """Latin letters written in Russian ones, by the same scheme the other way.

    Of letters that belong together the longest are taken first, and what no Russian letter becomes (``w``) goes by its sound,
    so that any Latin text is written in Cyrillic, letter by letter.  Letters with diacritics that the scheme does not have stay.

    - ``scheme``: As for :func:`to_latin`.

    Returns: By ``iso-9`` what :func:`to_latin` was given, if that had no Latin letters (of a word of mixed case the
    case of Ъ and Ь is lost).

    Raises ``BadInput`` for an unknown scheme.

    Examples
    --------
    >>> to_cyrillic("slovo"), to_cyrillic("Sʺešʹ ŝi, Ûlâ", "iso-9"), to_cyrillic("window")
    ('слово', 'Съешь щи, Юля', 'виндов')
    """
    return str(_latin_run(scheme).sub(lambda found: _written(found[0], scheme), text))


def words_of(text: str, scheme: str, language: str) -> list[tuple[int, ...]]:
    """Where the words are that are written in the other script."""
    to_which = _direction(text, language)
    if to_which is None:
        return []
    pattern = _CYRILLIC_RUN if to_which == "latin" else _latin_run(scheme)
    return [match.span() for match in pattern.finditer(text)]


def in_other_script(word: str, scheme: str) -> str:
    """A word that :func:`words_of` found."""
    return _spelled(word, scheme) if _CYRILLIC_RUN.match(word) else _written(word, scheme)


def check_scheme(scheme: str) -> list[str]:
    """Faults of a scheme's name."""
    return [] if scheme in SCHEMES else [f"scheme: {scheme!r} is not one of {', '.join(SCHEMES)}"]


def _direction(text: str, language: str) -> str | None:
    """Russian goes to Latin letters, English to Cyrillic ones; any other text from the script that more of its letters have."""
    if language in ("ru", "en"):
        return "latin" if language == "ru" else "cyrillic"
    cyrillic, latin = (len(pattern.findall(text)) for pattern in (_HAS_CYRILLIC, _HAS_LATIN))
    return None if not cyrillic and not latin else "latin" if cyrillic >= latin else "cyrillic"


def _known(scheme: str) -> Scheme:
    if faults := check_scheme(scheme):
        raise BadInput(faults[0])
    return SCHEMES[scheme]


@cache
def _forwards(scheme: str) -> dict[str, str]:
    known = _known(scheme)
    table = dict(zip(_CYRILLIC, known.latin.split(), strict=True))
    for letter, latin in list(table.items()):
        upper = known.all_capitals and letter not in _ONLY_FIRST_CAPITAL
        table[letter.upper()] = latin.upper() if upper else latin[:1].upper() + latin[1:]
    return table


@lru_cache(maxsize=_REMEMBERED)
def _spelled(word: str, scheme: str) -> str:
    table = _forwards(scheme)
    latin = [table.get(letter, letter) for letter in unicodedata.normalize("NFC", word)]
    if SCHEMES[scheme].short_c:
        for i, (here, behind) in enumerate(itertools.pairwise(latin)):
            if here in ("cz", "Cz") and behind[:1].lower() in ("e", "i", "y", "j"):
                latin[i] = here[0]
    return "".join(latin)


@cache
def _backwards(scheme: str) -> dict[str, str]:
    """Latin letters in lower case, the longest first; of two Russian letters the more frequent one."""
    known = _known(scheme)
    table = {**_FOREIGN, **({"c": "ц"} if known.short_c else {})}
    for letter, latin in zip(_CYRILLIC, known.latin.split(), strict=True):
        if latin != "io" and (letter not in "ёйъэ" or latin not in table):
            table[latin] = letter
    return dict(sorted(table.items(), key=lambda pair: -len(pair[0])))


@cache
def _latin_run(scheme: str) -> regex.Pattern[str]:
    letters = "".join(
        sorted({c for key in _backwards(scheme) for c in key if c.isalpha()} | set("abcdefghijklmnopqrstuvwxyz"))
    )
    signs = "".join(sorted({c for key in _backwards(scheme) for c in key if not c.isalpha()}))
    behind = f"[{regex.escape(signs)}]*" if signs else ""
    # A letter that a mark is added to is another letter; a sign belongs to the letter before it.
    letter = rf"[{letters}{letters.upper()}](?!\p{{M}})"
    return regex.compile(rf"(?:{letter}{behind})+")


@lru_cache(maxsize=_REMEMBERED)
def _written(word: str, scheme: str) -> str:
    table = _backwards(scheme)
    out, at, low = [], 0, word.lower()
    cased = [c for c in word if c.lower() != c.upper()]
    all_capitals = len(cased) > 1 and all(map(str.isupper, cased))
    while at < len(word):
        size = next((n for n in (4, 3, 2, 1) if low[at : at + n] in table), 0)
        if not size:
            out.append(word[at])
            at += 1
            continue
        letter, latin = table[low[at : at + size]], word[at : at + size]
        # A sign has no case of its own.
        capital = latin[0].isupper() if latin[0] in cased else all_capitals
        out.append(letter[0].upper() + letter[1:] if capital else letter)
        at += size
    return "".join(out)
