"""Tables of steps, one row a step, under the names that people give to their columns: CSV, Parquet, JSON, JSON Lines."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalbench.core.wording import counted
from evalbench.readers.decoded import in_utf8
from evalbench.readers.delimited import delimited_frame
from evalbench.readers.parquet import parquet_frame
from evalbench.readers.tools.safe import head_of
from evalbench.readers.trajectories.about import MARKS, MODELS, about_of, left_unread
from evalbench.readers.trajectories.flags import NAMES as FLAGS
from evalbench.readers.trajectories.flags import Flags, flags_of, with_error
from evalbench.readers.trajectories.kinds import kind_of, speaker_of
from evalbench.readers.trajectories.looks import Look, opened, whole
from evalbench.readers.trajectories.messages import ROLE, guessed, instruction_of, question_of
from evalbench.readers.trajectories.shape import (
    Malformed,
    Source,
    Step,
    Trajectory,
    amount_of,
    first_of,
    name_of,
    named_calls,
    text_or_json,
    time_of,
    word_of,
)
from evalbench.readers.trajectories.spans import refuse_large
from evalbench.readers.trajectories.step_columns import (
    AGENT,
    ANSWERS,
    ARGUMENTS,
    CALL_IDS,
    COSTS,
    KINDS,
    MILLISECONDS,
    NUMBERS,
    OUTPUTS,
    PARENTS,
    READ,
    RUNS,
    SECONDS,
    STEPS,
    SURE_TOOLS,
    TASKS,
    TEXTS,
    THOUGHTS,
    TIMES,
    TOKENS,
    TOOLS,
    named,
    task_and_run,
)

NAMES = ("steps",)
FILES = "a table with a row for each step: a task or run, a step, and the tool, its arguments and output, or a kind"
Rows = list[tuple[int, dict[str, Any]]]
_GROUPS = ("task_id", "task", "instance_id", "case_id", *(name for name in RUNS if name not in NUMBERS))
"""What holds rows together that no column numbers."""
_MOST_AGENTS, _LONGEST_NAME = 50, 60


def recognised(look: Look) -> str:
    """``steps`` for a table with a task or run, a step, and a tool with arguments or output, or kinds of steps; else empty."""
    names = columns_of(look)
    group, step, kind = names & {*TASKS, *RUNS}, names & {*STEPS}, names & {*KINDS}
    tool = names & {*TOOLS}
    given = names & {*ARGUMENTS}, names & {*OUTPUTS}, names & {*TEXTS}
    acts = bool(tool) and (bool(given[0]) or (bool(kind) and any(given)))
    if any("tool_calls" in record or isinstance(record.get("content"), list) for record in look.objects):
        return ""
    known = bool(group) and bool(step) and (acts or {"id", "step", "kind"} <= names)
    if not step:
        known = bool(names & {*_GROUPS}) and bool(names & {*SURE_TOOLS}) and bool(given[0] or given[1])
    return NAMES[0] if known and len(names & {*TASKS, *RUNS} - step) > 0 else ""


def is_own(look: Look) -> bool:
    """Whether the columns are those of the table ``steps`` itself."""
    return {"id", "step", "kind"} <= columns_of(look)


def columns_of(look: Look) -> frozenset[str]:
    """The names of a table's columns; none of another file."""
    if look.form == "csv":
        with opened(look.path, look.packed) as file:
            head = file.read(65_536).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n", 1)[0]
        return max((frozenset(_header(head, s)) for s in ",;\t|"), key=len)
    if look.form == "parquet":
        return _parquet_names(look)
    if not look.objects or len(look.objects) < len(look.first) or (look.form == "document" and len(look.first) < 2):
        return frozenset()
    return frozenset(key for record in look.objects for key in record)


def _header(line: str, separator: str) -> list[str]:
    try:
        return [name.strip().lower() for name in next(csv.reader([line], delimiter=separator), [])]
    except csv.Error:
        return []


def _parquet_names(look: Look) -> frozenset[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if look.packed or not head_of(look.path, 4):
        return frozenset()
    try:
        return frozenset(str(name).strip().lower() for name in pq.read_schema(look.path).names)
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError):
        return frozenset()


