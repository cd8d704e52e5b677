"""Files that mean harm, or are broken: one message each, little memory, nothing left behind."""

import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from inspect_log import header, put, sample, score

from evalbench.errors import BadInput
from evalbench.readers.tools import composed, data_folder
from evalbench.readers.tools.known import imported, runs_of

DEEPEVAL = {"testCases": [{"name": "a", "input": "i", "actualOutput": "o", "metricsData": [{"name": "M", "score": 1.0, "threshold": 0.5, "success": True}]}]}  # fmt: skip
RAGAS = {"user_input": "a?", "response": "b", "faithfulness": 1.0}
SAMPLE = json.dumps(sample("a", {"right": score("C")})).encode()


def refused(path, *words):
    """The one message; the same whether the file is only looked at or written as a data set."""
    with pytest.raises(BadInput) as found:
        imported(path)
    message = str(found.value)
    assert str(path) in message or path.name in message
    for word in words:
        assert word in message
    assert len(message) < 2000
    return message


def zipped(path, *entries):
    """An archive of (name, bytes, keyword arguments of ``put``)."""
    with zipfile.ZipFile(path, "w") as archive:
        put(archive, "header.json", json.dumps(header()).encode())
        for name, raw, how in entries:
            put(archive, name, raw, **how)
    return path


def test_a_cut_document_and_a_cut_line(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(DEEPEVAL)[:-30])
    refused(path, "not valid JSON", "is the file cut?")
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(RAGAS) + "\n" + json.dumps(RAGAS)[:-10])
    refused(path, "line 2: not valid JSON")
    with pytest.raises(BadInput, match="line 2"):
        data_folder.write(composed.parts_of(runs_of(path)), tmp_path / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.jsonl", "run.json"]


@pytest.mark.parametrize("share", [0.2, 0.6, 0.98])
def test_a_cut_archive(tmp_path, share):
    path = zipped(tmp_path / "a.eval", ("samples/a_epoch_1.json", SAMPLE, {}))
    raw = path.read_bytes()
    path.write_bytes(raw[: int(share * len(raw))])
    refused(path, "not a zip archive that can be read", "is the file cut?")


@pytest.mark.parametrize("opening", ["[", '{"testCases":', '{"a":'])
def test_nesting_beyond_all_bounds(tmp_path, opening):
    path = tmp_path / "run.json"
    path.write_text('{"testCases": ' + opening * 10_000)
    refused(path, "nested too deeply")


def test_nesting_in_one_line_and_in_one_entry(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(RAGAS) + "\n" + '{"user_input": ' + "[" * 10_000)
    refused(path, "line 2", "nested too deeply")
    path = zipped(tmp_path / "a.eval", ("samples/a_epoch_1.json", b"[" * 10_000, {}))
    refused(path, "samples/a_epoch_1.json", "nested too deeply")


def test_a_literal_nested_beyond_all_bounds_stays_a_text(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("user_input,response,retrieved_contexts,faithfulness\na,b," + "[" * 10_000 + ",1.0\n")
    assert imported(path).frames["items"]["contexts"].tolist()[0].startswith("[[[[")


def test_a_hundred_thousand_entries(tmp_path):
    path, names, local, central = tmp_path / "a.eval", 100_000, bytearray(), bytearray()
    for i in range(names):
        name = b"samples/%d_epoch_1.json" % i
        central += struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, zlib.crc32(b"{}"), 2, 2, len(name), 0, 0, 0, 0, 0, len(local)) + name  # fmt: skip
        local += (
            struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 0, zlib.crc32(b"{}"), 2, 2, len(name), 0)
            + name
            + b"{}"
        )
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, names, names, len(central), len(local))
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(local) + len(central), 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(central), len(local), 0)
    path.write_bytes(bytes(local + central) + end64 + locator + end)
    refused(path, "100,000 entries, at most 50,000 are read")
    path.write_bytes(
        bytes(local + central) + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 5, 5, len(central), len(local), 0)
    )
    refused(path, "at most 50,000 are read")  # an end that lies about the number


@pytest.mark.parametrize("method", [8, 93])
def test_a_ratio_of_a_thousand(tmp_path, method):
    raw = json.dumps({**json.loads(SAMPLE), "pad": " " * 20_000_000}).encode()
    path = zipped(tmp_path / "a.eval", ("samples/a_epoch_1.json", raw, {"method": method}))
    refused(path, "times its size, at most 500 is read")


@pytest.mark.parametrize(
    "name", ["../up.json", "samples/../../up.json", "/etc/x.json", "samples\\..\\x.json", "C:/x.json"]
)
def test_names_that_lead_out(tmp_path, name):
    refused(zipped(tmp_path / "a.eval", (name, SAMPLE, {})), "the name leads out of the archive")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.eval"]


def test_two_gigabytes_declared(tmp_path):
    path = zipped(tmp_path / "a.eval", ("samples/a_epoch_1.json", SAMPLE, {"size": 2_000_000_000}))
    refused(path, "2,000,000,000 bytes, of one entry at most 250,000,000 are read")
    for name in ("run.json", "run.jsonl"):
        path = tmp_path / name
        with path.open("wb") as file:
            file.write(b'{"testCases": [')
            file.truncate(2_000_000_000)
        refused(path)


def test_an_entry_that_unpacks_to_more_than_it_declares(tmp_path):
    path = zipped(tmp_path / "a.eval", ("samples/a_epoch_1.json", b'{"id": "' + b"a" * 50_000_000, {"size": 100}))
    refused(path, "its size or checksum is another than declared")


