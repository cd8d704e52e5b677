"""A run's folder: the names of its files, their reading, and files that are whole or not there.

A notebook, a disk or a hand may have damaged ``results.json`` and ``run.json``: :data:`RESULTS` and :data:`RUN` list
their fields.  A name with ``?`` may be missing; other fields are allowed.
"""

from __future__ import annotations

import contextlib
import glob
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.core.verdict import LIGHTS
from evalbench.errors import BadInput
from evalbench.readers import former_names

if TYPE_CHECKING:
    import pandas as pd

RUN_FOLDER = "EVALBENCH_RUN"  # names the folder to the kernel that works for it
PARTS = ".parts-"  # begins the folder in it where a table that does not fit is worked on
RUN_JSON, RESULTS_JSON = "run.json", "results.json"
ITEMS, CALLS = "items.parquet", "calls.parquet"
NOTEBOOK, PAGE = "notebook.ipynb", "report.html"
STATUSES = ("running", "ok", "failed", "died", "timeout", "no-result", "interactive")
FINISHED = ("ok", "interactive")  # what has results
_RESULTS_VERSIONS = (1, 2, 3)  # 2: a row states its title beside its metric; 3: columns are named after what they hold
_RUN_VERSION = 1
_DEEPEST = 32
_LARGEST = 1e100  # differences of figures stay finite


class Kind(NamedTuple):
    """What a field may hold, in words and as a test."""

    word: str
    holds: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and -_LARGEST <= value <= _LARGEST


def _is_file_name(value: Any) -> bool:
    return isinstance(value, str) and Path(value).name == value and value not in ("", ".", "..")


def _one_of(*values: Any) -> Kind:
    return Kind(" or ".join(map(str, values)), lambda value: type(value) in (str, int) and value in values)


def _or_null(kind: Kind) -> Kind:
    return Kind(f"{kind.word} or null", lambda value: value is None or kind.holds(value))


ANY = Kind("a value", lambda value: True)
TEXT = Kind("a text", lambda value: isinstance(value, str))
YES_NO = Kind("true or false", lambda value: isinstance(value, bool))
NUMBER = Kind("a number", _is_number)
COUNT = Kind("a count", lambda value: type(value) is int and 0 <= value < 2**63)
OBJECT = Kind("an object", lambda value: isinstance(value, dict))
FILE_NAME = Kind("a file's name", _is_file_name)
GROUP = Kind("a text, a number or null", lambda value: value is None or isinstance(value, str | int | float))
LIGHT = _one_of(*LIGHTS)

