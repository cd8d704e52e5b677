"""A log store as the data of a study: rows of a window, annotators' feedback as labels, a judge's as scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from logged import HOSTILE, START, interaction, remark

from evalbench import load
from evalbench.errors import BadInput
from evalbench.monitor.store import LogStore
from evalbench.readers.log_store import frames
from evalbench.readers.log_store.frames import absolute, divided, logged, state_of
from evalbench.runs.run import plan


@pytest.fixture
def log(log_place):
    with LogStore(log_place, create=True) as made:
        made.append([interaction(i * 24, model="kestrel-2") for i in range(20)])
        yield made


def within(log, query):
    named = log.address.named
    return f"{named}{'&' if '?' in named else '?'}{query}"


def test_rows_of_a_window_are_the_table(log):
    found = logged(within(log, "from=2026-05-03&to=2026-05-06"))
    assert found.frame["id"].tolist() == ["r00048", "r00072", "r00096"]
    assert found.frame.columns.tolist() == ["id", "time", "question", "answer", "model"]
    assert found.frame["time"].tolist()[0] == "2026-05-03T00:00:00.000000Z"
    assert found.frame.index.tolist() == [1, 2, 3]
    assert found.notes == ["3 interactions of a log store, 2026-05-03T00:00:00Z to 2026-05-06T00:00:00Z"]
    assert len(logged(log.address.named).frame) == 20


def test_studies_read_it_under_todays_names_without_a_note_and_by_those_of_the_store_in_a_rename(log):
    data = load(log.address.named, study="drift")
    assert {"id", "time", "question", "answer"} <= {*data["oos"].columns}
    assert not any("read as" in note for note in data.notes)
    assert not data.read_as
    mapped = load(log.address.named, study="drift", columns={"response": "answer", "request": "question", "ts": "time"})
    assert mapped["oos"].equals(data["oos"])
    assert mapped.label.sha256 == data.label.sha256


def test_annotators_give_labels_and_users_do_not(log):
    said = [
        *(remark(0, judge=judge, value=value) for judge, value in (("ann", 1), ("bob", 1), ("eve", 0))),
        *(remark(24, judge=judge, value=value) for judge, value in (("ann", 1), ("bob", 0))),
        remark(48, judge="ann", value=0, ts="2026-07-01T00:00:00Z"),
        remark(48, judge="ann", value=1, ts="2026-06-01T00:00:00Z"),
        remark(72, judge="ann", value=None, comment="unclear"),
        *(remark(i * 24, "user", value=0) for i in range(20)),
    ]
    log.append_feedback(said)
    found = logged(log.address.named)
    assert found.frame["label"].tolist()[:4] == [1, None, 0, None]
    assert "score" not in found.frame
    assert found.notes[1:] == ["annotators disagree on 1 interaction, which have no label"]


def test_scores_are_those_of_one_judge(log):
    log.append_feedback(
        [remark(0, "judge", 0.25, judge="kestrel-judge"), remark(24, "judge", 1, judge="kestrel-judge")]
    )
    assert logged(log.address.named).frame["score"].tolist()[:3] == [0.25, 1.0, None]
    log.append_feedback([remark(0, "judge", 0.5, judge="other")])
    found = logged(log.address.named)
    assert "score" not in found.frame
    assert found.notes[1:] == ["feedback of 2 judges (kestrel-judge, other) is not used: scores are those of one"]


def test_the_order_of_arrival_changes_nothing(log, tmp_path):
    with LogStore(tmp_path / "other.sqlite", create=True) as other:
        for i in reversed(range(20)):
            other.append([interaction(i * 24, model="kestrel-2")])
    assert logged(tmp_path / "other.sqlite").sha256 == logged(log.address.named).sha256


def test_hostile_texts_are_rows_like_others(tmp_path):
    with LogStore(tmp_path / "log.sqlite", create=True) as log:
        log.append(
            [interaction(i, ts=START, response=text) for i, text in enumerate(HOSTILE)]
            + [interaction(50, response=None)]
        )
    data = load(tmp_path / "log.sqlite", study="text_metrics", columns={"response": "answer", "request": "reference"})
    texts = data["items"]["answer"].tolist()
    assert texts[:2] == list(HOSTILE[:2])
    assert texts[-1] is None
    assert any("half characters replaced in 1 text" in note for note in data.notes)


def test_a_study_reads_it_as_its_first_table(log):
    data = load(log.address.named, study="text_metrics", columns={"response": "answer", "request": "reference"})
    assert len(data["items"]) == 20
    assert data.label.name == log.address.name
    assert "?" not in data.label.name


def test_a_large_store_is_sampled_for_studies_that_stream_the_rest(log, monkeypatch):
    monkeypatch.setattr(frames, "LARGE_ROWS", 10)
    log.append_feedback([remark(i * 24, judge="ann", value=i % 2) for i in range(20)])
    found = logged(log.address.named, 5)
    assert len(found.frame) == 5
    assert found.frame["label"].tolist() == [int(id[1:]) // 24 % 2 for id in found.frame["id"]]
    assert found.frame.attrs["stream"].rows == 20
    assert "5 of 20 rows were read" in found.notes[1]
    assert len(logged(log.address.named).frame) == 20
    assert len(logged(within(log, "from=2026-05-03&to=2026-05-09"), 5).frame) == 6


def test_what_is_refused(log, monkeypatch, tmp_path):
    with pytest.raises(BadInput, match="no interactions from 2030-01-01T00:00:00Z to …"):
        logged(within(log, "from=2030-01-01"))
    with pytest.raises(BadInput, match="from: 'May': not a time"):
        logged(within(log, "from=May"))
    monkeypatch.setattr(frames, "MOST_ROWS", 10)
    with pytest.raises(
        BadInput,
        match=r"20 interactions, at most 10 are read at once: name a window of time, .*[?&]from=2026-05-01&to=",
    ):
        logged(log.address.named)
    monkeypatch.setattr(frames, "MOST_BYTES", 10)
    with pytest.raises(BadInput, match="GB of texts: name a window"):
        logged(within(log, "from=2026-05-03&to=2026-05-06"))
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0" + bytes(4080))
    with pytest.raises(BadInput, match="not a log store|without a log store"):
        load(tmp_path / "other.db", study="text_metrics")


def test_a_time_with_its_zone_in_a_query():
    for text in ("2026-05-01T00:00:00+03:00", "2026-05-01T00:00:00%2B03:00", "2026-04-30T21:00:00Z"):
        assert str(divided(f"sqlite:///a.sqlite?from={text}")[1]) == "2026-04-30T21:00:00Z to …"
    assert divided("log.sqlite?from=2026-05-01")[0] == "log.sqlite?from=2026-05-01"


def test_a_run_is_planned_with_a_place_that_any_folder_understands(log, tmp_path):
    given = {"columns": {"response": "answer", "request": "reference"}}
    place = log.address.named if log.address.path is None else "log.sqlite"
    first = plan("text_metrics", {**given, "data": place}, base=tmp_path)
    assert first.parameters["data"] == absolute(place, tmp_path)
    assert "data" not in first.files
    assert plan("text_metrics", {**given, "data": place}, base=tmp_path).identity == first.identity
    log.append([interaction(999)])
    assert plan("text_metrics", {**given, "data": place}, base=tmp_path).identity != first.identity
    windowed = plan("text_metrics", {**given, "data": within(log, "from=2026-05-03T00:00:00+03:00")}, base=tmp_path)
    assert str(divided(windowed.parameters["data"])[1]) == "2026-05-02T21:00:00Z to …"
    with pytest.raises(BadInput, match="no such log store"):
        plan("text_metrics", {**given, "data": "sqlite:///missing.sqlite"}, base=tmp_path)


def test_the_state_of_a_store_is_its_own(log, tmp_path):
    states = {state_of(log.address.named)}
    log.append_feedback([remark(0)])
    states |= {state_of(log.address.named), state_of(within(log, "from=2026-05-03"))}
    with LogStore(tmp_path / "other.sqlite", create=True) as other:
        other.append([interaction(i * 24) for i in range(20)])
    states |= {state_of(tmp_path / "other.sqlite")}
    assert len(states) == 4
    assert Path(tmp_path / "other.sqlite").stat().st_mode & 0o077 == 0
