"""Values checked against a notebook's parameters: names, types, bounds, secrets; and what its defaults were edited to."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.judge.agent.naming import with_corpus
from evalbench.models.redact import environment_keys, holds, names_a_key, user_info
from evalbench.readers.files import parsed_json
from evalbench.readers.parameters import Parameter

OF_JUDGES = ("labels", "correction", "anchors_then", "anchors_now")
"""The files of every study whose figures rest on a judge."""
INSTEAD = "_data"
"""How the name of a file ends that is read instead of the data set."""
# What these names mean in every study.
LIMITS = {"n_resamples": (100, 1_000_000), "max_unscored": (0, 1), "seed": (0, 2**63 - 1)}


def checked_values(
    known: Mapping[str, Parameter], given: Mapping[str, Any], source: str, own: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """Given values, checked against the parameters; texts are parsed as the type asks.

    ``own`` are the study's defaults: an option whose default is None may be None, whatever the notebook has for its sample.

    Raises ``BadInput``: Unknown names, names that smell of a secret, values of a wrong type or that JSON cannot hold:
    all at once.
    """
    values: dict[str, Any] = {}
    faults: list[str] = []
    keys = environment_keys()
    for name, value in given.items():
        if names_a_key(name):
            faults.append(f"{name}: parameters are stored in clear; keys and passwords come from the environment only")
        elif fault := _secret_in(_as_text(value), keys):
            faults.append(f"{name}: {fault}")
        elif name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            faults.append(f"unknown parameter {name}; {hint}")
        elif value is None and own.get(name, "") is None:
            values[name] = None
        else:
            try:
                values[name] = _value(known[name], value)
            except ValueError as error:
                faults.append(f"{name}: {error}")
    if faults:
        raise BadInput.listing(f"{source}: invalid parameters:", faults)
    return values


def for_other_data(
    sample: Mapping[str, Any], known: Mapping[str, Parameter], given: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, Any]:
    """The study's defaults in place of what a notebook has for its sample, where other data are given or written into it.

    - ``sample``: The notebook's metadata: the values of its sample that differ from the defaults, and ``data``.
    - ``known``: Of the notebook; a value that somebody has edited stays.
    - ``given``: The values given.
    - ``own``: The defaults of the study's ``evaluate``.

    Returns: As a notebook writes them: a tuple is a list.

    Examples
    --------
    >>> from evalbench.readers.parameters import parse_cell
    >>> known = parse_cell("data: str = 's@1.0.0'\\nmetrics: list | str = ['a']", "x")
    >>> for_other_data({"data": "s@1.0.0", "metrics": ["a"]}, known, {"data": "mine.csv"}, {"metrics": "auto"})
    {'metrics': 'auto'}
    >>> for_other_data({"data": "s@1.0.0", "metrics": ["a"]}, known, {"data": "mine.csv"}, {"metrics": ("b", "c")})
    {'metrics': ['b', 'c']}
    """
    edited = known["data"].default if "data" in known else sample.get("data")
    if given.get("data", edited) == sample.get("data"):
        return {}
    unedited = [name for name, value in sample.items() if name in known and known[name].default == value]
    defaults = {name: own[name] for name in unedited if name in own and name not in given}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in defaults.items()}


def edited_defaults(known: Mapping[str, Parameter], own: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Parameters of a notebook that differ from those its study was released with.

    - ``known``: Of the notebook.
    - ``own``: The study's own defaults; empty for a notebook that is not a study's, which then differs in nothing.

    Returns: Name → ``{"own": …, "here": …}``; a parameter that only one of them has lacks the other key.

    Examples
    --------
    >>> from evalbench.readers.parameters import parse_cell
    >>> edited_defaults(parse_cell("k: int = 5\\nnew: str = ''", "x"), {"k": 3, "gone": 1})
    {'k': {'own': 3, 'here': 5}, 'new': {'here': ''}, 'gone': {'own': 1}}
    """
    if not own:
        return {}
    here = {name: parameter.default for name, parameter in known.items()}
    sides = {
        name: {side: held[name] for side, held in (("own", own), ("here", here)) if name in held}
        for name in [*here, *own]
    }
    return {
        name: found
        for name, found in sides.items()
        if len(found) == 1 or json.dumps(found["own"]) != json.dumps(found["here"])
    }


