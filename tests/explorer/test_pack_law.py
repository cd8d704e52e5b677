"""The law of packs: of a table of nasty cells, every question has one answer, whether the server gives it or a pack in a browser."""

from __future__ import annotations

import ast
import datetime
import decimal
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from generated import in_soak

from evalbench.errors import BadInput
from evalbench.explorer import answers
from evalbench.explorer import pack as packing
from evalbench.explorer.distributions import distribution
from evalbench.explorer.opened import open_run
from evalbench.explorer.rows import Rows

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
pytestmark = pytest.mark.browser

N = 30
TEXTS = [
    "ΟΔΟΣ", "οδος", "οδός ς", "İstanbul", "istanbul", "i̇", "ſtraße", "STRASSE", "\u212a", "\ue000", "😀", "\uffff", "𐐀", "𐐨", "x\x1cy",
    "\ufeffz", "a|b", "constructor", "__proto__", "", None, "😀" * 320, "null", "true", "1.0", "x\x00y", "ВОЗВРАТ", "z\x85", "Ǆ", "ẞ",
]  # fmt: skip
TIMES = [datetime.datetime(2026, 1, 1, 12, i % 3, 0, i % 2 * 5) for i in range(N)]
NAN, INF = math.nan, math.inf
NUMBERS = [1.0, 0.5, NAN, INF, -INF, None, 1e-7, 1e16, 1e21, -0.0, 0.1, 123456.75]
BIG = [2**53, 2**53 + 1, 2**53 + 2, -(2**60), None, 7]
IDS: dict[str, list[Any]] = {
    "texts": ["a", "a|b", "a|b|c", "__proto__", "constructor", None, "b", "ΟΔΟΣ", "😀", "\ue000"],
    "fractions": [1.0, 0.5, 1e16, 1e-7, NAN, None, 3.25],
    "times": [*TIMES[:4], None],
    "whole": BIG,
    "yes": [True, False, None],
}
VALUES = [
    "", "1", "1.0", "0x10", "1_000", "1e3", "+.5", "5.", "inf", "-inf", "Infinity", "nan", "٣", "9007199254740993", "true", "NO", "constructor",
    "a|b", '"a|b"', "ς", "Σ", "σος", "İ", "i", "\u212a", "K", "\ue000", "😀", "\x1c", "x\x1cy", "\ufeff", "\x85", "2026-01-01 12:01", "T", "'", "[", "0",
]  # fmt: skip
LENGTHS = ["length(text)", "length(said)", "length(score)", "length(words)", "length(nowhere)"]
OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "~"]
TABLES = ("texts", "constructor", "calls")


def _over(values: list[Any], n: int = N) -> list[Any]:
    return [values[i % len(values)] for i in range(n)]


def _items(ids: list[Any]) -> pa.Table:
    """Arrow, not pandas, which writes NaN as null."""
    kinds = {"narrow": pa.float32(), "money": pa.decimal128(9, 2), "unsigned": pa.uint64(), "zoned": pa.timestamp("us", tz="UTC"), "day": pa.date32()}  # fmt: skip
    columns = {
        "key": _over(ids), "model": _over(["oak", "birch", None]), "right": _over([True, False, True, True]), "half": _over([1.0, 0.5, NAN, None]),
        "score": _over(NUMBERS), "big": _over(BIG), "huge": _over([1e308, -1e308, 0.5, None]), "text": _over(TEXTS), "unscored": _over(["", "no-output"]), "at": TIMES, "clock": [t.time() for t in TIMES],
        "list": _over([[1.0, NAN], ["x"][:0], [10.0, None], None, [2.0, INF]]), "words": _over([["İ", "a, b"], ["ΟΔΟΣ"], None, [], ["it's", "\ue000"]]),
        "pair": _over([{"a": 1, "b": "x"}, {"a": None, "b": "Σ"}, None]), "bytes": _over([b"\xff\x00", b"abc", None]), "zoned": TIMES,
        "narrow": _over([0.1, 1.0, NAN, None]), "money": _over([decimal.Decimal("1.50"), None, decimal.Decimal("0.10")]), "unsigned": _over([2**64 - 1, 5]),
        "day": [t.date() for t in TIMES], "toString": _over(["x", "y"]), "none": [None] * N,
    }  # fmt: skip
    return pa.table({name: pa.array(values, type=kinds.get(name)) for name, values in columns.items()})


