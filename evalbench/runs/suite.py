"""A suite: studies × data sets × parameters in one YAML file, checked whole before anything starts.

::

    timeout: 900                       # seconds for each run, unless its entry says otherwise
    memory: 4000                       # MB that each kernel may take (Linux), unless its entry says otherwise
    max_calls: 500                     # requests to models of each run, unless its entry says otherwise; or max_cost
    runs:
      - study: matching                # one, or a list; the name of a study or the path of a notebook
        data: house_style_curated@1.1.0    # one, or a list; the notebook's own where it is left out
        parameters: {n_resamples: 500}
        matrix: {seed: [0, 1, 2], embed: [jaccard, use-multilingual]}   # every combination

Relative paths start from the folder of the suite's file.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.runs.kernel import memory_fault, timeout_fault
from evalbench.runs.limits import limited
from evalbench.runs.notebooks import known_parameters
from evalbench.runs.parameters import checked_values
from evalbench.runs.run import Plan, plan

LIMITS = ("max_calls", "max_cost")
_SETTINGS = ("timeout", "memory", *LIMITS)
_TOP = (*_SETTINGS, "runs")
_ENTRY = ("study", "data", "parameters", "matrix", *_SETTINGS)
_PARAMETER = re.compile(r"^(?:unknown parameter )?(\w+)[:;]")


class Job(NamedTuple):
    """One run of a suite.

    - ``number``: Counted from 1 over the whole suite.
    - ``entry``, ``line``: The number of its entry and its line in the file; line 0 where it comes from no file.
    - ``timeout``: Seconds.
    - ``memory``: MB.
    - ``label``: Study and what tells it apart: what its entry varies, and what else it states otherwise than runs of
      that name.
    """

    number: int
    entry: int
    line: int
    plan: Plan
    timeout: float | None
    memory: int | None
    label: str


class _Entry(NamedTuple):
    """An entry of the file: its values, and the line of each key and of each parameter."""

    number: int
    line: int
    values: Mapping[str, Any]
    lines: Mapping[str, int]

    def at(self, *names: str) -> str:
        line = next((self.lines[name] for name in names if name in self.lines), self.line)
        return f"entry {self.number} (line {line})" if line else "the entry"


def read_suite(path: Path, root: Path | None = None, limits: Mapping[str, Any] | None = None) -> tuple[Job, ...]:
    """All runs of a suite, each of them ready to start.

    - ``root``: The workbench.
    - ``limits``: ``max_calls`` and ``max_cost`` of each run whose entry sets none.

    Raises ``BadInput``: One message with every fault and its place: the file cannot be read or has an unknown form,
    unknown studies, missing data, parameters of a wrong type, two equal runs.
    """
    entries, faults = _entries(path)
    return _jobs(entries, faults, path, path.parent, root, limits)


def entry_jobs(values: Mapping[str, Any], place: str, base: Path, root: Path | None = None) -> tuple[Job, ...]:
    """The runs of one entry that is not in a suite's file.

    - ``values``: Its keys, as in a suite's file.
    - ``place``: Where it is from, for messages.
    - ``base``: Where relative paths start.
    - ``root``: The workbench.

    Raises ``BadInput``: As :func:`read_suite`.
    """
    entry = _Entry(1, 0, {**dict.fromkeys(_SETTINGS), **values}, {})
    return _jobs([entry], [], place, base, root)


def _jobs(
    entries: Sequence[_Entry],
    faults: list[str],
    place: str | Path,
    base: Path,
    root: Path | None,
    limits: Mapping[str, Any] | None = None,
) -> tuple[Job, ...]:
    jobs: list[Job] = []
    stated: list[Mapping[str, Any]] = []
    first: dict[str, str] = {}
    for entry in entries:
        for study, values, varied in _combinations(entry, faults):
            try:
                planned = _limited(_planned(study, values, root, base), entry, limits or {})
            except BadInput as error:
                faults += [f"{entry.at(_named(line))}: {line}" for line in str(error).split("\n")]
                continue
            label = _label(planned, varied)
            if planned.identity in first:
                faults.append(f"{entry.at()}: {label}: the same run as in {first[planned.identity]}")
                continue
            first[planned.identity] = entry.at()
            timeout, memory = entry.values.get("timeout"), entry.values.get("memory")
            jobs.append(Job(len(jobs) + 1, entry.number, entry.line, planned, timeout, memory, label))
            stated.append(values)
    if faults:
        raise BadInput.listing(f"{place}: nothing was started:", faults)
    if not jobs:
        raise BadInput(f"{place}: it has no runs")
    labels = _told_apart([job.label for job in jobs], stated)
    return tuple(job._replace(label=label) for job, label in zip(jobs, labels, strict=True))


def _planned(study: str, values: Mapping[str, Any], root: Path | None, base: Path) -> Plan:
    """A plan, or all its faults, a line each: those of parameters do not hide those of data."""
    try:
        return plan(study, values, root, base)
    except BadInput as error:
        faults = _lines(error)
    fitting = {name: value for name, value in values.items() if _fits(study, name, value, root, base)}
    if len(fitting) < len(values):
        try:
            plan(study, fitting, root, base)
        except BadInput as error:
            faults += _lines(error)
    raise BadInput("\n".join(dict.fromkeys(faults)))


def _fits(study: str, name: str, value: Any, root: Path | None, base: Path) -> bool:
    target = str(base / study) if study.endswith(".ipynb") else study
    try:
        checked_values(known_parameters(target, root), {name: value}, study)
    except BadInput:
        return False
    return True


def _limited(planned: Plan, entry: _Entry, given: Mapping[str, Any]) -> Plan:
    """The plan with the budget of its entry, else that of the command line."""
    own = {name: entry.values[name] for name in LIMITS if entry.values.get(name) is not None}
    try:
        return limited(planned, **(own or given))
    except BadInput as error:
        raise BadInput("\n".join(_lines(error))) from None


def _lines(error: BadInput) -> list[str]:
    """The faults that a message lists, or the message."""
    head, *listed = str(error).split("\n")
    return [line.strip().removeprefix("- ") for line in listed] or [head]


def _named(fault: str) -> str:
    """The parameter that a fault begins with."""
    found = _PARAMETER.match(fault)
    return found[1] if found else "study"


def _label(planned: Plan, varied: Mapping[str, Any]) -> str:
    return _with_values(planned.study, varied)


def _with_values(label: str, values: Mapping[str, Any]) -> str:
    return " ".join([label, *(f"{name}={value}" for name, value in values.items())])


def _told_apart(labels: Sequence[str], stated: Sequence[Mapping[str, Any]]) -> list[str]:
    """Labels that several runs share go on with the values in which these runs differ."""
    out = list(labels)
    for label in dict.fromkeys(labels):
        alike = [i for i, other in enumerate(labels) if other == label]
        names = dict.fromkeys(name for i in alike for name in stated[i])
        differing = [n for n in names if any(stated[i].get(n) != stated[alike[0]].get(n) for i in alike)]
        for i in alike:
            out[i] = _with_values(label, {n: stated[i][n] for n in differing if n in stated[i]})
    return out


def _combinations(entry: _Entry, faults: list[str]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Study, parameters, and the part of them that varies, for each run of an entry; faults of form are appended."""
    values, found = entry.values, []
    parameters, matrix = values.get("parameters") or {}, values.get("matrix") or {}
    studies = _listed(values.get("study"))
    data = _listed(values.get("data"))
    if not studies or not all(isinstance(study, str) and study for study in studies):
        found.append(f"{entry.at('study')}: study: expected a name, a notebook's path, or a list of them")
    if not all(isinstance(name, str) and name for name in data):
        found.append(f"{entry.at('data')}: data: expected name@version, a path, or a list of them")
    for name, content in (("parameters", parameters), ("matrix", matrix)):
        if not isinstance(content, Mapping):
            found.append(f"{entry.at(name)}: {name}: expected 'name: value' lines")
    if isinstance(matrix, Mapping):
        found += [
            f"{entry.at(str(name))}: matrix: {name}: expected a list of at least one value"
            for name, choices in matrix.items()
            if not isinstance(choices, list) or not choices
        ]
    if not found:
        doubled = [n for n in [*parameters, *(["data"] if data else [])] if n in matrix]
        doubled += ["data"] if data and "data" in parameters else []
        found += [f"{entry.at(str(name))}: {name}: given twice" for name in doubled]
    timeout = values.get("timeout")
    if timeout is not None and (fault := timeout_fault(timeout)):
        found.append(f"{entry.at('timeout')}: timeout: {fault}")
    if fault := memory_fault(values.get("memory")):
        found.append(f"{entry.at('memory')}: memory: {fault}")
    faults += found
    if found:
        return
    for study, named, *chosen in itertools.product(studies, data or [None], *matrix.values()):
        own = dict(zip(map(str, matrix), chosen, strict=True))
        if named is not None:
            own = {"data": named, **own}
        varied = {name: value for name, value in own.items() if name != "data" or len(data) > 1}
        yield study, {**{str(n): v for n, v in parameters.items()}, **own}, varied


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _entries(path: Path) -> tuple[list[_Entry], list[str]]:
    """The entries with their lines, and the faults of the file's form."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8-sig")
        document = yaml.compose(text, Loader=yaml.SafeLoader)
        if document is not None and (line := _line_of_circle(document)):
            raise BadInput(f"{path}: line {line}: an alias within its own anchor")
        content = yaml.safe_load(text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except RecursionError:
        raise BadInput(f"{path}: nested too deeply") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # a date that no calendar has is a ValueError
        raise BadInput(f"{path}: not YAML: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("runs"), list):
        raise BadInput(f"{path}: expected a mapping with 'runs:', a list of entries")
    assert isinstance(document, yaml.MappingNode)
    faults = [f"line {line}: {fault}" for line, fault in _doubled_keys(document)]
    faults += [f"{name}: {_unknown(str(name), _TOP)}" for name in content if name not in _TOP]
    nodes = next(value.value for key, value in reversed(document.value) if key.value == "runs")
    entries = []
    for number, (node, values) in enumerate(zip(nodes, content["runs"], strict=True), 1):
        line = node.start_mark.line + 1
        if not isinstance(values, dict):
            faults.append(f"entry {number} (line {line}): expected 'study:' and its settings")
            continue
        entry = _Entry(
            number, line, {**{name: content.get(name) for name in _SETTINGS}, **values}, dict(_key_lines(node))
        )
        faults += [f"{entry.at(str(n))}: {_unknown(str(n), _ENTRY)}" for n in values if n not in _ENTRY]
        entries.append(entry)
    return entries, faults


def _unknown(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"unknown key {name}; " + (f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}")


def _key_lines(node: Any) -> Iterator[tuple[str, int]]:
    """Lines of an entry's keys and of the keys below ``parameters`` and ``matrix``."""
    import yaml

    for key, value in node.value:
        yield str(key.value), key.start_mark.line + 1
        if key.value in ("parameters", "matrix") and isinstance(value, yaml.MappingNode):
            yield from ((str(inner.value), inner.start_mark.line + 1) for inner, _ in value.value)


def _children(node: Any) -> list[Any]:
    import yaml

    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _line_of_circle(node: Any, above: tuple[int, ...] = (), seen: set[int] | None = None) -> int:
    """The line of a node that is below itself; 0 where there is none."""
    seen = set() if seen is None else seen
    if id(node) in above:
        return int(node.start_mark.line) + 1
    if id(node) in seen:
        return 0
    seen.add(id(node))
    return next((line for child in _children(node) if (line := _line_of_circle(child, (*above, id(node)), seen))), 0)


def _doubled_keys(node: Any) -> Iterator[tuple[int, str]]:
    """Keys that stand twice in one mapping: YAML would take the last in silence."""
    import yaml

    children = node.value if isinstance(node, yaml.SequenceNode) else []
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if str(key.value) in seen:
                yield key.start_mark.line + 1, f"{key.value} appears twice"
            seen.add(str(key.value))
            children = [*children, value]
    for child in children:
        yield from _doubled_keys(child)
