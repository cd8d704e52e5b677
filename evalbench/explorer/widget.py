"""The explorer in a notebook: a frame of its own that asks this kernel and nothing else."""

from __future__ import annotations

import html
import json
import logging
import shlex
import sys
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.result import Result
from evalbench.draw.html import Html
from evalbench.draw.show import Shown, shown
from evalbench.errors import BadInput
from evalbench.explorer.opened import Run, open_run
from evalbench.explorer.page_parts import css, script
from evalbench.explorer.questions import WRITES, answer
from evalbench.explorer.reports import Explorer
from evalbench.runs.record import record

if TYPE_CHECKING:
    import anywidget

logger = logging.getLogger("evalbench.explorer")

HEIGHT = "46rem"
NEEDS = "The explorer in a notebook needs packages of its own: pip install 'evalbench[view]'"
NOT_KEPT = "Nothing is saved of a result that was not recorded: record(result, out=FOLDER), then explore(FOLDER)."
# Scripts run in the frame and nowhere else: its origin is its own, and it may ask for nothing.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_FRONT = """
const LOOK_MS = 5000;
const LONGEST_MS = 60000;
const GONE = "The kernel no longer answers: run the cell again.";
const SILENT = "The kernel does not answer. If it is busy with another cell, try again when that has ended; else run the cell again.";

// What its kernel is at; not every notebook says so.
function status(model) {
  try {
    return model.widget_manager?.kernel?.status;
  } catch {
    return "dead"; // the kernel was disposed of
  }
}

