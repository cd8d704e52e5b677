"""The blocks of code of a document, and commands as a shell runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(document: str, section: str, language: str = "") -> list[str]:
    """The blocks of a section, by the words of its heading, that are marked with a language (by default with none)."""
    text = (ROOT / document).read_text(encoding="utf-8")
    code = _FENCED.findall(text)
    numbers = iter(range(len(code)))
    bare = _FENCED.sub(lambda _: f"\0{next(numbers)}", text)  # a comment of code looks like a heading
    (found,) = re.findall(rf"^#+ {re.escape(section)}\n(.*?)(?=^#+ |\Z)", bare, re.DOTALL | re.MULTILINE)
    return [code[int(n)][1] for n in re.findall(r"\0(\d+)", found) if code[int(n)][0] == language]


def pages() -> list[str]:
    """Every document that people read, but for the list of changes."""
    found = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))
    return ["README.md", "CONTRIBUTING.md", *found]


def code_blocks(document: str, language: str) -> list[str]:
    """All blocks of a document in a language."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [code for marked, code in _FENCED.findall(text) if marked == language]


def environment(home: Path, path: Path | None = None) -> dict[str, str]:
    """Of a user with a home of its own: nothing of evalbench's, of make's, of this environment or of a CI.

    ``path`` goes before ``PATH``; by default the folder of this Python's programs does.
    """
    left = ("EVALBENCH_", "PYTHON", "VIRTUAL_ENV", "MAKE", "MFLAGS", "DASK_", "GITHUB_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left)}
    kept |= {name: os.environ[name] for name in ("EVALBENCH_CACHE",) if name in os.environ}
    if "PIP_FIND_LINKS" in kept:
        kept.setdefault("UV_FIND_LINKS", kept["PIP_FIND_LINKS"])
    first = str(path or Path(sys.executable).parent)
    return {**kept, "PATH": f"{first}{os.pathsep}{kept['PATH']}", "HOME": str(home), "HF_HUB_OFFLINE": "1"}


def shell(script: str, folder: Path, *, home: Path, path: Path | None = None, codes: tuple[int, ...] = (0,)) -> str:
    """What a script prints that bash runs in a folder; it stops at the first command that fails."""
    words = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(words, cwd=folder, env=environment(home, path), capture_output=True, text=True, check=False)
    assert done.returncode in codes, f"{script}\n{done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-4000:]}"
    return done.stdout + done.stderr
