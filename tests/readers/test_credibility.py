"""Kinds of sources and their hosts: the shipped list and one's own."""

import pytest

from evalbench.errors import BadInput
from evalbench.readers.credibility import read_credibility


def test_credibility(tmp_path):
    shipped = read_credibility()
    assert shipped.kind("https://de.wikipedia.org/x") == "encyclopaedia"
    assert shipped.kind("https://notwikipedia.org/") == "unknown"
    assert shipped.kind("", "press") == "press"
    assert shipped.kind("http://[") == "unknown"
    bad = tmp_path / "bad.yaml"
    bad.write_text("kinds: {press: 2}\nhosts: {blog: [a.example], press: x}\n")
    with pytest.raises(BadInput) as error:
        read_credibility(str(bad))
    for part in (
        "press: 2 is not a number",
        "blog: no such kind",
        "hosts of press: expected a list",
        "kinds lacks unknown",
    ):
        assert part in str(error.value)
