"""Files to raw frames: every cell as it is, nothing guessed.

A raw frame holds text (CSV, TSV) or JSON values (JSON, JSON Lines, Parquet).  The index is the row
number that a person sees: in CSV and TSV the header is row 1, in JSON Lines it is the line, else the
first record is row 1.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.readers.decoded import decoded, ending, in_utf8, unpacked
from evalbench.readers.delimited import delimited_frame
from evalbench.readers.frames import are_objects, half_character
from evalbench.readers.json_faults import in_words
from evalbench.readers.tagged import TAGGED, conll_frame
from evalbench.readers.trec import FORMS, is_trec, trec_frame

if TYPE_CHECKING:
    import pandas as pd

DELIMITED = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
WRITTEN = (*DELIMITED, ".xlsx")
"""Endings of files whose cells are what someone wrote in a sheet: a list is a text there, and an empty cell no null."""
_PLAIN = (*DELIMITED, ".json", ".jsonl", ".ndjson", *TAGGED)
ENDINGS = (*_PLAIN, ".parquet", ".xlsx", *(f"{plain}.gz" for plain in _PLAIN))
SHOWN = f"{', '.join([*_PLAIN, '.parquet', '.xlsx'])}; texts may be compressed (.gz)"
_OTHER_SHEETS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
_PACKED = (".zip", ".7z", ".rar", ".tar", ".tgz", ".bz2", ".xz", ".zst")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/{1,2}(?=[^/])", re.IGNORECASE)
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that must exist and not be empty."""
    if not path.exists():
        raise BadInput(not_fetched(str(path)) or f"{path}: no such file")
    if path.is_dir():
        raise BadInput(f"{path}: is a folder, expected a file ending in {SHOWN}")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    if not raw or raw.isspace():
        raise BadInput(f"{path}: the file is empty")
    return raw


def not_fetched(data: str) -> str:
    """What is said of an address in place of a file; empty for any other text.

    Examples
    --------
    >>> not_fetched("https:/example.org/a.csv"), not_fetched("C:/a.csv")
    ('https://example.org/a.csv: is an address, and none is fetched; download it and give the file', '')
    """
    found = _ADDRESS.match(data)
    return (
        f"{found[1]}://{data[found.end() :]}: is an address, and none is fetched; download it and give the file"
        if found
        else ""
    )


def form_of(raw: bytes) -> str:
    """The ending that suits the bytes of a file without a name.

    Examples
    --------
    >>> form_of(b'[{"id": 1}]'), form_of(b'{"id": 1}'), form_of(b"id;output")
    ('.json', '.jsonl', '.csv')
    """
    for mark, form in ((b"PAR1", ".parquet"), (b"PK\x03\x04", ".xlsx")):
        if raw.startswith(mark):
            return form
    if raw.startswith(b"\x1f\x8b"):
        return form_of(unpacked(Path("-.gz"), raw)) + ".gz"
    start = raw[:1000].decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "ignore").lstrip()
    return ".json" if start.startswith("[") else ".jsonl" if start.startswith("{") else ".csv"


def sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def raw_frame(path: Path, raw: bytes) -> pd.DataFrame:
    """One file's cells, unconverted; see :func:`raw_table`."""
    return raw_table(path, raw)[0]


_READ: ContextVar[dict[tuple[Path, str], tuple[pd.DataFrame, list[str]]] | None] = ContextVar("read", default=None)


@contextmanager
def each_file_once() -> Iterator[None]:
    """Within it a file that is read again, since several studies may have a use for it, is not parsed again."""
    token = _READ.set({})
    try:
        yield
    finally:
        _READ.reset(token)


def raw_table(path: Path, raw: bytes, trec: tuple[str, ...] = ()) -> tuple[pd.DataFrame, list[str]]:
    """One file's cells, unconverted, and a note for each guess: of encoding, separator, form.

    - ``trec``: The columns of the table as a TREC file, if it has such a form; its name may end in anything.

    Raises ``BadInput``: Unknown ending, wrong encoding, broken CSV or JSON; the message names file and place.
    """
    if trec and is_trec(path, raw, trec):
        return trec_frame(path, raw, trec)
    read = _READ.get()
    if read is None:
        return _parsed(path, raw, trec)
    key = path, sha256(raw)
    if key not in read:
        read[key] = _parsed(path, raw, trec)
    frame, notes = read[key]
    return frame.copy(deep=False), [*notes]


def _parsed(path: Path, raw: bytes, trec: tuple[str, ...]) -> tuple[pd.DataFrame, list[str]]:
    form = ending(path)
    if form in _OTHER_SHEETS:
        raise BadInput(f"{path}: sheets of the form {form} are not read; save it as .xlsx or as CSV UTF-8")
    if form in _PACKED:
        raise BadInput(f"{path}: packed files are not read; unpack it and give what is in it, a file or a folder")
    if form not in (*_PLAIN, ".parquet", ".xlsx"):
        other = f", or lines of a TREC file: {FORMS[len(trec)]}" if trec else ""
        said = f"unknown file ending {path.suffix!r}" if path.suffix else "the name has no ending, which says the form"
        raise BadInput(f"{path}: {said}; expected one of {SHOWN}{other}")
    raw = unpacked(path, raw)
    if form == ".parquet":
        from evalbench.readers.parquet import parquet_frame

        return parquet_frame(path, raw), []
    if form == ".xlsx":
        from evalbench.readers.excel import excel_frame

        return excel_frame(path, raw)
    if form in DELIMITED:
        plain, notes = in_utf8(path, raw)
        frame, found = delimited_frame(path, plain, DELIMITED[form])
        return frame, notes + found
    text, notes = decoded(path, raw)
    if form in TAGGED:
        frame, found = conll_frame(path, text)
        return frame, notes + found
    records, rows, found = _json_records(path, text) if form == ".json" else _json_lines(path, text)
    return records_frame(records, rows), notes + found


