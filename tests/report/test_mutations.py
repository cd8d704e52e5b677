"""One field of a run's files damaged, whichever and however: the index has a row for it, the run a page."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import synthetic
from generated import one_in_twenty

from evalbench.errors import BadInput
from evalbench.readers.parameters import parse_cell
from evalbench.readers.runs import read_json, read_results, read_run
from evalbench.report.history import UNREADABLE, read_runs
from evalbench.report.index import write_index
from evalbench.report.render import render

MOST = 800
DEEP = 5000
RAW = "@raw@"  # stands for JSON that Python's own writer refuses
NESTED = "@nested@"


def run() -> dict[str, Any]:
    return {
        "schema_version": 1, "study": "rag", "run_id": "x", "status": "ok", "error": "", "started": "2026-11-02T06:00:00Z",
        "finished": "2026-11-02T06:01:00Z", "seconds": 7.2, "attempt": 1, "host": "birch", "process": 7, "peak_memory_mb": 200.5,
        "parameters": {"k": 5, "names": ["a", "b"], "columns": {"text": "answer"}}, "data": {"name": "tea", "version": "1.0.0"},
        "git": {"commit": "5f" * 20, "dirty": False, "remote": "git.example/a.git"}, "versions": {"python": "3.11"},
        "sha256": {"notebook": "5f" * 32, "package": "5f" * 32, "identity": "5f" * 32}, "batch": "0a",
        "edited_defaults": {"k": {"own": 3, "here": 5}}, "calls": 12, "tokens_in": 100, "models": {"judge": "oak-7b"},
        "prompt_hashes": ["ab"], "cost": None, "call_seconds": 3.2, "unscored": {"no-text": 2},
    }  # fmt: skip


def results() -> dict[str, Any]:
    made = synthetic.results("rag", "relevance", "oak-7b", "tea@1.0.0", 0.7, by=("model",), group={"model": "oak-7b"})
    second = {
        **made["summary"][0],
        "model": "elm-70b",
        "value": None,
        "ci_low": None,
        "ci_high": None,
        "note": "no items",
    }
    made["summary"] += [
        second,
        {**made["summary"][0], "model": None, "metric": "recall", "title": "recall", "n_of": "texts"},
    ]
    made["summary"][0]["cuts"] = [0.6, 0.75]
    made["decided_by"] = {"metric": "relevance", "model": "oak-7b"}
    made["tables"] = {"pairs": "pairs.parquet"}
    made["notes"], made["method"], made["light_rule"] = ["a note"], ["F1 = …"], "green: > 0.75"
    return made


def places(content: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for name, value in inner:
        yield (*here, name)
        yield from places(value, (*here, name))


def damages(value: Any) -> list[Any]:
    """Other values for a field: a wrong type, null, too large, too deep, no JSON."""
    others = [None, {}, [], "", "x" * 200_000, 7, -1, 0.5, True, 10**400, 1e300, {"a": {"b": [1, None, {"c": "\ud800"}]}}, [None], ["a", 1],
              "\x1b[2J\u202e", RAW + "NaN", RAW + "-Infinity", RAW + "1e999", NESTED]  # fmt: skip
    return [other for other in others if not (type(other) is type(value) and other == value)]


def mutations() -> list[tuple[str, tuple[Any, ...], Any]]:
    """Every field of both files with every damage, and gone (``...``): 800 of them, by a fixed seed."""
    found = [
        (name, place, other)
        for name, content in (("run.json", run()), ("results.json", results()))
        for place in places(content)
        for other in [..., *damages(None)]
    ]
    return random.Random(0).sample(found, MOST)


def damaged(content: dict[str, Any], place: tuple[Any, ...], other: Any) -> str:
    changed = copy.deepcopy(content)
    at: Any = changed
    for name in place[:-1]:
        at = at[name]
    if other is ...:
        del at[place[-1]]
    else:
        at[place[-1]] = other
    text = json.dumps(changed)
    for raw in ("NaN", "-Infinity", "1e999"):
        text = text.replace(f'"{RAW}{raw}"', raw)
    return text.replace(f'"{NESTED}"', "[" * DEEP + "]" * DEEP)


@pytest.mark.generated
def test_no_damaged_field_stops_the_index_or_a_page(tmp_path):
    cases = one_in_twenty(list(enumerate(mutations())))
    for number, (name, place, other) in cases:
        folder = tmp_path / "rag" / f"20261102T060000Z-{number:08d}"
        folder.mkdir(parents=True)
        for file, content in (("run.json", run()), ("results.json", results())):
            text = damaged(content, place, other) if file == name else json.dumps(content)
            (folder / file).write_text(text, encoding="utf-8")
        page = render(folder).read_text(encoding="utf-8")
        assert "</html>" in page
        assert "\x1b" not in page
        # Whatever the index says of it, its page says too.
        unread = any(fails(read, folder) for read in (read_run, read_results))
        if unread and not fails(read_run, folder):
            unread = read_run(folder)["status"] in ("ok", "interactive")
        assert ("files cannot be read" in page) == unread, (name, place, str(other)[:40])
    runs = read_runs(tmp_path)
    assert len(runs) == len(cases)
    assert all(run.error for run in runs if run.status == UNREADABLE)
    index = write_index(tmp_path).read_text(encoding="utf-8")
    assert index.count("</tr>") > len(cases)
    assert sum(run.status == UNREADABLE for run in runs) > len(cases) // 4


def notebook() -> dict[str, Any]:
    cell = {
        "cell_type": "code",
        "execution_count": 1,
        "id": "a",
        "metadata": {"tags": ["parameters"]},
        "outputs": [],
        "source": "k = 1  # k",
    }
    text = {"cell_type": "markdown", "id": "b", "metadata": {}, "source": "# A title"}
    printed = {"name": "stdout", "output_type": "stream", "text": "words"}
    shown = {
        "output_type": "display_data",
        "data": {"text/html": "<p>x</p>"},
        "metadata": {"text/html": {"evalbench": "html", "mark": "0"}},
    }
    drawn = {**cell, "id": "c", "metadata": {}, "outputs": [printed, shown]}
    return {"cells": [text, cell, drawn], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


# What a fuzzer found: a version that is imported, half a character in the parameters, brackets without end.
FOUND = [("nbformat", -1), ("nbformat", 1e308), ("nbformat", "x" * 5000), ("cells", "k = '\ud800'"), ("cells", "k = " + "(" * 500 + "1" + ")" * 500),
         ("cells", "k = {[]: 1}"), ("cells", "k = '\0'")]  # fmt: skip


@pytest.mark.parametrize("found", range(len(FOUND)))
def test_no_damaged_notebook_stops_a_page(found, tmp_path):
    name, other = FOUND[found]
    content = notebook()
    if name == "cells":
        content["cells"][1]["source"] = other
        with pytest.raises(BadInput, match=r"(?s)x\.ipynb: .*(does not parse|not a literal)"):
            parse_cell(other, "x.ipynb")
    else:
        content[name] = other
    for file, text in (("run.json", run()), ("results.json", results()), ("notebook.ipynb", content)):
        (tmp_path / file).write_text(json.dumps(text), encoding="utf-8")
    page = render(tmp_path).read_text(encoding="utf-8")
    assert ("notebook.ipynb" in page, "</html>" in page) == (True, True)


@pytest.mark.generated
def test_no_damaged_field_of_a_notebook_stops_a_page(tmp_path):
    content = notebook()
    for file, text in (("run.json", run()), ("results.json", results())):
        (tmp_path / file).write_text(json.dumps(text), encoding="utf-8")
    for place, other in one_in_twenty([(p, o) for p in places(content) for o in [..., *damages(None)]]):
        (tmp_path / "notebook.ipynb").write_text(damaged(content, place, other), encoding="utf-8")
        assert "</html>" in render(tmp_path).read_text(encoding="utf-8")


def fails(read: Any, folder: Path) -> bool:
    try:
        read(folder)
    except BadInput:
        return True
    return False


def test_whole_files_are_read(tmp_path):
    for file, content in (("run.json", run()), ("results.json", results())):
        (tmp_path / file).write_text(json.dumps(content), encoding="utf-8")
    assert read_run(tmp_path) == run()
    assert read_results(tmp_path) == results()


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "cannot be read"), ("{", "cannot be read"), ("[]", "expected a JSON object"), ('{"a": NaN}', "NaN is not JSON"),
     ('{"a": 1e999}', "beyond all bounds"), ("[" * 100_000, "nested too deeply"), ('{"a": ' + "[" * 50 + "]" * 50 + "}", "nested too deeply"),
     (b"\xff".decode("latin-1"), "cannot be read")],
)  # fmt: skip
def test_what_is_no_json_object_is_one_message(text, said, tmp_path):
    (tmp_path / "run.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(BadInput, match=said):
        read_json(tmp_path / "run.json")


def test_all_faults_come_at_once_with_their_places(tmp_path):
    content = {**results(), "light": "blue", "by": ["model"], "tables": {"pairs": "../pairs.parquet"}}
    content["summary"][1] |= {"n": -1, "model": []}
    del content["notes"]
    (tmp_path / "results.json").write_text(json.dumps(content))
    with pytest.raises(BadInput) as caught:
        read_results(tmp_path)
    for said in ("light: expected green or", "summary: 2: n: expected a count, found -1", "notes: missing",
                 "tables: pairs: expected a file's name, found '../pairs.parquet'"):  # fmt: skip
        assert said in str(caught.value)
