"""A disk cache of embedding vectors: one SQLite file, keyed by (model, dtype, hash of the text)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evalbench.errors import BadInput
from evalbench.models.cache import cache_folder

if TYPE_CHECKING:
    import numpy.typing as npt

_TABLE = """CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL, dtype TEXT NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (model, dtype, text))"""
_IN_ONE_QUERY = 500


def vector_cache_file() -> Path:
    """``vectors.sqlite`` in ``EVALBENCH_CACHE``, or in the user's cache folder."""
    return cache_folder() / "vectors.sqlite"


@contextlib.contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise BadInput(
            f"the cache file {path} cannot be written ({error.strerror}): set EVALBENCH_CACHE to a folder that can"
        ) from error
    connection = sqlite3.connect(path, timeout=60)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(_TABLE)
        yield connection
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise BadInput(
            f"the vector cache {path} is damaged ({error}): delete the file, it will be filled again"
        ) from error
    finally:
        connection.close()


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def read_vectors(
    path: Path, model: str, dtype: str, texts: Sequence[str]
) -> dict[str, npt.NDArray[np.float32]]:
    """The cached vectors of those texts that have one."""
    by_key = {_key(text): text for text in texts}
    keys = list(by_key)
    found: dict[str, npt.NDArray[np.float32]] = {}
    with _connection(path) as connection:
        for start in range(0, len(keys), _IN_ONE_QUERY):
            part = keys[start : start + _IN_ONE_QUERY]
            marks = ",".join("?" * len(part))
            rows = connection.execute(
                f"SELECT text, vector FROM vectors WHERE model=? AND dtype=? AND text IN ({marks})",  # noqa: S608
                (model, dtype, *part),
            )
            found.update((by_key[key], np.frombuffer(vector, dtype="<f4")) for key, vector in rows)
    if len({len(v) for v in found.values()}) > 1:
        raise BadInput(
            f"the vector cache {path} is damaged (vectors of {model} differ in length): delete the file"
        )
    return found


def write_vectors(path: Path, model: str, dtype: str, vectors: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """Keep vectors; one that is there already stays, so that equal runs read equal bytes."""
    rows = [(model, dtype, _key(text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()]
    with _connection(path) as connection, connection:
        connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", rows)
