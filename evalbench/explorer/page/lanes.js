// What an agent did: its trials as lanes below each other, as on the page, its steps, and the steps of a judge that looks things up.
import { el, number, visible } from "./dom.js";
import { isOwn } from "./parts.js";

const SIGNS = { right: ["●", "good"], "wrong arguments": ["◐", "warn"], extra: ["○", "muted"], repeat: ["↻", "warn"], error: ["✗", "bad"], forbidden: ["⊘", "bad"], made: ["◆", "muted"] };
const TRIAL = "trial";
export const TRAJECTORY = ["tool_calls", "steps", "trials", "missed"]; // tables that are drawn as trials and steps
const LONGEST = 1500;

function text(value, tag = "div") {
  return el(tag, { class: "eb-whole", dir: "auto" }, visible(String(value)));
}

// A text of which the rest is one click away.
function clipped(value) {
  const whole = String(value);
  if (whole.length <= LONGEST) return text(whole);
  return el("details", {}, el("summary", { dir: "auto" }, visible(`${whole.slice(0, LONGEST)}…`)), text(whole));
}

function fold(title, made, open = false) {
  return el("details", { open }, el("summary", {}, el("h3", {}, title)), made);
}

// A fold whose inside is made when it is opened for the first time.
export function later(title, make) {
  const made = el("details", {}, el("summary", {}, el("h3", {}, title)));
  made.addEventListener("toggle", () => { if (made.open && made.childElementCount === 1) made.append(...[make()].flat(Infinity)); });
  return made;
}

function mark(call) {
  const [sign, colour] = SIGNS[call.look] ?? SIGNS.made;
  const behind = [["arguments", call.arguments], ["expected", call.expected], ["error", call.error], ["result", call.result === call.error ? "" : call.result]].filter(([, value]) => value);
  const flags = [call.repeated && "repeats an earlier call", call.cycle ? `in a loop of ${call.cycle}` : null, call.recovered && "made good later",
    call.unreadable && `arguments: ${call.unreadable}`, call.answered === false && "no result"].filter(Boolean).join("; ");
  return el("details", { class: `eb-call eb-call-${colour}` },
    el("summary", { title: call.look }, el("span", { class: "eb-call-sign" }, sign), " ", el("span", { class: "eb-call-name", dir: "auto" }, visible(call.name ?? ""))),
    el("div", {}, el("p", {}, el("strong", {}, visible(call.look ?? "made"))), behind.map(([name, value]) => [el("p", { class: "eb-small" }, name), clipped(value)]),
      flags ? text(flags, "p") : null, behind.length || flags ? null : el("p", {}, "no arguments")));
}

// How a trial ended; of an item without trials, how the item did.
function ended(row) {
  if (row?.success === null || row?.success === undefined) return ["–", "muted", "not scored"];
  return row.success === 1 ? ["✓", "good", "goal reached"] : ["✗", "bad", "goal not reached"];
}

function trialsOf(rows) {
  return [...new Set(rows.map((row) => row[TRIAL] ?? ""))].sort((a, b) => String(a).localeCompare(String(b), "en", { numeric: true }));
}

function group(run, row) {
  return run.by.map((name) => row[name]).filter((value) => value !== null && value !== undefined).map(String).join(", ");
}

function lane(run, name, row, calls, missed) {
  const [sign, colour, how] = ended(row);
  const lacking = missed.map((one) => `${one.name}(${one.arguments ?? ""})`).join("; ");
  return [el("tr", {},
    el("th", { scope: "row" }, el("span", { class: "eb-lane-name", dir: "auto" }, visible(name)), " ", el("span", { class: `eb-call-${colour}` }, `${sign} ${how}`)),
    calls.map((call) => el("td", {}, mark(call)))), lacking ? [name, lacking] : null];
}

function drawn(run, tables, ours) {
  const of = (name) => (tables[name] ?? []).filter(ours);
  const [calls, trials, missed] = [of("tool_calls"), of("trials"), of("missed")];
  const groups = [...new Set([...calls, ...trials].map((row) => group(run, row)))];
  const made = groups.flatMap((whose) => {
    const mine = (rows) => rows.filter((row) => group(run, row) === whose);
    return trialsOf(mine([...trials, ...calls])).map((trial) => {
      const here = (rows) => mine(rows).filter((row) => (row[TRIAL] ?? "") === trial);
      const name = trial === "" ? whose : `${whose}, trial ${trial}`;
      return lane(run, name, here(trials)[0], here(calls).sort((a, b) => a.at - b.at), here(missed));
    });
  });
  const longest = Math.max(0, ...made.map(([row]) => row.childElementCount - 1));
  for (const [row] of made) row.append(...Array.from({ length: longest + 1 - row.childElementCount }, () => el("td", {})));
  const looks = Object.keys(SIGNS).filter((look) => calls.some((call) => call.look === look));
  const lacking = made.map(([, one]) => one).filter(Boolean);
  return [el("p", { class: "eb-small" }, looks.map((look, i) => [i ? ", " : "", el("span", { class: `eb-call-${SIGNS[look][1]}` }, SIGNS[look][0]), ` ${look}`]), "; a click shows arguments and result."),
    el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": "Trials" }, el("table", { class: "eb-table eb-lanes" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "call"), Array.from({ length: longest }, (_, i) => el("th", { scope: "col" }, String(i + 1))))),
      el("tbody", {}, made.map(([row]) => row)))),
    lacking.length ? el("ul", { class: "eb-small" }, lacking.map(([name, said]) => el("li", { dir: "auto" }, visible(`${name}, expected and not called so: ${said}`)))) : null];
}

