"""The documents that a judge may search: the data set's, a file of texts or a folder of them, in passages of bounded length."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from evalbench.errors import BadInput
from evalbench.judge.agent.bm25 import Bm25
from evalbench.readers.decoded import decoded
from evalbench.readers.files import raw_table, read_bytes
from evalbench.text.chunks import chunk_spans

PASSAGE = 1500
MOST_PASSAGES = 200_000
_TEXTS = (".txt", ".md", ".rst")
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
_COLUMNS = ("text", "passage", "document", "content", "body", "chunk")
_RANKED = 60
_FUSION = 60


@dataclass(frozen=True)
class Piece:
    """A passage of a document and where it comes from; ``of_data``: it is one of the data set's documents."""

    source: str
    text: str
    of_data: bool = False


class Corpus:
    """Passages and their index; ``embed`` names an embedding model that searches beside BM25.

    The two rankings are fused by reciprocal ranks, 1 / (60 + rank) each.

    References
    ----------
    Cormack, Clarke & Büttcher (2009), Reciprocal rank fusion outperforms Condorcet and individual rank learning methods.
    """

    def __init__(self, pieces: Sequence[Piece], embed: str = "") -> None:
        self.pieces = tuple(pieces)
        self._words = Bm25([piece.text for piece in pieces])
        self.embed = embed

    def best(self, query: str, k: int) -> list[int]:
        """The places of the best passages for a query, best first."""
        rankings = [self._words.best(query, _RANKED)]
        if self.embed and self.pieces and query.strip():
            rankings.append(self._by_meaning(query))
        worth: dict[int, float] = {}
        for ranking in rankings:
            for rank, place in enumerate(ranking, start=1):
                worth[place] = worth.get(place, 0.0) + 1 / (_FUSION + rank)
        return sorted(worth, key=lambda place: (-worth[place], place))[:k]

    def _by_meaning(self, query: str) -> list[int]:
        from evalbench.models.similarity.embed import embed
        from evalbench.models.similarity.search import exact_nearest

        found = exact_nearest(self._vectors, embed([query], self.embed), min(_RANKED, len(self.pieces)))
        return [int(place) for place in found.places[0]]

    @functools.cached_property
    def _vectors(self):  # type: ignore[no-untyped-def]
        from evalbench.models.similarity.embed import embed

        return embed([piece.text for piece in self.pieces], self.embed)


def corpus_of(path: str, embed: str = "", documents: Sequence[tuple[str, str]] = ()) -> Corpus:
    """The corpus of a file or folder, and of the data set's documents; empty without either.

    Parameters
    ----------
    documents : sequence of (str, str)
        Name and text of each; a text that another has is left out.

    Raises
    ------
    BadInput
        If nothing there can be read as documents, or with all files that cannot.
    """
    return _corpus(str(Path(path).expanduser().resolve()) if path else "", embed, tuple(documents))


@functools.lru_cache(maxsize=4)
def _corpus(path: str, embed: str, documents: tuple[tuple[str, str], ...]) -> Corpus:
    pieces = list(_pieces(Path(path))) if path else []
    once = {text: name for name, text in reversed(documents) if text.strip()}
    cut = (
        Piece(name, text[start:end], of_data=True)
        for text, name in reversed(once.items())
        for start, end in chunk_spans(text, PASSAGE)
    )
    pieces += islice(cut, MOST_PASSAGES + 1)
    if len(pieces) > MOST_PASSAGES:
        raise BadInput(
            f"the documents that a judge may search are more than {MOST_PASSAGES:,} passages of {PASSAGE:,} characters"
        )
    return Corpus(pieces, embed)


def _pieces(path: Path) -> Iterator[Piece]:
    files = (
        sorted(one for one in path.rglob("*") if one.suffix.lower() in (*_TEXTS, *_TABLES)) if path.is_dir() else [path]
    )
    if not files:
        raise BadInput(f"{path}: the folder holds no documents ({', '.join((*_TEXTS, *_TABLES))})")
    count = 0
    for file in files:
        for source, text in _documents(file, file.name if path.is_file() else str(file.relative_to(path))):
            for start, end in chunk_spans(text, PASSAGE):
                count += 1
                if count > MOST_PASSAGES:
                    raise BadInput(
                        f"{path}: more than {MOST_PASSAGES:,} passages of {PASSAGE:,} characters; name a part of it"
                    )
                yield Piece(source, text[start:end])


def _documents(file: Path, name: str) -> Iterator[tuple[str, str]]:
    raw = read_bytes(file)
    if file.suffix.lower() not in _TABLES:
        yield name, decoded(file, raw)[0]
        return
    frame, _ = raw_table(file, raw)
    column = next((one for one in _COLUMNS if one in frame), None)
    if column is None:
        raise BadInput(f"{file}: no column of texts; expected one of {', '.join(_COLUMNS)}")
    for place, text in enumerate(frame[column], start=1):
        if isinstance(text, str) and text.strip():
            yield f"{name}, row {place}", text