def test_damaged_bytes_encryption_unknown_methods_and_doubled_names(tmp_path):
    path = zipped(tmp_path / "a.eval", ("samples/a_epoch_1.json", SAMPLE, {}))
    raw = path.read_bytes()
    place = raw.index(b"\x28\xb5\x2f\xfd", raw.index(b"samples/a_epoch"))
    path.write_bytes(raw[: place + 8] + b"\0\0\0\0" + raw[place + 12 :])
    refused(path, "the entry is damaged")
    at = raw.rindex(b"PK\x01\x02")
    path.write_bytes(raw[: at + 8] + b"\x01" + raw[at + 9 :])
    refused(path, "encrypted")
    path.write_bytes(raw[: at + 10] + b"\x0e\x00" + raw[at + 12 :])
    refused(path, "compression method 14; known are 0 (stored), 8 (deflate), 93 (zstd)")
    with pytest.warns(UserWarning, match="Duplicate name"):
        refused(zipped(tmp_path / "b.eval", ("s.json", SAMPLE, {}), ("s.json", SAMPLE, {})), "1 names appear twice")


def test_nan_and_infinity_are_no_scores_and_reach_no_file(tmp_path):
    path = tmp_path / "run.json"
    metrics = [
        {"name": n, "threshold": 0.5, "success": True, "score": s}
        for n, s in (("A", float("nan")), ("B", float("-inf")), ("C", 10**400))
    ]
    path.write_text(
        json.dumps(
            {"testCases": [{"name": "a", "input": "i", "metricsData": metrics, "metadata": {"m": float("inf")}}]}
        )
    )
    about = data_folder.write(composed.parts_of(runs_of(path)), tmp_path / "out")
    assert [(f["n"], f["missing"]) for f in about["metrics"].values()] == [(0, 1)] * 3
    assert list(about["metrics"]["A"]["missing_words"]) == ["the score is NaN"]
    for file in (tmp_path / "out").glob("*.json*"):
        for line in file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]:
            json.loads(line, parse_constant=pytest.fail)


def test_keys_that_an_object_has_twice(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(DEEPEVAL).replace('"score": 1.0', '"score": 0.0, "score": 1.0'))
    refused(path, 'an object has the key "score" more than once')


def test_numbers_of_too_many_digits_and_half_characters(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(DEEPEVAL).replace('"score": 1.0', '"score": ' + "1" * 10_000))
    refused(path, "not valid JSON")
    path.write_text(json.dumps(DEEPEVAL).replace('"o"', '"\\ud83d"').replace('"a"', '"\\u0000"'))
    data_folder.write(composed.parts_of(runs_of(path)), tmp_path / "out")
    (line,) = (tmp_path / "out" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["answer"] == "\ufffd"


@pytest.mark.parametrize(
    "raw", [b"", b"  \n", b"\x80\x04\x95", b"MZ\x90\0", b"null", b'"text"', b"PK\x03\x04", b"PAR1"]
)
@pytest.mark.parametrize("name", ["r.json", "r.jsonl", "r.csv", "r.eval", "r.parquet"])
def test_nothing_of_the_kind(tmp_path, raw, name):
    path = tmp_path / name
    path.write_bytes(raw)
    refused(path)


@pytest.mark.parametrize("value", [[], {}, {"results": []}, {"results": {"results": [None, 3], "version": 3}}, {"testCases": [None]},
                                   {"eval": 3, "samples": [{}]}, {"eval": {}, "samples": "x", "status": "success"}, [{"trace_id": None, "assessments": 3}],
                                   [{"doc_id": None, "doc": None, "resps": None}], {"columns": ["a/v1/score"], "data": [[None, 1], 3]},
                                   {"results": {"results": [{"prompt": 3, "vars": [1], "provider": None, "gradingResult": "x", "testCase": 5}], "version": 3}},
                                   [{"user_input": {"a": 1}, "response": 5, "faithfulness": [1]}]])  # fmt: skip
def test_shapes_that_are_almost_right_end_in_rows_or_in_a_message(tmp_path, value):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(value))
    try:
        found, said = imported(path).about["rows"], path.name
    except BadInput as error:
        found, said = 1, str(error)
    assert found >= 1
    assert path.name in said


@pytest.mark.slow
def test_memory_stays_bounded(tmp_path):
    """A file of a gigabyte that is declared, one that lies and one that is nested, in a process that may grow by 300 MB."""
    zipped(tmp_path / "a.eval", ("samples/a_epoch_1.json", b'{"id": "' + b"a" * 200_000_000, {"size": 1000}))
    zipped(tmp_path / "b.eval", ("samples/a_epoch_1.json", SAMPLE, {"size": 1_000_000_000}))
    (tmp_path / "c.json").write_text('{"testCases": ' + "[" * 1_000_000)
    code = """
import resource, sys
from evalbench.errors import BadInput
from evalbench.readers.tools.known import imported
import pandas, pyarrow
from peak_memory import peak_bytes
before = peak_bytes()
for path in sys.argv[1:]:
    try:
        imported(path)
    except BadInput as error:
        print(str(error)[:80])
assert peak_bytes() - before < 300_000_000, peak_bytes() - before
"""
    paths = [str(tmp_path / name) for name in ("a.eval", "b.eval", "c.json")]
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "helpers")})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_a_file_of_a_folder_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(DEEPEVAL))
    (tmp_path / "b.json").write_text(json.dumps(DEEPEVAL)[:-30])
    (note,) = [note for note in imported(tmp_path).about["notes"] if "could not be read" in note]
    assert "b.json: not valid JSON" in note
    (tmp_path / "a.json").unlink()
    refused(tmp_path, "holds no result file that could be read", "b.json: not valid JSON")
