"""Files that nobody would hand in on purpose: every ending, every way to break one; each made from its name alone."""

from __future__ import annotations

import datetime
import decimal
import io
import json
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from generated import in_soak

ROWS: list[dict[str, object]] = [
    {"id": "a1", "text": "Ответ: 5", "number": 1.5, "whole": 1, "flag": True, "at": "2026-01-01", "spans": [[0, 2]]},
    {"id": "a2", "text": "two, \"three\"\nlines", "number": -2, "whole": 2, "flag": False, "at": "2026-01-02T10:00Z", "spans": []},
    {"id": "a3", "text": "你好", "number": 0, "whole": 3, "flag": True, "at": "2026-01-03", "spans": [[1, 2]]},
]  # fmt: skip
FORMS = ("csv", "tsv", "json", "jsonl", "ndjson", "parquet")
TEXT_FORMS = FORMS[:5]
MANY = in_soak(30_000, 3_000)  # columns


def sound(form: str, rows: list[dict[str, object]] = ROWS) -> bytes:
    """A file that reads."""
    if form in ("csv", "tsv"):
        separator = "," if form == "csv" else "\t"
        lines = [separator.join(rows[0]), *(separator.join(map(_cell, row.values())) for row in rows)]
        return ("\n".join(lines) + "\n").encode()
    if form == "json":
        return json.dumps(rows, ensure_ascii=False).encode()
    if form in ("jsonl", "ndjson"):
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    return parquet({name: pa.array([row[name] for row in rows]) for name in rows[0]})


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return '"' + text.replace('"', '""') + '"'


def parquet(columns: dict[str, pa.Array] | list[tuple[str, pa.Array]], **options: object) -> bytes:
    pairs = list(columns.items()) if isinstance(columns, dict) else columns
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([a for _, a in pairs], names=[n for n, _ in pairs]), out, **options)
    return out.getvalue()