def edits_text(edited: Mapping[str, Mapping[str, Any]]) -> str:
    """Edited defaults in words.

    Examples
    --------
    >>> edits_text({"k": {"own": 3, "here": 5}, "new": {"here": ""}, "gone": {"own": 1}})
    'k 3 → 5, new is added, gone is missing'
    """
    return ", ".join(
        f"{name} {_json(found['own'])} → {_json(found['here'])}"
        if len(found) == 2
        else f"{name} is {'added' if 'here' in found else 'missing'}"
        for name, found in edited.items()
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _as_text(value: Any) -> str:
    """A value with all texts in it; nothing for what JSON cannot hold, which is refused anyway."""
    try:
        return json.dumps(value, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def _secret_in(text: str, keys: Mapping[str, str]) -> str:
    """What is wrong with a value that would put a key or a password into a run's files; it is not repeated here."""
    if user_info(text):
        return "an address with a user or password in it is refused; keys come from the environment only"
    names = [name for key, name in keys.items() if holds(text, key)]
    return f"holds the value of {', '.join(dict.fromkeys(names))}, which a run's files must not" if names else ""


def _value(parameter: Parameter, value: Any) -> Any:
    nested = {"list", "dict"} & set(parameter.types) and isinstance(value, str) and value.lstrip()[:1] in ("[", "{")
    if isinstance(value, str) and (nested or "str" not in parameter.types):
        value = _parsed(parameter, value)
    if value is None:
        if not parameter.optional:
            raise ValueError(f"expected {parameter}, found None")
        return None
    kind = type(value).__name__
    if kind == "int" and "float" in parameter.types and "int" not in parameter.types:
        value, kind = float(value), "float"
    if kind not in parameter.types and parameter.types:
        raise ValueError(f"expected {parameter}, found {_shown(value)} ({kind})")
    try:
        json.dumps(value, allow_nan=False)
    except RecursionError:
        raise ValueError("cannot be held by JSON (nested too deeply)") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{_shown(value)} cannot be held by JSON ({error})") from None
    low, high = LIMITS.get(parameter.name, (-math.inf, math.inf))
    if isinstance(value, (int, float)) and not low <= value <= high:
        raise ValueError(f"expected {low:g} to {high:g}, found {value}")
    return value


def _parsed(parameter: Parameter, text: str) -> Any:
    """A text of the command line as the parameter's type."""
    word = text.strip()
    if word.lower() in ("none", "null", "") and parameter.optional:
        return None
    if "bool" in parameter.types and word.lower() in ("true", "false"):
        return word.lower() == "true"
    for kind, convert in (("int", int), ("float", float)):
        if kind in parameter.types:
            try:
                number = convert(word)
            except ValueError:
                continue
            if math.isfinite(number):
                return number
    if {"list", "dict"} & set(parameter.types):
        try:
            return parsed_json(word)
        except ValueError as error:
            example = '["a", "b"]' if "list" in parameter.types else '{"a": 1}'
            raise ValueError(
                f"expected {parameter} as JSON, such as {example}; found {_shown(text)} ({error})"
            ) from None
    raise ValueError(f"expected {parameter}, found {_shown(text)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def with_corpora(values: Mapping[str, Any], changed: Callable[[str], str]) -> dict[str, Any]:
    """The parameters with another corpus in the place of that of each judge that looks things up."""

    def of(value: Any) -> Any:
        if isinstance(value, list):
            return [of(one) for one in value]
        return with_corpus(value, changed) if isinstance(value, str) else value

    return {name: of(value) for name, value in values.items()}


def file_parameters(values: Mapping[str, Any], tables: tuple[str, ...]) -> dict[str, Path]:
    """The parameters that name files or folders: tables, labels, corrections, anchors, ``…_data``, ``…_file`` and ``…_run``; empty ones left out.

    ``data`` counts where it is a path rather than ``name@version``.
    """
    names = [n for n in values if n in (*tables, *OF_JUDGES) or n.endswith((INSTEAD, "_file", "_run"))]
    paths = {n: Path(values[n]).expanduser() for n in names if isinstance(values[n], str) and values[n]}
    return {name: path for name, path in paths.items() if ":" not in path.name or path.exists()}
