"""TREC files to raw frames: qrels (query, 0, passage, relevance) and runs (query, Q0, passage, rank, score, run), without a header.

Fields are parted by blanks or tabs, so an id has none.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.readers.decoded import decoded, ending, unpacked

if TYPE_CHECKING:
    import pandas as pd

FORMS = {4: "id 0 doc_id relevance", 6: "id Q0 doc_id rank score model"}
_OTHERS = (".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".md", ".py", ".yaml", ".yml", ".ipynb", ".html")
_START = 10_000
_NUMBERS = ("relevance", "rank", "score")


def is_trec(path: Path, raw: bytes, columns: tuple[str, ...]) -> bool:
    """Whether a file's first line has the fields of a TREC file, numbers where numbers are.

    - ``columns``: A name for each field; the empty name is a field that is not read.

    Examples
    --------
    >>> qrels = ("id", "", "doc_id", "relevance")
    >>> is_trec(Path("qrels.txt"), b"301 0 CR93E-10279 0", qrels), is_trec(Path("q.tsv"), b"id\tx\ty\tz", qrels)
    (True, False)
    """
    if not columns or ending(path) in _OTHERS:
        return False
    start = unpacked(path, raw)[:_START].removeprefix(b"\xef\xbb\xbf")
    first = next((line for line in start.split(b"\n") if line.strip()), b"").split()
    return _fits(first, columns)


def _fits(fields: Sequence[bytes], columns: tuple[str, ...]) -> bool:
    """Whether fields are those of a line; what follows the name of a run is for comments."""
    places = [place for place, field in enumerate(FORMS[len(columns)].split()) if field in _NUMBERS]
    further = len(columns) == 6 and len(fields) > 6 and not _is_number(fields[5])
    return (len(fields) == len(columns) or further) and all(_is_number(fields[place]) for place in places)


def _is_number(value: bytes) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def trec_frame(path: Path, raw: bytes, columns: tuple[str, ...]) -> tuple[pd.DataFrame, list[str]]:
    """The cells of a TREC file; rows are its lines.

    - ``path``, ``raw``, ``columns``: See :func:`is_trec`.
    - Returns ``DataFrame``: A column for each name that is not empty.
    - Returns ``list of str``: How the file was read, where that was a guess.

    Raises ``BadInput`` for lines with more or fewer fields: all of them.
    """
    import numpy as np
    import pandas as pd

    raw = unpacked(path, raw)
    text, notes = decoded(path, raw)
    lines = text.encode() if notes or not raw.startswith(text[:1].encode()) else raw
    for old, new in ((b"\r\n", b"\n"), (b"\t", b" "), (b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n")):
        while old in lines:
            lines = lines.replace(old, new)
    lines = lines.strip(b" ").rstrip(b"\n") + b"\n"
    index: Any = pd.RangeIndex(1, lines.count(b"\n") + 1)
    if lines.startswith(b"\n") or b"\n\n" in lines:
        whole = lines.split(b"\n")
        index = pd.Index([number for number, line in enumerate(whole, start=1) if line])
        lines = b"\n".join(line for line in whole if line) + b"\n"
    frame, wrong = _parsed(path, lines, columns, numbers=True)
    if wrong:
        lines, n_cut = _without_comments(path, lines.split(b"\n")[:-1], columns, index)
        notes = [*notes, f"what follows the name of the run in {n_cut} lines was not read"]
        frame, _ = _parsed(path, lines, columns, numbers=True)
    wanted = [name for name in columns if name in _NUMBERS]
    # A number that is none, or not finite, is reported as in any other table.
    if frame is None or not all(np.isfinite(frame[name]).all() for name in wanted):
        frame, _ = _parsed(path, lines, columns, numbers=False)
    assert frame is not None
    return frame.set_axis(index), notes


def _without_comments(path: Path, lines: Sequence[bytes], columns: tuple[str, ...], index: Any) -> tuple[bytes, int]:
    """Lines without what follows the name of the run, and how many had that.

    Raises ``BadInput`` for lines with other fields too few or too many: all of them.
    """
    kept, n_cut, faults = [], 0, []
    for number, line in zip(index, lines, strict=True):
        fields = line.split(b" ")
        if len(fields) == len(columns):
            kept.append(line)
        elif _fits(fields, columns):
            kept.append(b" ".join(fields[: len(columns)]))
            n_cut += 1
        else:
            faults.append(f"line {number}: {len(fields)} fields")
    if faults:
        expected = f"expected {len(columns)} fields in each line ({FORMS[len(columns)]})"
        hint = "an id with a blank cannot be written in a TREC file: save the table as CSV with a header"
        raise BadInput.listing(f"{path}: {expected}; {hint}:", faults)
    return b"\n".join(kept) + b"\n", n_cut


def _parsed(path: Path, lines: bytes, columns: tuple[str, ...], *, numbers: bool) -> tuple[pd.DataFrame | None, bool]:
    """The lines as a frame, None where a number is none and numbers are wanted; and whether lines have other fields."""
    import pyarrow as pa
    from pyarrow import csv

    named = [name or f"_{place}" for place, name in enumerate(columns)]
    wrong: list[Any] = []

    def skip(row: Any) -> str:
        wrong.append(row)
        return "skip"

    types = {name: pa.float64() if numbers and name in _NUMBERS else pa.large_string() for name in columns if name}
    try:
        table = csv.read_csv(
            io.BytesIO(lines),
            csv.ReadOptions(column_names=named, use_threads=False, block_size=1 << 24),
            csv.ParseOptions(delimiter=" ", quote_char=False, invalid_row_handler=skip),
            csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=[], strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        if numbers:
            return None, bool(wrong)
        raise BadInput(f"{path}: not a TREC file ({str(error).splitlines()[0]})") from error
    return table.to_pandas(types_mapper=_text_type), bool(wrong)


def _text_type(arrow: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    return pd.StringDtype("pyarrow", na_value=float("nan")) if pa.types.is_large_string(arrow) else None


def trec_files(folder: Path, table: str, columns: tuple[str, ...]) -> list[Path]:
    """The TREC files of a folder that hold one table: those named ``TABLE`` or ``TABLE_…``, else all of its form."""
    if not columns:
        return []
    found = [p for p in sorted(folder.iterdir()) if p.is_file() and ending(p) not in _OTHERS and p.name[0] != "."]
    own = [p for p in found if re.split(r"[_.\-]", p.name)[0] in (table, f"{table}s")] or found
    return [p for p in own if is_trec(p, _start_of(p), columns)]


def _start_of(path: Path) -> bytes:
    """What shows a file's form; of one that cannot be read, nothing."""
    try:
        with path.open("rb") as file:
            return file.read() if path.suffix.lower() == ".gz" else file.read(_START)
    except OSError:
        return b""


def trec_frames(files: Sequence[Path], columns: tuple[str, ...]) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    """The rows of several files together, the notes, and SHA-256 values by file.

    Where two files name their run alike, each run is called as its file.
    """
    import pandas as pd

    frames, notes, digests = {}, [], {}
    for file in files:
        raw = file.read_bytes()
        digests[file.name] = hashlib.sha256(raw).hexdigest()
        frames[file], found = trec_frame(file, raw, columns)
        notes += [f"{file.name}: {note}" for note in found]
    names = Counter(name for frame in frames.values() if "model" in frame for name in frame["model"].unique())
    if any(n > 1 for n in names.values()):
        frames = {file: frame.assign(model=file.stem) for file, frame in frames.items()}
        notes.append("runs are called as their files, which name them alike")
    together = pd.concat(frames.values(), ignore_index=True)
    notes.append(f"{', '.join(file.name for file in files)} were read together")
    return together.set_axis(pd.RangeIndex(1, len(together) + 1)), notes, digests
