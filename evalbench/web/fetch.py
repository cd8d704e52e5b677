"""Fetch the page behind a cited address without letting the address choose where we go.

Cited addresses were written by a model: they may point at this machine, at a private network or at a cloud's
metadata service, directly, by redirect or by DNS.  Every hop is resolved once, every address it resolves to must be
public, and the connection goes to the address that was checked.  Size, time, redirects and types are bounded.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from evalbench.core import dry
from evalbench.errors import BadInput
from evalbench.models.redact import redactor
from evalbench.web.page_text import decoded, html_text
from evalbench.web.public_address import is_public

Outcome = Literal[
    "ok", "not-found", "no-such-host", "dns", "bad-url", "refused-scheme", "refused-port", "refused-address",
    "too-many-redirects", "timeout", "connection", "http-error", "wrong-type", "too-large", "bad-encoding",
]  # fmt: skip
FABRICATED: frozenset[Outcome] = frozenset({"not-found", "no-such-host"})
MAX_REDIRECTS = 3
MAX_BYTES = 2_000_000
TIMEOUT = 15.0
USER_AGENT = "evalbench (checks whether cited pages exist; reads each once)"
_TEXT_TYPES = ("text/", "application/xhtml+xml", "application/xml", "application/json")
_REDIRECTS = (301, 302, 303, 307, 308)
_CONTROL_HOST = "example.com"
# Written in an address as they are; everything else is percent-encoded, what is encoded already stays.
_IN_ADDRESS = "%/:=&?~+!$,;'@()*[]|"
_PORTS = {"http": 80, "https": 443}

Resolve = Callable[[str], Sequence[str]]
Connect = Callable[[str, int, float], socket.socket]


class HostUnknown(Exception):
    """The name service says that there is no such host."""


@dataclass(frozen=True)
class Page:
    """What became of one address.

    - ``url``: As cited.
    - ``outcome``: ``ok``, or why there is no text.
    - ``detail``: The outcome in words.
    - ``status``: The last HTTP status.
    - ``hops``: Every address that was asked for, the redirects among them.
    - ``text``: The page's text; empty unless ``ok``.
    """

    url: str
    outcome: Outcome
    detail: str
    status: int | None = None
    hops: tuple[str, ...] = ()
    text: str = ""

    @property
    def verification(self) -> str:
        """``LIKELY_FABRICATED`` for 404, 410 and unknown hosts, ``UNCERTAIN`` for every other failure, empty for ``ok``."""
        if self.outcome == "ok":
            return ""
        return "LIKELY_FABRICATED" if self.outcome in FABRICATED else "UNCERTAIN"


class _Stop(Exception):
    """The end of a fetch that gives no text."""

    def __init__(self, outcome: Outcome, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.outcome, self.detail, self.status = outcome, detail, status


def resolve_host(host: str) -> list[str]:
    """Every address of a host, by the system's resolver.

    Raises ``HostUnknown`` if the name service says that the name does not exist.
    Raises ``OSError`` for every other failure.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno == socket.EAI_NONAME:
            raise HostUnknown(host) from error
        raise
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def connect_to(address: str, port: int, timeout: float) -> socket.socket:
    """A TCP connection to a numeric address; no name is looked up."""
    return socket.create_connection((address, port), timeout)


