// The filter as the server reads it (evalbench/readers/where.py), for a pack without a server.
import { Fault } from "./ask.js";
import { BLANK } from "./state.js";

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const PIECE = new RegExp(`${QUOTED}|[^${BLANK}"=<>!~|]+`, "suy");
const OPERATOR = /==|!=|>=|<=|=|>|<|~/suy;
const VALUE = new RegExp(`${QUOTED}|[^${BLANK}"|]+`, "suy");
const BLANKS = new RegExp(`^[${BLANK}]`, "u");
const NUMBER = /^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf)$/u;

// What a filter calls the length of a text: the column inside, else null.
export const lengthOf = (name) => /^length\((.+)\)$/su.exec(name)?.[1] ?? null;

const isBlank = (letter) => BLANKS.test(letter);

function at(pattern, text, place) {
  pattern.lastIndex = place;
  return pattern.exec(text)?.[0] ?? null;
}

function unquoted(piece) {
  return piece.startsWith('"') ? piece.slice(1, -1).replaceAll(/\\(.)/gsu, "$1") : piece;
}

function values(text, start) {
  const found = [];
  let place = start;
  for (let value = at(VALUE, text, place); value !== null; value = at(VALUE, text, place)) {
    found.push(unquoted(value));
    place += value.length;
    if (text[place] !== "|") break;
    place += 1;
  }
  return [found, place];
}

function term(text, start) {
  const negated = text[start] === "-" && start + 1 < text.length && !isBlank(text[start + 1]);
  let place = start + (negated ? 1 : 0);
  const piece = at(PIECE, text, place);
  if (piece === null) throw new Fault(`filter: ${text[place] === '"' ? "a quote is not closed" : `'${text[place]}' fits nowhere`} at place ${place + 1} of '${text}'`);
  const name = unquoted(piece);
  place += piece.length;
  const sign = at(OPERATOR, text, place);
  if (sign === null) return [{ column: "", operator: "~", values: [name], negated }, place];
  const operator = sign === "==" ? "=" : sign;
  const [found, end] = values(text, place + sign.length);
  if (!found.length && !["=", "!="].includes(operator)) throw new Fault(`filter: a value is missing after ${name}${operator}`);
  return [{ column: name, operator, values: found.length ? found : [""], negated }, end];
}

export function parse(text) {
  const found = [];
  let place = 0;
  while (place < text.length) {
    if (isBlank(text[place])) {
      place += 1;
      continue;
    }
    let one;
    [one, place] = term(text, place);
    found.push(one);
    if (place < text.length && !isBlank(text[place])) throw new Fault(`filter: '${text[place]}' at place ${place + 1} of '${text}' fits nowhere; quote texts with signs`);
  }
  return found;
}

// A number of JSON, or the text of one that JSON or JavaScript lacks: an infinity, a whole number beyond 2**53.
export function numeric(value) {
  if (typeof value !== "string") return value;
  return value.endsWith("inf") ? Number(value.replace("inf", "Infinity")) : Number(value);
}

// A text that is before others where the server has it before them: by code points, not by the halves of which pairs of units are made.
export function ordered(text) {
  if (!/[\ud800-\uffff]/.test(text)) return text;
  return text.replaceAll(/[\ud800-\uffff]/g, (unit) => String.fromCharCode(unit.charCodeAt(0) + (unit < "\ue000" ? 0x2000 : -0x800)));
}

const YES_NO = new Map([["true", "true"], ["yes", "true"], ["1", "true"], ["false", "false"], ["no", "false"], ["0", "false"]]);
const COMPARED = new Map([
  ["=", (a, b) => a === b], ["!=", (a, b) => a !== b], ["<", (a, b) => a < b], ["<=", (a, b) => a <= b], [">", (a, b) => a > b], [">=", (a, b) => a >= b],
]);

function asked(column, kind, text) {
  if (kind === "number" && !NUMBER.test(text)) throw new Fault(`filter: ${column} is a column of numbers; '${text}' is not a number`);
  if (kind === "number") return numeric(text);
  if (kind === "yes/no" && !YES_NO.has(text.toLowerCase())) throw new Fault(`filter: ${column} is true or false; not '${text}'`);
  return ordered(kind === "yes/no" ? YES_NO.get(text.toLowerCase()) : text);
}

// Characters are counted, not the halves of which pairs of units are made; null has no length.
function lengthTest({ column, operator, values: given }, kind, name) {
  if (kind !== "text") throw new Fault(`filter: only texts have a length; the kind of ${name} is ${kind}`);
  if (operator === "~" || (given.length === 1 && given[0] === "")) throw new Fault(`filter: a length is a number, such as ${column}>200`);
  const wanted = given.map((text) => asked(column, "number", text));
  const [fits, of] = [COMPARED.get(operator), operator === "!=" ? "every" : "some"];
  return (value, text) => text !== null && wanted[of]((one) => fits([...text].length, one));
}

// Whether a value, and its text as the server writes it, fulfil a condition; null fulfils none but that of being empty.
export function test({ column, operator, values: given }, kind, fold, ofLength = null) {
  if (ofLength !== null) return lengthTest({ column, operator, values: given }, kind, ofLength);
  if (given.length === 1 && given[0] === "") return (value, text) => (text === null || text === "") === (operator === "=");
  if (operator === "~") {
    const wanted = given.map(fold);
    return (value, text) => {
      const own = text === null ? null : fold(text);
      return own !== null && wanted.some((one) => own.includes(one));
    };
  }
  if (["text", "list"].includes(kind) && !["=", "!="].includes(operator) && given.some((text) => NUMBER.test(text))) {
    const ask = kind === "text" ? `; its length is length(${column})${operator}${given[0]}` : "";
    throw new Fault(`filter: ${column} is a column of ${kind}s, not of numbers${ask}`);
  }
  const wanted = given.map((text) => asked(column, kind, text));
  const [fits, of] = [COMPARED.get(operator), operator === "!=" ? "every" : "some"];
  return (value, text) => {
    if (value === null) return false;
    const own = kind === "number" ? numeric(value) : ordered(text);
    return wanted[of]((one) => fits(own, one));
  };
}
