"""A finished run for other tools: its figures with their intervals, its tables and its page, written whole or not at all."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.runs import FINISHED, ITEMS, PAGE, RUN_JSON, read_frame, read_items, read_results, read_run
from evalbench.runs.leaks import leaks

if TYPE_CHECKING:
    import pandas as pd

SUMMARY = "summary.csv"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NAME = re.compile(r"[^\w.\- ]+")


class Finished(NamedTuple):
    """A run's folder, what varies and what is deterministic."""

    folder: Path
    about: Mapping[str, Any]
    results: Mapping[str, Any]


def finished(folder: Path) -> Finished:
    """A run that ended well.

    Raises ``BadInput`` if it is not the folder of a run, or the run failed.
    """
    if not (folder / RUN_JSON).is_file():
        raise BadInput(f"{folder}: not the folder of a run (it has no {RUN_JSON})")
    about = read_run(folder)
    if about["status"] not in FINISHED:
        raise BadInput(f"{folder}: the run has no results to export (status {about['status']})")
    return Finished(folder, about, read_results(folder))


def figures(results: Mapping[str, Any]) -> pd.DataFrame:
    """The headline figures, a row each: group columns, metric, title, value and both ends of the interval, counts, light, note."""
    import pandas as pd

    columns = (
        *results["by"], "metric", "title", "value", "ci_low", "ci_high", "method", "n", "n_unscored", "n_undefined", "unit",
        "higher_is_better", "light", "note",
    )  # fmt: skip
    return pd.DataFrame(
        [{name: row.get(name) for name in columns} for row in results["summary"]], columns=list(columns)
    )


def tables(run: Finished) -> Iterator[tuple[str, pd.DataFrame]]:
    """The items and every table of a run, by name."""
    yield "items", read_items(run.folder)
    for name, file in sorted(run.results["tables"].items()):
        if (run.folder / file).is_file() and file != ITEMS:
            yield name, read_frame(run.folder / file)


@contextlib.contextmanager
def staged(target: Path) -> Iterator[Path]:
    """A new folder beside ``target`` that is checked for keys of the environment when the block ends, and is then gone.

    Raises ``BadInput`` if what was written holds the value of a key; nothing is kept.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}.", dir=target.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refuse_keys(folder: Path) -> None:
    """Refuse files that hold the value of a key of the environment.

    Raises ``BadInput``: Names the files and the variables, never a value.
    """
    if found := leaks(folder):
        said = ", ".join(f"{name} in {file.relative_to(folder)}" for file, name in found)
        raise BadInput(f"nothing was exported, because the files would hold the value of a key: {said}")


def to_csv(run: Finished, target: Path) -> list[Path]:
    """Write ``summary.csv``, a CSV of each table, and the page into a new folder.

    Texts that a spreadsheet would take for a formula begin with an apostrophe.

    - ``target``: New or empty.

    Raises ``BadInput`` if the folder is not empty, or the files would hold the value of a key.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadInput(f"{target}: is not empty; --out names another folder")
    with staged(target) as folder:
        _csv(figures(run.results), folder / SUMMARY)
        for name, frame in tables(run):
            _csv(frame, folder / f"{file_name(name)}.csv")
        if (run.folder / PAGE).is_file():
            shutil.copyfile(run.folder / PAGE, folder / PAGE)
        refuse_keys(folder)
        if target.exists():
            target.rmdir()
        folder.chmod(0o755)
        folder.replace(target)
    return sorted(target.iterdir())


def file_name(name: str, longest: int = 80) -> str:
    """A name as that of a file or folder: no separator, no leading dot.

    Examples
    --------
    >>> file_name("../a/b:c"), file_name("..")
    ('a_b_c', '_')
    """
    return _NAME.sub("_", name).strip("._ ")[:longest] or "_"


def _csv(frame: pd.DataFrame, path: Path) -> None:
    frame.rename(columns=lambda name: _inert(str(name))).map(_inert).to_csv(
        path, index=False, encoding="utf-8", lineterminator="\n", errors="replace"
    )


def _inert(value: Any) -> Any:
    """A cell that no spreadsheet computes; lists and objects as texts."""
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):
        value = value.tolist()
    if isinstance(value, (list, tuple, dict)):
        import json

        value = json.dumps(value, ensure_ascii=False, default=str)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
