"""Logs of clients of language models: replies of chat endpoints as the answers of a table, their requests as its questions.

Read are replies of OpenAI's endpoints (chat, completions, responses), of Anthropic, Gemini and ollama, output files of batches
(OpenAI, Anthropic), and lists of messages that end with the assistant's; their table is in ``docs/start.md``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.readers.frames import are_objects
from evalbench.readers.large import STREAM
from evalbench.readers.nameless import UNNAMED
from evalbench.readers.renames import usual, within
from evalbench.readers.schema import TRIAL, Table

if TYPE_CHECKING:
    import pandas as pd

ANSWERS = ("output", "answer", "response", "reply", "model_answer")
"""Columns of studies that hold what a model answered."""
QUESTIONS = ("prompt", "question", "query", "request")
_SAMPLES = "samples"
_BESIDE = (
    "error",
    "type",
    "role",
    "status",
    "stop_reason",
    "model",
    "modelVersion",
    "done",
    "done_reason",
    "custom_id",
    "promptFeedback",
)
_HOLDERS = (
    "response",
    "result",
    "body",
    "choices",
    "candidates",
    "message",
    "messages",
    "content",
    "output",
    "completion",
)
_ENDED = ("", "stop", "end_turn", "stop_sequence", "completed")
_TOOLS = ("tool_calls", "function_call")
_TOOL_PARTS = ("tool_use", "function_call", "functionCall")
_FILTERED = ("content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii")
_OF_A_CALL = re.compile(r"(chatcmpl|cmpl|msg|resp|gen)[-_]\S+")
"""Ids that an endpoint gives to each call: they do not show which calls of several models belong together."""


class Answer(NamedTuple):
    """What a model answered: its text, or why there is none, a few words."""

    text: str | None
    why: str = ""


class Exchange(NamedTuple):
    """A row's answers, of which there are several where so many were asked for, and what else its log says."""

    answers: tuple[Answer, ...]
    model: str = ""
    id: str = ""


