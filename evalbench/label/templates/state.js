// What is known of the items: marks, what the browser keeps, the saved file.
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const page = read("page");
const allWords = read("words");
const n = page.items.length;
const place = new Map(page.items.map((item, i) => [item.id, i]));
const pairs = page.mode === "pairs";
const marks = pairs ? ["left", "tie", "right"] : page.criterion.scale.map(([mark]) => mark);
// The key of a mark is the mark itself where that is a digit.
const digits = !pairs && marks.every((mark) => mark >= 0 && mark <= 9);
const keyOf = (i) => (digits ? String(marks[i]) : String((i + 1) % 10));
const REASONS = ["unclear", "foreign", "broken", "notApplicable"];
const COLUMNS = ["page", "criterion", "annotator", "id", "mark", "skipped", "comment", "flag", "seconds", "order", "changes", "at"];
const STORE = `evalbench-label/${page.page}`;

const state = { annotator: "", labels: new Map(), seconds: new Map(), current: 0, dirty: 0, undo: [] };

const store = (() => {
  try {
    localStorage.setItem(`${STORE}/test`, "1");
    localStorage.removeItem(`${STORE}/test`);
    return localStorage;
  } catch {
    return null;
  }
})();

const fresh = () => ({ mark: null, skipped: "", comment: "", flag: false, order: 0, changes: 0, at: "" });
const label = (i) => state.labels.get(page.items[i].id);
const isDone = (i) => {
  const one = label(i);
  return Boolean(one) && (one.mark !== null || one.skipped !== "");
};
const doneCount = () => page.items.reduce((sum, _, i) => sum + isDone(i), 0);

// The next item without a mark behind i, then from the beginning; -1 where there is none.
const nextOpen = (i) => {
  for (let step = 1; step <= n; step++) if (!isDone((i + step) % n)) return (i + step) % n;
  return -1;
};

const change = (i, values, undoable = false) => {
  const id = page.items[i].id;
  const before = state.labels.get(id);
  if (undoable) state.undo.push({ id, before: before ? { ...before } : null });
  const one = { ...fresh(), ...before, ...values, at: new Date().toISOString() };
  const had = before && (before.mark !== null || before.skipped !== "");
  const has = one.mark !== null || one.skipped !== "";
  if (has && !one.order) one.order = 1 + Math.max(0, ...[...state.labels.values()].map((other) => other.order));
  if (had && (one.mark !== before.mark || one.skipped !== before.skipped)) one.changes += 1;
  state.labels.set(id, one);
  state.dirty += 1;
  return keep();
};

const undoLast = () => {
  const last = state.undo.pop();
  if (!last) return -1;
  if (last.before) state.labels.set(last.id, { ...last.before, at: new Date().toISOString() });
  else state.labels.delete(last.id);
  state.dirty += 1;
  keep();
  return place.get(last.id);
};

// -- the browser's store ----------------------------------------------------------------------------------------------

const keep = () => {
  if (!store || !state.annotator) return true;
  try {
    const { annotator, current, dirty } = state;
    const known = people();
    if (!known.includes(annotator)) store.setItem(`${STORE}/people`, JSON.stringify([...known, annotator]));
    const content = { current, dirty, labels: [...state.labels], seconds: [...state.seconds] };
    store.setItem(`${STORE}/of/${annotator}`, JSON.stringify(content));
    return true;
  } catch {
    return false;
  }
};

const setting = (name, value) => {
  if (!store) return value ?? null;
  try {
    if (value !== undefined) store.setItem(`evalbench-label/${name}`, value);
    return store.getItem(`evalbench-label/${name}`);
  } catch {
    return value ?? null;
  }
};

