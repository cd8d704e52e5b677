import { ask, Fault } from "./ask.js";
import { el, fill, lamp, number, visible } from "./dom.js";
import { figures } from "./head.js";
import { go, rangeOf, term, withRange, withTerm, withValue } from "./state.js";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [320, 90];

function first(run) {
  const own = run.columns.filter((column) => column.table === "items" && column.name !== run.id).map((column) => column.name);
  const scores = [...new Set([...(run.decided_from?.columns ?? []), run.decided_by?.metric, ...run.figures.map((row) => row.metric)])].filter((name) => own.includes(name));
  return [...new Set([...scores.slice(0, 4), ...run.by, ...own.filter((name) => !["unscored", "undefined"].includes(name)), ...own])].slice(0, 6);
}

function svg(tag, properties) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, String(value));
  return made;
}

// The upper end of a bar belongs to the next one, but for the last.
function narrowed(now, column, low, high, below = "<=") {
  return withRange(now.where ?? "", column, low, high, below);
}

// All items pale, those of the filter strong; dragging, or the two fields below, keeps a range.
function histogram(column, found, now) {
  if (!found.edges.length) return el("p", { class: "eb-small" }, "No numbers.");
  const bins = found.counts.length;
  const most = Math.max(...found.all, 1);
  const step = WIDTH / bins;
  const alt = `${column}: from ${number(found.edges[0])} to ${number(found.edges[bins])}, ${found.counts.reduce((a, b) => a + b, 0)} of ${found.all.reduce((a, b) => a + b, 0)} items`;
  const drawn = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": alt, class: "histogram" });
  found.all.forEach((count, i) => {
    for (const [n, name] of [[count, "all"], [found.counts[i], "kept"]]) {
      const height = n ? Math.max(1.5, (n / most) * HEIGHT) : 0;
      const bar = svg("rect", { x: i * step + 0.5, y: HEIGHT - height, width: Math.max(step - 1, 0.5), height, class: name });
      const title = svg("title", {});
      title.textContent = `${number(found.edges[i])} to ${number(found.edges[i + 1])}: ${found.counts[i]} of ${count}`;
      bar.append(title);
      drawn.append(bar);
    }
  });
  const brush = svg("rect", { y: 0, height: HEIGHT, width: 0, class: "brush" });
  drawn.append(brush);
  let start = null;
  const at = (event) => {
    const box = drawn.getBoundingClientRect();
    return Math.min(bins, Math.max(0, ((event.clientX - box.left) / box.width) * bins));
  };
  drawn.addEventListener("pointerdown", (event) => {
    start = at(event);
    drawn.setPointerCapture(event.pointerId);
  });
  drawn.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const [low, high] = [Math.min(start, at(event)), Math.max(start, at(event))];
    brush.setAttribute("x", low * step);
    brush.setAttribute("width", (high - low) * step);
  });
  drawn.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const [low, high] = [Math.min(start, at(event)), Math.max(start, at(event))];
    start = null;
    const [from, to] = [Math.min(Math.floor(low), bins - 1), Math.min(Math.max(Math.ceil(high), Math.floor(low) + 1), bins)];
    go({ where: narrowed(now, column, found.edges[from], to === bins ? found.edges[bins] : found.edges[to], to === bins ? "<=" : "<"), page: "" });
  });
  const [least, greatest] = rangeOf(now.where ?? "", column);
  const low = el("input", { type: "number", step: "any", required: true, "aria-label": `${column}, from`, value: least ?? String(found.low) });
  const high = el("input", { type: "number", step: "any", required: true, "aria-label": `${column}, to`, value: greatest ?? String(found.high) });
  const keep = (event) => {
    event.preventDefault();
    go({ where: narrowed(now, column, low.value, high.value), page: "" });
  };
  return [drawn, el("form", { class: "range", onsubmit: keep }, low, "to", high, el("button", { type: "submit" }, "Keep"))];
}

// Of a text that is too long for a filter the beginning is asked for.
function beginning(found, i) {
  return found.cut[i] && !found.whole?.[i];
}

function ofValue(found, i, column, now) {
  return beginning(found, i) ? withTerm(now.where ?? "", term(column, "~", found.values[i].slice(0, -1)))
    : withValue(now.where ?? "", column, found.whole?.[i] ?? found.values[i]);
}

