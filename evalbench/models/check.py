"""What an endpoint really does, found by asking it: one row per ability."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from evalbench.errors import BadInput
from evalbench.models import names
from evalbench.models.chat import shapes
from evalbench.models.chat.collect import collect, endpoint_identity, run_sync
from evalbench.models.chat.structured import option_probabilities
from evalbench.models.endpoint import EndpointFault, Model
from evalbench.models.exchange import Reply, Request, as_messages
from evalbench.models.local import weights as local
from evalbench.models.redact import redactor
from evalbench.models.similarity.endpoint_embed import endpoint_encoder
from evalbench.models.wire.client import client
from evalbench.models.wire.streaming import holds_text
from evalbench.models.wire.transport import CHAT, Outcome, post

SHORTEST_PROMPT_TOKENS = 256
_STEP = 4
_REPEATS = 3
_LONGEST_SHOWN = 160
_QUESTION = "Name the capital of France. Answer in one sentence."
_STORY = "Tell a short story about a lighthouse keeper and a fox."


class Finding(NamedTuple):
    """One ability: ``yes``, ``no`` or a figure, and how it was seen."""

    ability: str
    found: str
    detail: str


class _City(BaseModel):
    """What the schema probe asks for."""

    city: str
    certain: Literal["yes", "no"]


@dataclass(frozen=True)
class _Subject:
    target: Model
    timeout: float

    def ask(self, *requests: Request, max_reasks: int = 0) -> list[Reply]:
        return collect(
            requests,
            self.target,
            concurrency=1,
            cache=False,
            max_retries=1,
            max_reasks=max_reasks,
            timeout=self.timeout,
            progress=False,
        )

    def call(self, work: Callable[[Any], Any]) -> Any:
        """Run a probe on the bare client; a failure comes back as its text, without keys."""
        import httpx2
        import openai

        async def run() -> Any:
            with local.address_of(self.target) as (base_url, key):
                redact = redactor(key or self.target.key)
                async with client(self.target, base_url=base_url, key=key, timeout=self.timeout) as opened:
                    try:
                        return await work(opened)
                    except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
                        return redact(f"{type(error).__name__}: {error}")[:_LONGEST_SHOWN]

        return run_sync(run())


def check(name: str, *, longest: int = 4096, timeout: float = 120.0) -> list[Finding]:
    """Try an endpoint's abilities; about twenty calls, none from the cache and none kept.

    - ``name``: A model's name; see :mod:`evalbench.models.names`.
    - ``longest``: The longest prompt to try, in tokens, roughly.
    - ``timeout``: Seconds per call.

    Raises ``BadInput`` if the model cannot be asked at all.
    """
    subject = _Subject(names.model(name), timeout)
    shapes.forget(endpoint_identity(subject.target))
    try:
        chat = _chat(subject)
    except EndpointFault as fault:
        embeddings = _embeddings(subject)
        if embeddings.found == "no":
            raise
        return [Finding("chat", "no", str(fault)), embeddings]
    if chat.found == "no":
        return [chat, _embeddings(subject)] if chat.detail.startswith("rejected") else [chat]
    probes = (_schema, _logprobs, _several, _seed, _temperature_zero, _embeddings, _streaming)
    findings = [chat]
    for probe in probes:
        found = probe(subject)
        findings.extend(found if isinstance(found, list) else [found])
    return [*findings, _longest_prompt(subject, longest)]


def _question(text: str, **options: Any) -> Request:
    return Request(as_messages(text), **options)


def _chat(subject: _Subject) -> Finding:
    (reply,) = subject.ask(_question(_QUESTION, max_tokens=40))
    if reply.unscored:
        return Finding("chat", "no", f"{reply.unscored}: {reply.detail}")
    return Finding("chat", "yes", f"{reply.served_by}: {_shown(reply.text)}")


def _schema(subject: _Subject) -> Finding:
    (reply,) = subject.ask(_question(_QUESTION, schema=_City, max_tokens=100))
    how = "in words only"
    if "json_schema" not in reply.not_taken:
        how = "json_schema"
    elif "json_object" not in reply.not_taken:
        how = "json_object"
    if reply.value is None:
        return Finding("schema", "no", f"{how}: {reply.unscored}: {reply.detail}")
    return Finding("schema", "yes", f"{how}: {reply.value.model_dump_json()}")


def _logprobs(subject: _Subject) -> Finding:
    asked = _question("Is Paris in France? Answer Yes or No, nothing else.", logprobs=5, max_tokens=3)
    (reply,) = subject.ask(asked)
    found = option_probabilities(reply, ("Yes", "No"))
    if reply.logprobs is None:
        return Finding("logprobs", "no", found.statement)
    shown = ", ".join(f"{option} {share:.2f}" for option, share in found.options.items())
    return Finding("logprobs", "yes", f"{shown}, other {found.off_options:.2f}" if shown else found.statement)


def _several(subject: _Subject) -> Finding:
    body = shapes.payload(_question(_QUESTION, temperature=1.0, max_tokens=10), (), subject.target, frozenset())

    async def two(client: Any) -> str:
        redact = redactor(client.api_key)
        got = await post(client, subject.target, CHAT, {**body, "n": 2}, subject.timeout, redact)
        return got.detail if isinstance(got, Outcome) else redact(got.decode("utf-8", "replace"))

    got = subject.call(two)
    try:
        count = len(json.loads(got)["choices"])
    except (ValueError, TypeError, LookupError):
        return Finding("n = 2", "no", got[:_LONGEST_SHOWN])
    return Finding("n = 2", "yes" if count == 2 else "no", f"{count} choices; we send n requests")


def _seed(subject: _Subject) -> Finding:
    same = [_question(_STORY, temperature=1.0, seed=7, max_tokens=40, purpose=str(i)) for i in range(_REPEATS)]
    replies = [subject.ask(request)[0] for request in same]
    (other,) = subject.ask(_question(_STORY, temperature=1.0, seed=8, max_tokens=40))
    if "seed" in replies[0].not_taken:
        return Finding("seed repeats", "no", "the parameter is refused")
    finding = _repeats("seed repeats", replies, "temperature 1, one seed")
    differs = "another seed differs" if other.text != replies[0].text else "another seed gives the same text"
    return finding._replace(detail=f"{finding.detail}; {differs}")


def _temperature_zero(subject: _Subject) -> Finding:
    replies = [subject.ask(_question(_STORY, max_tokens=40))[0] for _ in range(_REPEATS)]
    if "temperature" in replies[0].not_taken:
        return Finding("temperature 0 repeats", "no", "the parameter is refused")
    return _repeats("temperature 0 repeats", replies, "temperature 0")


def _repeats(ability: str, replies: list[Reply], how: str) -> Finding:
    failed = next((reply for reply in replies if reply.unscored), None)
    if failed is not None:
        return Finding(ability, "no", f"{failed.unscored}: {failed.detail}")
    texts = {reply.text for reply in replies}
    return Finding(ability, "yes" if len(texts) == 1 else "no", f"{how}: {len(texts)} different of {len(replies)}")


def _embeddings(subject: _Subject) -> Finding:
    try:
        vectors = endpoint_encoder(subject.target.name)(["one", "two"])
    except BadInput as fault:
        return Finding("embeddings", "no", str(fault)[:_LONGEST_SHOWN])
    return Finding("embeddings", "yes", f"{vectors.shape[1]} dimensions")


def _streaming(subject: _Subject) -> list[Finding]:
    async def stream(client: Any) -> Any:
        started, times = time.perf_counter(), []
        chunks = await client.chat.completions.create(
            model=subject.target.id,
            messages=[{"role": "user", "content": _STORY}],
            temperature=0,
            max_tokens=100,
            stream=True,
        )
        async for chunk in chunks:
            if holds_text(chunk):
                times.append(time.perf_counter() - started)
        return times

    times = subject.call(stream)
    if isinstance(times, str) or not times:
        why = times if isinstance(times, str) else "the stream held no text"
        return [Finding("time to first token", "no", why), Finding("tokens per second", "no", why)]
    lasted = times[-1] - times[0]
    rate = Finding("tokens per second", "no", "the reply came in one piece")
    if len(times) > 1 and lasted > 0:
        rate = Finding("tokens per second", f"{(len(times) - 1) / lasted:.1f}", f"{len(times)} pieces of a stream")
    return [Finding("time to first token", f"{times[0]:.2f} s", "streamed"), rate]


def _longest_prompt(subject: _Subject, longest: int) -> Finding:
    """Prompts four times as long each time, until one is refused or the longest was taken."""
    ability, taken = "longest prompt tried", "none"
    wanted = SHORTEST_PROMPT_TOKENS
    while wanted <= longest:
        (reply,) = subject.ask(_question("fox " * wanted + "\nHow many words are above?", max_tokens=5))
        if reply.unscored:
            return Finding(ability, taken, f"about {wanted} tokens: {reply.unscored}: {reply.detail}")
        taken = f"{reply.tokens_in or wanted} tokens"
        wanted *= _STEP
    return Finding(ability, taken, "every length tried was accepted")


def _shown(text: str) -> str:
    return " ".join(text.split())[:80]
