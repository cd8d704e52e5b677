"""dialogue: tables with the names that its columns had before."""

import pandas as pd

from evalbench import dialogue, load


def result_of(frame):
    return dialogue.evaluate(load({"turns": frame}, study="dialogue"), n_resamples=100)


def test_times_of_the_former_column_are_read_as_they_are():
    frame = pd.DataFrame(
        {"session_id": ["a", "a", "b", "b"], "role": ["user", "assistant"] * 2, "time": "2026-03-02T08:00:00Z"}
    )
    now, before = result_of(frame), result_of(frame.rename(columns={"time": "ts"}))
    assert "frame turns: column ts was read as time" in before.notes
    pd.testing.assert_frame_equal(before.items, now.items)
    assert "time" in before.tables["turns"]


def test_times_of_messages_are_read_under_either_name():
    for name in ("ts", "time"):
        said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello", name: "2026-03-02T08:00Z"}]
        found = result_of(pd.DataFrame({"id": ["a"], "messages": [said]}))
        assert found.items["week"].tolist() == ["2026-W10"]
