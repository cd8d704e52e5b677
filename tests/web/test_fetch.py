"""The guard, against a server on the loopback that plays every trick; no packet leaves this machine."""

import socket
import time

import pytest
from tricks import PATIENCE, PUBLIC, Site, trick_server

from evalbench.errors import BadInput
from evalbench.web.fetch import Fetcher
from evalbench.web.public_address import is_public


@pytest.fixture(scope="module")
def server():
    with trick_server() as running:
        yield running


@pytest.fixture
def site(server):
    return Site(server)


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
    from evalbench.web.fetch import resolve_host

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
    site.names |= {"inside.example": ["10.1.2.3"], "127.0.0.1": ["127.0.0.1"], "169.254.169.254": ["169.254.169.254"]}
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


SPECIAL = [
    "192.0.0.1", "192.0.0.192", "192.0.0.255", "168.63.129.16", "192.31.196.0", "192.31.196.255", "192.52.193.7",
    "192.175.48.48", "192.88.99.1",
]  # fmt: skip


@pytest.mark.parametrize("address", ["fec0::1", "3fff::1", "fe80::1%eth0", "2620:4f:8000::6", *SPECIAL])
def test_special_blocks_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["192.0.1.1", "168.63.129.15", "192.31.197.0", "192.52.192.255", "192.175.49.0"])
def test_the_neighbours_of_special_blocks_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize("address", SPECIAL)
def test_special_blocks_are_refused_in_every_disguise(site, address):
    a, b, c, d = (int(part) for part in address.split("."))
    disguises = [
        address, f"::ffff:{address}", f"::{address}", f"64:ff9b::{address}", f"2002:{a:02x}{b:02x}:{c:02x}{d:02x}::1",
    ]  # fmt: skip
    assert not any(is_public(one) for one in disguises)
    for one in disguises:
        site.names["named.example"] = [one]
        assert site.get("http://named.example/").outcome == "refused-address"
        page = site.redirect_to("http://named.example/page")
        assert (page.outcome, page.verification) == ("refused-address", "UNCERTAIN")
        written = f"http://[{one}]/" if ":" in one else f"http://{one}/"
        site.names[one] = [one]
        assert site.redirect_to(written).outcome == "refused-address"
    assert {path for _, path, _ in site.asked} == {"/redirect"}


@pytest.mark.parametrize("port", [0, 22, 25, 6379, 8080, 65535])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_other_ports_are_refused(site, port, scheme):
    url = f"{scheme}://site.example:{port}/page"
    page = site.get(url)
    assert (page.outcome, page.verification) == ("refused-port", "UNCERTAIN")
    assert f"unless site.example:{port} is an allowed host" in page.detail
    assert site.asked == site.connected == site.looked_up == []
    assert site.redirect_to(url).outcome == "refused-port"
    assert [path for _, path, _ in site.asked] == ["/redirect"]


def test_both_web_ports_are_asked_for_either_scheme(site):
    assert site.get("http://site.example:80/page").outcome == "ok"
    assert site.get("http://site.example:443/page").outcome == "ok"


def test_an_allowed_port_is_allowed_for_its_host_alone(site):
    def inside(_, port, seconds):
        ports.append(port)
        return socket.create_connection(("127.0.0.1", site.port), seconds)

    ports = []
    site.names |= {"wiki.example": ["10.0.0.7"], "other.example": [PUBLIC]}
    options = {"allow": {"Wiki.example:8080"}, "connect": inside}
    assert site.get("http://wiki.example:8080/page", **options).outcome == "ok"
    assert ports == [8080]
    assert site.get("http://wiki.example:8081/page", **options).outcome == "refused-port"
    assert site.get("http://other.example:8080/page", **options).outcome == "refused-port"
    assert site.get("http://wiki.example/page", **options).outcome == "refused-address"


def test_allowed_hosts_that_are_none_are_refused_at_once():
    with pytest.raises(BadInput) as error:
        Fetcher(allow=["wiki.example", "[::1]:8080", "http://wiki.example", "a b/", "x:99999", "", "me@x"])
    for entry in ("http://wiki.example", "a b/", "x:99999", "", "me@x"):
        assert f"{entry!r} is not a host or HOST:PORT" in str(error.value)
    assert "::1" not in str(error.value)


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
    assert time.monotonic() - start < PATIENCE / 2


def test_a_line_that_opens_after_the_deadline_is_cut(site):
    def late(_, __, timeout):
        time.sleep(timeout + 0.1)
        return socket.create_connection(("127.0.0.1", site.port), PATIENCE)

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
    page = site.get("http://site.example/", connect=lambda _, __, t: socket.create_connection(("127.0.0.1", port), t))
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
    from evalbench.web.fetch import resolve_host

    assert site.get(f"http://{'a' * 300}.example/", resolve=resolve_host).outcome == "dns"


def test_each_address_is_fetched_once(site):
    pages = Fetcher(resolve=site.resolve, connect=site.connect).fetch_all(["http://site.example/a"] * 3)
    assert list(pages) == ["http://site.example/a"]
    assert len(site.asked) == 1