@dataclass(frozen=True)
class Fetcher:
    """Bounds of a fetch, and the two doors to the network, which tests replace.

    - ``allow``: Hosts (as written in the address) that may resolve to non-public addresses; ``HOST:PORT`` for another
      port than 80 and 443, which alone are asked otherwise.
    - ``max_redirects``, ``max_bytes``: ``max_bytes`` bounds the body before and after decompression.
    - ``timeout``: Seconds for one address with all its redirects, from start to end.
    - ``resolve``: Host to numeric addresses.
    - ``connect``: Numeric address, port, seconds to a connected socket.
    """

    allow: Collection[str] = field(default_factory=frozenset)
    max_redirects: int = MAX_REDIRECTS
    max_bytes: int = MAX_BYTES
    timeout: float = TIMEOUT
    resolve: Resolve = resolve_host
    connect: Connect = connect_to

    def __post_init__(self) -> None:
        faults = [f"{entry!r} is not a host or HOST:PORT" for entry in self.allow if _place(entry) is None]
        if faults:
            raise BadInput.listing("allowed hosts:", faults)

    def fetch(self, url: str) -> Page:
        """Fetch one page; whatever goes wrong on the way is an outcome, never an exception."""
        hops: list[str] = []
        deadline = time.monotonic() + self.timeout
        try:
            text, status = self._follow(url, hops, deadline)
        except _Stop as stop:
            return Page(url, stop.outcome, stop.detail, stop.status, tuple(hops))
        return Page(url, "ok", f"HTTP {status}", status, tuple(hops), text)

    def fetch_all(self, urls: Iterable[str], *, at_once: int = 4) -> dict[str, Page]:
        """Fetch every distinct address once; on a dry run none."""
        distinct = sorted(set(urls))
        if dry.is_dry():
            dry.add("Pages of the web are not fetched here, so that questions about their texts are not counted.")
            return {}
        with ThreadPoolExecutor(at_once) as pool:
            return dict(zip(distinct, pool.map(self.fetch, distinct), strict=True))

    def _follow(self, url: str, hops: list[str], deadline: float) -> tuple[str, int]:
        while True:
            if len(hops) > self.max_redirects:
                raise _Stop("too-many-redirects", f"more than {self.max_redirects} redirects")
            parts = _split(url)
            hops.append(url)
            self._check_port(parts)
            address = self._checked_address(parts, deadline)
            location, text, status = self._ask(parts, address, deadline)
            if location is None:
                return text, status
            try:
                url = urljoin(url, _as_written(location))
            except ValueError as error:
                raise _Stop("bad-url", f"redirected to an invalid address: {error}", status) from None

    def _allowed(self) -> set[tuple[str, int | None]]:
        return {place for place in map(_place, self.allow) if place}

    def _check_port(self, parts: SplitResult) -> None:
        host, port = parts.hostname or "", _port(parts)
        if port not in _PORTS.values() and (host, port) not in self._allowed():
            shown = f"[{host}]" if ":" in host else host
            raise _Stop(
                "refused-port", f"port {port}: only 80 and 443 are allowed, unless {shown}:{port} is an allowed host"
            )

    def _checked_address(self, parts: SplitResult, deadline: float) -> str:
        """The address to connect to: looked up once, refused unless all of the host's addresses are public."""
        host = parts.hostname or ""
        try:
            addresses = self._resolved(host, deadline)
            private = [a for a in addresses if not is_public(a)]
        except HostUnknown:
            if self._resolves_anything(deadline):
                raise _Stop("no-such-host", f"no such host: {host}") from None
            raise _Stop("dns", "this machine cannot resolve any host name") from None
        except FutureTimeout:
            raise _Stop("timeout", f"looking up {host} took too long") from None
        except (OSError, UnicodeError, ValueError) as error:
            raise _Stop("dns", f"looking up {host} failed: {error}") from None
        if not addresses:
            raise _Stop("dns", f"{host} has no address")
        if private and not {(host, None), (host, _port(parts))} & self._allowed():
            raise _Stop("refused-address", f"{host} is at {private[0]}, which is not public")
        return addresses[0]

    def _resolved(self, host: str, deadline: float) -> Sequence[str]:
        pool = ThreadPoolExecutor(1)
        try:
            return pool.submit(self.resolve, host).result(max(0.0, deadline - time.monotonic()))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _resolves_anything(self, deadline: float) -> bool:
        try:
            return bool(self._resolved(_CONTROL_HOST, deadline))
        except (HostUnknown, OSError, FutureTimeout):
            return False

    def _ask(self, parts: SplitResult, address: str, deadline: float) -> tuple[str | None, str, int]:
        """One request to one checked address: where it redirects to, or its text; and the status."""
        port = _port(parts)
        expired = threading.Event()
        opened: list[socket.socket] = []

        def cut() -> None:
            expired.set()
            for one in opened:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

        def watched(one: socket.socket) -> socket.socket:
            opened.append(one)
            # Asked after it was handed to the timer: a line that comes too late is cut by one of the two.
            if expired.is_set():
                raise TimeoutError
            return one

        # A body that drips never trips a socket's own time-out: the line is cut at the deadline.
        timer = threading.Timer(max(0.0, deadline - time.monotonic()), cut)
        timer.daemon = True
        timer.start()
        try:
            line = self.connect(address, port, max(0.05, deadline - time.monotonic()))
            with line:
                watched(line)
                if parts.scheme == "https":
                    line = ssl.create_default_context().wrap_socket(line, server_hostname=parts.hostname)
                with line:
                    return self._exchange(parts, watched(line), expired)
        except (_Stop, OSError, http.client.HTTPException, ValueError) as error:
            # What was understood of a line that was cut says nothing about the page.
            if expired.is_set() or isinstance(error, TimeoutError):
                raise _Stop("timeout", f"not finished after {self.timeout:g} s") from None
            if isinstance(error, _Stop):
                raise
            raise _Stop("connection", redactor()(f"{type(error).__name__}: {error}")[:200]) from None
        finally:
            timer.cancel()

    def _exchange(
        self, parts: SplitResult, line: socket.socket, expired: threading.Event
    ) -> tuple[str | None, str, int]:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        connection.sock = line
        path = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_IN_ADDRESS)
        headers = {"User-Agent": USER_AGENT, "Accept": "text/html, text/*;q=0.9", "Accept-Encoding": "identity"}
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as response:
            status = response.status
            location = response.getheader("Location")
            if status in _REDIRECTS and location:
                return location, "", status
            if status in (404, 410):
                raise _Stop("not-found", f"HTTP {status}", status)
            if status != 200:
                raise _Stop("http-error", f"HTTP {status}", status)
            kind = (response.getheader("Content-Type") or "").split(";")[0].strip().lower()
            if not kind.startswith(_TEXT_TYPES):
                raise _Stop("wrong-type", f"content type {kind or 'not given'}", status)
            raw = response.read(self.max_bytes + 1)
            if expired.is_set():
                raise TimeoutError
            body = self._decoded(raw, (response.getheader("Content-Encoding") or "").lower(), status)
            charset = response.headers.get_content_charset("")
        return None, _text(body, charset, kind), status

    def _decoded(self, raw: bytes, encoding: str, status: int) -> bytes:
        if len(raw) > self.max_bytes:
            raise _Stop("too-large", f"more than {self.max_bytes} bytes", status)
        if encoding in ("", "identity"):
            return raw
        if encoding not in ("gzip", "x-gzip", "deflate"):
            raise _Stop("bad-encoding", f"content encoding {encoding}", status)
        try:
            body = zlib.decompressobj(wbits=47).decompress(raw, self.max_bytes + 1)
        except zlib.error as error:
            raise _Stop("bad-encoding", f"{encoding}: {error}", status) from None
        if len(body) > self.max_bytes:
            raise _Stop("too-large", f"more than {self.max_bytes} bytes after {encoding}", status)
        return body


