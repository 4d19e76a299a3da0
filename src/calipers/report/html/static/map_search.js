// Finds the samples whose excerpt holds some words: marks them on the map and lists the first.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const map = (kit.map = kit.map || {});
  const LISTED = 50;
  const PAUSE = 120;

  // The search box with its count and list; null where there are no texts.
  map.search = function (state, id) {
    if (!state.points.data.sets.some((set) => set.excerpts)) return null;
    const input = kit.element("input", "picture-search");
    Object.assign(input, { type: "search", id: `${id}-search`, autocomplete: "off", spellcheck: false });
    const label = kit.element("label", "picture-label", `Search the first ${state.points.data.longest} characters `, input);
    const count = kit.element("p", "picture-count");
    count.setAttribute("role", "status");
    const list = kit.element("ol", "picture-found");
    let pause = 0;
    input.addEventListener("input", () => {
      clearTimeout(pause);
      pause = setTimeout(() => look(state, input.value), PAUSE);
    });
    state.found = { count, list, lower: null, words: "" };
    return { label, results: kit.element("div", "picture-results", "", count, list) };
  };

  // Texts as they are looked for: however their letters are put together, and whether joined or not.
  const folded = (text) => text.normalize("NFKC").toLowerCase().replace(/[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f]/g, "").normalize("NFC");

  function look(state, typed) {
    state.found.words = folded(typed.trim());
    state.matches = state.found.words ? matching(state) : null;
    map.tellMatches(state);
    state.repaint();
  }

  function matching(state) {
    const { points, found } = state;
    found.lower = found.lower || Array.from({ length: points.total }, (_, i) => folded(map.excerpt(points, i) || ""));
    return Uint8Array.from(found.lower, (text) => (text.includes(found.words) ? 1 : 0));
  }

  // How many of the points that are shown match, and the first of them.
  map.tellMatches = function (state) {
    if (!state.found) return;
    const matches = inTurns(state).filter((i) => map.isShown(state, i));
    state.canvas.dataset.matches = state.matches ? String(matches.length) : "";
    state.found.count.textContent = state.matches ? counted(state, matches.length) : "";
    state.found.list.replaceChildren(...matches.slice(0, LISTED).map((i) => entry(state, i)));
  };

  // What was found, the sets in turns, so that the first of each are among the first of all.
  function inTurns(state) {
    const { starts, owner, total } = state.points;
    const found = [];
    for (let i = 0; state.matches && i < total; i++) if (state.matches[i]) found.push(i);
    const place = (i) => i - starts[owner[i]];
    return found.sort((a, b) => place(a) - place(b) || a - b);
  }

  function counted(state, count) {
    const first = count > LISTED ? `; the first ${LISTED}:` : count ? ":" : ".";
    return `${kit.count(count)} of ${kit.count(map.countShown(state))} samples match${first}`;
  }

  function entry(state, i) {
    const set = state.points.data.sets[state.points.owner[i]];
    const button = kit.element("button", "picture-hit");
    button.type = "button";
    const text = kit.element("bdi", "picture-hit-text", map.excerpt(state.points, i));
    text.dir = "auto";
    button.append(kit.swatch(set.series, false), kit.element("bdi", "picture-name", set.name), ` row ${map.row(state.points, i)}: `, text);
    button.addEventListener("click", () => {
      map.select(state, i, true);
      state.canvas.scrollIntoView({ block: "nearest" });
    });
    return kit.element("li", "", "", button);
  }
})();
