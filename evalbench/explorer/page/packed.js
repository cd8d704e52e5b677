// The answers of a pack: a folder with a run's items, opened without a server. What needs the study's own formulas is refused.
import { Fault } from "./ask.js";
import { lengthOf, numeric, ordered, parse, test } from "./where.js";

const NEEDS = "needs the study itself: evalbench view RUN, where evalbench is installed.";
const LONGEST = 300;
const LONGEST_WHOLE = 2000; // letters of a text that a filter may ask for
const [BINS, MOST_VALUES] = [30, 20];
const pack = globalThis.evalbenchPack;
const arrived = new Map(); // name of a part → its content
const waiting = new Map();

// A part of the data comes as a script, since a page that is opened from a folder may read nothing else.
globalThis.evalbenchPart = async (name, packed) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  waiting.get(name)(JSON.parse(text));
};

function part(name) {
  if (!arrived.has(name)) {
    arrived.set(name, new Promise((resolve, reject) => {
      waiting.set(name, resolve);
      const script = document.createElement("script");
      script.src = `data/${name}.js`;
      script.addEventListener("error", () => reject(new Fault(`The pack has lost its file data/${name}.js.`)));
      document.head.append(script);
    }));
  }
  return arrived.get(name);
}

const kinds = new Map(pack.about.columns.map((column) => [column.name, column]));
const behindColumns = new Map(pack.behind); // name → the linked tables that have it, with its kind in each
const own = pack.about.columns.filter((column) => column.table === "items");

function placeOf(name) {
  const place = own.findIndex((one) => one.name === name);
  if (place < 0) throw new Fault(`the items have no column '${name}'; they have ${own.map((one) => one.name).join(", ")}`);
  return place;
}

const column = async (name) => part(`column-${placeOf(name)}`);

// Parts that only some columns have: texts that this page would write otherwise, the order of values that it cannot compare.
const apart = new Set(pack.apart);
const beside = async (kind, name) => (apart.has(`${kind}-${placeOf(name)}`) ? part(`${kind}-${placeOf(name)}`) : null);
const written = (value, text) => text ?? (value === null ? null : String(value));
const among = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);

const asTexts = new Map(); // name → the texts of its values, as the server writes them

async function textsOf(name) {
  if (!asTexts.has(name)) {
    const [values, texts] = await Promise.all([column(name), beside("texts", name)]);
    asTexts.set(name, kinds.get(name).kind === "text" ? values : values.map((value, i) => written(value, texts?.[i])));
  }
  return asTexts.get(name);
}

// Texts in lower case, letter by letter, as the server's database has it: the browser's own differs in some, and with its age.
async function folding() {
  const [upper, lower] = (await part("fold")).map((letters) => [...letters]);
  const to = new Map(upper.map((letter, i) => [letter, lower[i]]));
  const letters = new RegExp(`[${upper.join("")}]`, "gu");
  return (text) => (/[^\0-\x7f]/.test(text) ? text.replaceAll(letters, (letter) => to.get(letter)) : text.toLowerCase());
}

// What belongs to each id, of all groups: table → rows, each with texts that this page would write otherwise.
async function behind(id) {
  const first = (await textsOf(pack.about.id)).indexOf(id);
  const chunk = id === null ? {} : await part(`behind-${Math.floor(first / pack.chunk)}`);
  return Object.entries(among(chunk, id) ?? {}).map(([table, rows]) => [table, rows.slice(0, pack.most_linked).map(([row]) => row)]);
}

async function everything() {
  const chunks = await Promise.all(Array.from({ length: pack.chunks }, (_, i) => part(`behind-${i}`)));
  return new Map(chunks.flatMap(Object.entries));
}

async function groupTexts() {
  const names = [pack.about.id, ...pack.about.by];
  const found = await Promise.all(names.map(textsOf));
  return new Map(names.map((name, i) => [name, found[i]]));
}

