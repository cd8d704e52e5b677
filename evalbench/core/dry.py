"""A dry run: everything is done but asking.  What would be asked is noted in rounds, and added up into a :class:`Plan`.

Calls that hang on earlier replies are not known before these are there.  So a study is run several times: with no reply for
what the cache does not have, with a short one, and with a long one; what differs between them is a range.
"""

from __future__ import annotations

import json
import math
import os
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

FILE, AS = "EVALBENCH_DRY_RUN", "EVALBENCH_DRY_RUN_AS"
Stand = Literal["none", "short", "long"]
_AMOUNTS = ("calls", "cached", "to_send", "not_asked")
_WIDTH = 100
_RANGES = ("tokens_in", "tokens_out", "cost")


class Round(NamedTuple):
    """What one step of a run would ask one model.

    - ``calls``: Distinct requests that were not noted before.
    - ``cached``: Those of them that the cache answers.
    - ``not_asked``: Those beyond the budget; not among ``calls``.
    - ``tokens_in``, ``tokens_out``: The least and the most of what would be sent, estimated; the most with every
      question that may be repeated.
    - ``cost``: None where no price is known.
    """

    purpose: str
    model: str
    calls: int
    cached: int
    to_send: int
    not_asked: int
    tokens_in: tuple[int, int]
    tokens_out: tuple[int, int]
    cost: tuple[float, float] | None


@dataclass
class Noted:
    """The rounds of one pass, and how they were estimated."""

    stand: Stand = "none"
    rounds: list[Round] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ended: str = ""
    seen: set[str] = field(default_factory=set)

    def keep(self) -> None:
        """Write it down where the environment names a file."""
        if file := os.environ.get(FILE):
            told = {"rounds": [one._asdict() for one in self.rounds], "notes": self.notes}
            beside = Path(f"{file}.{os.getpid()}")
            beside.write_text(json.dumps(told), encoding="utf-8")
            beside.replace(file)


_noted: Noted | None = None


def noted() -> Noted | None:
    """Where this run notes what it would ask; None where it really asks."""
    global _noted
    if _noted is None and os.environ.get(FILE):
        stand = os.environ.get(AS)
        _noted = Noted("long" if stand == "long" else "short" if stand == "short" else "none")
    return _noted


def is_dry() -> bool:
    """Whether nothing may be asked."""
    return noted() is not None


def note(found: Round, *, remark: str = "") -> None:
    """Note what a step would ask."""
    here = noted()
    if here is not None:
        here.rounds.append(found)
        add(remark)


def add(remark: str) -> None:
    """Note something that the plan does not count."""
    here = noted()
    if here is not None:
        here.notes += [remark] if remark and remark not in here.notes else []
        here.keep()


def read(file: Path) -> Noted:
    """What a kernel has noted; nothing where it asked nothing."""
    if not file.exists():
        return Noted()
    told = json.loads(file.read_text(encoding="utf-8"))
    fields: Any = [{n: tuple(v) if isinstance(v, list) else v for n, v in one.items()} for one in told["rounds"]]
    rounds = [Round(**one) for one in fields]
    return Noted(rounds=rounds, notes=told["notes"])


@dataclass(frozen=True)
class Plan:
    """What a run would ask.

    - ``rows``: One a purpose and model: ``calls``, ``cached``, ``to_send``, ``not_asked``, ``tokens_in``,
      ``tokens_out`` and ``cost``, each with its least and most; ``cost`` is None where no price is known. Or the rows
      of a study's own plan.
    - ``lines``: The same for people.
    - ``notes``: How it was estimated, and what could not be.
    """

    rows: tuple[Mapping[str, Any], ...]
    lines: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        notes = [line for note in self.notes for line in textwrap.wrap(note, _WIDTH)]
        return "\n".join([*self.lines, *(["", *notes] if notes else [])])

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {name: list(value) for name, value in asdict(self).items()}


def dry_run(ask: Callable[[], object]) -> Plan:
    """What a call would ask models; nothing is sent.

    Parameters
    ----------
    ask : callable
        Such as ``lambda: needle.evaluate(data, model="openai/gpt-4o")``; it is called up to three times.

    Examples
    --------
    >>> print(dry_run(lambda: None))
    No model is asked.
    """

    def one(stand: Stand) -> Noted:
        with noting(stand) as here:
            try:
                ask()
            except Exception as error:
                if not here.rounds or stand == "none":
                    raise
                here.ended = f"{type(error).__name__}: {error}"
        return here

    return plan_of(one)


@contextmanager
def noting(stand: Stand) -> Iterator[Noted]:
    """Note what the block would ask; nothing is sent."""
    global _noted
    outer, _noted = _noted, Noted(stand)
    try:
        yield _noted
    finally:
        _noted = outer


def plan_of(one_pass: Callable[[Stand], Noted]) -> Plan:
    """The plan out of the passes that are needed."""
    passes = [one_pass("long")]
    if any(found.to_send for found in passes[0].rounds):
        passes.append(one_pass("none"))
        if _rows([passes[0]]) != _rows([passes[1]]):
            passes.append(one_pass("short"))
    notes = [*dict.fromkeys(note for found in passes for note in found.notes)]
    ended = next((found.ended for found in passes if found.ended), "")
    if ended:
        notes.append(f"With made-up replies the study ended early, so later calls may be missing here: {ended}")
    rows = _rows(passes)
    hang = [row["purpose"] or "calls" for row in rows if row["calls"][0] != row["calls"][1]]
    if hang:
        notes.append(
            f"How many calls these need is known only once earlier replies are there: {', '.join(dict.fromkeys(hang))}. "
            "The range is from no replies to long ones."
        )
    return Plan(tuple(rows), tuple(_table(rows)), tuple(notes))


