// Words in place, and what listens.
const helpRows = () => [
  [marks.map((_, i) => keyOf(i)), "hMark"], [["←", "→"], "hMove"], [["N"], "hNext"], [["S"], "hSkip"], [["C"], "hComment"], [["F"], "hFlag"],
  [["U", "Ctrl+Z"], "hUndo"], [["Delete"], "hClear"], [["L"], "hList"], [["Ctrl+S"], "hSave"], [["?"], "hHelp"],
];

const translate = (language) => {
  words = allWords[language] ?? allWords.en;
  document.documentElement.lang = language;
  $("language").value = language;
  for (const part of document.querySelectorAll("[data-word]")) part.textContent = say(part.dataset.word);
  for (const part of document.querySelectorAll("[data-label]")) part.setAttribute("aria-label", say(part.dataset.label));
  $("save").title = "Ctrl+S";
  $("task").textContent = say(pairs ? "taskPairs" : "task", { n });
  $("kept").textContent = say(store ? "kept" : "notKept");
  for (const box of document.querySelectorAll(".criterion")) box.replaceChildren(...criterionBox());
  $("marks").replaceChildren(
    ...marks.map((mark, i) => {
      const when = pairs ? "" : page.criterion.scale[i][1];
      const button = make("button", { type: "button" });
      if (digits) button.append(make("kbd", { textContent: mark }), make("span", { className: "when", textContent: when, lang: page.criterion.lang }));
      else button.append(make("kbd", { textContent: keyOf(i), ariaHidden: "true" }), make("b", { textContent: markText(mark) }), make("span", { className: "when", textContent: when, lang: page.criterion.lang }));
      button.dataset.mark = mark;
      button.title = when;
      button.addEventListener("click", () => give(mark));
      return button;
    }),
  );
  $("reasons").replaceChildren(
    ...REASONS.map((why, i) => {
      const button = make("button", { type: "button" }, make("kbd", { textContent: i + 1, ariaHidden: "true" }), ` ${say(why)}`);
      button.addEventListener("click", () => leaveOut(why));
      return button;
    }),
  );
  $("help").replaceChildren(
    ...helpRows().map(([keys, name]) => make("div", {}, make("dt", {}, ...keys.map((key) => make("kbd", { textContent: key }))), make("dd", { textContent: say(name) }))),
  );
  $("people").hidden = !people().length;
  $("people").lastElementChild.replaceChildren(
    ...people().map((name) => {
      const kept = keptOf(name);
      const done = kept ? [...kept.labels.values()].filter((one) => one.mark !== null || one.skipped).length : 0;
      const button = make("button", { type: "button", textContent: say("continue", { name, done, n }) });
      button.addEventListener("click", () => {
        begin(name);
        enter();
      });
      return make("li", {}, button);
    }),
  );
  if (view === "work") show(state.current);
  if (view === "end") finish();
};

const size = (step) => {
  const now = Math.min(160, Math.max(80, Number(setting("size") ?? 100) + step));
  setting("size", String(now));
  document.documentElement.style.setProperty("--size", `${now}%`);
};

const KEYS = {
  KeyN: () => go(nextOpen(state.current) < 0 ? n : nextOpen(state.current)), KeyS: () => $("skip").click(), KeyC: () => openComment(true),
  KeyF: flag, KeyU: undo, KeyL: listItems, Delete: clear, Backspace: clear,
};

