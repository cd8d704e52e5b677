"""Words of any language, one text at a time or as the ragged array of a whole column.

Scripts written with spaces are cut at Unicode word boundaries (UAX #29); scripts written without
them (Han, kana, Thai, Lao, Khmer, Burmese) give one word per character with its marks.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import regex

if TYPE_CHECKING:
    import pyarrow as pa

UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}[\p{Line_Break=SA}&&\p{L}]ーｰ"
_ALNUM = rf"[[\p{{L}}\p{{N}}]--[{UNSPACED}]]"
_INSIDE = rf"[[\p{{L}}\p{{M}}\p{{N}}\p{{Pc}}\u00ad\u200c\u200d]--[{UNSPACED}]]"
_LETTERS_JOINED = r"(?<=[\p{L}\p{M}])['’.·״](?=\p{L})"
_DIGITS_JOINED = r"(?<=\p{N})['’.,٫٬](?=\p{N})"
_ONE_CHARACTER = rf"[{UNSPACED}]\p{{M}}*"

_WORD = regex.compile(
    rf"{_ONE_CHARACTER}|\p{{Pc}}*{_ALNUM}{_INSIDE}*(?:(?:{_LETTERS_JOINED}|{_DIGITS_JOINED}){_INSIDE}+)*", regex.V1
)
_RUN = regex.compile(rf"{_ONE_CHARACTER}|{_ALNUM}[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]*", regex.V1)
# Most text is ASCII, and the standard library's engine is several times faster on it.
_ASCII_WORD = re.compile(r"_*[A-Za-z0-9]\w*(?:(?:(?<=[A-Za-z])['.](?=[A-Za-z])|(?<=\d)['.,](?=\d))\w+)*", re.ASCII)
_BETWEEN = "\0"
_ASCII_WORD_OR_MARK = re.compile(f"{_ASCII_WORD.pattern}|{_BETWEEN}", re.ASCII)
_TEXTS_AT_ONCE = 10_000
_ASCII_RUN = re.compile(r"[A-Za-z0-9]+")


def words(text: str, *, lower: bool = False) -> list[str]:
    """The words of a text, in order.

    - ``text``: Any language; composed to NFC first, so that equal-looking words are equal.
    - ``lower``: Lower-case them.

    Returns: Segments of UAX #29 that hold a letter or a digit: an apostrophe or a full stop between letters and a point
    or comma between digits do not cut; a colon, hyphen and slash do. In scripts written without spaces, one word per
    character. Empty for a text without letters and digits.

    References
    ----------
    Unicode Standard Annex #29, Unicode Text Segmentation, section 4.

    Examples
    --------
    >>> words("Isn't it 3.14?", lower=True)
    ["isn't", 'it', '3.14']
    >>> words("Мой дом — 我的家")
    ['Мой', 'дом', '我', '的', '家']
    """
    text = _composed(text, lower)
    return _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(text)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where the words of a text are, as :func:`words` cuts them; the text is taken as it is, not composed first.

    Examples
    --------
    >>> word_spans("Isn't it 3.14?")
    [(0, 5), (6, 8), (9, 13)]
    """
    return [match.span() for match in (_ASCII_WORD if text.isascii() else _WORD).finditer(text)]


def alphanumeric_runs(text: str) -> list[str]:
    """Lower-cased runs of letters and digits: ROUGE's tokens, extended to all scripts.

    On ASCII text these are the tokens of Lin's ROUGE-1.5.5 and of rouge-score; elsewhere letters and digits of
    any script count, and scripts written without spaces give one token per character.

    Examples
    --------
    >>> alphanumeric_runs("Don't stop, 再见 кот_42")
    ['don', 't', 'stop', '再', '见', 'кот', '42']
    """
    text = _composed(text, True)
    return _ASCII_RUN.findall(text) if text.isascii() else _RUN.findall(text)


def _composed(text: str, lower: bool) -> str:
    if text.isascii():
        return text.lower() if lower else text
    return unicodedata.normalize("NFC", text.lower() if lower else text)


@dataclass(frozen=True)
class TokenIds:
    """The tokens of many texts as one ragged array of integers.

    - ``ids`` ((n_tokens,) int64 array): All texts' tokens one after another, as indices into ``vocabulary``.
    - ``offsets`` ((n_texts + 1,) int64 array): Text ``i`` owns ``ids[offsets[i]:offsets[i + 1]]``.
    - ``vocabulary``: Distinct tokens in order of first appearance.
    """

    ids: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    vocabulary: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> npt.NDArray[np.int64]:
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens of each text, ``(n_texts,)``."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The text that each token belongs to, ``(n_tokens,)``."""
        return np.repeat(np.arange(len(self)), self.lengths)


