"""Files that mean harm, or are broken: one message with file and row, no traceback, little memory."""

import copy
import gzip
import json
import os
import random
import subprocess
import sys
import zipfile

import pytest
from generated import one_in_twenty
from inspect_log import header, put
from trajectory_files import anthropic, openai, response, tau, tau2, write

from evalbench.errors import BadInput
from evalbench.readers.trajectories import looks as looks_module
from evalbench.readers.trajectories import read_trajectories, recognised

LINE = {"id": "a", "messages": openai()}


def refused(path, *words):
    with pytest.raises(BadInput) as found:
        read_trajectories(path)
    message = str(found.value)
    assert path.name in message
    for word in words:
        assert word in message
    assert len(message) < 6000
    return message


def said(path):
    """What a file is refused with; empty where it is read."""
    try:
        read_trajectories(path)
    except BadInput as error:
        return str(error)
    return ""


def jsonl(path, *lines):
    path.write_bytes(
        b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    )
    return path


def test_all_faults_of_lines_are_in_one_message(tmp_path):
    bad_call = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": 7}}]}
    message = refused(
        jsonl(
            tmp_path / "r.jsonl", LINE, b'{"id": "b", "messages": [', {"id": "c", "messages": [openai()[0], "text"]}, {"id": "d", "messages": [bad_call]},
            b'{"id": "\xff"}', {"id": "e"}, {"id": "f", "messages": [*openai(), {"role": "wizard", "content": "x"}]}, [1], b'{"id": "g", "id": "h"}',
        )
    )  # fmt: skip
    for words in ("row 2: not valid JSON", "row 3: messages[1]: expected an object, found str", "row 4: messages[0]: a call whose name is not a text", "row 5: not UTF-8 (byte 0xff)", "row 6: no messages", "row 7: messages[7]: the role 'wizard' is not known", "row 8: messages[0]: expected an object", 'row 9: not valid JSON (an object has the key "id" more than once)'):  # fmt: skip
        assert words in message
    assert "row 1" not in message


def test_a_million_broken_lines_end_early(tmp_path):
    path = jsonl(tmp_path / "r.jsonl", LINE, LINE)
    with path.open("ab") as file:
        file.write(b"{broken\n" * 1_000_000)
    refused(path, "row 3: not valid JSON", "and 80 more faults")


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000])
def test_nesting_beyond_all_bounds(tmp_path, deep):
    refused(
        jsonl(tmp_path / "r.jsonl", LINE, LINE, b'{"messages": ' + deep.encode()),
        "row 3: not valid JSON (nested too deeply)",
    )
    (tmp_path / "d.json").write_text('{"messages": ' + deep)
    assert recognised(tmp_path / "d.json") is None


@pytest.mark.parametrize("depth", [100, 300, 450, 900])
def test_deep_values_are_text_or_refused(tmp_path, depth):
    inner = "[" * depth + "]" * depth
    for place in (
        '"content": %s',
        '"content": "", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"a": %s}}}]',
    ):
        line = '{"messages": [{"role": "assistant", ' + place % inner + "}]}"
        path = jsonl(tmp_path / "r.jsonl", LINE, line.encode())
        message = said(path)
        assert not message or "nested too deeply" in message or "expected a text or an object" in message


def test_a_line_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(looks_module, "MOST_LINE", 5000)
    refused(
        jsonl(tmp_path / "r.jsonl", LINE, LINE, {"id": "b", "messages": [{"role": "user", "content": "x" * 6000}]}),
        "row 3: longer than 5,000 bytes",
    )


