"""``evalbench view``."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path
from urllib.parse import quote

import click

from evalbench.commands.options import ROOT_OF_RUN
from evalbench.errors import BadInput


@click.command("view")
@click.argument("run", metavar="[RUN]", required=False, type=click.Path(path_type=str))
@click.option("--items", "where", default="", help="A filter to begin with, such as 'model=oak score<0.5'.")
@click.option("--port", default=0, help="The port (default: any that is free).")
@click.option(
    "--pack", type=click.Path(path_type=Path), help="Write a folder that opens in a browser without a server, and end."
)
@click.option("--open/--no-open", "opens", default=True, show_default=True, help="Whether to open the browser.")
@ROOT_OF_RUN
def view(run: str | None, where: str, port: int, pack: Path | None, opens: bool, root: Path | None) -> None:
    """Explore runs in the browser: the items behind each figure, their distributions, other thresholds.

    RUN is a run's folder or id; without it all runs of the workbench are listed. The server answers this machine only, and
    ends with Ctrl-C.

    \b
    evalbench view reports/needle/A --items 'model=fern-1b contains=false'
    evalbench view reports/needle/A --pack for-anna
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
    folder = run_folder(run, reports) if run else None
    if pack is not None:
        _packed(folder, pack, where)
        return
    explorer = Explorer(folder.parent.parent if folder else reports)
    fragment = ""
    if folder:
        name = f"{folder.parent.name}/{folder.name}"
        explorer.rows(name).count(where)  # a fault is told here, not in the browser
        fragment = f"#run={quote(name, safe='')}" + (f"&where={quote(where, safe='')}" if where else "")
    elif where:
        raise BadInput("--items is a filter of one run: evalbench view RUN --items …")
    with _listening(port) as listening:
        host = f"127.0.0.1:{listening.getsockname()[1]}"
        token = secrets.token_urlsafe(16)
        address = f"http://{host}/{token}/{fragment}"
        click.echo(f"{address}\nCtrl-C ends the server.")
        if opens:
            click.launch(address)
        hosts = [host, host.replace("127.0.0.1", "localhost")]
        config = uvicorn.Config(app(explorer, token, hosts), log_level="error", access_log=False)
        uvicorn.Server(config).run(sockets=[listening])


def _packed(folder: Path | None, target: Path, where: str) -> None:
    from evalbench.explorer.pack import pack
    from evalbench.explorer.rows import Rows

    if folder is None:
        raise BadInput("--pack is of one run: evalbench view RUN --pack FOLDER")
    click.echo(f"written  {pack(Rows(folder), target, where)}")


def _listening(port: int) -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
        found.listen()  # before the address is printed
    except OSError as error:
        found.close()
        raise BadInput(f"--port {port}: {error.strerror}") from error
    return found
