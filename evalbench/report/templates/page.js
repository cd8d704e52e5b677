// Sorting, filtering and open folds on paper: a help, never a need.
(() => {
  const key = (cell) => {
    const text = cell.textContent.trim();
    const number = Number(text.replace(/\u202f/g, "").replace("\u2212", "-").replace("\u221e", "Infinity"));
    return cell.className === "n" && text !== "\u2013" ? number : text;
  };
  const order = (a, b) => typeof a === "number" && typeof b === "number"
    ? a - b
    : typeof a !== typeof b ? (typeof a === "number" ? -1 : 1) : a.localeCompare(b);

  for (const table of document.querySelectorAll("table.eb-sortable")) {
    const bodies = [...table.tBodies];
    const open = bodies[0].rows.length;
    const rows = bodies.flatMap((body) => [...body.rows]);
    if (rows.length < 3) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!head.textContent) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sign = down ? -1 : 1;
        rows.sort((a, b) => sign * order(key(a.cells[column]), key(b.cells[column])));
        bodies[0].append(...rows.slice(0, open));
        if (bodies[1]) bodies[1].append(...rows.slice(open));
      });
    });
    if (rows.length < 8) continue;
    const filter = document.createElement("input");
    filter.type = "search";
    filter.className = "filter";
    filter.placeholder = "filter rows";
    filter.setAttribute("aria-label", "Filter the rows of this table");
    const found = document.createElement("output");
    found.className = "found eb-small";
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLocaleLowerCase();
      // "a" "b" are whole cells, anything else is a part of the row.
      const cells = /^("[^"]*"\s*)+$/.test(wanted) && [...wanted.matchAll(/"([^"]*)"/g)].map((part) => part[1]);
      const fits = (row) => cells
        ? cells.every((cell) => [...row.cells].some((own) => own.textContent.trim().toLocaleLowerCase() === cell))
        : row.textContent.toLocaleLowerCase().includes(wanted);
      let n = 0;
      for (const row of rows) n += !(row.hidden = !fits(row));
      table.closest("figure").classList.toggle("eb-filtered", wanted !== "");
      const more = table.dataset.total ? ` on this page; ${table.dataset.total} in all` : "";
      found.textContent = wanted ? `${n} of ${rows.length} rows${more}` : "";
    });
    table.parentNode.before(filter, found);
  }

  for (const link of document.querySelectorAll("a[data-filter]")) link.addEventListener("click", () => {
    const filter = document.querySelector("#items input.filter");
    if (!filter) return;
    const fold = filter.closest("details");
    if (fold) fold.open = true;
    filter.value = link.dataset.filter;
    filter.dispatchEvent(new Event("input"));
    link.closest("[popover]")?.hidePopover();
  });

  // A command is selected by a click; where the browser lets a page copy, it is copied, and that of a bar made.
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const commandOf = (bar) => {
    const whole = bar.closest(".eb-items").querySelector(".eb-view");
    const ends = bar.textContent.replace(/from (\S+)/, (_, end) => `${bar.parentNode.dataset.column}>=${end}`).replace(/below (\S+)/, (_, end) => `${bar.parentNode.dataset.column}<${end}`);
    return `${whole.textContent.split(" --items ")[0]} --items ${quoted(`${whole.dataset.where} ${ends}`.trim())}`;
  };
  const copies = (place, command) => place.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command());
    } catch {
      return; // it is selected
    }
    place.classList.add("copied");
    setTimeout(() => place.classList.remove("copied"), 2500);
  });
  for (const code of document.querySelectorAll(".eb-items .eb-view")) copies(code, () => code.textContent);
  for (const bar of document.querySelectorAll(".eb-items [data-column] > li")) {
    const button = document.createElement("button");
    button.className = "eb-open";
    button.title = "copy the command";
    button.append(...bar.childNodes);
    bar.append(button);
    copies(button, () => commandOf(bar));
  }

  const folded = [];
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details:not([open], .eb-all)")) {
      fold.open = true;
      folded.push(fold);
    }
  });
  addEventListener("afterprint", () => { for (const fold of folded.splice(0)) fold.open = false; });
})();
