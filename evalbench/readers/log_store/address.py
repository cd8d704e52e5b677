"""Where a log store is: a file of SQLite, or a database of PostgreSQL by its URL, without passwords."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from evalbench.errors import BadInput

HEADER = b"SQLite format 3\0"
_POSTGRESQL = ("postgresql", "postgres", "postgresql+psycopg")
SCHEMES = ("sqlite", *_POSTGRESQL)
_OPTIONS = frozenset(
    {"user", "host", "port", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "channel_binding",
     "target_session_attrs", "connect_timeout", "application_name", "options", "service", "keepalives", "keepalives_idle",
     "gssencmode"}
)  # fmt: skip
_KEYS_ELSEWHERE = (
    "the user comes from PGUSER or ?user=NAME, the password from PGPASSWORD or ~/.pgpass, so that it is in no file"
)


class Address(NamedTuple):
    """A log store's place.

    - ``path``: Of the SQLite file.
    - ``url``: As libpq reads it; empty for a file.
    """

    path: Path | None
    url: str = ""

    def __str__(self) -> str:
        return str(self.path) if self.path else self.url

    @property
    def name(self) -> str:
        """What a reader needs to know of it: the name of the file, or server and database; no folder, user or option.

        Examples
        --------
        >>> Address(Path("/srv/logs/may.sqlite")).name
        'may.sqlite'
        >>> Address(None, "postgresql://db.example/logs?user=reader").name
        'postgresql://db.example/logs'
        """
        return self.path.name if self.path else self.url.partition("?")[0]

    @property
    def named(self) -> str:
        """A text that :func:`address_of` reads, whatever the folder it is read in."""
        return f"sqlite:///{quote(self.path.absolute().as_posix())}" if self.path else self.url


def scheme_of(text: str) -> str:
    """The scheme of a log store's URL, or nothing.

    Examples
    --------
    >>> scheme_of("postgresql://db.example/logs"), scheme_of("sqlite:///logs.sqlite"), scheme_of("https://db.example")
    ('postgresql', 'sqlite', '')
    """
    scheme = text.partition("://")[0].lower()
    return scheme if "://" in text and scheme in SCHEMES else ""


def is_log_store(data: object) -> bool:
    """Whether a text or path names a log store: by its URL, or by the first bytes of a file of SQLite.

    Examples
    --------
    >>> is_log_store("postgresql://db.example/logs"), is_log_store("items.csv"), is_log_store({"items": []})
    (True, False, False)
    """
    if not isinstance(data, str | Path):
        return False
    if isinstance(data, str) and scheme_of(data):
        return True
    try:
        with Path(data).expanduser().open("rb") as file:
            return file.read(len(HEADER)) == HEADER
    except (OSError, ValueError):
        return False


def address_of(store: str | Path) -> Address:
    """The place that a path or URL names.

    - ``store``: A path; ``sqlite:///relative/path`` or ``sqlite:////absolute/path``;
      ``postgresql://host:port/database?user=name``.

    Raises ``BadInput`` for a URL with a user or password in it, one of another database, or one that libpq could not
    read.

    Examples
    --------
    >>> address_of("sqlite:///logs/may.sqlite").path.as_posix()
    'logs/may.sqlite'
    >>> str(address_of("postgresql://db.example/logs?user=reader"))
    'postgresql://db.example/logs?user=reader'
    """
    if isinstance(store, Path):
        return Address(_a_file(store))
    text = store.strip()
    scheme = scheme_of(text)
    if not text or "\0" in text:
        raise BadInput("a log store is a file, or a URL such as postgresql://host/database")
    if not scheme:
        if "://" in text:
            other = text.partition("://")[0]
            raise BadInput(
                f"{other}://…: a log store is a file of SQLite, sqlite:///FILE, or postgresql://HOST/DATABASE"
            )
        return Address(_a_file(Path(text)))
    return _of_file(text) if scheme == "sqlite" else _of_server(text)


def _a_file(path: Path) -> Path:
    path = path.expanduser()
    if path.is_dir():
        raise BadInput(f"{path}: is a folder, expected a file of SQLite")
    return path


def _of_file(text: str) -> Address:
    rest = text.partition("://")[2]
    place, _, query = rest.partition("?")
    if not place.startswith("/") or len(place) < 2:
        raise BadInput("sqlite://…: expected sqlite:///FILE, or sqlite:////FOLDER/FILE with a path from the root")
    if query:
        raise BadInput("sqlite:///…: options after ? are not read")
    path = unquote(place[1:])
    if path == ":memory:":
        raise BadInput("sqlite:///:memory:: a log that other processes read has to be a file")
    return Address(_a_file(Path(path)))


def _of_server(text: str) -> Address:
    hidden = f"{text.partition('://')[0]}://…"
    rest = text.partition("://")[2]
    authority = rest.partition("?")[0].partition("/")[0]
    if "@" in rest.partition("?")[0]:
        raise BadInput(f"{hidden}: a user or password in the address is refused; {_KEYS_ELSEWHERE}")
    try:
        parts = urlsplit(f"postgresql://{rest}")
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        _ = parts.port if "," not in authority else None
    except ValueError:
        raise BadInput(f"{hidden}: not an address such as postgresql://host:5432/database?user=name") from None
    names = [name.lower() for name, _ in pairs]
    if secret := [name for name in names if "password" in name or "passfile" in name]:
        raise BadInput(f"{hidden}: {', '.join(secret)} in the address is refused; {_KEYS_ELSEWHERE}")
    if unknown := [name for name in names if name not in _OPTIONS]:
        raise BadInput(f"{hidden}: unknown option {', '.join(unknown)}; known are {', '.join(sorted(_OPTIONS))}")
    if parts.fragment:
        raise BadInput(f"{hidden}: nothing may follow a # in the address of a log store")
    return Address(None, f"postgresql://{rest}")
