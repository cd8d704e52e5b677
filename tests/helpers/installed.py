"""The package as others install it: an environment without anything of this checkout, and commands that must succeed in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

UV = Path(sys.executable).parent / "uv"
NOT_THE_CHECKOUT_S = shutil.ignore_patterns(
    ".git", ".venv", "reports", "lab", "build", "dist", "*.egg-info", "__pycache__"
)


def environment() -> dict[str, str]:
    """Nothing of evalbench's, of make's or of this environment; offline folders of wheels as the Makefile names them."""
    left = ("EVALBENCH_", "PYTHON", "VIRTUAL_ENV", "MAKE", "MFLAGS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left)}
    if "PIP_FIND_LINKS" in kept:
        kept.setdefault("UV_FIND_LINKS", kept["PIP_FIND_LINKS"])
    return {**kept, "HF_HUB_OFFLINE": "1"}


def done(*words: str | Path, cwd: Path) -> str:
    ran = subprocess.run(
        [str(w) for w in words], cwd=cwd, env=environment(), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{words}\n{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}"
    return ran.stdout
