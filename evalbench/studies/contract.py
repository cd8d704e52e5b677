"""What a study offers: the public names of its module that the rest of the house asks for, and nothing else.

A study is a module, or a package, of plain functions; :func:`study_of` finds its hooks by name and refuses a module that
lacks one, offers one of the wrong kind, or misspells one (which would otherwise be ignored in silence).  In a package they are
found in the files of fixed names, see :func:`offered`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rapidfuzz.distance import OSA

from evalbench.errors import BadInput
from evalbench.kit import measuring

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.core.answer import Answer
    from evalbench.core.measures import Measure
    from evalbench.core.result import Result, Summary
    from evalbench.kit.answering import Facts
    from evalbench.kit.options import Checks
    from evalbench.readers.dataset import Dataset
    from evalbench.readers.schema import Table

PICTURE = "picture_"


@dataclass(frozen=True)
class Study:
    """A study's hooks, named as in its module; an optional one that the module lacks is None, or the empty text.

    Attributes
    ----------
    name : str
        The module's, and that of its notebook, its golden figures and its data.
    doc : str
        The module's docstring: question, conventions of the input, figures and their sources.
    pictures : mapping of str to callable
        Every ``picture_*(result, …)``: a figure and its alternative text, or None where there is nothing to draw.
    QUESTION : str
        What the study answers, with a question mark.
    SCHEMA : mapping of str to Table
        The tables that it reads, the main one first.
    evaluate : callable
        ``evaluate(data, *, …) -> Result``.  Its options have the names of the notebook's parameters, and a default each.
    summarise : callable
        ``summarise(items, *, …) -> Summary``: estimates and verdict from the items alone, for the headline, its check
        against ``items.parquet``, and resamples of it.  It takes any subset of units and groups, ``n_resamples=1``, and
        ids with a suffix (a unit that was drawn twice comes under two ids).
    measures : callable, optional
        ``measures(…) -> Sequence[Measure]``: the statistics that are functions of sums over items; ``evalbench
        compare`` then compares them exactly and fast, see :func:`evalbench.core.comparison.compare_measures`.
    judged_measures : callable, optional
        ``judged_measures(…) -> Sequence[Measure]``: those of them that people's labels of the same items correct.
    rests_on_judge : callable, optional
        ``rests_on_judge(figure, group, *, …) -> bool``: whether a figure (its metric, its group) could have another value if another judge judged the
        same answers; without it, of a study that asks a judge, all figures could.
    with_sums : callable, optional
        ``with_sums(items, *, …) -> items`` with the columns that ``measures`` sum and the file does not hold, such as
        who passed a threshold.
    weighted : callable, optional
        ``weighted(items, *, …)`` -> a function of items, counts ``(r, units)`` and a random generator or None, to every
        other statistic of many resamples at once, see :mod:`evalbench.compare.weighted`; without it ``summarise`` is
        resampled.
    adapt : callable, optional
        ``adapt(frames) -> frames``: published files of another form as the tables of ``SCHEMA``.
    check : callable, optional
        ``check(data)`` raises :class:`BadInput` for what ``SCHEMA`` cannot express.
    needs : callable, optional
        ``needs(data, *, …)`` raises :class:`BadInput` for tables that ``evaluate`` refuses with these options, before
        anything is asked or computed; ``evalbench data check`` and ``evalbench run`` ask it before a kernel starts.
    check_options : callable, optional
        ``check_options(checks)`` gathers what is wrong with options of ``summarise`` that it would take all the same, such as a share
        above 1; ``evaluate`` asks it, and who calls ``summarise`` on other thresholds.
    plan : callable, optional
        ``plan(data, *, …) -> frame``, with the options of ``evaluate``: what a run would ask, a row a step, without asking;
        ``evalbench run --dry-run`` prints it in place of made-up replies, see :func:`evalbench.core.dry.plan_of_table`.
    answer : callable, optional
        ``answer(summary, facts) -> Answer``: what the figures answer to ``QUESTION``, in plain words, see
        :mod:`evalbench.kit.answering`, which has a sentence for a study without one.
    UNIT : str
        The column of the items that names the resampling unit where that is not ``Result.id``, such as the document
        of a pair.
    CONTENT_UNIT : str
        The column that names the unit by what it is, such as a hash of the question: runs whose ``Result.id`` it is are
        paired also where they read different data.
    MEASURED_BY : mapping of str to sequence of str
        Options that measure → the figures that they move, such as ``{"threshold": ("passed",)}``; ``*`` stands for any letters, and an
        option that moves none, such as one of lights, has ``()``.  Two runs that differ in one have no verdict on its figures.
    MAKES_ITEMS : tuple of str
        Options of ``summarise`` that the items hang on too: another value needs a new run.
    JUDGED_OPTIONS : tuple of str
        Options that are part of what is judged, such as a prompt.  Every option is in one of both, or in those of
        :mod:`evalbench.kit.measuring`, which several studies have.
    """

    name: str
    doc: str
    pictures: Mapping[str, Callable[..., Any]]
    QUESTION: str
    SCHEMA: Mapping[str, Table]
    evaluate: Callable[..., Result]
    summarise: Callable[..., Summary]
    measures: Callable[..., Sequence[Measure]] | None = None
    judged_measures: Callable[..., Sequence[Measure]] | None = None
    rests_on_judge: Callable[..., bool] | None = None
    with_sums: Callable[..., pd.DataFrame] | None = None
    weighted: Callable[..., Callable[..., Mapping[Any, Any]]] | None = None
    adapt: Callable[[Mapping[str, pd.DataFrame]], Mapping[str, pd.DataFrame]] | None = None
    check: Callable[[Dataset], object] | None = None
    needs: Callable[..., object] | None = None
    check_options: Callable[[Checks], object] | None = None
    plan: Callable[..., pd.DataFrame] | None = None
    answer: Callable[[Summary, Facts], Answer] | None = None
    UNIT: str = ""
    CONTENT_UNIT: str = ""
    MEASURED_BY: Mapping[str, Sequence[str]] = field(default_factory=dict)
    MAKES_ITEMS: tuple[str, ...] = ()
    JUDGED_OPTIONS: tuple[str, ...] = ()

    def options(self) -> Mapping[str, inspect.Parameter]:
        """The options of ``evaluate`` in their order."""
        return dict(list(inspect.signature(self.evaluate).parameters.items())[1:])

    def measured_by(self) -> Mapping[str, Sequence[str]]:
        """Options that measure, with the figures that they move, also those that several studies have."""
        return measuring.of_study(self.options(), self.MEASURED_BY, self.JUDGED_OPTIONS)[0]


VALUES = {
    "QUESTION": str,
    "SCHEMA": dict,
    "UNIT": str,
    "CONTENT_UNIT": str,
    "MEASURED_BY": dict,
    "MAKES_ITEMS": tuple,
    "JUDGED_OPTIONS": tuple,
}
FUNCTIONS = (
    "evaluate", "summarise", "measures", "judged_measures", "rests_on_judge", "with_sums", "weighted", "adapt", "check", "needs",
    "check_options", "plan", "answer",
)  # fmt: skip
REQUIRED = ("QUESTION", "SCHEMA", "evaluate", "summarise")


HOOKS_IN, SHOWN_IN = ("inputs", "summary", "weighted", "answer"), ("pictures", "shown")
"""Files of a study: those with hooks, and those whose every public function is for its notebook."""


def offered(package: str) -> dict[str, Any]:
    """What a study's files offer: hooks of ``inputs``, ``summary``, ``weighted`` and ``answer``, public functions of ``pictures`` and ``shown``.

    The last line of its ``__init__`` is ``globals().update(offered(__name__))``; what it defines or imports itself stays.

    Examples
    --------
    >>> from evalbench.studies import cot_levels  # offered() looks at what is imported
    >>> list(offered("evalbench.studies.cot_levels"))
    []
    >>> cot_levels.worst.__module__
    'evalbench.studies.cot_levels.pictures'
    """
    known = vars(sys.modules[package])
    return {
        name: value
        for file in own_files(package)
        for name, value in own_names(file).items()
        if name in FUNCTIONS or name in VALUES or file.__name__.endswith(SHOWN_IN)
        if name not in known or isinstance(known[name], ModuleType)
    }


def own_files(package: str) -> list[ModuleType]:
    """The files of fixed names that a study has; none where it is one module."""
    present = {found.name for found in pkgutil.iter_modules(getattr(sys.modules.get(package), "__path__", ()))}
    return [importlib.import_module(f"{package}.{file}") for file in (*HOOKS_IN, *SHOWN_IN) if file in present]


def own_names(module: ModuleType) -> dict[str, Any]:
    """Public functions that a module defines, and values that have a hook's name."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        if (inspect.isfunction(value) and value.__module__ == module.__name__) or name in VALUES
    }