@pytest.fixture(params=list(IDS))
def nasty(request: Any, folder: Path, changed: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of nasty items, with tables of texts and of calls and one of an odd name; the study has nothing to say."""
    ids = IDS[request.param]
    items = _items(ids)
    pq.write_table(items, folder / "items.parquet", row_group_size=8)
    keys = ["key", "model", "right", "half"]
    linked = items.select(keys).append_column("said", items["text"]).append_column("seconds", items["score"])
    linked = (
        linked.append_column("tokens", items["big"])
        .append_column("when", items["at"])
        .append_column("parts", items["words"])
    )
    pq.write_table(linked.append_column("sure", items["right"]), folder / "texts.parquet")
    shared = {
        "__proto__": _over(TEXTS),
        "said": _over(NUMBERS),
        "seconds": _over(TEXTS),
        "tokens": _over([True, None, False]),
    }
    pq.write_table(pa.table({"key": _over(ids), **shared}), folder / "constructor.parquet")
    rows = [str(id_).lower() if isinstance(id_, bool) else str(id_) for id_ in ids if id_ is not None]
    calls = [None, "a|b|oak", "a|", "|", *(f"{id_}|oak" for id_ in rows), *[rows[0]] * 250]
    known = {
        "item_id": calls,
        "prompt": _over(TEXTS, len(calls)),
        "cost": _over(NUMBERS, len(calls)),
        "seconds": _over(NUMBERS, len(calls)),
    }
    pq.write_table(pa.table(known), folder / "calls.parquet")
    row = {"metric": "score", "title": "score", "value": 0.5, "n": N, "unit": "0–1"}
    groups = [
        {"model": "oak", "light": "red"},
        {"right": True, "light": "green"},
        {"half": 1.0, "light": "yellow"},
        {"model": "birch"},
        {"light": "grey"},
    ]
    made = changed(
        id="key", by=["model", "right", "half"], summary=[{**row, **group} for group in groups],
        tables={"texts": "texts.parquet", "constructor": "constructor.parquet", "calls": "calls.parquet"},
    )  # fmt: skip
    monkeypatch.setattr(packing.answers, "stands", lambda *_: {})
    return made


@pytest.fixture
def both(nasty: Path, tmp_path: Path, browser: Any) -> Any:
    """Asks the server and the pack: ``[name, values]`` each; the list of those of which the answers differ."""
    opened = browser.new_page()
    opened.goto(open_run(nasty).pack(tmp_path / "pack").as_uri())
    opened.locator("[data-row]").first.wait_for()
    rows = Rows(nasty)
    asked = """async (questions) => {
        const found = [];
        for (const [name, values] of questions) {
            try { found.push(JSON.stringify(await evalbenchAnswers(name, values))); } catch (e) { found.push(`"${String(e.message).split(/['"]/u)[0]}"`); }
        }
        return found;
    }"""

    def differing(questions: list[tuple[str, dict[str, Any]]]) -> list[Any]:
        found = [json.loads(answer, parse_int=float) for answer in opened.evaluate(asked, questions)]
        here = [_server(rows, name, values) for name, values in questions]
        return [
            (*question, *_short(*pair))
            for question, *pair in zip(questions, here, found, strict=True)
            if pair[0] != pair[1]
        ]

    yield differing
    opened.close()


def _server(rows: Rows, name: str, values: dict[str, Any]) -> Any:
    where, sort = values.get("where", ""), values.get("sort", "")
    try:
        found = {
            "items": lambda: answers.items(rows, where, sort, values.get("offset", 0), values.get("limit", 100)),
            "item": lambda: answers.item(rows, values["row"], where, sort),
            "distribution": lambda: distribution(rows, values["column"], where),
        }[name]()
    except BadInput as error:
        found = str(error).replace('"', "'").split("'")[0]
    return json.loads(json.dumps(found, allow_nan=False), parse_int=float)


def _short(server: Any, pack: Any) -> list[Any]:
    """What differs of two answers."""
    if not isinstance(server, dict) or not isinstance(pack, dict):
        return [str(server)[:100], str(pack)[:100]]
    names = [name for name in server if server[name] != pack.get(name)]
    if "n" in names:
        return [[row["row"] for row in one["rows"]] for one in (server, pack)]
    return [{name: one[name] for name in names} for one in (server, pack)]


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@pytest.mark.soak
def test_every_filter_leaves_the_same_items(both: Any, nasty: Path, request: pytest.FixtureRequest) -> None:
    """Other filters are drawn for each kind of ids; lengths hang on no id."""
    rows, ids = Rows(nasty), request.node.callspec.params["nasty"]
    wanted = [
        f"{_quoted(name)}{operator}{value}"
        for name in (*rows.columns, "light")
        for operator in OPERATORS
        for value in VALUES
    ]
    words = [
        *VALUES,
        *(value for value in TEXTS if value),
        "a b",
        '"\ufeff"',
        "-Σ",
        "x\x85y",
        "light=",
        "light=unlit|red",
        "light=grey",
        "light!=grey",
        "light!=red",
        "light=green",
        "light=yellow",
        "mark<wrong",
        "score<",
    ]
    drawn = random.Random(ids).sample(wanted, in_soak(700, otherwise=50))
    lengths = [
        f"{name}{operator}{value}"
        for name in LENGTHS
        for operator in OPERATORS
        for value in ("1", "5", "0|2", "x", "")
        if ids == "texts"
    ]
    asked = [
        *drawn,
        *lengths,
        *(f"-{term}" for term in drawn[:20]),
        *words,
        *(f'"{word}"' for word in words if '"' not in word),
    ]
    assert not both([("items", {"where": where}) for where in asked])


def test_every_order_item_and_count_is_the_same(both: Any, nasty: Path) -> None:
    rows = Rows(nasty)
    own = [column.name for column in rows.columns_of("items")]
    sorts = [f"{sign}{name}" for name in own for sign in ("", "-")]
    page = {"offset": 3, "limit": 20}
    filters = ("", "model!=", "score>=0.5", "prompt~x", "right=constructor")
    questions = [("items", {"sort": sort, **page}) for sort in [*sorts, "-", "nothing", "prompt"]]
    questions += [("item", {"row": row, "where": "score!=1", "sort": "-score"}) for row in range(N + 1)]
    questions += [
        ("distribution", {"column": name, "where": where}) for name in [*own, "said", "nothing"] for where in filters
    ]
    assert not both(questions)


def test_the_code_of_a_pack_is_that_of_the_server(
    folder: Path, tmp_path: Path, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing.answers, "stands", lambda *_: {})
    opened = browser.new_page()
    opened.goto(open_run(folder).pack(tmp_path / "pack").as_uri())
    opened.locator("[data-row]").first.wait_for()
    options = json.dumps({"green_from": 0.7, "a": None, "b": [True, 'it\'s "so"\n\u2028'], "c": {"d": False}})
    for values in (
        {},
        {"where": "model=oak"},
        {"sort": "-score"},
        {"options": options},
        {"where": 'a~"\\\\x"', "sort": "score", "options": options},
    ):
        found = opened.evaluate("async (values) => (await evalbenchAnswers('code', values)).code", values)
        expected = answers.code(Path("needle/run"), *(values.get(name, "") for name in ("where", "sort", "options")))[
            "code"
        ]
        assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(expected)), values
    opened.close()
