// Elements made of texts: whatever a text holds, it stays a text.

export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function fill(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return place;
}

const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<=^|[\u0000-\u024f\u0370-\u05ff\u200c\u200d\ufe00-\ufe0f])[\u200c\u200d\ufe00-\ufe0f]/gu;

// A text in which characters that hide, reorder or steer are seen by their numbers.
export function visible(text) {
  const found = [];
  let at = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    found.push(text.slice(at, match.index), el("span", { class: "eb-ctl", title: "a character that is not seen" }, `U+${code}`));
    at = match.index + match[0].length;
  }
  found.push(text.slice(at));
  return found.filter((part) => part !== "");
}

export function number(value) {
  if (!Number.isFinite(value)) return String(value);
  const text = Number.isInteger(value) ? value.toLocaleString("en").replaceAll(",", "\u202f")
    : Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
  return text.replace("-", "\u2212");
}

const REASONS = ["unscored", "undefined"];

// The value of a column: null is not the text "", 0 or false; `exact` numbers are not rounded.
export function cell(value, column = "", exact = false) {
  if (value === null || value === undefined) return el("span", { class: "none" }, "—", el("span", { class: "unseen" }, "null"));
  if (value === "") return el("span", { class: "none" }, REASONS.includes(column) ? "none" : "empty text");
  if (typeof value === "number") return el("span", { class: "number", title: String(value) }, exact ? (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(12)))) : number(value));
  if (typeof value === "boolean") return el("span", {}, value ? "true" : "false");
  if (Array.isArray(value) && value.length && value.every((one) => typeof one === "string")) {
    return exact ? el("ul", { class: "list" }, value.map((one) => el("li", { dir: "auto" }, visible(one)))) : el("span", { dir: "auto" }, visible(value.join(" · ")));
  }
  if (Array.isArray(value) && value.length && value.every((one) => typeof one === "number" || one === null)) {
    return el("span", { class: "nowrap" }, value.slice(0, 3).map((one) => (one === null ? "null" : number(one))).join(", "), value.length > 3 ? ", …" : "");
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return el("span", { dir: "auto" }, visible(text));
}

const SYMBOLS = { green: "●", yellow: "◐", red: "▲", grey: "◌", unlit: "○" };

export function lamp(light) {
  if (!light) return el("span", { class: "none" }, "—");
  return el("span", { class: `eb-lamp eb-${light}` }, el("span", { "aria-hidden": "true" }, `${SYMBOLS[light] ?? "○"} `), light);
}

let hiding = 0;

// A line that is read out, and seen for a while.
export function say(text) {
  const place = document.getElementById("said");
  place.textContent = text;
  place.classList.add("seen");
  clearTimeout(hiding);
  hiding = setTimeout(() => place.classList.remove("seen"), 2500);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    window.prompt("The browser does not let this page copy; the text is:", text);
  }
}

function called(element) {
  if (element.id) return element.id;
  const label = element.getAttribute("aria-label") ?? element.closest("label")?.textContent ?? element.textContent;
  const chart = element.closest("figure")?.querySelector("figcaption")?.textContent ?? "";
  return [element.tagName, chart, element.dataset.row ?? "", label.replaceAll(/[▲▼]|\(.*?\)/gu, "").trim()].join(" ");
}

// Draws a place anew; what had the focus and what was unfolded stay so, by their names.
export function redraw(place, ...children) {
  const had = place.contains(document.activeElement) ? called(document.activeElement) : null;
  const open = new Set([...place.querySelectorAll("details[open] > summary")].map(called));
  fill(place, ...children);
  for (const summary of place.querySelectorAll("details > summary")) {
    if (open.has(called(summary))) summary.parentElement.open = true;
  }
  if (had === null) return;
  const again = [...place.querySelectorAll("a, button, input, select, summary, [tabindex]")].find((one) => called(one) === had && !one.disabled);
  (again ?? place).focus({ preventScroll: !again }); // what is not there any more leaves the focus in its place, not at the top
}
