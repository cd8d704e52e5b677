"""The files of the explorer's page as one script and one style, for places that load no modules: a folder, a frame in a notebook."""

from __future__ import annotations

import re
from importlib import resources

_IMPORT = re.compile(r'^import (\{ .* \}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)


def script(*wanted: str) -> str:
    """Modules of the page, and those that they need, as one classic script: each in a function of its own, those that others need first."""
    sources = {name: source(f"{name}.js") for name in _names()}
    ordered: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in ordered:
            for _, needed in _IMPORT.findall(sources[name]):
                add(needed)
            ordered[name] = sources[name]

    for name in wanted:
        add(name)
    return '"use strict";\nconst modules = {};\n' + "".join(_wrapped(name, text) for name, text in ordered.items())


def _wrapped(name: str, text: str) -> str:
    names = [found[1] for found in _EXPORT.findall(text)]
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(r"const \1 = modules.\2;", text))
    return f"modules.{name} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n"


def _names() -> list[str]:
    page = resources.files("evalbench.explorer") / "page"
    return sorted(entry.name.removesuffix(".js") for entry in page.iterdir() if entry.name.endswith(".js"))


def css() -> str:
    """The style that all pages share, and the explorer's own."""
    shared = (resources.files("evalbench.draw") / "style.css").read_text(encoding="utf-8")
    return f"{shared}\n{source('view.css')}"


def source(name: str) -> str:
    """A file of the page."""
    return (resources.files("evalbench.explorer") / "page" / name).read_text(encoding="utf-8")