_SUMMED = ("calls", "tokens", "cost")


def plan_of_table(rows: Sequence[Mapping[str, Any]], notes: Sequence[str] = ()) -> Plan:
    """The plan that a study makes itself: a row a step, amounts in columns ``…_low`` and ``…_high``.

    Calls, tokens and costs are summed; an amount that is None is a price that is not known, and so is its sum.  A column ``why`` is
    said below the table, ``notes`` after it.

    Examples
    --------
    >>> print(plan_of_table([{"stage": 1, "runs": False, "why": "no facts", "calls_low": 0, "calls_high": 0},
    ...     {"stage": 9, "runs": True, "why": "", "calls_low": 20, "calls_high": 40}]))
    stage  runs  calls
    1      no        0
    9      yes   20–40
    all          20–40
    1: no facts
    <BLANKLINE>
    Ranges are from the least to the most that earlier steps can leave over.
    """
    names = list(rows[0]) if rows else []
    ranges = [n.removesuffix("_low") for n in names if n.endswith("_low") and f"{n.removesuffix('_low')}_high" in names]
    plain = [n for n in names if n.removesuffix("_low").removesuffix("_high") not in ranges and n != "why"]
    cells = [
        [*(_word(row[n]) for n in plain), *(_range(_amount(row[f"{n}_low"], row[f"{n}_high"])) for n in ranges)]
        for row in rows
    ]
    sums = [
        _range(_amount(*(_sum(row[f"{n}_{end}"] for row in rows) for end in ("low", "high"))))
        if any(word in n for word in _SUMMED)
        else ""
        for n in ranges
    ]
    cells.append([*["all", *[""] * len(plain)][: len(plain)], *sums])
    head = [n.replace("_", " ") for n in (*plain, *ranges)]
    lines = _aligned([head, *cells], len(plain))
    lines += [f"{_word(row[plain[0]])}: {row['why']}" for row in rows if row.get("why")]
    note = "Ranges are from the least to the most that earlier steps can leave over."
    return Plan(tuple(rows), tuple(lines), (note, *notes))


def _word(value: Any) -> str:
    return ("yes" if value else "no") if str(value) in ("True", "False") else str(value)


def _sum(amounts: Iterable[float | None]) -> float | None:
    """None where one is not known."""
    each = list(amounts)
    return None if None in each else sum(one for one in each if one is not None)


def _amount(low: float | None, high: float | None) -> list[float] | None:
    """Whole numbers as such; None where one is not known."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return [int(n) if n == int(n) else float(n) for n in (low, high)]


def _aligned(table: Sequence[Sequence[str]], texts: int) -> list[str]:
    """Lines of a table whose first columns are texts and whose others are numbers."""
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    return [
        "  ".join(
            c.ljust(w) if i < texts else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    ]


def _rows(passes: Sequence[Noted]) -> list[dict[str, Any]]:
    """One a purpose and model, each amount with its least and most over the passes."""
    places = dict.fromkeys((found.purpose, found.model) for one in passes for found in one.rounds)
    rows = []
    for place in places:
        of_passes = [[r for r in one.rounds if (r.purpose, r.model) == place] for one in passes]
        row: dict[str, Any] = {"purpose": place[0], "model": place[1]}
        for name in _AMOUNTS:
            sums = [sum(getattr(r, name) for r in rounds) for rounds in of_passes]
            row[name] = [min(sums), max(sums)]
        for name in _RANGES:
            found = [[getattr(r, name) for r in rounds] for rounds in of_passes]
            known = not any(pair is None for one in found for pair in one)
            row[name] = (
                [least(sum(pair[i] for pair in one) for one in found) for i, least in enumerate((min, max))]
                if known
                else None
            )
        rows.append(row)
    return rows


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows as aligned lines, and one for all of them where there are several."""
    if not rows:
        return ["No model is asked."]
    names = ("calls", "cached", "to_send", "tokens_in", "tokens_out", "cost")
    head = ["purpose", "model", "calls", "cached", "to send", "tokens in", "tokens out", "cost"]
    cells = [[row["purpose"] or "–", row["model"], *(_range(row[name]) for name in names)] for row in rows]
    if len(rows) > 1:
        whole: dict[str, Any] = {
            n: None if any(r[n] is None for r in rows) else [sum(r[n][0] for r in rows), sum(r[n][1] for r in rows)]
            for n in names
        }
        cells.append(["all", "", *(_range(whole[name]) for name in names)])
    lines = _aligned([head, *cells], 2)
    beyond = [sum(row["not_asked"][i] for row in rows) for i in (0, 1)]
    if beyond[1]:
        lines.append(f"Beyond the budget, and not asked: {_range(beyond)} calls.")
    return lines


def _range(amount: Sequence[float] | None) -> str:
    """An amount for reading.

    Examples
    --------
    >>> _range([3, 3]), _range([100, 51200]), _range([0.5, 1.25]), _range(None)
    ('3', '100–51,200', '0.5–1.25', 'price unknown')
    """
    if amount is None:
        return "price unknown"
    low, high = (f"{x:,}" if isinstance(x, int) else f"{x:.4g}" for x in amount)
    return low if low == high else f"{low}–{high}"
