"""Answers that are no answers: words for a missing value, errors of an endpoint, blocks of reasoning, one text for all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from evalbench.core.notes import Note
from evalbench.core.wording import counted
from evalbench.text.null_words import null_word_notes

ONE_TEXT_FROM = 0.9
LEAST = 20
_LONGEST_ERROR = 400
_ERROR = re.compile(
    r"""\s*[\[{("']?\s*(?:
        (?:api\s+|http\s+)?(?:error|exception|ошибка|错误)(?:\s+code)?\s*[:：-]?\s*[45]\d\d\b
        | [45]\d\d\s+(?:bad\ request|unauthorized|forbidden|not\ found|too\ many|internal|bad\ gateway|service|gateway)
        | (?:api\s+)?error:\s*(?:the\s+)?(?:request|connection|rate|time-?out|server|service|upstream|failed|unable|too\ many)
        | traceback\ \(most\ recent
        | (?:request|connection|read)\s+(?:timed\ out|time-?out|reset|refused)
        | rate\ limit(?:\s+\w+)?\s+(?:exceeded|reached|error)
        | too\ many\ requests | internal\ server\ error | service\ unavailable
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_YES, _NO = "(?:yes|true|да|ja|oui|sí)", "(?:no|false|нет|nein|non)"
_BOTH = re.compile(
    rf"\b(?:{_YES}\W+(?:(?:and|or|и|или|und|oder|et|ou|y|o)\W+)?{_NO}|{_NO}\W+(?:(?:and|or|и|или|und|oder|et|ou|y|o)\W+)?{_YES})\b(?!\s+\w)",
    re.IGNORECASE,
)
_THINKING = re.compile(r"</?(?:think|thinking|reasoning|scratchpad)>", re.IGNORECASE)


def is_error_text(text: object) -> bool:
    """Whether a text is what an endpoint says when it fails.

    Examples
    --------
    >>> is_error_text("Error code: 429 - rate limit exceeded"), is_error_text("503 Service Unavailable")
    (True, True)
    >>> is_error_text("Error handling is in section 4.29"), is_error_text("429")
    (False, False)
    """
    return isinstance(text, str) and len(text) <= _LONGEST_ERROR and _ERROR.match(text) is not None


def holds_reasoning(text: object) -> bool:
    """Whether a text holds a block of a model's reasoning.

    Examples
    --------
    >>> holds_reasoning("<think>hm</think>Rome"), holds_reasoning("I think so")
    (True, False)
    """
    return isinstance(text, str) and _THINKING.search(text) is not None


def says_yes_and_no(text: str) -> bool:
    """Whether a text says yes and no in one breath.

    Examples
    --------
    >>> says_yes_and_no("Yes and no."), says_yes_and_no("Да/нет"), says_yes_and_no("Yes, no doubt.")
    (True, True, False)
    """
    return _BOTH.search(text) is not None


def odd_text_notes(
    texts: Iterable[object], max_unscored: float, noun: str = "answer", *, alike: bool = True
) -> list[str]:
    """Notes on texts that are no answers, of the first rank where they are more than ``max_unscored`` of all.

    - ``alike``: Whether to say that nearly all are one text.

    Examples
    --------
    >>> odd_text_notes(["Rome", "Error code: 500"], 0.05)[0].short
    '1 of 2 answers reads like an error of an endpoint'
    """
    listed = [text for text in texts if isinstance(text, str)]
    of = counted(len(listed), noun)
    notes = null_word_notes(listed, max_unscored, noun)
    found = (
        (
            sum(map(is_error_text, listed)),
            ("reads", "read"),
            "like an error of an endpoint",
            "scored as if a model had said it",
        ),
        (
            sum(map(holds_reasoning, listed)),
            ("holds", "hold"),
            "a block of reasoning (<think>)",
            "scored with the answer; strip it first",
        ),
    )
    for n, (one, several), what, why in found:
        if n:
            short = f"{n} of {of} {one if n == 1 else several} {what}"
            text = f"{short}: {why}."
            notes.append(Note("instrument", short, text) if n > max_unscored * len(listed) else text)
    empty = sum(not one.strip() for one in listed)
    if max_unscored * len(listed) < empty < ONE_TEXT_FROM * len(listed):
        notes.append(Note("instrument", f"{empty} of {of} {'is' if empty == 1 else 'are'} empty"))
    if alike and len(listed) >= LEAST:
        text, n = Counter(" ".join(one.split()) for one in listed).most_common(1)[0]
        if n >= ONE_TEXT_FROM * len(listed):
            shown = f'"{text[:40]}{"…" if len(text) > 40 else ""}"' if text else "empty"
            notes.append(Note("mixed", f"{n} of {of} are one and the same text, {shown}"))
    return notes


def misplaced_notes(
    texts: Sequence[object], references: Iterable[Sequence[object]], noun: str = "answer"
) -> list[Note]:
    """A note where most texts are the reference of another item, as in a table whose rows were joined wrongly.

    Examples
    --------
    >>> piers = [f"pier {i}" for i in range(20)]
    >>> misplaced_notes(piers, [[one] for one in piers[1:] + piers[:1]])[0].short
    '20 of 20 answers are the reference of another item: were rows shifted?'
    """
    wanted = [{plain for one in several if isinstance(one, str) and (plain := _plain(one))} for several in references]
    known = Counter(one for own in wanted for one in own)
    if len(texts) < LEAST or 2 * len(known) < len(texts):  # few different references are met by chance
        return []
    said = [_plain(text) if isinstance(text, str) else "" for text in texts]
    n = sum(one not in own and one in known for one, own in zip(said, wanted, strict=True))
    if n <= len(texts) / 2:
        return []
    return [
        Note("shifted", f"{n} of {counted(len(texts), noun)} are the reference of another item: were rows shifted?")
    ]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
