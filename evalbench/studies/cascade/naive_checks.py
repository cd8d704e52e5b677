"""Stage 1: naive checks that need no model.  An answer that fails one cannot be good, whatever it was asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import regex

from evalbench import errors
from evalbench.studies.cascade import state
from evalbench.text.refusals import is_refusal
from evalbench.text.words import words

REPEATED, LEAST_REPEATED = 0.5, 24
"""An answer of so many words or more repeats itself where more than this share of its runs of four words appeared before."""
BOTH_FAILED = "both-failed"
"""The label of a tie of two answers that failed."""
_SECONDS = 1.0
_SCRIPTS = {
    "Latin": r"\p{Latin}",
    "Cyrillic": r"\p{Cyrillic}",
    "Han": r"[\p{Han}\p{Hiragana}\p{Katakana}]",
    "Arabic": r"\p{Arabic}",
}
_OF_LANGUAGE = {
    "ru": "Cyrillic",
    "uk": "Cyrillic",
    "bg": "Cyrillic",
    "zh": "Han",
    "ja": "Han",
    "ar": "Arabic",
    "fa": "Arabic",
}


def naive(cases: Sequence[state.Case], desk: state.Desk) -> state.Found:
    """One answer fails and the other does not: decided against it, or with ``naive="filter"`` set aside; both fail: a tie of failures."""
    found = state.Found()
    for case in cases:
        wrong = {side: faults(case.answer(side), case, desk.options) for side in ("a", "b")}
        said = "; ".join(f"{side.upper()}: {', '.join(why)}" for side, why in wrong.items() if why)
        if not said:
            continue
        marks = tuple(0.0 if wrong[side] else float("nan") for side in ("a", "b"))
        if wrong["a"] and wrong["b"]:
            found.decided[case.id] = state.Decision("tie", BOTH_FAILED, said, *marks)
        elif desk.options["naive"] == "filter":
            found.decided[case.id] = state.Decision("set-aside", "one-failed", said, *marks)
        else:
            found.decided[case.id] = state.Decision("b" if wrong["a"] else "a", "one-failed", said, *marks)
    return found


def faults(answer: str, case: state.Case, options: Mapping[str, Any]) -> list[str]:
    """What is wrong with an answer at first sight; empty where nothing is.

    Examples
    --------
    >>> plain = {"least_words": 0, "most_words": 0, "pattern": "", "json_answers": False}
    >>> asked = state.Case("1", "When does it open?", "", "", "en")
    >>> [faults(text, asked, plain) for text in ("", "I'm sorry, but I cannot help.", "Откроется в девять часов утра.", "At 9.")]
    [['empty'], ['refusal'], ['wrong language'], []]
    """
    if not answer.strip():
        return ["empty"]
    told = words(answer, lower=True)
    out = []
    if is_refusal(answer):
        out.append("refusal")
    if _other_script(answer, case):
        out.append("wrong language")
    if len(told) >= LEAST_REPEATED and repeated(told) > REPEATED:
        out.append("repetition")
    if len(told) < options["least_words"]:
        out.append("too short")
    if options["most_words"] and len(told) > options["most_words"]:
        out.append("too long")
    if options["pattern"] and not _matches(options["pattern"], answer):
        out.append("not of the pattern")
    if options["json_answers"] and not _is_json(answer):
        out.append("not JSON")
    return out


def repeated(told: Sequence[str]) -> float:
    """The share of runs of four words that appeared before.

    Examples
    --------
    >>> round(repeated("a b c d a b c d".split()), 2)
    0.2
    """
    runs = Counter(zip(told, told[1:], told[2:], told[3:], strict=False))
    total = sum(runs.values())
    return 0.0 if not total else 1 - len(runs) / total


def checked_pattern(pattern: str) -> str:
    """The pattern as it is.

    Raises ``BadInput`` if it is no regular expression.
    """
    try:
        regex.compile(pattern)
    except regex.error as error:
        raise errors.BadInput(f"pattern {pattern!r} is not a regular expression: {error}") from None
    return pattern


def script_of(text: str) -> str:
    """The script of most letters; empty where fewer than two thirds are of one that is known here.

    Examples
    --------
    >>> script_of("Сколько стоит вход?"), script_of("12:30")
    ('Cyrillic', '')
    """
    letters = len(regex.findall(r"\p{L}", text))
    counts = {name: len(regex.findall(pattern, text)) for name, pattern in _SCRIPTS.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if letters and counts[best] >= 2 * letters / 3 else ""


def _other_script(answer: str, case: state.Case) -> bool:
    """Whether the answer is in another script than its question; a few words may be a name."""
    wanted = _OF_LANGUAGE.get(case.lang) or script_of(case.question)
    own = script_of(answer)
    return bool(wanted and own and own != wanted and len(words(answer)) > 2)


def _matches(pattern: str, answer: str) -> bool:
    try:
        return regex.search(pattern, answer, timeout=_SECONDS) is not None
    except TimeoutError:
        raise errors.BadInput(
            f"pattern {pattern!r} takes too long on an answer of {len(answer)} characters: write a simpler one"
        ) from None


def _is_json(answer: str) -> bool:
    try:
        json.loads(answer)
    except (ValueError, RecursionError):
        return False
    return True
