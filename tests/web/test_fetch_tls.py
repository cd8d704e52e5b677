"""A certificate is checked though the address is pinned; against a TLS server on the loopback."""

import shutil
import socket
import ssl
import subprocess
import time

import pytest
from tricks import PATIENCE, PUBLIC, trick_server

from evalbench.web.fetch import Fetcher


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """A TLS server on the loopback with a certificate for site.example; which names its clients asked for."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=site.example", "-addext", "subjectAltName=DNS:site.example", "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    names = []
    context.sni_callback = lambda _, name, __: names.append(name)

    with trick_server(context) as httpd:
        yield httpd, cert, names


@pytest.mark.parametrize(
    ("host", "trusted", "outcome"),
    [("site.example", True, "ok"), ("other.example", True, "connection"), ("site.example", False, "connection")],
)
def test_tls_is_checked_against_the_name_though_the_address_is_pinned(certified, monkeypatch, host, trusted, outcome):
    httpd, cert, names = certified
    names.clear()
    httpd.asked.clear()
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    went_to = []

    def connect(address, port, timeout):
        went_to.append((address, port))
        return socket.create_connection(("127.0.0.1", httpd.server_port), timeout)

    page = Fetcher(resolve=lambda _: [PUBLIC], connect=connect, timeout=PATIENCE).fetch(f"https://{host}/page")
    assert page.outcome == outcome, page.detail
    assert went_to == [(PUBLIC, 443)]
    assert names == [host]
    assert [asked[0] for asked in httpd.asked] == [host] * (outcome == "ok")


def test_a_slow_tls_body_ends_at_the_deadline(certified, monkeypatch):
    httpd, cert, _ = certified
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    start = time.monotonic()
    page = Fetcher(
        resolve=lambda _: [PUBLIC],
        connect=lambda _, __, t: socket.create_connection(("127.0.0.1", httpd.server_port), t),
        timeout=0.6,
    ).fetch("https://site.example/drip")
    assert page.outcome == "timeout"
    assert time.monotonic() - start < PATIENCE / 2
