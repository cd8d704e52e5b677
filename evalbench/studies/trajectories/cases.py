"""What a judge is asked of each trajectory: its record, and what its task says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalbench import kit
from evalbench.judge.criteria import Criterion
from evalbench.studies.trajectories.cells import in_words
from evalbench.studies.trajectories.inputs import Given
from evalbench.studies.trajectories.judging import step_name
from evalbench.studies.trajectories.record import Record, record_of

_INSTRUCTS = frozenset({"system", "developer"})


class Case(NamedTuple):
    """A trajectory and what a judge is asked of it."""

    run: int
    task: str
    question: kit.judging.Question
    record: Record

    @property
    def fields(self) -> Mapping[str, Any]:
        """What the judge is given."""
        return self.question.fields

    def asked(self, criterion: str, step: int | None = None) -> kit.judging.Question:
        """The question by a criterion, of the whole or of a step; a judge that is a function is given its name."""
        fields = {**self.fields, "criterion": criterion, "step": "" if step is None else str(step)}
        name = self.question.id if step is None else step_name(self.question.id, step)
        return self.question._replace(fields=fields, id=name)


def cases_of(given: Given, names: Sequence[str], most: int) -> list[Case]:
    columns = ["step", "kind", "role", "name", "arguments", "text", "error"]
    steps = {run: own[columns].to_dict("records") for run, own in given.steps.groupby("run", sort=True)}
    calls = [
        f"{name}({in_words(made)})"
        for name, made in zip(given.expected["name"], given.expected["arguments"], strict=True)
    ]
    expected = given.expected.assign(said=calls).groupby("run")["said"].agg("\n".join)
    cases = []
    for row in given.runs.to_dict("records"):
        own: Any = steps.get(row["run"])
        if own is None:
            continue
        policy = row["policy"] or "\n".join(s["text"] for s in own if s["role"].strip().casefold() in _INSTRUCTS)
        record = record_of(own, most, policy)
        fields = {
            "record": record.text,
            "question": row["question"],
            "policy": policy[:most],
            "expected": expected.get(row["run"], ""),
            "forbidden": ", ".join(row["forbidden"]) if isinstance(row["forbidden"], list) else "",
        }
        asked = kit.judging.Question(fields, row["lang"] or "en", id=names[row["run"]], unit=row["id"])
        cases.append(Case(row["run"], row["id"], asked, record))
    return cases


def lacks(criterion: Criterion, case: Case) -> bool:
    """Whether a criterion needs what this trajectory has not: a policy, or the expected calls."""
    needed = {"none": "record", "ground_truth": "expected"}.get(criterion.needs_basis, "policy")
    return not case.fields[needed].strip()
