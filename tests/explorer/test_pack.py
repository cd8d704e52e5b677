"""The folder that a run is packed into: what its page says of the items is what the server says."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from evalbench.cli import group
from evalbench.errors import BadInput
from evalbench.explorer import pack as packing
from evalbench.explorer import page_parts
from evalbench.explorer.database import Database
from evalbench.explorer.opened import open_run
from evalbench.explorer.pack import pack
from evalbench.explorer.page_parts import script
from evalbench.explorer.rows import Rows

pytest.importorskip("duckdb", reason="peer not importable: duckdb")

FILTERS = [
    "", "model=oak", "model=oak|birch score<0.5", "model!=oak", "score>=0.5 score<=0.9", "score=", "score!=", "score!=0.5", "whole=1|3", "whole~1", "score~0.5",
    "right=true", "right=no", "right!=yes", "unscored=", "unscored!=", "unscored=no-output", '"a \\"b\\" c"=v1', '"a \\"b\\" c"=', "tags~t1",
    "question~возврате", "question~'1 о'", "answer~DROP", "DROP", '"drop table"', "-DROP", "-model=oak whole>=2", "light=red", "light!=red",
    "prompt~ten", "reply=yes", "ten", "id=q1", "id>q3", "model==oak", "  ", "nosuchword",
]  # fmt: skip
FAULTS = [
    "nowhere=1",
    "score<",
    '"open',
    "score<x",
    "right=maybe",
    "right<maybe",
    "right=constructor",
    "light<red",
    "mark<wrong",
    'model=oak"x',
    "=1",
    "score<nan",
    "score=1_000",
    "score>0x10",
    "whole=٣",
]
SORTS = ["", "score", "-score", "whole", "-right", "model", "-id", 'a "b" c']


@pytest.fixture(autouse=True)
def _without_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """The items of the hostile run are no study's: a fake says what they show."""
    shown = {
        "n": 60,
        "of": 60,
        "sample": None,
        "light": "red",
        "sentence": "It is not.",
        "figures": [],
        "line": "",
        "note": "",
    }
    monkeypatch.setattr(packing.answers, "stands", lambda *_: shown)


def test_what_cannot_be_packed_is_refused_and_nothing_stays(folder: Path, tmp_path: Path) -> None:
    run = open_run(folder)
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").write_text("x", encoding="utf-8")
    for target, where, fault in (
        (full, "", "exists and is not empty"),
        (full / "x", "", "exists and is not empty"),
        (tmp_path / "no" / "such", "", "no such folder"),
        (tmp_path / "new", "score>2", "from 1 to 200000 items, not 0$"),
        (tmp_path / "new", "nowhere=1", "there is no column 'nowhere'"),
    ):
        with pytest.raises(BadInput, match=fault):
            run.pack(target, where)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "reports"]


def test_too_many_items_are_refused_with_a_way_out(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "MOST_ITEMS", 50)
    with pytest.raises(BadInput, match=r"from 1 to 50 items, not 60; --items FILTER packs some"):
        open_run(folder).pack(tmp_path / "new")
    assert open_run(folder).pack(tmp_path / "new", "model=oak").is_file()


def test_a_pack_that_fails_leaves_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "script", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        open_run(folder).pack(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]


def test_tables_larger_than_memory_are_packed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(folder)
    n, text = 4000, "x" * 10_000
    calls = pd.DataFrame({"item_id": [f"q{i % 30}" for i in range(n)], "prompt": [f"{i} {text}" for i in range(n)]})
    calls.to_parquet(folder / "calls.parquet", row_group_size=200)
    monkeypatch.setattr(
        rows, "database", Database({t: folder / f"{t}.parquet" for t in ("items", "texts", "calls")}, memory="20MB")
    )
    pack(rows, tmp_path / "pack")
    assert sum(len(tables["calls"]) for tables in read(tmp_path / "pack", "behind-0").values()) == n
    assert not [path for path in (tmp_path / "pack").iterdir() if path.name.startswith("tmp")]


def read(made: Path, name: str) -> Any:
    """A part of a pack."""
    packed = (made / "data" / f"{name}.js").read_text(encoding="utf-8").split('"')[3]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_the_command_writes_a_pack_of_one_run(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="peer not importable: uvicorn")
    found = CliRunner().invoke(group, ["view", str(folder), "--pack", str(tmp_path / "new"), "--items", "model=oak"])
    assert found.exit_code == 0, found.output
    assert (tmp_path / "new" / "index.html").is_file()
    found = CliRunner().invoke(group, ["view", "--pack", str(tmp_path / "other")])
    assert "evalbench view RUN --pack FOLDER" in str(found.exception or found.output)


def test_the_page_names_no_address_and_every_module_is_in_its_script() -> None:
    text = script("packed", "main")
    for name in sorted(path.stem for path in Path(page_parts.__file__).with_name("page").glob("*.js")):
        assert f"modules.{name} = " in text
    assert not re.search(r"^\s*(import|export) ", text, re.MULTILINE)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.fixture
def packed(folder: Path, tmp_path: Path, browser: Any) -> Iterator[Any]:
    """The page of a pack, whose errors and requests elsewhere fail the test."""
    made = open_run(folder).pack(tmp_path / "pack")
    opened = browser.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on(
        "request",
        lambda request: None if request.url.startswith((made.parent.as_uri(), "data:")) else errors.append(request.url),
    )
    opened.goto(made.as_uri())
    opened.locator("[data-row]").first.wait_for()
    yield opened
    opened.close()
    assert errors == []


ASK = "async ([name, values]) => { try { return await evalbenchAnswers(name, values); } catch (e) { return { fault: e.message }; } }"


