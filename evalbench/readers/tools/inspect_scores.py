"""The scores of one sample of inspect_ai, and the verdicts of scorers that ask a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from evalbench.readers.tools.safe import mapping, objects
from evalbench.readers.tools.shapes import (
    UNSCORED,
    Score,
    clipped,
    no_number,
    number_of,
    present,
    text_of,
    text_of_parts,
)

GRADES: Mapping[str, float] = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
WORDS: Mapping[str, float] = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
NO_GRADE = "Grade not found in model output"
"""How the explanation of a reply without a grade begins; before version 0.3.245 its value was I."""
NO_SCORE = "inspect: no score"


class Scorer(NamedTuple):
    """A scorer of a log: its metrics where it gives several, and its judge."""

    metrics: tuple[str, ...]
    judge: str


def scorers_of(about: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Scorer]:
    """The scorers that every sample was given to, by name."""
    names = [(str(s.get("name")), mapping(s.get("options"))) for s in objects(about.get("scorers"))]
    listed = objects(results.get("scores"))
    if not names:
        names = [(str(s.get("scorer") or s.get("name")), mapping(s.get("params"))) for s in listed]
    out: dict[str, Scorer] = {}
    for name, options in names:
        short = name.rpartition("/")[2]
        parts = [str(s.get("name")) for s in listed if s.get("scorer") == short and s.get("name") != short]
        out.setdefault(short, Scorer(tuple(dict.fromkeys(f"{short}/{part}" for part in parts)), _judge(options)))
    return out


def _judge(options: Mapping[str, Any]) -> str:
    """The model among a scorer's options; of a panel, all of them."""
    for key in ("model", "grader_model", "judge_model", "grader", "judge"):
        value = options.get(key)
        panel: list[Any] = [
            entry.get("model") if isinstance(entry, dict) else entry
            for entry in (value if isinstance(value, list) else [value])
        ]
        if panel and all(isinstance(entry, str) and entry for entry in panel):
            return ", ".join(panel)
    return ""


def value_of(value: Any) -> float | None:
    """A score as inspect reads it: grades, yes and no, numbers; anything else has no value.

    Examples
    --------
    >>> [value_of(v) for v in ("C", "P", "no", True, 0.25, "0.5", "maybe", None)]
    [1.0, 0.5, 0.0, 1.0, 0.25, 0.5, None, None]
    """
    if isinstance(value, str):
        if value in GRADES:
            return GRADES[value]
        if value.strip().lower() in WORDS:
            return WORDS[value.strip().lower()]
        try:
            return number_of(float(value)) if len(value) < 40 else None
        except ValueError:
            return None
    return number_of(value)


Kept = tuple[Score, str]
"""A score and why it has no value: ``ungraded``, ``unread``, or empty."""


def scores_of(sample: Mapping[str, Any], scorers: Mapping[str, Scorer]) -> tuple[list[Kept], dict[str, Kept]]:
    """All scores of a sample, and those that are a scorer's only one, by scorer."""
    given = mapping(sample.get("scores"))
    error = mapping(sample.get("error")).get("message")
    every: list[Kept] = []
    single: dict[str, Kept] = {}
    for name in dict.fromkeys((*scorers, *given)):
        entry = given.get(name)
        if entry is None:
            missing = clipped(str(error)) if error else NO_SCORE
            every += [
                (Score(metric, None, missing), "") for metric in (name in scorers and scorers[name].metrics) or (name,)
            ]
            single[name] = every[-1]
            continue
        entry = entry if isinstance(entry, dict) else {"value": entry}
        value = entry.get("value")
        if isinstance(value, dict):
            every += [_kept(f"{name}/{key}", part, entry) for key, part in value.items()]
        else:
            single[name] = _kept(name, value, entry)
            every.append(single[name])
    return every, single


def _kept(metric: str, value: Any, entry: Mapping[str, Any]) -> Kept:
    explanation = str(entry.get("explanation") or "")
    reason = entry.get("reason") or mapping(entry.get("metadata")).get("unscored_reason")
    answer = entry.get("answer")
    said = answer if isinstance(answer, str) else None
    if explanation.startswith(NO_GRADE):
        kind = "ungraded" if isinstance(value, str) else ""
        return Score(metric, None, clipped(explanation), said), kind
    number = value_of(value)
    if number is not None:
        return Score(metric, number, "", said), ""
    nan = isinstance(value, float)
    words = (
        clipped(explanation)
        if nan and reason and explanation
        else clipped(str(reason))
        if nan and reason
        else f"inspect: {no_number(value)}"
    )
    return Score(metric, None, words, said), "" if nan else "unread"


def verdicts_of(
    sample: Mapping[str, Any], scorers: Mapping[str, Scorer], single: Mapping[str, Kept]
) -> list[dict[str, Any]]:
    """The verdicts of scorers that name a model, or kept what it was asked."""
    given, out = mapping(sample.get("scores")), []
    for name, (score, _) in single.items():
        entry = mapping(given.get(name))
        grading = objects(mapping(entry.get("metadata")).get("grading"))
        judge = str(grading[-1].get("model") or "") if grading else ""
        judge = judge or (scorers[name].judge if name in scorers else "")
        if not judge and not grading:
            continue
        value = entry.get("value")
        asked = text_of_parts(grading[0].get("content")) if grading else ""
        kept = mapping(sample.get("attachments"))
        out.append({
            **present(judge=judge or None),
            "criterion": name,
            "mark": score.value,
            "label": text_of(value) if isinstance(value, (str, bool)) and score.value is not None else "",
            "reason": str(entry.get("explanation") or ""),
            "unscored": UNSCORED if score.value is None else "",
            "detail": score.detail,
            **present(judge_prompt=kept.get(asked.removeprefix("attachment://"), asked) or None),
        })  # fmt: skip
    return out
