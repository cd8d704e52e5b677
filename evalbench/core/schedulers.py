"""Who works on parts of a table: the environment variables that say so, and the address of a Dask scheduler."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from evalbench.errors import BadInput

SCHEDULER = "EVALBENCH_SCHEDULER"
"""The environment variable with the address of a Dask scheduler, whose workers see the files under the same paths."""
PROCESSES = "EVALBENCH_PROCESSES"
"""The environment variable with the number of processes of this machine, where it is not that of its cores."""


def checked_address(address: str, given_as: str = "--scheduler") -> str:
    """A scheduler's address; other machines only over TLS.

    Parameters
    ----------
    given_as : str
        How it was given, for messages.

    Raises
    ------
    BadInput
        For any other scheme, or ``tcp://`` to anything but this machine.

    Examples
    --------
    >>> checked_address("tcp://127.0.0.1:8786")
    'tcp://127.0.0.1:8786'
    """
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("tls", "tcp") or not parts.hostname or port is None:
        raise BadInput(f"{given_as} {address}: expected tls://HOST:PORT (or tcp://127.0.0.1:PORT)")
    if parts.username or parts.password:
        raise BadInput(f"{given_as}: an address with a user or password in it is refused")
    if parts.scheme == "tcp" and not is_loopback(parts.hostname):
        raise BadInput(
            f"{given_as} {address}: plain tcp:// carries code and data unprotected and is only for this machine; "
            "use tls:// (docs/batches.md says how)"
        )
    return parts.geturl()


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