// Items to which a row of a linked table belongs that fulfils a condition: of their id and group; calls belong to all groups of an id.
async function linked(table, fulfils) {
  const [all, groups] = await Promise.all([everything(), groupTexts()]);
  const keys = pack.linked[table].filter((key) => groups.has(key));
  const isOf = (row, texts, i) => keys.every((key) => { const text = written(row[key], among(texts, key)); return text !== null && text === groups.get(key)[i]; });
  return (i) => (among(all.get(groups.get(pack.about.id)[i]) ?? {}, table) ?? []).some(([row, texts]) => fulfils(row, texts) && isOf(row, texts, i));
}

async function anywhere(text) {
  const fold = await folding();
  const wanted = fold(text);
  const holds = (own) => own !== null && fold(own).includes(wanted);
  const columns = await Promise.all(own.filter((one) => ["text", "list"].includes(one.kind)).map((one) => textsOf(one.name)));
  const tables = await Promise.all(Object.entries(pack.texts).map(([table, names]) =>
    linked(table, (row, texts) => names.some((name) => holds(written(row[name], among(texts, name)))))));
  return (i) => columns.some((texts) => holds(texts[i])) || tables.some((fits) => fits(i));
}

function equalOrNot(what, { operator }) {
  if (!["=", "!="].includes(operator)) throw new Fault(`filter: a ${what}, not ${operator}`);
}

async function ofLight(condition) {
  equalOrNot("light is equal or not equal (light=red)", condition);
  const wanted = pack.lights.filter(([light]) => condition.values.includes(light)).map(([, group]) => Object.entries(group));
  const groups = await groupTexts();
  const fits = (i) => wanted.some((group) => group.every(([name, text]) => groups.get(name)[i] === text));
  return condition.operator === "=" ? fits : (i) => !fits(i);
}

async function one(condition) {
  if (!condition.column) return anywhere(condition.values[0]);
  if (condition.column === "light" && !kinds.has("light")) return ofLight(condition);
  const ofLength = kinds.has(condition.column) ? null : lengthOf(condition.column);
  const name = ofLength ?? condition.column;
  const known = kinds.get(name);
  if (!known && condition.column === pack.about.mark) {
    equalOrNot(`mark is equal or not equal (${condition.column}=wrong)`, condition);
    throw new Fault("filter: a pack has no marks; evalbench view RUN has those of the run.");
  }
  if (!known) throw new Fault(`filter: there is no column '${name}'; there are ${[...kinds.keys()].join(", ")}`);
  if (known.table !== "items") return ofTables(condition, name, ofLength);
  const fulfils = test(condition, known.kind, condition.operator === "~" ? await folding() : null, ofLength);
  const [values, texts] = await Promise.all([column(name), textsOf(name)]);
  return (i) => fulfils(values[i], texts[i]);
}

// Of the tables that have the column any may fulfil the condition; one of a kind that the value cannot be fits nothing.
async function ofTables(condition, name, ofLength) {
  const fold = condition.operator === "~" ? await folding() : null;
  const [found, faults] = [[], []];
  for (const [table, kind] of behindColumns.get(name)) {
    try {
      found.push([table, test(condition, kind, fold, ofLength)]);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.push(error);
    }
  }
  if (!found.length) throw faults[0];
  const tests = await Promise.all(found.map(([table, fulfils]) => linked(table, (row, texts) => Object.hasOwn(row, name) && fulfils(row[name], written(row[name], among(texts, name))))));
  return (i) => tests.some((fits) => fits(i));
}

const filtered = new Map(); // the last filter, as whether each item fits

async function fits(where) {
  if (!filtered.has(where)) {
    const terms = parse(where);
    const tests = await Promise.all(terms.map(one));
    const found = new Uint8Array(pack.about.n);
    for (let i = 0; i < found.length; i += 1) found[i] = tests.every((fulfils, k) => fulfils(i) !== terms[k].negated) ? 1 : 0;
    filtered.clear();
    filtered.set(where, found);
  }
  return filtered.get(where);
}

// Letters are code points, as on the server; so many units are enough to hold one more than is shown.
const isLong = (text, most = LONGEST) => text.length > most && [...text.slice(0, 2 * most + 2)].length > most;
const shortened = (value) => (Array.isArray(value) ? value.slice(0, 20).map(shortened)
  : typeof value === "string" && isLong(value) ? `${[...value.slice(0, 2 * LONGEST)].slice(0, LONGEST - 1).join("")}…` : value);