def records_frame(records: list[dict[str, Any]], rows: list[Any]) -> pd.DataFrame:
    """A raw frame of JSON objects; a key that an object lacks becomes None."""
    import pandas as pd

    names = list(dict.fromkeys(key for record in records for key in record))
    return pd.DataFrame(
        {name: pd.Series([r.get(name) for r in records], dtype=object, index=rows) for name in names},
        index=pd.Index(rows),
    )


Records = tuple[list[dict[str, Any]], list[int], list[str]]


def _json_lines(path: Path, text: str) -> Records:
    """Objects, their lines, and a note where the file is one list instead."""
    records, rows, faults = [], [], []
    for number, line in enumerate(_lines(text), start=1):
        if not line.strip():
            continue
        try:
            record = parsed_json(line)
        except ValueError as error:
            faults.append(f"line {number}: not valid JSON ({error})")
            continue
        if isinstance(record, dict):
            records.append(record)
            rows.append(number)
        else:
            faults.append(f"line {number}: expected an object, found {type(record).__name__}")
    if faults and text.lstrip().startswith(("[", "{")):
        whole = _whole(text)
        if whole is not None:
            return whole[0], whole[1], ["is one JSON value rather than an object per line", *whole[2]]
    if faults:
        raise BadInput.listing(f"{path}: not JSON Lines:", faults)
    return records, rows, []


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, one at a time, since all of them take as much memory as it."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _whole(text: str) -> Records | None:
    """The rows of a text that is one JSON value, or None."""
    try:
        return _rows_of(parsed_json(text))
    except ValueError:
        return None


def _json_records(path: Path, text: str) -> Records:
    """Objects, their numbers, and a note where they are not simply a list."""
    try:
        value = parsed_json(text)
    except ValueError as error:
        if "\n" in text.strip():
            try:
                records, rows, _ = _json_lines(path, text)
            except BadInput:
                pass
            else:
                return records, rows, ["has an object per line rather than one JSON value"]
        raise BadInput(f"{path}: not valid JSON ({error})") from error
    found = _rows_of(value)
    if found is not None:
        return found
    what = "expected a JSON list of objects, one per row"
    if isinstance(value, dict):
        lists = [key for key, rows in value.items() if are_objects(rows)]
        shown = ", ".join(map(repr, lists or list(value)[:20]))
        what += f", or an object with one such list; found {'such lists' if lists else 'none'} under {shown}"
        what += "; save each list as a file of its own" if lists else "; is it a single row? Put it in brackets: [ … ]"
    if value == [] or value == {}:
        what = "the file holds no rows"
    raise BadInput(f"{path}: {what}")


def _rows_of(value: Any) -> Records | None:
    """The rows of a list of objects, or of an object with one such list, such as ``{"results": […]}``."""
    if are_objects(value):
        return value, list(range(1, len(value) + 1)), []
    if isinstance(value, dict) and (columns := _columns_of(value)) is not None:
        rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
        return rows, list(range(1, len(rows) + 1)), ["is one object of columns rather than a list of rows"]
    lists = [key for key, rows in value.items() if are_objects(rows)] if isinstance(value, dict) else []
    if len(lists) != 1:
        return None
    rows = value[lists[0]]
    return rows, list(range(1, len(rows) + 1)), [f"its rows are those under {json.dumps(lists[0], ensure_ascii=False)}"]


def _columns_of(value: Mapping[str, Any]) -> dict[str, list[Any]] | None:
    """The columns of an object that holds them as lists, or by row, all of one length; no list of them is one of rows."""
    columns = {key: list(cells.values()) if isinstance(cells, dict) else cells for key, cells in value.items()}
    keyed = {tuple(cells) for cells in value.values() if isinstance(cells, dict)}
    fits = len(columns) > 1 and all(
        isinstance(cells, list) and cells and not are_objects(cells) for cells in columns.values()
    )
    by_row = not keyed or (
        len(keyed) == 1
        and all(isinstance(cells, dict) for cells in value.values())
        and all(map(str.isdigit, next(iter(keyed))))
    )
    return columns if fits and by_row and len({len(cells) for cells in columns.values()}) == 1 else None


def parsed_json(text: str) -> Any:
    """A JSON value whose texts a file can hold.

    Raises ``ValueError`` for no JSON, NaN and Infinity, a key that an object has twice, nesting beyond all bounds, and
    half a character, which JSON can spell and UTF-8 cannot.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=distinct_keys)
        if _HALF_CHARACTER.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(in_words(error)) from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ValueError(half_character(error)) from error
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number; write null where a value is missing")


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of a key that is there twice, either value could be meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        doubled = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the key {json.dumps(doubled, ensure_ascii=False)} more than once")
    return found


def digest(parts: Mapping[str, str]) -> str:
    """One SHA-256 over named SHA-256 values, in the order of the names; of a single part, that part's own."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    return hashlib.sha256("".join(f"{name}\0{parts[name]}\n" for name in sorted(parts)).encode()).hexdigest()
