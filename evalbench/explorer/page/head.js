import { ask, Fault } from "./ask.js";
import { cell, copy, el, lamp, number, visible } from "./dom.js";
import { marked } from "./mark.js";
import { go, term, withValue } from "./state.js";

const MARKS = [["right", "marked right"], ["wrong", "marked wrong"], ["cannot say", "marked cannot say"], ["", "not marked"]];

// A text as one word of a shell's command.
function inShell(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function interval(row) {
  return row.ci_low === null || row.ci_low === undefined ? "" : ` [${number(row.ci_low)}, ${number(row.ci_high)}]`;
}

// The unit of a figure, and which end of it is better.
function measured(row) {
  const direction = { true: "higher is better", false: "lower is better" }[row.higher_is_better] ?? "neither end is better";
  return [row.unit, direction].filter(Boolean).join(", ");
}

// Figures with their intervals; each opens the items of its group.
export function figures(run, rows, now, before = null) {
  const was = new Map((before ?? []).map((row) => [key(run, row), row]));
  const body = rows.map((row) => {
    const group = run.by.filter((name) => row[name] !== undefined && row[name] !== null);
    const where = group.map((name) => term(name, "=", String(row[name]))).join(" ");
    const old = was.get(key(run, row));
    const moved = old && old.light !== row.light;
    return el("tr", { class: moved ? "moved" : null },
      el("td", {}, lamp(row.light), moved && el("span", { class: "eb-small" }, ` was ${old.light}`)),
      el("th", { scope: "row", dir: "auto" }, visible(row.title || row.metric), el("span", { class: "eb-small measured" }, visible(measured(row)))),
      el("td", { dir: "auto" }, where ? el("button", { type: "button", class: "link", title: "Items of this group", onclick: () => go({ where, view: "items", page: "" }) }, visible(group.map((name) => row[name]).join(", "))) : "all"),
      el("td", { class: "number nowrap" }, row.value === null ? cell(null) : `${number(row.value)}${interval(row)}`),
      el("td", { class: "number" }, number(row.n)));
  });
  const names = ["Light", "Figure", "Of", "Value [95 % interval]", "n"];
  return el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": "Figures" },
    el("table", { class: "rows" }, el("thead", {}, el("tr", {}, names.map((name, i) => el("th", { scope: "col", class: i > 2 ? "number" : null }, name)))), el("tbody", {}, body)));
}

function key(run, row) {
  return JSON.stringify([row.metric, ...run.by.map((name) => row[name] ?? null)]);
}

async function reasons(run, column) {
  if (!run.columns.some((one) => one.name === column && one.table === "items")) return [];
  const found = await ask("distribution", { run: run.run, column });
  return found.values.map((value, i) => [column, value, `${column}: ${value} (${found.all[i]})`]);
}

const known = new WeakMap(); // run → its conditions, asked for once

function choices(run) {
  if (!known.has(run)) known.set(run, conditions(run));
  return known.get(run);
}

async function conditions(run) {
  const groups = [];
  for (const name of run.by) {
    const found = await ask("distribution", { run: run.run, column: name });
    const values = found.kind === "values" ? found.values : [];
    groups.push(...values.map((value) => [name, value, `${name}: ${value}`]));
  }
  const lights = [...new Set(run.figures.map((row) => row.light))].filter((light) => light && light !== "unlit");
  return [
    ...groups,
    ...(await reasons(run, "unscored")),
    ...(await reasons(run, "undefined")),
    ...lights.map((light) => ["light", light, `groups with a ${light} figure`]),
    ...(run.packed ? [] : MARKS.map(([word, title]) => [run.mark, word, title])),
  ];
}

let draft = {}; // what was typed into the filter and is not shown yet, for the filter that is

// What was asked, the answer, and the filter.
export async function head(run, now) {
  const shown = now.where ?? "";
  const kept = draft.run === run.run && draft.where === shown && draft.text !== shown;
  const box = el("input", { id: "where", type: "search", value: kept ? draft.text : shown, spellcheck: "false", autocomplete: "off", "aria-describedby": "where-fault where-help" });
  const fault = el("p", { id: "where-fault", class: "fault", role: "alert", hidden: true });
  const still = el("p", { class: "after still", role: "status", dir: "auto", hidden: !kept }, visible(`Still showing: ${shown || "all items"}`));
  box.addEventListener("input", () => { draft = { run: run.run, where: shown, text: box.value }; });
  const submit = async (event) => {
    event.preventDefault();
    try {
      await ask("items", { run: run.run, where: box.value, limit: 1 });
      fault.hidden = true;
      still.hidden = true;
      draft = {};
      go({ where: box.value.trim(), page: "", item: "" });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      fault.textContent = error.message;
      fault.hidden = false;
      still.hidden = false;
    }
  };
  const made = await choices(run);
  const add = (condition) => condition && go({ where: withValue(now.where ?? "", condition[0], condition[1]), page: "", item: "" });
  const quick = el("select", { "aria-label": "Add a condition", onchange: (event) => add(made[event.target.selectedIndex - 1]) },
    el("option", { value: "" }, "Add a condition …"), made.map(([, , title]) => el("option", {}, title)));
  const asCode = async () => copy((await ask("code", { run: run.run, where: now.where, sort: now.sort, options: now.options })).code);
  const line = `evalbench view ${inShell(run.run)}${now.where ? ` --items ${inShell(now.where)}` : ""}`;
  return el("header", {},
    el("p", { class: "eb-small" }, run.packed ? visible(`${run.run}, packed: ${run.packed} · `) : globalThis.evalbenchFramed ? run.run : [el("a", { href: "#" }, "All runs"), ` › ${run.run} · `],
      run.page && el("a", { href: run.packed ? "report.html" : `report?run=${encodeURIComponent(run.run)}`, target: "_blank", rel: "noopener" }, "its page"), marked(run)),
    el("h1", {}, run.question),
    el("p", { class: "answer", dir: "auto" }, lamp(run.light), " ", visible(run.answer?.answer ?? run.sentence)),
    el("details", { open: false }, el("summary", {}, `Figures of the whole run (${run.figures.length})`), figures(run, run.figures, now)),
    el("form", { class: "filter", role: "search", onsubmit: submit },
      el("label", { for: "where" }, "Filter"), box,
      el("button", { type: "submit" }, "Show"),
      now.where && el("button", { type: "button", onclick: () => go({ where: "", page: "", item: "" }) }, "Clear"),
      quick,
      el("button", { type: "button", onclick: asCode }, "Copy as code"),
      el("button", { type: "button", onclick: () => copy(line) }, "Copy command")),
    fault, still,
    el("p", { id: "where-help", class: "eb-small" }, "Such as model=oak score<0.5 question~refund; a word alone is looked for in all texts, - before a condition negates it."));
}
