"""A workbench with one small notebook, fast enough to run by the dozen."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PARAMETERS = """data: str = "words.csv"  # a file
k: int = 1  # what varies
sleep: float = 0.0  # seconds
killer: str = ""  # a file: where it is not there yet, it is made and the worker is killed
fail: bool = False  # raise"""
CODE = """import hashlib, json, os, pathlib, signal, time
import pandas as pd
from evalbench import record
from evalbench.core.result import DataLabel, Estimate, Result, Summary
from evalbench.core.verdict import Verdict

folder = pathlib.Path(os.environ["EVALBENCH_RUN"])
if killer and not pathlib.Path(killer).exists():
    pathlib.Path(killer).write_text(str(os.getpid()))
    time.sleep(0.5)
    os.kill(json.loads((folder / "run.json").read_text())["process"], signal.SIGKILL)
    time.sleep(60)
time.sleep(sleep)
if fail:
    raise ValueError("asked to fail")
raw = pathlib.Path(data).read_bytes()
words = raw.decode().split()
light = "red" if k == 13 else "green"
figure = Estimate(metric="length", value=len(words) + k / 1000, ci_low=len(words) - 1, ci_high=len(words) + 1, n=len(words), light=light,
                  higher_is_better=True)
items = pd.DataFrame({"id": [str(i) for i in range(len(words))], "n": [len(w) for w in words], "unscored": "", "undefined": ""})
result = Result(study="tiny", question="How many words?", judged="nobody", parameters={"k": k, "data": data},
                data=DataLabel(pathlib.Path(data).name, "", hashlib.sha256(raw).hexdigest()), id="id", items=items,
                summary=Summary((figure,), Verdict(light, f"{len(words)} words", "")))"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A folder with ``tiny.ipynb``, ``words.csv`` and what makes it a workbench."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "catalog.yaml").write_text("{}\n", encoding="utf-8")
    cells = [
        new_markdown_cell("# Words"),
        new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
        new_code_cell(CODE),
        new_code_cell('from evalbench import show\nshow(items, f"Words of {data}")'),
        new_code_cell("record(result)"),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(book, tmp_path / "notebooks" / "tiny.ipynb")
    (tmp_path / "words.csv").write_text("a few words of an invented text\n", encoding="utf-8")
    return tmp_path
