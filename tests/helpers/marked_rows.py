"""A mark as a page sends it, and the labels that are made of the marks of a run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from click.testing import CliRunner

from evalbench.cli import group
from evalbench.explorer.mark_files import merge_line

if TYPE_CHECKING:
    from evalbench.explorer.rows import Rows


def mark(row: int, value: str = "1", annotator: str = "anna", **more: Any) -> dict[str, Any]:
    return {"row": row, "mark": value, "annotator": annotator, **more}


def merged(rows: Rows, folder: Path) -> pd.DataFrame:
    """The labels that the command of the page makes."""
    _, _, *words = shlex.split(merge_line(rows.folder))
    out = folder / "labels.csv"
    result = CliRunner().invoke(group, ["label", *words[:-1], str(out)])
    assert result.exit_code == 0, result.output
    return pd.read_csv(out)
