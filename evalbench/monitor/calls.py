"""What a call to an OpenAI-compatible endpoint asked, and what came back: read from whatever the application has in hand.

Nothing here needs ``openai``: objects with its attributes and dicts with its names are read alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

MOST_PARTS = 20_000
OVERHEAD = 600  # bytes of a row beside its texts, about
_LONGEST_DATA = 1_000
_EVENT = "response."
_LAST_EVENTS = frozenset(f"{_EVENT}{how}" for how in ("completed", "incomplete", "failed"))
_OF_MESSAGES = frozenset(
    ("role", "type")
)  # what is no message in a list of them, such as the result of a tool, has a type
# A union of types would be made anew at every call.
_SEQUENCES, _BYTES = (list, tuple), (bytes, bytearray)


class TooLarge(ValueError):
    """More than is worth an application's time."""


class Said(NamedTuple):
    """A reply.

    ``text`` is a text or what will be written as JSON; ``stages`` holds what it cannot: why it ended, calls of tools,
    further choices. ``size`` is in bytes, about.
    """

    text: Any = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    stages: dict[str, Any] = {}
    size: int = 0


def got(value: Any, name: str) -> Any:
    """A dict's entry or an object's attribute; None without.

    Examples
    --------
    >>> got({"model": "tiny"}, "model"), got(object(), "model")
    ('tiny', None)
    """
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def snapshot(value: Any) -> tuple[Any, int]:
    """A copy that the application cannot change any more, and about how many bytes it takes.

    Lists, dicts and what they hold are copied; texts and numbers never change, and objects are kept as they are.

    Raises ``TooLarge``: Beyond :data:`MOST_PARTS` parts, or where a value holds itself.

    Examples
    --------
    >>> messages = [{"role": "user", "content": "Hello"}]
    >>> copy, size = snapshot(messages)
    >>> messages.clear()
    >>> copy
    [{'role': 'user', 'content': 'Hello'}]
    """
    left, size = MOST_PARTS, 0

    def copied(part: Any) -> Any:
        nonlocal left, size
        left -= 1
        if left < 0:
            raise TooLarge(f"more than {MOST_PARTS} parts")
        if isinstance(part, str):
            size += _bytes_of(part)
            return part
        if isinstance(part, dict):
            size += 200
            return {name: copied(one) for name, one in part.items()}
        if isinstance(part, _SEQUENCES):
            size += 80
            return [copied(one) for one in part]
        if isinstance(part, _BYTES):
            return f"[{len(part)} bytes]"
        size += len(text) * 4 if isinstance(text := getattr(part, "content", None), str) else 32
        return part

    return copied(value), size


def said(reply: Any) -> Said:
    """What a reply holds: a text, a chat completion, a response of the Responses API, or any value that JSON can write.

    Examples
    --------
    >>> said({"choices": [{"message": {"content": "fine"}}], "model": "tiny-2026"})[:2]
    ('fine', 'tiny-2026')
    >>> said("fine").text, said({"answer": 42}).text
    ('fine', {'answer': 42})
    """
    if reply is None or isinstance(reply, str):
        return Said(reply, size=_bytes_of(reply))
    if (
        raw := getattr(reply, "http_response", None)
    ) is not None:  # openai's with_raw_response; a stream is not read yet
        reply = _of_json(raw)
    choices = got(reply, "choices")
    if not isinstance(choices, _SEQUENCES):
        if got(reply, "object") == "response" and isinstance(got(reply, "output"), _SEQUENCES):
            return _of_response(reply)
        copy, size = snapshot(reply)
        return Said(copy, size=size)
    texts: list[str | None] = []
    stages: dict[str, Any] = {}
    for choice in choices:
        message = got(choice, "message")
        text = got(choice, "text") if message is None else got(message, "content")
        texts.append(text if isinstance(text, str) else None)
        if calls := got(message, "tool_calls"):
            stages["tool_calls"] = [_tool_call(call) for call in calls]
        if refusal := got(message, "refusal"):
            stages["refusal"] = refusal
    if len(texts) > 1:
        stages["choices"] = texts
    if choices and (finish := got(choices[0], "finish_reason")):
        stages["finish"] = finish
    usage = got(reply, "usage")
    text, model = texts[0] if texts else None, got(reply, "model")
    tokens = got(usage, "prompt_tokens"), got(usage, "completion_tokens")
    return Said(text, model, *tokens, stages, sum(map(_bytes_of, texts)))


def _of_response(reply: Any) -> Said:
    """A reply of the Responses API: the texts of all its messages, and why it ended where it did not complete."""
    texts: list[str] = []
    stages: dict[str, Any] = {}
    for item in got(reply, "output"):
        if got(item, "type") == "function_call":
            stages.setdefault("tool_calls", []).append({"name": got(item, "name"), "arguments": got(item, "arguments")})
        content = got(item, "content")
        for part in content if isinstance(content, _SEQUENCES) and got(item, "type") == "message" else ():
            if isinstance(text := got(part, "text"), str):
                texts.append(text)
            if refusal := got(part, "refusal"):
                stages["refusal"] = refusal
    why = got(got(reply, "incomplete_details"), "reason") or got(got(reply, "error"), "code")
    if finish := why or got(reply, "status"):
        stages["finish"] = finish
    usage = got(reply, "usage")
    tokens = got(usage, "input_tokens"), got(usage, "output_tokens")
    return Said("".join(texts) if texts else None, got(reply, "model"), *tokens, stages, sum(map(_bytes_of, texts)))


