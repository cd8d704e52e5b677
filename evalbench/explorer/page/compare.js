import { ask, Fault } from "./ask.js";
import { cell, copy, el, fill, number, visible } from "./dom.js";
import { isBlind } from "./mark.js";
import { go, term } from "./state.js";

const PAGE = 100; // as the server gives them
const MOST_NOTES = 3;
const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [120, 14];
let shown = { page: 0, last: 0, asked: {}, now: {} }; // of the comparison on the screen

// Another choice begins at the first page, with no item open.
const ANEW = { part: "", verdict: "", item: "", pair: "" };

function select(label, name, options, value, both = {}) {
  return el("label", {}, label, " ", el("select", { "aria-label": label, onchange: (event) => go({ ...both, [name]: event.target.value, ...ANEW }) },
    options.map(([own, title]) => el("option", { value: own, selected: own === (value ?? "") }, visible(title)))));
}

function groupsOf(run) {
  return [["all", "all"], ...Object.entries(run.groups).flatMap(([name, values]) => values.map((value) => [term(name, "=", value), `${name}: ${value}`]))];
}

// Two sides of which nothing was said yet: the first two groups of the run, where it has two.
function sides(run, now) {
  if (now.left || now.right || now.with) return now;
  const [name, values] = Object.entries(run.groups).find(([, found]) => found.length > 1) ?? ["", []];
  return values.length ? { ...now, left: term(name, "=", values[0]), right: term(name, "=", values[1]) } : now;
}

// A difference with its interval, and where 0 is; figures of one name are on one scale.
function drawn(row, most) {
  const made = document.createElementNS(SVG, "svg");
  const part = (tag, properties) => {
    const one = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(properties)) one.setAttribute(name, String(value));
    made.append(one);
  };
  const at = (value) => WIDTH / 2 + (value / most) * (WIDTH / 2 - 5);
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "difference", "aria-hidden": "true" })) made.setAttribute(name, value);
  part("line", { x1: WIDTH / 2, x2: WIDTH / 2, y1: 0, y2: HEIGHT, class: "zero" });
  if (row.ci_low !== null) part("line", { x1: at(row.ci_low), x2: at(row.ci_high), y1: HEIGHT / 2, y2: HEIGHT / 2, class: "interval" });
  part("circle", { cx: at(row.difference), cy: HEIGHT / 2, r: 4, class: "point" });
  return made;
}

function p(value) {
  return value === null || value === undefined ? cell(null) : value < 0.001 ? "< 0.001" : number(value);
}

