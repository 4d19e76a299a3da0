// Says which sample a point is: in a box beside it, and to those who listen.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const map = (kit.map = kit.map || {});
  const GAP = 14;

  map.showTip = function (state) {
    const i = state.hover >= 0 ? state.hover : state.selected;
    const shown = i >= 0 && map.isShown(state, i) && onCanvas(state, i);
    state.tip.hidden = !shown;
    state.canvas.dataset.hover = shown ? String(map.row(state.points, i)) : "";
    state.canvas.dataset.hoverSet = shown ? state.points.data.sets[state.points.owner[i]].name : "";
    if (!shown) return;
    if (state.told !== i) fillTip(state, i);
    place(state, i);
  };

  function onCanvas(state, i) {
    const [x, y] = map.at(state, i);
    return x >= 0 && x <= state.width && y >= 0 && y <= state.height;
  }

  function fillTip(state, i) {
    const set = state.points.data.sets[state.points.owner[i]];
    const head = kit.element("p", "picture-tip-head", "", kit.swatch(set.series, false), kit.element("bdi", "picture-name", set.name));
    head.append(` row ${map.row(state.points, i)}${where(state, i)}`);
    const parts = [head];
    const text = map.excerpt(state.points, i);
    if (text !== null) parts.push(words(text, state.points.data.longest));
    state.tip.replaceChildren(...parts);
    state.told = i;
  }

  function words(text, longest) {
    const shown = kit.element("p", "picture-tip-text", text.length ? cut(text, longest) : "(an empty text)");
    shown.dir = "auto";
    return shown;
  }

  const cut = (text, longest) => (Array.from(text).length >= longest ? `${text}…` : text);

  function where(state, i) {
    const flags = state.view.given.inside[state.points.owner[i]];
    const flag = flags ? flags[i - state.points.starts[state.points.owner[i]]] : "-";
    return { 0: ", outside the reference’s support", 1: ", inside the reference’s support" }[flag] || "";
  }

  // Beside the point, on the side that has room, never over the edge of the canvas.
  function place(state, i) {
    const [x, y] = map.at(state, i);
    const [width, height] = [state.tip.offsetWidth, state.tip.offsetHeight];
    const right = x + GAP + width <= state.width;
    const left = right ? x + GAP : x - GAP - width >= 0 ? x - GAP - width : (state.width - width) / 2;
    const beside = right || x - GAP - width >= 0;
    const top = beside ? y - height / 2 : y + GAP + height <= state.height ? y + GAP : y - GAP - height;
    state.tip.style.left = `${Math.round(Math.max(0, left))}px`;
    state.tip.style.top = `${Math.round(beside ? Math.min(Math.max(0, top), Math.max(0, state.height - height)) : top)}px`;
  }

  // For those who do not see the box: once for each point that was chosen by key or from the list.
  map.announce = function (state, i) {
    const set = state.points.data.sets[state.points.owner[i]];
    const text = map.excerpt(state.points, i);
    state.live.textContent = `${set.name}, row ${map.row(state.points, i)}${where(state, i)}${text === null ? "" : `: ${text}`}`;
  };

  // Choose a point: bring it into sight, show it, say it.
  map.select = function (state, i, spoken) {
    state.selected = i;
    state.hover = -1;
    if (i >= 0 && !wellInside(state, i)) map.centre(state, state.view.x[i], state.view.y[i]);
    if (i >= 0 && spoken) map.announce(state, i);
    if (i < 0) state.live.textContent = "";
    state.repaint();
  };

  function wellInside(state, i) {
    const [x, y] = map.at(state, i);
    return x > 12 && x < state.width - 12 && y > 12 && y < state.height - 12;
  }
})();
