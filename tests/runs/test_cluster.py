"""The cluster of a batch on this machine."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from urllib.parse import urlsplit

import psutil
import pytest

from evalbench.runs.cluster import local_client


@pytest.fixture
def listening() -> Iterator[set[str]]:
    before = {c.laddr for c in psutil.Process().net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    found: set[str] = set()
    yield found
    now = {c.laddr for c in psutil.Process().net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    assert now <= before, "a listener outlives its cluster"


def test_two_batches_at_once_take_no_port_from_each_other_and_none_of_other_addresses(listening: set[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # "Port 8787 is already in use" came as one
        with local_client(0) as first, local_client(0) as second:
            ports = {urlsplit(client.dashboard_link).port for client in (first, second)}
            listening |= {c.laddr.ip for c in psutil.Process().net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    assert len(ports - {None}) == 2
    assert listening == {"127.0.0.1"}
