// The thresholds of lights of one's own: for each figure two numbers, both or none.
import { el, number, visible } from "./dom.js";

const NAMES = { true: ["green_from", "yellow_from"], false: ["green_to", "yellow_to"] };

// A figure once, whatever groups have it; those without better and worse have no light.
function figuresOf(rows) {
  return new Map(rows.filter((row) => typeof row.higher_is_better === "boolean").map((row) => [row.metric, row]));
}

// The thresholds that a figure has now, those of the study or of another option, in the order of its fields.
function now(row) {
  const [low, high] = row.cuts ?? [];
  return row.cuts?.length === 2 ? (row.higher_is_better ? [high, low] : [low, high]) : [undefined, undefined];
}

// A field set for each figure that has thresholds; `change` is called with the option's whole value. Faults of a run are shown
// beside the figure that they are of, and figures that change their direction change the words of their thresholds.
export function lightsForm(option, given, rows, change) {
  let known = figuresOf(rows);
  const rules = new Map(Object.entries(given ?? {}));
  const shown = new Map(); // metric → what its fields can be told
  const place = el("div", { class: "lights" });
  const more = el("select", { "aria-label": `${option.name}: another figure` });
  const send = () => {
    const kept = Object.fromEntries([...rules].filter(([, rule]) => Object.keys(rule).length));
    change(option.name, Object.keys(kept).length || Object.keys(option.value ?? {}).length ? kept : option.value);
  };
  const add = (metric) => {
    const row = known.get(metric) ?? { metric, title: metric, higher_is_better: true };
    const id = `${option.name}-${metric}`;
    const fault = el("p", { id: `${id}-fault`, class: "fault", role: "status" });
    const pairs = [0, 1].map((i) => {
      const label = el("label", { for: `${id}-${i}` });
      const input = el("input", { id: `${id}-${i}`, type: "number", step: "any", "aria-describedby": `${id}-fault`, placeholder: now(row)[i] === undefined ? null : `now ${number(now(row)[i])}` });
      input.addEventListener("input", store);
      return { label, input };
    });
    let words = [];
    function store() {
      rules.set(metric, Object.fromEntries(pairs.map(({ input }, i) => [words[i], input.value]).filter(([, text]) => text !== "").map(([word, text]) => [word, Number(text)])));
      send();
    }
    const turn = (higher) => {
      const before = words;
      words = NAMES[higher];
      pairs.forEach(({ label }, i) => { label.textContent = words[i]; });
      if (before.length && before !== words && pairs.some(({ input }) => input.value)) store();
    };
    const own = rules.get(metric) ?? {};
    turn(Object.keys(own).length ? "green_from" in own || "yellow_from" in own : row.higher_is_better);
    pairs.forEach(({ input }, i) => { input.value = own[words[i]] ?? ""; });
    shown.set(metric, { turn, said: (text) => {
      fault.textContent = text;
      for (const { input } of pairs) text ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid");
    } });
    place.append(el("fieldset", {}, el("legend", { dir: "auto" }, visible(row.title || metric)), pairs.map(({ label, input }) => el("div", {}, label, input)), fault));
  };
  const offer = () => {
    const others = [...known.keys()].filter((metric) => !shown.has(metric));
    more.hidden = !others.length;
    more.replaceChildren(el("option", { value: "" }, "Thresholds of another figure …"), ...others.map((metric) => el("option", { value: metric }, known.get(metric).title || metric)));
  };
  more.addEventListener("change", () => {
    const metric = more.value;
    add(metric);
    offer();
    document.getElementById(`${option.name}-${metric}-0`).focus();
  });
  for (const metric of new Set([...rules.keys(), ...[...known].filter(([, row]) => row.cuts?.length).map(([name]) => name)])) add(metric);
  offer();
  return {
    form: el("div", { class: "option", role: "group", "aria-label": option.name }, el("span", { class: "name" }, option.name),
      el("p", { class: "eb-small" }, "Of each figure both thresholds or none; without them its light is that of the run's other options."), place, more),
    // What a run says of the option; true where every fault is shown beside its figure.
    faults: (text) => {
      const lines = text.split("\n").map((line) => line.replace(/^\s*- /u, "")).filter((line) => line !== "");
      const own = (metric, line) => line.startsWith(`${option.name}: ${metric}: `) || line.startsWith(`${option.name}: ${metric} `) || line.includes(`; got '${metric}'`);
      const placed = new Set();
      for (const [metric, { said }] of shown) {
        const found = lines.filter((line) => own(metric, line));
        found.forEach((line) => placed.add(line));
        said(found.map((line) => line.replace(`${option.name}: ${metric}: `, "")).join(" "));
      }
      return placed.size > 0 && lines.every((line) => placed.has(line) || line.endsWith(":"));
    },
    figures: (found) => {
      known = figuresOf(found);
      for (const [metric, { turn }] of shown) if (known.has(metric)) turn(known.get(metric).higher_is_better);
    },
  };
}
