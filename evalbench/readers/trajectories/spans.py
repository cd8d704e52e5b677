"""Spans of a trace as one trajectory: what models were asked and said, what tools were given and answered, in time order.

Every request of a model repeats what was said before it: a step that an earlier span had is not taken again.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from evalbench.core.wording import counted, listed
from evalbench.errors import BadInput
from evalbench.readers.trajectories.about import ended_of
from evalbench.readers.trajectories.listed_tools import tools_in
from evalbench.readers.trajectories.looks import Look
from evalbench.readers.trajectories.messages import guessed, instruction_of, question_of
from evalbench.readers.trajectories.shape import Malformed, Source, Step, Trajectory, reads_as_error

_DEEPEST = 100
MOST_GATHERED = 1_000_000_000
"""Bytes of a file whose rows may be in any order, so that it is held as a whole."""


@dataclass(slots=True)
class Span:
    """A request of a model, a call of a tool, or the work of an agent.

    - ``kind`` ({"model", "tool", "agent", ""}): Empty: another span, kept for its place above others.
    - ``start``, ``end``: Times to sort by, in any unit of the file; ``time``, ``until``: in ISO 8601.
    - ``group``: What several traces belong to: a conversation.  ``task``: what several traces tried: they are its trials.
    - ``stopped``: Why a model's reply ended, in the file's word.
    - ``tools``: The tools that a model was given, as the file lists them.
    - ``agent``: The agent that the span names.  ``has_status``: Whether its format says of each span whether it failed.
    - ``asked``, ``came``: Steps of the messages that a model was given, and of those that it gave.
    """

    trace: str
    id: str
    kind: str
    row: int | str
    parent: str = ""
    name: str = ""
    start: float = 0.0
    end: float = 0.0
    time: str = ""
    until: str = ""
    seconds: float | None = None
    asked: list[Step] = field(default_factory=list)
    came: list[Step] = field(default_factory=list)
    call_id: str = ""
    arguments: str | None = None
    result: str | None = None
    error: str = ""
    tokens: float | None = None
    cost: float | None = None
    model: str = ""
    group: str = ""
    task: str = ""
    mark: float | None = None
    stopped: str = ""
    tools: list[Any] = field(default_factory=list)
    agent: str = ""
    has_status: bool = False


class _Moment(NamedTuple):
    when: float
    place: int
    rank: int
    span: Span


class _Told:
    """The steps of a trace so far, each once."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.seen: Counter[Any] = Counter()
        self.places: dict[Any, int] = {}
        self.open: dict[str, deque[int]] = {}

    def add(self, step: Step) -> None:
        key = _key(step)
        self.seen[key] += 1
        self.places.setdefault(key, len(self.steps))
        if step.kind == "call":
            self.open.setdefault(step.name, deque()).append(len(self.steps))
        self.steps.append(step)

    def asked(self, span: Span) -> None:
        """What was asked, but for what is known from earlier spans; a result that had no text gets it."""
        here: Counter[Any] = Counter()
        for step in span.asked:
            key = _key(step)
            here[key] += 1
            if here[key] > self.seen[key]:
                self.add(step._replace(time=step.time or span.time, parent=span.parent))
            elif step.kind == "result" and self.steps[self.places[key]].text is None:
                self.steps[self.places[key]] = self.steps[self.places[key]]._replace(text=step.text)

    def came(self, span: Span, agent: str) -> None:
        for i, step in enumerate(span.came or [Step("message", "assistant")]):
            step = step._replace(time=step.time or span.until, parent=span.parent, name=step.name or agent)
            spent = step._replace(tokens=span.tokens, cost=span.cost, seconds=span.seconds) if i == 0 else step
            self.add(spent)
        if span.error:
            self.add(Step("note", "assistant", agent, text=span.error, time=span.until, parent=span.parent))

    def call(self, span: Span) -> None:
        """A call of a tool, unless the model's message had it; then the span gets its id."""
        if span.call_id:
            if not self.seen["call", span.call_id]:
                self.add(
                    Step(
                        "call", "assistant", span.name, span.arguments, span.call_id, time=span.time, parent=span.parent
                    )
                )
            return
        if waiting := self.open.get(span.name):
            span.call_id = self.steps[waiting.popleft()].call_id
            return
        self.add(Step("call", "assistant", span.name, span.arguments, "", time=span.time, parent=span.parent))
        self.open[span.name].pop()

    def result(self, span: Span) -> None:
        failed = int(bool(span.error)) or (reads_as_error(span.result) if span.result and not span.has_status else 0)
        text = span.result if span.result is not None else span.error or None
        made = Step(
            *("result", "tool", span.name, None, span.call_id, text, failed, span.until, span.seconds),
            parent=span.parent,
        )
        place = self.places.get(_key(made)) if span.call_id else None
        if place is None:
            self.add(made)
        else:
            if span.has_status:
                failed = max(failed, self.steps[place].error or 0)
            self.steps[place] = self.steps[place]._replace(error=failed, seconds=span.seconds, name=span.name)


