"""The screenshots of README.md: renders reports into a scratch folder and photographs their first screens.

``python scripts/screenshots.py`` needs chromium on the PATH and the dev extra.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
RUNS = {
    "matching": ["matching", "-p", "yellow_from=0.5", "-p", "green_from=0.8"],
    "cot_levels": ["cot_levels"],
    "human_correlation": ["human_correlation"],
    "citation": ["citation"],
    "text_metrics": ["text_metrics"],
}


def evalbench(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "evalbench.cli", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def pages(reports: Path) -> dict[str, tuple[Path, str]]:
    """Image name → page and the element at whose top the picture starts."""
    for words in RUNS.values():
        evalbench("run", *words, "--out", str(reports))
    newest = {study: max((reports / study).iterdir()) for study in RUNS}
    checkers = ["--left", "checker=moss-panel@2.1.0|birch-30b", "--right", "checker=reed-index@2.2.0|oak-7b"]
    evalbench("compare", str(newest["matching"]), *checkers, "--out", str(reports / "comparison"))
    evalbench("index", "--out", str(reports))
    found = {study: (folder / "report.html", "body") for study, folder in newest.items()}
    compared = next((reports / "comparison").rglob("*.html"))
    return found | {"compare": (compared, "body"), "index": (reports / "index.html", "body")}


def main() -> None:
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    if browser_path is None:
        raise SystemExit("no chromium on the PATH")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1240, "height": 860})
        for name, (path, _) in pages(Path(scratch)).items():
            page.goto(path.as_uri())
            picture = Image.open(io.BytesIO(page.screenshot()))
            picture.quantize(160, dither=Image.Dither.NONE).save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
