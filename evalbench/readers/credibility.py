"""Which kind of source a host is, and how credible that kind: a list that ships with the package, or one's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from evalbench.errors import BadInput

SHIPPED = Path(__file__).with_name("credibility.yaml")


class Credibility(NamedTuple):
    """Kinds of sources with their scores, and the hosts of each kind."""

    kinds: Mapping[str, float]
    hosts: Mapping[str, str]

    def kind(self, url: str, stated: str = "") -> str:
        """The kind of a source: as stated, by its host or a parent of it, else ``unknown``."""
        if stated in self.kinds:
            return stated
        try:
            labels = (urlsplit(url).hostname or "").split(".")
        except ValueError:
            labels = []
        parents = (".".join(labels[i:]) for i in range(len(labels)))
        return next((self.hosts[p] for p in parents if p in self.hosts), "unknown")


def read_credibility(path: str = "") -> Credibility:
    """The list of kinds and hosts, shipped or one's own.

    Raises ``BadInput`` if the file cannot be read or is not of the form of the shipped one; lists all faults.
    """
    import yaml

    file = Path(path).expanduser() if path else SHIPPED
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"credibility_file {file}: {error}") from error
    kinds = content.get("kinds") if isinstance(content, dict) else None
    hosts = content.get("hosts") if isinstance(content, dict) else None
    if not isinstance(kinds, dict) or not isinstance(hosts, dict):
        raise BadInput(f"credibility_file {file}: expected the mappings kinds and hosts")
    faults = [f"kind {k}: {v!r} is not a number from 0 to 1" for k, v in kinds.items() if not _is_share(v)]
    faults += [f"hosts of {k}: no such kind" for k in hosts if k not in kinds]
    faults += [f"hosts of {k}: expected a list of texts" for k, v in hosts.items() if not _are_texts(v)]
    faults += [] if "unknown" in kinds else ["kinds lacks unknown"]
    if faults:
        raise BadInput.listing(f"credibility_file {file}:", faults)
    return Credibility(
        {k: float(v) for k, v in kinds.items()}, {h.lower(): kind for kind, listed in hosts.items() for h in listed}
    )


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in value)
