import { ask, Fault } from "./ask.js";
import { copy, el, fill, number } from "./dom.js";
import { stands } from "./distributions.js";
import { lightsForm } from "./lights.js";
import { go, keep } from "./state.js";

const WAIT = 200;
const LIGHTS = "lights"; // the option with rules of one's own for each figure

function scale(value) {
  if (value === null || value === undefined) return null;
  if (value >= 0 && value <= 1) return [0, 1, 0.01];
  const most = Math.max(1, 2 * Math.abs(value));
  return [value < 0 ? -most : 0, most, Number.isInteger(value) ? 1 : most / 200];
}

// How many figures change their light or their value, and how many items are moved by that.
function sides(before, after, moved) {
  const changed = (name) => after.filter((row, i) => row[name] !== before[i]?.[name]).length;
  const figures = `${number(changed("light"))} of ${number(after.length)} figures change their light, ${number(changed("value"))} their value.`;
  const lights = `${number(moved.relit)} of ${number(moved.n)} items are in groups of which a figure changes its light`;
  return `${figures} ${lights}${moved.rescored === null ? "" : `; ${number(moved.rescored)} change a score of their own`}.`;
}

// A field for each option; `change` is called with its name and value, or null where the field holds none.
function field(option, value, change) {
  const id = `option-${option.name}`;
  const help = option.help ? el("p", { class: "eb-small", id: `${id}-help` }, option.help) : null;
  const label = el("label", { for: id }, option.name);
  const described = option.help ? `${id}-help` : null;
  if (option.kind === "number") {
    const own = el("input", { id, type: "number", step: "any", value: value ?? "", "aria-describedby": described });
    const range = scale(option.value);
    const slider = range && el("input", { type: "range", min: String(range[0]), max: String(range[1]), step: String(range[2]), value: String(value), "aria-label": `${option.name}, slider` });
    const set = (text) => change(option.name, text === "" ? null : Number(text));
    own.addEventListener("input", () => { if (slider) slider.value = own.value; set(own.value); });
    slider?.addEventListener("input", () => { own.value = slider.value; set(slider.value); });
    return el("div", { class: "option" }, label, own, slider, help);
  }
  if (option.choices.length && option.kind === "text") {
    const own = el("select", { id, "aria-describedby": described, onchange: (event) => change(option.name, event.target.value) },
      [...new Set([String(value), ...option.choices])].map((choice) => el("option", { value: choice, selected: choice === value }, choice)));
    return el("div", { class: "option" }, label, own, help);
  }
  const text = option.kind === "text" ? value ?? "" : JSON.stringify(value);
  const own = el("input", { id, type: "text", value: text, spellcheck: "false", "aria-describedby": described });
  own.addEventListener("input", () => {
    try {
      change(option.name, option.kind === "text" ? own.value : JSON.parse(own.value));
      own.removeAttribute("aria-invalid");
    } catch {
      own.setAttribute("aria-invalid", "true");
    }
  });
  return el("div", { class: "option" }, label, own, help);
}

// Other thresholds under the hand: the figures and the light as a run with these options would have them.
export async function thresholds(place, run, now) {
  let options = {};
  try {
    options = JSON.parse(now.options ?? "{}");
  } catch {
    // an address that was cut
  }
  const result = el("div", { class: "result", "aria-live": "polite" });
  const before = await ask("standing", { run: run.run, where: now.where });
  let waiting = 0;
  let asked = 0;
  let lights = null;
  const show = async () => {
    const mine = (asked += 1);
    try {
      const found = Object.keys(options).length ? await ask("standing", { run: run.run, where: now.where, options: JSON.stringify(options) }) : before;
      if (mine !== asked) return;
      lights?.faults("");
      lights?.figures(found.figures);
      const moved = found.light === before.light ? `The light stays ${found.light}.` : `The light is ${found.light}; it was ${before.light}.`;
      fill(result, el("h2", {}, moved),
        found.line ? el("p", { class: "line" }, el("code", {}, found.line), " ", el("button", { type: "button", onclick: () => copy(found.line) }, "Copy")) : el("p", { class: "eb-small" }, "Nothing is changed yet."),
        found.moved === null ? null : el("p", {}, sides(before.figures, found.figures, found.moved)),
        stands(run, found, now, before.figures));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (mine !== asked) return;
      fill(result, el("p", { class: "fault", role: "alert" }, lights?.faults(error.message) ? "No figures: the thresholds of a light have a fault, which is beside them." : error.message));
    }
  };
  const own = Object.fromEntries(run.options.map((option) => [option.name, option.value]));
  const change = (name, value) => {
    if (value === own[name] || JSON.stringify(value) === JSON.stringify(own[name])) delete options[name];
    else options[name] = value;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      keep({ options: Object.keys(options).length ? JSON.stringify(options) : "" });
      show();
    }, WAIT);
  };
  const fixed = run.fixed_options.length ? el("details", {}, el("summary", {}, `${number(run.fixed_options.length)} options need a new run: other scores`),
    el("dl", { class: "fields" }, run.fixed_options.map((option) => el("div", {}, el("dt", {}, option.name), el("dd", {}, JSON.stringify(option.value)))))) : null;
  const fields = run.options.map((option) => {
    const value = option.name in options ? options[option.name] : option.value;
    if (option.name !== LIGHTS || option.kind !== "json") return field(option, value, change);
    lights = lightsForm(option, value, before.figures, change);
    return lights.form;
  });
  fill(place, el("div", { class: "columns" },
    el("form", { class: "options", onsubmit: (event) => event.preventDefault() },
      fields.length ? fields : el("p", {}, "Every option of this study needs a new run."),
      el("button", { type: "button", onclick: () => go({ options: "" }) }, "As the run was"), fixed),
    result));
  await show();
}