def _key(step: Step) -> Any:
    if step.kind in ("call", "result") and step.call_id:
        return step.kind, step.call_id
    return step.kind, step.role, step.name if step.kind == "call" else "", _plain(step.arguments), step.text


def _plain(arguments: str | None) -> str | None:
    """Arguments without the blanks and the order that one writer gives them and another does not."""
    if arguments is None:
        return None
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def trajectory_of(spans: Sequence[Span], name: str, trial: str = "") -> Trajectory:
    """The spans of one trace, or of all traces of a conversation, as one trajectory.

    The mark is that of the only span that has one; the trace ended by an error where a span above all others says so.
    """
    ordered = _in_time(spans)
    by_id = {span.id: span for span in ordered}
    told = _Told()
    for moment in sorted(_moments(ordered, by_id), key=lambda m: (m.when, m.place, m.rank)):
        span = moment.span
        if span.kind == "model":
            if moment.rank == 0:
                told.asked(span)
            else:
                told.came(span, _agent(span, by_id))
        elif span.kind == "tool":
            if moment.rank == 0:
                told.call(span)
            else:
                told.result(span)
        else:
            told.add(Step("handover", "assistant", span.name, time=span.time, parent=span.parent))
    marks = [span.mark for span in ordered if span.mark is not None]
    roots = [span for span in ordered if span.error and span.parent not in by_id]
    last = next((span for span in reversed(ordered) if span.kind == "model"), None)
    return Trajectory(
        name,
        told.steps,
        _model(ordered),
        trial,
        mark=marks[0] if len(marks) == 1 else None,
        ended=f"error: {roots[-1].error[:200]}" if roots else ended_of(last.stopped) if last is not None else "",
        question=question_of(told.steps),
        policy=instruction_of(told.steps),
        tools=tools_in((span.tools for span in ordered), told.steps),
        row=ordered[0].row,
    )


def _moments(spans: Iterable[Span], by_id: dict[str, Span]) -> Iterator[_Moment]:
    for place, span in enumerate(spans):
        if span.kind in ("model", "tool"):
            yield _Moment(span.start, place, 0, span)
            yield _Moment(max(span.end, span.start), place, 1, span)
        elif span.kind == "agent" and _agent(span, by_id):
            yield _Moment(span.start, place, 0, span)


def _agent(span: Span, by_id: dict[str, Span]) -> str:
    """The name of the nearest agent above a span; empty where there is none."""
    above = by_id.get(span.parent)
    for _ in range(_DEEPEST):
        if above is None or above is span:
            return ""
        if above.kind == "agent":
            return above.name
        above = by_id.get(above.parent)
    return ""


