// What is on the screen is in the address, behind the #: back and forward work, and it can be sent to a colleague.

export function state() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

export function go(changes, replace = false) {
  const next = { ...state(), ...changes };
  const parts = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  const hash = `#${parts}`;
  if (hash === location.hash) return;
  if (replace) {
    history.replaceState(null, "", hash);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = hash;
  }
}

const PLAIN_NAME = /^[^\s"=<>!~|\\-][^\s"=<>!~|\\]*$/u;
const PLAIN_VALUE = /^[^\s"|\\=<>!~][^\s"|\\]*$/u;

function quoted(text, plain) {
  return plain.test(text) ? text : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

// A term of the filter, written as the server reads it.
export function term(column, operator, value) {
  return `${quoted(column, PLAIN_NAME)}${operator}${value === "" ? "" : quoted(String(value), PLAIN_VALUE)}`;
}

export function withTerm(where, added) {
  return where.split(/\s+/u).includes(added) ? where : `${where} ${added}`.trim();
}