def _bytes_of(text: str | None) -> int:
    return 0 if text is None else len(text) if text.isascii() else 4 * len(text)


def _of_json(response: Any) -> Any:
    try:
        return response.json()
    except Exception:  # noqa: BLE001 - whatever an endpoint sent; the application will see it
        return None


def _tool_call(call: Any) -> dict[str, Any]:
    function = got(call, "function")
    return {"name": got(function, "name"), "arguments": got(function, "arguments")}


class Pieces:
    """A streamed reply as it comes: texts, chunks of a chat completion, or events of the Responses API.

    - ``most``: Characters to keep; a longer reply is :attr:`too_long`.
    """

    def __init__(self, most: int) -> None:
        self._most, self._length = most, 0
        self._texts: list[str] = []
        self._tools: dict[int, dict[str, Any]] = {}
        self._model = self._finish = self._usage = None
        self._whole: Said | None = None
        self.too_long = False

    def add(self, piece: Any) -> bool:
        """Take the next one; whether it holds text."""
        text = piece
        if isinstance(event := got(piece, "type"), str) and event.startswith(_EVENT):
            text = self._event(event, piece)
        elif not isinstance(piece, str):
            choices = got(piece, "choices")
            first = choices[0] if choices else None
            delta = got(first, "delta")
            text = got(first, "text") if delta is None else got(delta, "content")
            self._model = got(piece, "model") or self._model
            self._usage = got(piece, "usage") or self._usage
            self._finish = got(first, "finish_reason") or self._finish
            for call in got(delta, "tool_calls") or ():
                self._tool(call)
        if not isinstance(text, str) or not text:
            return False
        self._length += len(text)
        if self._length > self._most:
            self.too_long = True
            self._texts.clear()
        else:
            self._texts.append(text)
        return True

    @property
    def finished(self) -> bool:
        """Whether the model has said why it ended."""
        return bool(self._finish)

    def _event(self, event: str, piece: Any) -> str | None:
        """The text of an event of the Responses API; the last one has the whole reply."""
        response = got(piece, "response")
        self._model = got(response, "model") or self._model
        if event in _LAST_EVENTS:
            whole = said(response)
            self._whole, self._finish = whole, whole.stages.get("finish")
        return got(piece, "delta") if event == f"{_EVENT}output_text.delta" else None

    def _tool(self, call: Any) -> None:
        piece = _tool_call(call)
        so_far = self._tools.setdefault(got(call, "index") or 0, {"name": piece["name"], "arguments": ""})
        so_far["arguments"] += piece["arguments"] or ""

    def said(self) -> Said:
        """The reply so far."""
        if self._whole is not None:
            return self._whole
        stages: dict[str, Any] = {"tool_calls": list(self._tools.values())} if self._tools else {}
        if self._finish:
            stages["finish"] = self._finish
        text = "".join(self._texts) if self._texts else None
        tokens = got(self._usage, "prompt_tokens"), got(self._usage, "completion_tokens")
        return Said(text, self._model, *tokens, stages, 4 * self._length)


def question(asked: Any) -> str | None:
    """The text that was asked: of messages the user's last one, else the last one; another value as JSON.

    Examples
    --------
    >>> question([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}])
    'Why?'
    """
    if asked is None or isinstance(asked, str):
        return asked
    if not isinstance(asked, list) or not all(isinstance(one, Mapping) and one.keys() & _OF_MESSAGES for one in asked):
        return json.dumps(asked, ensure_ascii=False)
    of_users = [one for one in asked if one.get("role") == "user"]
    last = (of_users or asked)[-1:]
    content = last[0].get("content") if last else None
    if isinstance(content, list):
        content = "\n".join(text for part in content if isinstance(text := got(part, "text"), str))
    return content if isinstance(content, str) else None


def is_the_question(asked: Any) -> bool:
    """Whether messages hold nothing but the text that was asked."""
    if not isinstance(asked, list):
        return True
    return (
        len(asked) == 1 and isinstance(asked[0], Mapping) and asked[0] == {"role": "user", "content": question(asked)}
    )


def plain(value: Any, clean: Callable[[str], str]) -> Any:
    """A value as JSON has it, every text and name cleaned; contents of files are named by size and hash alone."""
    if isinstance(value, str):
        if value.startswith("data:") and len(value) > _LONGEST_DATA:
            kind = value[5:80].partition(",")[0].partition(";")[0]
            return f"[{clean(kind)}, {len(value)} characters, sha256 {hashlib.sha256(value.encode('utf-8', 'replace')).hexdigest()}]"
        return clean(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, Mapping):
        return {clean(str(name)): plain(one, clean) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one, clean) for one in value]
    if callable(dump := getattr(value, "model_dump", None)):
        return plain(dump(mode="json", exclude_none=True), clean)
    if isinstance(value, Iterable) and not hasattr(value, "__next__"):
        return [plain(one, clean) for one in value]
    return f"[{type(value).__name__}]"


def kind(error: BaseException) -> str:
    """An exception by its kind, with the status of a reply, without its message; a stream that was left is ``abandoned``.

    Examples
    --------
    >>> kind(TimeoutError("the key is hunter2"))
    'TimeoutError'
    """
    if isinstance(error, GeneratorExit):
        return "abandoned"
    home = type(error).__module__.partition(".")[0]
    name = type(error).__name__ if home == "builtins" else f"{home}.{type(error).__name__}"
    status = getattr(error, "status_code", None)
    return f"{name} {status}" if isinstance(status, int) else name
