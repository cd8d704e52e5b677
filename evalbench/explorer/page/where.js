// The filter as the server reads it (evalbench/readers/where.py), for a pack without a server.
import { Fault } from "./ask.js";

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const PIECE = new RegExp(`${QUOTED}|[^\\s"=<>!~|]+`, "suy");
const OPERATOR = /==|!=|>=|<=|=|>|<|~/suy;
const VALUE = new RegExp(`${QUOTED}|[^\\s"|]+`, "suy");

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
  const negated = text[start] === "-" && start + 1 < text.length && !/\s/u.test(text[start + 1]);
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
    if (/\s/u.test(text[place])) {
      place += 1;
      continue;
    }
    let one;
    [one, place] = term(text, place);
    found.push(one);
    if (place < text.length && !/\s/u.test(text[place])) throw new Fault(`filter: '${text[place]}' at place ${place + 1} of '${text}' fits nowhere; quote texts with signs`);
  }
  return found;
}

export function asText(value) {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? `[${value.join(", ")}]` : String(value);
}

const YES_NO = { true: "true", yes: "true", 1: "true", false: "false", no: "false", 0: "false" };

// Whether a value fulfils a condition on its column; null fulfils none but that of being empty.
export function test(condition, kind) {
  const { column, operator } = condition;
  if (condition.values.length === 1 && condition.values[0] === "") {
    return (value) => (value === null || value === "") === (operator === "=");
  }
  if (operator === "~") {
    const wanted = condition.values.map((one) => one.toLowerCase());
    return (value) => value !== null && wanted.some((one) => asText(value).toLowerCase().includes(one));
  }
  if (kind === "number") {
    const wanted = condition.values.map((one) => {
      if (one.trim() === "" || Number.isNaN(Number(one))) throw new Fault(`filter: ${column} is a column of numbers; '${one}' is not a number`);
      return Number(one);
    });
    const compare = { "=": (a, b) => a === b, "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };
    if (operator === "!=") return (value) => value !== null && !wanted.includes(value);
    return (value) => value !== null && wanted.some((one) => compare[operator](value, one));
  }
  const wanted = kind === "yes/no" ? condition.values.map((one) => {
    const said = YES_NO[one.toLowerCase()];
    if (said === undefined) throw new Fault(`filter: ${column} is true or false; not '${one}'`);
    return said;
  }) : condition.values;
  if (operator === "!=") return (value) => value !== null && !wanted.includes(asText(value));
  if (operator === "=") return (value) => value !== null && wanted.includes(asText(value));
  const ordered = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b }[operator];
  return (value) => value !== null && wanted.some((one) => ordered(asText(value), one));
}
