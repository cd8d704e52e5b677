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
    const body = table.tBodies[0];
    if (body.rows.length < 3) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sign = down ? -1 : 1;
        body.append(...[...body.rows].sort((a, b) => sign * order(key(a.cells[column]), key(b.cells[column]))));
      });
    });
    if (body.rows.length < 8) continue;
    const filter = document.createElement("input");
    filter.type = "search";
    filter.className = "filter";
    filter.placeholder = "filter rows";
    filter.setAttribute("aria-label", "Filter the rows of this table");
    filter.addEventListener("input", () => {
      const wanted = filter.value.toLocaleLowerCase();
      for (const row of body.rows) row.hidden = !row.textContent.toLocaleLowerCase().includes(wanted);
    });
    table.parentNode.before(filter);
  }

  const folded = [];
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details:not([open])")) {
      fold.open = true;
      folded.push(fold);
    }
  });
  addEventListener("afterprint", () => { for (const fold of folded.splice(0)) fold.open = false; });
})();
