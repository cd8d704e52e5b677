"""A mark out of small questions: a graph of them from YAML, and the path that each answer took.

::

    name: fulness
    start: time
    nodes:
      time:
        ask: Does the answer give a time?
        choices: {yes: place, no: {mark: 0}}
      place:
        ask: Does the answer say where?
        choices: {yes: {mark: 2}, no: {mark: 1}}

A node asks the judge a question with ``choices``, each of which leads to a node or ends in a mark; or has it write something
(``task``, such as *List the claims.*) that later nodes of the path see, and goes on (``then``); or has it mark by a ``criterion``
of the criteria at hand, whose marks are the choices, or the verdict where there are none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.judge.criteria import task_of_criterion
from evalbench.judge.criteria_lint import handbook_criteria
from evalbench.judge.rows import Judgement, Judgements
from evalbench.judge.tasks import Task
from evalbench.judge.verdicts import InProcess, Recording, judge
from evalbench.readers.strict_yaml import read_yaml

if TYPE_CHECKING:
    import pandas as pd

KINDS = {"ask": ("ask", "choices"), "task": ("task", "then"), "criterion": ("criterion", "choices")}
"""What a node can be, and its keys."""
WRITING = "dag_task"
_FIELDS = ("name", "start", "nodes")
Branch = str | float
"""The next node's name, or the mark that ends the path."""


@dataclass(frozen=True)
class Node:
    """One node: what the judge is asked, and where each reply leads.

    Attributes
    ----------
    branches : mapping of str to Branch
        By the reply's label; of a task node under the empty text.
    """

    name: str
    task: Task
    branches: Mapping[str, Branch]


@dataclass(frozen=True)
class Dag:
    """A graph that was checked: it has no cycle, every branch ends in a mark, every node can be reached."""

    name: str
    start: str
    nodes: Mapping[str, Node]
    order: tuple[str, ...]


class Step(NamedTuple):
    """One node of a path: what the judge said there and why."""

    node: str
    said: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Walked:
    """The mark of one answer and how it came about.

    Attributes
    ----------
    mark : float
        NaN where unscored.
    path : tuple of Step
        Also of an unscored one, as far as it came.
    unscored, detail : str
        Why there is no mark; empty where there is one.
    """

    id: str
    mark: float = math.nan
    path: tuple[Step, ...] = ()
    unscored: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Walks:
    """The marks of all items, in their order, and everything that was asked."""

    rows: tuple[Walked, ...]
    asked: tuple[Judgements, ...] = field(default=())

    def frame(self) -> pd.DataFrame:
        """One row per item: id, mark, path in words, unscored, detail."""
        import pandas as pd

        rows = [
            (row.id, row.mark, " → ".join(f"{s.node}: {s.said}" for s in row.path), row.unscored, row.detail)
            for row in self.rows
        ]
        return pd.DataFrame(rows, columns=["id", "mark", "path", "unscored", "detail"])


def read_dag(path: str | Path, criteria: Mapping[str, Task] | None = None) -> Dag:
    """The graph of a YAML file, as :func:`dag_of` describes it.

    Parameters
    ----------
    criteria : mapping of str to Task, optional
        Those that nodes may name; by default the shipped ones, see
        :func:`evalbench.judge.criteria_lint.handbook_criteria`.

    Raises
    ------
    BadInput
        For a file that is not YAML or has a key twice, with the line; else as :func:`dag_of` does.
    """
    if criteria is None:
        criteria = {one.name: task_of_criterion(one) for one in handbook_criteria()}
    path = Path(path).expanduser()
    try:
        return dag_of(read_yaml(path), criteria)
    except BadInput as error:
        if str(error).startswith(str(path)):
            raise
        raise BadInput.listing(f"{path}: not a decision graph:", error.faults or [str(error)]) from None


