// The points of the map: which there are, where they lie on the screen, and which is nearest.
// Points have one number over all sets: those of set s are starts[s] … starts[s + 1] − 1.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const map = (kit.map = kit.map || {});
  const CELLS = 64;
  const ROOM = 18;
  const CLOSEST = 40;

  map.points = function (data) {
    const starts = [0];
    data.sets.forEach((set) => starts.push(starts[starts.length - 1] + set.size));
    const total = starts[starts.length - 1];
    const owner = new Uint16Array(total);
    data.sets.forEach((_, s) => owner.fill(s, starts[s], starts[s + 1]));
    return { data, starts, total, owner, order: paintOrder(data, starts), made: new Map() };
  };

  map.row = function (points, i) {
    const s = points.owner[i];
    const rows = points.data.sets[s].rows;
    return rows ? rows[i - points.starts[s]] : i - points.starts[s];
  };

  map.excerpt = function (points, i) {
    const s = points.owner[i];
    const texts = points.data.sets[s].excerpts;
    if (!texts) return null;
    const text = texts[i - points.starts[s]];
    return text === 0 ? beginning(points, s, i) : text;
  };

  // Of a text that the page stores for its lists as well: never a part of what is read as one character.
  function beginning(points, s, i) {
    const { series } = points.data.sets[s];
    const whole = (window.calipersTexts || {})[`${series === null ? 0 : series + 1}:${map.row(points, i)}`] || "";
    const letters = Array.from(whole.slice(0, 2 * points.data.longest + 64));
    if (letters.length <= points.data.longest) return whole;
    const start = letters.slice(0, points.data.longest).join("");
    if (!window.Intl || !Intl.Segmenter) return start;
    const pieces = Array.from(new Intl.Segmenter().segment(letters.join("")), (piece) => piece.index);
    const end = Math.max(0, ...pieces.filter((place) => place <= start.length));
    return end && end < start.length ? `${start.slice(0, end)}…` : start;
  }

  // The number of a row of a set, -1 where it is not on the map.
  map.find = function (points, set, row) {
    const s = typeof set === "number" ? set : points.data.sets.findIndex((each) => each.name === set);
    if (!points.data.sets[s]) return -1;
    const rows = points.data.sets[s].rows;
    const place = rows ? rows.indexOf(row) : row;
    return place >= 0 && place < points.data.sets[s].size ? points.starts[s] + place : -1;
  };

  // The reference below, then the others in turns, so that none hides the rest.
  function paintOrder(data, starts) {
    const order = [];
    data.sets.forEach((set, s) => {
      if (set.series === null) for (let i = starts[s]; i < starts[s + 1]; i++) order.push(i);
    });
    const longest = Math.max(0, ...data.sets.map((set) => set.size));
    for (let place = 0; place < longest; place++) {
      data.sets.forEach((set, s) => {
        if (set.series !== null && place < set.size) order.push(starts[s] + place);
      });
    }
    return Int32Array.from(order);
  }

  // One view: coordinates, what is outside, and a grid that finds neighbours; made once.
  map.view = function (points, which) {
    if (!points.made.has(which)) points.made.set(which, makeView(points, points.data.views[which]));
    return points.made.get(which);
  };

  function makeView(points, given) {
    const x = Float32Array.from(given.x.flat(), (v) => (v === null ? NaN : v));
    const y = Float32Array.from(given.y.flat(), (v) => (v === null ? NaN : v));
    const outside = new Uint8Array(points.total);
    given.inside.forEach((flags, s) => {
      for (let i = 0; flags && i < flags.length; i++) outside[points.starts[s] + i] = flags[i] === "0" ? 1 : 0;
    });
    const view = { given, x, y, outside, width: given.width || 1, height: given.height || 1 };
    view.size = Math.max(view.width, view.height) / CELLS + 1e-6;
    view.cells = grid(view, points.total);
    return view;
  }

  function grid(view, total) {
    const cells = new Map();
    for (let i = 0; i < total; i++) {
      if (Number.isNaN(view.x[i]) || Number.isNaN(view.y[i])) continue;
      const cell = Math.floor(view.y[i] / view.size) * CELLS + Math.floor(view.x[i] / view.size);
      if (!cells.has(cell)) cells.set(cell, []);
      cells.get(cell).push(i);
    }
    return cells;
  }

  map.isShown = (state, i) =>
    !state.hidden.has(state.points.owner[i]) && (!state.onlyOutside || state.view.outside[i] === 1) && !Number.isNaN(state.view.x[i]) && !Number.isNaN(state.view.y[i]);

  map.countShown = function (state) {
    let count = 0;
    for (let i = 0; i < state.points.total; i++) if (map.isShown(state, i)) count++;
    return count;
  };

  // The nearest shown point to a place on the canvas, within `reach` pixels; -1 where there is none.
  map.nearest = function (state, px, py, reach) {
    const view = state.view;
    const [x, y] = map.under(state, px, py);
    const far = reach / state.scale;
    let [best, least] = [-1, far * far];
    const [low, high] = [(v) => Math.floor((v - far) / view.size), (v) => Math.floor((v + far) / view.size)];
    for (let row = Math.max(0, low(y)); row <= Math.min(CELLS - 1, high(y)); row++) {
      for (let column = Math.max(0, low(x)); column <= Math.min(CELLS - 1, high(x)); column++) {
        for (const i of view.cells.get(row * CELLS + column) || []) {
          const distance = (view.x[i] - x) ** 2 + (view.y[i] - y) ** 2;
          if (distance <= least && map.isShown(state, i)) [best, least] = [i, distance];
        }
      }
    }
    return best;
  };

  // The next shown point in a direction (right and up count as 1): straight ahead before aside.
  map.next = function (state, from, right, up) {
    const view = state.view;
    let [best, least] = [-1, Infinity];
    for (let i = 0; i < state.points.total; i++) {
      const [dx, dy] = [view.x[i] - view.x[from], view.y[i] - view.y[from]];
      const ahead = dx * right + dy * up;
      const aside = Math.abs(dx * up) + Math.abs(dy * right);
      if (!(ahead > 0) || aside > ahead || !map.isShown(state, i)) continue;
      if (ahead + 2 * aside < least) [best, least] = [i, ahead + 2 * aside];
    }
    return best;
  };

  // Where a point is on the canvas, and what lies under a place of it, in CSS pixels; y goes up.
  map.at = (state, i) => [state.left + state.view.x[i] * state.scale, state.low - state.view.y[i] * state.scale];
  map.under = (state, px, py) => [(px - state.left) / state.scale, (state.low - py) / state.scale];

  map.fitted = (state) =>
    Math.max(1e-6, Math.min((state.width - 2 * ROOM) / state.view.width, (state.height - 2 * ROOM) / state.view.height));

  map.reset = function (state) {
    state.scale = map.fitted(state);
    map.centre(state, state.view.width / 2, state.view.height / 2);
  };

  map.centre = function (state, x, y) {
    state.left = state.width / 2 - x * state.scale;
    state.low = state.height / 2 + y * state.scale;
    map.hold(state);
  };

  // Zoom with the place under a pixel fixed; between the whole map and forty times that.
  map.zoom = function (state, factor, px = state.width / 2, py = state.height / 2) {
    const fitted = map.fitted(state);
    const [x, y] = map.under(state, px, py);
    const before = state.scale;
    state.scale = Math.min(CLOSEST * fitted, Math.max(fitted, state.scale * factor));
    state.left = px - x * state.scale;
    state.low = py + y * state.scale;
    if (state.scale === fitted) map.reset(state);
    else map.hold(state);
    return state.scale !== before;
  };

  map.zoomed = (state) => state.scale / map.fitted(state);

  // The middle of the canvas never leaves the map.
  map.hold = function (state) {
    const [x, y] = map.under(state, state.width / 2, state.height / 2);
    const [inX, inY] = [Math.min(state.view.width, Math.max(0, x)), Math.min(state.view.height, Math.max(0, y))];
    state.left += (x - inX) * state.scale;
    state.low -= (y - inY) * state.scale;
  };
})();
