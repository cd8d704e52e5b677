"""Replies that decline to answer: apologies, and statements that one cannot, does not know, or finds nothing."""

from __future__ import annotations

import regex

_CANNOT = r"(?:cannot|can['’]?t|can not|could not|couldn['’]?t|am not able to|was not able to|won['’]?t)"
_REFUSALS = regex.compile(
    rf"^\W*(?:(?:i['’]?m|i am) (?:so |very )?(?:sorry|afraid|unable|not (?:sure|certain))|sorry,? (?:but )?i|as an? (?:ai|language model)"
    rf"|(?:unfortunately,? )?i {_CANNOT} (?:help|assist|answer|provide|do|find|determine|say|tell|comply)"
    r"|(?:unfortunately,? )?i (?:do not|don['’]?t) (?:know|have (?:any |enough |that |the )?(?:information|access))"
    r"|(?:к сожалению|извините|простите),? (?:но )?я (?:не|как)|я не (?:могу|знаю|в состоянии|нашёл|нашел|нашла)"
    r"|как (?:языковая модель|искусственный интеллект)"
    r"|抱歉|对不起|很抱歉|我不知道|我无法|作为(?:一个)?(?:AI|人工智能|语言模型))",
    regex.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Whether a reply begins by declining to answer; what it says further on is not looked at.

    Examples
    --------
    >>> replies = ["I'm sorry, but I cannot help.", "К сожалению, я не знаю.", "No, sorry is not the word."]
    >>> [is_refusal(reply) for reply in replies]
    [True, True, False]
    """
    return _REFUSALS.search(text) is not None