def token_ids(
    texts: Iterable[str], tokenize: Callable[[str], list[str]] = words, *, between_blanks: bool = False
) -> TokenIds:
    """Tokenise many texts into one ragged integer array.

    - ``texts``: Equal texts are tokenised once.
    - ``tokenize``: One text to its tokens.
    - ``between_blanks``: No token depends on what is beyond a blank, as in :func:`words`: what is between blanks is
      then tokenised once, however often it occurs, which is several times as fast.

    Examples
    --------
    >>> t = token_ids(["a b a", "", "b"])
    >>> t.ids.tolist(), t.offsets.tolist(), t.vocabulary
    ([0, 1, 0, 1], [0, 3, 3, 4], ('a', 'b'))
    >>> token_ids(["a, b-c", "c b"], between_blanks=True).ids.tolist()
    [0, 1, 2, 2, 1]
    """
    if between_blanks:
        return _in_tokens(cut_at_blanks(list(texts)), tokenize)
    index: defaultdict[str, int] = defaultdict()
    index.default_factory = index.__len__
    number = index.__getitem__
    known: dict[str, list[int]] = {}
    pieces = []
    for text in texts:
        ids = known.get(text)
        if ids is None:
            ids = known[text] = list(map(number, tokenize(text)))
        pieces.append(ids)
    lengths = np.fromiter(chain([0], map(len, pieces)), np.int64, len(pieces) + 1)
    flat = np.fromiter(chain.from_iterable(pieces), np.int64, int(lengths.sum()))
    return TokenIds(flat, np.cumsum(lengths), tuple(index))


def word_counts(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """How many words each text has, ``(n_texts,)``.

    Examples
    --------
    >>> word_counts(["one two, three", "我的家", ""]).tolist()
    [3, 3, 0]
    """
    counts = [np.zeros(0, np.int64)]
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        runs = cut_at_blanks(list(texts[start : start + _TEXTS_AT_ONCE]))
        sizes = np.fromiter((len(words(run)) for run in runs.vocabulary), np.int64, len(runs.vocabulary))
        counts.append(np.diff(np.concatenate([[0], np.cumsum(sizes[runs.ids])])[runs.offsets]))
    return np.concatenate(counts)


def cut_at_blanks(texts: list[str] | pa.Array) -> TokenIds:
    """What is between blanks, by Arrow; a text may begin or end with an empty run."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        whole = pa.array(texts, pa.large_string()) if isinstance(texts, list) else texts.cast(pa.large_string())
        runs = pc.utf8_split_whitespace(whole)
    except UnicodeEncodeError:  # half a character
        return token_ids(texts, str.split)
    found = runs.flatten().dictionary_encode()
    return TokenIds(
        found.indices.to_numpy().astype(np.int64),
        runs.offsets.to_numpy().astype(np.int64),
        tuple(found.dictionary.to_pylist()),
    )


def _in_tokens(runs: TokenIds, tokenize: Callable[[str], list[str]]) -> TokenIds:
    """The tokens of texts out of what is between their blanks."""
    parts = token_ids(runs.vocabulary, tokenize)
    sizes = parts.lengths[runs.ids]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    # Token k of a run is at its first token's place plus k.
    places = np.arange(offsets[-1]) + np.repeat(parts.offsets[runs.ids] - offsets[:-1], sizes)
    return TokenIds(parts.ids[places], offsets[runs.offsets], parts.vocabulary)


def word_ids(texts: Sequence[str], *, lower: bool = False) -> TokenIds:
    """As ``token_ids(texts, words)``; a column of distinct ASCII texts is cut in one pass.

    Examples
    --------
    >>> word_ids(["A b", "", "b a"], lower=True).ids.tolist()
    [0, 1, 1, 0]
    """
    joined = _BETWEEN.join(texts)
    if not joined.isascii() or joined.count(_BETWEEN) != len(texts) - 1:
        return token_ids(texts, functools.partial(words, lower=lower))
    index: defaultdict[str, int] = defaultdict(itertools.count(-1).__next__)
    index[_BETWEEN]  # the mark between texts is number -1
    found = _ASCII_WORD_OR_MARK.findall(joined.lower() if lower else joined)
    ids = np.fromiter(map(index.__getitem__, found), np.int64, len(found))
    marks = np.flatnonzero(ids < 0)
    offsets = np.concatenate([[0], marks - np.arange(len(marks)), [len(ids) - len(marks)]])
    return TokenIds(ids[ids >= 0], offsets, tuple(index)[1:])
