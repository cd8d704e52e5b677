"""Why an item has no score although it should: the closed list of causes, one spelling each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, get_args

Unscored = Literal[
    "",
    "no-output",
    "no-value",
    "imported",
    "not-installed",
    "no-judge",
    "no-text",
    "tool-call",
    "cut",
    "rate-limited",
    "server-error",
    "timeout",
    "connection",
    "bad-response",
    "rejected",
    "content-filter",
    "refused",
    "unparsed",
    "not-recorded",
    "empty-source",
    "agent-limit",
    "evidence-not-found",
    "wrong-arithmetic",
    "no-such-step",
    "budget",
]
REASONS: tuple[str, ...] = tuple(reason for reason in get_args(Unscored) if reason)
"""The reasons that may appear in a column ``unscored``; particulars go beside them, in a ``detail``.

In the table: ``no-output`` (the answer is null or absent), ``no-value`` (a ready-made score is missing), ``imported`` (the
tool that the table comes from has none; the detail holds its words).  On this machine: ``not-installed`` (a package or model that a score needs; the detail says how to get it), ``no-judge`` (no judge
was named that can give the verdict).  In a reply:
``no-text`` (no text at all), ``tool-call`` (a call of a tool in place of a text), ``cut`` (it ended before an answer).
Of an endpoint, after its retries: ``rate-limited`` (429), ``server-error`` (5xx, 408, 409), ``timeout``,
``connection``, ``bad-response`` (a 200 that is not a chat completion, and whatever cannot be read); ``rejected``
(another 4xx), ``content-filter``, ``refused`` (the model's own refusal field), ``unparsed`` (nothing of the expected form
could be read).  Of a file of verdicts: ``not-recorded``.  Of a judge that looks things up: ``agent-limit`` (no verdict within its bounds), ``evidence-not-found`` (it quotes
what is not in the passages), ``wrong-arithmetic`` (a sum of its reason does not hold).  Of a judge of trajectories: ``no-such-step`` (it names a failure, and a step that the
trajectory has not, or that it was not shown, or none).  Of a supplied source: ``empty-source`` (it has no text to read).  Of a run: ``budget`` (its
limit of calls or cost was reached before; nothing was asked).  A wrong key or an unknown model is not a reason: it raises.
"""


_IN_WORDS = {"imported": "imported without a score", "budget": "beyond the budget"}


def in_words(reason: str) -> str:
    """A hyphenated reason as pages have it: ``no output``; a reason that is a sentence stays as it is.

    Examples
    --------
    >>> in_words("no-output"), in_words("imported")
    ('no output', 'imported without a score')
    """
    return _IN_WORDS.get(reason) or (reason if " " in reason else reason.replace("-", " "))


def counted(reasons: Iterable[str]) -> str:
    """How often each reason occurs, the most frequent first; empty texts are none.

    Examples
    --------
    >>> counted(["cut", "", "no-output", "no-output"])
    '2 no output, 1 cut'
    """
    counts = Counter(filter(None, reasons))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{n} {in_words(reason)}" for reason, n in ordered)
