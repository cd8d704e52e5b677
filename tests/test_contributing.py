"""The code of CONTRIBUTING.md does what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"
METRIC, STUDY = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

USE_OF_METRIC = """
from evalbench.metrics.registry import card
from evalbench.metrics.text import score

entry = card("first_word")
given, expected = entry.example
assert score(entry, **given)["first_word"].tolist() == expected
assert score(entry, ["No", "да, да"], references=["yes", ["нет", "Да"]])["first_word"].tolist() == [0.0, 1.0]
"""
USE_OF_STUDY = """
import pandas as pd

from evalbench.draw.show import shown
from evalbench.readers.dataset import load

frame = pd.DataFrame({"id": ["c", "a", "b", "d"], "output": ["I cannot say.", "Yes.", "", "No."]})
result = evaluate(load({"items": frame}, SCHEMA))
assert result.estimate("refused").value == 0.25
assert result.light == "red"
assert summarise(result.items).estimates == result.summary.estimates
assert "<svg" in shown(picture_share(result)).html
with_null = evaluate(load({"items": frame.assign(output=["I cannot say.", None, "", "No."])}, SCHEMA))
assert with_null.estimate("refused").value == 1 / 3
assert with_null.notes == ("Unscored: 1 of 4 items (1 no output).",)
without = evaluate(load({"items": frame.assign(output=None)}, SCHEMA))
assert (without.light, without.estimate("refused").n_unscored) == ("grey", 4)
assert "<svg" in shown(picture_share(without)).html
"""


@pytest.mark.parametrize("code", [METRIC + USE_OF_METRIC, STUDY + USE_OF_STUDY], ids=["metric", "study"])
def test_the_example_works(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