const lastOrder = new Map();

async function places(where, sort) {
  const key = JSON.stringify([where, sort]);
  if (!lastOrder.has(key)) {
    const found = await placed(where, sort);
    lastOrder.clear();
    lastOrder.set(key, found);
  }
  return lastOrder.get(key);
}

// What the values of a column are sorted by; numbers beyond 2**53 exactly.
async function keysOf(name) {
  const [values, order] = await Promise.all([column(name), beside("order", name)]);
  if (order) return order;
  const key = kinds.get(name).kind === "number" ? (text) => (text.endsWith("inf") ? numeric(text) : BigInt(text)) : ordered;
  return values.map((value) => (typeof value === "string" ? key(value) : value));
}

// The places of the items that a filter leaves, sorted; nulls are last.
async function placed(where, sort) {
  const kept = await fits(where);
  const found = [];
  for (let i = 0; i < kept.length; i += 1) if (kept[i]) found.push(i);
  if (!sort) return found;
  const falls = sort.startsWith("-") && !kinds.has(sort);
  const keys = await keysOf(falls ? sort.slice(1) : sort);
  const sign = falls ? -1 : 1;
  return found.sort((a, b) => {
    const [x, y] = [keys[a], keys[b]];
    if (x === null || y === null) return (x === null) - (y === null) || a - b;
    return x < y ? -sign : x > y ? sign : a - b;
  });
}

async function row(i, names = own.map(({ name }) => name)) {
  const values = await Promise.all(names.map(column));
  return Object.fromEntries(names.map((name, k) => [name, values[k][i]]));
}

async function items({ where = "", sort = "", offset = 0, limit = 100, columns = "" }) {
  const n = pack.about.n;
  const end = Math.min(Number(offset) + Number(limit), n);
  if (!where && !sort && apart.has("first") && end <= (await part("first")).rows.length) {
    return { total: n, n, rows: (await part("first")).rows.slice(Number(offset), end) };
  }
  const found = await places(where, sort);
  const shown = await Promise.all(found.slice(Number(offset), Number(offset) + Number(limit)).map(async (i) => ({ ...(await row(i, columns ? JSON.parse(columns) : undefined)), row: i })));
  return { total: n, n: found.length, rows: shown.map((one) => Object.fromEntries(Object.entries(one).map(([name, value]) => [name, shortened(value)]))) };
}

async function item({ row: place, where = "", sort = "" }) {
  if (!/^[0-9]+$/.test(place)) throw new Fault(`row must be a whole number, got '${place}'`);
  const i = Number(place);
  if (i >= pack.about.n) throw new Fault(`there is no item ${place}; there are ${pack.about.n}, the first is 0`);
  const [found, ids] = await Promise.all([row(i), textsOf(pack.about.id)]);
  const same = ids.flatMap((id, k) => (k !== i && id !== null && id === ids[i] ? [k] : [])).slice(0, pack.most_linked);
  const all = await places(where, sort);
  const at = all.indexOf(i);
  return {
    row: i, item: found, place: Object.fromEntries([pack.about.id, ...pack.about.by].map((name) => [name, found[name]])),
    tables: Object.fromEntries(await behind(ids[i])), others: await Promise.all(same.map(async (k) => ({ ...(await row(k)), row: k }))),
    near: { at: at < 0 ? null : at, previous: all[at - 1] ?? null, next: at < 0 ? null : all[at + 1] ?? null },
  };
}

