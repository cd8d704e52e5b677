// The answers of a pack: a folder with a run's items, opened without a server. What needs the study's own formulas is refused.
import { Fault } from "./ask.js";
import { asText, parse, test } from "./where.js";

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
const own = pack.about.columns.filter((column) => column.table === "items");

function column(name) {
  const place = own.findIndex((one) => one.name === name);
  if (place < 0) throw new Fault(`the items have no column '${name}'; they have ${own.map((one) => one.name).join(", ")}`);
  return part(`column-${place}`);
}

// What belongs to each id, of all groups: table → rows.
async function behind(id) {
  const ids = await column(pack.about.id);
  const first = ids.findIndex((one) => asText(one) === id);
  const chunk = await part(`behind-${Math.floor(first / pack.chunk)}`);
  return Object.hasOwn(chunk, id) ? chunk[id] : {};
}

async function everything() {
  const chunks = await Promise.all(Array.from({ length: pack.chunks }, (_, i) => part(`behind-${i}`)));
  return new Map(chunks.flatMap(Object.entries));
}

async function groupColumns() {
  const names = [pack.about.id, ...pack.about.by];
  const found = await Promise.all(names.map(column));
  return Object.fromEntries(names.map((name, i) => [name, found[i]]));
}

// Whether a row of a linked table is that of an item: calls belong to all groups of an id.
function isOf(table, row, groups, i) {
  return pack.linked[table].every((key) => !(key in groups) || asText(row[key]) === asText(groups[key][i]));
}

async function linked(table, fulfils) {
  const [all, groups] = await Promise.all([everything(), groupColumns()]);
  return (i) => (all.get(asText(groups[pack.about.id][i]))?.[table] ?? []).some((row) => fulfils(row) && isOf(table, row, groups, i));
}

async function anywhere(text) {
  const wanted = text.toLowerCase();
  const holds = (value) => value !== null && value !== undefined && asText(value).toLowerCase().includes(wanted);
  const texts = own.filter((one) => ["text", "list"].includes(one.kind));
  const columns = await Promise.all(texts.map((one) => column(one.name)));
  const tables = await Promise.all(Object.entries(pack.texts).map(([table, names]) => linked(table, (row) => names.some((name) => holds(row[name])))));
  return (i) => columns.some((values) => holds(values[i])) || tables.some((fits) => fits(i));
}

async function ofLight(condition) {
  if (!["=", "!="].includes(condition.operator)) throw new Fault(`filter: a light is equal or not equal (light=red), not ${condition.operator}`);
  const rows = pack.about.figures.filter((row) => condition.values.includes(row.light ?? "unlit"));
  const groups = await groupColumns();
  const fits = (i) => rows.some((row) => pack.about.by.every((name) => row[name] === undefined || row[name] === null || asText(row[name]) === asText(groups[name][i])));
  return condition.operator === "=" ? fits : (i) => !fits(i);
}

