// Filtering, sorting and picking of the runs: a help, never a need.
(() => {
  const table = document.getElementById("table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({
    row,
    study: row.cells[1].textContent,
    judged: row.cells[2].dataset.v ?? row.cells[2].textContent,
    data: row.cells[3].textContent,
    light: row.cells[4].firstElementChild.lastChild.textContent.trim(),
    text: `${row.textContent} ${row.cells[2].dataset.v ?? ""}`.toLocaleLowerCase(),
  }));

  const bar = document.createElement("form");
  bar.className = "filters";
  bar.setAttribute("role", "search");
  bar.setAttribute("aria-label", "Filter the runs");
  bar.addEventListener("submit", (event) => event.preventDefault());
  const field = (name, control) => {
    const label = document.createElement("label");
    label.append(name, control);
    control.name = name;
    bar.append(label);
    return control;
  };
  const choice = (name) => {
    const select = document.createElement("select");
    select.append(new Option("all", ""));
    for (const value of [...new Set(rows.map((run) => run[name]))].filter((v) => v && v !== "–").sort()) select.append(new Option(value, value));
    return field(name, select);
  };
  const choices = ["study", "judged", "data", "light"].map(choice);
  const words = document.createElement("input");
  words.type = "search";
  field("text", words);
  const replaced = body.querySelectorAll("tr.replaced").length;
  const hide = document.createElement("input");
  hide.type = "checkbox";
  if (replaced) {
    field(`hide ${replaced} failed, since run anew on the same data`, hide).parentNode.className = "switch";
    hide.name = "hide";
    hide.value = "failed";
  }
  const count = document.createElement("output");
  bar.append(count);
  table.parentNode.before(bar);

  const show = () => {
    const wanted = words.value.trim().toLocaleLowerCase();
    let shown = 0;
    for (const run of rows) {
      const fits = choices.every((c) => !c.value || run[c.name] === c.value) && run.text.includes(wanted)
        && !(hide.checked && run.row.className === "replaced");
      run.row.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown === rows.length ? `${shown} runs` : `${shown} of ${rows.length} runs`;
    const kept = new URLSearchParams([...choices, words, hide].filter((c) => c === hide ? c.checked : c.value).map((c) => [c.name, c.value]));
    history.replaceState(null, "", kept.size ? `#${kept}` : location.pathname + location.search);
  };
  const asked = new URLSearchParams(location.hash.slice(1));
  hide.checked = asked.has("hide");
  for (const control of [...choices, words, hide]) {
    if (control !== hide && asked.has(control.name)) control.value = asked.get(control.name);
    control.addEventListener("input", show);
  }
  if (location.hash.includes("=")) show(); else count.textContent = `${rows.length} runs`;

  const key = (row, column) => {
    const cell = [...row.cells].length > column ? row.cells[column] : null;
    const text = cell ? (cell.dataset.v ?? cell.textContent.trim()) : "";
    return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  };
  const failed = (row) => row.querySelector(".error") ? 1 : 0;
  const order = (a, b) => a === b ? 0 : a === "" ? 1 : b === "" ? -1
    : typeof a === typeof b ? (typeof a === "number" ? a - b : a.localeCompare(b)) : typeof a === "number" ? -1 : 1;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = rows.map((run) => [key(run.row, column), run.row]);
      // Runs without a verdict come last, whatever is sorted and in which direction.
      keyed.sort((a, b) => failed(a[1]) - failed(b[1]) || (a[0] === "" || b[0] === "" ? order(a[0], b[0]) : (down ? -1 : 1) * order(a[0], b[0])));
      body.append(...keyed.map((pair) => pair[1]));
    });
  });

  // Two runs ticked give the line that compares them, the older first; a page from a disk knows their folders.
  const folder = location.protocol === "file:" ? decodeURIComponent(location.pathname).replace(/[^/]*$/, "").replace(/^\/(?=[A-Za-z]:)/, "") : "";
  const quoted = (word) => /^[\w@%+=:,.\/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  const picking = document.createElement("div");
  picking.className = "picking";
  picking.setAttribute("role", "region");
  picking.setAttribute("aria-label", "Compare runs");
  const said = document.createElement("output");
  const line = document.createElement("input");
  line.readOnly = true;
  line.setAttribute("aria-label", "Command that compares the ticked runs");
  const copy = document.createElement("button");
  copy.type = "button";
  copy.append("copy");
  picking.append(said, line, copy);
  bar.after(picking);
  const boxes = rows.filter((run) => run.row.dataset.run).map((run) => {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.className = "pick";
    box.setAttribute("aria-label", `compare the run of ${run.study}, ${run.row.cells[0].textContent.trim()}`);
    run.row.cells[0].prepend(box);
    return { box, ...run };
  });
  const pick = () => {
    const picked = boxes.filter((one) => one.box.checked).sort((a, b) => a.row.cells[0].dataset.v < b.row.cells[0].dataset.v ? -1 : 1);
    const several = new Set(picked.map((one) => one.study)).size > 1;
    const data = new Set(picked.map((one) => one.row.dataset.of)).size > 1;
    const ready = picked.length > 1 && !several;
    line.hidden = copy.hidden = !ready;
    said.value = several ? "Only runs of one study can be compared."
      : picked.length < 2 ? "Tick two runs, or more, to compare them."
      : `${picked.length} runs${data ? " on different data, as independent samples" : ""}:`;
    const names = picked.map((one) => quoted(folder ? folder + one.row.dataset.run : one.row.dataset.run.replace(/^.*\//, "")));
    line.value = ready ? ["evalbench compare", ...names, ...(data ? ["--unpaired"] : [])].join(" ") : "";
    copy.firstChild.data = "copy";
  };
  body.addEventListener("change", pick);
  copy.addEventListener("click", async () => {
    line.select();
    try { await navigator.clipboard.writeText(line.value); } catch { document.execCommand("copy"); }
    copy.firstChild.data = "copied";
  });
  pick();
})();
