"""Named entities predicted as strings, without places: where they conflict with how often each string occurs in its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalbench.metrics.registry import metric
from evalbench.text.occurrences import comparable, places


class Conflict(NamedTuple):
    """One conflict.

    Attributes
    ----------
    kind : {"class and string", "text and string"}
    entity_class : str
        Empty where it is one of text and string.
    nested : bool
        Of class and string: the occurrences that were not predicted all lie inside another predicted string.
    """

    kind: str
    string: str
    entity_class: str
    predicted: int
    occurrences: int
    nested: bool = False


CLASS, TEXT = "class and string", "text and string"


def conflicts(
    text: str, predicted: Mapping[str, Sequence[str]], *, whole_words: bool = True, case_sensitive: bool = True
) -> list[Conflict]:
    """The conflicts of one text.

    Parameters
    ----------
    predicted : mapping of class to sequence of str
        Its strings, each as often as it was predicted.
    whole_words, case_sensitive : bool
        How occurrences are counted, see :func:`evalbench.text.occurrences.places`.

    Returns
    -------
    list of Conflict
        *class and string*: a class predicts a string, but fewer times than it occurs; *text and string*: all classes
        together predict a string more often than it occurs.

    Examples
    --------
    >>> [c.entity_class for c in conflicts("Paris Hilton visits Paris", {"LOC": ["Paris"], "PER": ["Paris"]})]
    ['LOC', 'PER']
    >>> conflicts("Paris Hilton visits Paris", {"LOC": ["Paris"], "PER": ["Paris Hilton"]})[0].nested
    True
    """
    whole = comparable(text, case_sensitive=case_sensitive)
    counts: dict[str, dict[str, int]] = {}
    for name, strings in predicted.items():
        for string in strings:
            of = counts.setdefault(comparable(string.strip(), case_sensitive=case_sensitive), {})
            of[name] = of.get(name, 0) + 1
    where = {string: places(whole, string, whole_words=whole_words) for string in counts}
    found = []
    for string, classes in counts.items():
        occurs = len(where[string])
        inside = nested(string, where)
        found += [
            Conflict(CLASS, string, name, n, occurs, n >= occurs - inside) for name, n in classes.items() if n < occurs
        ]
        total = sum(classes.values())
        if total > occurs:
            found.append(Conflict(TEXT, string, "", total, occurs))
    return found


def nested(string: str, where: Mapping[str, Sequence[int]]) -> int:
    """How many occurrences of a string lie inside an occurrence of another, longer string.

    Parameters
    ----------
    where : mapping of str to sequence of int
        Every predicted string of the text, and where it begins.

    Examples
    --------
    >>> nested("Paris", {"Paris": [0, 20], "Paris Hilton": [0]})
    1
    """
    around = [
        (start, start + len(other))
        for other, starts in where.items()
        if len(other) > len(string) and string in other
        for start in starts
    ]
    return sum(any(a <= at and at + len(string) <= b for a, b in around) for at in where[string])


@metric(
    kind="counts",
    range=(0, 1),
    higher_is_better=False,
    example=({"texts": ["Paris Hilton visits Paris", "So it is"], "predicted": [{"LOC": ["Paris"]}, {}]}, 0.5),
    reference="handbook, «Спецификация NER: качество модели в разрезе конфликтующих предсказаний»",
    needs=("text",),
    summary="Share of texts whose predicted entities conflict with how often they occur",
)
def entity_conflict_share(
    texts: Sequence[str],
    predicted: Sequence[Mapping[str, Sequence[str]]],
    *,
    whole_words: bool = True,
    case_sensitive: bool = True,
    count_nested: bool = False,
) -> float:
    """The share of texts with a conflict, among all texts.

    Parameters
    ----------
    texts : sequence of str
    predicted : sequence of mapping of class to sequence of str
    whole_words, case_sensitive : bool
        See :func:`conflicts`.
    count_nested : bool
        Whether a conflict that nesting explains counts, as in the method document's formula.

    Returns
    -------
    float
        0–1; NaN without texts.

    Examples
    --------
    >>> entity_conflict_share(["Paris Hilton visits Paris"], [{"LOC": ["Paris"], "PER": ["Paris Hilton"]}])
    0.0
    """
    found = [
        any(
            count_nested or not c.nested
            for c in conflicts(text, own, whole_words=whole_words, case_sensitive=case_sensitive)
        )
        for text, own in zip(texts, predicted, strict=True)
    ]
    return sum(found) / len(found) if found else float("nan")
