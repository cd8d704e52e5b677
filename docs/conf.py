"""Sphinx's settings for the site.  ``make docs`` builds it out of these pages, with what the code knows (scripts/build_docs.py)."""

import re

from docutils import nodes
from sphinx.application import Sphinx

from evalbench import __version__

project = "evalbench"
author = "the authors of evalbench"
project_copyright = "the authors of evalbench; Apache-2.0"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4  # the same anchors as GitHub's, so that links work in both places
suppress_warnings = ["misc.highlighting_failure"]  # a command with … in it is not quite bash

autodoc_typehints = "none"  # numpydoc's own types are there
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
add_module_names = False
smartquotes = False  # a text of code stays as it is typed

templates_path: list[str] = []
html_theme = "furo"
html_title = "evalbench"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_show_search_summary = False  # they are fetched, which a page from a disk may not do
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
highlight_language = "bash"  # of blocks that name no language
pygments_style = "friendly"


def bars_as_they_are(app: Sphinx, what: str, name: str, of: object, options: object, lines: list[str]) -> None:
    """|A ∩ B| is a number of things, and no substitution of reStructuredText."""
    example = False
    for number, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            parts = re.split(r"(``.*?``)", line)
            lines[number] = "".join(p if p.startswith("``") else p.replace("|", r"\|") for p in parts)


def dashes(app: Sphinx, page: nodes.document) -> None:
    """Between a parameter and its words, where Sphinx counts on its smart quotes."""
    for text in list(page.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", dashes)
    app.connect("autodoc-process-docstring", bars_as_they_are)