def read(look: Look, source: Source) -> Iterator[Trajectory]:
    """The trials of a table: rows with the same task, model and run, in the order of their steps.

    Where a table names a task and a run, the run is the trial; where it names only one, that is the task.
    """
    refuse_large(look)
    names = columns_of(look)
    raw = list(_rows(look, source))
    task, trial = task_and_run(names)
    further = task_and_run(names - {"id"})
    if task == "id" and further[0] and further[0] not in NUMBERS and _all_differ(cells.get("id") for _, cells in raw):
        task, trial = further  # the id is a number of each row
    model, order = named(MODELS, names), named(STEPS, names - {task, trial})
    if not model and AGENT in names and _are_names([cells.get(AGENT) for _, cells in raw]):
        model = AGENT
    groups: dict[tuple[str, str, str], Rows] = {}
    for row, cells in raw:
        name = name_of(cells.get(task))
        if not name:
            source.fault(row, f"column {task}: expected an identifier")
            continue
        key = (name, word_of(cells.get(model)) if model else "", name_of(cells.get(trial)) if trial else "")
        groups.setdefault(key, []).append((row, cells))
    del raw
    if not order:
        source.note("the table has no column that numbers the steps: they are in the order of its rows")
    ordered = {key: _spoken_once(_ordered(rows, order)) for key, rows in groups.items()}
    if twice := sum(_begins_anew(rows, order) for rows in ordered.values()):
        source.note(
            f"{counted(twice, 'trajectory', 'trajectories')} with each number of a step as often as any other: are these several trials? "
            f"A column such as {', '.join(RUNS[:3])} or attempt tells them apart"
        )
    marks = _marks(ordered.values(), names)
    flags = flags_of([[cells for _, cells in rows] for rows in ordered.values()], names, marks, source)
    source.leave(sorted(left_unread(dict.fromkeys(names, "?"), {*READ, *FLAGS, model})))
    for mark in (mark for mark in MARKS if mark in names and mark not in (*marks, *flags.others)):
        source.note(f"column {mark} differs between the steps of a trial: it was not read as the mark of the trial")
    for (name, of_model, run), rows in ordered.items():
        yield from _one(Trajectory(name, [], of_model, run, row=rows[0][0]), rows, marks, flags, source)


def _all_differ(cells: Iterable[Any]) -> bool:
    names = [name_of(cell) for cell in cells]
    return len({*names}) == len(names) > 1


