// The map by keyboard: arrows go to the next point, with Shift they move the map; + and − zoom.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const map = (kit.map = kit.map || {});
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const STEP = 60;
  const FACTOR = 1.5;

  map.help = "Drag to move, wheel or + and − to zoom, double-click or 0 to show all. Arrow keys move between points, with Shift they move the map; Esc clears the selection.";

  map.listenToKeys = function (state) {
    state.canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (act(state, event)) event.preventDefault();
    });
  };

  function act(state, event) {
    const arrow = ARROWS[event.key];
    if (arrow && event.shiftKey) map.pan(state, -STEP * arrow[0], STEP * arrow[1]);
    else if (arrow) step(state, ...arrow);
    else if (event.key === "+" || event.key === "=") zoom(state, FACTOR);
    else if (event.key === "-" || event.key === "_") zoom(state, 1 / FACTOR);
    else if (event.key === "0" || event.key === "Home") zoom(state, 0);
    else if (event.key === "Escape") map.select(state, -1, false);
    else return false;
    return true;
  }

  function step(state, right, up) {
    const middle = () => map.nearest(state, state.width / 2, state.height / 2, 1e5);
    const known = state.selected >= 0 && map.isShown(state, state.selected);
    const next = known ? map.next(state, state.selected, right, up) : middle();
    if (next >= 0) map.select(state, next, true);
  }

  function zoom(state, factor) {
    const focus = state.selected >= 0 && map.isShown(state, state.selected) ? map.at(state, state.selected) : [];
    if (factor === 0) map.reset(state);
    else map.zoom(state, factor, ...focus);
    state.repaint();
  }
  map.zoomBy = zoom;
})();
