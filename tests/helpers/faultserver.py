"""A chat endpoint on the loopback that fails on purpose: a process of its own, started by :func:`fault_server`.

What it does with a request is said in the last user message (``do:500``; ``do:500*2`` for the first two times that this
prompt comes), or drawn per prompt and attempt from the rates it was started with. It counts what it did.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

LONG = 200_000
TOKENS_IN, TOKENS_OUT = 11, 7
RETRY_AFTER = 0.2
DIRECTIVE = re.compile(r"do:([\w-]+)(?:\*(\d+))?")
# Texts of which a reader of an error's body fails, if it believes the charset.
CHARSETS = ("rot13", "zlib_codec", "idna", "undefined", "utf-16", "punycode", "unicode_escape", "nonsense")
CONTENTS: dict[str, tuple[str | None, str | None]] = {
    "null": (None, "stop"),
    "null-length": (None, "length"),
    "empty": ("", "stop"),
    "empty-length": ("", "length"),
    "empty-other": ("", "eos"),
    "empty-unsaid": ("", None),
    "think": ("<think>It is a trap.</think>fine", "stop"),
    "think-only": ("<think>It is a trap.</think>", "stop"),
    "think-cut": ("<think>It is a tr", "length"),
    "think-open": ("<think>It is a tr", "stop"),
}
# Every mode, and why a call without a schema and without retries ends unscored; empty: it is scored. Not in it: 401, 404
# and redirects, which raise since every other call would fail as well.
MODES: dict[str, str] = {
    "ok": "", "echo-key": "", "long": "", "fenced": "", "other-schema": "", "empty": "", "think": "", "think-only": "",
    "logprob-400": "", "logprob-nan": "",
    "400": "rejected", "403": "rejected", "422": "rejected", "501": "rejected",
    "408": "server-error", "409": "server-error", "500": "server-error", "503": "server-error", "599": "server-error",
    "429": "rate-limited", "quota": "rate-limited", "patience": "rate-limited", "year-10000": "rate-limited",
    "hang": "timeout", "drip": "timeout", "cut": "connection", "garbled-gzip": "connection",
    "wrong-type": "bad-response", "broken-json": "bad-response", "no-choices": "bad-response",
    "refusal": "refused", "filter": "content-filter",
    "null": "no-text", "absent": "no-text", "empty-other": "no-text", "empty-unsaid": "no-text",
    "null-length": "cut", "empty-length": "cut", "think-cut": "cut", "think-open": "cut",
    "tool-call": "tool-call", "tool-stop": "tool-call", "function-call": "tool-call",
    **{f"charset-{name}": "server-error" for name in CHARSETS},
    **{f"good-charset-{name}": "" for name in CHARSETS},
}  # fmt: skip


@dataclass(frozen=True)
class Running:
    """A started server: where it is, and what it saw."""

    url: str
    pid: int

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(self.url + "/stats", timeout=60) as reply:
            return json.load(reply)


@contextmanager
def fault_server(
    *,
    delay: float = 0.0,
    rates: dict[str, float] | None = None,
    refuses: tuple[str, ...] = (),
    names_what_it_refuses: bool = True,
    logprobs: bool = True,
    seed: int = 0,
) -> Iterator[Running]:
    """Start the server, and end it with the block.

    Parameters
    ----------
    delay : float
        Seconds before each good reply.
    rates : dict
        Behaviour to its share.
    refuses : tuple of str
        Parameters that get a 400: json_schema, json_object, logprobs, seed, temperature, max_tokens.
    """
    options = {
        "delay": delay,
        "rates": rates or {},
        "refuses": list(refuses),
        "named": names_what_it_refuses,
        "logprobs": logprobs,
        "seed": seed,
    }
    process = subprocess.Popen([sys.executable, __file__, json.dumps(options)], stdout=subprocess.PIPE, text=True)
    try:
        port = int(process.stdout.readline())
        yield Running(f"http://127.0.0.1:{port}/v1", process.pid)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Server:
    """The process's side."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.done: Counter[str] = Counter()
        self.prompts: Counter[str] = Counter()
        self.authorizations: Counter[str] = Counter()
        self.last: dict[str, Any] = {}
        self.under_way = self.most_under_way = 0

    async def serve(self) -> None:
        server = await asyncio.start_server(self.connection, "127.0.0.1", 0, backlog=1024)
        print(server.sockets[0].getsockname()[1], flush=True)
        async with server:
            await server.serve_forever()

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
                body = await reader.readexactly(int(length[1])) if length else b""
                if not await self.handle(head, body, reader, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def handle(self, head: str, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if head.startswith("GET"):
            found = {"/v1/stats": self.stats, "/v1/models": self.models}.get(head.split()[1])
            self.answer(writer, 200 if found else 404, found() if found else {"error": {"message": "no such page"}})
            await writer.drain()
            return True
        asked = json.loads(body)
        self.last = asked
        if "messages" not in asked:
            self.answer(writer, 200, self.embeddings(asked))
            await writer.drain()
            return True
        authorization = re.search(r"authorization: (.*)\r", head, re.IGNORECASE)
        self.authorizations[authorization[1] if authorization else ""] += 1
        prompt = next((m["content"] for m in asked["messages"] if m["role"] == "user"), "")
        self.prompts[prompt] += 1
        behaviour = self.behaviour(asked, prompt, self.prompts[prompt])
        self.done[behaviour] += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self.behave(behaviour, asked, authorization, reader, writer)
        finally:
            self.under_way -= 1

    def behaviour(self, asked: dict[str, Any], prompt: str, times: int) -> str:
        refused = self.refused(asked)
        if refused:
            return f"refuses-{refused}"
        directive = DIRECTIVE.search(prompt)
        if directive and (directive[2] is None or times <= int(directive[2])):
            return directive[1]
        drawn = hashlib.sha256(f"{self.options['seed']}|{prompt}|{times}".encode()).digest()
        share = int.from_bytes(drawn[:8], "big") / 2**64
        for name, rate in self.options["rates"].items():
            if share < rate:
                return name
            share -= rate
        return "ok"

    def refused(self, asked: dict[str, Any]) -> str:
        kind = asked.get("response_format", {}).get("type")
        present = {kind, *asked}
        return next((name for name in self.options["refuses"] if name in present), "")

    async def behave(
        self,
        name: str,
        asked: dict[str, Any],
        authorization: Any,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        if name.startswith("refuses-"):
            what = name.removeprefix("refuses-")
            message = f"Unsupported parameter: '{what}'" if self.options["named"] else "invalid request"
            self.answer(writer, 400, {"error": {"message": message, "type": "invalid_request_error"}})
        elif name.isdigit():
            key = authorization[1] if authorization else ""
            extra = {"Retry-After": str(RETRY_AFTER)} if name == "429" else {}
            self.answer(writer, int(name), {"error": {"message": f"you sent {key}"}}, **extra)
        elif name == "quota":
            self.answer(writer, 429, {"error": {"message": "spent", "code": "insufficient_quota"}})
        elif name == "patience":
            self.answer(writer, 429, {"error": {"message": "come back tomorrow"}}, **{"Retry-After": "86400"})
        elif name == "hang":
            await asyncio.wait_for(reader.read(1), 60)
            return False
        elif name == "drip":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
            for _ in range(100):
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.1)
            return False
        elif name == "cut":
            whole = json.dumps(self.completion(asked, "cut off")).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(whole)
            )
            writer.write(whole[: len(whole) // 2])
            await writer.drain()
            return False
        elif name == "wrong-type":
            self.raw(writer, 200, b"<html><body>It works!</body></html>", "text/html")
        elif name == "broken-json":
            self.raw(writer, 200, b'{"choices": [{"message": {"content": "half', "application/json")
        elif name == "no-choices":
            self.answer(writer, 200, {**self.completion(asked, ""), "choices": []})
        elif name in CONTENTS:
            content, finish = CONTENTS[name]
            self.answer(writer, 200, self.completion(asked, content, finish))
        elif name == "absent":
            whole = self.completion(asked, None)
            del whole["choices"][0]["message"]["content"]
            self.answer(writer, 200, whole)
        elif name in ("tool-call", "tool-stop", "function-call"):
            whole = self.completion(asked, None, "stop" if name == "tool-stop" else "tool_calls")
            call = {"name": "look_up", "arguments": "{}"}
            tool = {"tool_calls": [{"id": "1", "type": "function", "function": call}]}
            whole["choices"][0]["message"] |= {"function_call": call} if name == "function-call" else tool
            self.answer(writer, 200, whole)
        elif name in ("logprob-400", "logprob-nan"):
            whole = self.completion(asked, "fine")
            number = 10**400 if name == "logprob-400" else float("nan")
            whole["choices"][0]["logprobs"] = {"content": [{"token": "fine", "logprob": number}]}
            self.answer(writer, 200, whole)
        elif name.startswith("charset-"):
            kind = f"text/plain; charset={name.removeprefix('charset-')}"
            self.raw(writer, 503, "the machine is busy, caf\u00e9".encode(), kind)
        elif name.startswith("good-charset-"):
            kind = f"application/json; charset={name.removeprefix('good-charset-')}"
            self.raw(writer, 200, json.dumps(self.completion(asked, "fine")).encode(), kind)
        elif name == "garbled-gzip":
            self.raw(writer, 200, b"no gzip", "application/json", **{"Content-Encoding": "gzip"})
        elif name == "year-10000":
            date = "Fri, 31 Dec 10000 23:59:59 GMT"
            self.answer(writer, 429, {"error": {"message": "later"}}, **{"Retry-After": date})
        elif name == "refusal":
            whole = self.completion(asked, None)
            whole["choices"][0]["message"]["refusal"] = "I will not."
            self.answer(writer, 200, whole)
        elif name == "filter":
            whole = self.completion(asked, "half a rep")
            whole["choices"][0]["finish_reason"] = "content_filter"
            self.answer(writer, 200, whole)
        elif name == "other-schema":
            self.answer(writer, 200, self.completion(asked, '{"colour": "blue"}'))
        elif name == "echo-key":
            self.answer(writer, 200, self.completion(asked, f"you sent {authorization[1] if authorization else ''}"))
        elif name == "long":
            self.answer(writer, 200, self.completion(asked, "word " * (LONG // 5) + self.content(asked)))
        elif name == "fenced":
            self.answer(writer, 200, self.completion(asked, f"Here:\n```json\n{self.content(asked)}\n```"))
        elif name != "ok":
            raise ValueError(f"no mode {name!r}")
        else:
            await asyncio.sleep(self.options["delay"])
            self.answer(writer, 200, self.completion(asked, self.content(asked)))
        await writer.drain()
        return True

    def content(self, asked: dict[str, Any]) -> str:
        wants_json = "response_format" in asked or "JSON schema" in asked["messages"][-1]["content"]
        if not wants_json and len(asked["messages"]) == 1:
            return "fine"
        item = re.search(r"item-\d+", asked["messages"][0]["content"])
        return json.dumps({"mark": 1, "why": item[0] if item else "so"})

    def completion(self, asked: dict[str, Any], content: str | None, finish: str | None = "stop") -> dict[str, Any]:
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": finish,
            "message": {"role": "assistant", "content": content},
        }
        if asked.get("logprobs") and self.options["logprobs"]:
            top = [
                {"token": "1", "logprob": -0.22314355},
                {"token": "0", "logprob": -1.8971199},
                {"token": "x", "logprob": -3.0},
            ]
            choice["logprobs"] = {
                "content": [
                    {"token": '{"mark": ', "logprob": 0.0, "top_logprobs": []},
                    {"token": "1", "logprob": -0.22314355, "top_logprobs": top},
                    {"token": "}", "logprob": 0.0, "top_logprobs": []},
                ]
            }
        return {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": f"{asked['model']}-2026",
            "choices": [choice],
            "usage": {
                "prompt_tokens": TOKENS_IN,
                "completion_tokens": TOKENS_OUT,
                "total_tokens": TOKENS_IN + TOKENS_OUT,
            },
        }

    def embeddings(self, asked: dict[str, Any]) -> dict[str, Any]:
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        rows = [{"object": "embedding", "index": i, "embedding": [float(len(t)), 1.0]} for i, t in enumerate(texts)]
        return {
            "object": "list",
            "data": rows,
            "model": asked["model"],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }

    def models(self) -> dict[str, Any]:
        return {"object": "list", "data": [{"id": "tiny", "object": "model", "created": 0, "owned_by": "nobody"}]}

    def stats(self) -> dict[str, Any]:
        return {
            "done": dict(self.done),
            "requests": sum(self.done.values()),
            "prompts": len(self.prompts),
            "authorizations": dict(self.authorizations),
            "last": self.last,
            "under_way": self.under_way,
            "most_under_way": self.most_under_way,
        }

    def answer(self, writer: asyncio.StreamWriter, status: int, content: dict[str, Any], **headers: str) -> None:
        self.raw(writer, status, json.dumps(content).encode(), "application/json", **headers)

    def raw(self, writer: asyncio.StreamWriter, status: int, body: bytes, kind: str, **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


if __name__ == "__main__":
    asyncio.run(Server(json.loads(sys.argv[1])).serve())
