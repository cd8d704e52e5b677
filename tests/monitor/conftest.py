"""What the tests of the log share: one that writes into lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from scripted_endpoint import ScriptedEndpoint, scripted_endpoint

from evalbench.monitor import CallLog, logged


class Kept:
    """A log and the rows that it wrote, by table."""

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.log: CallLog = logged(
            lambda table, rows: self.tables[table].extend(rows), key=b"a key of sixteen", linger=0.01
        )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The interactions, once all are written."""
        assert self.log.flush(10)
        return self.tables["interactions"]

    @property
    def row(self) -> dict[str, Any]:
        """The only one."""
        (row,) = self.rows
        return row


@pytest.fixture
def kept() -> Iterator[Kept]:
    made = Kept()
    yield made
    made.log.close()


@pytest.fixture
def scripted() -> Iterator[ScriptedEndpoint]:
    with scripted_endpoint() as endpoint:
        yield endpoint
