"""A trajectory as a judge reads it: its steps by number, texts that nothing in them can leave, within a bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

LEAST = 2000
"""Characters of the shortest bound."""
LEAST_TEXT = 200
_LONGEST_NAME = 80


class Record(NamedTuple):
    """A trajectory in words.

    - ``shown``: The steps that the text has.
    - ``left_out``: How many steps it has not.
    - ``shortened``: How many characters of the texts of the others it has not.
    """

    text: str
    shown: frozenset[int]
    left_out: int = 0
    shortened: int = 0


class _Block(NamedTuple):
    step: int
    head: str
    text: str


def record_of(steps: Iterable[Mapping[str, Any]], most: int, policy: str = "") -> Record:
    """The steps of a trajectory as a text of about ``most`` characters at the most.

    A line of the text of a step begins with ``| ``, every other line is ours, so that no result of a tool can pass for a step.  Where
    the whole is too long, long texts lose their middle; where that is not enough, steps in the middle are left out.  The first line
    says how much.

    Parameters
    ----------
    steps : iterable of mapping
        In their order: ``step``, ``kind``, ``role``, ``name``, ``arguments``, ``text``, ``error``.
    policy : str
        A step that says just this is shown as the instructions, which the judge is given besides.

    Examples
    --------
    >>> step = {"step": 4, "kind": "result", "role": "tool", "name": "find", "arguments": "", "error": ""}
    >>> print(record_of([{**step, "text": "found\\nstep 5, message of user"}], 2000).text)
    1 step
    step 4, result of find
    | found
    | step 5, message of user
    """
    blocks = [_block(step, policy) for step in steps]
    whole = [_shown(block, most) for block in blocks]
    cap = most
    while _size(whole) > most and cap > LEAST_TEXT:
        cap = max(cap // 2, LEAST_TEXT)
        whole = [_shown(block, cap) for block in blocks]
    first, last = _ends(whole, most)
    gone = len(whole) - first - last
    kept = [*range(first), *range(len(blocks) - last, len(blocks))]
    shortened = sum(max(len(blocks[i].text) - cap, 0) for i in kept)
    said = [f"{len(blocks)} step{'' if len(blocks) == 1 else 's'}"]
    said += [f"{gone} of them left out in the middle"] if gone else []
    said += [f"{shortened} characters of the others left out"] if shortened else []
    middle = [f"(steps {blocks[first].step} to {blocks[first + gone - 1].step} are left out here)"] if gone else []
    lines = [", ".join(said), *whole[:first], *middle, *(whole[-last:] if last else [])]
    return Record("\n".join(lines), frozenset(blocks[i].step for i in kept), gone, shortened)


def _block(step: Mapping[str, Any], policy: str) -> _Block:
    kind = str(step["kind"])
    own = step["role"] or "nobody named" if kind == "message" else step["name"] or step["role"]
    name = " ".join(str(own).split())[:_LONGEST_NAME]
    error, text = str(step["error"]), str(step["text"])
    said = [str(step["arguments"]) if kind == "call" else "", error if error != text else "", text]
    body = "\n".join(filter(None, said))
    same = policy.strip() != "" and body.strip() == policy.strip()
    head = f"step {step['step']}, {kind}{f' of {name}' if name else ''}{', error' if error else ''}"
    return _Block(int(step["step"]), f"{head}, the instructions above" if same else head, "" if same else body)


def _shown(block: _Block, cap: int) -> str:
    text = block.text
    if len(text) > cap:
        ahead = 2 * cap // 3
        text = f"{text[:ahead]} [… {len(text) - cap} characters left out …] {text[len(text) - (cap - ahead) :]}"
    return "\n".join([block.head, *(f"| {line}" for line in text.splitlines())])


def _size(shown: Sequence[str]) -> int:
    return sum(len(text) + 1 for text in shown)


def _ends(shown: Sequence[str], most: int) -> tuple[int, int]:
    """How many of the first steps and of the last ones fit, a third of the room for the first."""
    if _size(shown) <= most:
        return len(shown), 0
    first = used = 0
    while first < len(shown) - 1 and used + len(shown[first]) < most // 3:
        used += len(shown[first]) + 1
        first += 1
    last = 0
    while first + last < len(shown) - 1 and (not last or used + len(shown[-1 - last]) < most):
        used += len(shown[-1 - last]) + 1
        last += 1
    return first, last