const people = () => {
  try {
    const found = JSON.parse(store?.getItem(`${STORE}/people`) ?? "[]");
    return Array.isArray(found) ? found.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
};

const keptOf = (name) => {
  try {
    const found = JSON.parse(store.getItem(`${STORE}/of/${name}`));
    return { ...found, labels: new Map(found.labels), seconds: new Map(found.seconds) };
  } catch {
    return null;
  }
};

// -- the file ---------------------------------------------------------------------------------------------------------

const rows = () =>
  page.items.flatMap((item, i) => {
    const one = label(i);
    if (!one || !(isDone(i) || one.comment || one.flag)) return [];
    const { mark, skipped, comment, flag, order, changes, at } = one;
    const seconds = Math.round(10 * (state.seconds.get(item.id) ?? 0)) / 10;
    return [{ page: page.page, criterion: page.criterion.name, annotator: state.annotator, id: item.id, mark, skipped, comment, flag, seconds, order, changes, at }];
  });

// A text that begins like a formula gets an apostrophe, so that a spreadsheet shows it as text.
const cell = (value) => {
  const plain = value === null ? "" : typeof value === "boolean" ? String(Number(value)) : String(value);
  const text = typeof value === "string" && /^['\s]*[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const uncell = (text) => (/^''*\s*[=+\-@\t\r]/.test(text) ? text.slice(1) : text);

const asText = (form) =>
  form === "csv"
    ? `\ufeff${[COLUMNS, ...rows().map((row) => COLUMNS.map((name) => row[name]))].map((line) => line.map(cell).join(",")).join("\n")}\n`
    : rows().map((row) => `${JSON.stringify(row)}\n`).join("");

const slug = (text) => text.trim().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 40) || "labels";
const fileName = (form) => `labels-${slug(page.criterion.name)}-${slug(state.annotator)}.${form}`;

const csvRecords = (text) => {
  const lines = [[""]];
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const line = lines[lines.length - 1];
    const at = line.length - 1;
    if (quoted) {
      if (text[i] !== '"') line[at] += text[i];
      else if (text[i + 1] === '"') line[at] += text[i++];
      else quoted = false;
    } else if (text[i] === '"') quoted = true;
    else if (text[i] === "," || text[i] === ";" || text[i] === "\t") line.push("");
    else if (text[i] === "\n") lines.push([""]);
    else if (text[i] !== "\r") line[at] += text[i];
  }
  const [head, ...body] = lines;
  return body.filter((line) => line.length > 1).map((line) => Object.fromEntries(head.map((name, i) => [name, uncell(line[i] ?? "")])));
};

// The rows of a saved file; throws {why, values} with what is wrong.
const parsed = (text) => {
  const plain = text.replace(/^\ufeff/, "");
  const given = plain.trimStart().startsWith("{") ? plain.split("\n").filter((line) => line.trim()) : csvRecords(plain);
  const found = given.map((line, i) => {
    const fault = { why: "badLine", values: { n: i + (typeof line === "string" ? 1 : 2) } };
    let row = line;
    try {
      if (typeof line === "string") row = JSON.parse(line);
    } catch {
      throw fault;
    }
    if (typeof row !== "object" || row === null || typeof row.annotator !== "string" || !row.annotator) throw fault;
    if (row.page !== page.page) throw { why: "otherPage", values: {} };
    const mark = row.mark === null || row.mark === "" ? null : pairs ? row.mark : Number(row.mark);
    const time = Number(row.seconds);
    if (!place.has(row.id) || (mark !== null && !marks.includes(mark)) || !(time >= 0)) throw fault;
    const whole = (value) => (Number(value) >= 0 ? Math.floor(Number(value)) : 0);
    const flag = row.flag === true || row.flag === "1" || row.flag === "true";
    const said = { mark, skipped: String(row.skipped ?? ""), comment: String(row.comment ?? ""), flag };
    return { annotator: row.annotator, id: row.id, time, one: { ...said, order: whole(row.order), changes: whole(row.changes), at: String(row.at ?? "") } };
  });
  if (!found.length) throw { why: "noLabels", values: {} };
  const other = found.find((row) => row.annotator !== (state.annotator || found[0].annotator));
  if (other) throw { why: "otherName", values: { name: other.annotator } };
  return found;
};

// Of two labels of one item the later is taken.
const adopt = (found) => {
  for (const { id, time, one } of found) {
    const mine = state.labels.get(id);
    if (!mine || mine.at <= one.at) state.labels.set(id, one);
    state.seconds.set(id, Math.max(time, state.seconds.get(id) ?? 0));
  }
  const saved = new Map(found.map((row) => [row.id, row.one]));
  state.dirty = [...state.labels].filter(([id, one]) => saved.get(id)?.at !== one.at).length;
};

const begin = (name) => {
  state.annotator = name.trim();
  const kept = store && keptOf(state.annotator);
  if (kept) {
    state.labels = new Map([...kept.labels].filter(([id]) => place.has(id)));
    state.seconds = new Map([...kept.seconds].filter(([id]) => place.has(id)));
    state.dirty = kept.dirty;
    state.current = Math.min(Math.max(0, kept.current), n - 1);
  }
};