def dag_of(content: Any, criteria: Mapping[str, Task] | None = None) -> Dag:
    """A graph out of what a YAML file holds.

    Parameters
    ----------
    content : mapping
        ``name``, ``start``, ``nodes``.
    criteria : mapping of str to Task, optional
        Those of :func:`evalbench.judge.tasks.mark_task` that nodes may name.

    Raises
    ------
    BadInput
        With all faults at once, each with its node's name: unknown keys, a missing question, fewer than two choices, a branch to a
        node that does not exist, an unknown criterion, a cycle, a node that no path reaches.

    Examples
    --------
    >>> graph = dag_of({"name": "brevity", "start": "short", "nodes": {
    ...     "short": {"ask": "Is it short?", "choices": {"yes": {"mark": 1}, "no": {"mark": 0}}}}})
    >>> graph.order
    ('short',)
    """
    if not isinstance(content, Mapping) or not isinstance(content.get("nodes"), Mapping) or not content["nodes"]:
        raise BadInput(f"a decision graph needs {', '.join(_FIELDS)}, and nodes that are a mapping from name to node")
    given = {str(name): node for name, node in content["nodes"].items()}
    faults = [f"unknown key {key!r}; there are {', '.join(_FIELDS)}" for key in content if key not in _FIELDS]
    start = str(content.get("start", ""))
    if start not in given:
        faults.append(f"start is {content.get('start')!r}, which is not a node; nodes are {', '.join(given)}")
    for name, node in given.items():
        faults += [f"node {name!r}: {fault}" for fault in _faults(node, given, criteria or {})]
    if not faults:
        faults = list(_shape_faults(start, given))
    if faults:
        raise BadInput.listing(f"the decision graph {content.get('name', '')!r} is invalid:", faults)
    nodes = {name: _node(name, node, criteria or {}) for name, node in given.items()}
    return Dag(str(content.get("name", "")), start, nodes, _order(given))


def walk(items: Sequence[Mapping[str, Any]], *, by: str | Recording | InProcess, graph: Dag, **options: Any) -> Walks:
    """Take every item through the graph, from its start to a mark.

    Parameters
    ----------
    items : sequence of mapping
        ``id``, ``answer``, and if wanted ``question`` and ``basis``.
    by : str, Recording or callable
        As in :func:`evalbench.judge.verdicts.judge`.  Recorded verdicts have the ids ``ID/NODE``
        and the node's name as ``task``.
    options
        As in :func:`evalbench.judge.verdicts.judge`.

    Examples
    --------
    >>> graph = dag_of({"name": "brevity", "start": "short", "nodes": {
    ...     "short": {"ask": "Is it short?", "choices": {"yes": {"mark": 1}, "no": {"mark": 0}}}}})
    >>> found = walk([{"id": "1", "answer": "At noon."}], by=lambda item: "yes", graph=graph).rows[0]
    >>> found.mark, found.path
    (1.0, (Step(node='short', said='yes', reason=''),))
    """
    at: dict[str, str] = dict.fromkeys((item["id"] for item in items), graph.start)
    walked = {name: Walked(id=name) for name in at}
    written: dict[str, list[str]] = {name: [] for name in at}
    asked = []
    for name in graph.order:
        node = graph.nodes[name]
        here = [item for item in items if at.get(item["id"]) == name]
        if not here:
            continue
        shown = [_shown(item, name, written[item["id"]], node.task) for item in here]
        found = judge(shown, by=by, task=node.task, **options)
        asked.append(found)
        said = {row.id: row for row in found.rows if row.sample == 0}
        for item in here:
            one, reply = item["id"], said[f"{item['id']}/{name}"]
            walked[one] = _taken(walked[one], node, reply)
            if node.task.prompt == WRITING and not reply.unscored:
                written[one].append(reply.parts["text"])
            branch = None if reply.unscored else node.branches[reply.label]
            at[one] = branch if isinstance(branch, str) else ""
    return Walks(tuple(walked[item["id"]] for item in items), tuple(asked))


def _shown(item: Mapping[str, Any], node: str, written: Sequence[str], task: Task) -> dict[str, Any]:
    known = {key: item[key] for key in ("answer", "question", "basis") if item.get(key)}
    if written and "notes" in task.lists:
        known["notes"] = list(written)
    return {"answer": "", **known, "id": f"{item['id']}/{node}"}


def _taken(so_far: Walked, node: Node, reply: Judgement) -> Walked:
    if reply.unscored:
        detail = f"at {node.name}: {reply.detail}" if reply.detail else f"at {node.name}"
        return Walked(id=so_far.id, path=so_far.path, unscored=reply.unscored, detail=detail)
    said = reply.parts["text"] if node.task.prompt == WRITING else _words(node.task, reply.label)
    path = (*so_far.path, Step(node.name, said, reply.reason))
    branch = node.branches[reply.label]
    return Walked(id=so_far.id, path=path, mark=math.nan if isinstance(branch, str) else float(branch))


def _words(task: Task, label: str) -> str:
    return str(dict(task.context.get("choices", ())).get(label, label))


# What a file may hold ------------------------------------------------------------------------------------------------


