"""What users said, with how few said it; and rows of a window as a study's table."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from logged import START, interaction, remark

from evalbench import load
from evalbench.core.stats import wilson
from evalbench.monitor.feedback import BIAS, feedback_of, month_windows
from evalbench.monitor.from_store import exported, log_window, window_columns, window_data
from evalbench.monitor.occasions import Window
from evalbench.monitor.store import LogStore
from evalbench.readers.log_store.address import address_of

WHOLE = Window(START, START + timedelta(days=365))


def client(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


@pytest.fixture
def log(log_place):
    with LogStore(log_place, create=True) as store:
        yield store


def test_no_feedback_is_no_figure(log):
    log.append([interaction(i) for i in range(5)])
    found = feedback_of(log, log_window(WHOLE), "all")
    assert (found.interactions, found.clients, found.answered, found.share) == (5, 0, 0, 0.0)
    assert found.mean is found.if_silent_low is found.labels_mean is found.busiest is None
    empty = feedback_of(log, log_window(Window(START - timedelta(days=9), START)), "none")
    assert (empty.interactions, empty.share) == (0, None)


def test_response_rate_mean_and_what_silence_leaves_open(log):
    """100 interactions of 10 clients; 20 with feedback, 15 of them content, 11 by one client."""
    log.append([interaction(i, client=client(f"c{i % 10}")) for i in range(100)])
    answered = [10 * k for k in range(10)] + [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]
    log.append_feedback([remark(n, "user", float(i >= 5)) for i, n in enumerate(answered)])
    log.append_feedback([remark(n, "annotator", 0.5, judge="ann") for n in range(30)])
    found = feedback_of(log, log_window(WHOLE), "all")
    assert (found.interactions, found.clients, found.answered, found.answering) == (100, 10, 20, 10)
    np.testing.assert_allclose((found.share_low, found.share_high), wilson(20, 100))
    assert (found.share, found.mean) == (0.2, 0.75)
    assert found.low < 0.75 < found.high
    assert (found.if_silent_low, found.if_silent_high) == (0.15, 0.95)
    assert found.busiest == 0.5  # ten of twenty by the first of ten clients
    assert (found.labelled, found.labels_mean) == (30, 0.5)
    assert "users" in found.note


def test_several_values_of_an_interaction_count_once(log):
    log.append([interaction(i) for i in range(4)])
    log.append_feedback(
        [
            remark(0, "user", 1.0),
            remark(0, "user", 0.0),
            remark(1, "user", 1.0),
            remark(2, "user", None, comment="fine"),
        ]
    )
    found = feedback_of(log, log_window(WHOLE), "all")
    assert (found.answered, found.mean) == (2, 0.75)
    assert found.if_silent_low is None or found.if_silent_low >= 0


def test_values_that_are_all_the_same_have_no_interval(log):
    """One without width would be read as certainty."""
    log.append([interaction(i, client=client(str(i % 9))) for i in range(60)])
    log.append_feedback([remark(i, source, 1) for i in range(30) for source in ("user", "annotator")])
    found = feedback_of(log, log_window(WHOLE), "all")
    assert (found.mean, found.low, found.high) == (1, None, None)
    assert (found.labels_mean, found.labels_low, found.labels_high) == (1, None, None)
    assert found.note == found.labels_note == "all values are the same: no interval"


def test_the_sentence_names_the_bias():
    assert "self-selected" in BIAS
    assert "not of all users" in BIAS


def test_months_of_a_zone():
    now = datetime(2026, 1, 15, 12, tzinfo=UTC)
    assert [(label, end.month) for label, _, end in month_windows(now, 2)] == [("2025-12", 1), ("2026-01", 1)]


def test_a_window_is_a_study_s_data(log, log_place):
    log.append([interaction(i, model="a/b") for i in range(10)])
    store, window = address_of(log_place), Window(START, START + timedelta(hours=5))
    columns = window_columns("text_metrics")
    assert columns == {"request": "question", "response": "answer"}
    rows = load(window_data(store, window), study="text_metrics", columns=columns)["items"]
    assert [*rows["id"]] == [f"r{i:05d}" for i in range(5)]
    assert [*rows["answer"]] == [f"a{i}" for i in range(5)]
    assert set(rows["model"]) == {"a/b"}


def test_rows_that_name_no_model_are_a_group_beside_those_that_do(log, log_place):
    log.append([interaction(i, model="a/b" if i % 3 else None) for i in range(10)])
    data = load(window_data(address_of(log_place), WHOLE), study="text_metrics", columns=window_columns("text_metrics"))
    assert data["items"]["model"].value_counts().to_dict() == {"a/b": 6, "model not named": 4}
    assert "4 of 10 rows name no model; they are the group “model not named”" in str(data.notes)


def test_months_are_delivered_whole(log, log_place, tmp_path):
    log.append([interaction(24 * i) for i in range(70)])  # from May to July
    assert exported(address_of(log_place), tmp_path, None) == 70
    late = Window(START + timedelta(days=45), START + timedelta(days=60))
    assert exported(address_of(log_place), tmp_path, late) == 39  # from June on
    assert len(pd.read_parquet(tmp_path / "interactions")) == 70
