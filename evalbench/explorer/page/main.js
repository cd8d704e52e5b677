import { ask, Fault } from "./ask.js";
import { compare } from "./compare.js";
import { distributions } from "./distributions.js";
import { el, fill, redraw } from "./dom.js";
import { head } from "./head.js";
import { item } from "./item.js";
import { items } from "./items.js";
import { again, unfinished } from "./live.js";
import { runs } from "./runs.js";
import { go, state } from "./state.js";
import { thresholds } from "./thresholds.js";

const VIEWS = { items: ["Items", items], values: ["Values", distributions], thresholds: ["Thresholds", thresholds], compare: ["Compare", compare] };
const main = document.getElementById("main");
let known = null; // of the run that is on the screen
let drawn = ""; // what of the state is on the screen, but for the open item
let asked = 0; // an answer that comes late is not shown

async function about(run) {
  if (known?.run !== run) known = await ask("about", { run });
  return known;
}

// A run without results is followed until it ends.
async function follow(name, mine) {
  const { running, made } = await unfinished(name);
  if (mine !== asked) return;
  redraw(main, made);
  again(draw, running);
}

function tabs(run, view) {
  const made = Object.entries(VIEWS).filter(([name]) => !(run.packed && name === "compare")).map(([name, [title]]) =>
    el("button", { type: "button", "aria-current": name === view ? "page" : null, onclick: () => go({ view: name, item: "", pair: "" }) }, title),
  );
  return el("nav", { class: "tabs", "aria-label": "Views of the items" }, made);
}

// A filter that cannot be read, and a file that cannot be, are said in the place of the view.
async function shown(view, place, run, now) {
  try {
    await VIEWS[view][1](place, run, now);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    fill(place, el("p", { class: "fault", role: "alert" }, error.message));
  }
}

async function draw() {
  const now = state();
  const view = now.view in VIEWS ? now.view : "items";
  const wanted = JSON.stringify({ ...now, item: "", pair: "" });
  const mine = (asked += 1);
  try {
    if (!now.run) {
      drawn = "";
      known = null;
      await item(null, { ...now, item: "" });
      const made = await runs();
      if (mine !== asked) return;
      redraw(main, made.page);
      again(draw, made.running);
      return;
    }
    again(draw, false);
    if (known?.run !== now.run && !(await ask("live", { run: now.run })).finished) {
      drawn = "";
      await follow(now.run, mine);
      return;
    }
    const run = await about(now.run);
    if (mine !== asked) return;
    document.title = `${run.study} – evalbench`;
    if (wanted !== drawn) {
      const place = el("section", { class: "view" });
      const [top] = await Promise.all([head(run, now), shown(view, place, run, now)]);
      if (mine !== asked) return;
      drawn = wanted;
      redraw(main, top, tabs(run, view), place);
    }
    await item(run, now);
  } catch (error) {
    if (mine !== asked) return;
    drawn = "";
    if (!(error instanceof Fault)) throw error;
    fill(main, globalThis.evalbenchFramed ? null : el("p", {}, el("a", { href: "#" }, "All runs")), el("p", { class: "fault", role: "alert" }, error.message));
  }
}

window.addEventListener("hashchange", draw);
window.addEventListener("blind", () => { drawn = ""; draw(); });
draw();
