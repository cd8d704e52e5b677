// The reader's own verdict on an item: saved at once, by key or by button.
import { ask, Fault, send } from "./ask.js";
import { copy, el, fill, number, say, visible } from "./dom.js";
import { go } from "./state.js";

// A frame without an origin of its own keeps nothing: then for as long as the page is open.
const storage = (() => {
  try {
    return window.sessionStorage;
  } catch {
    const kept = new Map();
    return { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value) };
  }
})();
const WORDS = [["1", "Right", { mark: "1" }], ["2", "Wrong", { mark: "0" }], ["3", "Cannot say", { skipped: "cannot say" }], ["0", "Take back", {}]];
const NAME = "evalbench annotator";
const BLIND = "evalbench blind";
const SEEN = "evalbench seen";

export const isBlind = () => !globalThis.evalbenchPack && storage.getItem(BLIND) === "true";

function seen() {
  return new Set(JSON.parse(storage.getItem(SEEN) ?? "[]"));
}

// An item whose scores were on the screen is not marked blind any more.
export function saw(run, row) {
  if (globalThis.evalbenchPack) return;
  storage.setItem(SEEN, JSON.stringify([...seen().add(`${run} ${row}`)]));
}

const counter = el("span", {}); // in the head
let counted = 0; // an answer that comes late is not shown

function count(found, run) {
  fill(counter, found.n ? [" · ", el("button", { type: "button", class: "link", onclick: () => go({ where: `${run.mark}!=`, view: "items", page: "", item: "" }) }, `${number(found.n)} ${found.n === 1 ? "item is" : "items are"} marked`),
    ", ", el("button", { type: "button", class: "link", title: found.line, onclick: () => copy(found.line) }, "copy the command for labels")] : null);
}

// How many items of a run are marked, for the head; kept up to date by each mark.
export function marked(run) {
  fill(counter);
  const mine = (counted += 1);
  if (!globalThis.evalbenchPack) ask("marks", { run: run.run }).then((found) => { if (mine === counted) count(found, run); }, (error) => { if (!(error instanceof Fault)) throw error; });
  return counter;
}

function said(mark) {
  const word = { 1: "right", 0: "wrong" }[mark.mark] ?? (mark.skipped || "not marked");
  return [visible(`${mark.annotator}: ${word}`), mark.blind ? " (blind)" : " (scores were seen)", mark.comment ? visible(`, “${mark.comment}”`) : ""];
}

// The form of one item.
export async function marking(run, now) {
  const order = now.view === "compare" ? now.order || "-change" : now.sort ?? ""; // of the list that the item was opened from
  if (globalThis.evalbenchPack) return { form: null, keys: () => {} }; // nothing is saved without a server
  const name = el("input", { id: "annotator", type: "text", maxLength: 80, autocomplete: "off", value: storage.getItem(NAME) ?? "" });
  name.addEventListener("keydown", (event) => { if (event.key === "Enter") form.parentElement.focus(); }); // on to the keys
  name.addEventListener("change", () => { storage.setItem(NAME, name.value.trim()); show(); });
  const comment = el("textarea", { id: "comment", rows: 1, maxLength: 10000 });
  const blind = el("input", { type: "checkbox", checked: isBlind(), onchange: () => { storage.setItem(BLIND, String(blind.checked)); window.dispatchEvent(new Event("blind")); } });
  const made = el("p", { class: "eb-small", role: "status" });
  const why = el("p", { class: "eb-small" });
  const selected = el("p", { class: "eb-small", dir: "auto" });
  const saved = el("p", { class: "eb-small", dir: "auto" });
  let last = {};
  let written = ""; // the comment as it was saved
  let reveals = []; // what the filter and the order say of the item
  let before = false; // whether a mark of this name was made after seeing, in whatever browser
  const show = async () => {
    let found;
    try {
      found = await ask("marks", { run: run.run, row: now.item, where: now.where, sort: order, annotator: name.value.trim() });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      fill(made, error.message);
      return;
    }
    reveals = found.reveals;
    before = found.seen;
    count(found, run);
    fill(why, isBlind() && !hidden() ? `Not blind: ${reveals.length ? `the filter or the order names ${reveals.join(", ")}` : "you saw the scores of this item"}. A mark is kept with those made after seeing.` : null);
    fill(selected, found.selected_by ? visible(`Not drawn at random (${found.selected_by}): its label says so, and does not correct a figure as if it were.`) : null);
    const shown = isBlind() ? found.marks.filter((mark) => mark.annotator === name.value.trim()) : found.marks;
    last = found.marks.find((mark) => mark.annotator === name.value.trim() && mark.blind === hidden()) ?? {};
    if (comment.value === written) comment.value = last.comment ?? ""; // what is being typed stays
    written = last.comment ?? "";
    for (const [button, [, , values]] of buttons) button.setAttribute("aria-pressed", String(is(values)));
    fill(made, shown.length ? [shown.map((mark, i) => [i ? " · " : "", ...said(mark)]), "."] : "No mark yet.", found.n ? ` ${found.n} ${found.n === 1 ? "item is" : "items are"} marked.` : "");
  };
  const hidden = () => isBlind() && !reveals.length && !before && !seen().has(`${run.run} ${now.item}`);
  const is = (values) => (values.mark !== undefined && last.mark === values.mark) || (values.skipped !== undefined && last.skipped === values.skipped);
  const store = async (values) => {
    if (!name.value.trim()) {
      say("Whose mark is it? Type your name first.");
      name.focus();
      return;
    }
    let kept;
    try {
      kept = await send("mark", { run: run.run, row: Number(now.item), annotator: name.value.trim(), blind: hidden(), where: now.where ?? "", sort: order, comment: comment.value, ...values(last) });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      say(error.message);
      return;
    }
    await show();
    const done = last.mark || last.skipped || last.comment ? "Saved" : "Taken back";
    say(`${done}.`);
    fill(saved, visible(`${done}, in ${kept.file} of the folder of reports.`));
  };
  // One after another: the last row counts, so a comment and the mark that follows it must not overtake each other.
  let saving = Promise.resolve();
  const save = (values) => { saving = saving.then(() => store(values)); };
  comment.addEventListener("change", () => save(({ mark = "", skipped = "" }) => ({ mark, skipped })));
  const buttons = WORDS.map((word) => [el("button", { type: "button", title: `key ${word[0]}`, onclick: () => save(() => (word[0] === "0" ? { comment: "" } : word[2])) }, word[1]), word]);
  const form = el("section", { class: "mark", "aria-label": "Your mark" },
    el("div", { class: "turn" }, el("label", { for: "annotator" }, "Your name"), name, el("label", {}, blind, " Blind: texts alone")),
    el("div", { class: "turn" }, buttons.map(([button]) => button)),
    el("p", { class: "eb-small keys" }, "Is it right? Keys: ", WORDS.map(([key, word], i) => [i ? ", " : "", el("kbd", {}, key), ` ${word.toLowerCase()}`]), "; each is saved at once. Blind hides scores, verdicts, calls, and who answered, so that they do not lead you."),
    el("label", { for: "comment" }, "Comment, saved when you leave the field"), comment, made, saved, selected, why);
  await show();
  return { form, keys: (key) => { const word = WORDS.find(([own]) => own === key); if (word) buttons[WORDS.indexOf(word)][0].click(); } };
}
