"""The guard, against a server on the loopback that plays every trick; no packet leaves this machine."""

import gzip
import shutil
import socket
import ssl
import subprocess
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from evalbench.models.page_text import decoded, html_text
from evalbench.models.webfetch import Fetcher, HostUnknown, is_public

PUBLIC = "93.184.215.14"


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
        stop = time.monotonic() + 5
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
        stop = time.monotonic() + 5
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


@pytest.fixture(scope="module")
def server():
    httpd = Quiet(("127.0.0.1", 0), Tricks)
    httpd.daemon_threads = True
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()


@pytest.fixture
def site(server):
    """A fetcher for which every public address is the loopback server; it keeps what it looked up and where it went."""
    server.asked = []
    server.location = "/"

    class Site:
        port = server.server_port
        asked = server.asked
        looked_up: list = []
        connected: list = []
        names = {"site.example": [PUBLIC], "example.com": [PUBLIC]}

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
            return Fetcher(
                **{"resolve": self.resolve, "connect": self.connect, "timeout": 3.0, **bounds}
            ).fetch(url)

        def redirect_to(self, location):
            server.location = location
            return self.get("http://site.example/redirect")

    made = Site()
    made.looked_up, made.connected, made.names = [], [], dict(Site.names)
    return made


def test_a_public_page_is_read(site):
    page = site.get("http://site.example/page?q=1")
    assert (page.outcome, page.text, page.verification) == ("ok", "Der Käse & das Brot", "")
    host, path, headers = site.asked[0]
    assert (host, path) == ("site.example", "/page?q=1")
    assert "evalbench" in headers["User-Agent"]
    site.get("http://site.example/page")
    assert "Cookie" not in site.asked[1][2]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://localhost/", "http://2130706433/", "http://0x7f000001/", "http://0/",
        "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.0.1/",
        "http://100.64.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:169.254.169.254]/",
        "http://[::127.0.0.1]/", "http://[64:ff9b::127.0.0.1]/", "http://[2002:7f00:1::]/", "http://[fe80::1]/", "http://[fc00::1]/",
        "http://224.0.0.1/", "http://255.255.255.255/",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public_are_refused_by_the_system_resolver_too(url, site):
    from evalbench.models.webfetch import resolve_host

    page = site.get(url, resolve=resolve_host)
    assert (page.outcome, page.verification) == ("refused-address", "UNCERTAIN")
    assert site.connected == []


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1/page",
        "http://169.254.169.254/page",
        "http://inside.example/page",
        "http://[::ffff:10.0.0.1]/page",
    ],
)
def test_a_redirect_inside_is_refused(site, location):
    site.names |= {
        "inside.example": ["10.1.2.3"],
        "127.0.0.1": ["127.0.0.1"],
        "169.254.169.254": ["169.254.169.254"],
    }
    site.names["::ffff:10.0.0.1"] = ["::ffff:10.0.0.1"]
    page = site.redirect_to(location)
    assert (page.outcome, page.verification) == ("refused-address", "UNCERTAIN")
    assert page.hops == ("http://site.example/redirect", location)
    assert [path for _, path, _ in site.asked] == ["/redirect"]


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://site.example/", "gopher://site.example/", "data:text/plain,x"]
)
def test_other_schemes_are_refused(site, location):
    assert site.redirect_to(location).outcome == "refused-scheme"
    assert site.get(location).outcome == "refused-scheme"
    assert len(site.asked) == 1


def test_a_redirect_to_what_is_no_address_is_an_outcome(site):
    page = site.redirect_to("http://[bad")
    assert (page.outcome, page.verification, page.status) == ("bad-url", "UNCERTAIN", 302)


def test_addresses_in_other_scripts_are_fetched_percent_encoded(site):
    assert site.get("http://site.example/вики/Москва%20?q=北京&x=[1]").outcome == "ok"
    assert site.redirect_to("/вики".encode().decode("latin-1")).outcome == "ok"
    wiki = "/%D0%B2%D0%B8%D0%BA%D0%B8"
    assert [path for _, path, _ in site.asked] == [
        wiki + "/%D0%9C%D0%BE%D1%81%D0%BA%D0%B2%D0%B0%20?q=%E5%8C%97%E4%BA%AC&x=[1]", "/redirect", wiki,
    ]  # fmt: skip


