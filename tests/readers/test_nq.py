import pandas as pd
import pytest

from evalbench.readers.files import raw_frame, read_bytes
from evalbench.readers.nq import questions


def test_other_frames_pass():
    for frame in (pd.DataFrame({"id": ["1"], "question": ["q"], "reference": ["g"]}), pd.DataFrame({"x": [1]})):
        assert questions({"answers": frame})["answers"] is frame
    assert questions({}) == {}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"question": "who", "answer": ["A", "B", "A"]}, ("who", ["A", "B"])),
        ({"query": "who", "answer": "A long answer."}, ("who", ["A long answer."])),
        (
            {"question": {"text": "who"}, "annotations": {"short_answers": [{"text": ["A"]}, {"text": []}]}},
            ("who", ["A"]),
        ),
        ({"question": {"text": "who"}, "annotations": [{"short_answers": [{"text": "A"}]}]}, ("who", ["A"])),
        ({"question": "who", "answer": []}, ("who", [])),
    ],
)
def test_forms(row, expected):
    got = questions({"answers": pd.DataFrame([row])})["answers"].iloc[0]
    assert (got["question"], got["reference"]) == expected
    assert got["id"] == "q1"


def test_passages_become_sources():
    row = {
        "question": "who",
        "answers": ["A"],
        "ctxs": [{"title": "T", "text": "A did."}, {"title": "U", "text": "B."}],
    }
    sources = questions({"answers": pd.DataFrame([row])})["sources"]
    assert sources.to_dict("records")[1] == {"url": "q1-2", "id": "q1", "title": "U", "text": "B."}


@pytest.mark.external
@pytest.mark.parametrize(
    ("name", "rows"), [("NQ-open.dev", 3610), ("NQ-open.efficientqa.test.1.1", 1769), ("nq_open_oracle_head400", 400)]
)
def test_the_real_files(external_data, name, rows):
    path = external_data("natural_questions") / f"{name}.jsonl"
    got = questions({"answers": raw_frame(path, read_bytes(path))})
    assert len(got["answers"]) == rows
    assert (got["answers"]["reference"].str.len() > 0).all()
    assert ("sources" in got) == (rows == 400)
