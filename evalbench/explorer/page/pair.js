// One item of two sides: texts, parts and scores beside each other, with what differs marked.
import { el, visible } from "./dom.js";
import { evidence, isDrawn } from "./evidence.js";
import { chains, isTrajectory, TRAJECTORY, trajectories } from "./lanes.js";
import { differences, fields, isOwn } from "./parts.js";
import { value } from "./values.js";

const MOST_OPEN = 12;
const TEXTS = ["question", "prompt", "answer", "output", "reply"];

// The rows of a table that are a side's own, not those of other groups.
function own(run, rows, place) {
  return (rows ?? []).filter((row) => isOwn(run, row, place));
}

function isText(given) {
  return typeof given === "string" && given !== "";
}

function equal(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

function columns(names, made) {
  return el("div", { class: "pair" }, made.map((one, i) => el("div", { class: "text side" }, el("p", { class: "eb-small group", dir: "auto" }, visible(names[i])), one)));
}

// One row on each side: what both have once, what differs in two columns.
function single(rows, keys, names) {
  const known = [...new Set(rows.flatMap(Object.keys))].filter((name) => !keys.includes(name));
  const same = known.filter((name) => equal(rows[0][name], rows[1][name]));
  return [fields(Object.fromEntries(same.map((name) => [name, rows[0][name]]))),
    known.filter((name) => !same.includes(name)).map((name) => {
      const values = rows.map((row) => row[name]);
      const made = values.every(isText) ? differences(...values).map((text) => el("p", { dir: "auto" }, text)) : values.map((one) => el("div", { class: "value" }, value(one, name)));
      return el("div", {}, el("h4", {}, name), columns(names, made));
    })];
}

function table(run, name, both, names, behind) {
  const keys = [run.id, ...run.by];
  const n = both.map((rows) => rows.length);
  const made = n.every((one) => one === 1) ? single(both.map(([row]) => row), keys, names)
    : columns(names, both.map((rows) => (rows.length ? rows.map((row) => el("div", { class: "own" }, fields(row, keys))) : el("p", { class: "none" }, "none"))));
  const folded = behind || name === "calls" || Math.max(...n) > MOST_OPEN || both.some((rows) => rows.length && isDrawn(name, rows));
  return el("details", { open: !folded }, el("summary", {}, el("h3", {}, n[0] === n[1] ? `${name} (${n[0]})` : `${name} (${n[0]} and ${n[1]})`)), made);
}

function scores(both, keys, names) {
  const known = [...new Set(both.flatMap(Object.keys))].filter((name) => name !== "row" && !keys.includes(name));
  const line = (name) => el("tr", {}, el("th", { scope: "row" }, name), both.map((item) => el("td", {}, value(item[name], name))));
  const of = (title, shown) => el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": title }, el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Column"), names.map((name) => el("th", { scope: "col", dir: "auto" }, visible(name))))), el("tbody", {}, shown.map(line))));
  const [same, other] = [known.filter((name) => equal(both[0][name], both[1][name])), known.filter((name) => !equal(both[0][name], both[1][name]))];
  return [
    el("details", { open: true }, el("summary", {}, el("h3", {}, `scores that differ (${other.length})`)), other.length ? of("Scores that differ", other) : el("p", {}, "None.")),
    same.length ? el("details", {}, el("summary", {}, el("h3", {}, `the same on both sides (${same.length})`)), of("The same on both sides", same)) : null,
  ];
}

// What a side is called: its run, where there are two, and its group.
function called(run, now, item, with_) {
  const group = run.by.map((name) => item.place[name]).filter((value) => value !== undefined && value !== null).map(String).join(", ");
  return now.with ? [with_ ? now.with : run.run, group].filter(Boolean).join(": ") : group || run.run;
}

export function beside(run, now, left, right) {
  const names = [called(run, now, left, false), called(run, now, right, true)];
  const tables = [...new Set([...Object.keys(left.tables), ...Object.keys(right.tables)])];
  const rows = tables.map((name) => [name, [own(run, left.tables[name], left.place), own(run, right.tables[name], right.place)]]).filter(([, both]) => both.some((one) => one.length));
  const marked = [left, right].map((one) => [trajectories(run, one, false), evidence(run, one), chains(run, one)].filter(Boolean));
  // Questions and answers first, then what each side has one of, then parts, then calls.
  const rank = ([name, both]) => (name === "calls" ? 3 : Math.max(...both.map((one) => one.length)) > 1 ? 2 : TEXTS.some((one) => one in (both[0][0] ?? both[1][0])) ? 0 : 1);
  return el("section", { class: "both" }, el("p", { class: "eb-small", dir: "auto" }, visible(`Left is ${names[0]}, whose mark is above; right is ${names[1]}.`)),
    marked.some((one) => one.length) ? columns(names, marked.map((one) => (one.length ? one : el("p", { class: "none" }, "none")))) : null,
    rows.sort((a, b) => rank(a) - rank(b)).map(([name, both]) => table(run, name, both, names, TRAJECTORY.includes(name) && isTrajectory(left.tables))),
    scores([left.item, right.item], [run.id], names));
}