// The differences in figures, with intervals and, of items that nobody chose, tests.
function figures(found, names) {
  if (!found.figures.length) return null;
  const groups = [...new Set(found.figures.flatMap((row) => Object.keys(row.group)))];
  const most = new Map();
  for (const row of found.figures) {
    const ends = [row.ci_low, row.ci_high, row.difference].filter((value) => value !== null).map(Math.abs);
    most.set(row.metric, Math.max(most.get(row.metric) ?? 0, ...ends));
  }
  const heads = ["Figure", ...groups, names[0], names[1], "Difference [95 % interval]", "", "n", ...(found.tested ? ["p", "p (Holm)", "Result"] : [])];
  const line = (row) => el("tr", {},
    el("th", { scope: "row", dir: "auto" }, visible(row.title)),
    groups.map((name) => el("td", { dir: "auto" }, row.group[name] === undefined ? "all" : visible(row.group[name]))),
    ["left", "right"].map((side) => el("td", { class: "number" }, cell(row[side]))),
    el("td", { class: "number nowrap" }, row.difference === null ? cell(null) : `${number(row.difference)}${row.ci_low === null ? "" : ` [${number(row.ci_low)}, ${number(row.ci_high)}]`}`),
    el("td", {}, row.difference !== null && most.get(row.metric) > 0 ? drawn(row, most.get(row.metric)) : null),
    el("td", { class: "number", title: row.left_out ? `${row.left_out} without a value on one side` : null }, number(row.n)),
    found.tested && [el("td", { class: "number" }, p(row.p)), el("td", { class: "number" }, p(row.p_holm)), el("td", {}, row.outcome)]);
  const numeric = (i) => i > groups.length && heads[i] !== "Result" && heads[i] !== "";
  const adjusted = (rows) => {
    const families = new Map();
    for (const row of rows.filter((one) => one.family)) families.set(row.family, [...new Set([...(families.get(row.family) ?? []), row.title])]);
    return [...families].map(([family, titles]) => el("p", { class: "eb-small", dir: "auto" }, visible(`p (Holm)${families.size > 1 ? ` of ${titles.join(", ")}` : ""}: ${family}.`)));
  };
  const table = (rows, title) => [el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": title }, el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, heads.map((name, i) => (name || i <= groups.length ? el("th", { scope: "col", class: numeric(i) ? "number" : null }, visible(name)) : el("td", {}))))), el("tbody", {}, rows.map(line)))), adjusted(rows)];
  const [first, rest] = [found.figures.filter((row) => row.headline), found.figures.filter((row) => !row.headline)];
  return [first[0]?.words && el("p", { class: "answer", dir: "auto" }, visible(first[0].words)), table(first, "Differences"),
    rest.length ? el("details", {}, el("summary", {}, `Further figures (${rest.length})`), table(rest, "Differences of further figures")) : null];
}

const DIRECTED = new Set(["better", "worse", "higher", "lower"]); // of the right side

// What is said of a pair, with the names of the sides.
function said(verdict, names) {
  const side = (at) => names[at === "left" ? 0 : 1];
  const [, what, at] = /^(only|no value)(?: (left|right))?$/u.exec(verdict) ?? [];
  if (!what) return verdict;
  return at ? `${what} in ${side(at)}` : "no value in either";
}

function value(row, side) {
  if (row[`${side}_row`] === null) return el("span", { class: "none" }, "no item");
  if (row[side] === null) return [cell(null), row[`${side}_why`] && el("span", { class: "eb-small", dir: "auto" }, " ", visible(row[`${side}_why`]))];
  const n = row[`${side}_n`];
  return [cell(row[side]), n > 1 && el("span", { class: "eb-small" }, ` of ${number(n)} items`)];
}

function header(name, title, now, numeric) {
  const [rising, falling] = [now.order === name, now.order === `-${name}`];
  const order = falling ? name : rising ? "" : `-${name}`;
  return el("th", { scope: "col", class: numeric ? "number" : null, "aria-sort": rising ? "ascending" : falling ? "descending" : null },
    el("button", { type: "button", class: "link", title: "Sort", onclick: () => go({ order, part: "", item: "", pair: "" }) }, visible(title), rising ? " ▲" : falling ? " ▼" : ""));
}

// What opens a pair, or the item that only one side has.
function opened(row, found, now) {
  if (row.left_row !== null) return { item: String(row.left_row), pair: row.right_row === null ? "" : String(row.right_row) };
  if (found.same_run) return { item: String(row.right_row), pair: "" };
  return { run: now.with, with: "", left: "", right: "", rank: "", view: "", where: "", sort: "", page: "", order: "", ...ANEW, item: String(row.right_row) };
}

// The page before or after the one on the screen: its nearest pair is opened; nothing where there is no such page.
export function turning(by) {
  const [page, now] = [shown.page + by, shown.now];
  if (page < 0 || page > shown.last) return null;
  return async () => {
    const found = await ask("compare", { ...shown.asked, offset: page * PAGE });
    go({ ...opened(found.rows.at(by > 0 ? 0 : -1), found, now), part: page ? String(page) : "" }, true);
  };
}

function units(found, now) {
  const open = (row) => go(opened(row, found, now));
  const body = found.rows.map((row) => {
    const place = row.left_row ?? (found.same_run ? row.right_row : null);
    const opens = (event) => {
      event.stopPropagation();
      open(row);
    };
    return el("tr", { onclick: () => open(row) },
      found.keys.map((name, i) => (i ? el("td", {}, cell(row.key[name], name, true))
        : el("th", { scope: "row" }, el("button", { type: "button", class: "link pairs", "data-row": place === null ? null : String(place), onclick: opens }, cell(row.key[name], name, true))))),
      ["left", "right"].map((side) => el("td", { class: "number" }, value(row, side))),
      el("td", { class: "number", title: row.what || null }, cell(row.change)),
      el("td", {}, visible(said(row.verdict, found.names))));
  });
  const columns = [...found.keys.map((name) => [name, name, false]), ["left", found.names[0], true], ["right", found.names[1], true], ["change", "Difference", true]];
  return el("div", { class: "eb-scroll table", tabindex: "0", role: "region", "aria-label": "Items of both sides" }, el("table", { class: "rows items" },
    el("thead", {}, el("tr", {}, columns.map(([name, title, numeric]) => header(name, title, now, numeric)), el("th", { scope: "col" }, "Result"))), el("tbody", {}, body)));
}

function answer(found, now, page, box) {
  const chosen = (name) => el("button", { type: "button", "aria-pressed": String((now.verdict ?? "") === name), onclick: () => go({ verdict: name, part: "", item: "", pair: "" }) },
    visible(name ? `${DIRECTED.has(name) ? `${found.names[1]} ${name}` : said(name, found.names)} (${number(found.counts[name])})` : `all (${number(found.total)})`));
  const last = Math.max(0, Math.ceil(found.n / PAGE) - 1);
  const turn = (to, text) => el("button", { type: "button", disabled: to < 0 || to > last, onclick: () => go({ part: to ? String(to) : "", item: "", pair: "" }) }, text);
  const legend = found.names.map((name, i) => (found.sides[i].endsWith(`=${name}`) && found.same_run ? null : `${name} is ${found.sides[i]}`)).filter(Boolean);
  return [
    found.filtered && el("p", { class: "after" }, found.filtered),
    legend.length ? el("p", { class: "eb-small", dir: "auto" }, visible(`${legend.join(", ")}.`)) : null,
    box,
    el("h2", { dir: "auto" }, visible(`Items by ${found.title}: ${found.names[1]} − ${found.names[0]}`)),
    el("div", { class: "bar" },
      el("div", { class: "turn", role: "group", "aria-label": "Results" }, ["", ...Object.keys(found.counts)].map(chosen)),
      last > 0 && el("div", { class: "turn" }, turn(page - 1, "Previous"), el("span", {}, `Page ${page + 1} of ${number(last + 1)}`), turn(page + 1, "Next"))),
    found.n ? units(found, now) : el("p", {}, "No pair is so."),
  ];
}

// The figures take longer than the items: they are shown when they come.
async function figured(box, asked, found) {
  try {
    const said = await ask("difference", asked);
    const shown = figures(said, found.names);
    const notes = said.notes.filter((note) => note !== found.filtered).map((note) => el("p", { class: "after", dir: "auto" }, visible(note)));
    fill(box, notes.slice(0, MOST_NOTES), notes.length > MOST_NOTES && el("details", {}, el("summary", {}, `Further notes (${notes.length - MOST_NOTES})`), notes.slice(MOST_NOTES)), shown ?? el("p", {}, "There is no figure that can be compared."),
      el("p", { class: "turn" }, el("button", { type: "button", onclick: () => copy(found.code) }, "Copy comparison as code"),
        found.line && el("button", { type: "button", onclick: () => copy(found.line) }, "Copy command of the comparison")));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    fill(box, el("p", { class: "fault", role: "alert" }, error.message));
  }
  box.removeAttribute("aria-busy");
}

// Arrows go from pair to pair.
function keyed(event) {
  const rows = [...event.currentTarget.querySelectorAll("button.pairs")];
  const to = rows[rows.indexOf(document.activeElement) + ({ ArrowDown: 1, ArrowUp: -1 }[event.key] ?? Number.NaN)];
  if (!to || !rows.includes(document.activeElement)) return;
  event.preventDefault();
  to.focus();
}

// Two runs, or two groups of one, item by item, the largest changes first.
export async function compare(place, run, given) {
  if (isBlind()) {
    fill(place, el("p", {}, "Blind: a comparison shows scores, and who answered. It is here again when an item is read with its scores."));
    return;
  }
  const now = sides(run, given);
  const others = (await ask("runs")).filter((one) => one.study === run.study && one.light && one.run !== run.run);
  const groups = groupsOf(run);
  const chosen = { left: now.left, right: now.right };
  const form = (scores, decides = "") => el("div", { class: "bar chosen" },
    select("Left", "left", groups, now.left || "all", chosen),
    select("Right", "right", groups, now.right || "all", chosen),
    others.length ? select("of", "with", [["", "this run"], ...others.map((one) => [one.run, `${one.run_id} ${(one.started || "").slice(0, 16).replace("T", " ")}`])], now.with, chosen) : null,
    select("By", "rank", [["", decides ? "what decides the light" : "the first that differs"], ...scores], now.rank));
  const page = Math.max(0, Number.parseInt(now.part ?? "0", 10) || 0);
  const side = (group) => (group === "all" ? "" : group);
  const asked = { run: run.run, with: now.with, left: side(now.left), right: side(now.right), metric: now.rank, where: now.where };
  place.addEventListener("keydown", keyed);
  try {
    const pairs = { ...asked, verdict: now.verdict, sort: now.order };
    const found = await ask("compare", { ...pairs, offset: page * PAGE });
    shown = { page, last: Math.max(0, Math.ceil(found.n / PAGE) - 1), asked: pairs, now };
    const box = el("section", { "aria-label": "Differences in figures", "aria-live": "polite", "aria-busy": "true", class: "stands" }, el("p", { class: "eb-small" }, "Intervals and tests are being computed …"));
    fill(place, form(found.scores.map((one) => [one.name, one.title]), found.decides), answer(found, now, page, box));
    figured(box, asked, found);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    fill(place, form(now.rank ? [[now.rank, now.rank]] : []), el("p", { class: "fault", role: "alert" }, error.message));
  }
}
