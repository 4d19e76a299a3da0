// What the page itself does: sorting, theme, copying, signatures, tabs of systems, choice of view.
(function () {
  "use strict";
  const root = document.documentElement;
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  root.classList.add("scripted");

  // Texts as they are looked for: however their letters are put together, and whether joined or not.
  const folded = (text) => text.normalize("NFKC").toLowerCase().replace(/[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f]/g, "").normalize("NFC");
  // A name beside other words keeps its direction.
  const apart = (name) => `\u2068${name}\u2069`;

  // --- theme: kept where the browser lets a file keep anything -------------------------------
  const THEME = "calipers-theme";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const kept = (act) => { try { return act(window.localStorage); } catch { return null; } };
  const shown = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const themed = () => document.dispatchEvent(new Event("calipers:theme"));

  function startTheme() {
    const button = document.getElementById("theme");
    const name = () => { button.textContent = shown() === "dark" ? "Light" : "Dark"; button.setAttribute("aria-label", `${button.textContent} colours`); };
    const set = (theme) => { if (theme === "dark" || theme === "light") root.dataset.theme = theme; name(); themed(); };
    button.hidden = false;
    button.addEventListener("click", () => {
      const next = shown() === "dark" ? "light" : "dark";
      kept((storage) => storage.setItem(THEME, next));
      set(next);
    });
    dark.addEventListener("change", () => { name(); themed(); });
    set(kept((storage) => storage.getItem(THEME)));
    startPrinting(set);
  }

  // Paper is white: what is dark is printed light.
  function startPrinting(set) {
    let before = null;
    window.addEventListener("beforeprint", () => {
      if (shown() !== "dark") return;
      before = root.dataset.theme || "";
      set("light");
    });
    window.addEventListener("afterprint", () => {
      if (before === null) return;
      delete root.dataset.theme;
      set(before);
      before = null;
    });
  }

  // --- sorting: best first, then the other way; what has no value stays last -----------------
  function startSorting(table) {
    const heads = all("th[data-direction]", table);
    const place = (head) => head.parentElement.cells.length && Array.from(head.parentElement.cells).indexOf(head);
    heads.forEach((head) => head.querySelector("button").addEventListener("click", () => {
      const first = head.dataset.direction === "higher" ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      sort(table.querySelector("tbody[data-sorted]"), place(head), order === "ascending" ? 1 : -1);
    }));
  }

  function value(row, column) {
    const cell = row.cells[column];
    if (column === 0) return cell.textContent.trim();
    const number = Number.parseFloat(cell.dataset.value === undefined ? cell.textContent : cell.dataset.value);
    return Number.isNaN(number) ? null : number;
  }

  function sort(body, column, sign) {
    const rows = all("tr", body).map((row) => ({ row, key: value(row, column) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return sign * (typeof a.key === "string" ? a.key.localeCompare(b.key, undefined, { numeric: true }) : a.key - b.key);
    });
    body.append(...rows.map((each) => each.row));
  }

  // --- finding: words of names, conditions on values, and what is marked ----------------------
  const CONDITION = /([^\s<>=≤≥]+)\s*(<=|>=|≤|≥|<|>|=)\s*(-?[\d.]+)/g;
  const HOLDS = { "<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b };
  const plain = (text) => folded(text).replace(/[^\p{L}\p{M}\p{N}]/gu, "");

  function startFinding(form) {
    const table = document.querySelector("table[data-sortable]");
    const rows = all("tbody[data-sorted] tr", table);
    const heads = all("th[data-direction]", table).map((head) => plain(head.textContent));
    const { words, flag, count } = form.elements;
    const show = () => {
      const asked = conditions(words.value, heads);
      rows.forEach((row) => { row.hidden = !fits(row, asked, flag ? flag.value : ""); });
      const left = rows.filter((row) => !row.hidden).length;
      const unknown = asked.unknown.length ? `; no column ${asked.unknown.join(", ")}` : "";
      count.textContent = (left === rows.length ? `${left} systems` : `${left} of ${rows.length} systems`) + unknown;
    };
    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    show();
  }

  // "recall > 0.9 llama" as columns with their bounds, and the words that are left. A column is
  // called by the beginning of its head; of several views the first has it.
  function conditions(text, heads) {
    const bounds = [];
    const unknown = [];
    const rest = text.normalize("NFKC").replace(CONDITION, (_, name, sign, number) => {
      const column = heads.findIndex((head, place) => place > 0 && head.startsWith(plain(name)));
      const holds = HOLDS[sign.replace("≤", "<=").replace("≥", ">=")];
      if (column > 0) bounds.push({ column, holds, number: Number.parseFloat(number) });
      else unknown.push(name);
      return " ";
    });
    return { bounds, unknown, words: folded(rest).split(/\s+/).filter(Boolean) };
  }

  function fits(row, asked, flag) {
    const name = folded(row.dataset.name);
    const within = ({ column, holds, number }) => {
      const found = value(row, column);
      return found !== null && holds(found, number);
    };
    return asked.words.every((word) => name.includes(word)) && asked.bounds.every(within) &&
      (!flag || row.dataset.flags.split(" ").includes(flag));
  }

  // --- signatures: the line behind a value ----------------------------------------------------
  function startSignatures() {
    const line = document.getElementById("signature");
    all("a.value").forEach((link) => link.addEventListener("click", (event) => {
      const entry = found(link.hash.slice(1));
      if (!entry || !line) return;
      event.preventDefault();
      all("a.value[aria-current]").forEach((each) => each.removeAttribute("aria-current"));
      link.setAttribute("aria-current", "true");
      line.querySelector("code").textContent = entry.querySelector("dd").textContent;
      line.hidden = false;
    }));
    if (line) line.setAttribute("aria-live", "polite");
  }

  // --- copying: a page opened as a file may have no clipboard ---------------------------------
  function startCopying(button) {
    const words = button.textContent;
    const tell = (done) => {
      button.textContent = done ? "Copied" : "Select and copy";
      setTimeout(() => { button.textContent = words; }, 2000);
    };
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.querySelector(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
        tell(true);
      } catch {
        tell(copiedBySelection(source));
      }
    });
  }

  function copiedBySelection(source) {
    const range = document.createRange();
    range.selectNodeContents(source);
    window.getSelection().removeAllRanges();
    window.getSelection().addRange(range);
    return Boolean(document.execCommand && document.execCommand("copy"));
  }

  // --- long texts open and close --------------------------------------------------------------
  function startFolding(text) {
    const button = document.createElement("button");
    const name = () => {
      const folded = text.classList.contains("folded");
      button.textContent = folded ? "Whole text" : "Less";
      button.setAttribute("aria-expanded", String(!folded));
    };
    button.type = "button";
    button.className = "small unfold";
    button.addEventListener("click", () => { text.classList.toggle("folded"); name(); });
    name();
    text.after(button);
  }

  // --- of many systems lists, signatures and differences are stored, and written when asked for --
  let stored = null;

  function startStored() {
    const holder = document.getElementById("data-parts");
    if (!holder) return;
    stored = JSON.parse(holder.textContent);
    stored.texts = Object.fromEntries(Object.entries(stored.rows).map(([key, place]) => [key, stored.texts[place]]));
    window.calipersTexts = stored.texts; // the map shows their beginnings
    holder.remove();
    all("[data-signatures]").forEach((list) => list.addEventListener("toggle", () => list.open && writeSignatures(list)));
    all("[data-pairs]").forEach(startPairs);
    // Of so many systems that their pairs are stored, the lists would be hundreds of sheets
    if (!("pairs" in stored)) window.addEventListener("beforeprint", () => all(".system").forEach(writeLists));
  }

  function writeSignatures(list) {
    const place = list.dataset.signatures;
    if (!stored || place === undefined) return;
    list.removeAttribute("data-signatures");
    list.querySelector("dl").innerHTML = stored.signatures[place]; // as the template wrote it, every value escaped
  }

  // Write the lists of a system, as the template wrote them, and its texts, as texts.
  function writeLists(panel) {
    const place = panel.id.replace("system-", "");
    if (!stored || !(place in stored.systems)) return;
    const lists = document.createElement("template");
    lists.innerHTML = stored.systems[place];
    all("[data-text]", lists.content).forEach((text) => { text.textContent = stored.texts[text.dataset.text]; });
    delete stored.systems[place];
    panel.append(lists.content);
    all(".text.folded", panel).forEach(startFolding);
    showView(viewShown);
  }

  // What a link names may not be written yet.
  function found(id) {
    const [, kind, place] = /^(system|signature)-(\d+)-/.exec(id) || [];
    if (kind === "system") all(`#system-${place}`).forEach(writeLists);
    if (kind === "signature") all(`[data-signatures="${place - 1}"]`).forEach(writeSignatures);
    return document.getElementById(id);
  }

  // The differences of one system from all others; of all pairs at once they would be a table of thousands of rows.
  function startPairs(box) {
    const { names, a, b, lead, columns } = stored.pairs;
    const label = document.createElement("label");
    const choice = document.createElement("select");
    const table = document.createElement("table");
    const scroll = document.createElement("div");
    choice.append(...names.map((name, place) => new Option(name, place)));
    label.append("Differences of ", choice);
    label.className = "pairs-of";
    table.className = "grid";
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Differences between systems");
    scroll.append(table);
    const groups = columns.reduce((runs, { group }) => {
      if (runs.length && runs[runs.length - 1].group === group) runs[runs.length - 1].width += 1;
      else runs.push({ group, width: 1 });
      return runs;
    }, []);
    const write = () => {
      const chosen = Number(choice.value);
      table.replaceChildren();
      const head = table.createTHead();
      if (groups.length > 1) head.insertRow().append(cell("td", ""), ...groups.map(({ group, width }) => spanning(group, width)));
      head.insertRow().append(cell("th", lead), ...columns.map((column) => cell("th", column.head, "num")));
      all("th", head).forEach((each) => { each.scope = each.colSpan > 1 ? "colgroup" : "col"; });
      const body = table.createTBody();
      a.forEach((first, row) => {
        if (first !== chosen && b[row] !== chosen) return;
        const name = cell("th", `${apart(names[first])} - ${apart(names[b[row]])}`);
        name.scope = "row";
        body.insertRow().append(name, ...columns.map((column) => cell("td", column.cells[row], column.strong[row] === "1" ? "num bold" : "num")));
      });
    };
    choice.addEventListener("change", write);
    const part = box.closest("details");
    if (part && !part.open) part.addEventListener("toggle", write, { once: true });
    else write();
    box.append(label, scroll);
  }

  function cell(tag, text, className = "") {
    const made = document.createElement(tag);
    const word = document.createElement("bdi");
    word.textContent = text;
    if (className) made.className = className;
    made.append(word);
    return made;
  }

  function spanning(group, width) {
    const made = cell("th", group, "view");
    made.colSpan = width;
    return made;
  }

  // --- systems as tabs, views as a choice above them ------------------------------------------
  function startTabs(box) {
    const panels = all(":scope > .system", box);
    const tabs = panels.map((panel, i) => tab(panel, i));
    const list = document.createElement("div");
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Systems");
    list.className = "tabs";
    list.append(...tabs);
    const select = (i, { focus = false, link = false } = {}) => {
      tabs.forEach((each, j) => {
        each.setAttribute("aria-selected", String(i === j));
        each.tabIndex = i === j ? 0 : -1;
        panels[j].hidden = i !== j;
      });
      writeLists(panels[i]);
      if (focus) tabs[i].focus();
      if (link) remember(panels[i].id);
    };
    tabs.forEach((each, i) => each.addEventListener("click", () => select(i, { link: true })));
    list.addEventListener("keydown", (event) => {
      const next = moved(event.key, tabs.findIndex((each) => each.tabIndex === 0), tabs.length);
      if (next === null) return;
      event.preventDefault();
      select(next, { focus: true, link: true });
    });
    const bar = document.createElement("div");
    bar.className = "choices";
    bar.append(list, ...viewChoice(box));
    box.prepend(bar);
    select(0);
    return (element) => {
      const panel = panels.findIndex((each) => each.contains(element));
      if (panel >= 0) select(panel);
    };
  }

  function tab(panel, i) {
    const made = document.createElement("button");
    const title = panel.querySelector("h3");
    made.type = "button";
    made.id = `tab-${i + 1}`;
    made.setAttribute("role", "tab");
    made.setAttribute("aria-controls", panel.id);
    made.className = "series";
    made.style.setProperty("--mark", panel.style.getPropertyValue("--mark"));
    made.append(...Array.from(title.childNodes, (node) => node.cloneNode(true)));
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", made.id);
    panel.tabIndex = 0;
    title.classList.add("hidden");
    return made;
  }

  function moved(key, now, count) {
    const steps = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: count - 1 };
    return key in steps ? (steps[key] + count) % count : null;
  }

  let showView = () => undefined;
  let viewShown = null;

  function viewChoice(box) {
    const parts = () => all(".of-view", box);
    const names = box.dataset.views ? JSON.parse(box.dataset.views) : [...new Set(parts().map((part) => part.dataset.name))];
    if (names.length < 2) return [];
    const group = document.createElement("div");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "View");
    group.className = "segments";
    const buttons = names.map((name) => viewButton(name));
    showView = (name) => {
      viewShown = name;
      parts().forEach((part) => { part.hidden = part.dataset.name !== name; });
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(names[i] === name)));
    };
    group.append(...buttons);
    showView(names[0]);
    return [group];
  }

  function viewButton(name) {
    const button = document.createElement("button");
    const word = document.createElement("bdi");
    word.textContent = name;
    button.type = "button";
    button.append(word);
    button.addEventListener("click", () => showView(name));
    return button;
  }

  // --- links into what is hidden ---------------------------------------------------------------
  function remember(id) {
    try { window.history.replaceState(null, "", `#${id}`); } catch { /* a file may not do so */ }
  }

  function follow(selectTab) {
    const target = found(window.location.hash.slice(1));
    if (!target) return;
    selectTab(target);
    const part = target.closest(".of-view");
    if (part) showView(part.dataset.name);
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    target.scrollIntoView({ behavior: "instant" });
  }

  // --- samples: words, lists and lengths, in all systems and views alike -----------------------
  function startPicking(form) {
    const box = document.getElementById("tabbed");
    const fields = form.elements;
    const size = (item) => {
      const text = item.querySelector(".self .text");
      return text ? text.textContent.trim().split(/\s+/).length : null;
    };

    function asked() {
      const number = (field, other) => (field.value === "" ? other : Number(field.value));
      return {
        words: folded(fields.words.value).split(/\s+/).filter(Boolean),
        lists: fields.list.value.split(" ").filter(Boolean),
        least: number(fields.least, 0),
        most: number(fields.most, Infinity),
      };
    }

    function pick() {
      const { words, lists, least, most } = asked();
      const bounded = least > 0 || most < Infinity;
      const active = bounded || words.length || lists.length;
      let shown = 0;
      all(".list", box).forEach((list) => {
        const kind = list.id.replace(/^system-\d+-view-\d+-/, "");
        const items = all(".failure, .topic", list);
        const left = items.filter((item) => {
          const text = folded(item.textContent), length = bounded ? size(item) : 0;
          const fits = !bounded || (length !== null && length >= least && length <= most);
          item.hidden = !(fits && words.every((word) => text.includes(word)));
          return !item.hidden;
        });
        list.hidden = active && ((lists.length && !lists.includes(kind)) || (!left.length && (bounded || words.length)));
        if (active && !list.hidden) {
          shown += list.closest("[hidden]") ? 0 : left.length;
          [list, ...all("details.more", list)].forEach((each) => { if (each.tagName === "DETAILS") each.open = true; });
        }
      });
      fields.count.value = active ? `${shown} shown` : "";
    }

    const later = () => { window.clearTimeout(form.waiting); form.waiting = window.setTimeout(pick, 120); };
    form.addEventListener("input", later);
    form.addEventListener("submit", (event) => { event.preventDefault(); pick(); });
    // Lists are written down, and systems chosen, after this
    new MutationObserver(() => { if (Object.values(asked()).some((v) => v.length || (v > 0 && v < Infinity))) later(); })
      .observe(box, { childList: true, subtree: true, attributes: true, attributeFilter: ["aria-selected", "aria-pressed"] });
  }

  // --- plotly: a MB of script, run when the first chart is drawn -------------------------
  function startPlotly() {
    const source = document.getElementById("plotly-source");
    if (!source) return;
    const load = () => {
      const script = document.createElement("script");
      delete window.Plotly;
      script.textContent = source.textContent;
      document.head.append(script);
      source.remove();
      return window.Plotly;
    };
    window.Plotly = new Proxy({}, { get: (_, name) => load()[name] });
  }

  function start() {
    startStored();
    const box = document.getElementById("tabbed");
    const selectTab = box ? startTabs(box) : () => undefined;
    all("table[data-sortable]").forEach(startSorting);
    all("#tools").forEach(startFinding);
    all("#pick").forEach(startPicking);
    all("[data-copy]").forEach(startCopying);
    all(".text.folded").forEach(startFolding);
    startSignatures();
    startPlotly();
    window.addEventListener("hashchange", () => follow(selectTab));
    follow(selectTab);
  }

  startTheme();
  window.calipersUnpacked(start);
})();
