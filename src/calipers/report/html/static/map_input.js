// The map under a mouse or fingers: hover, click, drag, wheel and pinch.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const map = (kit.map = kit.map || {});
  const REACH = 14;
  const MOVED = 4;
  const WHEEL_PAUSE = 250;

  map.listen = function (state) {
    const { canvas } = state;
    const held = new Map();
    const press = { moved: false, start: null };
    canvas.addEventListener("pointerdown", (event) => down(state, held, press, event));
    canvas.addEventListener("pointermove", (event) => move(state, held, press, event));
    canvas.addEventListener("pointerup", (event) => up(state, held, press, event));
    canvas.addEventListener("pointercancel", (event) => held.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => hover(state, -1));
    canvas.addEventListener("dblclick", () => {
      map.reset(state);
      state.repaint();
    });
    listenToWheel(state);
  };

  const spot = (event) => [event.offsetX, event.offsetY];

  function down(state, held, press, event) {
    if (event.button > 0) return;
    held.set(event.pointerId, spot(event));
    Object.assign(press, { moved: held.size > 1, start: spot(event) });
    state.canvas.setPointerCapture(event.pointerId);
  }

  function move(state, held, press, event) {
    const before = held.get(event.pointerId);
    if (!before) return event.pointerType === "mouse" && hover(state, map.nearest(state, ...spot(event), REACH));
    const now = spot(event);
    press.moved = press.moved || Math.hypot(now[0] - press.start[0], now[1] - press.start[1]) > MOVED;
    if (!press.moved) return undefined;
    if (held.size === 2) pinch(state, held, event.pointerId, now);
    if (held.size === 1) pan(state, now[0] - before[0], now[1] - before[1]);
    held.set(event.pointerId, now);
    return undefined;
  }

  function up(state, held, press, event) {
    const tapped = held.delete(event.pointerId) && !press.moved && held.size === 0;
    if (tapped) map.select(state, map.nearest(state, ...spot(event), event.pointerType === "mouse" ? REACH : 2 * REACH), false);
  }

  function hover(state, i) {
    if (i === state.hover) return;
    state.hover = i;
    state.repaint();
  }

  function pan(state, dx, dy) {
    state.left += dx;
    state.low += dy;
    state.hover = -1;
    map.hold(state);
    state.repaint();
  }
  map.pan = pan;

  function pinch(state, held, id, now) {
    const other = [...held].find(([each]) => each !== id)[1];
    const before = held.get(id);
    const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
    map.zoom(state, apart(now, other) / apart(before, other), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    pan(state, (now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
  }

  // A wheel that scrolls the page goes on doing so when the map comes under it, and where the map
  // cannot be zoomed any further.
  function listenToWheel(state) {
    let elsewhere = -Infinity;
    window.addEventListener("wheel", (event) => {
      if (event.target !== state.canvas || event.timeStamp - elsewhere < WHEEL_PAUSE) elsewhere = event.timeStamp;
    }, { capture: true, passive: true });
    state.canvas.addEventListener("wheel", (event) => {
      if (elsewhere === event.timeStamp) return;
      const lines = event.deltaMode === 1 ? 16 : 1;
      const step = Math.max(-120, Math.min(120, event.deltaY * lines));
      if (!map.zoom(state, Math.exp(-step * 0.0025), ...spot(event))) return;
      event.preventDefault();
      state.hover = -1;
      state.repaint();
    }, { passive: false });
  }
})();