const pressed = (event) => {
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
  const letter = event.code || `Key${event.key.toUpperCase()}`;
  if (event.ctrlKey || event.metaKey) {
    if (view === "start" || event.altKey || event.shiftKey) return;
    if (letter === "KeyS") {
      event.preventDefault();
      if (!event.repeat) save();
    } else if (letter === "KeyZ" && !typing && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      undo();
    }
    return;
  }
  if (event.altKey || event.repeat || event.isComposing) return;
  if ($("skip-dialog").open && !typing && letters) {
    const why = REASONS[Number(event.key) - 1];
    if (why) {
      event.preventDefault();
      leaveOut(why);
    }
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (typing) {
    if (event.key === "Escape" && event.target === $("comment")) $("item-title").focus({ preventScroll: true });
    return;
  }
  if (event.key === "?" && letters) {
    event.preventDefault();
    $("help-dialog").showModal();
  } else if (view === "end" && event.key === "ArrowLeft") {
    event.preventDefault();
    show(n - 1);
  } else if (view === "end" && letters && letter === "KeyU") {
    undo();
  } else if (view === "work") {
    const mark = letters && !event.shiftKey ? marks.findIndex((_, i) => keyOf(i) === event.key) : -1;
    const act = event.key === "ArrowLeft" ? () => go(state.current - 1) : event.key === "ArrowRight" ? () => go(state.current + 1) : letters ? KEYS[letter] : null;
    if (mark < 0 && !act) return;
    event.preventDefault();
    if (mark >= 0) give(marks[mark]);
    else act();
  }
};

for (const box of document.querySelectorAll("dialog [data-close]")) box.addEventListener("click", () => box.closest("dialog").close());
document.addEventListener("keydown", (event) => {
  if (away) comeBack();
  spend();
  pressed(event);
});
for (const kind of ["pointerdown", "pointermove", "wheel", "scroll"]) document.addEventListener(kind, () => (away ? comeBack() : spend()), { passive: true });
const leave = () => {
  spend(true);
  keep();
};
document.addEventListener("visibilitychange", () => (document.hidden ? leave() : comeBack()));
window.addEventListener("blur", leave);
window.addEventListener("focus", comeBack);
window.addEventListener("beforeunload", (event) => {
  spend();
  keep();
  if (state.dirty) event.preventDefault();
});
window.addEventListener("storage", (event) => {
  if (state.annotator && event.key === `${STORE}/of/${state.annotator}`) warn(say("otherTab"));
});
$("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!$("name").value.trim()) return;
  begin($("name").value);
  enter();
});
$("comment").addEventListener("input", () => {
  if (!change(state.current, { comment: $("comment").value.trim() })) warn(say("storeFull"));
  count();
});
$("save").addEventListener("click", () => save());
$("end-save").addEventListener("click", () => save());
for (const id of ["end-csv", "list-csv"]) $(id).addEventListener("click", () => save("csv"));
$("list-open").addEventListener("click", listItems);
$("help-open").addEventListener("click", () => $("help-dialog").showModal());
$("finish").addEventListener("click", () => {
  $("list-dialog").close();
  finish();
});
$("end-back").addEventListener("click", () => show(nextOpen(state.current) < 0 ? state.current : nextOpen(state.current)));
$("back").addEventListener("click", () => go(state.current - 1));
$("forth").addEventListener("click", () => go(state.current + 1));
$("flag").addEventListener("click", flag);
$("undo").addEventListener("click", undo);
$("comment-open").addEventListener("click", () => openComment($("comment-box").hidden));
$("skip").addEventListener("click", () => {
  $("other").value = "";
  $("skip-dialog").showModal();
});
const otherReason = () => $("other").value.trim() && leaveOut($("other").value.trim());
$("other-go").addEventListener("click", otherReason);
$("other").addEventListener("keydown", (event) => {
  if (event.key === "Enter") otherReason();
});
for (const id of ["open", "open-more"]) $(id).addEventListener("click", () => $("file").click());
$("file").addEventListener("change", async () => {
  $("list-dialog").close();
  await openFile($("file").files[0]);
  $("file").value = "";
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  openFile(event.dataTransfer.files[0]);
});
for (const [id, step] of [["smaller", -10], ["larger", 10]]) $(id).addEventListener("click", () => size(step));
$("language").addEventListener("change", () => {
  setting("language", $("language").value);
  translate($("language").value);
});
for (const [id, on, set] of [["auto", auto, (value) => (auto = value)], ["shortcuts", letters, (value) => (letters = value)]]) {
  $(id).checked = on;
  $(id).addEventListener("change", () => {
    set($(id).checked);
    setting(id === "auto" ? "auto" : "letters", $(id).checked ? "1" : "0");
  });
}
const wide = window.matchMedia("(min-width: 60rem)");
const fold = () => ($("criterion-fold").open = wide.matches);
wide.addEventListener("change", fold);
fold();
if (page.instructions.length) {
  fill($("instructions"), page.instructions);
  $("instructions").hidden = false;
}
$("ask").hidden = !pairs;
size(0);
only("start");
translate(setting("language") ?? page.language);
$("name").focus();
