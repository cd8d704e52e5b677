"""Folders for Unix sockets, whose addresses may be about a hundred characters long."""

from __future__ import annotations

import os
import tempfile

from evalbench.errors import BadInput

_LONGEST = 90  # of a folder; Linux takes addresses of 107 characters, macOS of 103, and a socket has a name


def short_folder() -> str:
    """A fresh folder, which only this user may enter, with a path short enough for sockets: wherever TMPDIR is.

    Raises ``BadInput`` where neither /tmp nor /var/tmp can be written and the folder for temporary files has a long
    path.
    """
    base = next((known for known in ("/tmp", "/var/tmp") if os.access(known, os.W_OK)), tempfile.gettempdir())  # noqa: S108
    folder = tempfile.mkdtemp(prefix="eb-", dir=base)
    if len(os.fsencode(folder)) > _LONGEST:
        os.rmdir(folder)
        raise BadInput(
            f"{base}: its path is too long for the sockets of a kernel ({len(os.fsencode(folder))} of {_LONGEST} bytes) "
            "and /tmp cannot be written; set TMPDIR to a folder with a shorter path"
        )
    return folder
