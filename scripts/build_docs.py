"""The site: ``docs/``, CONTRIBUTING.md and CHANGELOG.md with what the code knows, as HTML that needs neither server nor network.

``make docs`` runs it.  Every study is run on its sample first (finished runs are kept in ``build/docs/reports``), pages are put
together in ``build/docs/source``, Sphinx makes ``build/site`` of them, where a warning is an error, and every link of it is followed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parent))
from docs_pages import with_parts

ROOT = Path(__file__).resolve().parents[1]
BESIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}  # pages that lie above docs/


def sample_runs(reports: Path, workers: int) -> dict[str, Path]:
    """A finished run of every study on its sample; only what changed since the last time is run."""
    from evalbench import studies

    reports.mkdir(parents=True, exist_ok=True)
    suite = reports / "suite.yaml"
    suite.write_text(
        "timeout: 1800\nruns:\n" + "".join(f"  - study: {name}\n" for name in studies.names()), encoding="utf-8"
    )
    command = ["-m", "evalbench.cli", "batch", str(suite), "--root", str(ROOT), "--out", str(reports)]
    environment = {**os.environ, "EVALBENCH_ROOT": str(ROOT)}
    subprocess.run([sys.executable, *command, "--resume", "--workers", str(workers)], env=environment, check=True)
    return {name: last_run(reports / name) for name in studies.names()}


def last_run(folder: Path) -> Path:
    """The last run of a study that ended well."""
    records = {path.parent: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*/run.json")}
    return max(run for run, record in records.items() if record["status"] == "ok" and not record["given"])


def put_together(source: Path, runs: Mapping[str, Path]) -> None:
    """The pages as Sphinx reads them."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("__pycache__"))
    for name, place in BESIDE.items():
        page = (ROOT / name).read_text(encoding="utf-8")
        (source / place).write_text(page.replace("](docs/", "]("), encoding="utf-8")
    for path in source.rglob("*.md"):
        up = "../" * (len(path.relative_to(source).parts) - 1)
        page = with_parts(path.read_text(encoding="utf-8"), runs, up)
        for name, place in BESIDE.items():
            page = re.sub(rf"\]\((?:\.\./)+{re.escape(name)}", f"]({up}{place}", page)
        path.write_text(page, encoding="utf-8")


def build(source: Path, site: Path, runs: Mapping[str, Path]) -> None:
    """The site; a warning of Sphinx ends it."""
    shutil.rmtree(site, ignore_errors=True)
    # One process: pages are few, and their order in the search index is then always the same.
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-b", "html", "-d", str(source.parent / "doctrees")]
    subprocess.run([sys.executable, *command, str(source), str(site)], check=True)
    for name, run in runs.items():  # with their files, to which the pages lead
        shutil.copytree(run, site / "samples" / name)


# -- links --------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        self.links += [found[name] for name in ("href", "src") if found.get(name)]


def broken(site: Path) -> Iterator[str]:
    """Links of the site that lead nowhere, and whatever a page would load from elsewhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        place = path.relative_to(site)
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("data", "mailto"):
                continue
            if parts.scheme or parts.netloc:
                if parts.scheme != "https" and not parts.netloc.startswith(("localhost", "127.0.0.1", "www.w3.org")):
                    yield f"{place}: {link} is not https"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{place}: {link} does not exist"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{place}: {link} has no such anchor"


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="the site's folder")
    given.add_argument("--work", type=Path, default=ROOT / "build" / "docs", help="runs and pages on the way")
    given.add_argument("--workers", type=int, default=2, help="processes that run the studies")
    options = given.parse_args()
    runs = sample_runs(options.work.resolve() / "reports", options.workers)
    put_together(options.work.resolve() / "source", runs)
    build(options.work.resolve() / "source", options.out.resolve(), runs)
    if faults := list(broken(options.out.resolve())):
        raise SystemExit("links that lead nowhere:\n" + "\n".join(faults))
    print(f"{options.out / 'index.html'}: open it in a browser")


if __name__ == "__main__":
    main()
