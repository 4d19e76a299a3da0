// The map of all samples on a canvas. What the canvas tells those who test or extend it:
//   data-ready "true" once painted; data-view; data-points, how many are shown; data-matches, how
//   many the search found ("" without); data-hover and data-hover-set, row and set of the point in
//   the box ("" without); data-zoom, 1 for the whole map;
//   canvas.calipersPoint(set, row) → {x, y} in CSS pixels from the canvas's upper left corner, null
//   where the point is not shown; `set` is a name or a place, the reference being 0.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const map = (kit.map = kit.map || {});

  const NEAR = 600;

  // The first charts are nearer to the top; megabytes of points must not keep them waiting.
  kit.ready(function () {
    document.querySelectorAll('[data-picture="map"]').forEach((host, place) => {
      host.style.minHeight = `${Math.min(760, Math.round(320 + host.clientWidth / 2))}px`;
      kit.whenNear(host, NEAR, (atOnce) => {
        host.style.minHeight = "";
        start(host, kit.island("data-map"), `picture-map-${place}`, atOnce);
      });
    });
  });

  function start(host, data, id, atOnce) {
    if (!data || !data.views.length || !data.sets.length) {
      host.replaceChildren(kit.element("p", "picture-missing", "This run has no map of its samples."));
      return;
    }
    const state = makeState(data);
    const parts = build(host, state, id);
    state.note = parts.note;
    map.listen(state);
    map.listenToKeys(state);
    expose(state);
    tellView(state);
    new ResizeObserver(() => resize(state)).observe(state.frame);
    if (atOnce) resize(state);
    document.addEventListener("calipers:theme", () => {
      state.themes += 1;
      state.repaint();
    });
    window.addEventListener("beforeprint", () => state.sized && paint(state)); // no frame comes before the print
  }

  function makeState(data) {
    const canvas = kit.element("canvas", "picture-canvas");
    const points = map.points(data);
    const state = {
      points, canvas, context: canvas.getContext("2d"), view: map.view(points, 0), hidden: new Set(),
      onlyOutside: false, matches: null, hover: -1, selected: -1, told: -1, themes: 0,
      width: 1, height: 1, ratio: 1, scale: 1, left: 0, low: 0, waiting: false, sized: false,
      frame: kit.element("div", "picture-frame"), tip: kit.element("div", "picture-tip"),
      live: kit.element("div", "picture-live"),
    };
    state.repaint = () => soon(state);
    state.tip.hidden = true;
    state.live.setAttribute("aria-live", "polite");
    return state;
  }

  // Paint once per frame, however often something changed.
  function soon(state) {
    if (state.waiting || !state.sized) return;
    state.waiting = true;
    requestAnimationFrame(() => {
      state.waiting = false;
      paint(state);
    });
  }

  // One finger scrolls the page while the whole map is shown, and moves the map once it is zoomed.
  function paint(state) {
    map.paint(state);
    map.showTip(state);
    state.canvas.style.touchAction = map.zoomed(state) > 1.01 ? "none" : "pan-y";
    state.canvas.dataset.zoom = map.zoomed(state).toFixed(2);
    state.canvas.dataset.ready = "true";
  }

  function build(host, state, id) {
    const search = map.search(state, id);
    const help = kit.element("p", "picture-note picture-help", map.help);
    const note = kit.element("p", "picture-note");
    help.id = `${id}-help`;
    Object.assign(state.canvas, { tabIndex: 0, id: `${id}-canvas` });
    state.canvas.setAttribute("role", "application");
    state.canvas.setAttribute("aria-describedby", help.id);
    state.frame.append(state.canvas, state.tip);
    const controls = kit.element("div", "picture-controls", "", viewChoices(state), ...(search ? [search.label] : []));
    const buttons = kit.element("div", "picture-zoom", "", ...zoomButtons(state));
    state.frame.append(buttons);
    host.classList.add("picture-map");
    host.replaceChildren(controls, legend(state), state.frame, state.live, ...(search ? [search.results] : []), note, help);
    return { note };
  }

  const viewChoices = (state) =>
    kit.choices("View", kit.views(state.points.data.views), 0, (place) => {
      state.view = map.view(state.points, place);
      state.told = -1;
      map.reset(state);
      changed(state);
      tellView(state);
    });

  function legend(state) {
    const entries = state.points.data.sets.map((set, s) => ({
      key: s, series: set.series, name: set.series === null && set.name !== "reference" ? `${set.name} (reference)` : set.name,
    }));
    const made = kit.legend("Sets", entries, state.hidden, false, () => changed(state));
    if (!state.points.data.views.some((view) => view.inside.some((flags) => flags))) return made;
    const only = kit.toggle("", false, (button) => {
      state.onlyOutside = !state.onlyOutside;
      button.setAttribute("aria-pressed", String(state.onlyOutside));
      changed(state);
    });
    only.dataset.only = "outside";
    only.append(map.swatch(true), "only outside the support");
    made.append(only);
    return made;
  }

  function zoomButtons(state) {
    return [["+", "Zoom in", 1.5], ["−", "Zoom out", 1 / 1.5], ["⤢", "See all", 0]].map(([sign, words, factor]) => {
      const button = kit.element("button", "picture-zoom-button", sign);
      Object.assign(button, { type: "button", title: words });
      button.setAttribute("aria-label", words);
      button.addEventListener("click", () => map.zoomBy(state, factor));
      return button;
    });
  }

  // What is shown changed: count again, search again, paint again.
  function changed(state) {
    const count = map.countShown(state);
    state.canvas.dataset.points = String(count);
    state.canvas.setAttribute("aria-label", `Map of ${kit.count(count)} samples by ${state.view.given.name}`);
    map.tellMatches(state);
    state.repaint();
  }

  function tellView(state) {
    const { method, explained, name, inside } = state.view.given;
    const shares = explained ? `, which hold ${explained.map((share) => kit.percent(share)).join(" and ")} of the variance` : "";
    const axes = method === "umap"
      ? "UMAP: near points are alike; wide gaps and the sizes of clusters mean little."
      : `The two main axes of all samples${shares}: points that lie apart differ, points that lie together may still differ along other axes.`;
    const support = "Filled marks lie inside the reference’s support, hollow ones outside. Support is judged in all dimensions, not on this map.";
    state.note.textContent = `${axes} ${inside.some((flags) => flags) ? support : ""}`.trim();
    state.canvas.dataset.view = name;
    changed(state);
  }

  function resize(state) {
    if (!state.canvas.clientWidth || !state.canvas.clientHeight) return;
    const zoomed = map.zoomed(state);
    const middle = map.under(state, state.width / 2, state.height / 2);
    state.width = state.canvas.clientWidth;
    state.height = state.canvas.clientHeight;
    state.ratio = window.devicePixelRatio || 1;
    state.canvas.width = Math.round(state.width * state.ratio);
    state.canvas.height = Math.round(state.height * state.ratio);
    if (!state.sized || zoomed < 1.01) map.reset(state);
    else {
      state.scale = zoomed * map.fitted(state);
      map.centre(state, ...middle);
    }
    state.sized = true;
    paint(state); // at once: a canvas of a new size is blank
  }

  function expose(state) {
    Object.defineProperty(state.canvas, "calipersPoint", {
      value(set, row) {
        const i = map.find(state.points, set, row);
        if (i < 0 || !map.isShown(state, i)) return null;
        const [x, y] = map.at(state, i);
        return { x, y };
      },
    });
  }
})();
