"""Why an item has no score although it should: the closed list of causes, one spelling each."""

from __future__ import annotations

from typing import Literal, get_args

Unscored = Literal[
    "",
    "no-output",
    "no-value",
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
]
REASONS: tuple[str, ...] = tuple(reason for reason in get_args(Unscored) if reason)
"""The reasons that may appear in a column ``unscored``; particulars go beside them, in a ``detail``.

In the table: ``no-output`` (the answer is null or absent), ``no-value`` (a ready-made score is missing).  In a reply:
``no-text`` (no text at all), ``tool-call`` (a call of a tool in place of a text), ``cut`` (it ended before an answer).
Of an endpoint, after its retries: ``rate-limited`` (429), ``server-error`` (5xx, 408, 409), ``timeout``,
``connection``, ``bad-response`` (a 200 that is not a chat completion); ``rejected`` (another 4xx), ``content-filter``,
``refused`` (the model's own refusal field), ``unparsed`` (nothing of the expected form could be read).  A wrong key or
an unknown model is not a reason: it raises.
"""
