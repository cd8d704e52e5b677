"""How a sentence begins: with a capital, but for names; and how a clause does."""

from __future__ import annotations


def opened(text: str) -> str:
    """With a capital, unless the first word is a name with digits or signs.

    Examples
    --------
    >>> opened("alder and birch"), opened("oak-7b is")
    ('Alder and birch', 'oak-7b is')
    """
    first = text.partition(" ")[0].rstrip(",:").removesuffix("'s")
    return f"{text[:1].upper()}{text[1:]}" if first.replace("-", "").isalpha() and first.islower() else text


def opened_name(text: str) -> str:
    """As :func:`opened`, of a text that begins with a group's name: one with a hyphen is a name, too, and stays as it is.

    Examples
    --------
    >>> opened_name("alder"), opened_name("oak-desk's answers"), opened_name("the model")
    ('Alder', "oak-desk's answers", 'The model')
    """
    return text if "-" in text.partition(" ")[0] else opened(text)


def lowered(clause: str) -> str:
    """With a small letter where the first word is a plain one."""
    clause = clause.rstrip(".")
    first = clause.partition(" ")[0]
    return f"{clause[:1].lower()}{clause[1:]}" if first[1:].islower() else clause