def test_a_host_in_another_script_is_asked_for_by_its_ascii_name(site):
    site.names["bücher.example"] = [PUBLIC]
    assert site.get("http://Bücher.example/page").outcome == "ok"
    assert site.asked[0][0] == "xn--bcher-kva.example"


def test_a_charset_declared_in_the_page_is_heeded(site):
    assert site.get("http://site.example/mojibake").text == "Мир"


@pytest.mark.parametrize("address", ["fec0::1", "192.88.99.1", "3fff::1", "fe80::1%eth0"])
def test_special_blocks_are_not_public(address):
    assert not is_public(address)


def test_a_name_with_one_private_address_is_refused(site):
    site.names["mixed.example"] = [PUBLIC, "10.0.0.1"]
    assert site.get("http://mixed.example/").outcome == "refused-address"
    assert site.connected == []


def test_a_name_that_changes_between_look_ups_is_looked_up_once_per_hop(site):
    site.names["rebind.example"] = [[PUBLIC], ["127.0.0.1"]]
    assert site.get("http://rebind.example/page").outcome == "ok"
    assert site.connected == [PUBLIC]
    assert site.looked_up == ["rebind.example"]


def test_a_name_that_changes_between_hops_is_checked_again(site):
    site.names["rebind.example"] = [[PUBLIC], ["127.0.0.1"]]
    assert site.get("http://rebind.example/circle").outcome == "refused-address"
    assert site.connected == [PUBLIC]


def test_an_allowed_host_may_be_inside(site):
    site.names["wiki.example"] = ["10.0.0.7"]
    got = site.get(
        "http://wiki.example/page",
        allow={"Wiki.example"},
        connect=lambda _, __, t: socket.create_connection(("127.0.0.1", site.port), t),
    )
    assert got.outcome == "ok"


@pytest.mark.parametrize(
    ("path", "outcome", "verification"),
    [
        ("missing", "not-found", "LIKELY_FABRICATED"),
        ("gone", "not-found", "LIKELY_FABRICATED"),
        ("refused", "http-error", "UNCERTAIN"),
        ("circle", "too-many-redirects", "UNCERTAIN"),
        ("pdf", "wrong-type", "UNCERTAIN"),
        ("untyped", "wrong-type", "UNCERTAIN"),
        ("broken-zip", "bad-encoding", "UNCERTAIN"),
        ("brotli", "bad-encoding", "UNCERTAIN"),
        ("garbage", "connection", "UNCERTAIN"),
        ("bomb", "too-large", "UNCERTAIN"),
        ("endless", "too-large", "UNCERTAIN"),
    ],
)
def test_every_failure_has_its_label(site, path, outcome, verification):
    page = site.get(f"http://site.example/{path}")
    assert (page.outcome, page.verification, page.text) == (outcome, verification, "")
    assert page.detail


def test_three_redirects_are_followed_a_fourth_is_not(site):
    assert len(site.get("http://site.example/circle").hops) == 4
    assert len(site.asked) == 4


@pytest.mark.parametrize("path", ["drip", "drip-headers"])
def test_a_slow_body_ends_at_the_deadline(site, path):
    start = time.monotonic()
    page = site.get(f"http://site.example/{path}", timeout=0.4)
    assert (page.outcome, page.verification) == ("timeout", "UNCERTAIN")
    assert time.monotonic() - start < 2


def test_a_line_that_opens_after_the_deadline_is_cut(site):
    def late(_, __, timeout):
        time.sleep(timeout + 0.1)
        return socket.create_connection(("127.0.0.1", site.port), 3)

    assert site.get("http://site.example/page", timeout=0.2, connect=late).outcome == "timeout"
    assert site.asked == []


