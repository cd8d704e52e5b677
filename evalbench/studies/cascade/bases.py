"""What the questions can be judged against, and which criteria their task has: the method document's tables as data, and what is at hand."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.judge import criteria_lint
from evalbench.judge.criteria import Criterion, read_criteria
from evalbench.studies.cascade.state import Case

AUTO = "auto"
GOOD, AMBIGUOUS, BAD = "good", "ambiguous", "bad"
QUALITIES = (GOOD, AMBIGUOUS, BAD)
ORIGINS = ("not stated", "production", "hand-written", "synthetic", "dialogue seeds")


@functools.cache
def bases() -> tuple[Mapping[str, Any], ...]:
    """The method document's bases with their options: basis, option, wanted, stages, means.

    Examples
    --------
    >>> [row["option"] for row in bases() if row["basis"] == "ground_truth"]
    ['good', 'ambiguous', 'bad']
    """
    return tuple(_read("bases.yaml"))


@functools.cache
def tasks() -> tuple[Mapping[str, Any], ...]:
    """Which criteria matter in which task: matters, criterion, tasks.

    Examples
    --------
    >>> [row["matters"] for row in tasks() if "question_answering" in row["tasks"]]
    ['facts']
    """
    return tuple(_read("tasks.yaml"))


def _read(name: str) -> list[dict[str, Any]]:
    import yaml

    return list(yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8")))


TASKS = (
    "question_answering", "domain_knowledge", "brainstorming", "generation", "chat", "rewriting", "translation", "summarization",
)  # fmt: skip
BASES = tuple(dict.fromkeys(row["basis"] for row in bases()))


def criteria_of(task: str, criteria: Sequence[str] | str, file: str) -> list[Criterion]:
    """The criteria that answers are marked by: those of a file, those named, or those that the task's row of the table has.

    Raises ``BadInput`` for names that are not there, or as :func:`evalbench.judge.criteria.read_criteria` does.

    Examples
    --------
    >>> [c.name for c in criteria_of("question_answering", "auto", "")], [c.name for c in criteria_of("chat", "auto", "")]
    (['hallucination'], ['hallucination', 'consistency'])
    """
    known = {c.name: c for c in (read_criteria(file) if file else criteria_lint.handbook_criteria())}
    if criteria == AUTO:
        wanted = (
            list(known)
            if file
            else [str(row["criterion"]) for row in tasks() if task in row["tasks"] and row["criterion"]]
        )
    else:
        wanted = [criteria] if isinstance(criteria, str) else list(criteria)
    strangers = [name for name in wanted if name not in known]
    if strangers:
        raise errors.BadInput(f"criteria: {', '.join(strangers)} unknown; there are {', '.join(known)}")
    return [known[name] for name in wanted]


def check_quality(checks: kit.Checks, given: Mapping[str, Any]) -> None:
    """Gather what is wrong with ``basis_quality``."""
    for name, value in given.items():
        checks.that(name in BASES, f"basis_quality must be of {', '.join(BASES)}; got {name!r}")
        checks.that(value in QUALITIES, f"basis_quality: {name} must be one of {', '.join(QUALITIES)}; got {value!r}")


def at_hand(
    data: readers.Dataset, cases: Sequence[Case], options: Mapping[str, Any], *, labels_agree: bool, judged: bool
) -> dict[str, str]:
    """Basis → its option at hand, empty where it is missing."""
    rows = data["items"]
    stated = options["basis_quality"]
    labelled = any(case.people or case.marks for case in cases)
    classes = any(str(rows[c].fillna("").max() or "") for c in ("class_a", "class_b") if c in rows and len(rows))
    right = "true_class" in rows and bool((rows["true_class"].fillna("") != "").any())
    instruction = options["criteria_file"] or options["graph"]
    return {
        "ground_truth": stated.get("ground_truth", GOOD) if any(case.reference for case in cases) else "",
        "instruction": {BAD: "bad", AMBIGUOUS: "for people"}.get(stated.get("instruction", ""), "for models")
        if instruction
        else "",
        "model_knowledge": "for judges" if judged else "",
        "labels": ("high agreement" if labels_agree else "low agreement") if labelled else "",
        "questions": "" if options["origin"] == ORIGINS[0] else options["origin"],
        "answers": "by today's prompts",
        "chunks": "labelled"
        if any(c.relevant for c in cases)
        else "unlabelled"
        if any(c.contexts for c in cases)
        else "",
        "query_class": ("labelled" if right else "unlabelled") if classes else "",
        "dictionary": "given" if any(case.dictionary for case in cases) else "",
        "facts": "given" if any(case.facts for case in cases) else "",
    }


COUNTED = {"ground_truth": "reference", "dictionary": "dictionary", "facts": "facts", "labels": "people"}


def bases_table(hand: Mapping[str, str], cases: Sequence[Case], quality: Mapping[str, str]) -> pd.DataFrame:
    """The method document's table of bases: what is at hand, for how many questions, and which must-haves are missing."""
    n_of = {name: sum(bool(getattr(case, attribute)) for case in cases) for name, attribute in COUNTED.items()}
    n_of |= {"chunks": sum(bool(case.relevant or case.contexts) for case in cases), "answers": len(cases)}
    must = {row["basis"] for row in bases() if row["wanted"] == "must"}
    found = []
    for row in bases():
        name, has = row["basis"], hand[row["basis"]]
        here = has == row["option"]
        state = (
            "at hand"
            if here
            else "missing, a must-have"
            if not has and name in must and row["wanted"] == "must"
            else ""
        )
        if name == "questions" and not has:
            state = "not stated"
        found.append(
            {
                "basis": name,
                "option": row["option"],
                "what it is": row["means"],
                "wanted": {"must": "must have", "good": "desirable"}[row["wanted"]],
                "state": state,
                "questions": n_of.get(name, 0) if here else 0,
                "quality": quality.get(name, "") if here else "",
                "stages": ", ".join(map(str, row["stages"])),
            }
        )
    return pd.DataFrame(found)


def of_few(hand: Mapping[str, str], cases: Sequence[Case]) -> list[str]:
    """The bases that only a few questions of many have, with their number."""
    n_of = {name: sum(bool(getattr(case, attribute)) for case in cases) for name, attribute in COUNTED.items()}
    few = {name: n for name, n in n_of.items() if hand[name] and 0 < n < min(core.stats.FEW_UNITS, len(cases))}
    return [f"{name} ({n} of {len(cases)})" for name, n in few.items()]


def missing(hand: Mapping[str, str]) -> list[str]:
    """The must-haves of the method document that are not at hand."""
    must = dict.fromkeys(row["basis"] for row in bases() if row["wanted"] == "must")
    return [name for name in must if not hand[name]]


def tasks_table(task: str, chosen: Sequence[Criterion]) -> pd.DataFrame:
    """The method document's table of tasks × criteria, with the criteria of this run."""
    names = {criterion.name for criterion in chosen}
    rows = [
        {
            "criterion": row["matters"],
            "asked as": row["criterion"],
            "this run": "asked" if row["criterion"] in names else "",
            **{name: row["tasks"].get(name, "") for name in TASKS},
        }
        for row in tasks()
    ]
    listed = {row["criterion"] for row in tasks()}
    rows += [
        {"criterion": name, "asked as": name, "this run": "asked", **dict.fromkeys(TASKS, "")}
        for name in sorted(names - listed)
    ]
    return pd.DataFrame(rows)
