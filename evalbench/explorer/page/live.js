// A run that has not ended: what it is at, asked for anew every two seconds.
import { ask } from "./ask.js";
import { el, number, visible } from "./dom.js";

const EVERY_MS = 2000;
let waiting = 0;

// Draws again in a while, unless something else is drawn before.
export function again(draw, when) {
  clearTimeout(waiting);
  if (when) waiting = setTimeout(draw, EVERY_MS);
}

function percent(share) {
  return `${(100 * share).toFixed(0)} %`;
}

// What a judge said so far, and why replies failed; shares with an interval, and no light.
function sofar(run) {
  const n = run.verdicts.reduce((sum, one) => sum + one.n, 0);
  const failed = Object.entries(run.unscored);
  const figure = run.so_far;
  return [
    figure && el("p", {}, "So far: ", visible(figure.what), ` ${number(figure.value)} [${number(figure.low)}, ${number(figure.high)}] of ${number(figure.n)} of ${number(figure.of)} items, ${number(figure.unscored)} unscored. The interval holds whenever you look.`),
    n ? el("section", { "aria-label": "Verdicts so far" }, el("h2", {}, "Verdicts so far, in this step"),
      el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": "Verdicts" }, el("table", { class: "rows" },
        el("thead", {}, el("tr", {}, ["Verdict", "Replies", "Share [95 % interval]"].map((name, i) => el("th", { scope: "col", class: i ? "number" : null }, name)))),
        el("tbody", {}, run.verdicts.map((one) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, visible(one.verdict)), el("td", { class: "number" }, number(one.n)),
          el("td", { class: "number" }, `${percent(one.share)} [${percent(one.low)}, ${percent(one.high)}]`)))))),
      el("p", { class: "eb-small" }, `Of ${number(n)} replies with a verdict, as if they were independent; they come in the order of asking, so the rest may differ. This is no light.`)) : null,
    failed.length ? el("p", {}, "Without a score, in this step: ", visible(failed.map(([why, many]) => `${why} ${number(many)}`).join(", ")), ".") : null,
  ];
}

export async function unfinished(name) {
  const run = await ask("live", { run: name });
  const running = run.status === "running";
  const bar = running && run.total ? el("progress", { max: run.total, value: run.done ?? 0, "aria-label": "Done of the present step" }) : null;
  return { running, made: [
    el("p", { class: "eb-small" }, el("a", { href: "#" }, "All runs"), ` › ${name}`),
    el("h1", {}, visible(run.study)),
    el("p", { class: "answer" }, running ? (run.so_far || run.verdicts.length ? "The run is not finished: there is no light yet." : "The run is not finished: there is no estimate and no light yet.") : `The run has no results: ${run.status}.`),
    bar, run.at && el("p", { role: "status" }, running ? "It is at: " : "It stopped at: ", visible(run.at)),
    running ? sofar(run) : null,
    run.error && el("pre", { class: "fault", tabIndex: 0, dir: "auto" }, visible(run.error)),
    run.started && el("p", { class: "eb-small" }, `Started ${run.started.replace("T", " ").replace("Z", " UTC")}.`)] };
}
