// The rows of a table that belong to one item: its own, and what others have in their place.
import { el, visible } from "./dom.js";
import { block, folded, isBlock, readable, value } from "./values.js";

const MOST_BESIDE = 4;
const ANSWERS = ["answer", "output", "reply", "response", "prediction"];

function isText(given) {
  return typeof given === "string" && given.length > 60;
}

// The fields of a row, short ones in a line; numbers as they are.
export function fields(row, without = []) {
  const names = Object.keys(row).filter((name) => name !== "row" && !without.includes(name));
  const short = names.filter((name) => !isBlock(row[name]));
  const long = names.filter((name) => isBlock(row[name]));
  return [
    short.length ? el("dl", { class: "fields" }, short.map((name) => el("div", {}, el("dt", {}, name), el("dd", {}, value(row[name], name))))) : null,
    ...long.map((name) => el("div", { class: "text" }, el("h4", {}, name), block(row[name], name))),
  ];
}

function words(text) {
  return text.match(/\s+|[\p{L}\p{N}\p{M}\u200c\u200d]+|[^\s\p{L}\p{N}\p{M}]/gu) ?? [];
}

// Where two texts differ, by their longest common run of words; texts of more than 600 words are shown without marks.
export function differences(...both) {
  const [left, right] = both.map(readable);
  const [a, b] = [words(left), words(right)];
  if (a.length > 600 || b.length > 600) return [folded(left), folded(right)];
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

const CALL = "item_id"; // the column of a call that begins with the item's id, then its group

// Whether a row is of an item's own group; a call that names no group is everybody's.
export function isOwn(run, row, at) {
  if (typeof row[CALL] === "string" && !(run.id in row)) {
    const named = (row.asked_for ?? row[CALL]).split("|").slice(1);
    return !named.length || run.by.every((name) => named.includes(String(at[name] ?? "")));
  }
  return run.by.every((name) => row[name] === undefined || row[name] === null || String(row[name]) === String(at[name]));
}

function groupOf(run, row) {
  return run.by.filter((by) => row[by] !== undefined && row[by] !== null).map((by) => String(row[by])).join(", ");
}

function marked(given, name, own) {
  if (typeof given !== "string" || typeof own !== "string" || !given || !own || given === own) return value(given, name);
  return el("span", { dir: "auto" }, differences(own, given)[1]);
}

// A row of each group side by side: what all have once, what differs in a column for each, with marks against the item's own.
function together(run, rows, at) {
  const [own, ...others] = [...rows].sort((a, b) => isOwn(run, b, at) - isOwn(run, a, at));
  const names = Object.keys(own).filter((name) => name !== run.id && !run.by.includes(name));
  const same = (name) => others.every((row) => JSON.stringify(row[name]) === JSON.stringify(own[name]));
  const shared = Object.fromEntries(names.filter(same).map((name) => [name, own[name]]));
  const differing = names.filter((name) => !same(name)).map((name) => el("div", {}, el("h4", {}, name),
    el("div", { class: "beside" }, [own, ...others].map((row, i) => el("div", { class: "text" },
      el("p", { class: "eb-small group", dir: "auto" }, visible(groupOf(run, row) || "another row")),
      el("div", { class: "value" }, i ? marked(row[name], name, own[name]) : others.length === 1 && typeof own[name] === "string" && typeof others[0][name] === "string"
        ? el("span", { dir: "auto" }, differences(own[name], others[0][name])[0]) : value(row[name], name)))))));
  return [fields(shared), differing];
}

// The column by which a text of another group is read beside the item's own: a long one that differs, else an answer.
function differing(run, own, row) {
  const names = Object.keys(row).filter((name) => name !== run.id && !run.by.includes(name) && typeof row[name] === "string" && typeof own[name] === "string" && row[name] && own[name] && row[name] !== own[name]);
  return names.find((name) => isText(row[name]) && isText(own[name])) ?? names.find((name) => ANSWERS.includes(name));
}

// The item's own rows, then what others have there, folded.
function listed(run, rows, at) {
  const keys = [run.id];
  const [own, others] = [rows.filter((row) => isOwn(run, row, at)), rows.filter((row) => !isOwn(run, row, at))];
  const parts = own.map((row) => el("div", { class: "own" }, fields(row, keys)));
  const beside = others.map((row) => {
    const title = groupOf(run, row);
    const column = own.length === 1 ? differing(run, own[0], row) : undefined;
    const texts = column === undefined ? null : differences(own[0][column], row[column]);
    return el("details", { class: "other" }, el("summary", { dir: "auto" }, visible(title || "another row")),
      texts && el("div", { class: "pair" }, el("div", { class: "text" }, el("h4", {}, `${column}, this item`), el("p", { dir: "auto" }, texts[0])),
        el("div", { class: "text" }, el("h4", {}, column), el("p", { dir: "auto" }, texts[1]))),
      fields(row, [...keys, column]));
  });
  return [parts, beside.length ? [el("p", { class: "eb-small" }, "The same of other groups:"), beside] : null];
}

// Whether a group has several rows: statements, contexts, calls; not an answer or a text.
export function ofParts(run, rows) {
  return new Set(rows.map((row) => groupOf(run, row))).size < rows.length;
}

export function table(run, name, rows, at, behind = false) {
  const folded = behind || name === "calls" || rows.length > 12;
  const single = !ofParts(run, rows) && rows.length > 1 && rows.length <= MOST_BESIDE && rows.some((row) => isOwn(run, row, at));
  return el("details", { open: !folded }, el("summary", {}, el("h3", {}, `${name} (${rows.length})`)),
    single ? together(run, rows, at) : listed(run, rows, at));
}

