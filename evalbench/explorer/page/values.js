// A value of an item as it is read: a vector by its length and first numbers, JSON with a line for each part, a long text folded.
import { cell, el, number, visible } from "./dom.js";

const FIRST = 5; // numbers of a vector that are seen at once
const [FEW, WIDE, OPEN] = [8, 80, 16]; // numbers in a line, letters of a part in a line, lines that are not folded
const [LONGEST, DEEPEST] = [1500, 50];
const MOST_JSON = 200_000; // letters beyond which JSON is a text like others
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gsu;

function isVector(value) {
  return Array.isArray(value) && value.some((one) => typeof one === "number") && value.every((one) => typeof one === "number" || one === null);
}

function vector(value) {
  const said = value.map((one) => (one === null ? "null" : String(one)));
  if (value.length <= FEW) return el("span", { class: "vector" }, said.join(", "));
  const begin = value.slice(0, FIRST).map((one) => (one === null ? "null" : number(one))).join(", ");
  return el("details", { class: "vector" }, el("summary", {}, `${number(value.length)} numbers: ${begin}, …`), el("p", { tabindex: "0" }, said.join(", ")));
}

// The next part of JSON, of which all lines but the first are indented; `at` is the place of its first token.
function part(tokens, at, depth = 0) {
  if (depth > DEEPEST) throw new RangeError("nested too deep to be read");
  const open = tokens[at.i++];
  if (open !== "{" && open !== "[") return open;
  const close = open === "{" ? "}" : "]";
  const parts = [];
  while (tokens[at.i] !== close) {
    if (tokens[at.i] === ",") at.i += 1;
    const key = open === "{" ? `${tokens[at.i]}: ` : "";
    if (key) at.i += 2;
    parts.push(key + part(tokens, at, depth + 1));
  }
  at.i += 1;
  const line = `${open}${parts.join(", ")}${close}`;
  const plain = open === "[" && !parts.some((one) => /[[{]/u.test(one));
  return !line.includes("\n") && (line.length <= WIDE || plain) ? line : `${open}\n${parts.join(",\n").replaceAll(/^/gmu, "  ")}\n${close}`;
}

// Of a text that is JSON its value and its lines, in which names, texts and numbers stay as they are written; null of others.
function parsed(text) {
  if (!/^\s*[[{]/u.test(text) || text.length > MOST_JSON) return null;
  try {
    return { value: JSON.parse(text), lines: part(text.match(TOKENS), { i: 0 }) };
  } catch {
    return null;
  }
}

// A text for reading: JSON that does not fit in a line is indented.
export function readable(text) {
  const found = parsed(text);
  return found?.lines.includes("\n") ? found.lines : text;
}

// A text of which the rest comes by a button.
export function folded(text) {
  if (text.length <= LONGEST) return visible(text);
  const begin = `${text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/u, "")}…`;
  const shown = el("span", {}, visible(begin));
  const more = el("button", { type: "button", class: "link" });
  let whole = true;
  const turn = () => {
    whole = !whole;
    shown.replaceChildren(...visible(whole ? text : begin));
    more.textContent = whole ? "Show the beginning" : `Show all ${number(text.length)} letters`;
    more.setAttribute("aria-expanded", String(whole));
  };
  more.addEventListener("click", turn);
  turn();
  return [shown, " ", more];
}

function json(text) {
  const lines = text.split("\n").length;
  if (lines === 1) return el("code", { dir: "auto" }, visible(text));
  const begin = `${text.replaceAll(/\s+/gu, " ").slice(0, WIDE)}…`;
  return el("details", { class: "json", open: lines <= OPEN }, el("summary", { dir: "auto" }, `${number(lines)} lines: `, visible(begin)),
    el("pre", { dir: "auto", tabindex: "0" }, visible(text)));
}

// A text that is a long vector, or JSON of several lines, in that form; null of others.
function structure(text) {
  const found = parsed(text);
  if (isVector(found?.value) && found.value.length > FEW) return vector(found.value);
  return found?.lines.includes("\n") ? json(found.lines) : null;
}

function isTexts(value) {
  return value.length > 0 && value.every((one) => typeof one === "string");
}

// Whether a value is read in a block of its own, below its name.
export function isBlock(value) {
  if (typeof value === "string") return value.length > 60;
  if (!Array.isArray(value)) return value !== null && typeof value === "object";
  return isVector(value) ? value.length > FEW : isTexts(value) ? value.some(isBlock) : value.length > 0;
}

// A value in a block of its own; texts keep their lines.
export function block(given, name) {
  const made = typeof given === "string" ? structure(given) : value(given, name);
  return made ? el("div", { class: "value" }, made) : el("p", { dir: "auto" }, folded(given));
}

// The value of a column of an item.
export function value(given, name) {
  if (isVector(given)) return vector(given);
  if (typeof given === "string" && given.length > 60) return structure(given) ?? el("span", { dir: "auto" }, folded(given));
  if (Array.isArray(given) && isTexts(given)) return el("ul", { class: "list" }, given.map((one) => el("li", { dir: "auto" }, value(one, name))));
  if (given !== null && typeof given === "object") return json(parsed(JSON.stringify(given))?.lines ?? JSON.stringify(given));
  return cell(given, name, true);
}
