"""A disk cache of embedding vectors: one SQLite file, keyed by (model, dtype, hash of the text)."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evalbench.errors import BadInput
from evalbench.models.store.cache import cache_folder, faults_told, open_database, writing

if TYPE_CHECKING:
    import numpy.typing as npt

_TABLE = """CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL, dtype TEXT NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (model, dtype, text))"""
_IN_ONE_QUERY = 500


def vector_cache_file() -> Path:
    """``vectors.sqlite`` in ``EVALBENCH_CACHE``, or in the user's cache folder."""
    return cache_folder() / "vectors.sqlite"


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def read_vectors(path: Path, model: str, dtype: str, texts: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
    """The cached vectors of those texts that have one; a damaged row counts as not there."""
    by_key = {_key(text): text for text in texts}
    keys = list(by_key)
    found: dict[str, npt.NDArray[np.float32]] = {}
    with contextlib.closing(open_database(path, _TABLE)) as connection, faults_told(path):
        for start in range(0, len(keys), _IN_ONE_QUERY):
            part = keys[start : start + _IN_ONE_QUERY]
            marks = ",".join("?" * len(part))
            rows = connection.execute(
                f"SELECT text, vector FROM vectors WHERE model=? AND dtype=? AND text IN ({marks})",  # noqa: S608
                (model, dtype, *part),
            )
            found.update((by_key[key], np.frombuffer(vector, dtype="<f4")) for key, vector in rows if _is_whole(vector))
    if len({len(v) for v in found.values()}) > 1:
        raise BadInput(f"the cache {path} is damaged (vectors of {model} differ in length): delete the file")
    return found


def write_vectors(path: Path, model: str, dtype: str, vectors: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """Keep vectors; a whole one that is there already stays, so that equal runs read equal bytes."""
    rows = [(model, dtype, _key(text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()]
    with contextlib.closing(open_database(path, _TABLE)) as connection, writing(connection, path):
        connection.executemany(
            "INSERT INTO vectors VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET vector=excluded.vector"
            " WHERE typeof(vectors.vector) <> 'blob' OR length(vectors.vector) % 4 OR length(vectors.vector) = 0",
            rows,
        )


def _is_whole(vector: object) -> bool:
    """As :func:`write_vectors` reports it."""
    return isinstance(vector, bytes) and len(vector) % 4 == 0 and len(vector) > 0
