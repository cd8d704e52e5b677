// The text of an item with the places that were marked in it: in the reference, in the answer, or in both.
import { el, visible } from "./dom.js";
import { isOwn } from "./parts.js";

// The stretches that a row marks; ends count characters as Python does, the second one is exclusive.
function spansOf(row) {
  const found = [];
  const add = (start, end, kind, title) => {
    if (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end) found.push({ start, end, kind, title: title ?? "" });
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

function segments(text, spans) {
  const letters = Array.from(text);
  const inside = spans.filter((span) => span.end <= letters.length);
  const cuts = [...new Set([0, letters.length, ...inside.flatMap((span) => [span.start, span.end])])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((from, i) => {
    const over = inside.filter((span) => span.start <= from && span.end > from);
    const part = visible(letters.slice(from, cuts[i + 1]).join(""));
    if (!over.length) return part;
    const kinds = [...new Set(over.map((span) => `eb-${span.kind}`))].join(" ");
    return el("mark", { class: kinds, title: [...new Set(over.map((span) => `${span.kind === "truth" ? "reference" : "answer"}: ${span.title}`))].join("; ") }, part);
  });
}

// Nothing where no table of the item marks places in its only text.
export function evidence(run, found) {
  const texts = Object.values(found.tables).filter((rows) => rows.length === 1 && typeof rows[0].text === "string").map((rows) => rows[0].text);
  const spans = Object.values(found.tables).flatMap((rows) => rows.filter((row) => isOwn(run, row, found.place)).flatMap(spansOf));
  if (texts.length !== 1 || !spans.length) return null;
  return el("details", { open: true }, el("summary", {}, el("h3", {}, `marked places (${spans.length})`)),
    el("p", { class: "eb-small" }, el("mark", { class: "eb-truth" }, "in the reference"), " ", el("mark", { class: "eb-prediction" }, "in the answer"), " ", el("mark", { class: "eb-truth eb-prediction" }, "in both")),
    el("div", { class: "text" }, el("p", { dir: "auto" }, segments(texts[0], spans))));
}
