"""Who may ask the explorer's server: a page of its own, opened with the token, at the address that it listens to."""

from __future__ import annotations

import hmac
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """Answers only requests to a known host, under the token's path, that no other site's page sent.

    - ``app``: What answers them; its paths begin behind the token.
    - ``hosts``: ``host:port`` as a browser writes it.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self.app, self.prefix, self.hosts = app, f"/{token}/", set(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        fault = self._fault(scope)
        if fault:
            await _refuse(send, fault)
            return
        path = scope["path"][len(self.prefix) - 1 :]

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                own = [*HEADERS, (b"content-security-policy", POLICY.encode())]
                message["headers"] = [*message["headers"], *(pair for pair in own if pair[0] not in given)]
            await send(message)

        await self.app({**scope, "path": path, "raw_path": path.encode(), "root_path": ""}, receive, guarded)

    def _fault(self, scope: Scope) -> str:
        headers = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host", "").lower() not in self.hosts:
            return "This server answers only by the address that it printed."
        if not hmac.compare_digest(scope["path"][: len(self.prefix)].encode(), self.prefix.encode()):
            return "The token of the address is missing or wrong: open the address that evalbench view printed."
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in self.hosts}:
            return "Another site's page asked."
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and scope["method"] != "GET":
            return "Another site's page asked."
        if scope["method"] != "GET" and origin is None:
            return "A request that writes comes from this server's own page."
        return ""


async def _refuse(send: Send, fault: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": fault.encode()})