def test_a_compressed_file_that_is_cut_or_unpacks_to_any_size(tmp_path, monkeypatch):
    raw = gzip.compress(b"".join(json.dumps({**LINE, "id": f"a{i}"}).encode() + b"\n" for i in range(3000)))
    path = tmp_path / "r.gz"
    path.write_bytes(raw[: len(raw) // 2])
    refused(path, "is the file cut?")
    path.write_bytes(raw)
    monkeypatch.setattr(looks_module, "MOST_BYTES", 10_000)
    refused(path, "unpacks to more than")


def test_a_zip_bomb_is_refused(tmp_path):
    path = tmp_path / "log"
    with zipfile.ZipFile(path, "w") as archive:
        put(archive, "header.json", json.dumps(header(("right",))).encode())
        put(archive, "samples/a_epoch_1.json", b" " * 30_000_000, method=8)
    assert recognised(path) is None
    refused(path)


@pytest.mark.slow
def test_a_small_compressed_document_that_is_huge_takes_little_memory(tmp_path):
    path = tmp_path / "r.json.gz"
    with gzip.open(path, "wb") as file:
        file.write(b'[{"messages": [{"role": "user", "content": "')
        for _ in range(400):
            file.write(b"a" * 1_000_000)
        file.write(b'"}]}]')
    code = (
        "import sys; from evalbench.readers.trajectories import recognised; import pandas, pyarrow; from peak_memory import peak_bytes;"
        "print(recognised(sys.argv[1])); print(peak_bytes())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    said, peak = done.stdout.split()
    assert said == "None"
    assert int(peak) < 900e6


def test_numbers_that_are_none(tmp_path):
    path = tmp_path / "r.jsonl"
    records = "".join(f'{{"task_id": "a", "trial": {i}, "reward": {value}, "messages": [{{"role": "user", "content": "x", "timestamp": {value}, "cost": {value}, "usage": {{"total_tokens": {value}}}}}]}}\n' for i, value in enumerate(["NaN", "Infinity", "-Infinity", "1e400", "-1", '"NaN"', "[]", "{}", "true"]))  # fmt: skip
    path.write_text(records)
    read = read_trajectories(path)
    assert read.outcomes["mark"].fillna(-1).tolist() == [-1] * 8 + [1]
    assert "cost" not in read.steps
    assert "tokens" not in read.steps


def test_halves_of_characters(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": "\\ud800", "messages": [{"role": "user", "content": "a\\udfff"}]}\n' * 2)
    read = read_trajectories(path)
    assert read.steps["text"].str.encode("utf-8").tolist()[0] == "a\ufffd".encode()


def test_nulls_everywhere(tmp_path):
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": None,
        "function_call": None,
        "refusal": None,
        "name": None,
    }
    path = jsonl(
        tmp_path / "r.jsonl",
        *[{"id": None, "model": None, "reward": None, "metadata": None, "messages": [message]}] * 2,
    )
    read = read_trajectories(path)
    assert read.steps["text"].tolist() == ["", ""]
    assert read.outcomes.empty


def test_duplicate_trials_are_named(tmp_path):
    records = [{"task_id": "a", "trial": 1, "messages": openai()}] * 3
    message = refused(write(tmp_path / "r.jsonl", records), "row 2: the id 'a' has the trial '1' twice, first in row 1")
    assert "row 3" in message


@pytest.mark.parametrize("raw", [b"", b"\0\0\0", b"{", b"[", b"PK", b"PAR1", b"\x1f\x8b", b"\xff\xfe{", b"null", b"NaN", b'"messages"', b"[{}]", b'{"messages": []}', b'{"messages": {}}', b'[{"role": 1}]', b'{"resourceSpans": 5}', b'{"eval": {}, "samples": []}'])  # fmt: skip
def test_fragments_are_refused_in_a_message(tmp_path, raw):
    path = tmp_path / "x"
    path.write_bytes(raw)
    refused(path)


WHOLE = [
    [{"id": "a", "system": "s", "messages": anthropic(), "reward": 1}, LINE],
    [response(), response() | {"id": "r2"}],
    [tau(0), tau(1)],
    [tau2()],
    [{"type": m["role"], "message": m, "sessionId": "s", "timestamp": "2031-01-01T00:00:00Z", "uuid": "u"} for m in anthropic()],
    [{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t", "spanId": "s", "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.input.messages", "value": {"stringValue": '[{"role": "user", "parts": [{"type": "text", "content": "x"}]}]'}}]}]}]}]}] * 2,
    [{"task_id": "a", "step": i, "tool": "f", "args": "{}", "output": "x", "error": None, "reward": 1} for i in range(3)],
    [{"id": "r0", "trace_id": "t", "run_type": kind, "name": "f", "inputs": {"messages": [{"role": "user", "content": "x"}]}, "outputs": {"output": "y"}, "start_time": "2031-01-01T00:00:00", "end_time": "2031-01-01T00:00:01", "extra": {"metadata": {"ls_model_name": "m"}}, "feedback_stats": {"a": {"avg": 1}}, "child_runs": []} for kind in ("llm", "tool")],
    [{"id": "t", "sessionId": None, "scores": [{"value": 1}], "observations": [{"id": "o", "type": kind, "name": "f", "startTime": "2031-01-01T00:00:00Z", "endTime": None, "input": {"messages": [{"role": "user", "content": "x"}]}, "output": "y", "usage": {"total": 3}, "level": "ERROR", "statusMessage": "m"} for kind in ("GENERATION", "TOOL")]}] * 2,
    [{"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"model_name": "m"}, "steps": [{"source": "agent", "timestamp": "2031-01-01T00:00:00Z", "message": "x", "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": {}}], "observation": {"results": [{"source_call_id": "c", "content": "y"}]}, "metrics": {"prompt_tokens": 1}}]}] * 2,
    [{"type": "session_meta", "timestamp": "2031-01-01T00:00:00Z", "payload": {"id": "x"}}, *({"type": "response_item", "timestamp": "2031-01-01T00:00:00Z", "payload": item} for item in response()["output"])],
    [{**header(("right",)), "samples": [{"id": "a", "epoch": 1, "input": "q", "target": "t", "messages": openai(), "scores": {"right": {"value": "C"}}, "events": [{"event": "tool", "id": "c1", "working_time": 1}], "attachments": {"aa": "x"}, "metadata": {"expected": []}, "limit": {"type": "token"}, "error": None}]}],
]  # fmt: skip
ODD = [None, 0, -1, 1e308, True, "", "x", "\x00", "9" * 500, [], {}, [[]], [None], [{}], {"a": {"b": []}}, ["x"], 10**400, "attachment://aa", [{"type": "text"}], [{"type": "tool_use"}]]  # fmt: skip


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def changed(value, path, odd):
    if not path:
        return odd
    out = copy.deepcopy(value)
    inner = out
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = odd
    return out


@pytest.mark.slow
@pytest.mark.generated
@pytest.mark.soak
def test_any_value_at_any_place_is_read_or_refused_in_a_message(tmp_path):
    for case in one_in_twenty(range(4000), in_check=1500):
        draw = random.Random(case)
        whole = draw.choice(WHOLE)
        whole = whole[0] if len(whole) == 1 else whole
        mutant = changed(whole, draw.choice([*places(whole)][1:]), draw.choice(ODD))
        several = isinstance(mutant, list)
        path = write(tmp_path / (draw.choice(["m.jsonl", "m.json"]) if several else "m.json"), mutant)
        if message := said(path):
            assert path.name in message
            continue
        read = read_trajectories(path)
        assert {*read.steps["kind"]} <= {"message", "call", "result", "handover", "note"}
        assert all(type(name) is str for name in read.steps["id"])
        assert read.outcomes.get("mark", read.steps["step"].clip(0, 1)).dropna().between(0, 1).all()
