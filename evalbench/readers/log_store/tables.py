"""The tables of a log store.

Times are microseconds since 1970 in UTC, texts as :mod:`~evalbench.readers.log_store.texts` keeps them, ``stages`` JSON.
``seq`` numbers rows in the order of their arrival and is never used again; ``client`` is a keyed hash.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlalchemy as sa

VERSION = 2
"""Of the tables; :mod:`evalbench.monitor.migrate` brings older ones here."""
ABOUT = "evalbench_log"
INTERACTIONS = (
    "id", "client", "ts", "request", "response", "stages", "model", "prompt_version", "latency", "input_tokens",
    "output_tokens", "cost", "error",
)  # fmt: skip
IN_FRAMES = {"ts": "time", "request": "question", "response": "answer"}
"""Columns of interactions → what they are called where a study reads them; the others have one name."""
FEEDBACK = ("id", "interaction", "ts", "source", "judge", "value", "comment")
LOSSES = ("id", "ts", "since", "until", "process", "reason", "rows", "first")
SOURCES = ("user", "annotator", "judge")
TEXTS = frozenset(
    {"id", "request", "response", "stages", "model", "prompt_version", "error", "interaction", "judge", "comment", "process", "first"}
)  # fmt: skip
"""Columns that are escaped."""
TIMES = frozenset({"ts", "since", "until"})
WHOLE = frozenset({"input_tokens", "output_tokens", "rows"})
NUMBERS = frozenset({"latency", "cost", "value"})


class Tables(NamedTuple):
    """SQLAlchemy's tables; ``about`` holds names and values, among them the version."""

    metadata: sa.MetaData
    interactions: sa.Table
    feedback: sa.Table
    losses: sa.Table
    about: sa.Table


@functools.cache
def tables() -> Tables:
    import sqlalchemy as sa

    metadata = sa.MetaData()

    def made(name: str, *columns: sa.Column[object] | sa.Index) -> sa.Table:
        number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
        seq = sa.Column("seq", number, sa.Identity(), primary_key=True)
        # Without its own counter SQLite would give the number of a row that was forgotten to the next one.
        return sa.Table(name, metadata, seq, *columns, sqlite_autoincrement=True, implicit_returning=False)

    def text(name: str, *, needed: bool = False, unique: bool = False) -> sa.Column[object]:
        return sa.Column(name, sa.Text, nullable=not needed, unique=unique)

    def whole(name: str, *, needed: bool = False) -> sa.Column[object]:
        return sa.Column(name, sa.BigInteger, nullable=not needed)

    def number(name: str) -> sa.Column[object]:
        return sa.Column(name, sa.Double)

    return Tables(
        metadata,
        made(
            "interactions",
            text("id", needed=True, unique=True),
            text("client"),
            whole("ts", needed=True),
            text("request", needed=True),
            text("response"),
            text("stages"),
            text("model"),
            text("prompt_version"),
            number("latency"),
            whole("input_tokens"),
            whole("output_tokens"),
            number("cost"),
            text("error"),
            sa.Index("interactions_by_time", "ts", "seq"),
            sa.Index("interactions_by_client", "client"),
        ),
        made(
            "feedback",
            text("id", needed=True, unique=True),
            text("interaction", needed=True),
            whole("ts", needed=True),
            text("source", needed=True),
            text("judge"),
            number("value"),
            text("comment"),
            sa.Index("feedback_by_time", "ts", "seq"),
            sa.Index("feedback_by_interaction", "interaction"),
        ),
        made(
            "losses",
            text("id", needed=True, unique=True),
            whole("ts", needed=True),
            whole("since"),
            whole("until"),
            text("process"),
            text("reason", needed=True),
            whole("rows", needed=True),
            text("first"),
        ),
        sa.Table(
            ABOUT, metadata, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False)
        ),
    )
