"""``evalbench view``."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import socket
from pathlib import Path
from urllib.parse import quote

import click

from evalbench.commands.options import ROOT_OF_RUN
from evalbench.core.schedulers import is_loopback
from evalbench.errors import BadInput

LOOPBACK = "127.0.0.1"


@click.command("view")
@click.argument("run", metavar="[RUN|REPORTS]", required=False, type=click.Path(path_type=str))
@click.option("--items", "where", default="", help="A filter to begin with, such as 'model=oak score<0.5'.")
@click.option(
    "--host",
    default=LOOPBACK,
    show_default=True,
    help="An address of this machine; others may ask it only with --token-file.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port (default: any that is free).")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="A file with the token of the address (default: a new one, printed).",
)
@click.option(
    "--pack", type=click.Path(path_type=Path), help="Write a folder that opens in a browser without a server, and end."
)
@click.option("--open/--no-open", "opens", default=True, show_default=True, help="Whether to open the browser.")
@ROOT_OF_RUN
def view(
    run: str | None,
    where: str,
    host: str,
    port: int,
    token_file: Path | None,
    pack: Path | None,
    opens: bool,
    root: Path | None,
) -> None:
    """Explore runs in the browser: the items behind each figure, their distributions, other thresholds.

    RUN is a run's folder or id, REPORTS a folder of runs; without either all runs of the workbench are listed. The server ends with Ctrl-C. It answers this
    machine only; with --host and --token-file also others who know the token, over plain HTTP.

    \b
    evalbench view reports/needle/A --items 'model=fern-1b contains=false'
    evalbench view reports/needle/A --pack for-anna
    evalbench view --host 10.0.0.5 --port 8800 --token-file token
    """
    try:
        import duckdb  # noqa: F401 - asked for before the server starts
        import uvicorn
    except ImportError:
        raise BadInput("evalbench view needs packages of its own: pip install 'evalbench[view]'") from None
    from evalbench import workbench
    from evalbench.explorer.reports import Explorer
    from evalbench.explorer.server import app
    from evalbench.readers.runs import run_folder

    reports = workbench.reports(root)
    if run and any(Path(run).glob("*/*/run.json")):
        reports, run = Path(run).resolve(), None
    folder = run_folder(run, reports) if run else None
    if pack is not None:
        _packed(folder, pack, where)
        return
    token = _token_of(token_file, host)
    explorer = Explorer(folder.parent.parent if folder else reports)
    fragment = ""
    if folder:
        name = f"{folder.parent.name}/{folder.name}"
        explorer.rows(name).count(where)  # a fault is told here, not in the browser
        fragment = f"#run={quote(name, safe='')}" + (f"&where={quote(where, safe='')}" if where else "")
    elif where:
        raise BadInput("--items is a filter of one run: evalbench view RUN --items …")
    with _listening(host, port) as listening:
        bound = listening.getsockname()[1]
        names = [host, "localhost"] if is_loopback(host) else [host]
        hosts = [f"[{name}]:{bound}" if ":" in name else f"{name}:{bound}" for name in names]
        address = f"http://{hosts[0]}/{{}}/{fragment}"
        shown = f"TOKEN is the text of {token_file}" if token_file else ""
        click.echo(
            "\n".join(
                filter(None, [address.format("TOKEN" if token_file else token), shown, "Ctrl-C ends the server."])
            )
        )
        if opens:
            click.launch(address.format(token))
        config = uvicorn.Config(app(explorer, token, hosts), log_level="error", access_log=False)
        uvicorn.Server(config).run(sockets=[listening])


def _packed(folder: Path | None, target: Path, where: str) -> None:
    from evalbench.explorer.pack import pack
    from evalbench.explorer.rows import Rows

    if folder is None:
        raise BadInput("--pack is of one run: evalbench view RUN --pack FOLDER")
    click.echo(f"written  {pack(Rows(folder), target, where)}")


def _token_of(file: Path | None, host: str) -> str:
    """The token of the address: a new one, or that of a file that nobody else may read."""
    if host in ("", "0.0.0.0", "::", "*"):  # noqa: S104 - refused
        raise BadInput("--host is one address of this machine, such as 10.0.0.5: a page is answered at no other")
    if file is None:
        if not is_loopback(host):
            raise BadInput(
                f"--host {host} is open to other machines: --token-file names a file with a token that only those who may ask know"
            )
        return secrets.token_urlsafe(16)
    try:
        token, mode = file.read_text(encoding="utf-8").strip(), file.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"--token-file {file}: cannot be read ({getattr(error, 'strerror', None) or 'not a text'})"
        ) from error
    faults = []
    if not re.fullmatch(r"[A-Za-z0-9_-]{16,200}", token):
        faults.append("the token is 16 to 200 letters a to z, digits, - and _")
    if os.name == "posix" and mode & 0o077:
        faults.append(f"others may read it: chmod 600 {shlex.quote(str(file))}")
    if faults:
        raise BadInput.listing(f"--token-file {file}:", faults)
    return token


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind)
    except OSError as error:
        raise BadInput(f"--host {host}: {error.strerror}") from error
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(place)
        found.listen()  # before the address is printed
    except (OSError, OverflowError) as error:
        found.close()
        raise BadInput(f"--host {host} --port {port}: {getattr(error, 'strerror', None) or error}") from error
    return found
