"""A web server on the loopback that plays every trick, and a fetcher that takes it for the public web; fakes for tests."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from evalbench.web.fetch import Fetcher, HostUnknown
from evalbench.web.public_address import is_public

PUBLIC = "93.184.215.14"
PATIENCE = 30  # seconds after which an endless answer ends after all


class Tricks(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.headers["Host"], self.path, dict(self.headers)))
        getattr(self, "serve_" + self.path.strip("/").split("/")[0].replace("-", "_"), self.serve_page)()

    def send(self, body, status=200, **headers):
        self.send_response(status)
        for name, value in ({"Content_Type": "text/html; charset=utf-8"} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve_page(self):
        self.send("<p>Der Käse &amp; das <b>Brot</b></p>".encode(), Set_Cookie="id=1")

    def serve_redirect(self):
        self.send(b"", 302, Location=self.server.location)

    def serve_circle(self):
        self.send(b"", 302, Location="/circle")

    def serve_missing(self):
        self.send(b"no", 404)

    def serve_gone(self):
        self.send(b"no", 410)

    def serve_mojibake(self):
        self.send('<meta charset="windows-1251"><p>Мир'.encode("cp1251"), Content_Type="text/html")

    def serve_refused(self):
        self.send(b"no", 403)

    def serve_pdf(self):
        self.send(b"%PDF", Content_Type="application/pdf")

    def serve_untyped(self):
        self.send(b"x", Content_Type="")

    def serve_bomb(self):
        self.send(gzip.compress(b"0" * 50_000_000), Content_Encoding="gzip")

    def serve_zipped(self):
        self.send(gzip.compress(b"<p>small</p>"), Content_Encoding="gzip")

    def serve_broken_zip(self):
        self.send(b"not gzip", Content_Encoding="gzip")

    def serve_brotli(self):
        self.send(zlib.compress(b"x"), Content_Encoding="br")

    def endless(self, piece, pause):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        stop = time.monotonic() + PATIENCE
        while time.monotonic() < stop:
            try:
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            except OSError:
                return
            time.sleep(pause)

    def serve_endless(self):
        self.endless(b"x" * 65_536, 0)

    def serve_drip(self):
        self.endless(b"x", 0.05)

    def serve_drip_headers(self):
        stop = time.monotonic() + PATIENCE
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while time.monotonic() < stop:
            try:
                self.wfile.write(b"x")
            except OSError:
                return
            time.sleep(0.05)

    def serve_garbage(self):
        self.wfile.write(b"\x00\x01 nonsense\r\n\r\n")
        self.close_connection = True

    def log_message(self, *_):
        pass


class Quiet(ThreadingHTTPServer):
    """Clients that hang up are what is tested: no word about them."""

    def handle_error(self, *_):
        pass


@contextmanager
def trick_server(tls: ssl.SSLContext | None = None) -> Iterator[Quiet]:
    """Start the server, and end it with the block; ``asked`` keeps host, path and headers of every request."""
    server = Quiet(("127.0.0.1", 0), Tricks)
    server.daemon_threads, server.asked, server.location = True, [], "/"
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Site:
    """A fetcher for which every public address is the loopback server; it keeps what it looked up and where it went."""

    def __init__(self, server: Quiet) -> None:
        server.asked, server.location = [], "/"
        self.server, self.asked, self.port = server, server.asked, server.server_port
        self.looked_up: list[str] = []
        self.connected: list[str] = []
        self.names: dict[str, Any] = {"site.example": [PUBLIC], "example.com": [PUBLIC]}

    def resolve(self, host):
        self.looked_up.append(host)
        if host not in self.names:
            raise HostUnknown(host)
        found = self.names[host]
        return found.pop(0) if found and isinstance(found[0], list) else found

    def connect(self, address, port, timeout):
        self.connected.append(address)
        assert is_public(address), f"the guard let {address} through"
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def get(self, url, **bounds):
        return Fetcher(**{"resolve": self.resolve, "connect": self.connect, "timeout": PATIENCE, **bounds}).fetch(url)

    def redirect_to(self, location):
        self.server.location = location
        return self.get("http://site.example/redirect")