def _faults(node: Any, nodes: Mapping[str, Any], criteria: Mapping[str, Task]) -> Iterator[str]:
    kinds = [kind for kind in KINDS if isinstance(node, Mapping) and kind in node]
    if len(kinds) != 1:
        yield f"expected one of {', '.join(KINDS)}"
        return
    (kind,) = kinds
    yield from (
        f"unknown key {key!r}; a node with {kind} has {', '.join(KINDS[kind])}"
        for key in node
        if key not in KINDS[kind]
    )
    if not isinstance(node[kind], str) or not node[kind].strip():
        yield f"{kind} is {node[kind]!r}, not a text"
        return
    if kind == "criterion" and node[kind] not in criteria:
        yield f"unknown criterion {node[kind]!r}; known are {', '.join(criteria) or 'none'}"
        return
    if kind == "task":
        yield from _branch_faults("then", node.get("then"), nodes)
        return
    choices = node.get("choices")
    if kind == "criterion" and choices is None:
        return
    if not isinstance(choices, Mapping) or len(choices) < 2:
        yield "choices: expected a mapping of two replies or more, each to a node or to {mark: NUMBER}"
        return
    labels = [_label(choice) for choice in choices]
    yield from (f"the choice {label!r} appears twice" for label in sorted({x for x in labels if labels.count(x) > 1}))
    yield from (f"choice {choice!r}: is empty" for choice in choices if not str(choice).strip())
    if kind == "criterion" and set(labels) != set(criteria[node[kind]].labels):
        yield f"choices: expected the marks of {node[kind]!r}: {', '.join(criteria[node[kind]].labels)}"
    for choice, branch in choices.items():
        yield from _branch_faults(f"choice {_text(choice)!r}", branch, nodes)


def _branch_faults(what: str, branch: Any, nodes: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(branch, Mapping):
        mark = branch.get("mark")
        if (
            set(branch) != {"mark"}
            or isinstance(mark, bool)
            or not isinstance(mark, int | float)
            or not math.isfinite(mark)
        ):
            yield f"{what}: expected a node or {{mark: NUMBER}}, found {dict(branch)!r}"
    elif branch is None or str(branch) not in nodes:
        yield f"{what} leads to {branch!r}, which is not a node: a path would never end"


def _shape_faults(start: str, nodes: Mapping[str, Any]) -> Iterator[str]:
    try:
        _order(nodes)
    except CycleError as error:
        yield f"nodes in a circle, so that a path would never end: {' → '.join(error.args[1])}"
        return
    reached, waiting = set(), [start]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += _next(nodes[name])
    yield from (f"node {name!r}: no path reaches it" for name in nodes if name not in reached)


def _next(node: Mapping[str, Any]) -> list[str]:
    branches = [node["then"]] if "then" in node else list((node.get("choices") or {}).values())
    return [str(branch) for branch in branches if not isinstance(branch, Mapping)]


def _order(nodes: Mapping[str, Any]) -> tuple[str, ...]:
    before: dict[str, set[str]] = {name: set() for name in nodes}
    for name, node in nodes.items():
        for after in _next(node):
            before[after].add(name)
    return tuple(TopologicalSorter(before).static_order())


def _node(name: str, node: Mapping[str, Any], criteria: Mapping[str, Task]) -> Node:
    seen: Any = {"optional": ("question", "basis", "notes"), "lists": ("notes",)}
    if "task" in node:
        writes = {"text": (str, "what was asked for")}
        task = Task(name, ("answer",), {}, prompt=WRITING, parts=writes, context={"instruction": node["task"]}, **seen)
        return Node(name, task, {"": _branch(node["then"])})
    choices = node.get("choices")
    if "criterion" in node:
        known = criteria[node["criterion"]]
        task = replace(known, name=name, prompt=known.prompt or known.name)
        return Node(name, task, _branches(choices) if choices else dict(task.labels))
    words = {_label(choice): _text(choice) for choice in node["choices"]}
    labels = dict.fromkeys(words, math.nan)
    context = {"ask": node["ask"], "choices": list(words.items())}
    return Node(
        name, Task(name, ("answer",), labels, prompt="dag_question", context=context, **seen), _branches(choices or {})
    )


def _branches(choices: Mapping[Any, Any]) -> dict[str, Branch]:
    return {_label(choice): _branch(branch) for choice, branch in choices.items()}


def _branch(given: Any) -> Branch:
    return float(given["mark"]) if isinstance(given, Mapping) else str(given)


def _text(choice: Any) -> str:
    """YAML 1.1 reads yes and no as true and false."""
    return {True: "yes", False: "no"}[choice] if isinstance(choice, bool) else str(choice).strip()


def _label(choice: Any) -> str:
    return _text(choice).upper().replace(" ", "_").replace("-", "_")