# What can happen to the bytes of any file.
BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda raw: b"",
    "blank": lambda raw: b" \n\t\r\n",
    "one byte": lambda raw: raw[:1],
    "half": lambda raw: raw[: len(raw) // 2],
    "last byte gone": lambda raw: raw[:-1],
    "last nine gone": lambda raw: raw[:-9],
    "first gone": lambda raw: raw[1:],
    "twice": lambda raw: raw + raw,
    "NUL in front": lambda raw: b"\0" + raw,
    "NUL within": lambda raw: raw[: len(raw) // 3] + b"\0" + raw[len(raw) // 3 :],
    "NULs behind": lambda raw: raw + b"\0" * 64,
    "all NULs": lambda raw: b"\0" * len(raw),
    "NUL for every byte of text": lambda raw: raw.replace(b"a", b"\0"),
    "a BOM": lambda raw: b"\xef\xbb\xbf" + raw,
    "two BOMs": lambda raw: b"\xef\xbb\xbf" * 2 + raw,
    "BOM alone": lambda raw: b"\xef\xbb\xbf",
    "UTF-16": lambda raw: raw.decode("latin-1").encode("utf-16"),
    "UTF-32": lambda raw: raw.decode("latin-1").encode("utf-32"),
    "BOM of UTF-16": lambda raw: b"\xff\xfe" + raw,
    "Latin-1 byte": lambda raw: raw[: len(raw) // 2] + b"\xe9" + raw[len(raw) // 2 :],
    "half a character at the end": lambda raw: raw + b"\xd0",
    "surrogate in UTF-8": lambda raw: raw.replace(b"a1", b"\xed\xa0\x80"),
    "gzip": lambda raw: b"\x1f\x8b\x08\x00" + raw,
    "zip": lambda raw: b"PK\x03\x04" + raw,
    "PDF": lambda raw: b"%PDF-1.7\n" + raw,
    "HTML": lambda raw: b"<!DOCTYPE html><html><body>404</body></html>",
    "Parquet's magic": lambda raw: b"PAR1" + raw + b"PAR1",
    "backwards": lambda raw: raw[::-1],
    "every tenth byte gone": lambda raw: bytes(b for i, b in enumerate(raw) if i % 10),
    "bytes turned": lambda raw: bytes((b + 128) % 256 for b in raw),
    "footer turned": lambda raw: raw[:-40] + bytes((b * 7 + 1) % 256 for b in raw[-40:-8]) + raw[-8:],
}  # fmt: skip

# What can happen to the text of a file that is text.
TEXT: dict[str, Callable[[str], str]] = {
    "CR only": lambda t: t.replace("\n", "\r"),
    "CR LF": lambda t: t.replace("\n", "\r\n"),
    "mixed line ends": lambda t: t.replace("\n", "\r\n", 2).replace("\n", "\r", 1),
    "blank lines": lambda t: "\n\n" + t.replace("\n", "\n\n"),
    "no line end": lambda t: t.rstrip("\n"),
    "line separators": lambda t: t.replace("\n", "\u2028"),
    "form feeds": lambda t: t.replace("\n", "\f\n"),
    "header doubled": lambda t: t.split("\n")[0] + "\n" + t,
    "header only": lambda t: t.split("\n")[0] + "\n",
    "no header": lambda t: t.split("\n", 1)[-1],
    "a name doubled": lambda t: t.replace("text", "id", 1),
    "a name empty": lambda t: t.replace("text", "", 1),
    "a name of spaces": lambda t: t.replace("text", "  ", 1),
    "names that differ by spaces": lambda t: t.replace("text", "id ", 1),
    "a name of a NUL": lambda t: t.replace("text", "\0", 1),
    "a name of pandas": lambda t: t.replace("text", "id.1", 1),
    "a huge field": lambda t: t.replace("a1", "x" * 300_000),
    "a huge name": lambda t: t.replace("whole", "x" * 100_000),
    "a quote opened": lambda t: t.replace("a2", 'a2"', 1),
    "quotes all gone": lambda t: t.replace('"', ""),
    "quotes that are single": lambda t: t.replace('"', "'"),
    "semicolons": lambda t: t.replace(",", ";"),
    "tabs": lambda t: t.replace(",", "\t"),
    "commas": lambda t: t.replace("\t", ","),
    "a row too long": lambda t: t.replace("a3", 'a3","more","more', 1),
    "only separators": lambda t: ",,,,\n,,,,\n",
    "only quotes": lambda t: '"""""\n"',
    "a comment": lambda t: "# a comment\n" + t,
    "a number of 5000 digits": lambda t: t.replace("1.5", "9" * 5000),
    "a number of 400 digits": lambda t: t.replace("1.5", "9" * 400),
    "a whole number beyond 64 bits": lambda t: t.replace("3", str(2**70)),
    "a whole number as 1e30": lambda t: t.replace("3", "1e30"),
    "1e999": lambda t: t.replace("1.5", "1e999"),
    "NaN": lambda t: t.replace("1.5", "NaN"),
    "-Infinity": lambda t: t.replace("1.5", "-Infinity"),
    "hexadecimal": lambda t: t.replace("1.5", "0x1F"),
    "underscores": lambda t: t.replace("1.5", "1_000"),
    "full-width digits": lambda t: t.replace("1.5", "１２"),
    "year 0": lambda t: t.replace("2026-01-01", "0000-00-00"),
    "year 99999": lambda t: t.replace("2026-01-01", "99999-01-01"),
    "year 1": lambda t: t.replace("2026-01-01", "0001-01-01"),
    "an impossible offset": lambda t: t.replace("10:00Z", "10:00+99:99"),
    "deep spans": lambda t: t.replace("[[0, 2]]", "[" * 5_000 + "]" * 5_000),
    "nested as deep as allowed": lambda t: t.replace("[[0, 2]]", "[" * 900 + "]" * 900),
    "spans of huge numbers": lambda t: t.replace("[[0, 2]]", f"[[0, {10**40}]]"),
    "spans of objects": lambda t: t.replace("[[0, 2]]", '[{"a": 1}]'),
    "spans that are an object": lambda t: t.replace("[[0, 2]]", '{"a": {"b": [1]}}'),
    "escape half": lambda t: t.replace("a1", "\\ud800"),
    "escape unknown": lambda t: t.replace("a1", "\\q"),
    "bare NUL": lambda t: t.replace("a1", "a\0"),
    "direction turned": lambda t: t.replace("a1", "\u202ea1"),
    "a key doubled": lambda t: t.replace("whole", "number"),
    "an object for a text": lambda t: t.replace('"a1"', '{"a": [1, {"b": null}]}'),
    "a list for a text": lambda t: t.replace('"a1"', "[1, [2, [3]]]"),
    "true for a text": lambda t: t.replace('"a1"', "true"),
    "null for a text": lambda t: t.replace('"a1"', "null"),
    "a number for a text": lambda t: t.replace('"a1"', "12345678901234567890123"),
    "rows that are lists": lambda t: t.replace("{", "[").replace("}", "]").replace(":", ","),
    "rows that are texts": lambda t: '["a", "b"]\n"c"\n',
    "one object": lambda t: '{"id": "a1", "text": {"deep": [1]}}\n',
    "empty objects": lambda t: "[{}, {}]\n" if t.startswith("[") else "{}\n{}\n",
    "an empty list": lambda t: "[]\n",
    "null": lambda t: "null\n",
    "a number": lambda t: "1\n",
    "lists of objects": lambda t: t.replace("[[0, 2]]", '[{"id": "n1", "text": "nested"}]').replace("spans", "other"),
    "lists of mixed things": lambda t: t.replace("[[0, 2]]", '[{"id": "n1"}, "text", 1]').replace("spans", "other"),
    "missing keys": lambda t: t.replace('"id": "a1", ', "").replace('"whole": 2, ', ""),
    "trailing comma": lambda t: t.replace("}", ",}"),
    "comments in JSON": lambda t: t.replace("{", "{/* c */", 1),
    "many columns": lambda t: ",".join(f"c{i}" for i in range(MANY)) + "\n" + ",".join(["1"] * MANY) + "\n",
}  # fmt: skip


def _texts(*bytes_: bytes) -> pa.Array:
    """Texts that hold any bytes: Arrow does not look."""
    raw = pa.array(bytes_, pa.binary())
    return pa.StringArray.from_buffers(len(raw), raw.buffers()[1], raw.buffers()[2])


def _ids(n: int = 3) -> pa.Array:
    return pa.array([f"a{i}" for i in range(n)])


def _stored(kind: pa.DataType, *values: int) -> pa.Array:
    return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)


_MOST = 2**63 - 1
# Columns that Parquet has and tables of studies have not.
COLUMNS: dict[str, Callable[[], pa.Array]] = {
    "invalid UTF-8": lambda: _texts(b"fine", b"caf\xe9", b"\xff\xfe"),
    "surrogates": lambda: _texts(b"\xed\xa0\x80", b"a", b"b"),
    "NULs": lambda: pa.array(["\0", "a\0b", ""]),
    "unknown time zone": lambda: _stored(pa.timestamp("us", "Mars/Olympus"), 0, 1, 2),
    "impossible offset": lambda: _stored(pa.timestamp("us", "+99:99"), 0, 1, 2),
    "known time zone": lambda: _stored(pa.timestamp("us", "Europe/Moscow"), 0, 1, 2),
    "dates beyond the calendar": lambda: _stored(pa.date32(), 0, 2**31 - 1, -(2**31)),
    "milliseconds beyond the calendar": lambda: _stored(pa.timestamp("ms"), 0, 2**60, -(2**60)),
    "microseconds beyond the calendar": lambda: _stored(pa.timestamp("us"), 0, _MOST, -_MOST),
    "nanoseconds": lambda: _stored(pa.timestamp("ns"), 0, _MOST, 1),
    "nanoseconds with a zone": lambda: _stored(pa.timestamp("ns", "UTC"), 0, _MOST, 1),
    "times": lambda: _stored(pa.time64("us"), 0, 1, 86_399_999_999),
    "times beyond the day": lambda: _stored(pa.time64("us"), 0, _MOST, -1),
    "durations": lambda: _stored(pa.duration("us"), 0, 1, 2),
    "durations beyond bounds": lambda: _stored(pa.duration("us"), 0, _MOST, -_MOST),
    "binary": lambda: pa.array([b"\xff", b"a", None], pa.binary()),
    "fixed binary": lambda: pa.array([b"ab", b"cd", None], pa.binary(2)),
    "decimals": lambda: pa.array([decimal.Decimal("1.5"), None, decimal.Decimal("-2.25")]),
    "huge decimals": lambda: pa.array([decimal.Decimal(10**70), None, decimal.Decimal(1)], pa.decimal256(76, 0)),
    "dictionary": lambda: pa.array(["a", None, "a"]).dictionary_encode(),
    "dictionary of bytes": lambda: pa.array([b"\xff", None, b"a"]).dictionary_encode(),
    "dictionary of invalid UTF-8": lambda: pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), _texts(b"a", b"\xff")),
    "nulls": lambda: pa.nulls(3),
    "nulls of numbers": lambda: pa.array([None, None, None], pa.int64()),
    "NaN and infinity": lambda: pa.array([float("nan"), float("inf"), float("-inf")]),
    "half precision": lambda: pa.array([1.5, None, 2.0], pa.float32()).cast(pa.float16()),
    "unsigned": lambda: pa.array([2**64 - 1, None, 0], pa.uint64()),
    "unsigned without nulls": lambda: pa.array([2**64 - 1, 1, 0], pa.uint64()),
    "booleans with null": lambda: pa.array([True, None, False]),
    "structs": lambda: pa.array([{"a": 1, "b": [b"x"]}, None, {"a": None, "b": []}]),
    "structs of texts": lambda: pa.array([{"a": "x"}, None, {"a": "y"}]),
    "lists": lambda: pa.array([["a", None], None, []]),
    "lists of dates": lambda: pa.array([[datetime.date(2026, 1, 1)], None, []]),
    "lists of invalid UTF-8": lambda: pa.ListArray.from_arrays(pa.array([0, 1, 2, 3]), _texts(b"a", b"\xff", b"b")),
    "lists of structs": lambda: pa.array([[{"id": "n1", "text": "x"}], [], None]),
    "fixed lists": lambda: pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2)),
    "maps": lambda: pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
    "large texts": lambda: pa.array(["x" * 300_000, None, ""], pa.large_string()),
    "deep lists": lambda: pa.array([json.loads("[" * 60 + "]" * 60)] * 3),
}  # fmt: skip


