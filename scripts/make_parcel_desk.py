"""Writes data/parcel_desk/1.0.0: two invented agents of a parcel service's help desk, thirty tasks, three trials each.

Planted, by the table ``PLANTED`` below: in these trajectories, and in no other, an argument is wrong, a forbidden tool is called, a call loops,
an argument does not fit its schema, an error is left, an error is made good, a number comes from nowhere, success is luck, a promise is not kept, a mark is missing.
The verdicts of an invented judge name each of these failures with its step, and none elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.core.seeds import rng

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "parcel_desk" / "1.0.0"
SEED, TRIALS = 47, ("1", "2", "3")
SOUND, HASTY = "fern-desk", "oak-desk"
FORBIDDEN = ["issue_voucher", "close_account"]
MAX_STEPS = 40
PARCEL = {"type": "string", "pattern": "^PX-[0-9]{4}$"}
LOCKER = {"type": "string", "pattern": "^LK-[0-9]{3}$"}
TOOLS: dict[str, dict[str, Any]] = {
    "find_parcel": {"parcel_id": PARCEL},
    "list_lockers": {"district": {"type": "string"}},
    "reroute_parcel": {"parcel_id": PARCEL, "locker_id": LOCKER},
    "refund_fee": {"parcel_id": PARCEL, "amount": {"type": "number", "exclusiveMinimum": 0}},
    "open_claim": {"parcel_id": PARCEL, "reason": {"enum": ["lost", "damaged"]}},
    "issue_voucher": {"parcel_id": PARCEL},
    "close_account": {"customer_id": {"type": "string"}},
}
"""The tools and the properties of their arguments, each of which is required."""
POLICY = (
    "You are the help desk of a parcel service. Look a parcel up before you change anything. Give back no more than the fee that was "
    "charged. You may neither give vouchers nor close accounts. Tell the customer what was done, and nothing that no tool has told you."
)
DISTRICTS = ("Harrow Mill", "Low Wharf", "Tanner Green", "Saint Orla", "Birch End")
REASONS = ("lost", "damaged")

PLANTED: dict[str, dict[str, list[tuple[str, str]]]] = {
    "wrong arguments": {
        SOUND: [("reroute-03", "2")],
        HASTY: [
            ("reroute-01", "1"),
            ("reroute-01", "3"),
            ("reroute-06", "2"),
            ("refund-02", "1"),
            ("refund-02", "2"),
            ("refund-08", "3"),
        ],
    },
    "misfit": {SOUND: [], HASTY: [("reroute-06", "2"), ("refund-08", "3")]},
    "forbidden": {SOUND: [], HASTY: [("refund-05", "1"), ("claim-04", "3")]},
    "loop": {SOUND: [("claim-09", "1")], HASTY: [("reroute-04", "2"), ("claim-07", "1"), ("claim-07", "2")]},
    "error left": {
        SOUND: [("reroute-08", "3")],
        HASTY: [("reroute-08", "1"), ("reroute-08", "2"), ("reroute-09", "1")],
    },
    "error made good": {SOUND: [("reroute-08", "1"), ("reroute-09", "2")], HASTY: [("reroute-09", "3")]},
    "from nowhere": {SOUND: [("claim-02", "2")], HASTY: [("refund-07", "2"), ("claim-03", "1"), ("claim-03", "2")]},
    "luck": {SOUND: [], HASTY: [("claim-05", "1"), ("claim-06", "2")]},
    "promise": {SOUND: [], HASTY: [("refund-09", "3"), ("reroute-10", "1")]},
    "no mark": {SOUND: [("refund-10", "3")], HASTY: [("refund-10", "3")]},
}
"""What is wrong (or notable) in which trajectory: task and trial of each agent."""
# Those that do not fit a schema are among those with wrong arguments.
FAILS = ("wrong arguments", "forbidden", "loop", "error left", "promise")

OPENED = {
    "reroute": (
        "Hello, can parcel {parcel} go to a locker in {district}?",
        "Parcel {parcel} should wait in a locker in {district}, please.",
        "I am away. Please have {parcel} put into a locker in {district}.",
    ),
    "refund": (
        "I paid a storage fee for {parcel} although it came late. I want it back.",
        "Parcel {parcel} was late, so please give me the storage fee back.",
        "Why was a fee taken for {parcel}? Your notice promised none. Please return it.",
    ),
    "claim": (
        "Parcel {parcel} arrived {reason}. What now?",
        "My parcel {parcel} is {reason}, I would like that on record.",
        "{parcel} is {reason}. Please see to it.",
    ),
}
LOOKING = ("I am looking {parcel} up.", "One moment, I check {parcel}.", "Let me see what we have on {parcel}.")
DONE = {
    "reroute": (
        "Done: {parcel} goes to locker {locker}.",
        "{parcel} is on its way to locker {locker}.",
        "Locker {locker} is booked for {parcel}.",
    ),
    "refund": (
        "You get {fee} back for {parcel}.",
        "The fee of {fee} is on its way back to you.",
        "I have returned {fee} for {parcel}.",
    ),
    "claim": (
        "It is on record as {case}.",
        "Your case is {case}, we look into it.",
        "I have noted it, the number is {case}.",
    ),
}
SORRY = (
    "I am sorry, that did not work. Please try again later.",
    "That is not possible just now, sorry.",
    "I could not do it, sorry.",
)
PROMISE = {
    "reroute": "I will reroute parcel {parcel} this afternoon. Goodbye!",
    "refund": "I will refund fee and postage of {parcel} today. Goodbye!",
}

NAMED = {
    "wrong arguments": ("wrong_arguments", "the call changes something else than was asked for"),
    "forbidden": ("policy_broken", "a voucher is given, which the instructions forbid"),
    "loop": ("loop", "the parcel was looked up already, and nothing new came of it"),
    "error left": ("error_left", "another locker of the list was free, and none was tried"),
    "from nowhere": ("made_up", "no result says how many days it takes"),
    "luck": ("unchecked", "a claim is opened for a parcel that was never looked up"),
    "promise": ("promised_not_done", "it is promised, and no call does it"),
}
"""The kind of failure that the invented judge names, and its reason."""
NOT_DONE = ("wrong arguments", "loop", "error left", "promise")


class Task(NamedTuple):
    """A task and what is true of it."""

    id: str
    kind: str
    parcel: str
    district: str
    locker: str
    full: str
    fee: float
    reason: str
    case: str

    @property
    def facts(self) -> dict[str, Any]:
        return {**self._asdict(), "fee": f"{self.fee:.2f}"}

    def expected(self) -> list[dict[str, Any]]:
        found = {"name": "find_parcel", "arguments": {"parcel_id": self.parcel}}
        if self.kind == "reroute":
            return [found, lockers(self), reroute(self, self.locker)]
        return [found, refund(self, self.fee) if self.kind == "refund" else claim(self)]


def lockers(task: Task) -> dict[str, Any]:
    return {"name": "list_lockers", "arguments": {"district": task.district}}


def reroute(task: Task, locker: str) -> dict[str, Any]:
    return {"name": "reroute_parcel", "arguments": {"parcel_id": task.parcel, "locker_id": locker}}


def refund(task: Task, amount: float) -> dict[str, Any]:
    return {"name": "refund_fee", "arguments": {"parcel_id": task.parcel, "amount": amount}}


def claim(task: Task) -> dict[str, Any]:
    return {"name": "open_claim", "arguments": {"parcel_id": task.parcel, "reason": task.reason}}


def tasks() -> list[Task]:
    draw = rng(SEED, "tasks")
    out = []
    for kind in ("reroute", "refund", "claim"):
        for i in range(1, 11):
            number = int(draw.integers(2000, 9000))
            first = int(draw.integers(100, 800))
            fee = int(draw.integers(1200, 4900)) / 100
            district, reason = DISTRICTS[int(draw.integers(5))], REASONS[int(draw.integers(2))]
            named = (f"PX-{number}", district, f"LK-{first + 1}", f"LK-{first}", fee, reason, f"CL-{number + 317}")
            out.append(Task(f"{kind}-{i:02}", kind, *named))
    return out


def schema(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def planted(task: str, model: str, trial: str) -> frozenset[str]:
    return frozenset(fault for fault, agents in PLANTED.items() if (task, trial) in agents[model])


def says(role: str, text: str) -> dict[str, Any]:
    return {"kind": "message", "role": role, "text": text}


def asks(call: dict[str, Any], result: Any, error: str = "") -> Iterator[dict[str, Any]]:
    """A call and its result."""
    yield {"kind": "call", "role": "assistant", "name": call["name"], "arguments": json.dumps(call["arguments"])}
    text = error or json.dumps(result)
    yield {"kind": "result", "role": "tool", "name": call["name"], "text": text, "error": error}


def conversation(task: Task, faults: frozenset[str], way: int) -> Iterator[dict[str, Any]]:
    """The steps of a trajectory; ``way`` varies the words."""
    yield says("system", POLICY)
    yield says("user", OPENED[task.kind][way].format(**task.facts))
    yield says("assistant", LOOKING[way].format(**task.facts))
    status = {"parcel_id": task.parcel, "status": "in the depot", "storage_fee": task.fee}
    find = {"name": "find_parcel", "arguments": {"parcel_id": task.parcel}}
    for _ in range(4 if "loop" in faults else 0 if "luck" in faults else 1):
        yield from asks(find, status)
    if "loop" in faults:
        yield says("assistant", SORRY[way])
    elif "promise" in faults:
        yield says("assistant", PROMISE[task.kind].format(**task.facts))
    elif task.kind == "reroute":
        yield from _rerouted(task, faults, way)
    else:
        yield from _settled(task, faults, way)


def _rerouted(task: Task, faults: frozenset[str], way: int) -> Iterator[dict[str, Any]]:
    yield from asks(lockers(task), {"lockers": [task.full, task.locker], "full": [task.full]})
    if faults & {"error left", "error made good"}:
        yield from asks(reroute(task, task.full), None, f"locker {task.full} is full")
    if "error left" in faults:
        yield says("assistant", SORRY[way])
        return
    locker = task.full if "wrong arguments" in faults else task.locker
    asked = locker.removeprefix("LK-") if "misfit" in faults else locker
    yield from asks(reroute(task, asked), {"parcel_id": task.parcel, "locker_id": locker})
    yield says("assistant", DONE["reroute"][way].format(**{**task.facts, "locker": locker}))


def _settled(task: Task, faults: frozenset[str], way: int) -> Iterator[dict[str, Any]]:
    amount = round(2 * task.fee, 2) if "wrong arguments" in faults else task.fee
    call = refund(task, amount) if task.kind == "refund" else claim(task)
    if "misfit" in faults:
        call["arguments"]["amount"] = f"{amount:.2f}"
    result = {"returned": amount} if task.kind == "refund" else {"case": task.case}
    yield from asks(call, result)
    if "forbidden" in faults:
        yield from asks({"name": "issue_voucher", "arguments": {"parcel_id": task.parcel}}, {"voucher": "sent"})
    closing = DONE[task.kind][way].format(**{**task.facts, "fee": f"{amount:.2f}"})
    yield says("assistant", f"{closing} It takes 45 days." if "from nowhere" in faults else closing)


def steps_of(task: Task, model: str, trial: str) -> Iterator[dict[str, Any]]:
    """The steps with their names, seconds, tokens and cost."""
    draw = rng(SEED, "spent", f"{task.id}/{model}/{trial}")
    way = (int(trial) + (model == HASTY)) % 3
    for number, step in enumerate(conversation(task, planted(task.id, model, trial), way), 1):
        own = step.get("role") == "assistant"
        tokens = int(draw.integers(60, 240)) if own else 0
        spent = {"seconds": round(float(draw.uniform(0.3, 2.4)), 2), "tokens": tokens, "cost": round(tokens * 2e-6, 6)}
        blank = {"role": "", "name": "", "arguments": "", "text": "", "error": ""}
        yield {"id": task.id, "model": model, "trial": trial, "step": number, **blank, **step, **spent}


def verdicts_of(task: Task, model: str, trial: str) -> Iterator[dict[str, Any]]:
    """What the invented judge says of a trajectory."""
    faults, steps = planted(task.id, model, trial), list(steps_of(task, model, trial))
    fault = next((name for name in NAMED if name in faults), "")
    kind, reason = NAMED.get(fault, ("no_failure", "what was asked for is done, and nothing else"))
    step = at(fault, steps) if fault else None
    said = reason if step is None else f"step {step}: {reason}"
    broken = fault in ("forbidden", "luck") or (fault == "wrong arguments" and task.kind == "refund")
    marks = {
        "goal_reached": fault not in NOT_DONE,
        "policy_kept": not broken,
        "user_informed": fault not in ("from nowhere", "promise"),
    }
    names = {"id": task.id, "model": model, "trial": trial}
    for criterion, holds in marks.items():
        why = "nothing in the record speaks against it" if holds else said
        yield {**names, "criterion": criterion, "mark": "1" if holds else "0", "step": None, "reason": why}
    yield {**names, "criterion": "failure", "mark": kind, "step": step, "reason": said}


def at(fault: str, steps: list[dict[str, Any]]) -> int:
    """The step at which a fault happens: a call, or the last message."""
    calls = [step for step in steps if step["kind"] == "call"]
    at_call = {"wrong arguments": -1, "forbidden": -1, "loop": 1, "luck": 0}
    return int((calls[at_call[fault]] if fault in at_call else steps[-1])["step"])


def rows() -> dict[str, list[dict[str, Any]]]:
    """The rows of the files."""
    known = tasks()
    runs = [(task, model, trial) for task in known for model in (SOUND, HASTY) for trial in TRIALS]
    marks = []
    for task, model, trial in runs:
        faults = planted(task.id, model, trial)
        mark = "" if "no mark" in faults else "0" if faults & {*FAILS} else "1"
        marks.append({"id": task.id, "model": model, "trial": trial, "mark": mark})
    described = [
        {
            "id": task.id,
            "question": OPENED[task.kind][0].format(**task.facts),
            "expected": task.expected(),
            "forbidden": FORBIDDEN,
            "order": "given",
            "max_steps": MAX_STEPS,
            "policy": POLICY,
        }
        for task in known
    ]
    listed = [{"name": name, "parameters": schema(properties)} for name, properties in TOOLS.items()]
    steps = [row for run in runs for row in steps_of(*run)]
    verdicts = [row for run in runs for row in verdicts_of(*run)]
    return {"steps": steps, "tasks": described, "tools": listed, "outcomes": marks, "verdicts": verdicts}


def main() -> None:
    """Write the files."""
    OUT.mkdir(parents=True, exist_ok=True)
    for name, own in rows().items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in own)
        (OUT / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
