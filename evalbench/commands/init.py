"""``evalbench init``: a workbench of one's own."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from evalbench.errors import BadInput

_TEMPLATES = Path(__file__).with_name("workbench")
_WRITTEN = ("README.md", "environment.yml", "suite.yaml", ".gitignore")


@click.command("init")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
def init(directory: Path) -> None:
    """Lay out a workbench in a new or empty folder: notebooks to edit, sample data, a suite, an environment."""
    lay_out(directory)
    click.echo(
        f"{directory}: a workbench; its README.md says what is in it\n"
        f"  cd {directory}\n  evalbench list\n  evalbench run matching\n  evalbench batch suite.yaml"
    )


def lay_out(directory: Path) -> None:
    """A workbench in a folder that is empty or does not exist; all of it or nothing.

    Raises ``BadInput`` if the folder is not empty, is a file or cannot be written.
    """
    from evalbench import workbench

    files = workbench.own_files()
    try:
        if directory.is_dir():
            if any(directory.iterdir()):
                raise BadInput(f"{directory} is not empty: name a new folder, or empty this one")
        elif os.path.lexists(directory):
            raise BadInput(f"{directory} is a file: name a folder that is empty or does not exist")
        with _whole(directory) as stage:
            for name, source in files.items():
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, stage / name)
            for name in _WRITTEN:
                (stage / name).write_text(_rendered(name), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{directory}: no workbench can be made here: {error.strerror or error}") from error


def _rendered(name: str) -> str:
    from importlib.metadata import version

    from jinja2 import Template

    source = (_TEMPLATES / f"{name.removeprefix('.')}.jinja").read_text(encoding="utf-8")
    return str(Template(source, keep_trailing_newline=True).render(version=version("evalbench")))


@contextlib.contextmanager
def _whole(directory: Path) -> Iterator[Path]:
    """A folder to write to, whose content becomes the directory's; after a fault everything is as it was."""
    made = next((p for p in reversed((directory, *directory.parents)) if not p.exists()), None)
    stage = None
    moved: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=".evalbench-", dir=directory))
        yield stage
        for entry in sorted(stage.iterdir()):
            moved.append(entry.rename(directory / entry.name))
        stage.rmdir()
    except BaseException:
        for path in [made] if made else [*moved, *([stage] if stage else [])]:
            shutil.rmtree(path, ignore_errors=True)
            if path.is_file():
                path.unlink()
        raise