def study_of(module: ModuleType) -> Study:
    """The hooks of a study's module.

    Raises
    ------
    BadInput
        If it breaks the contract: everything that is wrong, in one message.

    Examples
    --------
    >>> from evalbench.studies import citation
    >>> study_of(citation).UNIT
    ''
    """
    name = module.__name__.rpartition(".")[2]
    offered = {key: value for key, value in vars(module).items() if not key.startswith("_")}
    hooks = {key: value for key, value in offered.items() if key in VALUES or key in FUNCTIONS}
    pictures = {key: value for key, value in offered.items() if key.startswith(PICTURE)}
    faults = [f"{key} is missing" for key in REQUIRED if key not in hooks]
    faults += [] if pictures else [f"there is no picture: a function {PICTURE}…(result)"]
    faults += [] if module.__doc__ else ["the module has no docstring"]
    for key, value in (*hooks.items(), *pictures.items()):
        if not (isinstance(value, VALUES[key]) if key in VALUES else callable(value)):
            kind = VALUES[key].__name__ if key in VALUES else "function"
            faults.append(f"{key} must be a {kind}, found {value!r}")
    faults += misspelt(module)
    if not faults:
        faults += signatures(hooks)
    if faults:
        raise BadInput.listing(f"study {name} breaks the contract in evalbench/studies/contract.py:", faults)
    return Study(name=name, doc=module.__doc__ or "", pictures=pictures, **hooks)