TABLES: dict[str, Callable[[], bytes]] = {
    "a column twice": lambda: parquet([("id", _ids()), ("id", _ids())]),
    "names that differ by spaces": lambda: parquet([("id", _ids()), ("id ", _ids())]),
    "an empty name": lambda: parquet([("", _ids()), ("text", _ids())]),
    "a name with a dot": lambda: parquet([("id", _ids()), ("a.b", _ids())]),
    "a name with a NUL": lambda: parquet([("id", _ids()), ("a\0b", _ids())]),
    "zero columns": lambda: parquet([]),
    "zero rows": lambda: parquet({"id": _ids(0)}),
    "1000 columns": lambda: parquet({f"c{i}": _ids() for i in range(1000)}),
    "many row groups": lambda: parquet({"id": _ids(50)}, row_group_size=1),
    "index of pandas": lambda: _with_metadata(b"pandas", b'{"index_columns": ["gone"], "columns": []}'),
    "metadata of Arrow that is none": lambda: _with_metadata(b"ARROW:schema", b"AAAA"),
}  # fmt: skip


def _with_metadata(key: bytes, value: bytes) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"id": _ids()}).replace_schema_metadata({key: value}), out, store_schema=False)
    return out.getvalue()


def odd_files() -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    """Name, ending, and what makes the bytes."""
    for form in FORMS:
        for name, change in BYTES.items():
            yield f"{form}, {name}", form, lambda form=form, change=change: change(sound(form))
    for form in TEXT_FORMS:
        for name, alter in TEXT.items():
            yield f"{form}, {name}", form, lambda form=form, alter=alter: alter(sound(form).decode()).encode()
    for name, column in COLUMNS.items():
        for place in ("id", "text", "number", "whole", "flag", "at", "spans", "other"):
            yield (f"parquet, {name} as {place}", "parquet", lambda column=column, place=place: _beside(place, column))
    for name, table in TABLES.items():
        yield f"parquet, {name}", "parquet", table


def _beside(place: str, column: Callable[[], pa.Array]) -> bytes:
    others = {"id": _ids(), "text": _ids()}
    return parquet({**others, place: column()})
