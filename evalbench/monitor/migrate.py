"""Older tables of a log store brought to those of this version, with their rows, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from evalbench.errors import BadInput
from evalbench.monitor.store import LogStore, changing
from evalbench.readers.log_store.log import version_of
from evalbench.readers.log_store.tables import VERSION, tables

if TYPE_CHECKING:
    import sqlalchemy as sa


def migrate(store: LogStore) -> tuple[int, int]:
    """Bring a store's tables to this version.

    Of several processes that do so at once one does it, the others find it done.  One that is killed leaves the old tables.

    Returns: The version before and after.

    Raises ``BadInput`` if there is no log store, or one of a newer version.
    """
    path = store.address.path
    if path and not path.is_file():
        raise BadInput(f"{path}: no such log store")
    with changing(store) as connection:
        before = version_of(connection)
        if before is None:
            raise BadInput(f"{store.address}: a database without a log store")
        if before > VERSION:
            raise BadInput(
                f"{store.address}: its tables are of version {before}, this evalbench knows {VERSION}: update evalbench"
            )
        for version in range(before, VERSION):
            if version not in _STEPS:
                raise BadInput(f"{store.address}: its tables are of version {before}, which no evalbench has written")
            _STEPS[version](connection)
        about = tables().about
        connection.execute(about.update().where(about.c.name == "version").values(value=str(VERSION)))
    return before, VERSION


def _from_1(connection: sa.Connection) -> None:
    """Version 1 knew no version of the prompt, no error, no name or comment of who gave feedback, and no losses."""
    added = {"interactions": ("prompt_version", "error"), "feedback": ("judge", "comment")}
    for table, columns in added.items():
        for column in columns:
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column} TEXT")
    connection.exec_driver_sql("CREATE INDEX interactions_by_client ON interactions (client)")
    tables().losses.create(connection)


_STEPS: Mapping[int, Callable[[sa.Connection], None]] = {1: _from_1}
