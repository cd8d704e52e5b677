"""One self-contained HTML file out of a template: style and script inline, a policy that forbids all else."""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import tempfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from evalbench.core.wording import count, counted
from evalbench.draw.html import attribute, css, escape


def _template_text(name: str) -> str:
    return resources.files("evalbench.report.templates").joinpath(name).read_text(encoding="utf-8")


@functools.cache
def environment() -> Any:
    """The templates; every value passes :func:`evalbench.draw.html.escape` unless it is Html already."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=escape,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(attribute=attribute, count=count, counted=counted)
    return made


def policy(script: str) -> str:
    """The page's content security policy: nothing from anywhere, and no script but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def page_html(template: str, context: Mapping[str, Any]) -> str:
    """A page as text.

    Parameters
    ----------
    template : str
        File name in ``report/templates``; it extends ``base.html.jinja``.
    context : mapping
        Its values.
    """
    from evalbench.draw.html import Html

    script = _template_text("page.js").strip()
    html = environment().get_template(template).render(
        **context,
        policy=policy(script),
        script=Html(script),
        style=Html(css() + _template_text("page.css")),
    )  # fmt: skip
    return str(html)


def write_atomically(path: Path, text: str) -> Path:
    """Write a file whole or not at all.

    Raises
    ------
    OSError
        If the folder cannot be written; nothing is left behind.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path
