"""Replies that decline to answer: apologies, and statements that one cannot, does not know, or finds nothing."""

from __future__ import annotations

import regex

from evalbench.text.null_words import is_null_word
from evalbench.text.stopwords import stop_words
from evalbench.text.words import words

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

_UNKNOWN = regex.compile(
    r"^\W*(?:(?:the|this|no|these|provided|given|my)\s+)*(?:text|context|passage|document|source|article|information)s?\b.{0,40}"
    r"\b(?:not|n['’]t|no)\b.{0,20}\b(?:say|state|mention|contain|provide|specify|include|answer|give)"
    r"|^\W*(?:there is|i have|i found|i see) no(?:thing)? (?:information|mention|answer|data|about)"
    r"|^\W*(?:(?:it|this|the answer|that) is )?(?:unknown|unclear|not (?:known|clear|stated|specified|mentioned|given|available))\W*$"
    r"|^\W*no (?:answer|information|idea)\W*$"
    r"|^\W*(?:в (?:тексте|документе|контексте|источник\w*)[^.]{0,40}\bне(?:т)?\b|нет (?:информации|данных|ответа)|(?:это )?не (?:указано|известно))"
    r"|^\W*das weiß ich nicht|^\W*ich weiß (?:es |das )?nicht|^\W*je ne sais pas|^\W*no lo sé"
    r"|^\W*(?:文中|上下文|文章|资料)?(?:没有|未)(?:提到|提及|说明|相关信息|信息)",
    regex.IGNORECASE,
)
_ASKS = regex.compile(
    r"^\W*(?:what|who|whom|whose|when|where|which|why|how|was|wer|wann|wo|welche\w*|warum|wie|qui|que|quel\w*|quand|où|comment|"
    r"что|кто|когда|где|как\w*|почему|сколько|куда|чей|чья)\b|谁|什么|哪|何时|多少|为什么|怎",
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


def is_noncommittal(text: str) -> bool:
    """Whether a text says that the answer is not known, declines, or is a missing value written as a word.

    Examples
    --------
    >>> replies = ["I don't know.", "The passage does not say when.", "nan", "В тексте этого нет.", "It does not open on Monday."]
    >>> [is_noncommittal(reply) for reply in replies]
    [True, True, True, True, False]
    """
    return is_refusal(text) or is_null_word(text) or _UNKNOWN.search(text) is not None


def claims_nothing(statement: str, question: str = "") -> bool:
    """Whether a statement is non-committal, a question, or has no word that the question, one for a word, lacks.

    Examples
    --------
    >>> asked = "What is the capital of Italy?"
    >>> [claims_nothing(said, asked) for said in ("What is the capital?", "The capital of Italy.", "It is Rome.")]
    [True, True, False]
    """
    if is_noncommittal(statement) or statement.rstrip("\"'”’) ").endswith(("?", "？", "؟")):
        return True
    if not _ASKS.search(question):
        return False
    plain = {code: stop_words(code) for code in ("en", "ru", "zh")}
    own = {w for w in words(statement.casefold()) if not any(w in known for known in plain.values())}
    return bool(words(statement)) and own <= set(words(question.casefold()))