function histogram(values, kept, found) {
  let [low, high, whole] = [Infinity, -Infinity, true];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
    whole &&= Number.isInteger(value);
  }
  if (low > high) return { ...found, low: null, high: null, edges: [], counts: [], all: [] };
  const ends = { low, high };
  const bins = whole && high - low < BINS ? Math.round(high - low) + 1 : BINS;
  const start = whole && high - low < BINS ? low - 0.5 : low;
  const half = whole && high - low < BINS ? 0.5 : (high / 2 - low / 2) / bins || 0.5; // the span of the greatest numbers is none
  const [counts, all] = [Array(bins).fill(0), Array(bins).fill(0)];
  values.forEach((value, i) => {
    if (!Number.isFinite(value)) return;
    const bin = Math.min(Math.max(Math.floor((value / 2 - start / 2) / half), 0), bins - 1);
    all[bin] += 1;
    counts[bin] += kept[i];
  });
  return { ...found, ...ends, edges: Array.from({ length: bins + 1 }, (_, i) => 2 * (start / 2 + half * i)), counts, all };
}

async function distribution({ column: name, where = "" }) {
  if (!where && apart.has("first") && Object.hasOwn((await part("first")).distributions, name)) return (await part("first")).distributions[name];
  const [values, texts, kept] = await Promise.all([column(name), textsOf(name), fits(where)]);
  const ofNumbers = kinds.get(name).kind === "number";
  const numbers = ofNumbers ? values.map(numeric) : [];
  const empty = (i) => (ofNumbers ? !Number.isFinite(numbers[i]) : texts[i] === null || texts[i] === "");
  const none = { empty: 0, empty_all: 0 };
  const counted = new Map();
  texts.forEach((text, i) => {
    if (empty(i)) [none.empty, none.empty_all] = [none.empty + kept[i], none.empty_all + 1];
    else if (!ofNumbers) {
      const [n, k] = counted.get(text) ?? [0, 0];
      counted.set(text, [n + 1, k + kept[i]]);
    }
  });
  if (ofNumbers) return histogram(numbers, kept, { kind: "number", ...none });
  const sorted = [...counted].map(([text, counts]) => [text, counts, ordered(text)]).sort(([, [m], a], [, [n], b]) => n - m || (a < b ? -1 : 1));
  const [shown, rest] = [sorted.slice(0, MOST_VALUES), sorted.slice(MOST_VALUES)];
  return {
    kind: "values", values: shown.map(([value]) => shortened(value)), cut: shown.map(([value]) => isLong(value)),
    whole: shown.map(([value]) => (isLong(value) && !isLong(value, LONGEST_WHOLE) ? value : null)), counts: shown.map(([, [, k]]) => k), all: shown.map(([, [n]]) => n),
    more: rest.reduce((sum, [, [, k]]) => sum + k, 0), more_all: rest.reduce((sum, [, [n]]) => sum + n, 0), ...none,
  };
}

function optionsOf(text) {
  try {
    return Object.entries(JSON.parse(text || "{}"));
  } catch {
    throw new Fault("options: not JSON");
  }
}

function standing({ where = "", options = "" }) {
  if (optionsOf(options).length) throw new Fault(`What other thresholds say ${NEEDS}`);
  if (parse(where).length) throw new Fault(`What some of the items show ${NEEDS}`);
  return pack.standing;
}

// A value of JSON as Python writes it.
function python(value) {
  if (value === null || typeof value === "boolean") return { null: "None", true: "True", false: "False" }[value];
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([name, one]) => `${python(name)}: ${python(one)}`).join(", ")}}`;
  return JSON.stringify(value);
}

function code({ where = "", sort = "", options = "" }) {
  const named = Object.entries({ where, sort }).filter(([, value]) => value).map(([name, value]) => `${name}=${python(value)}`);
  const changed = [...(where ? [python(where)] : []), ...optionsOf(options).map(([name, value]) => `${name}=${python(value)}`)];
  const lines = ["import evalbench", "", `run = evalbench.open_run(${python(pack.about.run)})`, `run.items(${named.join(", ")})`];
  return { code: [...lines, ...(changed.length ? [`run.with_options(${changed.join(", ")})`] : [])].join("\n") };
}

const ANSWERS = new Map(Object.entries({ runs: () => [], about: () => pack.about, live: () => ({ finished: true }), items, item, distribution, standing, code }));

globalThis.evalbenchAnswers = async (name, values) => {
  if (!ANSWERS.has(name)) throw new Fault(`This ${NEEDS}`);
  return ANSWERS.get(name)(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null)));
};
