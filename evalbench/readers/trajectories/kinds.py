"""What kind of step a word means, and who speaks in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbench.readers.trajectories.messages import ROLE
from evalbench.readers.trajectories.shape import word_of

_WHO = ("user", "human", "customer", "agent", "assistant", "bot", "ai", "model", "system")
_SAID = ("msg", "message", "text", "reply", "response", "turn")
_KIND: Mapping[str, str] = {
    **dict.fromkeys(
        ("message", "msg", "text", "say", "user", "assistant", "system", "answer", "final", "reply"), "message"
    ),
    **dict.fromkeys((f"{who}_{what}" for who in _WHO for what in _SAID), "message"),
    **dict.fromkeys(("call", "tool_call", "tool", "action", "function_call", "tool_use", "act", "tool_start"), "call"),
    **dict.fromkeys(
        ("result", "tool_result", "observation", "tool_response", "tool_output", "function_call_output"), "result"
    ),
    **dict.fromkeys(("handover", "handoff", "transfer", "delegate", "delegation"), "handover"),
    **dict.fromkeys(("note", "thought", "reasoning", "thinking", "think", "plan", "event", "log", "summary"), "note"),
}


def kind_of(word: Any) -> str:
    """The kind of step that a word means; empty for any other word.

    Examples
    --------
    >>> kind_of("tool call"), kind_of("Tool-Result"), kind_of("user msg"), kind_of("thought"), kind_of("dance")
    ('call', 'result', 'message', 'note', '')
    """
    return _KIND.get(_plain(word), "")


def speaker_of(word: Any) -> str:
    """Who speaks in a step whose kind is this word, a role of :data:`ROLE`; empty where the word does not say it.

    Examples
    --------
    >>> speaker_of("user msg"), speaker_of("agent msg"), speaker_of("assistant"), speaker_of("message")
    ('user', 'assistant', 'assistant', '')
    """
    plain = _plain(word)
    who, _, said = plain.rpartition("_")
    return ROLE.get(who if said in _SAID and who else plain, ROLE["user"] if who == "customer" else "")


def _plain(word: Any) -> str:
    return word_of(word).strip().lower().replace("-", "_").replace(" ", "_")
