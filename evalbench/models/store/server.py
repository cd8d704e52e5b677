"""Replies that were paid for and claims on questions in PostgreSQL, for several machines at once."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.models.store.cache import Entries
from evalbench.models.store.claims import LIFETIME_S
from evalbench.readers.log_store.address import Address
from evalbench.readers.log_store.connection import to_server
from evalbench.readers.log_store.faults import INSTALL, of_postgresql

if TYPE_CHECKING:
    import psycopg

_REPLIES = """CREATE TABLE IF NOT EXISTS evalbench_replies (
    key text PRIMARY KEY, model text NOT NULL, host text NOT NULL,
    created double precision NOT NULL DEFAULT extract(epoch FROM clock_timestamp()), reply text NOT NULL
)"""
_CLAIMS = """CREATE TABLE IF NOT EXISTS evalbench_claims (
    key text PRIMARY KEY, owner text NOT NULL, expires timestamptz NOT NULL
)"""
_MAKING = 0x6576616C  # an advisory lock: two that make one table at once would fail
_INTO = "INSERT INTO evalbench_replies (key, model, host, reply) VALUES (%s, %s, %s, %s) ON CONFLICT (key)"
_INSTEAD = (
    "DO UPDATE SET model = excluded.model, host = excluded.host, created = excluded.created, reply = excluded.reply"
)
# In the order of the keys: two owners that take the same ones in another order would wait for each other.
_TAKE = """INSERT INTO evalbench_claims (key, owner, expires)
    SELECT key, %(owner)s, clock_timestamp() + %(seconds)s * interval '1 second' FROM unnest(%(keys)s::text[]) AS key ORDER BY key
    ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, expires = excluded.expires
    WHERE evalbench_claims.expires < clock_timestamp() RETURNING key"""
_RENEW = "UPDATE evalbench_claims SET expires = clock_timestamp() + %s * interval '1 second' WHERE owner = %s"


class Server:
    """A connection that is opened again after it broke; everything is a transaction of its own.

    Raises ``BadInput`` if the server cannot be reached, refuses the user, or if psycopg is not installed.
    """

    def __init__(self, place: Address, table: str, name: str) -> None:
        self.place = place
        self._open: psycopg.Connection[Any] | None = None
        with self.connected() as connection:
            if connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()[0] is None:
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
                    connection.execute(table)

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """The connection; what goes wrong at the server is one message.

        Raises ``BadInput`` if the server is away, full or refuses.
        """
        try:
            import psycopg
        except ModuleNotFoundError as error:
            raise BadInput(f"replies in PostgreSQL need the package psycopg: {INSTALL}") from error
        try:
            if self._open is None or self._open.closed:
                self._open = to_server(self.place.url)
                self._open.autocommit = True
            yield self._open
        except psycopg.Error as error:
            told = of_postgresql(error, self.place)
            if told is None:
                raise
            raise BadInput(f"the replies at {told}") from error

    def close(self) -> None:
        if self._open is not None:
            self._open.close()


class ServerReplies:
    """Replies by the SHA-256 of their request in a database, as :class:`~evalbench.models.store.cache.ReplyCache` has them in a file.

    - ``place``: The database; its table ``evalbench_replies`` is made if it is not there.

    Notes
    -----
    One object serves one thread.
    """

    def __init__(self, place: Address) -> None:
        self._server = Server(place, _REPLIES, "evalbench_replies")

    def get_many(self, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The kept replies among these keys. A damaged row counts as not there."""
        with self._server.connected() as connection:
            rows = connection.execute(
                "SELECT key, reply FROM evalbench_replies WHERE key = ANY(%s)", (list(keys),)
            ).fetchall()
        for key, reply in rows:
            try:
                kept = json.loads(reply)
            except (ValueError, RecursionError):
                continue
            if isinstance(kept, dict):
                yield key, kept

    def put(self, key: str, model: str, host: str, reply: dict[str, Any]) -> None:
        """Keep a reply, in place of a row that could not be read or held no answer."""
        self.put_many([(key, model, host, reply)], instead=True)

    def put_many(self, entries: Iterable[tuple[str, str, str, dict[str, Any]]], *, instead: bool = False) -> None:
        """Keep several replies in one transaction: those that are new, or all of them ``instead`` of what is there."""
        rows = sorted((key, model, host, json.dumps(reply)) for key, model, host, reply in entries)
        with self._server.connected() as connection, connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(f"{_INTO} {_INSTEAD if instead else 'DO NOTHING'}", rows)

    def entries(self) -> list[Entries]:
        """What is kept, by model and endpoint."""
        with self._server.connected() as connection:
            rows = connection.execute(
                "SELECT model, host, count(*), sum(octet_length(reply)), min(created), max(created)"
                " FROM evalbench_replies GROUP BY model, host ORDER BY model, host"
            ).fetchall()
        return [Entries(*row) for row in rows]

    def prune(self, *, model: str | None = None, before: float | None = None) -> int:
        """Remove the replies of a model, those from before a time (seconds since 1970), or both conditions; all without.

        Returns: How many were removed.
        """
        with self._server.connected() as connection:
            asked = "DELETE FROM evalbench_replies WHERE (%s::text IS NULL OR model = %s) AND (%s::float8 IS NULL OR created < %s)"
            return int(connection.execute(asked, (model, model, before, before)).rowcount)

    def size(self) -> int:
        """Bytes on the server's disk."""
        with self._server.connected() as connection:
            return int(connection.execute("SELECT pg_total_relation_size('evalbench_replies')").fetchone()[0])

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> ServerReplies:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ServerClaims:
    """One owner's claims in a database, as :class:`~evalbench.models.store.claims.Claims` has them in a file.

    A claim ends by the server's clock; so those of a machine that is gone are free again after :data:`LIFETIME_S`, however
    the clocks of the machines differ.
    """

    def __init__(self, place: Address) -> None:
        self._server = Server(place, _CLAIMS, "evalbench_claims")
        self._owner = secrets.token_hex(8)

    def take(self, keys: Sequence[str]) -> set[str]:
        """Those of these keys that are this owner's from now on: nobody else who lives has claimed them."""
        asked = {"owner": self._owner, "seconds": LIFETIME_S, "keys": list(keys)}
        with self._server.connected() as connection:
            return {key for (key,) in connection.execute(_TAKE, asked).fetchall()}

    def renew(self) -> None:
        """Keep all claims for another while."""
        self._run(_RENEW, (LIFETIME_S, self._owner))

    def release(self, key: str) -> None:
        """Give up one claim: no reply came, and whoever waits for it may ask."""
        self._run("DELETE FROM evalbench_claims WHERE key = %s AND owner = %s", (key, self._owner))

    def _run(self, query: str, values: tuple[Any, ...]) -> None:
        with self._server.connected() as connection:
            connection.execute(query, values)

    def __enter__(self) -> ServerClaims:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(BadInput):  # where the server is away, the claims end by themselves
            self._run("DELETE FROM evalbench_claims WHERE owner = %s", (self._owner,))
        self._server.close()
