"""What holds for the answer of any study on any table: short, plain, and no other than its light, its figure and its comparison."""

from __future__ import annotations

import re

from evalbench.core.answer import MOST_NUMBERS, MOST_WORDS
from evalbench.core.result import Result
from evalbench.core.wording import value_text
from evalbench.kit.answering import Facts
from evalbench.kit.saying import name_of

UNKNOWN = re.compile(
    r"not known|not enough evidence|cannot be (said|judged|told|compared)|no verdict|not decided|is open|are open|"
    r"could not be|could be measured|has no value|not shown|is shown",
    re.IGNORECASE,
)
"""A grey answer has one of these: it does not claim what it does not know."""
NUMBER = re.compile(r"(?<![\w.\-@|])[−-]?\d[\d\u202f.,]*%?(?![\w@|-])")


def faults_of(result: Result) -> list[str]:
    """What is wrong with a result's answer, each a clause."""
    found = result.answer
    if found is None:
        return ["has no answer"]
    lines = {name: getattr(found, name).text for name in ("decided_by", "could_change", "next")}
    wrong = []
    if found.size > MOST_WORDS:
        wrong.append(f"has {found.size} words, at most {MOST_WORDS}")
    groups = sorted({name_of(e) for e in result.summary.estimates if e.group}, key=len, reverse=True)
    first = re.split(r"(?<=[.?!]) ", _without(found.answer, groups))[0]
    if len(numbers := NUMBER.findall(first)) > MOST_NUMBERS:
        wrong.append(f"the first sentence has {len(numbers)} numbers: {', '.join(numbers)}")
    wrong += [
        f"does not end as a sentence: {t!r}"
        for t in (found.answer, *filter(None, lines.values()))
        if t[-1] not in ".?…"
    ]
    wrong += _inner_names(result, {"answer": found.answer, **lines}, groups)
    wrong += _against_light(result, found.answer, lines["next"])
    wrong += _against_figure(result, lines["decided_by"])
    wrong += _against_comparison(result, found.answer, groups)
    return [*wrong, f"[{result.light}] {found.answer} | {' | '.join(lines.values())}"] if wrong else []


def _without(text: str, names: list[str]) -> str:
    for name in names:
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "NAME", text, flags=re.IGNORECASE)
    return text


def _inner_names(result: Result, texts: dict[str, str], groups: list[str]) -> list[str]:
    own = {*map(str, _leaves(dict(result.parameters))), str(result.judged), str(result.data)}
    wrong = []
    for part, text in texts.items():
        plain = _without(text, groups)
        for word in re.findall(r"[\w.|@-]*_[\w.|@-]*", plain):
            inner = word in {e.metric for e in result.summary.estimates} | {*result.parameters} | {*result.tables}
            theirs = any(word in said for said in own) or _is_a_cell(result, word)
            option = part in ("next", "could_change") and word in result.parameters  # it says which one to set
            if not option and ((part != "could_change" and not theirs) or (part == "could_change" and inner)):
                wrong.append(f"{part} has the name {word}")
    return wrong


def _is_a_cell(result: Result, word: str) -> bool:
    """Whether the data call something so, such as a tool."""
    frames = (result.items, *result.tables.values())
    return any(
        (frame[column] == word).any() for frame in frames for column in frame.select_dtypes(["object", "string"])
    )


def _leaves(value: object) -> list[object]:
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in _leaves(v)]
    return [leaf for v in value for leaf in _leaves(v)] if isinstance(value, (list, tuple)) else [value]


def _against_light(result: Result, answer: str, after: str) -> list[str]:
    if result.light in ("grey", "unlit") and not after:
        return [f"is {result.light} and does not say what is missing"]
    if result.light == "grey" and not UNKNOWN.search(answer):
        return ["is grey and the sentence does not say that something is not known"]
    praises, blames = (
        re.search(r"(?<!not )good enough", answer),
        re.search(r"not good enough|not enough evidence", answer),
    )
    if result.light in ("red", "yellow", "grey") and praises and not blames:
        return [f"is {result.light} and the sentence says good enough"]
    return ["is green and the sentence blames"] if result.light == "green" and blames else []


def _against_figure(result: Result, decided: str) -> list[str]:
    place = result.verdict.decided_by
    e = None if place is None else result.summary.estimate(**place)
    if e is None or e.value is None:
        return []
    lacking = [part for part in (value_text(e, result.summary.estimates), name_of(e)) if part not in decided]
    return [f"decided_by lacks {', '.join(lacking)}"] if lacking else []


def _against_comparison(result: Result, answer: str, groups: list[str]) -> list[str]:
    shown = {(d.better, d.worse) for d in Facts.of(result).differences() if d.better}
    return [
        f"says that {a} is better than {b}, which no comparison shows"
        for a in groups
        for b in groups
        if f"{a} is better than {b} ".casefold() in f"{answer.replace(',', ' ').replace('.', ' ')} ".casefold()
        if (a, b) not in shown
    ]
