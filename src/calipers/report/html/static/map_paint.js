// Paints the map: a small mark for each point, stamped from pictures that are made once per zoom.
// Filled marks lie inside the reference's support, hollow ones outside.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const map = (kit.map = kit.map || {});
  const REFERENCE_ALPHA = 0.55;
  const ALPHA = 0.8;
  const FAINT = 0.1;

  map.paint = function (state) {
    const { context, canvas, ratio } = state;
    const stamps = stampsOf(state);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    const { order } = state.points;
    for (let k = 0; k < order.length; k++) paintPoint(state, stamps, order[k]);
    context.globalAlpha = 1;
    if (state.matches) for (let k = 0; k < order.length; k++) paintMatch(state, stamps, order[k]);
    context.globalAlpha = 1;
    context.scale(ratio, ratio);
    [state.selected, state.hover].forEach((i) => i >= 0 && map.isShown(state, i) && ring(state, i));
  };

  function paintPoint(state, stamps, i) {
    const s = state.points.owner[i];
    if (state.hidden.has(s)) return;
    const reference = state.points.data.sets[s].series === null;
    const outside = state.view.outside[i];
    if (state.onlyOutside && !outside && !reference) return;
    const faint = (state.onlyOutside && !outside) || (state.matches && !state.matches[i]);
    state.context.globalAlpha = faint ? (state.matches ? FAINT : 0.2) : reference ? REFERENCE_ALPHA : outside ? 1 : ALPHA;
    stamp(state, stamps[2 * s + outside], i);
  }

  function paintMatch(state, stamps, i) {
    if (state.matches[i] && map.isShown(state, i)) stamp(state, stamps.found[2 * state.points.owner[i] + state.view.outside[i]], i);
  }

  function stamp(state, picture, i) {
    const [x, y] = map.at(state, i);
    if (!(x > -20 && x < state.width + 20 && y > -20 && y < state.height + 20)) return;
    const half = picture.width / 2;
    state.context.drawImage(picture, Math.round(x * state.ratio - half), Math.round(y * state.ratio - half));
  }

  // Two marks for each set, plain and, for what was searched, larger with an edge.
  function stampsOf(state) {
    const radius = radiusOf(state);
    const key = [radius, state.ratio, state.themes].join();
    if (state.stampKey === key) return state.stamps;
    const sets = state.points.data.sets;
    const both = (grow, edge) => sets.flatMap((set) => [0, 1].map((outside) => stampOf(state, set, outside, radius * grow, edge)));
    state.stamps = both(1, "");
    state.stamps.found = both(1.7, kit.colour(kit.variable("ink")));
    state.stampKey = key;
    return state.stamps;
  }

  function radiusOf(state) {
    const base = state.points.total > 8000 ? 2 : state.points.total > 1500 ? 2.5 : 3.2;
    return Math.min(6, base * Math.pow(map.zoomed(state), 0.35));
  }

  function stampOf(state, set, outside, radius, edge) {
    const picture = document.createElement("canvas");
    const grown = outside ? radius * 1.35 + 0.4 : radius;
    picture.width = picture.height = 2 * Math.ceil((grown * 1.4 + 2) * state.ratio);
    const context = picture.getContext("2d");
    context.setTransform(grown * state.ratio, 0, 0, grown * state.ratio, picture.width / 2, picture.height / 2);
    const path = new Path2D(kit.mark(set.series));
    const colour = kit.colour(kit.seriesVariable(set.series));
    context.lineJoin = "round";
    if (edge) draw(context, path, edge, (outside ? 3.4 : 1.8) / grown);
    if (outside) draw(context, path, colour, 1.5 / grown);
    else fill(context, path, colour);
    return picture;
  }

  function draw(context, path, colour, width) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke(path);
  }

  function fill(context, path, colour) {
    context.fillStyle = colour;
    context.fill(path);
  }

  function ring(state, i) {
    const [x, y] = map.at(state, i);
    const { context } = state;
    for (const [colour, width] of [["paper", 5], ["ink", 2]]) {
      context.strokeStyle = kit.colour(kit.variable(colour));
      context.lineWidth = width;
      context.beginPath();
      context.arc(x, y, 9, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  // What stands beside the legend: the marks inside and outside, in no system's colour.
  map.swatch = function (hollow) {
    const made = kit.swatch(null, false);
    const path = made.firstChild;
    if (hollow) Object.assign(path.style, { fill: "none", stroke: kit.variable("ink"), strokeWidth: 0.35 });
    else path.style.fill = kit.variable("ink");
    return made;
  };
})();
