"""One self-contained HTML file out of a template: style and script inline, a policy that forbids all else."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from evalbench.core.wording import count, counted
from evalbench.draw.html import Html, attribute, css, escape
from evalbench.report.glossary import MARK, with_glossary


def template_text(name: str) -> str:
    """A file of the folder of templates."""
    return resources.files("evalbench.report.templates").joinpath(name).read_text(encoding="utf-8")


@functools.cache
def environment() -> Any:
    """The templates; every value passes :func:`evalbench.draw.html.escape` unless it is Html already."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(template_text),
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
    """A page as text, with the terms that appear on it.

    - ``template``: File name in ``report/templates``; it extends ``base.html.jinja``.
    - ``context``: Its values.
    """
    script = template_text("page.js").strip()
    html = (
        environment()
        .get_template(template)
        .render(
            **context,
            policy=policy(script),
            script=Html(script),
            style=Html(css() + template_text("page.css")),
            terms=Html(MARK),
        )
    )
    return with_glossary(str(html))