@pytest.mark.browser
def test_filters_sorts_items_and_values_are_those_of_the_server(packed: Any, folder: Path) -> None:
    from evalbench.explorer import answers
    from evalbench.explorer.distributions import distribution

    rows = Rows(folder)

    def asked(name: str, **values: Any) -> Any:
        return packed.evaluate(ASK, [name, values])

    for where in FILTERS:
        assert asked("items", where=where) == answers.items(rows, where, "", 0, 100), where
    for sort in SORTS:
        assert asked("items", sort=sort, offset=5, limit=20) == answers.items(rows, "", sort, 5, 20), sort
    for place in (0, 3, 59):
        assert asked("item", row=place, where="whole>=1", sort="-score") == answers.item(
            rows, place, "whole>=1", "-score"
        )
    for column in ("score", "whole", "model", "right", "unscored", 'a "b" c', "tags"):
        for where in ("", "model=oak whole>=2"):
            assert asked("distribution", column=column, where=where) == distribution(rows, column, where), column


@pytest.mark.browser
@pytest.mark.parametrize("where", FAULTS)
def test_a_filter_that_the_server_refuses_is_refused(packed: Any, folder: Path, where: str) -> None:
    assert packed.evaluate(ASK, ["items", {"where": where}])["fault"].startswith("filter: ")
    with pytest.raises(BadInput, match="filter: "):
        Rows(folder).count(where)


@pytest.mark.browser
def test_a_filter_by_marks_says_that_a_pack_has_none(packed: Any) -> None:
    said = packed.evaluate(ASK, ["items", {"where": "mark=wrong"}])["fault"]
    assert said == "filter: a pack has no marks; evalbench view RUN has those of the run."


@pytest.mark.browser
def test_what_needs_the_study_is_said_to(packed: Any) -> None:
    for name, values in (("standing", {"where": "model=oak"}), ("standing", {"options": '{"a": 1}'}), ("compare", {})):
        assert "needs the study itself: evalbench view RUN" in packed.evaluate(ASK, [name, values])["fault"]


@pytest.mark.browser
def test_hostile_texts_are_texts_and_a_lost_file_is_said(
    packed: Any, folder: Path, tmp_path: Path, browser: Any
) -> None:
    packed.locator("[data-row='3']").click()
    packed.get_by_text("<img src=x onerror=alert(1)>").first.wait_for()
    assert packed.locator("img").count() == 0
    (tmp_path / "pack" / "data" / "behind-0.js").unlink()
    lost = browser.new_page()
    lost.goto((tmp_path / "pack" / "index.html").as_uri() + "#where=DROP")
    lost.get_by_text("The pack has lost its file data/behind-0.js.").wait_for()
    lost.close()


def test_a_pack_of_some_items_holds_nothing_that_others_answered(folder: Path, tmp_path: Path) -> None:
    (folder / "report.html").write_text("<p>birch said 答案 1</p>", encoding="utf-8")
    ids = [
        "q1|oak",
        "q1|birch",
        "q1",
        "q1|oak|birch",
        "q2|oak",
        "q2",
        "q3|judge",
        "q3",
        "q4 / oak / 1",
        "q4 / birch / 1",
    ]
    calls = pd.DataFrame(
        {
            "item_id": ids,
            "model": [*["judge"] * 7, "oak", "judge", "judge"],
            "prompt": [f"asked {i}" for i in range(10)],
            "asked_for": [[i.split("|")[0].split(" /")[0]] for i in ids],
        }
    )
    calls.to_parquet(folder / "calls.parquet")
    some = open_run(folder).pack(tmp_path / "some", "model=oak").parent
    behind = read(some, "behind-0")
    assert {text["model"] for tables in behind.values() for [text, _] in tables["texts"]} == {"oak"}
    assert {id_: [call["prompt"] for [call, _] in tables["calls"]] for id_, tables in behind.items() if "calls" in tables} == {
        "q1": ["asked 0"], "q2": ["asked 4"], "q3": ["asked 7"], "q4": ["asked 8"],
    }  # fmt: skip
    assert not (some / "report.html").exists()
    index = json.loads(
        json.loads((some / "data" / "index.js").read_text(encoding="utf-8").partition("JSON.parse(")[2].rstrip(");\n"))
    )
    assert index["about"]["page"] is False
    assert index["about"]["packed"] == "30 of 60 items, those of model=oak; without the run's page, which shows all"
    both = open_run(folder).pack(tmp_path / "both", "id=q1").parent
    assert [call["prompt"] for [call, _] in read(both, "behind-0")["q1"]["calls"]] == [f"asked {i}" for i in range(4)]
    whole = open_run(folder).pack(tmp_path / "whole").parent
    assert (whole / "report.html").is_file()


@pytest.mark.browser
def test_some_items_are_packed_and_said_to_be(changed: Callable[..., Path], tmp_path: Path, browser: Any) -> None:
    made = open_run(changed()).pack(tmp_path / "some", "model=oak")
    opened = browser.new_page()
    opened.goto(made.as_uri())
    opened.get_by_text("needle/run, packed: 30 of 60 items, those of model=oak").wait_for()
    opened.get_by_text("30 items", exact=True).wait_for()
    rows, asked = (
        Rows(made.parent.parent / "reports" / "needle" / "run"),
        ["items", {"where": "score>=0.5", "sort": "-tags"}],
    )
    found, expected = opened.evaluate(ASK, asked), rows.page("model=oak score>=0.5", "-tags")
    assert [row["score"] for row in found["rows"]] == [row["score"] for row in expected]
    counts = opened.evaluate(ASK, ["distribution", {"column": "model"}])
    assert (counts["values"], counts["all"]) == (["oak"], [30])
    opened.close()
