"""A study's options: stated as they ran, handed to those who take them, checked in one phrasing."""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from evalbench.errors import BadInput

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def stated(evaluate: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Every option of a study as a JSON value, in the order of its signature: ``Result.parameters``.

    Parameters
    ----------
    evaluate : callable
        Its first parameter is the data, the others are options.
    values : mapping
        ``locals()`` at its first line.

    Returns
    -------
    dict
        A function is recorded as ``function:NAME``.  The columns of clusters and slices of a data set that has some follow.

    Raises
    ------
    BadInput
        For values of another type than the signature's, such as a text where it has a list: all of them.

    Examples
    --------
    >>> def evaluate(data, *, k=10, weights=(1, 2), judge=len):
    ...     return stated(evaluate, locals())
    >>> evaluate([])
    {'k': 10, 'weights': [1, 2], 'judge': 'function:len'}
    """
    data, *own = inspect.signature(evaluate).parameters.values()
    faults = [fault for p in own if (fault := of_another_type(p, values[p.name]))]
    faults += [fault for p in own for fault in _faults_of_agents(p.name, values[p.name])]
    if faults:
        raise BadInput.listing(f"{evaluate.__module__.rpartition('.')[2]}: invalid options:", faults)
    grouping = getattr(values.get(data.name), "grouping", None)
    of_data = {} if grouping is None else {name: list(of) for name, of in grouping._asdict().items() if of}
    return {**{p.name: _plain(values[p.name]) for p in own}, **of_data}


def _faults_of_agents(option: str, value: object) -> list[str]:
    """What is wrong with the judges that look things up among the values of an option, before anything is asked or paid."""
    from evalbench.judge.agent.naming import is_agent, name_faults

    several = value if isinstance(value, list | tuple) else [value]
    agents = [one for one in several if isinstance(one, str) and is_agent(one)]
    if option.endswith(("model", "models", "rephraser")):
        return [f"{option}: {one!r} is a judge that looks things up, and no model that answers" for one in agents]
    if "judge" not in option and option not in ("strong", "answerer"):
        return []
    return [f"{option}: {fault}" for one in agents for fault in name_faults(one)]


def of_another_type(option: inspect.Parameter, value: Any) -> str:
    """What is wrong with the type of an option's value; empty where it fits the signature's."""
    what = _expected(kind := _written(option.annotation))
    if not what or _is_of(value, kind):
        return ""
    return f"{option.name} must be {what}{_as_list(value, what)}, got {value!r:.80}"


_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "None": "null",
    "Sequence[str]": "a list of texts",
    "Sequence[int]": "a list of whole numbers",
    "Sequence[float]": "a list of numbers",
}


def _written(annotation: object) -> str:
    """An annotation as its module writes it, also where that does not leave annotations as texts."""
    if isinstance(annotation, str):
        return annotation
    return annotation.__name__ if isinstance(annotation, type) and annotation is not inspect.Parameter.empty else "Any"


def _expected(annotation: str) -> str:
    """A type in words; empty where anything may come.

    Examples
    --------
    >>> _expected("int | None"), _expected("str | Callable[[dict[str, Any]], object]"), _expected("Any")
    ('a whole number or null', 'a text or a function', '')
    >>> _expected("Mapping[str, Mapping[str, float]]"), _expected("Sequence[str | InProcess]")
    ('a mapping of texts to mappings', 'a list of texts or functions')
    """
    if annotation == "Any":
        return ""
    return " or ".join(_named(part) for part in _parts(annotation))


def _as_list(value: Any, what: str) -> str:
    return f", such as [{value!r}]" if what.startswith(_WORDS["Sequence[str]"]) and isinstance(value, str) else ""


def _named(part: str) -> str:
    if part in _WORDS:
        return _WORDS[part]
    if part.startswith("Sequence["):
        return "a list of texts or functions"
    if part.startswith("Mapping["):
        inner = "mappings" if part.startswith("Mapping[str, Mapping") else "numbers" if "float" in part else "texts"
        return f"a mapping of texts to {inner}"
    return "a function"


def _parts(annotation: str) -> list[str]:
    """The members of a union; those within brackets are one.

    Examples
    --------
    >>> _parts("Sequence[str | InProcess] | None")
    ['Sequence[str | InProcess]', 'None']
    """
    found, depth = [""], 0
    for sign in annotation:
        depth += (sign == "[") - (sign == "]")
        if sign == "|" and not depth:
            found.append("")
        else:
            found[-1] += sign
    return [part.strip() for part in found]


def _is_of(value: Any, annotation: str) -> bool:
    return any(_is_one(value, part) for part in _parts(annotation))


def _is_one(value: Any, part: str) -> bool:
    simple = {"str": str, "bool": bool, "None": type(None)}
    if part in simple:
        return isinstance(value, simple[part])
    if part in ("int", "float"):
        kinds: tuple[type, ...] = (numbers.Integral,) if part == "int" else (numbers.Real,)
        return isinstance(value, kinds) and not isinstance(value, bool)
    head, _, inner = part.removesuffix("]").partition("[")
    if head == "Sequence":
        listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        return listed and all(_is_of(each, inner) for each in value)
    if head == "Mapping":  # JSON values of another type are refused by the study, in the words of the option
        key, _, of = inner.partition(", ")
        plain = (str, numbers.Real, type(None), Mapping, list, tuple)
        return isinstance(value, Mapping) and all(
            _is_of(k, key) and (of == "Any" or _is_of(v, of) or isinstance(v, plain)) for k, v in value.items()
        )
    return callable(value)


def taken(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that a function takes.

    Examples
    --------
    >>> def summarise(items, *, k=10): ...
    >>> taken(summarise, {"k": 3, "judge": "baseline/lexical"})
    {'k': 3}
    """
    names = inspect.signature(function).parameters
    return {name: value for name, value in options.items() if name in names}


def _plain(value: Any) -> Any:
    if callable(value):
        return f"function:{getattr(value, '__name__', type(value).__name__)}"
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (tuple, list)) else value


