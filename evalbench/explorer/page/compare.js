import { ask, Fault } from "./ask.js";
import { cell, el, fill, number, visible } from "./dom.js";
import { go, term, withValue } from "./state.js";

const PAGE = 100; // as the server gives them
const LEFT_OUT = ["left_row", "right_row", "what"];

function select(label, name, options, value, both = {}) {
  return el("label", {}, label, " ", el("select", { "aria-label": label, onchange: (event) => go({ ...both, [name]: event.target.value, part: "", verdict: "", item: "", pair: "" }) },
    options.map(([own, title]) => el("option", { value: own, selected: own === (value ?? "") }, title))));
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

function figures(run, found) {
  const groups = run.by.filter((name) => found.figures.some((row) => row[name] !== undefined && row[name] !== null));
  const tested = found.figures.some((row) => "outcome" in row);
  const names = ["Figure", ...groups, found.names[0], found.names[1], "Difference [95 % interval]", "n", ...(tested ? ["p (Holm)", "Result"] : [])];
  const [first, rest] = [found.figures.filter((row) => row.headline), found.figures.filter((row) => !row.headline)];
  const line = (row) => el("tr", {},
    el("th", { scope: "row", dir: "auto", title: row.words ?? null }, visible(row.title)),
    groups.map((name) => el("td", { dir: "auto" }, row[name] === undefined || row[name] === null ? "all" : visible(String(row[name])))),
    ...["left", "right"].map((side) => el("td", { class: "number" }, cell(row[side]))),
    el("td", { class: "number nowrap" }, row.difference === null ? cell(null) : `${number(row.difference)}${row.ci_low === null ? "" : ` [${number(row.ci_low)}, ${number(row.ci_high)}]`}`),
    el("td", { class: "number" }, number(row.n)),
    tested && [el("td", { class: "number" }, row.p_holm === null ? cell(null) : row.p_holm < 0.001 ? "< 0.001" : number(row.p_holm)), el("td", {}, row.outcome)]);
  const table = (rows, title) => el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": title }, el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, names.map((name, i) => el("th", { scope: "col", class: i > groups.length && name !== "Result" ? "number" : null }, visible(name))))), el("tbody", {}, rows.map(line))));
  return [table(first, "Differences"), rest.length ? el("details", {}, el("summary", {}, `Further figures (${rest.length})`), table(rest, "Differences of further figures")) : null];
}

function units(run, found, now) {
  const names = Object.keys(found.rows[0] ?? {}).filter((name) => !LEFT_OUT.includes(name));
  const title = { left: found.names[0], right: found.names[1], change: "Change", verdict: "Result" };
  const open = (row) => (names.includes(run.id) && row.left_row !== null
    ? go({ item: String(row.left_row), pair: row.right_row === null ? "" : String(row.right_row) })
    : go({ view: "items", where: withValue(now.where ?? "", names[0], String(row[names[0]])), item: "", page: "" }));
  const body = found.rows.map((row) => el("tr", { onclick: () => open(row) }, names.map((name, i) => (i
    ? el("td", { class: typeof row[name] === "number" ? "number" : null, title: name === "change" ? row.what || null : null }, cell(row[name], name))
    : el("th", { scope: "row" }, el("button", { type: "button", class: "link", "data-row": row.left_row === null ? null : String(row.left_row), onclick: (event) => { event.stopPropagation(); open(row); } }, cell(row[name], name, true)))))));
  return el("div", { class: "eb-scroll table", tabindex: "0", role: "region", "aria-label": "Items of both sides" }, el("table", { class: "rows items" },
    el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col", class: ["left", "right", "change"].includes(name) ? "number" : null }, visible(title[name] ?? name))))), el("tbody", {}, body)));
}

function answer(run, found, now, page) {
  const chosen = (name) => el("button", { type: "button", "aria-pressed": String((now.verdict ?? "") === name), onclick: () => go({ verdict: name, part: "", item: "", pair: "" }) },
    name ? `${name} (${number(found.counts[name])})` : `all (${number(Object.values(found.counts).reduce((a, b) => a + b, 0))})`);
  const last = Math.max(0, Math.ceil(found.n / PAGE) - 1);
  const turn = (to, text) => el("button", { type: "button", disabled: to < 0 || to > last, onclick: () => go({ part: String(to), item: "" }) }, text);
  const only = found.only.map((n, i) => n && `${number(n)} only in ${found.names[i]}`).filter(Boolean).join(", ");
  return [
    found.notes.map((note) => el("p", { class: "after", dir: "auto" }, visible(note))),
    figures(run, found),
    el("h2", { dir: "auto" }, visible(`Items by ${found.metric || "change"}`)),
    only && el("p", { class: "eb-small" }, `${only}.`),
    found.n ? el("div", { class: "bar" },
      el("div", { class: "turn", role: "group", "aria-label": "Results" }, ["", ...Object.keys(found.counts)].map(chosen)),
      last > 0 && el("div", { class: "turn" }, turn(page - 1, "Previous"), el("span", {}, `Page ${page + 1} of ${number(last + 1)}`), turn(page + 1, "Next"))) : null,
    found.n ? units(run, found, now) : el("p", {}, "No single item has a value that can be compared."),
  ];
}

// Two runs, or two groups of one, item by item, the largest changes first.
export async function compare(place, run, given) {
  const now = sides(run, given);
  const others = (await ask("runs")).filter((one) => one.study === run.study && one.light && one.run !== run.run);
  const groups = groupsOf(run);
  const metrics = [...new Map(run.figures.map((row) => [row.metric, row.title || row.metric])).entries()];
  const numbers = run.columns.filter((column) => column.table === "items" && ["number", "yes/no"].includes(column.kind) && column.name !== run.id && !metrics.some(([name]) => name === column.name));
  const chosen = { left: now.left, right: now.right };
  const form = el("div", { class: "bar chosen" },
    select("Left", "left", groups, now.left || "all", chosen),
    select("Right", "right", groups, now.right || "all", chosen),
    others.length ? select("of", "with", [["", "this run"], ...others.map((one) => [one.run, `${one.run_id} ${(one.started || "").slice(0, 16).replace("T", " ")}`])], now.with, chosen) : null,
    select("By", "rank", [["", "the first figure"], ...metrics, ...numbers.map((column) => [column.name, column.name])], now.rank));
  const page = Math.max(0, Number.parseInt(now.part ?? "0", 10) || 0);
  const side = (group) => (group === "all" ? "" : group);
  try {
    const found = await ask("compare", { run: run.run, with: now.with, left: side(now.left), right: side(now.right), metric: now.rank, where: now.where, verdict: now.verdict, offset: page * PAGE });
    fill(place, form, answer(run, found, now, page));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    fill(place, form, el("p", { class: "fault", role: "alert" }, error.message));
  }
}
