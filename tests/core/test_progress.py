"""What long work is at: in words, on a terminal, as lines, through a file."""

from __future__ import annotations

import io
import time

import pytest

from evalbench.core import progress
from evalbench.core.progress import Replies, Shown, at, line, told


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv(progress.FILE, str(tmp_path / "progress.json"))
    monkeypatch.setattr(Replies, "_tokens", 0)
    monkeypatch.setattr(Replies, "_cost", 0.0)
    return tmp_path / "progress.json"


def test_a_step_goes_through_the_file(file, monkeypatch):
    assert told(file) == {}
    at("scoring by rouge1", 3, 11)
    assert line(told(file)) == "scoring by rouge1, 3 of 11"
    assert [path.name for path in file.parent.iterdir()] == ["progress.json"]
    monkeypatch.setenv(progress.FILE, str(file / "no folder" / "x"))
    at("nobody reads this")


def test_replies_are_counted_over_the_batches_of_a_run(file):
    first, second = Replies("asking m", 2), Replies("asking m (entailment)", 10)
    first.add(100, 0.5, unscored="")
    first.add(20, None, unscored="cut")
    second.done += 4  # kept ones
    second.add(80, 0.25, unscored="")
    second.tell(now=True)
    second.since -= 2
    said = line(second.state())
    assert said.startswith(
        "asking m (entailment), 5 of 10 replies, 200 tokens, cost 0.7500 so far, 2.0 s per reply, 0:10 min left"
    )
    second.add(1, None, unscored="")
    assert "cost" not in line(second.state())
    second.elsewhere = 3
    assert "3 asked for by another process" in line(second.state())
    assert "1 failed (cut 1)" in line(first.state())


@pytest.mark.parametrize(
    "state", [{"nothing": 1}, {"what": "x", "since": "y"}, {"what": "x", "total": 3, "done": 1, "since": 0}]
)
def test_what_a_notebook_wrote_there_ends_nothing(state):
    assert line(state) == ""


def test_a_terminal_has_one_line_that_is_taken_away(monkeypatch):
    monkeypatch.setattr(progress, "_TERMINAL_EVERY_S", 0.01)
    stream = Terminal()
    with Shown(lambda: {"what": "scoring by chrf", "done": 1, "total": 2}, stream, "text_metrics"):
        time.sleep(0.2)
    shown = stream.getvalue()
    assert "\rtext_metrics 0:00 min: scoring by chrf, 1 of 2" in shown
    assert "\n" not in shown
    assert shown.endswith(f"\r{' ' * len('text_metrics 0:00 min: scoring by chrf, 1 of 2')}\r")


def test_elsewhere_there_is_a_line_now_and_then(monkeypatch):
    stream = io.StringIO()
    with Shown(dict, stream, "matching"):
        time.sleep(0.05)
    assert stream.getvalue() == ""
    monkeypatch.setattr(progress, "EVERY_S", 0.05)
    with Shown(lambda: {"what": "correlations"}, stream, "human_correlation"):
        time.sleep(0.3)
    assert stream.getvalue().startswith("human_correlation 0:00 min: correlations\n")
    assert "\r" not in stream.getvalue()


def test_a_closed_stream_ends_nothing(monkeypatch):
    monkeypatch.setattr(progress, "EVERY_S", 0.02)
    stream = io.StringIO()
    stream.close()
    with Shown(lambda: {"what": "x"}, stream):
        time.sleep(0.1)