def _split(url: str) -> SplitResult:
    """The address, refused unless it is a plain http(s) one."""
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise _Stop("bad-url", f"not an address: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise _Stop("refused-scheme", f"scheme {parts.scheme or 'not given'}: only http and https are fetched")
    if not host or any(c.isspace() or not c.isprintable() for c in url.strip()):
        raise _Stop("bad-url", "no host, or blanks and control characters in the address")
    if parts.username is not None or parts.password is not None:
        raise _Stop("bad-url", "user or password in the address")
    return parts


def _port(parts: SplitResult) -> int:
    return _PORTS[parts.scheme] if parts.port is None else parts.port


def _place(allowed: str) -> tuple[str, int | None] | None:
    """Host and port of an allowed host; None where it is no such thing."""
    try:
        parts = urlsplit(f"//{allowed}")
        bare = not (parts.path or parts.query or parts.fragment or "@" in allowed) and allowed == allowed.strip()
        return (parts.hostname, parts.port) if parts.hostname and bare else None
    except ValueError:
        return None


def _as_written(location: str) -> str:
    """A Location header, which http.client reads as Latin-1, in the UTF-8 that servers write."""
    try:
        return location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return location


def _text(body: bytes, charset: str, kind: str) -> str:
    marked_up = "html" in kind or "xml" in kind
    text = decoded(body, charset, marked_up=marked_up)
    return html_text(text) if marked_up else text