def _are_names(cells: list[Any]) -> bool:
    """Whether cells name few agents, each again and again, and are nothing that was said."""
    different = {*map(word_of, cells)}
    short = all(0 < len(name) <= _LONGEST_NAME for name in different)
    return short and len(different) <= min(_MOST_AGENTS, len(cells) // 2)


def _marks(groups: Collection[Rows], names: frozenset[str]) -> tuple[str, ...]:
    """The columns that mark a trial: their cells are the same in all its rows, or only the last row has one."""
    return tuple(
        key
        for key in MARKS
        if key in names and all(_marks_the_whole([cells.get(key) for _, cells in rows]) for rows in groups)
    )


def _marks_the_whole(cells: list[Any]) -> bool:
    there = [i for i, cell in enumerate(cells) if cell is not None]
    return there in ([], [len(cells) - 1]) or all(cells[i] == cells[there[0]] for i in there)


def _ordered(rows: Rows, order: str) -> Rows:
    """Rows by their steps, those of one step as they are; as they are altogether where a step is not a number."""
    keys = [amount_of(cells.get(order)) for _, cells in rows]
    if any(key is None for key in keys):
        return rows
    return [rows[i] for i in sorted(range(len(rows)), key=lambda i: (keys[i] or 0.0, i))]


def _spoken_once(rows: Rows) -> Rows:
    """Rows of which an answer that is repeated, row by row, is with the last one."""
    out = []
    for i, (row, cells) in enumerate(rows):
        after = rows[i + 1][1] if i + 1 < len(rows) else {}
        again = [key for key in ANSWERS if key in cells and cells[key] == after.get(key)]
        out.append((row, {key: cell for key, cell in cells.items() if key not in again} if again else cells))
    return out


def _begins_anew(rows: Rows, order: str) -> bool:
    """Whether the numbers of steps appear twice or more, each as often as any other."""
    counts = Counter(amount_of(cells.get(order)) for _, cells in rows)
    return len(counts) > 1 and None not in counts and len({*counts.values()}) == 1 and min(counts.values()) > 1


def _rows(look: Look, source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """The cells of each row that are not empty, by the lower-case names of their columns."""
    if look.form in ("csv", "parquet"):
        raw = whole(look.path, look.packed)
        if look.form == "parquet":
            frame = parquet_frame(look.path, raw)
        else:
            text, notes = in_utf8(look.path, raw)
            frame, found = delimited_frame(look.path, text, ",")
            for note in (*notes, *(n for n in found if "separat" not in n)):
                source.note(note)
        names = [str(name).strip().lower() for name in frame.columns]
        for row, cells in zip(frame.index, zip(*(frame[c] for c in frame.columns), strict=True), strict=True):
            yield int(row), {n: c for n, c in zip(names, cells, strict=True) if not _empty(c)}
        return
    for row, record in look.records(source):
        if isinstance(record, dict):
            yield row, filled(record)
        else:
            source.fault(row, f"expected an object, found {type(record).__name__}")


def filled(record: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of a record that are not empty, by their lower-case names."""
    return {key.strip().lower(): cell for key, cell in record.items() if not _empty(cell)}


def _empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and cell != cell) or (isinstance(cell, str) and not cell)


def _one(bare: Trajectory, rows: Rows, marks: Sequence[str], flags: Flags, source: Source) -> Iterator[Trajectory]:
    steps: list[Step] = []
    sound = True
    answered = _results_say_it(rows, flags)
    for row, cells in rows:
        try:
            steps += steps_of_row(cells, flags, source, answered)
        except Malformed as error:
            source.fault(row, error)
            sound = False
    if not sound:
        return
    steps = named_calls(steps)
    left = {"error", "task", "query", *MARKS, *TEXTS, *OUTPUTS}
    said = {key: value for _, cells in reversed(rows) for key, value in cells.items() if key not in left}
    last = {key: value for _, cells in rows for key, value in cells.items() if key in marks}
    about = about_of(said | last, source)
    yield replace(
        bare,
        steps=steps,
        mark=about["mark"],
        ended=about["ended"],
        question=about["question"] or question_of(steps),
        reference=about["reference"],
        expected=about["expected"],
        policy=about["policy"] or instruction_of(steps),
    )


def _results_say_it(rows: Rows, flags: Flags) -> bool:
    """Whether calls have rows of their results, each of which says whether it failed."""
    kinds = Counter(kind_of(word_of(first_of(cells, KINDS))) for _, cells in rows) if flags.there else Counter()
    if not 0 < kinds["call"] <= kinds["result"]:
        return False
    results = (cells for _, cells in rows if kind_of(word_of(first_of(cells, KINDS))) == "result")
    return all(flags.said(cells) is not None for cells in results)


def steps_of_row(cells: Mapping[str, Any], flags: Flags, source: Source, answered: bool = False) -> list[Step]:
    """The steps of a row: by its kind, else what it thought, said, called and got back, in this order.

    - ``answered``: Whether other rows say which calls failed.
    """
    kind = _kind(cells)
    role = ROLE.get(word_of(cells.get("role")).lower(), "")
    tool, given = word_of(first_of(cells, TOOLS)), text_or_json(first_of(cells, ARGUMENTS))
    text, output = text_or_json(first_of(cells, TEXTS)), text_or_json(first_of(cells, OUTPUTS))
    number, thought = name_of(first_of(cells, CALL_IDS)), text_or_json(first_of(cells, THOUGHTS))
    spoken = text_or_json(first_of(cells, ANSWERS))
    if not tool and kind in ("", "message") and text is None and output is None:
        text, spoken = spoken, None
    answer = with_error(output if output is not None else text, cells)
    result = Step("result", "tool", tool, None, number, answer, flags.of(cells) if flags.there else None)
    out = [Step("note", "assistant", text=thought)] if thought is not None else []
    if kind == "result" or (not kind and role == "tool"):
        out.append(result)
    elif kind == "call" or (not kind and tool):
        if text is not None:
            out.append(Step("message", role or "assistant", text=text))
        out.append(Step("call", "assistant", tool, given, number))
        if output is not None or (result.error and not answered):
            out.append(result)
    elif kind or text is not None or output is not None or not out:
        own = role or speaker_of(first_of(cells, KINDS)) or ("assistant" if kind != "note" else "")
        out.append(Step(kind or "message", own, tool, given, number, text if text is not None else output))
    if spoken is not None:
        out.append(Step("message", "assistant", text=spoken))
    if not flags.there:
        out = [guessed(step, source) if step.kind == "result" else step for step in out]
    return _measured(out, cells)


def _kind(cells: Mapping[str, Any]) -> str:
    """The kind of a row's step; empty where the table names none.

    Raises ``Malformed`` for a word that is not one.
    """
    word = word_of(first_of(cells, KINDS)).strip()
    if word and not kind_of(word):
        raise Malformed(f"the kind {word[:40]!r} is not known; known are message, call, result, handover and note")
    return kind_of(word)


def _measured(steps: list[Step], cells: Mapping[str, Any]) -> list[Step]:
    """Steps with the time, duration, tokens and cost of their row; durations, tokens and cost are with the last one."""
    time = time_of(first_of(cells, TIMES))
    seconds = amount_of(first_of(cells, SECONDS))
    if seconds is None and (ms := amount_of(first_of(cells, MILLISECONDS))) is not None:
        seconds = ms / 1000
    tokens, cost = amount_of(first_of(cells, TOKENS)), amount_of(first_of(cells, COSTS))
    parent = name_of(first_of(cells, PARENTS))
    timed = [step._replace(time=time, parent=parent) for step in steps]
    return [*timed[:-1], timed[-1]._replace(seconds=seconds, tokens=tokens, cost=cost)]
