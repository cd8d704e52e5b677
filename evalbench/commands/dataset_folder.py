"""A new folder of a data set that a command makes: all of its files, or none."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd


def refuse_full(out: Path) -> None:
    """Refuse a folder that holds something, before anything is made."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out} is a file: name a new folder")
    if out.exists() and any(out.iterdir()):
        raise BadInput(f"{out} is not empty: name a new folder")


def write_folder(out: Path, files: Mapping[str, str | pd.DataFrame]) -> None:
    """Texts, and frames as Parquet, under their names in a new or empty folder."""
    out.parent.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=".evalbench-", dir=out.parent))
    try:
        for name, content in files.items():
            if isinstance(content, str):
                (stage / name).write_text(content, encoding="utf-8")
            else:
                content.to_parquet(stage / name, index=False)
        stage.chmod(0o755)
        if out.exists():
            out.rmdir()
        stage.rename(out)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def json_lines(rows: pd.DataFrame) -> str:
    """One JSON object a row; what is not there is null, a cell with several values a list.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> json_lines(pd.DataFrame({"id": ["1"], "reference": [np.array(["yes", "да"])], "trial": [None]}))
    '{"id": "1", "reference": ["yes", "да"], "trial": null}\\n'
    """
    plain = rows.astype(object).where(rows.notna(), None)
    return "".join(json.dumps(row, ensure_ascii=False, default=_plain) + "\n" for row in plain.to_dict("records"))


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def cell(text: str) -> str:
    """A text within a table of a card: one line, nothing that Markdown or HTML would read.

    Examples
    --------
    >>> cell("a|b\\n<i>")
    'a\\\\|b &lt;i>'
    """
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
