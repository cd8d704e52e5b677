import { ask } from "./ask.js";
import { cell, el, fill, number } from "./dom.js";
import { meant } from "./hints.js";
import { isBlind } from "./mark.js";
import { go } from "./state.js";

export const PAGE = 100;
const MOST_COLUMNS = 9;

// The columns that are seen first: who, how it was scored, and why not.
function first(run) {
  const own = run.columns.filter((column) => column.table === "items").map((column) => column.name);
  const scores = run.figures.map((row) => row.metric);
  const found = [...new Set([run.id, ...run.by, ...scores, ...own])].filter((name) => own.includes(name) && name !== "unscored");
  return [...found.slice(0, MOST_COLUMNS - 1), ...own.filter((name) => name === "unscored")];
}

function header(run, name, now) {
  const rising = now.sort === name;
  const falling = now.sort === `-${name}`;
  const numeric = run.columns.some((column) => column.name === name && column.kind === "number");
  const sort = rising ? `-${name}` : falling ? "" : name;
  return el("th", { scope: "col", class: numeric ? "number" : null, "aria-sort": rising ? "ascending" : falling ? "descending" : null },
    el("button", { type: "button", class: "link", title: "Sort", onclick: () => go({ sort, page: "", item: "" }) }, name, rising ? " ▲" : falling ? " ▼" : ""));
}

function chooser(run, shown) {
  const own = run.columns.filter((column) => column.table === "items");
  const change = (name, on) => go({ columns: JSON.stringify(on ? [...shown, name] : shown.filter((one) => one !== name)), item: "" });
  return el("details", { class: "chooser" }, el("summary", {}, `Columns (${shown.length} of ${own.length})`),
    el("div", { class: "choices" }, own.map(({ name }) => el("label", {},
      el("input", { type: "checkbox", checked: shown.includes(name), disabled: name === run.id, onchange: (event) => change(name, event.target.checked) }), " ", name))));
}

export function columnsOf(run, now) {
  if (isBlind()) return run.read_blind;
  try {
    const asked = JSON.parse(now.columns ?? "");
    return asked.filter((name) => run.columns.some((column) => column.name === name && column.table === "items"));
  } catch {
    return first(run);
  }
}

// The items that the filter leaves, a page at a time, sorted by the server.
export async function items(place, run, now) {
  const page = Math.max(0, Number.parseInt(now.page ?? "0", 10) || 0);
  const shown = columnsOf(run, now);
  const found = await ask("items", { run: run.run, where: now.where, sort: now.sort, offset: page * PAGE, limit: PAGE, columns: JSON.stringify(shown) });
  const numeric = new Set(run.columns.filter((column) => column.kind === "number").map((column) => column.name));
  const body = found.rows.map((row) => {
    const open = () => go({ item: String(row.row) });
    return el("tr", { onclick: open },
      shown.map((name, i) => (i ? el("td", { class: numeric.has(name) ? "number" : null }, cell(row[name], name, run.by.includes(name)))
        : el("th", { scope: "row" }, el("button", { type: "button", class: "link", "data-row": String(row.row), onclick: (event) => { event.stopPropagation(); open(); } }, cell(row[name], name, true))))));
  });
  const last = Math.max(0, Math.ceil(found.n / PAGE) - 1);
  const turn = (to, title) => el("button", { type: "button", disabled: to < 0 || to > last, onclick: () => go({ page: String(to), item: "" }) }, title);
  const count = found.n === found.total ? `${number(found.n)} items` : `${number(found.n)} of ${number(found.total)} items`;
  fill(place,
    el("div", { class: "bar" },
      el("p", { role: "status" }, count),
      last > 0 && el("div", { class: "turn" }, turn(page - 1, "Previous"), el("span", {}, `Page ${page + 1} of ${number(last + 1)}`), turn(page + 1, "Next")),
      isBlind() ? null : chooser(run, shown)),
    found.n ? el("div", { class: "eb-scroll table", tabindex: "0", role: "region", "aria-label": "Items" },
      el("table", { class: "rows items" }, el("thead", {}, el("tr", {}, shown.map((name) => header(run, name, now)))), el("tbody", {}, body)))
      : el("div", {}, el("p", {}, "No item fits the filter."), await meant(run, now.where ?? "")));
  place.addEventListener("keydown", (event) => {
    const rows = [...place.querySelectorAll("[data-row]")];
    const at = rows.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (at >= 0 && step && rows[at + step]) {
      event.preventDefault();
      rows[at + step].focus();
    }
  });
}