def also_called(**names: str) -> Callable[[F], F]:
    """A decorator: keyword arguments that have a second name, ``second="first"``.

    Examples
    --------
    >>> @also_called(data="dataset")
    ... def rows(dataset):
    ...     return len(dataset)
    >>> rows([1, 2]), rows(dataset=[1, 2]), rows(data=[1, 2])
    (2, 2, 2)
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def called(*given: Any, **options: Any) -> Any:
            # Given twice, the second name stays, and is refused as Python refuses it.
            known = {name for name in names.values() if name in options or given}
            return function(
                *given, **{names.get(k, k) if names.get(k) not in known else k: v for k, v in options.items()}
            )

        return called  # type: ignore[return-value]

    return decorate


class Checks:
    """Faults of options, gathered and refused in one message.

    Parameters
    ----------
    options : mapping, optional
        Those of them that mean the same in every study are checked at once: samples, calls of models, pass mark, resamples.

    Examples
    --------
    >>> Checks({"n_resamples": 1, "cot_n_samples": -1, "common_constants": "none"}).faults
    ['n_resamples must be at least 2, got 1', 'cot_n_samples must be at least 0, got -1']
    >>> checks = Checks()
    >>> checks.share(threshold=2)
    >>> checks.choice("level", "x", ("a", "b"))
    >>> checks.faults
    ['threshold must be between 0 and 1, got 2', "level must be one of a, b; got 'x'"]
    >>> checks = Checks({"ties": "mean", "n_folds": 1, "coverage": 0.5, "depths": [0, 2]})
    >>> checks.choices(ties=("first", "last"))
    >>> checks.at_least(2, "n_folds")
    >>> checks.share("coverage", "depths")
    >>> checks.faults
    ["ties must be one of first, last; got 'mean'", 'n_folds must be at least 2, got 1', 'depths must be between 0 and 1, got [0, 2]']
    """

    def __init__(self, options: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.faults: list[str] = []
        self.options = options
        for name, value in options.items():
            if name.endswith("sample_method"):
                self.choice(name, value, ("first", "random"))
            if name in ("threshold", "max_unscored"):
                self.share(**{name: value})
            for ending, least in (("n_resamples", 2), ("n_samples", 0), ("temperature", 0), ("max_tokens", 1)):
                if name.endswith(ending):
                    self.at_least(least, **{name: value})

    def that(self, holds: object, fault: str) -> None:
        """``fault`` unless it holds."""
        if not holds:
            self.faults.append(fault)

    def choice(self, name: str, value: object, known: Iterable[object]) -> None:
        """One of several; a value that had another name before is refused with its new one."""
        known = tuple(known)
        stem = str(value).removesuffix("_seed")
        now = [k for k in known if stem != value and str(k).rpartition("_")[0] == stem]
        renamed = f", which is now called {now[0]}" if now else ""
        self.that(value in known, f"{name} must be one of {', '.join(map(str, known))}; got {value!r:.80}{renamed}")

    def choices(self, **known: Iterable[object]) -> None:
        """Options that are each one of several."""
        for name, values in known.items():
            self.choice(name, self.options[name], values)

    def some(self, **known: Iterable[object]) -> None:
        """Options that each list one or more of several."""
        for name, values in known.items():
            self.that(self.options[name], f"{name} must be some of {', '.join(map(str, values))}; got none")
        self.any_of(**known)

    def any_of(self, **known: Iterable[object]) -> None:
        """Options that each list any number of several, none too."""
        for name, values in known.items():
            for value in self.options[name]:
                self.choice(name, value, values)

    def share(self, *names: str, **values: Any) -> None:
        """Numbers from 0 to 1: options by their names, of a list each number; or further values."""
        self._numbers(names, values, lambda n: 0 <= n <= 1, "between 0 and 1")

    def at_least(self, least: float, *names: str, **values: Any) -> None:
        """Numbers from ``least`` on, as of :meth:`share`."""
        self._numbers(names, values, lambda n: n >= least, f"at least {least:g}")

    def within(self, low: float, high: float, *names: str) -> None:
        """Options that are numbers from ``low`` to ``high``, or null."""
        known = [name for name in names if self.options[name] is not None]
        self._numbers(known, {}, lambda n: low <= n <= high, f"between {low:g} and {high:g}")

    def inside(self, low: float, high: float, *names: str) -> None:
        """Options that are numbers above ``low`` and below ``high``."""
        self._numbers(names, {}, lambda n: low < n < high, f"above {low:g} and below {high:g}")

    def _numbers(
        self, names: Iterable[str], values: Mapping[str, Any], holds: Callable[[Any], bool], what: str
    ) -> None:
        for name in (*names, *values):
            value = values[name] if name in values else self.options[name]
            each = value if isinstance(value, list) and name not in values else [value]
            self.that(all(_is_number(n) and holds(n) for n in each), f"{name} must be {what}, got {value!r}")

    def vectors(self) -> None:
        """The option ``embed`` is not the one similarity that has no vectors."""
        jaccard = "embed: jaccard compares words and has no vectors; name an embedding model"
        self.that(self.options["embed"] != "jaccard", jaccard)

    def texts(self, name: str, value: Iterable[Any]) -> None:
        """One text or more, none of them blank."""
        value = list(value)
        holds = value and all(isinstance(text, str) and text.strip() for text in value)
        self.that(holds, f"{name} must be one text or more, none of them blank; got {value!r}")

    def weights(self, name: str, value: Mapping[str, Any], keys: Iterable[str]) -> None:
        """Finite and non-negative numbers, not all zero, one for each key."""
        keys = tuple(keys)
        if set(value) != set(keys):
            got = ", ".join(map(str, value)) or "none"
            self.faults.append(f"{name} must have exactly the keys {', '.join(keys)}; got {got}")
            return
        holds = all(_is_number(weight) and 0 <= weight < float("inf") for weight in value.values())
        self.that(holds and any(value.values()), f"{name} must be non-negative and not all zero")

    def tried(self, parse: Callable[[], T]) -> T | None:
        """What ``parse`` makes of an option; None where it refuses it, and its faults are gathered.

        Examples
        --------
        >>> checks = Checks()
        >>> def parse():
        ...     raise BadInput.listing("cuts:", ["0.5: twice", "0.7: twice"])
        >>> checks.tried(parse), checks.faults
        (None, ['0.5: twice', '0.7: twice'])
        """
        try:
            return parse()
        except BadInput as error:
            self.faults += error.faults or [str(error)]
            return None

    def refuse(self, study: str) -> None:
        """Refuse all faults at once, if there are any.

        Raises
        ------
        BadInput
            ``STUDY: invalid options:`` and a line for each fault.
        """
        if self.faults:
            raise BadInput.listing(f"{study}: invalid options:", self.faults)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