async function one(condition) {
  if (!condition.column) return anywhere(condition.values[0]);
  if (condition.column === "light" && !kinds.has("light")) return ofLight(condition);
  const known = kinds.get(condition.column);
  if (!known) throw new Fault(`filter: there is no column '${condition.column}'; there are ${[...kinds.keys()].join(", ")}`);
  if (known.kind === "number" && condition.operator === "~") throw new Fault(`filter: ${condition.column} is a column of numbers; ~ is for texts`);
  const fulfils = test(condition, known.kind);
  if (known.table !== "items") return linked(known.table, (row) => fulfils(row[known.name] ?? null));
  const values = await column(condition.column);
  return (i) => fulfils(values[i]);
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

const shortened = (value) => (Array.isArray(value) ? value.slice(0, 20).map(shortened)
  : typeof value === "string" && value.length > LONGEST ? `${value.slice(0, LONGEST - 1)}…` : value);

const ordered = new Map(); // the last order

async function places(where, sort) {
  const key = JSON.stringify([where, sort]);
  if (!ordered.has(key)) {
    const found = await placed(where, sort);
    ordered.clear();
    ordered.set(key, found);
  }
  return ordered.get(key);
}

// The places of the items that a filter leaves, sorted; nulls are last.
async function placed(where, sort) {
  const kept = await fits(where);
  const found = [];
  for (let i = 0; i < kept.length; i += 1) if (kept[i]) found.push(i);
  if (!sort) return found;
  const falls = sort.startsWith("-") && !kinds.has(sort);
  const values = await column(falls ? sort.slice(1) : sort);
  const sign = falls ? -1 : 1;
  const keys = values.map((value) => (Array.isArray(value) ? asText(value) : value));
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
  const found = await places(where, sort);
  const shown = await Promise.all(found.slice(Number(offset), Number(offset) + Number(limit)).map(async (i) => ({ ...(await row(i, columns ? JSON.parse(columns) : undefined)), row: i })));
  return { total: pack.about.n, n: found.length, rows: shown.map((one) => Object.fromEntries(Object.entries(one).map(([name, value]) => [name, shortened(value)]))) };
}

async function item({ row: place, where = "", sort = "" }) {
  const i = Number(place);
  if (!(i >= 0 && i < pack.about.n)) throw new Fault(`there is no item ${place}; there are ${pack.about.n}, the first is 0`);
  const found = await row(i);
  const groups = await groupColumns();
  const id = asText(found[pack.about.id]);
  const same = groups[pack.about.id].flatMap((value, k) => (k !== i && asText(value) === id ? [k] : [])).slice(0, 200);
  const all = await places(where, sort);
  const at = all.indexOf(i);
  return {
    row: i, item: found, place: Object.fromEntries(Object.keys(groups).map((name) => [name, groups[name][i]])),
    tables: await behind(id), others: await Promise.all(same.map(async (k) => ({ ...(await row(k)), row: k }))),
    near: { at: at < 0 ? null : at, previous: all[at - 1] ?? null, next: at < 0 ? null : all[at + 1] ?? null },
  };
}

function histogram(values, kept, found) {
  let [low, high, whole] = [Infinity, -Infinity, true];
  for (const value of values) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
    whole &&= Number.isInteger(value);
  }
  if (low > high) return { ...found, low: null, high: null, edges: [], counts: [], all: [] };
  const ends = { low, high };
  const bins = whole && high - low < BINS ? Math.round(high - low) + 1 : BINS;
  const start = whole && high - low < BINS ? low - 0.5 : low;
  const width = whole && high - low < BINS ? 1 : (high - low) / bins || 1;
  const [counts, all] = [Array(bins).fill(0), Array(bins).fill(0)];
  values.forEach((value, i) => {
    if (value === null) return;
    const bin = Math.min(Math.max(Math.floor((value - start) / width), 0), bins - 1);
    all[bin] += 1;
    counts[bin] += kept[i];
  });
  return { ...found, ...ends, edges: Array.from({ length: bins + 1 }, (_, i) => start + width * i), counts, all };
}

async function distribution({ column: name, where = "" }) {
  const [values, kept] = [await column(name), await fits(where)];
  const known = kinds.get(name).kind;
  const empty = (value) => value === null || (known !== "number" && asText(value) === "");
  const none = { empty: 0, empty_all: 0 };
  values.forEach((value, i) => {
    if (empty(value)) [none.empty, none.empty_all] = [none.empty + kept[i], none.empty_all + 1];
  });
  if (known === "number") return histogram(values, kept, { kind: "number", ...none });
  const counted = new Map();
  values.forEach((value, i) => {
    if (empty(value)) return;
    const [n, k] = counted.get(asText(value)) ?? [0, 0];
    counted.set(asText(value), [n + 1, k + kept[i]]);
  });
  const sorted = [...counted].sort(([a, [m]], [b, [n]]) => n - m || (a < b ? -1 : 1));
  const [shown, rest] = [sorted.slice(0, MOST_VALUES), sorted.slice(MOST_VALUES)];
  return {
    kind: "values", values: shown.map(([value]) => shortened(value)), cut: shown.map(([value]) => value.length > LONGEST), whole: shown.map(([value]) => (value.length > LONGEST && value.length <= LONGEST_WHOLE ? value : null)), counts: shown.map(([, [, k]]) => k), all: shown.map(([, [n]]) => n),
    more: rest.reduce((sum, [, [, k]]) => sum + k, 0), more_all: rest.reduce((sum, [, [n]]) => sum + n, 0), ...none,
  };
}

function standing({ where = "", options = "" }) {
  if (options && options !== "{}") throw new Fault(`What other thresholds say ${NEEDS}`);
  if (where) throw new Fault(`What some of the items show ${NEEDS}`);
  return pack.standing;
}

function refused(what) {
  return () => {
    throw new Fault(`${what} ${NEEDS}`);
  };
}

const ANSWERS = {
  runs: () => [], about: () => pack.about, live: () => ({ finished: true }), items, item, distribution, standing,
  code: ({ where = "", sort = "" }) => ({ code: `import evalbench\n\nrun = evalbench.open_run(${JSON.stringify(pack.about.run)})\nrun.items(where=${JSON.stringify(where)}, sort=${JSON.stringify(sort)})` }),
  compare: refused("A comparison"),
};

globalThis.evalbenchAnswers = async (name, values) => ANSWERS[name](Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null)));
