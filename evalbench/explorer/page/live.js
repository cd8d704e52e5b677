// A run that has not ended: what it is at, asked for anew every two seconds.
import { ask } from "./ask.js";
import { el, visible } from "./dom.js";

const EVERY_MS = 2000;
let waiting = 0;

// Draws again in a while, unless something else is drawn before.
export function again(draw, when) {
  clearTimeout(waiting);
  if (when) waiting = setTimeout(draw, EVERY_MS);
}

export async function unfinished(name) {
  const run = await ask("live", { run: name });
  const running = run.status === "running";
  const bar = running && run.total ? el("progress", { max: run.total, value: run.done ?? 0, "aria-label": "Done of the present step" }) : null;
  return { running, made: [
    el("p", { class: "eb-small" }, el("a", { href: "#" }, "All runs"), ` › ${name}`),
    el("h1", {}, visible(run.study)),
    el("p", { class: "answer" }, running ? "The run is not finished: there is no estimate and no light yet." : `The run has no results: ${run.status}.`),
    bar, run.at && el("p", { role: "status" }, running ? "It is at: " : "It stopped at: ", visible(run.at)),
    run.error && el("pre", { class: "fault", tabIndex: 0, dir: "auto" }, visible(run.error)),
    run.started && el("p", { class: "eb-small" }, `Started ${run.started.replace("T", " ").replace("Z", " UTC")}.`)] };
}