_FIGURE = {
    "metric": TEXT, "title?": TEXT, "value": _or_null(NUMBER), "ci_low?": _or_null(NUMBER), "ci_high?": _or_null(NUMBER), "method?": TEXT,
    "n": COUNT, "n_unscored?": COUNT, "n_undefined?": COUNT, "unit?": TEXT, "higher_is_better?": _or_null(YES_NO),
    "light?": LIGHT, "note?": TEXT, "n_of?": TEXT, "cuts?": [NUMBER],
}  # fmt: skip
_SLICE = {
    "column": TEXT, "name": TEXT, "metric": TEXT, "title": TEXT, "unit": TEXT, "higher_is_better": _or_null(YES_NO), "n_items": COUNT,
    "n": COUNT, **{f"{figure}": _or_null(NUMBER) for figure in ("figure", "ci_low", "ci_high", "rest", "difference", "p", "p_holm")},
    "few": YES_NO,
}  # fmt: skip
_LINE = {"text": TEXT, "at": TEXT}
RESULTS: Mapping[str, Any] = {
    "answer?": {"answer": TEXT, "decided_by": _LINE, "could_change": _LINE, "next": _LINE},
    "schema_version": _one_of(*_RESULTS_VERSIONS), "study": TEXT, "question": TEXT, "judged": TEXT, "parameters": OBJECT,
    "data": {"name": TEXT, "version": TEXT, "sha256": TEXT, "synthetic?": YES_NO},
    "id": TEXT, "by": [TEXT], "light": LIGHT, "sentence": TEXT, "light_stability": _or_null(NUMBER), "light_rule": TEXT,
    "would_be_light?": _or_null(LIGHT), "decided_by?": _or_null(OBJECT),
    "slices?": [_SLICE], "clusters?": COUNT, "items": {"n": COUNT, "unscored": COUNT, "of?": TEXT}, "summary": [_FIGURE], "notes": [TEXT], "method": [TEXT],
    "tables": {"*": FILE_NAME}, "stopping?": OBJECT,
    "judged_again?": {"run": TEXT, "identity": TEXT, "then": TEXT, "now": TEXT, "replies": COUNT, "not_recorded": COUNT, "requests": COUNT},
}  # fmt: skip
_DATA: Mapping[str, Any] = {"name": TEXT, "version?": TEXT}
RUN: Mapping[str, Any] = {
    "schema_version?": _one_of(_RUN_VERSION), "study?": TEXT, "run_id?": TEXT, "status": _one_of(*STATUSES),
    "error?": Kind("a text, an object or null", lambda value: value is None or isinstance(value, str | dict)),
    "started?": _or_null(TEXT), "finished?": _or_null(TEXT), "seconds?": _or_null(NUMBER), "peak_memory_mb?": _or_null(NUMBER),
    "attempt?": COUNT, "host?": TEXT, "process?": COUNT, "batch?": TEXT, "parameters?": _or_null(OBJECT),
    "data?": _or_null(Kind("an object with name and version", lambda value: not _faults(value, _DATA, ""))),
    "read_as?": {"*": {"*": TEXT}}, "git?": OBJECT, "versions?": OBJECT, "sha256?": {"*": TEXT}, "drawn?": [TEXT], "edited_defaults?": {"*": {"own?": ANY, "here?": ANY}},
}  # fmt: skip


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object without NaN, infinities and needless depth.

    Raises ``BadInput`` if it is not there, or not such an object.
    """
    try:
        content = json.loads(path.read_bytes(), parse_constant=_refuse)
    except RecursionError:
        raise BadInput(f"{path}: cannot be read (nested too deeply)") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror if isinstance(error, OSError) else error})") from error
    if not isinstance(content, dict):
        raise BadInput(f"{path}: expected a JSON object")
    if fault := _depth_fault(content):
        raise BadInput(f"{path}: cannot be read ({fault})")
    return content


def read_results(folder: Path) -> dict[str, Any]:
    """The ``results.json`` of a finished run; rows of older files get their metric as title, and columns today's names.

    Raises ``BadInput`` if it has none, or its fields are not those of :data:`RESULTS`; lists all faults.
    """
    path = _finished_file(folder, RESULTS_JSON)
    content = _checked(path, RESULTS)
    by = content["by"]
    faults = [
        f"summary: row {i}: {name}: expected {GROUP.word}"
        for i, row in enumerate(content["summary"], 1)
        for name in by
        if not GROUP.holds(row.get(name))
    ]
    if faults:
        raise BadInput.listing(f"{path}: not what record(result) writes:", faults)
    for row in content["summary"]:
        row["title"] = row.get("title") or row["metric"]
    return former_names.results_today(content)


def read_run(folder: Path) -> dict[str, Any]:
    """The ``run.json`` of a run.

    Raises ``BadInput`` if it has none, or its fields are not those of :data:`RUN`; lists all faults.
    """
    return former_names.run_today(_checked(folder / RUN_JSON, RUN), folder)


def read_items(folder: Path) -> pd.DataFrame:
    """The items of a finished run.

    Raises ``BadInput`` if it has none, or they cannot be read.
    """
    return read_frame(_finished_file(folder, ITEMS))


def read_table(folder: Path, name: str) -> pd.DataFrame | None:
    """A table of a finished run by its name in ``results.json``; None where the run kept no such table.

    Raises ``BadInput`` if the folder is not that of a finished run, or the table's file cannot be read.
    """
    file = read_results(folder)["tables"].get(name)
    return None if file is None else read_frame(_finished_file(folder, file))


def run_folders(reports: Path, study: str = "", hash8: str = "") -> list[Path]:
    """The folders of runs below a folder of reports, in the order of their names.

    - ``study``: Only those of this study.
    - ``hash8``: Only those whose name carries it.
    """
    pattern = f"*-{glob.escape(hash8)}*" if hash8 else "*"
    return sorted(path.parent for path in reports.glob(f"{glob.escape(study) or '*'}/{pattern}/{RUN_JSON}"))


def run_folder(name: str, reports: Path) -> Path:
    """The folder of a run: a path to it or to a file in it, or a run's id below ``reports``, with or without its study.

    Raises ``BadInput`` if there is no such run, or several.
    """
    path = Path(name).expanduser()
    if path.is_file():
        path = path.parent
    if path.is_dir():
        return path.resolve()
    below = "/".join(["*", *map(glob.escape, path.parts)][-2:])
    inside = 1 <= len(path.parts) <= 2 and not path.is_absolute() and ".." not in path.parts
    found = sorted(p for p in reports.glob(below) if p.is_dir()) if inside else []
    if len(found) != 1:
        where = f"{len(found)} runs of this id below" if found else "neither a folder nor the id of a run below"
        raise BadInput(f"{name}: {where} {reports}")
    return found[0].resolve()


# -- writing ------------------------------------------------------------------------------------


def table_file(name: str) -> str:
    """The file's name of a table."""
    return f"{name}.parquet"


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary neighbour that replaces ``path`` when the block ends well, and is gone otherwise.

    Raises ``OSError`` if the folder cannot be written; nothing is left behind.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> Path:
    """Write a text file whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON without NaN, whole or not at all."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


# -- checking -----------------------------------------------------------------------------------


def _finished_file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise BadInput(f"{folder}: has no {name}; is it the folder of a finished run?")
    return path


def read_frame(path: Path) -> pd.DataFrame:
    """A table of a run; columns of earlier versions under today's names."""
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read ({error})") from error
    return frame.rename(columns=former_names.renamed_of(path, map(str, frame.columns)))


