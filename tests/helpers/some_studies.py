"""The studies that a law is tried on: in `make test` a few of different kinds and those just changed, in `make check` all."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from generated import VARIABLE

ROOT = Path(__file__).resolve().parents[2]
# Answers to one question each; several tables that are matched; two samples; a procedure of stages; scores of another tool.
KINDS = ("cot_levels", "matching", "drift", "cascade", "imported")
QUICK = ("cot_levels", "matching", "imported")  # those of them that `make test` has time for
CHANGED = "EVALBENCH_TEST_STUDIES"  # set once, by the process that starts the others: all must collect the same tests


def some_studies(names: Iterable[str], in_check: Iterable[str] | None = None) -> list[str]:
    """Those of the studies that a law is tried on, at least two; all of them where ``make check`` asks for all.

    Where all take minutes and most go the same way, ``in_check`` names those that ``make check`` tries beside the ones of
    each kind, and ``make soak`` tries all. Mark the test with ``generated``, or ``make check`` does not run it.
    """
    every = list(names)
    asked = os.environ.get(VARIABLE)
    if asked:
        some = every if in_check is None or asked == "soak" else [*KINDS, *in_check]
        return [name for name in every if name in some]
    wanted = {*QUICK, *os.environ.get(CHANGED, "").split()}
    some = {*wanted.intersection(every)}
    some.update(name for name in every[:2] if len(some) < 2)
    return [name for name in every if name in some]


def of_another_study(path: Path) -> bool:
    """Whether a file holds the tests of one study that is neither among the quick ones nor just changed."""
    own = studies_of([path.relative_to(ROOT).as_posix()] if path.is_relative_to(ROOT) else [])
    return bool(own) and not {*own} & {*QUICK, *os.environ.get(CHANGED, "").split()}


def changed_studies() -> list[str]:
    """Studies with a file that differs from the last commit: code, notebook, or a test; none outside a clone.

    >>> studies_of(["evalbench/studies/needle/items.py", "tests/studies/test_ner_quality_input.py", "README.md"])
    ['needle', 'ner_quality']
    """
    try:
        asked = ["git", "status", "--porcelain", "--no-renames", "--untracked-files=all"]
        said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return studies_of(line[3:].strip('"') for line in said.splitlines())


def studies_of(paths: Iterable[str]) -> list[str]:
    known = sorted((p.stem for p in (ROOT / "notebooks").glob("*.ipynb")), key=len, reverse=True)
    place = re.compile(rf"(?:evalbench/studies/|notebooks/|tests/studies/test_)({'|'.join(known)})(?:[/._]|$)")
    return sorted({match[1] for path in paths if (match := place.match(path))})
