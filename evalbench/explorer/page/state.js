// What is on the screen is in the address, behind the #: back and forward work, and it can be sent to a colleague.

// In a frame of a notebook the address is not ours: what is on the screen is kept here.
let framed = "";

function hash() {
  return globalThis.evalbenchFramed ? framed : location.hash.slice(1);
}

export function state() {
  const own = globalThis.evalbenchFramed ?? (globalThis.evalbenchPack ? { run: globalThis.evalbenchPack.about.run } : {});
  return { ...own, ...Object.fromEntries(new URLSearchParams(hash())) };
}

// Changes what the address says; nothing is drawn.
export function keep(changes) {
  const next = { ...Object.fromEntries(new URLSearchParams(hash())), ...changes };
  const parts = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  if (globalThis.evalbenchFramed) framed = String(parts);
  else history.replaceState(null, "", `#${parts}`);
}

export function go(changes, replace = false) {
  const before = hash();
  const next = { ...Object.fromEntries(new URLSearchParams(before)), ...changes };
  const parts = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  if (String(parts) === before) return;
  if (replace || globalThis.evalbenchFramed) {
    keep(changes);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = `#${parts}`;
  }
}

// The letters at which the server ends a term, for a class of a pattern.
export const BLANK = String.raw`\p{White_Space}\x1c-\x1f`;
const PLAIN_NAME = new RegExp(`^[^${BLANK}"=<>!~|\\\\-][^${BLANK}"=<>!~|\\\\]*$`, "u");
const PLAIN_VALUE = new RegExp(`^[^${BLANK}"|\\\\=<>!~][^${BLANK}"|\\\\]*$`, "u");

function quoted(text, plain) {
  return plain.test(text) ? text : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

// A term of the filter, written as the server reads it.
export function term(column, operator, value) {
  return `${quoted(column, PLAIN_NAME)}${operator}${value === "" ? "" : quoted(String(value), PLAIN_VALUE)}`;
}

const TERMS = new RegExp(`(?:"(?:[^"\\\\]|\\\\.)*"|[^${BLANK}"])+`, "gsu");

function terms(where) {
  return where.match(TERMS) ?? [];
}

// The filter with other terms in the place of its i-th.
export function replaced(where, i, added) {
  return terms(where).map((one, k) => (k === i ? added : one)).join(" ");
}

export function withTerm(where, added) {
  const known = terms(where);
  return known.includes(added) ? where : [...known, added].join(" ");
}

// Another value of a column: beside those that are asked for already.
export function withValue(where, column, value) {
  const begin = term(column, "=", "");
  const added = term(column, "=", value).slice(begin.length);
  const known = terms(where);
  const at = known.findIndex((one) => one.startsWith(begin) && one !== begin);
  if (at < 0 || value === "") return withTerm(where, term(column, "=", value));
  const values = known[at].slice(begin.length).match(/(?:"(?:[^"\\]|\\.)*"|[^|"])+/gsu) ?? [];
  if (!values.includes(added)) known[at] += `|${added}`;
  return known.join(" ");
}

// The ends of the range of a column that is asked for, where one is.
export function rangeOf(where, column) {
  const end = (sign) => terms(where).find((one) => one.startsWith(term(column, sign, "")))?.slice(term(column, sign, "").length);
  return [end(">="), end("<=")];
}

// A range of a column, in place of the one that is asked for already.
export function withRange(where, column, low, high, below) {
  const others = terms(where).filter((one) => ![">=", "<=", "<", ">"].some((sign) => one.startsWith(term(column, sign, ""))));
  return [...others, term(column, ">=", low), term(column, below, high)].join(" ");
}