function step(row) {
  const call = row.kind === "call";
  const [sign, colour] = SIGNS[row.look] ?? SIGNS.made;
  return el("li", { value: row.step }, el("strong", {}, visible(row.kind === "message" ? row.role || row.kind : row.kind)), " ",
    call ? [el("span", { class: `eb-call-${colour}` }, `${sign} ${row.look ?? "made"}`), " ", el("strong", { dir: "auto" }, visible(row.name ?? "")), row.arguments ? clipped(row.arguments) : null]
      : [row.error ? el("span", { class: "eb-call-bad" }, "✗ error ") : null, row.error && row.error !== row.text ? clipped(row.error) : null, row.text ? clipped(row.text) : null]);
}

// The steps of trials, a fold each; those that did not reach the goal are open where there are few.
function transcripts(run, rows, trials) {
  return [...new Set(rows.map((row) => group(run, row)))].flatMap((whose) => trialsOf(rows.filter((row) => group(run, row) === whose)).map((trial) => {
    const own = rows.filter((row) => group(run, row) === whose && (row[TRIAL] ?? "") === trial).sort((a, b) => a.step - b.step);
    const how = ended(trials.find((row) => group(run, row) === whose && (row[TRIAL] ?? "") === trial));
    const name = trial === "" ? whose : `${whose}, trial ${trial}`;
    return el("details", { class: "other" }, el("summary", { dir: "auto" }, visible(name), `: ${number(own.length)} steps, `, el("span", { class: `eb-call-${how[1]}` }, `${how[0]} ${how[2]}`)), el("ol", { class: "steps" }, own.map(step)));
  }));
}

export const isTrajectory = (tables) => Boolean(tables.steps?.some((row) => "kind" in row && "role" in row));

// The trials of the item's own agent; those of others, unless it stands beside one, when they are asked for.
export function trajectories(run, found, alone = true) {
  if (!isTrajectory(found.tables)) return null;
  const tables = found.tables.trials ? found.tables : { ...found.tables, trials: [{ ...found.place, ...found.item }, ...found.others] };
  const ours = (row) => isOwn(run, row, found.place);
  const others = (row) => !ours(row);
  const steps = (whose) => transcripts(run, tables.steps.filter(whose), tables.trials ?? []);
  const n = new Set(tables.steps.filter(others).map((row) => group(run, row))).size;
  return [fold("trials", drawn(run, tables, ours), true), fold("steps", steps(ours), true),
    alone && n ? later(`trials and steps of other agents (${n})`, () => [drawn(run, tables, others), steps(others)]) : null];
}

// A judge's calls that follow each other: what it did, and what it was answered.
export function chains(run, found) {
  const rows = (found.tables.calls ?? []).filter((row) => Number.isInteger(row.step) && "parent" in row && "reply" in row && isOwn(run, row, found.place));
  const keys = [...new Set(rows.map((row) => JSON.stringify([row.model, row.purpose, row.item_id, row.sample])))];
  if (!keys.length) return null;
  return fold(`how the judge came to its verdicts (${keys.length})`, keys.map((key) => {
    const own = rows.filter((row) => JSON.stringify([row.model, row.purpose, row.item_id, row.sample]) === key).sort((a, b) => a.step - b.step);
    const [model, purpose, item, sample] = JSON.parse(key);
    const end = own.at(-1).detail;
    const name = [purpose, item.split("|").slice(1).join(", "), model, sample ? `sample ${sample}` : ""].filter(Boolean).join(" · ");
    return el("details", { class: "other", open: keys.length === 1 }, el("summary", { dir: "auto" }, visible(name), `: ${number(own.length)} ${own.length === 1 ? "step" : "steps"}${end ? " (no verdict)" : ""}`),
      el("ol", { class: "steps" }, own.map((row) => el("li", { value: row.step }, el("code", { class: "eb-whole", dir: "auto" }, visible(String(row.reply ?? ""))), row.result ? clipped(row.result) : null))),
      end ? text(end, "p") : null);
  }), true);
}
