"""Label pages for tests in a browser: made by the command, opened in tabs of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from evalbench.cli import group

DATA = Path(__file__).resolve().parents[2] / "data" / "desk_labels" / "1.1.0"
MODELS = ("quartz-7b@1.2", "flint-mini")


def called(*words: object) -> str:
    done = CliRunner().invoke(group, [str(word) for word in words])
    assert done.exit_code == 0, f"{done.output}{done.exception!r}"
    return done.output


def made(folder: Path, rows: list[dict[str, Any]], *options: object) -> Path:
    table = folder / "label.jsonl"
    table.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    called("label", "page", table, "--criterion", DATA / "helpful.yaml", "--out", folder / "label.html", *options)
    return folder / "label.html"


def answers(n: int) -> list[dict[str, Any]]:
    return [
        {"id": f"q{i // 2:03d}", "model": MODELS[i % 2], "prompt": f"Question {i // 2}?", "context": "It is so.",
         "output": f"The answer of row {i}", "judge_mark": 0.9371, "verdict": "SUPPORTED-BY-JUDGE"}
        for i in range(n)
    ]  # fmt: skip


def opener(browser: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens a page, with a clock that only the test moves where ``clock`` is said."""
    contexts = []

    def open_(path: Path, *, clock: bool = False, before: str = "", context: Any = None, **options: Any) -> Any:
        if context is None:
            context = browser.new_context(
                accept_downloads=True, **{"viewport": {"width": 1240, "height": 900}, **options}
            )
            contexts.append(context)
        page = context.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda message: page.faults.append(message.text))
        if before:
            page.add_init_script(before)
        if clock:
            page.clock.install(time=0)
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()


def begin(page: Any, name: str = "Ann") -> None:
    page.keyboard.type(name)
    page.keyboard.press("Enter")


def press(page: Any, *keys: str) -> None:
    """Each key three seconds after the one before."""
    for key in keys:
        page.clock.run_for(3000)
        page.keyboard.press(key)


def saved(page: Any, target: Path) -> Path:
    with page.expect_download() as download:
        page.keyboard.press("Control+s")
    download.value.save_as(target)
    return target


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def violations(page: Any) -> list[Any]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(v["id"], [node["html"][:160] for node in v["nodes"]][:3]) for v in found]