def _checked(path: Path, fields: Mapping[str, Any]) -> dict[str, Any]:
    content = read_json(path)
    faults = list(_faults(content, fields, ""))
    if faults:
        raise BadInput.listing(f"{path}: not what a run writes:", faults)
    return content


def _faults(content: Any, expected: Any, where: str) -> list[str]:
    """What differs from the fields that are expected, each with its place."""
    if isinstance(expected, Kind):
        return [] if expected.holds(content) else [f"{where}: expected {expected.word}, found {_shown(content)}"]
    if isinstance(expected, list):
        if not isinstance(content, list):
            return [f"{where}: expected a list, found {_shown(content)}"]
        return [f for i, v in enumerate(content, 1) for f in _faults(v, expected[0], f"{where}: {i}")]
    if not isinstance(content, dict):
        return [f"{where}: expected an object, found {_shown(content)}"]
    found = []
    for name, kind in _named(content, expected):
        key = name.removesuffix("?")
        place = f"{where}: {key}" if where else key
        if key in content:
            found += _faults(content[key], kind, place)
        elif not name.endswith("?"):
            found.append(f"{place}: missing")
    return found


def _named(content: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The expected fields; ``*`` is every one that is there."""
    for name, kind in expected.items():
        if name == "*":
            yield from ((key, kind) for key in content)
        else:
            yield name, kind


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, list | dict) else "a list" if isinstance(value, list) else "an object"
    return text if len(text) <= 40 else text[:39] + "…"


def _depth_fault(content: Any) -> str:
    """Level by level, so that no depth exhausts the stack."""
    level = [content]
    for _ in range(_DEEPEST):
        if any(isinstance(value, float) and not math.isfinite(value) for value in level):
            return "a number beyond all bounds"
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return ""
    return "nested too deeply"


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
