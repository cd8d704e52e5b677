// What is seen and pressed.
const $ = (id) => document.getElementById(id);
const LONG = 12000;
const PART = 4000;
const GUARD = 200; // ms: a key pressed twice does not mark the next item unread
const IDLE = 60000; // ms: a longer pause does not count
const REMIND = 25;
let words = allWords.en;
let auto = setting("auto") !== "0";
let letters = setting("letters") !== "0";
let shownAt = 0;
let since = 0;
let away = false;
let view = "start";

const say = (name, values = {}) => words[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
const make = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
const tell = (text) => {
  $("said").textContent = text;
  $("said").classList.remove("shown");
  void $("said").offsetWidth;
  $("said").classList.add("shown");
};
const warn = (text) => {
  $("banner").textContent = text;
  $("banner").hidden = !text;
};
const whyOf = (code) => (REASONS.includes(code) ? say(code) : code);
const markText = (mark) => (pairs ? say({ left: "markLeft", tie: "markTie", right: "markRight" }[mark]) : String(mark));

// A place to cut a text that does not halve a character.
const cut = (text, at) => (/[\ud800-\udbff]/.test(text[at - 1] ?? "") ? at + 1 : at);

// A text comes as pieces: plain ones, and between them the names of characters that hide or steer.
const fill = (box, pieces, most = Infinity) => {
  let room = most;
  for (let i = 0; i < pieces.length && room > 0; i++) {
    if (i % 2) box.append(make("span", { className: "eb-ctl", textContent: pieces[i] }));
    else if (pieces[i]) box.append(document.createTextNode(pieces[i].slice(0, cut(pieces[i], room))));
    room -= pieces[i].length;
  }
  return box;
};
// A very long text in parts that are laid out when they come into view; they end at the end of a line where there is one.
const fillParts = (box, pieces) => {
  let part = null;
  const put = (node, length) => {
    if (!part || part.room <= 0) {
      part = { box: make("div", { className: "part" }), room: PART };
      box.append(part.box);
    }
    part.box.append(node);
    part.room -= length;
  };
  pieces.forEach((piece, i) => {
    if (i % 2) put(make("span", { className: "eb-ctl", textContent: piece }), piece.length);
    for (let at = 0; i % 2 === 0 && at < piece.length; ) {
      const line = piece.indexOf("\n", at + PART);
      const space = piece.indexOf(" ", at + PART);
      const end = cut(piece, 1 + ([line, space].find((place) => place >= 0 && place < at + 2 * PART) ?? at + 2 * PART));
      put(document.createTextNode(piece.slice(at, end)), end - at);
      at = end;
    }
  });
};
const textBlock = (name, { pieces, lang, chars }, level) => {
  const box = make("div", { className: `text ${name}`, lang: lang || "und", dir: "auto" });
  const block = make("section", { className: `block ${name}` }, make(level, { textContent: say(name) }), box);
  if (!chars) fill(box, [say("empty")]).classList.add("nothing");
  else if (chars <= LONG) fill(box, pieces);
  else {
    fill(box, pieces, LONG);
    box.append("…");
    const more = make("button", { type: "button", className: "more", textContent: say("showAll", { n: chars.toLocaleString(document.documentElement.lang) }) });
    more.addEventListener("click", () => {
      box.replaceChildren();
      fillParts(box, pieces);
      more.remove();
      $("item-title").focus({ preventScroll: true });
    });
    block.append(more);
  }
  return block;
};

const criterionBox = () => {
  const { name, definition, scale, examples, lang } = page.criterion;
  const parts = [make("p", { className: "name", textContent: name, lang }), make("p", { className: "definition", textContent: definition, lang })];
  const list = make("dl", { lang });
  for (const [mark, when] of scale) list.append(make("div", {}, make("dt", {}, make("span", { className: "chip", textContent: mark })), make("dd", { textContent: when })));
  parts.push(list);
  if (examples.length) {
    parts.push(make("h3", { textContent: say("examples") }));
    for (const { mark, text, reason } of examples) {
      const example = make("div", { className: "example", lang }, make("span", { className: "chip", textContent: mark }), fill(make("q"), text));
      if (reason) example.append(make("span", { className: "reason", textContent: reason }));
      parts.push(example);
    }
  }
  return parts;
};

const count = () => {
  const done = doneCount();
  $("progress").max = n;
  $("progress").value = done;
  $("count").textContent = say("count", { done, n });
  const times = page.items.flatMap((item, i) => (isDone(i) ? [state.seconds.get(item.id) ?? 0] : [])).sort((a, b) => a - b);
  const middle = times[times.length >> 1];
  $("remaining").textContent = times.length >= 5 && done < n ? say("minutes", { m: Math.max(1, Math.round((middle * (n - done)) / 60)) }) : "";
  $("save").classList.toggle("dirty", state.dirty > 0);
};

const stateOf = (i) => {
  const one = label(i);
  const parts = [!isDone(i) ? say("unmarked") : one.skipped ? say("skipped", { why: whyOf(one.skipped) }) : say("marked", { mark: markText(one.mark) })];
  if (one?.flag) parts.push(say("flagged"));
  return parts.join(" · ");
};

const showState = () => {
  const i = state.current;
  const one = label(i) ?? fresh();
  $("state").textContent = stateOf(i);
  for (const button of $("marks").children) button.setAttribute("aria-pressed", String(one.mark !== null && String(one.mark) === button.dataset.mark));
  $("flag").setAttribute("aria-pressed", String(one.flag));
  $("undo").disabled = !state.undo.length;
  $("back").disabled = i === 0;
  count();
};

const only = (name) => {
  view = name;
  for (const id of ["start", "work", "end"]) $(id).hidden = id !== name;
  for (const id of ["done", "save", "list-open"]) $(id).hidden = name === "start";
  document.body.dataset.view = name;
};

const show = (i) => {
  spend();
  only("work");
  state.current = i;
  const item = page.items[i];
  $("item-title").textContent = say("item", { i: i + 1, n });
  $("texts").replaceChildren(...item.texts.map(([name, text]) => textBlock(name, text, "h3")));
  const names = pairs ? ["left", "right"] : ["answer"];
  $("answers").className = pairs ? "two" : "";
  $("answers").replaceChildren(...item.answers.map((text, k) => textBlock(names[k], text, "h3")));
  $("comment").value = label(i)?.comment ?? "";
  openComment(Boolean($("comment").value), false);
  showState();
  keep();
  window.scrollTo(0, 0);
  $("item-title").focus({ preventScroll: true });
  shownAt = since = performance.now();
};

const go = (i) => (i < 0 ? null : i >= n ? finish() : show(i));

const decided = (values, text) => {
  if (performance.now() - shownAt < GUARD) return;
  const i = state.current;
  spend();
  if (!change(i, values, true)) warn(say("storeFull"));
  tell(state.dirty % REMIND ? text : say("remind", { k: state.dirty }));
  const next = auto ? nextOpen(i) : i;
  if (next < 0) finish();
  else if (next === i) showState();
  else show(next);
};
const give = (mark) => decided({ mark, skipped: "" }, say("marked", { mark: markText(mark) }));
const leaveOut = (why) => {
  $("skip-dialog").close();
  shownAt = 0;
  decided({ mark: null, skipped: why }, say("skipped", { why: whyOf(why) }));
};
const undo = () => {
  const i = undoLast();
  if (i < 0) return tell(say("nothingToUndo"));
  show(i);
  return tell(say("undone", { i: i + 1 }));
};
const clear = () => {
  if (!isDone(state.current)) return;
  change(state.current, { mark: null, skipped: "" }, true);
  showState();
  tell(say("cleared", { i: state.current + 1 }));
};
const flag = () => {
  change(state.current, { flag: !label(state.current)?.flag });
  showState();
  tell(stateOf(state.current));
};
const openComment = (open, focus = true) => {
  $("comment-box").hidden = !open;
  $("comment-open").setAttribute("aria-expanded", String(open));
  if (open && focus) $("comment").focus();
};

// -- time -------------------------------------------------------------------------------------------------------------

const spend = (leaving = false) => {
  const now = performance.now();
  if (view === "work" && !away) {
    const id = page.items[state.current].id;
    state.seconds.set(id, (state.seconds.get(id) ?? 0) + Math.min(now - since, IDLE) / 1000);
  }
  since = now;
  away = leaving === true;
};
const comeBack = () => {
  away = false;
  since = performance.now();
};

// -- the end, lists, file ---------------------------------------------------------------------------------------------

const itemButton = (i) => {
  const one = label(i);
  const sign = `${!isDone(i) ? "" : one.skipped ? "–" : "✓"}${one?.flag ? "⚑" : ""}`;
  const button = make("button", { type: "button", className: isDone(i) ? "set" : "" }, `${i + 1}`, make("span", { className: "sign", textContent: sign }));
  button.setAttribute("aria-label", `${say("item", { i: i + 1, n })}: ${stateOf(i)}`);
  if (i === state.current) button.setAttribute("aria-current", "true");
  button.addEventListener("click", () => {
    $("list-dialog").close();
    show(i);
  });
  return button;
};

const finish = () => {
  spend();
  only("end");
  const all = page.items.map((_, i) => i);
  const open = all.filter((i) => !isDone(i));
  const skipped = all.filter((i) => label(i)?.skipped);
  const flagged = all.filter((i) => label(i)?.flag);
  $("end-title").textContent = open.length ? say("endOpen", { k: open.length }) : say("endDone");
  $("end-counts").textContent = say("endCounts", { marked: n - open.length - skipped.length, skipped: skipped.length, open: open.length });
  $("end-save").textContent = say("endFile", { file: fileName("jsonl") });
  $("end-saved").textContent = state.dirty ? say("unsaved", { k: state.dirty }) : say("endSaved");
  $("end-send").textContent = say("endSend", { who: page.sendTo || say("sender") });
  const lists = [["endOpenItems", open], ["endFlagged", flagged], ["endSkipped", skipped]].filter(([, items]) => items.length);
  $("end-lists").replaceChildren(
    ...lists.map(([name, items]) => make("div", {}, make("h3", { textContent: `${say(name)}: ${items.length}` }), make("div", { className: "grid" }, ...items.slice(0, 200).map(itemButton)))),
  );
  count();
  keep();
  window.scrollTo(0, 0);
  $("end-title").focus({ preventScroll: true });
};

const listItems = () => {
  $("list-legend").textContent = say("legend");
  $("list").className = "grid";
  $("list").replaceChildren(...page.items.map((_, i) => itemButton(i)));
  $("list-dialog").showModal();
  $("list").querySelector("[aria-current]")?.focus();
};

const save = (form = "jsonl") => {
  spend();
  const file = fileName(form);
  const address = URL.createObjectURL(new Blob([asText(form)], { type: form === "csv" ? "text/csv" : "application/jsonl" }));
  make("a", { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
  state.dirty = 0;
  keep();
  count();
  if (view === "end") $("end-saved").textContent = say("endSaved");
  tell(say("saved", { file, done: doneCount(), n }));
};

const openFile = async (file) => {
  if (!file) return;
  try {
    const found = parsed(await file.text());
    if (!state.annotator) begin(found[0].annotator);
    adopt(found);
    enter();
    tell(say("opened", { file: file.name, done: doneCount(), n }));
  } catch (fault) {
    if (!fault.why) throw fault;
    warn(say("badFile", { why: say(fault.why, fault.values) }));
  }
};

const enter = () => {
  warn("");
  const next = isDone(state.current) ? nextOpen(state.current) : state.current;
  $("who").textContent = state.annotator;
  if (next < 0) finish();
  else show(next);
};
