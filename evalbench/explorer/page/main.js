import { ask, Fault } from "./ask.js";
import { distributions } from "./distributions.js";
import { el, fill } from "./dom.js";
import { head } from "./head.js";
import { item } from "./item.js";
import { items } from "./items.js";
import { runs } from "./runs.js";
import { go, state } from "./state.js";
import { thresholds } from "./thresholds.js";

const VIEWS = { items: ["Items", items], values: ["Values", distributions], thresholds: ["Thresholds", thresholds] };
const main = document.getElementById("main");
let known = null; // of the run that is on the screen
let drawn = ""; // what of the state is on the screen, but for the open item

async function about(run) {
  if (known?.run !== run) known = await ask("about", { run });
  return known;
}

function tabs(view) {
  const made = Object.entries(VIEWS).map(([name, [title]]) =>
    el("button", { type: "button", "aria-current": name === view ? "page" : null, onclick: () => go({ view: name, item: "" }) }, title),
  );
  return el("nav", { class: "tabs", "aria-label": "Views of the items" }, made);
}

async function draw() {
  const now = state();
  const view = now.view in VIEWS ? now.view : "items";
  const wanted = JSON.stringify({ ...now, item: "" });
  try {
    if (!now.run) {
      drawn = "";
      known = null;
      await runs(main);
      return;
    }
    const run = await about(now.run);
    document.title = `${run.study} – evalbench`;
    if (wanted !== drawn) {
      drawn = wanted;
      const place = el("section", { class: "view" });
      fill(main, await head(run, now), tabs(view), place);
      await VIEWS[view][1](place, run, now);
    }
    await item(run, now);
  } catch (error) {
    drawn = "";
    if (!(error instanceof Fault)) throw error;
    fill(main, el("p", {}, el("a", { href: "#" }, "All runs")), el("p", { class: "fault", role: "alert" }, error.message));
  }
}

window.addEventListener("hashchange", draw);
draw();
