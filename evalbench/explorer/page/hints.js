// What was probably meant by a filter that no item fits, where it is written as the page shows values.
import { ask } from "./ask.js";
import { el, number } from "./dom.js";
import { go, replaced, term } from "./state.js";
import { parse } from "./where.js";

const NOTHING = new Set(["null", "none", "nan", "na", "empty", "empty text", "—", "-"]);
const AS_SHOWN = /^[+-]?[0-9]*\.([0-9]+)$/u;

// A range that holds what is rounded to a number as it is written.
function around(column, text, decimals) {
  const half = 0.5 * 10 ** -decimals;
  const [low, high] = [Number(text) - half, Number(text) + half].map((end) => end.toFixed(decimals + 1));
  return `${term(column, ">=", low)} ${term(column, "<", high)}`;
}

function instead(run, { column, operator, values, negated }) {
  if (operator !== "=" || negated || values.length > 1 || !values[0]) return null;
  if (NOTHING.has(values[0].toLowerCase())) return ["Empty and null cells are asked for by", term(column, "=", "")];
  const kind = run.columns.find(({ name }) => name === column)?.kind;
  const decimals = AS_SHOWN.exec(values[0])?.[1].length;
  if (kind === "number" && decimals) return ["Numbers are shown rounded; what is shown so is", around(column, values[0], decimals)];
  return kind === "text" ? ["The whole text must be equal; a part of it is asked for by", term(column, "~", values[0])] : null;
}

// A line for each term that something else fits, with what to ask for.
export async function meant(run, where) {
  const lines = await Promise.all(parse(where).map(async (one, i) => {
    const [why, terms] = instead(run, one) ?? [];
    if (!terms) return null;
    const other = replaced(where, i, terms);
    const { n } = await ask("items", { run: run.run, where: other, sort: "", offset: 0, limit: 1 });
    return n ? el("p", {}, `${why} `, el("button", { type: "button", class: "link", onclick: () => go({ where: other, page: "", item: "" }) }, terms), `: ${number(n)} item${n === 1 ? "" : "s"}.`) : null;
  }));
  return lines.filter(Boolean);
}
