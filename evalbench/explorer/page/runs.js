import { ask } from "./ask.js";
import { el, lamp, visible } from "./dom.js";
import { go } from "./state.js";

// All runs, the newest first; those without results say how they ended.
export async function runs() {
  const found = await ask("runs");
  document.title = "Runs – evalbench";
  if (!found.length) {
    return { running: false, page: [el("h1", {}, "Runs"), el("p", {}, "There is no run here yet: evalbench run STUDY makes one.")] };
  }
  const rows = found.map((run) => {
    const opens = Boolean(run.light);
    const name = opens || run.status !== "cannot be read"
      ? el("a", { href: `#run=${encodeURIComponent(run.run)}`, onclick: (event) => { event.preventDefault(); go({ run: run.run }); } }, run.study)
      : run.study;
    return el("tr", {},
      el("td", {}, opens ? lamp(run.light) : run.status),
      el("th", { scope: "row" }, name),
      el("td", { dir: "auto" }, visible(run.answer || run.at || "")),
      el("td", { class: "nowrap" }, (run.started || "").slice(0, 16).replace("T", " ")),
      el("td", { dir: "auto" }, visible(run.judged || "")));
  });
  const names = ["Light", "Study", "Answer", "Started, UTC", "Judged"];
  return { running: found.some((run) => run.status === "running"), page: [
    el("h1", {}, "Runs"),
    el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": "Runs" },
      el("table", { class: "rows runs" }, el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows))),
  ] };
}