def replies_read(
    frames: Mapping[str, pd.DataFrame],
    schema: Mapping[str, Table],
    renames: Mapping[str, str],
    sources: Mapping[str, str],
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """The raw frames of a study, see :func:`logged_replies`, and notes that name their files."""
    out, notes = dict(frames), []
    for name in [name for name in frames if name in schema]:
        out[name], found = logged_replies(frames[name], schema[name], renames, sources[name])
        notes += [f"{sources[name]}: {note}" for note in found]
    return out, notes


def logged_replies(
    frame: pd.DataFrame, table: Table, renames: Mapping[str, str], source: str
) -> tuple[pd.DataFrame, list[str]]:
    """A raw frame whose cells are replies of endpoints with the columns that a study expects; other frames as they are.

    - ``table``: What is expected. Several choices of a row become rows with ``trial``, or ``samples`` where the table
      has only these.
    - ``renames``: What the user renames; a rename to the column of answers, or out of the replies, leaves the frame as
      it is.
    - ``source``: The file, for messages.

    Returns: What was understood, sentences.

    Raises ``BadInput`` for several choices where the table has neither trials nor samples.
    """
    target = next((c.name for c in table.columns if c.keep_null and c.name in ANSWERS), "")
    heads = {name.partition(".")[0].strip() for name in renames}
    holders = [str(name) for name in frame.columns if str(name) in _HOLDERS]
    if not target or not holders or target in renames.values() or heads & {*holders} or STREAM in frame.attrs:
        return frame, []
    names = next((c.name, *c.former) for c in table.columns if c.name == target)
    if any(n in frame and any(isinstance(cell, str) for cell in frame[n]) for n in names) and not _generated(frame):
        return frame, []
    # A study of requests takes the last one itself, without the model's words before it.
    last_exchange = any("request" in column.former for column in table.columns)
    if holders == ["messages"] and (last_exchange or usual(target, map(str, frame.columns))):
        return frame, []
    rows = frame[[name for name in (*holders, *_BESIDE) if name in frame]]
    found = [exchange_of(row) for row in rows.to_dict("records")]
    if not any(answer.text is not None for one in found if one for answer in one.answers):
        return frame, []
    plain = [name for name in holders if name not in ("message", "messages", "content")]
    known = [one or Exchange((_plain(row, plain),)) for one, row in zip(found, rows.to_dict("records"), strict=True)]
    return _as_table(frame, table, target, known, source)


def _plain(row: Mapping[Any, Any], holders: Sequence[str]) -> Answer:
    """A row without a reply of an endpoint: a text in its place, or none."""
    text = next((row[name] for name in holders if isinstance(row[name], str)), None)
    return Answer(text, "" if text is not None else "no reply")


def _generated(frame: pd.DataFrame) -> bool:
    return {"response", "done"} <= {*map(str, frame.columns)}


# -- one row --------------------------------------------------------------------------------------


def exchange_of(row: Mapping[Any, Any]) -> Exchange | None:
    """The answers of a row of a log; None for a row of another shape.

    Examples
    --------
    >>> exchange_of({"model": "tiny", "choices": [{"message": {"content": "Paris"}}]})
    Exchange(answers=(Answer(text='Paris', why=''),), model='tiny', id='')
    >>> exchange_of({"custom_id": "q1", "response": None, "error": {"message": "overloaded"}})
    Exchange(answers=(Answer(text=None, why='failed: overloaded'),), model='', id='q1')
    >>> exchange_of({"response": "Paris"}) is None
    True
    """
    key = row.get("custom_id")
    id = str(key) if isinstance(key, (str, int)) and not isinstance(key, bool) else ""
    inner = next((row[name] for name in ("response", "result", "completion") if isinstance(row.get(name), dict)), None)
    reply: Mapping[Any, Any] = row if inner is None else inner
    for name in ("body", "message"):
        # Of a batch: {"response": {"body": REPLY}}, {"result": {"message": REPLY}}.
        if inner is not None and isinstance(inner.get(name), dict) and not _answers(inner):
            reply = inner[name]
    answers = _answers(reply) or (_answers(row) if inner is not None else ())
    if not answers and (failure := _failure(row) or _failure(reply)):
        answers = (Answer(None, failure),)
    if not answers:
        return None
    inside = reply["message"] if isinstance(reply.get("message"), dict) else {}
    named = (reply.get("model"), reply.get("modelVersion"), inside.get("model"), row.get("model"))
    model = next((name for name in named if isinstance(name, str) and name), "")
    return Exchange(answers, model, id)


def _answers(reply: Mapping[Any, Any]) -> tuple[Answer, ...]:
    """What a reply holds; nothing where it has none of the known shapes."""
    choices, candidates, output = reply.get("choices"), reply.get("candidates"), reply.get("output")
    if are_objects(choices) and all(
        "message" in c or ("text" in c and {"index", "finish_reason"} & {*c}) for c in choices
    ):
        return tuple(_of_message(c.get("message", c.get("text")), c.get("finish_reason")) for c in choices)
    if isinstance(candidates, list) and (are_objects(candidates) or not candidates):
        blocked = reply.get("promptFeedback")
        why = (
            f"blocked: {blocked['blockReason']}"
            if isinstance(blocked, dict) and blocked.get("blockReason")
            else "no candidate"
        )
        return tuple(_of_message(c.get("content"), c.get("finishReason")) for c in candidates) or (Answer(None, why),)
    if are_objects(output) and any(part.get("type") in ("message", "function_call") for part in output):
        parts = [p for item in output for p in (item.get("content") or [item]) if isinstance(p, dict)]
        return (_of_message({"content": parts}, reply.get("status")),)
    if isinstance(reply.get("message"), dict) and "content" in reply["message"]:
        return (_of_message(reply["message"], reply.get("done_reason")),)
    if (
        reply.get("role") != "user"
        and are_objects(reply.get("content"))
        and all("type" in part for part in reply["content"])
    ):
        return (_of_message(reply, reply.get("stop_reason")),)
    if "done" in reply and isinstance(reply.get("response"), str):
        return (_of_message(reply["response"], reply.get("done_reason")),)
    messages = reply.get("messages")
    if are_objects(messages) and all("role" in m for m in messages) and messages[-1]["role"] in ("assistant", "model"):
        return (_of_message(messages[-1], None),)
    return ()


def _of_message(message: Any, ended: Any) -> Answer:
    """The text of a message; a text that is empty since the model did something else, or was stopped, is none."""
    body = message if isinstance(message, dict) else {"content": message}
    content = body.get("content", body.get("parts"))
    text, tools = texts_of(content)
    end = ended.casefold() if isinstance(ended, str) else ""
    if text is not None and (
        text or (end in _ENDED and not tools and not any(body.get(name) for name in (*_TOOLS, "refusal")))
    ):
        return Answer(text)
    if body.get("refusal"):
        return Answer(None, "refused")
    if tools or any(body.get(name) for name in _TOOLS):
        return Answer(None, "a call of a tool")
    if end in _FILTERED:
        return Answer(None, "filtered")
    return Answer(None, "cut" if end in ("length", "max_tokens") else "no text")


def texts_of(content: Any) -> tuple[str | None, bool]:
    """The text of a message's content, which may come in parts, and whether a part of it is a call of a tool.

    Examples
    --------
    >>> texts_of([{"type": "text", "text": "It is "}, {"type": "text", "text": "Paris."}])
    ('It is Paris.', False)
    >>> texts_of([{"type": "tool_use", "name": "search"}]), texts_of(None)
    ((None, True), (None, False))
    """
    if isinstance(content, str):
        return content, False
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [
        p["text"]
        for p in parts
        if isinstance(p.get("text"), str) and not p.get("thought") and p.get("type") != "thinking"
    ]
    tools = any(p.get("type") in _TOOL_PARTS or any(name in p for name in _TOOL_PARTS) for p in parts)
    return ("".join(texts) if texts else None), tools


def _failure(row: Mapping[Any, Any]) -> str:
    error, kind = row.get("error"), row.get("type")
    if isinstance(error, dict):
        error = (
            error.get("message") or (error.get("error") or {}).get("message")
            if isinstance(error.get("error", {}), dict)
            else error
        )
    if error:
        return f"failed: {str(error)[:60]}"
    return f"failed: {kind}" if kind in ("errored", "canceled", "expired") else ""


def asked_in(row: Mapping[Any, Any]) -> str | None:
    """The question of a logged call: the user's only message, or all messages before the answer with their roles.

    Examples
    --------
    >>> asked_in({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]})
    'Why?'
    """
    bodies = [row, *(row[name] for name in ("request", "body", "params") if isinstance(row.get(name), dict))]
    bodies += [body["body"] for body in bodies if isinstance(body.get("body"), dict)]
    for body in bodies:
        for name in ("messages", "input", "contents", "prompt"):
            said = body.get(name)
            if body is not row and isinstance(said, str):
                return said
            if are_objects(said) and all("role" in message for message in said):
                before = said[:-1] if said[-1]["role"] in ("assistant", "model") else said
                spoken = [
                    (m["role"], texts_of(m.get("content", m.get("parts")))[0] or "")
                    for m in before
                    if m["role"] not in ("system", "developer")
                ]
                if len(spoken) == 1:
                    return spoken[0][1]
                return "\n".join(f"{role}: {text}" for role, text in spoken) or None
    return None


# -- all rows -------------------------------------------------------------------------------------


def _as_table(
    frame: pd.DataFrame, table: Table, target: str, found: Sequence[Exchange], source: str
) -> tuple[pd.DataFrame, list[str]]:
    import numpy as np
    import pandas as pd

    out, n = frame.copy(), np.array([len(one.answers) for one in found])
    names = {*map(str, frame.columns)}
    key, group = table.columns[0].name, next((c.name for c in table.columns if c.groups), "")
    repeats = table.column(TRIAL) is not None
    if n.max() > 1 and not repeats and table.column(_SAMPLES) is None:
        paths = ("choices.0.message.content", "candidates.0.content.parts.0.text")
        starts = ("", "response.", "response.body.", "result.message.")
        path = next((p + end for end in paths for p in starts if within(frame, p + end) is not None), paths[0])
        raise BadInput(
            f"{source}: {counted(int((n > 1).sum()), 'row')} with several choices, where this study reads one answer; to take the "
            f"first of each: --map {path}={target}"
        )
    notes = [f"answers were read out of {_held(frame)}"]
    question, *former = next(((c.name, *c.former) for c in table.columns if c.name in QUESTIONS), ("",))
    asking = [name for name in (question, *former) if name in names]
    out = out.drop(columns=[n for n in former if n in names and frame[n].map(lambda c: isinstance(c, dict)).any()])
    if question and not any(frame[name].map(lambda cell: isinstance(cell, str)).any() for name in asking):
        asked = [asked_in(row) for row in frame.to_dict("records")]
        if any(text is not None for text in asked):
            out[question] = pd.Series(asked, frame.index, dtype=object)
            notes.append(f"{question}: the user's messages")
    named = sorted({one.model for one in found if one.model})
    models = [one.model or (named[0] if len(named) == 1 else UNNAMED) for one in found]
    if group and named:
        own = frame[group] if group in names else pd.Series(None, frame.index, dtype=object)
        out[group] = own.where(own.notna() & (own != ""), pd.Series(models, frame.index, dtype=object))
    if any(one.id for one in found):
        before = frame[key].tolist() if key in names else [None] * len(frame)
        ids = [one.id or other for one, other in zip(found, before, strict=True)]
        out[key] = pd.Series(ids, frame.index, dtype=object)
        out = out.drop(columns="custom_id")
        notes.append(f"custom_id was read as {key}")
    elif len(named) > 1 and key in names and frame[key].map(lambda i: bool(_OF_A_CALL.fullmatch(str(i)))).all():
        out = out.drop(columns=key)
    if _generated(frame) and "context" in names:
        out = out.drop(columns="context")  # ollama's tokens
    drop = [name for name in _HOLDERS if name in out and name != target]
    if n.max() > 1 and repeats:
        out, place = _repeated(out, frame, key, question, group, n), np.concatenate([np.arange(k) for k in n])
        earlier = [f"{trial}." for trial in out[TRIAL]] if TRIAL in out else [""] * len(out)
        out[TRIAL] = [f"{trial}{i + 1}" for trial, i in zip(earlier, place, strict=True)]
        notes.append(f"up to {n.max()} choices of a row were read as trials of one answer")
        answers = [answer for one in found for answer in one.answers]
    else:
        answers = [one.answers[0] for one in found]
        if n.max() > 1:
            out[_SAMPLES] = pd.Series(
                [[a.text for a in one.answers[1:] if a.text is not None] for one in found], out.index
            )
            notes.append("the first choice of a row was read as the answer, the others as its samples")
    out[target] = np.array([answer.text for answer in answers], dtype=object)
    without = Counter(answer.why for answer in answers if answer.text is None)
    if without:
        said = ", ".join(f"{k} {why}" for why, k in sorted(without.items(), key=lambda item: (-item[1], item[0]))[:5])
        notes.append(f"{counted(sum(without.values()), 'reply', 'replies')} without a text, unscored: {said}")
    out = out.drop(columns=[name for name in drop if name in out])
    out.attrs.update(frame.attrs)
    return out, notes


def _repeated(out: pd.DataFrame, frame: pd.DataFrame, key: str, question: str, group: str, n: Any) -> pd.DataFrame:
    """Each row as often as it has answers; rows without an id get one, by their question where several models have it."""
    import pandas as pd

    if key not in out:
        asked = out[question] if question in out else pd.Series([None] * len(out), out.index)
        systems = out[group].astype(str) if group in out else pd.Series("", out.index)
        shared = asked.notna().all() and not pd.DataFrame({"s": systems, "q": asked.astype(str)}).duplicated().any()
        numbers = pd.factorize(asked)[0] + 1 if shared else range(1, len(out) + 1)
        out = out.assign(**{key: [f"q{i:04d}" for i in numbers]})
    return out.loc[out.index.repeat(n)]


def _held(frame: pd.DataFrame) -> str:
    return ", ".join(name for name in map(str, frame.columns) if name in _HOLDERS)
