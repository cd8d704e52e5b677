"""What is forgotten is gone, with the feedback on it, and its texts are nowhere in the file; the rest stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from logged import START, ended, interaction, processes, remark

from evalbench.errors import BadInput
from evalbench.monitor.clients import client_hash
from evalbench.monitor.forget import forget
from evalbench.monitor.store import LogStore
from evalbench.readers.log_store.times import instant

KEY = b"a key of the tests only"
ANNA, BERT = (client_hash(name, KEY) for name in ("anna", "bert"))
MIDDLE = instant("2026-05-01T05:00:00Z")


@pytest.fixture
def log(log_place):
    """Twelve interactions, an hour apart, of two clients in turn, each with feedback a day later; one orphan; a loss."""
    with LogStore(log_place, create=True) as made:
        rows = [interaction(i, client=(ANNA, BERT)[i % 2], request=f"the secret of {i}") for i in range(12)]
        made.append(rows)
        made.append_feedback([remark(i) for i in range(12)] + [remark(99, ts=START)], orphans=True)
        made.append_losses([{"id": "l", "ts": START, "reason": "queue full", "rows": 3}])
        yield made


def kept(log):
    return [int(row["id"][1:]) for row in log.rows()], sorted(
        int(r["interaction"][1:]) for r in log.rows(table="feedback")
    )


@pytest.mark.parametrize(
    ("conditions", "expected", "left"),
    [
        ({"before": MIDDLE}, (5, 6, 1), list(range(5, 12))),
        ({"client": ANNA}, (6, 6, 0), list(range(1, 12, 2))),
        ({"client": ANNA, "before": MIDDLE}, (3, 3, 0), [1, 3, *range(5, 12)]),
        ({"client": client_hash("cleo", KEY)}, (0, 0, 0), list(range(12))),
        ({"before": instant("2027-01-01T00:00:00Z")}, (12, 13, 1), []),
    ],
)
def test_what_is_counted_is_what_goes(log, conditions, expected, left):
    assert forget(log, **conditions, dry_run=True)[:3] == expected
    assert len(kept(log)[0]) == 12
    assert forget(log, **conditions) == (*expected, False)
    interactions, feedback = kept(log)
    assert interactions == left
    assert [i for i in feedback if i != 99] == left
    assert (99 in feedback) == ("client" in conditions)
    assert forget(log, **conditions)[:3] == (0, 0, 0)


def test_without_a_condition_nothing_goes(log):
    with pytest.raises(BadInput, match="nothing to forget is named"):
        forget(log)
    assert len(kept(log)[0]) == 12


def test_texts_that_are_forgotten_leave_the_disk(tmp_path):
    place = tmp_path / "log.sqlite"
    with LogStore(place, create=True) as log:
        log.append([interaction(i, client=ANNA, request=f"the secret of {i} " * 300) for i in range(40)])
        log.append([interaction(99, request="no secret")])
        assert forget(log, client=ANNA).interactions == 40
        found = b"".join(path.read_bytes() for path in Path(tmp_path).glob("log.sqlite*"))
    assert b"no secret" in found
    assert b"the secret of" not in found


def test_numbers_of_forgotten_rows_are_not_given_again(log):
    mark = log.mark()
    forget(log, before=instant("2027-01-01T00:00:00Z"))
    log.append([interaction(50)])
    assert log.mark() > mark
    assert log.count(after=mark) == 1


@pytest.mark.slow
def test_writers_go_on_while_much_is_forgotten(log_place):
    with LogStore(log_place, create=True) as log:
        log.append([interaction(i) for i in range(5000)])
        code = """
        from datetime import UTC, datetime
        from evalbench.monitor.store import LogStore
        with LogStore(sys.argv[1]) as log:
            for i in range(500):
                log.append([{"id": f"{sys.argv[2]}-{i}", "ts": datetime.now(UTC), "request": "new"}])
        """
        writers = processes(code, [(log_place, i) for i in range(3)])
        assert forget(log, before=instant("2027-01-01T00:00:00Z")).interactions >= 5000
        ended(writers)
        assert sum(row["request"] != "new" for row in log.rows()) == 0
