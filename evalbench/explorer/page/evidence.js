// What a score rests on, as the page draws it: places in a text, steps of a solution, statements with what they cite.
import { el, visible } from "./dom.js";
import { isOwn } from "./parts.js";

const AROUND = 300; // letters of a source before and after what was found in it
const SIDES = { truth: "reference", prediction: "answer" };

// The stretches that a row marks; ends count characters as Python does, the second one is exclusive.
function spansOf(row) {
  const found = [];
  const add = (start, end, kind, title) => {
    if (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end) found.push({ start, end, kind, title: `${SIDES[kind]}: ${title ?? ""}` });
  };
  if ("predicted_start" in row) {
    add(row.start, row.end, "truth", row.entity_class);
    add(row.predicted_start, row.predicted_end, "prediction", row.predicted_class);
  } else if ("side" in row && typeof row.spans === "string") {
    let pairs = [];
    try {
      pairs = JSON.parse(row.spans);
    } catch {
      // a text that is no list of places marks nothing
    }
    for (const pair of Array.isArray(pairs) ? pairs : []) add(pair?.[0], pair?.[1], row.side === "truth" ? "truth" : "prediction", row.category ?? row.rule);
  }
  return found;
}

// A text of which places are marked; those that leave it are not.
function segments(text, spans) {
  const letters = Array.from(text);
  const inside = spans.filter((span) => span.end <= letters.length);
  const cuts = [...new Set([0, letters.length, ...inside.flatMap((span) => [span.start, span.end])])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((from, i) => {
    const over = inside.filter((span) => span.start <= from && span.end > from);
    const part = visible(letters.slice(from, cuts[i + 1]).join(""));
    if (!over.length) return part;
    const kinds = [...new Set(over.map((span) => `eb-${span.kind}`))].join(" ");
    return el("mark", { class: kinds, title: [...new Set(over.map((span) => span.title))].join("; ") }, part);
  });
}

function fold(title, made) {
  return el("details", { open: true }, el("summary", {}, el("h3", {}, title)), made);
}

function places(run, found) {
  const texts = Object.values(found.tables).filter((rows) => rows.length === 1 && typeof rows[0].text === "string").map((rows) => rows[0].text);
  const spans = Object.values(found.tables).flatMap((rows) => rows.filter((row) => isOwn(run, row, found.place)).flatMap(spansOf));
  if (texts.length !== 1 || !spans.length) return null;
  return fold(`marked places (${spans.length})`, [
    el("p", { class: "eb-small" }, el("mark", { class: "eb-truth" }, "in the reference"), " ", el("mark", { class: "eb-prediction" }, "in the answer"), " ", el("mark", { class: "eb-truth eb-prediction" }, "in both")),
    el("div", { class: "text" }, el("p", { dir: "auto" }, segments(texts[0], spans)))]);
}

function yes(value, otherwise) {
  return value === null || value === undefined ? otherwise : Number(value) ? "✓ yes" : "✗ no";
}

// Verdicts of the study citation, in the words of its page.
const VERDICTS = { ENTAILMENT: "supported", NEUTRAL: "not shown", CONTRADICTION: "contradicted", "NO SOURCE": "no such source", "NO QUOTE": "not verified" };

function words(label) {
  return VERDICTS[label] ?? String(label).toLowerCase().replaceAll("_", " ");
}

function table(label, heads, rows) {
  return el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": label }, el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, heads.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows)));
}

// The steps of a worked solution with what is wrong in them.
function steps(run, found) {
  const own = (name) => (found.tables[name] ?? []).filter((row) => isOwn(run, row, found.place));
  const [rows, faults] = [own("steps"), own("faults")];
  if (!rows.length || !("text" in rows[0]) || !("coherent" in rows[0])) return null;
  const said = (fault) => (fault.kind === "unsourced" ? `${fault.number} has no source` : [fault.kind, fault.equation, fault.detail && `it is ${fault.detail}`].filter(Boolean).join(", "));
  const lines = rows.sort((a, b) => a.step - b.step).map((row) => {
    const wrong = faults.filter((fault) => fault.step === row.step);
    const marks = wrong.filter((fault) => Number.isInteger(fault.start) && fault.start < fault.end).map((fault) => ({ start: fault.start, end: fault.end, kind: "other", title: said(fault) }));
    const unknown = row.equations ? "cannot be read" : "no equation";
    return el("tr", {}, el("th", { scope: "row" }, String(row.step)), el("td", { dir: "auto" }, segments(row.text, marks)), el("td", {}, yes(row.accurate, unknown)), el("td", {}, yes(row.coherent, unknown)),
      el("td", { dir: "auto" }, visible(wrong.map(said).join("; "))));
  });
  return fold(`steps (${rows.length})`, table("Steps", ["Step", "What the answer says", "Equations right", "Numbers sourced", "What is wrong"], lines));
}

// Of a source what was found in it, with what is around; else its beginning, or of a long one the middle of what was read.
function source(row) {
  const letters = Array.from(row.source_text ?? "");
  if (!letters.length) return visible(row.url || row.title || "no source named");
  const located = Number.isInteger(row.located_start) && row.located_start >= 0 && row.located_end > row.located_start;
  const begin = located ? Math.max(0, row.located_start - AROUND) : row.read_start ? row.read_start + Math.max(0, Math.floor((row.read_characters ?? 0) / 2) - AROUND) : 0;
  const end = located ? row.located_end + AROUND : begin + 2 * AROUND;
  const marks = located ? [{ start: row.located_start - begin, end: row.located_end - begin, kind: "other", title: "found in the source" }] : [];
  return [begin ? "…" : null, segments(letters.slice(begin, end).join(""), marks), end < letters.length ? "…" : null];
}

// Each statement with the places in the sources that it cites: a number leads from the one to the other.
function citations(run, found) {
  const own = (name) => (found.tables[name] ?? []).filter((row) => isOwn(run, row, found.place));
  const rows = own("citations").filter((row) => "claim" in row && "source_text" in row);
  if (!rows.length) return null;
  const statements = own("statements").filter((row) => "cites" in row);
  const cited = (row) => String(row.cites ?? "").split(",").map((one) => one.trim()).filter(Boolean);
  const boxes = new Map(rows.map((row) => {
    const verdicts = [[row.support_label, row.support_reason], [row.verification_label, row.verification_reason]].filter(([label]) => label);
    return [String(row.n), el("article", { class: "source", tabindex: "-1", "aria-label": `Citation ${row.n}` },
      el("p", { dir: "auto" }, el("strong", {}, `[${row.n}] `), visible(row.claim ?? ""), row.quote ? [" ", el("q", {}, visible(row.quote))] : null),
      el("p", { class: "eb-small" }, visible([row.title, row.url].filter(Boolean).join(", "))),
      el("div", { class: "text" }, el("p", { dir: "auto" }, source(row))),
      verdicts.map(([label, why], i) => el("p", { class: "eb-small", dir: "auto" }, el("strong", {}, visible(words(label))), visible(why && (i === 0 || why !== verdicts[0][1]) ? `: ${why}` : "")))
    )];
  }));
  const lead = (n) => (boxes.has(n) ? el("button", { type: "button", class: "link", "aria-label": `to citation ${n}`, onclick: () => { boxes.get(n).scrollIntoView({ block: "nearest" }); boxes.get(n).focus(); } }, `[${n}]`) : el("span", { class: "fault", title: "there is no such citation" }, visible(`[${n}]`)));
  const said = statements.map((row) => el("li", { value: Number.isInteger(row.statement) ? row.statement : null }, el("span", { dir: "auto" }, visible(row.text ?? "")), " ", cited(row).length ? cited(row).map(lead) : el("span", { class: "none" }, "cites nothing"),
    el("span", { class: "eb-small" }, ` supported by what it cites: ${yes(row.recalled, "not known")}`)));
  return fold(`statements (${statements.length}) and what they cite (${rows.length})`, el("div", { class: said.length ? "pair" : null },
    said.length ? el("ol", { class: "steps" }, said) : null, el("div", {}, [...boxes.values()])));
}

// What of an item's tables is drawn in a form of its own; nothing where the tables are of no such kind.
export function evidence(run, found) {
  const made = [places(run, found), citations(run, found), steps(run, found)].filter(Boolean);
  return made.length ? made : null;
}

// Tables whose rows are drawn so: behind them they are folded.
export function isDrawn(name, rows) {
  const has = (...columns) => columns.every((column) => column in rows[0]);
  return (name === "citations" && has("claim", "source_text")) || (name === "statements" && has("cites")) || (name === "steps" && has("text", "coherent")) || (name === "faults" && has("step", "kind"));
}