export default {
  render({ model, el }) {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts allow-modals allow-forms"); // a form that is sent is heard by its script; the page's policy lets none leave
    frame.title = "Explorer";
    frame.style.cssText = `border: 1px solid #8888; height: ${model.get("height")}; width: 100%`;
    frame.srcdoc = model.get("page");
    const waiting = new Map(); // a question's number -> its timer
    const answered = (answer) => {
      if (!waiting.has(answer?.id)) return; // another view's
      clearInterval(waiting.get(answer.id));
      waiting.delete(answer.id);
      frame.contentWindow?.postMessage(answer, "*");
    };
    // A kernel that stays idle has answered all that it was asked; one that is busy will.
    const watched = (id) => {
      const asked = Date.now();
      let idle = 0;
      return setInterval(() => {
        const now = status(model);
        idle = now === "idle" ? idle + 1 : 0;
        if (idle > 1 || now === "dead" || now === "terminating") answered({ id, fault: GONE });
        else if (now === undefined && Date.now() - asked >= LONGEST_MS) answered({ id, fault: SILENT });
      }, LOOK_MS);
    };
    const asked = (event) => {
      if (event.source !== frame.contentWindow) return;
      const id = event.data?.id;
      waiting.set(id, watched(id));
      try {
        model.send(event.data);
      } catch {
        answered({ id, fault: GONE });
      }
    };
    window.addEventListener("message", asked);
    model.on("msg:custom", answered);
    el.append(frame);
    return () => {
      window.removeEventListener("message", asked);
      model.off("msg:custom", answered);
      for (const timer of waiting.values()) clearInterval(timer);
    };
  },
};
"""
# Views of one widget hear the answers of all: each numbers its questions behind a name of its own.
_ASKS = """
(() => {
  const waiting = new Map();
  const own = crypto.getRandomValues(new Uint32Array(4)).join("-");
  let n = 0;
  globalThis.evalbenchFramed = %s;
  globalThis.evalbenchAnswers = (name, values) => new Promise((resolve, reject) => {
    const id = `${own} ${n += 1}`;
    waiting.set(id, { resolve, reject });
    parent.postMessage({ id, name, values: JSON.parse(JSON.stringify(values)) }, "*");
  });
  addEventListener("message", (event) => {
    if (event.source !== parent || !waiting.has(event.data?.id)) return;
    const { resolve, reject } = waiting.get(event.data.id);
    waiting.delete(event.data.id);
    if (event.data.fault === undefined) resolve(event.data.answer); else reject(new globalThis.evalbenchFault(event.data.fault));
  });
})();
"""


def widget_of(what: Result | Run | str | Path) -> Any:
    """See :func:`evalbench.explorer.explored.explore`."""
    try:
        import anywidget  # noqa: F401 - asked for before anything is written
        import duckdb  # noqa: F401
    except ImportError:
        return _instead(what, NEEDS)
    folder, kept = _folder(what)
    if "ipykernel" not in sys.modules:
        return _instead(
            what, f"The explorer opens in JupyterLab; in a browser: evalbench view {shlex.quote(str(folder))}"
        )
    made = _widget(Explorer(folder.parent.parent), f"{folder.parent.name}/{folder.name}", keeps=kept is None)
    if kept is not None:
        weakref.finalize(made, kept.cleanup)
    return made


def _folder(what: Result | Run | str | Path) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    """The folder of a run; of a result one for as long as it is looked at."""
    if isinstance(what, Result):
        kept = tempfile.TemporaryDirectory(prefix="evalbench-", ignore_cleanup_errors=True)
        folder = Path(kept.name).resolve() / what.study / "this-result"
        record(what, folder)
        return folder, kept
    return (what if isinstance(what, Run) else open_run(what)).folder.resolve(), None


def _instead(what: Result | Run | str | Path, why: str) -> Shown:
    said = f'<p class="eb-small">{html.escape(why)}</p>'
    if isinstance(what, Result):
        own = shown(what)
        return Shown(Html(f"{own.html}{said}"), f"{own.text}\n{why}", own.kind)
    return Shown(Html(said), why, "text")


def page_of(run: str) -> str:
    """The page in the frame: style and script within it."""
    state = json.dumps({"run": run}).replace("<", "\\u003c")
    inner = f"{_ASKS % state}{script('main')}".replace("</script", "<\\/script")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<title>Explore – evalbench</title><style>{css()}</style></head><body class="eb"><main id="main" tabindex="-1"></main>'
        '<dialog id="item" tabindex="-1" aria-labelledby="item-title"></dialog><div id="said" role="status" class="said"></div>'
        f"<script>{inner}</script></body></html>"
    )


def _widget(explorer: Explorer, run: str, keeps: bool) -> anywidget.AnyWidget:
    import anywidget
    import traitlets

    class Explored(anywidget.AnyWidget):
        """The frame, and this kernel's answers to what it asks of one study's runs."""

        _esm = _FRONT
        page = traitlets.Unicode().tag(sync=True)
        height = traitlets.Unicode(HEIGHT).tag(sync=True)

        def __init__(self) -> None:
            super().__init__(page=page_of(run))
            self.on_msg(lambda _widget, asked, _buffers: respond(explorer, asked, keeps, self.send))

    return Explored()


def respond(explorer: Explorer, asked: Any, keeps: bool, send: Callable[[dict[str, Any]], None]) -> None:
    """Answer a message of the frame; what nobody foresaw is said in the answer's place, and its traceback logged by this kernel."""
    try:
        send(answered(explorer, asked, keeps))
    except Exception as error:
        logger.exception("The explorer could not answer a question.")
        said = f"The kernel failed: {type(error).__name__}: {error}. Its log has the traceback."
        send({"id": asked.get("id") if isinstance(asked, dict) else None, "fault": said})


def answered(explorer: Explorer, asked: Any, keeps: bool = True) -> dict[str, Any]:
    """The answer to a message of the frame, or its fault; a message that is none is answered by a fault, too.

    - ``keeps``: Whether the run stays: a result that was not recorded keeps no marks.
    """
    if (
        not isinstance(asked, dict)
        or not isinstance(asked.get("name"), str)
        or not isinstance(asked.get("values"), dict)
    ):
        return {"id": asked.get("id") if isinstance(asked, dict) else None, "fault": "this is not a question"}
    if asked["name"] in WRITES and not keeps:
        return {"id": asked.get("id"), "fault": NOT_KEPT}
    values = {name: value for name, value in asked["values"].items() if value is not None}
    try:
        found = answer(explorer, asked["name"], values)
    except BadInput as error:
        return {"id": asked.get("id"), "fault": str(error)}
    if asked["name"] == "about":
        found = {**found, "page": False}  # it is not served here
    return {"id": asked.get("id"), "answer": found}