def misspelt(module: ModuleType) -> list[str]:
    """Public names one edit (a letter more, less, other, or two swapped) away from a hook that the module lacks."""
    found = []
    files = [own_names(file) for file in own_files(module.__name__)]
    for name, value in {**{name: value for file in files for name, value in file.items()}, **vars(module)}.items():
        if name.startswith("_") or name in VALUES or name in FUNCTIONS:
            continue
        if inspect.isfunction(value):
            if f"{value.__module__}.".startswith(f"{module.__name__}."):  # its own, from whichever of its files
                head, _, rest = name.partition("_")
                near = [hook for hook in FUNCTIONS if not hasattr(module, hook) and _near(name, hook)]
                near += [PICTURE + rest] if rest and head != "picture" and _near(head, "picture") else []
                found += [f"{name} is not a hook; did you mean {hook}?" for hook in near]
        elif not isinstance(value, (type, ModuleType)):
            near = [hook for hook in VALUES if not hasattr(module, hook) and _near(name, hook)]
            found += [f"{name} is not a hook; did you mean {hook}?" for hook in near]
    return found


def signatures(hooks: Mapping[str, Callable[..., Any]]) -> Iterator[str]:
    """What is wrong with the parameters of ``evaluate`` and ``summarise``."""
    for name, first in (("evaluate", ("data", "dataset")), ("summarise", ("items",))):
        if next(iter(inspect.signature(hooks[name]).parameters), "") not in first:
            yield f"the first parameter of {name} must be {first[0]}"
    for option in list(inspect.signature(hooks["evaluate"]).parameters.values())[1:]:
        if option.kind is not option.KEYWORD_ONLY or option.default is option.empty:
            yield f"evaluate: {option.name} must be keyword-only with a default"


def _near(name: str, hook: str) -> bool:
    return OSA.distance(name.lower(), hook.lower(), score_cutoff=1) <= 1
