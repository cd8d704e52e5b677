"""Whether a numeric address lies in the public internet, whatever it is wrapped in."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

# What some versions of the ipaddress module call global: site-local, 6to4 relays, documentation; metadata services of
# Oracle's (192.0.0.192) and Azure's cloud (168.63.129.16); blocks of the AS112 project and of automatic multicast tunnels.
_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        (
            "fec0::/10", "192.88.99.0/24", "3fff::/20", "192.0.0.0/24", "168.63.129.16/32", "192.31.196.0/24",
            "192.52.193.0/24", "192.175.48.0/24", "2620:4f:8000::/48",
        ),
    )
)  # fmt: skip


def is_public(address: str) -> bool:
    """Whether an address lies in the public internet; addresses wrapped in IPv6 are unwrapped first.

    Examples
    --------
    >>> [is_public(a) for a in ("1.1.1.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False, False, False]
    """
    parsed = ipaddress.ip_address(address.split("%")[0])
    if any(parsed in network for network in _NOT_PUBLIC):
        return False
    for inner in _wrapped(parsed):
        if not is_public(str(inner)):
            return False
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        return True
    return parsed.is_global and not (parsed.is_multicast or parsed.is_reserved)


def _wrapped(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Iterable[ipaddress.IPv4Address]:
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in ipaddress.ip_network("64:ff9b::/96") or ((int(address) >> 32) == 0 and int(address) > 1):
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [a for a in inner if a is not None]