def trajectories_of(spans: Iterable[Span], source: Source) -> Iterator[Trajectory]:
    """All traces of a file, in the order of their first spans; the traces of one conversation are one trajectory.

    Where the outermost agents of the traces have several names, these are the names of what is compared, in the place of the models.
    """
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(span)
    grouped: dict[tuple[str, str], list[Span]] = {}
    for trace, held in traces.items():
        task = next((span.task for span in held if span.task), "")
        group = next((span.group for span in held if span.group), trace)
        grouped.setdefault((task, trace) if task else (group, ""), []).extend(held)
    acted = {key: held for key, held in grouped.items() if any(span.kind in ("model", "tool") for span in held)}
    if len(acted) < len(grouped):
        source.note("traces without a request of a model or a call of a tool were left out")
    agents = _agents(acted, source)
    has_status = any(span.kind == "tool" and span.has_status for held in acted.values() for span in held)
    unlike = 0
    for (name, trial), held in acted.items():
        marked = sum(span.mark is not None for span in held)
        if marked > 1:
            source.note("traces with several marks were left unscored")
        try:
            made = trajectory_of(held, name, trial)
        except Malformed as error:
            source.fault(held[0].row, error)
            continue
        steps = [_judged(step, has_status, source) for step in made.steps]
        unlike += has_status and sum(step.error == 0 and bool(reads_as_error(step.text)) for step in steps)
        yield replace(made, steps=steps, model=agents.get((name, trial), made.model))
    if unlike:
        source.note(
            f"{counted(unlike, 'result')} of tools {'reads' if unlike == 1 else 'read'} as an error, without error.type or the status ERROR "
            "in the span: not counted as failed"
        )


def _judged(step: Step, has_status: bool, source: Source) -> Step:
    """A step; a result of which no span says that it failed did not, where spans of tools can say it, and is read for it elsewhere."""
    if step.kind != "result" or step.error is not None:
        return step
    return step._replace(error=0) if has_status else guessed(step, source)


def _agents(traces: Mapping[tuple[str, str], list[Span]], source: Source) -> dict[tuple[str, str], str]:
    """The names of the outermost agents of traces, that of the model behind one of several models; none where there are not several."""
    found = {key: (name, _model(_in_time(held))) for key, held in traces.items() if (name := _outermost(held))}
    names = sorted({name for name, _ in found.values()})
    if len(names) < 2:
        return {}
    models = sorted({model for _, model in found.values() if model})
    source.note(
        f"the spans name several agents, which are compared in the place of their models: {listed(names)}. "
        f"{'Their models have no names' if not models else 'All are of the model ' + models[0] if len(models) == 1 else 'The models are ' + listed(models)}"
    )
    if len(found) < len(traces):
        source.note("traces that name no agent have the name of their model")
    of_agent = Counter(name for name, _ in {*found.values()})
    return {key: f"{name}, {model}" if of_agent[name] > 1 and model else name for key, (name, model) in found.items()}


def _outermost(spans: Sequence[Span]) -> str:
    """The name of the agent that is below no other: of a span of an agent's work, or of one that has none above it."""
    by_id = {span.id: span for span in spans}
    named = [span for span in _in_time(spans) if span.agent and (span.kind == "agent" or span.parent not in by_id)]
    return min(named, key=lambda span: _depth(span, by_id)).agent if named else ""


def _depth(span: Span, by_id: Mapping[str, Span]) -> int:
    above = by_id.get(span.parent)
    for depth in range(_DEEPEST):
        if above is None:
            return depth
        above = by_id.get(above.parent)
    return _DEEPEST


def _in_time(spans: Iterable[Span]) -> list[Span]:
    return sorted(spans, key=lambda span: (span.start, span.row if isinstance(span.row, int) else 0))


def _model(ordered: Iterable[Span]) -> str:
    return next((span.model for span in ordered if span.model), "")


def refuse_large(look: Look) -> None:
    """Raises ``BadInput`` for a file that is too large to be held."""
    size = look.path.stat().st_size * (10 if look.packed else 1)
    if size > MOST_GATHERED:
        raise BadInput(
            f"{look.path}: {size:,} bytes; spans may be in any order, so that at most {MOST_GATHERED:,} are read at once: divide the "
            "file by traces"
        )
