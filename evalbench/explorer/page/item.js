import { ask } from "./ask.js";
import { cell, el, fill, visible } from "./dom.js";
import { go, state } from "./state.js";

const place = document.getElementById("item");
let neighbours = { previous: null, next: null };
let asked = 0; // an answer that comes late is not shown
let from = null; // what had the focus before the item was opened

function isText(value) {
  return typeof value === "string" && value.length > 60;
}

function fields(row, without = []) {
  const names = Object.keys(row).filter((name) => name !== "row" && !without.includes(name));
  const short = names.filter((name) => !isText(row[name]));
  const long = names.filter((name) => isText(row[name]));
  return [
    short.length ? el("dl", { class: "fields" }, short.map((name) => el("div", {}, el("dt", {}, name), el("dd", {}, cell(row[name]))))) : null,
    ...long.map((name) => el("div", { class: "text" }, el("h4", {}, name), el("p", { dir: "auto" }, visible(row[name])))),
  ];
}

function words(text) {
  return text.match(/\s+|[\p{L}\p{N}\p{M}\u200c\u200d]+|[^\s\p{L}\p{N}\p{M}]/gu) ?? [];
}

// Where two texts differ, by their longest common run of words; texts of more than 600 words are shown without marks.
function differences(left, right) {
  const [a, b] = [words(left), words(right)];
  if (a.length > 600 || b.length > 600) return [visible(left), visible(right)];
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const sides = [[], []];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      sides[0].push(a[i]);
      sides[1].push(b[j]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) {
      sides[0].push(el("del", {}, visible(a[i])));
      i += 1;
    } else {
      sides[1].push(el("ins", {}, visible(b[j])));
      j += 1;
    }
  }
  return sides.map((side) => side.flatMap((part) => (typeof part === "string" ? visible(part) : [part])));
}

function isOwn(run, row, at) {
  return run.by.every((name) => row[name] === undefined || row[name] === null || String(row[name]) === String(at[name]));
}

// The rows of one table: the item's own first, then what others have there; texts of two rows side by side with differences.
function table(run, name, rows, at) {
  const keys = [run.id];
  const [own, others] = [rows.filter((row) => isOwn(run, row, at)), rows.filter((row) => !isOwn(run, row, at))];
  const parts = own.map((row) => el("div", { class: "own" }, fields(row, keys)));
  const beside = others.map((row) => {
    const title = run.by.filter((by) => row[by] !== undefined && row[by] !== null).map((by) => String(row[by])).join(", ");
    const column = own.length === 1 ? Object.keys(row).find((one) => !keys.includes(one) && !run.by.includes(one) && isText(row[one]) && isText(own[0][one]) && row[one] !== own[0][one]) : undefined;
    const marked = column === undefined ? null : differences(own[0][column], row[column]);
    return el("details", { class: "other" }, el("summary", { dir: "auto" }, visible(title || "another row")),
      marked && el("div", { class: "pair" }, el("div", { class: "text" }, el("h4", {}, `${column}, this item`), el("p", { dir: "auto" }, marked[0])),
        el("div", { class: "text" }, el("h4", {}, column), el("p", { dir: "auto" }, marked[1]))),
      fields(row, [...keys, column]));
  });
  const folded = name === "calls" || rows.length > 12;
  return el("details", { open: !folded }, el("summary", {}, el("h3", {}, `${name} (${rows.length})`)), parts,
    beside.length ? [el("p", { class: "eb-small" }, "The same of other groups:"), beside] : null);
}

async function around(run, now) {
  if (now.view && now.view !== "items") return { previous: null, next: null };
  const page = Number.parseInt(now.page ?? "0", 10) || 0;
  const found = await ask("items", { run: run.run, where: now.where, sort: now.sort, offset: page * 100, limit: 100 });
  const at = found.rows.findIndex((row) => String(row.row) === now.item);
  return { previous: at > 0 ? found.rows[at - 1].row : null, next: at >= 0 && at + 1 < found.rows.length ? found.rows[at + 1].row : null };
}

function step(to) {
  if (to !== null) go({ item: String(to) }, true);
}

// One item with everything behind it.
export async function item(run, now) {
  if (!now.item) {
    asked += 1;
    if (place.open) place.close();
    return;
  }
  const mine = (asked += 1);
  const [found, near] = await Promise.all([ask("item", { run: run.run, row: now.item }), around(run, now)]);
  if (mine !== asked) return;
  neighbours = near;
  const title = Object.values(found.place).map(String).join(" · ");
  const others = found.others.map((row) => el("tr", {},
    el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => step(row.row) }, cell(run.by.map((name) => row[name]).join(", ")))),
    [...new Set(run.figures.map((one) => one.metric))].filter((name) => name in row).slice(0, 6).map((name) => el("td", { class: "number" }, cell(row[name])))));
  const names = [...new Set(run.figures.map((one) => one.metric))].filter((name) => name in found.item).slice(0, 6);
  fill(place,
    el("div", { class: "bar" },
      el("h2", { id: "item-title", dir: "auto" }, visible(title)),
      el("div", { class: "turn" },
        el("button", { type: "button", disabled: near.previous === null, title: "k", onclick: () => step(near.previous) }, "Previous"),
        el("button", { type: "button", disabled: near.next === null, title: "j", onclick: () => step(near.next) }, "Next"),
        el("button", { type: "button", title: "Esc", onclick: () => place.close() }, "Close"))),
    Object.entries(found.tables).map(([name, rows]) => table(run, name, rows, found.place)),
    el("details", { open: true }, el("summary", {}, el("h3", {}, "scores")), fields(found.item, [])),
    found.others.length ? el("details", { open: found.others.length <= 12 }, el("summary", {}, el("h3", {}, `the same item of other groups (${found.others.length})`)),
      el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": "Other groups" }, el("table", { class: "rows" },
        el("thead", {}, el("tr", {}, [run.by.join(", ") || "item", ...names].map((name, i) => el("th", { scope: "col", class: i ? "number" : null }, name)))), el("tbody", {}, others)))) : null);
  if (!place.open) {
    from = document.activeElement;
    place.showModal();
  } else {
    place.focus(); // the button that had the focus is another one now
  }
  place.scrollTop = 0;
}

place.addEventListener("close", () => {
  if (state().item) go({ item: "" });
  from?.focus?.();
});
place.addEventListener("keydown", (event) => {
  if (["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName)) return;
  if (event.key === "j" || event.key === "ArrowRight") step(neighbours.next);
  if (event.key === "k" || event.key === "ArrowLeft") step(neighbours.previous);
});
