"""The pictures of README.md: renders reports into a scratch folder, photographs their first screens, and sets parts of one
page beside the table of means that hides what the page shows.

``python scripts/screenshots.py`` needs chromium on the PATH and the dev extra.
"""

from __future__ import annotations

import base64
import io
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
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
    "judge_audit": ["judge_audit"],
    "cascade": ["cascade"],
    "drift": ["drift"],
    "rag_generation": ["rag_generation"],
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


LOST = 6
BESIDE = """<!doctype html><meta charset="utf-8"><style>
body {{ font: 16px/1.45 system-ui, sans-serif; color: #1b2024; margin: 0; padding: 26px 30px; background: #fff; width: 1180px }}
main {{ display: grid; grid-template-columns: 310px 1fr; gap: 36px }}
h2 {{ font-size: 19px; margin: 0 0 14px }}
pre {{ background: #f4f5f6; padding: 12px; font-size: 13px; margin: 0 0 18px }}
li {{ margin-bottom: 8px }} ul {{ padding-left: 20px; margin: 0 }} img {{ display: block; margin-bottom: 14px; max-width: 100% }}
p {{ color: #555e66; font-size: 14px; margin: 16px 0 0 }}
</style><main><section><h2>Elsewhere: the mean of what came back</h2>
<pre>scores.groupby("model").chrf.mean()

{means}</pre><ul><li>{lost} of {n} answers of {first} failed and are gone: its mean rose from {before} to {after}.</li>
<li>No interval: is the gap more than chance?</li><li>“{first} is better”, says the eye.</li></ul></section>
<section><h2>Here: the same scores</h2>{pictures}</section></main>
<p>Sample data <i>town_desk_answers</i> (invented), without the {lost} answers of {first} that score lowest.</p>"""


def lost_answers(scratch: Path) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    """The page of two models of which one lost its worst answers, the items behind it, and those with all answers."""
    metric = ["-p", 'metrics=["chrf"]']
    sample = pd.read_json(ROOT / "data" / "town_desk_answers" / "1.1.0" / "items.jsonl", lines=True)
    sample = sample[sample["model"].isin(["alder-2", "dogwood-mini"])].drop(columns="lang")
    sample.to_json(scratch / "all.jsonl", orient="records", lines=True, force_ascii=False)
    evalbench("run", "text_metrics", "--data", str(scratch / "all.jsonl"), *metric, "--out", str(scratch / "all"))
    scores = pd.read_parquet(next((scratch / "all").rglob("items.parquet")))
    worst = set(scores[scores["model"] == "alder-2"].nsmallest(LOST, "chrf")["id"])
    gone = (sample["model"] == "alder-2") & sample["id"].isin(worst)
    sample["answer"] = sample["answer"].where(~gone, None)
    sample.to_json(scratch / "answers.jsonl", orient="records", lines=True, force_ascii=False)
    lights = ["-p", "lights=" + json.dumps({"chrf": {"green_from": 60, "yellow_from": 45}})]
    data = ["--data", str(scratch / "answers.jsonl")]
    evalbench("run", "text_metrics", *data, *metric, *lights, "--out", str(scratch / "lost"))
    page = next((scratch / "lost").rglob("report.html"))
    return page, pd.read_parquet(page.with_name("items.parquet")), scores


def beside(page: Any, scratch: Path) -> bytes:
    """What a table of means hides beside the page that shows it."""
    report, items, whole = lost_answers(scratch)
    page.goto(report.as_uri())
    parts = [
        page.locator("#verdict .eb-verdict"),
        page.locator("table.eb-headline"),
        page.locator("table", has_text="80 % power for").first,
    ]
    shots = [base64.b64encode(part.screenshot()).decode() for part in parts]
    pictures = "".join(f'<img src="data:image/png;base64,{shot}">' for shot in shots)
    before, after = (rows.groupby("model")["chrf"].mean().round().astype(int) for rows in (whole, items))
    first = "alder-2"
    facts = {"n": int((whole["model"] == first).sum()), "before": before[first], "after": after[first]}
    means = after.to_string(header=False).removeprefix("model\n")
    page.set_content(BESIDE.format(means=means, lost=LOST, first=first, pictures=pictures, **facts))
    return bytes(page.locator("html").screenshot())


def labelled(page: Any, scratch: Path) -> bytes:
    """An item of a label page, marked and looked at again."""
    data = ROOT / "data" / "desk_labels" / "1.1.0"
    out = scratch / "label.html"
    evalbench("label", "page", str(data / "items.csv"), "--criterion", str(data / "helpful.yaml"), "--out", str(out))
    page.goto(out.as_uri())
    page.fill("#name", "Anna")
    page.keyboard.press("Enter")
    for key in ("0", "2", "0", "1", "ArrowLeft"):
        page.wait_for_timeout(400)
        page.keyboard.press(key)
    page.wait_for_timeout(3000)  # what was said last has gone
    return bytes(page.screenshot())


IMPORTED = """<!doctype html><meta charset="utf-8"><style>body {{ margin: 0; padding: 26px 30px; background: #fff; width: 1000px }}
img {{ display: block; margin-bottom: 18px; max-width: 100% }}</style>{pictures}"""


def imported(page: Any, scratch: Path) -> bytes:
    """What the page of an imported run says beside the tool's own figures: the verdict, and both figures with the reason."""
    evalbench("run", "imported", "--out", str(scratch / "imported"))
    page.goto(next((scratch / "imported").rglob("report.html")).as_uri())
    parts = [page.locator("#verdict .eb-verdict"), page.locator("table", has_text="why they differ").first]
    shots = [base64.b64encode(part.screenshot()).decode() for part in parts]
    pictures = "".join(f'<img src="data:image/png;base64,{shot}">' for shot in shots)
    page.set_content(IMPORTED.format(pictures=pictures))
    return bytes(page.locator("body").screenshot())


# Image name → study, and what the address of the explorer says.
EXPLORED = {
    "exploring": ("confidence", "view=values&where=topic%3Dferries"),
    "exploring_item": ("rag_generation", "item=7"),
    "exploring_compare": ("needle", "view=compare"),
}


def explored(page: Any, reports: Path) -> dict[str, bytes]:
    """The explorer's views of three studies, from its server."""
    found = {}
    for name, (study, state) in EXPLORED.items():
        evalbench("run", study, "--out", str(reports))
        folder = max((reports / study).iterdir())
        words = [sys.executable, "-m", "evalbench.cli", "view", str(folder), "--no-open"]
        with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            page.goto("about:blank")
            page.goto(f"{server.stdout.readline().strip()}&{state}")
            page.locator("nav.tabs").wait_for(timeout=60_000)
            page.locator("[aria-busy]").wait_for(state="detached", timeout=60_000)
            page.wait_for_timeout(3000)
            found[name] = bytes(page.screenshot())
            server.terminate()
    return found


def saved(shot: bytes, name: str) -> None:
    picture = Image.open(io.BytesIO(shot))
    picture.quantize(160, dither=Image.Dither.NONE).save(IMAGES / f"{name}.png", optimize=True)


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
            saved(page.screenshot(), name)
        saved(beside(page, Path(scratch)), "beside")
        saved(labelled(page, Path(scratch)), "label")
        saved(imported(page, Path(scratch)), "imported")
        for name, shot in explored(page, Path(scratch)).items():
            saved(shot, name)


if __name__ == "__main__":
    main()
