"""What a judge can be asked: the fields of an item, the labels of a verdict and their values, the prompt."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from evalbench.errors import BadInput

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True)
class Task:
    """One kind of judgement.

    Attributes
    ----------
    name : str
        Its prompt is ``NAME.LANGUAGE.jinja`` unless ``prompt`` says otherwise.
    fields : tuple of str
        What every item must have; a text each, ``gold`` one text or several.
    labels : mapping of str to float
        Each label and its value; NaN for one that says that there is nothing to judge.  Empty where the reply is no verdict
        but a text or texts, in its ``parts``.
    optional : tuple of str
        What an item may have besides; an empty text where it is missing.
    answer : str
        What the verdict is called in the reply: ``label`` or ``mark``.
    context : mapping
        Further values for the prompt, equal for all items.
    prompt : str
        The prompt's name where it is another one.
    lists : tuple of str
        Those of the fields that are several texts; a single text is a list of one.
    parts : mapping of str to (type, str)
        What the reply holds besides reason and label: the type as pydantic reads it, and the description for the model.
    sources : tuple of str
        Those of the fields that a verdict must rest on, where another text is what it is about; empty where that text alone
        decides.
    """

    name: str
    fields: tuple[str, ...]
    labels: Mapping[str, float]
    optional: tuple[str, ...] = ()
    answer: Literal["label", "mark"] = "label"
    context: Mapping[str, Any] = field(default_factory=dict)
    prompt: str = ""
    lists: tuple[str, ...] = ()
    parts: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    sources: tuple[str, ...] = ()

    def label(self, given: object) -> str | None:
        """The label that is meant, whatever its case and blanks; None if it is none.

        Examples
        --------
        >>> TASKS["correctness"].label("partially correct")
        'PARTIALLY_CORRECT'
        """
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            return None
        text = f"{given:g}" if isinstance(given, float) else str(given)
        wanted = text.strip().upper().replace(" ", "_").replace("-", "_")
        return next((label for label in self.labels if label.upper() == wanted), None)


ENTAILMENT = Task(
    "entailment",
    ("premise", "hypothesis"),
    {"ENTAILMENT": 1.0, "NEUTRAL": 0.5, "CONTRADICTION": 0.0},
    sources=("premise",),
)
CORRECTNESS = Task(
    "correctness",
    ("question", "gold", "answer"),
    {"CORRECT": 1.0, "PARTIALLY_CORRECT": 0.5, "INCORRECT": 0.0},
    lists=("gold",),
    sources=("gold",),
)
TASKS: Mapping[str, Task] = {task.name: task for task in (ENTAILMENT, CORRECTNESS)}


def mark_task(
    criterion: str,
    definition: str,
    scale: Mapping[int, str],
    *,
    examples: Sequence[Mapping[str, Any]] = (),
    needs_basis: bool = False,
) -> Task:
    """Marking an answer by a criterion.

    Parameters
    ----------
    scale : mapping of int to str
        Each mark and when it is given, at least two.
    examples : sequence of mapping
        ``mark``, ``text`` and, if wanted, ``reason``.
    needs_basis : bool
        Whether every item must bring a ``basis`` (ground truth, context).

    Returns
    -------
    Task
        With the fields ``answer``, ``question`` (optional) and ``basis``.

    Raises
    ------
    BadInput
        With all faults at once.

    Examples
    --------
    >>> task = mark_task("brevity", "Is it short?", {0: "more than a paragraph", 1: "a paragraph at most"})
    >>> task.labels
    {'0': 0.0, '1': 1.0}
    """
    faults = [] if len(scale) > 1 else ["a scale needs at least two marks"]
    faults += [
        f"the {what} is empty" for what, text in (("name", criterion), ("definition", definition)) if not text.strip()
    ]
    faults += [f"mark {m!r} is not a whole number" for m in scale if isinstance(m, bool) or not isinstance(m, int)]
    faults += [f"mark {m}: no description of when to give it" for m, when in scale.items() if not str(when).strip()]
    faults += [
        f"example {i}: needs a mark of the scale and a text"
        for i, example in enumerate(examples)
        if example.get("mark") not in scale or not str(example.get("text", "")).strip()
    ]
    if faults:
        raise BadInput.listing(f"criterion {criterion!r} is invalid:", faults)
    return Task(
        "mark",
        ("answer", "basis") if needs_basis else ("answer",),
        {str(mark): float(mark) for mark in sorted(scale)},
        optional=("question",) if needs_basis else ("question", "basis"),
        answer="mark",
        context={
            "criterion": criterion,
            "definition": definition,
            "scale": [(mark, scale[mark]) for mark in sorted(scale)],
            "examples": [{"reason": "", **example} for example in examples],
        },
        sources=("basis",) if needs_basis else (),
    )


def task_of(task: str | Task) -> Task:
    """A task by name."""
    if isinstance(task, Task):
        return task
    if task not in TASKS:
        raise BadInput(f"no task {task!r} for a judge; there are {', '.join(TASKS)}, and mark_task(…) makes more")
    return TASKS[task]


def reply_schema(task: Task) -> type[BaseModel]:
    """The schema of a judge's reply: the reason first, so that the verdict follows from it."""
    return _schema(tuple(task.labels), task.answer, tuple(task.parts.items()))


def parts_of(task: Task, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a reply as JSON values.

    Raises
    ------
    ValueError
        If one is missing or of another type, in words.

    Examples
    --------
    >>> cited = Task("cited", ("text",), {"YES": 1.0, "NO": 0.0}, parts={"places": (list[int], "where")})
    >>> parts_of(cited, {"label": "YES", "places": ["2"]})
    {'places': [2]}
    """
    from pydantic import ValidationError

    if not task.parts:
        return {}
    schema = _schema((), task.answer, tuple(task.parts.items()))
    try:
        return schema.model_validate({name: given[name] for name in task.parts if name in given}).model_dump(
            mode="json"
        )
    except ValidationError as error:
        said = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:3])
        raise ValueError("; ".join(said)) from None


@functools.cache
def _schema(labels: tuple[str, ...], answer: str, parts: tuple[tuple[str, tuple[Any, str]], ...]) -> type[BaseModel]:
    from pydantic import BeforeValidator, Field, create_model

    own: dict[str, Any] = {name: (kind, Field(description=words)) for name, (kind, words) in parts}
    if not labels:
        return create_model("Reply", **own)
    task = Task("", (), dict.fromkeys(labels, 0.0))

    def tidied(given: object) -> object:
        return task.label(given) or given

    # Whole numbers stay numbers in the schema: some endpoints quote or refuse numeric texts.
    options: Any = Literal[tuple(int(x) for x in labels)] if answer == "mark" else Literal[labels]
    tidy = BeforeValidator(_whole if answer == "mark" else tidied)
    fields: dict[str, Any] = {
        "reason": (str, Field(description="why, in one or two sentences")),
        **own,
        answer: (Annotated[options, tidy], Field(description="the verdict")),
    }
    return create_model("Verdict", **fields)


def _whole(given: object) -> object:
    """``"2"`` and ``2.0`` are the mark 2."""
    if isinstance(given, str) and given.strip().lstrip("-").isdecimal():
        return int(given)
    return int(given) if isinstance(given, float) and given.is_integer() else given