def test_a_slow_resolver_ends_at_the_deadline(site):
    page = site.get("http://site.example/", timeout=0.2, resolve=lambda _: time.sleep(1) or [PUBLIC])
    assert page.outcome == "timeout"


def test_small_compressed_bodies_are_read(site):
    assert site.get("http://site.example/zipped").text == "small"


def test_an_unknown_host_is_fabricated_only_where_names_resolve_at_all(site):
    assert site.get("http://nowhere.example/").verification == "LIKELY_FABRICATED"
    site.names.clear()
    page = site.get("http://nowhere.example/")
    assert (page.outcome, page.verification) == ("dns", "UNCERTAIN")


def test_a_refused_connection_is_no_proof(site):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    page = site.get(
        "http://site.example/", connect=lambda _, __, t: socket.create_connection(("127.0.0.1", port), t)
    )
    assert (page.outcome, page.verification) == ("connection", "UNCERTAIN")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://",
        "http://user:secret@site.example/",
        "http://site.example:99999/",
        "http://a b/",
        "http://[::1",
        "no url",
    ],
)
def test_bad_addresses(site, url):
    assert site.get(url).outcome in ("bad-url", "refused-scheme")
    assert site.connected == []


def test_a_host_that_is_no_name_never_raises(site):
    from evalbench.models.webfetch import resolve_host

    assert site.get(f"http://{'a' * 300}.example/", resolve=resolve_host).outcome == "dns"


def test_each_address_is_fetched_once(site):
    pages = Fetcher(resolve=site.resolve, connect=site.connect).fetch_all(["http://site.example/a"] * 3)
    assert list(pages) == ["http://site.example/a"]
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    "page", ["<" * 10**6, "<script" * 10**5, "<!--" * 10**5, "<p>" * 10**5, "<script></script>" * 10**5]
)
def test_hostile_pages_take_linear_time(page):
    start = time.process_time()
    html_text(page)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "charset", ["punycode", "idna", "undefined", "unicode_escape", "zip", "a\0b", "no-such"]
)
def test_charsets_that_no_page_is_written_in_are_passed_over(charset):
    body = b"a-" + b"99" * 1_000_000
    start = time.process_time()
    assert decoded(body, charset) == body.decode()
    assert time.process_time() - start < 2


def test_charset_of_a_page_mark_then_header_then_declaration():
    assert decoded("Мир".encode("utf-16"), "latin-1") == "Мир"
    assert decoded("Мир".encode("cp1251"), "windows-1251") == "Мир"
    assert decoded('<?xml version="1.0" encoding="gb2312"?>你好'.encode("gbk"), marked_up=True)[-2:] == "你好"
    assert decoded(b'<meta charset="latin-1">\xff') == '<meta charset="latin-1">\ufffd'


def test_text_of_a_page():
    assert (
        html_text("<HEAD><title>İ</title></HEAD>İ<SCRIPT>x</SCRIPT>y 1 < 2<br>z<!-- no -->") == "İy 1 < 2\nz"
    )


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

    httpd = Quiet(("127.0.0.1", 0), Tricks)
    httpd.daemon_threads, httpd.asked = True, []
    httpd.socket = context.wrap_socket(httpd.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield httpd, cert, names
    httpd.shutdown()
    httpd.server_close()


@pytest.mark.parametrize(
    ("host", "trusted", "outcome"),
    [
        ("site.example", True, "ok"),
        ("other.example", True, "connection"),
        ("site.example", False, "connection"),
    ],
)
def test_tls_is_checked_against_the_name_though_the_address_is_pinned(
    certified, monkeypatch, host, trusted, outcome
):
    httpd, cert, names = certified
    names.clear()
    httpd.asked.clear()
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    went_to = []

    def connect(address, port, timeout):
        went_to.append((address, port))
        return socket.create_connection(("127.0.0.1", httpd.server_port), timeout)

    page = Fetcher(resolve=lambda _: [PUBLIC], connect=connect, timeout=5.0).fetch(f"https://{host}/page")
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
    assert time.monotonic() - start < 2
