"""What JSON can spell and a table cannot hold."""

import json

import pandas as pd
import pytest

from evalbench.errors import BadInput
from evalbench.readers.dataset import load
from evalbench.readers.files import raw_frame
from evalbench.readers.schema import Column, Table

HALF = "is half a character, its other half is missing; write \\\\ufffd in its place"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": "\\ud83d"}', rf"line 2: .*\\ud83d {HALF}"),
        ('{"a": [{"b": "x\\uDE00"}]}', rf"line 2: .*\\ude00 {HALF}"),
        ('{"\\ud800": 1}', rf"line 2: .*\\ud800 {HALF}"),
        ('{"a": ' + "[" * 100_000 + "}", r"line 2: .*nested too deeply"),
        ('{"a": -Infinity}', r"line 2: .*-Infinity is not a JSON number; write null"),
        ('{"a": NaN}', r"line 2: .*NaN is not a JSON number; write null"),
    ],
)
def test_lines_that_no_table_can_hold_are_told(tmp_path, line, message):
    file = tmp_path / "x.jsonl"
    raw = f'{{"a": "fine"}}\n{line}\n'.encode()
    with pytest.raises(BadInput, match=message):
        raw_frame(file, raw)
    with pytest.raises(BadInput, match=message.removeprefix("line 2: ")):
        raw_frame(tmp_path / "x.json", f"[{line}]".encode())


def test_whole_characters_are_read_however_they_are_spelled(tmp_path):
    texts = ["😀", "\\ud800 as a text about it", "\x00"]
    raw = "\n".join(json.dumps({"a": text}) for text in texts).encode()
    assert raw_frame(tmp_path / "x.jsonl", raw)["a"].tolist() == texts


@pytest.mark.parametrize("cells", [["fine", "a\ud83d"], [7, "a\ud83d"]], ids=["texts", "texts and numbers"])
def test_frames_that_no_file_can_hold_are_told(cells):
    frame = pd.DataFrame({"id": ["1", "2"], "output": pd.Series(cells, dtype=object)})
    with pytest.raises(BadInput, match=rf"frame items: column output: \\ud83d {HALF}"):
        load({"items": frame}, {"items": Table((Column("id", "id"), Column("output", "text")))})