function bars(column, found, now) {
  const most = Math.max(...found.all, 1);
  const rows = found.values.map((value, i) => {
    const [all, kept] = [el("span", { class: "all" }), el("span", { class: "kept" })];
    all.style.width = `${(found.all[i] / most) * 100}%`;
    kept.style.width = `${(found.counts[i] / most) * 100}%`;
    return el("li", {},
      el("button", { type: "button", class: "link", dir: "auto", title: beginning(found, i) ? "items whose text holds this beginning" : value, onclick: () => go({ where: ofValue(found, i, column, now), page: "" }) }, visible(value)),
      el("span", { class: "track", "aria-hidden": "true" }, all, kept),
      el("span", { class: "number" }, found.counts[i] === found.all[i] ? number(found.all[i]) : `${number(found.counts[i])} of ${number(found.all[i])}`));
  });
  return [rows.length ? el("ol", { class: "bars" }, rows) : el("p", { class: "eb-small" }, `All ${number(found.empty_all)} are empty.`),
    found.more_all ? el("p", { class: "eb-small" }, `Other values: ${number(found.more)} of ${number(found.more_all)} items.`) : null];
}

// How many of the items of the filter, and of the run, have no value.
function empties(found) {
  const sum = (counts) => counts.reduce((a, b) => a + b, 0);
  const here = sum(found.counts) + (found.more ?? 0) + found.empty;
  const all = sum(found.all) + (found.more_all ?? 0) + found.empty_all;
  const whole = `${number(found.empty_all)} of ${number(all)}`;
  return here === all ? `${whole} items` : `${number(found.empty)} of ${number(here)} here, ${whole} in the run`;
}

async function chart(run, column, now) {
  const found = await ask("distribution", { run: run.run, column, where: now.where });
  return el("figure", { class: "chart" }, el("figcaption", {}, column),
    found.kind === "number" ? histogram(column, found, now) : bars(column, found, now),
    found.empty_all && (found.kind === "number" || found.values.length) ? el("p", { class: "eb-small" }, `Empty: ${empties(found)}.`) : null);
}

export function stands(run, found, now, before = null) {
  return el("section", { "aria-label": "What these items show", class: "stands" },
    el("p", {}, found.light ? lamp(found.light) : null, ` ${number(found.n)} of ${number(found.of)} items. `, el("span", { dir: "auto" }, visible(found.sentence))),
    found.note ? el("p", { class: "after" }, found.note) : null,
    found.sample ? el("p", { class: "after" }, `The figures are those of ${number(found.sample)} items, drawn evenly.`) : null,
    found.figures.length ? figures(run, found.figures, now, before) : null);
}

async function shownBy(run, now) {
  try {
    return stands(run, await ask("standing", { run: run.run, where: now.where }), now);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return el("p", { class: "fault", role: "alert" }, error.message);
  }
}

// Where no column has the figure that decides the light: of which it is computed.
function decided(run) {
  const from = run.decided_from;
  if (!from) return null;
  const how = from.columns.length ? `it is computed from sums over the items of ${from.columns.join(", ")}` : "its formula is on the run's page";
  return el("p", { class: "eb-small", dir: "auto" }, visible(`The light rests on ${from.title}, which is not a column of the items: ${how}.`));
}

// How the values of columns are spread, and what the items of the filter show.
export async function distributions(place, run, now) {
  let shown = first(run);
  try {
    shown = JSON.parse(now.charts ?? "");
  } catch {
    // as chosen by the page
  }
  const own = run.columns.filter((column) => column.table === "items").map((column) => column.name);
  const more = el("select", { "aria-label": "Add a column", onchange: (event) => go({ charts: JSON.stringify([...shown, event.target.value]) }) },
    el("option", { value: "" }, "Add a column …"), own.filter((name) => !shown.includes(name)).map((name) => el("option", { value: name }, name)));
  const charts = await Promise.all(shown.filter((name) => own.includes(name)).map((name) => chart(run, name, now)));
  fill(place, decided(run), el("div", { class: "charts" }, charts), more, el("h2", {}, "What these items show"), await shownBy(run, now));
}
