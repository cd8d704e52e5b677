"""Texts as a hurried or careless person would have written them: seeded changes, each with a log of its edits.

``butter_finger``, ``word_swap``, ``human_level``, ``special_token`` and ``transliterate`` need no model; paraphrases and
translations are written by one (:mod:`evalbench.kit.rephrasing`).

What an item becomes depends on its text, its id, the seed and the rate alone, never on the other items or their order.
Nothing is put between a letter and its marks; emoji and punctuation stay as they are.

Other languages than English and Russian: ``butter_finger`` and ``human_level`` swap a letter that neither keyboard has with
the letter behind it; words are those of :func:`evalbench.text.words.words`, in scripts without spaces single characters, of
which ``special_token`` takes a whole run for a word; ``transliterate`` writes Russian letters in Latin ones and basic Latin
letters in Russian ones, and leaves all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core import seeds
from evalbench.errors import BadInput
from evalbench.text.augment.characters import butter_finger, human_level
from evalbench.text.augment.edits import KINDS, Edit, Edits, Variant, Variants, together
from evalbench.text.augment.places import PROTECTED, check_protect, protected_spans
from evalbench.text.augment.transliteration import (
    SCHEMES,
    check_scheme,
    in_other_script,
    to_cyrillic,
    to_latin,
    words_of,
)
from evalbench.text.augment.word_level import chosen, special_token, word_swap

__all__ = [
    "AUGMENTATIONS",
    "KINDS",
    "PROTECTED",
    "SCHEMES",
    "Augmentation",
    "Edit",
    "Edits",
    "Variant",
    "Variants",
    "augment",
    "augmented",
    "check_options",
    "check_protect",
    "protected_spans",
    "to_cyrillic",
    "to_latin",
]

_AT_ONCE = 20_000
_Keys = npt.NDArray[np.uint64]


class Augmentation(NamedTuple):
    """One way to change a text.

    - ``level``: ``characters`` or ``words``: which of the two tests of stability it belongs to.
    - ``title``: What it does, in words.
    - ``of``: What its rate is a share of.
    - ``rate``: The rate unless another is given.
    """

    level: str
    title: str
    of: str
    rate: float


AUGMENTATIONS = {
    "butter_finger": Augmentation("characters", "letters of neighbouring keys", "letters", 0.1),
    "word_swap": Augmentation("characters", "neighbouring words swapped", "pairs of neighbouring words", 0.2),
    "human_level": Augmentation("characters", "a few slips of many kinds", "letters and blanks", 0.05),
    "special_token": Augmentation("words", "letters of a word separated by hyphens", "words", 0.3),
    "transliterate": Augmentation("words", "words in the other script", "words", 1.0),
}
"""Those that need no model, by name."""
_COLUMNS: dict[str, Callable[[Sequence[str], _Keys, float, Sequence[str]], Variants]] = {
    "butter_finger": butter_finger,
    "word_swap": word_swap,
    "human_level": human_level,
    "special_token": special_token,
}


def augment(
    text: str,
    name: str,
    *,
    seed: int = 0,
    item: str = "",
    rate: float | None = None,
    language: str = "",
    protect: Sequence[str] = (),
    scheme: str = "ala-lc",
) -> Variant:
    """One text changed; see :func:`augmented`, which gives the same for a column.

    - ``item``: The item's id.

    Returns: The text and its edits, from left to right.

    Examples
    --------
    >>> augment("Как дела в 2024-м?", "transliterate", language="ru", protect=["numbers"]).text
    'Kak dela v 2024-м?'
    >>> augment("слово", "special_token", rate=1.0)
    Variant(text='с-л-о-в-о', edits=(Edit(start=0, end=5, new_start=0, new_end=9, kind='letters separated'),))
    """
    options = {"seed": seed, "rate": rate, "protect": protect, "scheme": scheme}
    found = augmented([text], name, ids=[item], languages=[language], **options)  # type: ignore[arg-type]
    return Variant(found.texts[0], found.edits.of(0))


def augmented(
    texts: Sequence[str],
    name: str,
    *,
    ids: Iterable[str],
    seed: int = 0,
    rate: float | None = None,
    languages: Iterable[str] | None = None,
    protect: Sequence[str] = (),
    scheme: str = "ala-lc",
) -> Variants:
    """A column of texts changed.

    - ``name``: One of :data:`AUGMENTATIONS`.
    - ``ids``: Of the items: each has random numbers of its own.
    - ``rate``: 0–1: the share of the letters, words or pairs of words (``AUGMENTATIONS[name].of``) that is changed, on
      average; of n of them ``floor(rate n)`` are drawn, or one more. Where swaps overlap, the later one is left out,
      and so are letters with marks of their own, so that fewer may be changed.
    - ``languages``: ISO 639-1 codes of the items, "" for unknown. Only ``transliterate`` asks for them: Russian is
      written in Latin letters, English in Cyrillic ones, other texts in the script that fewer of their letters have.
    - ``protect``: What stays as it is: ``numbers``, ``code``, ``urls``; see :func:`protected_spans`.
    - ``scheme``: Of ``transliterate``; see :func:`to_latin`.

    Returns: The texts, in their order, and their edits.

    Raises ``BadInput`` for an unknown name, scheme or kind of what is protected, a rate outside 0–1, entries that are
    not texts, and lengths that differ; all faults at once.

    Examples
    --------
    >>> found = augmented(["the quick brown fox", "съешь ещё булок"], "butter_finger", ids=["a", "b"], seed=3)
    >>> [len(text) for text in found.texts], found.edits.counts(2).tolist()
    ([19, 15], [1, 2])
    """
    names, codes = list(ids), None if languages is None else list(languages)
    share = AUGMENTATIONS[name].rate if rate is None and name in AUGMENTATIONS else rate
    faults = check_options(name, rate=share, protect=protect, scheme=scheme)
    faults += [
        f"{len(texts)} texts, but {len(given)} {what}"
        for what, given in (("ids", names), ("languages", codes))
        if given is not None and len(given) != len(texts)
    ]
    wrong = [i for i, text in enumerate(texts) if not isinstance(text, str)]
    faults += [f"entry {i} is not a text: {texts[i]!r}" for i in wrong]
    if faults:
        raise BadInput.listing("texts cannot be augmented:", faults)
    assert share is not None  # of an unknown name alone, which was refused
    keys = seeds.keys(seed, f"augment {name}", names)
    parts = []
    for start in range(0, len(texts), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        if name == "transliterate":
            of = codes[rows] if codes else [""] * len(texts[rows])
            parts.append(_transliterated(texts[rows], keys[rows], share, protect, scheme, of))
        else:
            parts.append(_COLUMNS[name](texts[rows], keys[rows], share, protect))
    return together(parts)


def check_options(
    name: str, *, rate: float | None = None, protect: Sequence[str] = (), scheme: str = "ala-lc"
) -> list[str]:
    """Faults of the options of an augmentation, for a study that collects all of its own.

    Examples
    --------
    >>> check_options("butter", rate=2)
    ["augmentation: 'butter' is not one of butter_finger, word_swap, human_level, special_token, transliterate", 'rate must be from 0 to 1, got 2']
    """
    known = [] if name in AUGMENTATIONS else [f"augmentation: {name!r} is not one of {', '.join(AUGMENTATIONS)}"]
    outside = [] if rate is None or 0 <= rate <= 1 else [f"rate must be from 0 to 1, got {rate!r}"]
    return [*known, *outside, *check_protect(protect), *check_scheme(scheme)]


def _transliterated(
    texts: Sequence[str], keys: _Keys, rate: float, protect: Sequence[str], scheme: str, languages: Sequence[str]
) -> Variants:
    of = iter(languages)
    return chosen(
        texts,
        keys,
        rate,
        protect,
        "transliterated",
        lambda text: words_of(text, scheme, next(of)),
        lambda text, place: in_other_script(text[place[0] : place[-1]], scheme),
    )
