import { ask } from "./ask.js";
import { turning } from "./compare.js";
import { cell, el, fill, lamp, visible } from "./dom.js";
import { PAGE } from "./items.js";
import { evidence, isDrawn } from "./evidence.js";
import { chains, isTrajectory, later, TRAJECTORY, trajectories } from "./lanes.js";
import { isBlind, marking, saw } from "./mark.js";
import { beside } from "./pair.js";
import { fields, ofParts, table } from "./parts.js";
import { go, state } from "./state.js";

const place = document.getElementById("item");
let near = { at: null, previous: null, next: null };
let shown = ""; // the item on the screen
let asked = 0; // an answer that comes late is not shown
const none = () => {};
let keys = none; // of the mark's form; none while another item is on its way, or its mark would be the old one's
let from = null; // what had the focus before the item was opened

// The rows of a comparison, whose order is not that of the filter.
function compared() {
  return state().view === "compare" ? [...document.querySelectorAll("main [data-row]")] : [];
}

// The item before or after the one on the screen: of a comparison its row, or what turns to the next page, else its place.
function neighbour(by) {
  const rows = compared();
  if (rows.length) return rows[rows.findIndex((row) => row.dataset.row === shown) + by] ?? turning(by);
  return by < 0 ? near.previous : near.next;
}

// Another item; the list behind it turns to its page.
function step(to, by = 0) {
  if (to === null) return;
  keys = none;
  if (to instanceof Element) {
    to.click();
    return;
  }
  if (typeof to === "function") {
    to();
    return;
  }
  shown = String(to);
  const page = near.at === null || !by ? undefined : Math.floor((near.at + by) / PAGE) || "";
  go({ item: String(to), pair: "", ...(page === undefined ? {} : { page: String(page) }) }, true);
}

// Questions and answers come first, then what each group has one of, then their parts.
function rank(run, rows) {
  return ["question", "prompt", "answer", "output", "reply"].some((name) => name in rows[0]) && !ofParts(run, rows) ? 0 : 1 + ofParts(run, rows);
}

// Questions and answers, then what the scores rest on in a form of its own, then rows; those behind such a form are folded, and
// those of a trajectory, of all agents, are made when they are asked for.
function behind(run, found, blind) {
  const known = Object.entries(found.tables).sort(([, a], [, b]) => rank(run, a) - rank(run, b));
  const made = ([name, rows], folded) => table(run, name, rows, found.place, folded);
  if (blind) return known.map((one) => made(one));
  const apart = isTrajectory(found.tables) ? TRAJECTORY : [];
  const [kept, shown] = [known.filter(([name]) => apart.includes(name)), known.filter(([name]) => !apart.includes(name))];
  const [first, drawn] = [shown.filter((one) => rank(run, one[1]) === 0 && !isDrawn(...one)), shown.filter((one) => isDrawn(...one))];
  return [
    first.map((one) => made(one)),
    trajectories(run, found), evidence(run, found), chains(run, found),
    shown.filter((one) => !first.includes(one) && !drawn.includes(one)).map((one) => made(one)),
    drawn.map((one) => made(one, true)),
    kept.length ? later(`rows behind the trials: ${kept.map(([name, rows]) => `${name} (${rows.length})`).join(", ")}`, () => kept.map((one) => made(one, true))) : null,
  ];
}

// The columns by which an item is compared with that of other groups.
function scores(run, row) {
  const metrics = [...new Set(run.figures.map((one) => one.metric))].filter((name) => name in row);
  const numbers = run.columns.filter((column) => column.table === "items" && column.kind === "number").map((column) => column.name);
  return (metrics.length ? metrics : numbers).slice(0, 6);
}

