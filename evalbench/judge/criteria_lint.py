"""Criteria that a judge, and a person, would apply unevenly: what the method document advises against."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evalbench.judge.criteria import Criterion, read_criteria
from evalbench.text.words import words

HANDBOOK = Path(__file__).with_name("handbook_criteria.yaml")
USUAL_SCALES = ((0, 1), (0, 1, 2))
LEAST_WORDS = 2
_SEVERAL = re.compile(r"\b(?:and also|as well as|and/or|а также|и/или)\b|以及|并且", re.IGNORECASE)
SPECIAL: Mapping[str, str] = {
    r"\b(?:length|number of (?:words|characters)|brevity|длин\w*|краткост\w*|количество слов)\b|长度|字数": "text_metrics counts lengths",
    r"\b(?:spelling|typos?|grammar|орфограф\w*|опечат\w*)\b|拼写|错别字": "a spelling checker finds them, and judges find few",
    r"\b(?:forbidden|banned|prohibited|запрещ[её]нн\w*)\b|禁用|敏感词": "a list of words and patterns finds them",
    r"\b(?:valid json|json format|regular expression|формат json)\b": "a parser decides it",
}
"""What a specialised check does better, by the words that a criterion on it has."""


class Advice(NamedTuple):
    """One thing to mend in a criterion."""

    criterion: str
    rule: str
    text: str


def handbook_criteria() -> tuple[Criterion, ...]:
    """The criteria of the method document ``handbook``: six that need a basis, seven that do not.

    Examples
    --------
    >>> [c.name for c in handbook_criteria() if c.needs_basis != "none"][:3]
    ['aspect_relevance', 'missing', 'hallucination']
    """
    return read_criteria(HANDBOOK)


def lint(criteria: Sequence[Criterion]) -> tuple[Advice, ...]:
    """What makes a criterion hard to apply, criterion by criterion.

    The rules are the method document's (``handbook``, «How to improve your judge»): a criterion asks for one thing; its scale is
    0–1 or 0–1–2; it is defined in detail, and each mark is; each mark has an example; nothing is judged that a specialised check
    does better.

    Returns
    -------
    tuple of Advice
        ``rule`` is one of ``atomic``, ``scale``, ``definition``, ``mark``, ``example`` and ``special``.

    Examples
    --------
    >>> vague = Criterion("style", "Good style and also correct spelling", {0: "bad", 3: "good"})
    >>> sorted({advice.rule for advice in lint([vague])})
    ['atomic', 'example', 'mark', 'scale', 'special']
    """
    return tuple(advice for one in criteria for advice in _of(one))


def _of(one: Criterion) -> Iterator[Advice]:
    def advice(rule: str, text: str) -> Advice:
        return Advice(one.name, rule, text)

    questions = sum(one.definition.count(mark) for mark in "?？؟")
    if found := _SEVERAL.search(one.definition):
        yield advice("atomic", f"the definition joins several things ({found[0]!r}); make a criterion of each")
    elif questions > 1:
        yield advice("atomic", f"the definition asks {questions} questions; make a criterion of each")
    if tuple(one.scale) not in USUAL_SCALES:
        listed = ", ".join(map(str, one.scale))
        yield advice("scale", f"the marks are {listed}; 0–1 or 0–1–2 is given more evenly")
    if len(words(one.definition)) <= LEAST_WORDS:
        yield advice(
            "definition", "the definition is a name rather than a description: say what is looked at and what is not"
        )
    for mark, when in one.scale.items():
        if len(words(when)) < LEAST_WORDS:
            yield advice("mark", f"mark {mark} is defined as {when!r}: say when it is given")
    shown = {example.mark for example in one.examples}
    without = [str(mark) for mark in one.scale if mark not in shown]
    if without:
        yield advice("example", f"without an example: mark {', '.join(without)}")
    for pattern, text in SPECIAL.items():
        if re.search(pattern, f"{one.name} {one.definition}", re.IGNORECASE):
            yield advice("special", f"a specialised check exists: {text}")