// What other runs of the same data say of the item; asked for when it is unfolded.
function earlier(run, row) {
  const made = el("details", {}, el("summary", {}, el("h3", {}, "in other runs of this data")));
  made.addEventListener("toggle", async () => {
    if (!made.open || made.childElementCount > 1) return;
    const found = await ask("history", { run: run.run, row });
    const names = scores(run, found[0]?.item ?? {});
    made.append(found.length ? el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": "Other runs" }, el("table", { class: "rows" },
      el("thead", {}, el("tr", {}, ["Run", "Started, UTC", "Light of the run", ...names].map((name, i) => el("th", { scope: "col", class: i > 2 ? "number" : null }, name)))),
      el("tbody", {}, found.map((one) => el("tr", {},
        el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => go({ run: one.run, where: "", sort: "", page: "", view: "", item: String(one.row) }) }, visible(one.run.split("/")[1]))),
        el("td", {}, (one.started || "").slice(0, 16).replace("T", " ")), el("td", {}, lamp(one.light)),
        names.map((name) => el("td", { class: "number" }, cell(one.item[name], name))))))))
      : el("p", { class: "eb-small" }, "No other run of this data has the item."));
  });
  return made;
}

// One item with everything behind it.
export async function item(run, now) {
  keys = none;
  if (!now.item) {
    asked += 1;
    if (place.open) place.close();
    if (shown) (document.querySelector(`[data-row="${shown}"]`) ?? from)?.focus?.();
    shown = "";
    return;
  }
  const mine = (asked += 1);
  const blind = isBlind();
  const [found, other, mark] = await Promise.all([
    ask("item", { run: run.run, row: now.item, where: now.where, sort: now.sort, blind: blind ? "true" : "" }),
    now.pair && !blind ? ask("item", { run: now.with || run.run, row: now.pair }) : null,
    marking(run, now),
  ]);
  if (mine !== asked) return;
  if (!blind) saw(run.run, now.item);
  if (other) saw(now.with || run.run, now.pair);
  keys = mark.keys;
  place.classList.toggle("blind", blind);
  near = found.near;
  shown = now.item;
  const title = Object.entries(found.place).filter(([name, value]) => !other || String(other.place[name]) === String(value)).map(([, value]) => String(value)).join(" · ");
  const names = scores(run, found.item);
  const others = found.others.map((row) => el("tr", {},
    el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => step(row.row) }, cell(run.by.map((name) => row[name]).join(", ")))),
    names.map((name) => el("td", { class: "number" }, cell(row[name], name)))));
  fill(place,
    el("div", { class: "bar" },
      el("h2", { id: "item-title", dir: "auto" }, visible(title)),
      el("div", { class: "turn" },
        el("button", { type: "button", disabled: neighbour(-1) === null, title: "k", onclick: () => step(neighbour(-1), -1) }, "Previous"),
        el("button", { type: "button", disabled: neighbour(1) === null, title: "j", onclick: () => step(neighbour(1), 1) }, "Next"),
        el("button", { type: "button", title: "Esc", onclick: () => place.close() }, "Close"))),
    mark.form,
    other ? beside(run, now, found, other) : [
      behind(run, found, blind),
      blind ? fields(found.item) : null,
      blind ? el("p", { class: "eb-small" }, "Blind: scores, verdicts, calls, and who answered are not shown.")
        : el("details", { open: true }, el("summary", {}, el("h3", {}, "scores")), fields(found.item, []))],
    blind || globalThis.evalbenchPack ? null : earlier(run, now.item),
    !other && found.others.length ? el("details", { open: found.others.length <= 12 }, el("summary", {}, el("h3", {}, `the same item of other groups (${found.others.length})`)),
      el("div", { class: "eb-scroll", tabindex: "0", role: "region", "aria-label": "Other groups" }, el("table", { class: "rows" },
        el("thead", {}, el("tr", {}, [run.by.join(", ") || "item", ...names].map((name, i) => el("th", { scope: "col", class: i ? "number" : null }, name)))), el("tbody", {}, others)))) : null);
  if (!place.open) {
    from = document.activeElement;
    place.showModal();
  } else {
    place.focus(); // the button that had the focus is another one now
  }
  place.scrollTop = 0;
}

place.addEventListener("close", () => {
  if (state().item) go({ item: "", pair: "" });
});
window.addEventListener("keydown", (event) => {
  if (!place.open || event.target.matches?.("input:not([type=checkbox]), textarea, select")) return;
  if (/^[0-3]$/u.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat) {
    event.preventDefault(); // it is not typed into the field of the name that may be asked for
    keys(event.key);
  }
  if (event.key === "j" || event.key === "ArrowRight") step(neighbour(1), 1);
  if (event.key === "k" || event.key === "ArrowLeft") step(neighbour(-1), -1);
});
