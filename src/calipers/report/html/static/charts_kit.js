// What all pictures share: data, elements, colours, marks, choices and legends.
// Texts and names reach the page as textContent only, never as markup.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const SVG = "http://www.w3.org/2000/svg";
  const COLOURS = ["#57606a", "#0072b2", "#c84f00", "#008060", "#b14f8f", "#b07700", "#2f8fcb", "#857500"];
  const PLAIN = { ink: "#222", muted: "#767676", paper: "#fff", panel: "#fff", line: "#ddd", accent: "#0072b2" };

  // Second cues beside colour, by the place of a system; a mark is a path around (0, 0), radius 1.
  kit.SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star"];
  kit.DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "4px 2px", "8px 2px 2px 2px 2px 2px"];
  const STROKES = ["", "7 4", "2 3", "7 3 2 3", "10 4", "10 3 2 3", "4 2", "8 2 2 2 2 2"];
  const MARKS = [
    "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z",
    "M-.88-.88H.88V.88H-.88Z",
    "M0-1.1L1.05.75H-1.05Z",
    "M0-1.25L1.1 0L0 1.25L-1.1 0Z",
    "M0 1.1L1.05-.75H-1.05Z",
    "M-.4-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
    "M-.55-1.1L0-.55L.55-1.1L1.1-.55L.55 0L1.1.55L.55 1.1L0 .55L-.55 1.1L-1.1.55L-.55 0L-1.1-.55Z",
    "M0-1.25L.36-.4L1.2-.36L.55.2L.78 1.05L0 .55L-.78 1.05L-.55.2L-1.2-.36L-.36-.4Z",
  ];

  kit.mark = (series) => (series === null ? MARKS[0] : MARKS[series % MARKS.length]);

  kit.island = function (id) {
    const holder = document.getElementById(id);
    return holder && holder.textContent.trim() ? JSON.parse(holder.textContent) : null;
  };

  kit.ready = function (start) {
    const unpacked = () => (window.calipersUnpacked || ((act) => act()))(start);
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", unpacked);
    else setTimeout(unpacked, 0);
  };

  // Pictures below the window, drawn in turn while nothing else happens, so that a picture of the
  // whole page shows them. One that takes long leaves the others to whoever scrolls there; the first
  // also reads plotly.
  const waiting = new Map();
  const MOST = 1000; // milliseconds
  const whenIdle = window.requestIdleCallback || ((act) => setTimeout(act, 200));
  let busy = false;
  let first = true;

  function drawNext() {
    const next = [...waiting.keys()].find((host) => host.offsetWidth > 0);
    busy = next !== undefined;
    if (!busy) return;
    const began = performance.now();
    waiting.get(next)(true);
    if (first || performance.now() - began < MOST) whenIdle(drawNext);
    first = false;
  }

  // Do something once: when an element comes near the window, the page is idle or about to be printed.
  kit.whenNear = function (host, margin, act) {
    const once = (atOnce) => {
      seen.disconnect();
      waiting.delete(host);
      window.removeEventListener("beforeprint", print);
      act(atOnce);
    };
    const print = () => once(true);
    const seen = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) once(false);
    }, { rootMargin: `${margin}px 0px` });
    seen.observe(host);
    window.addEventListener("beforeprint", print);
    waiting.set(host, once);
    if (!busy) {
      busy = true;
      whenIdle(drawNext);
    }
  };

  // An element with a class, a text and children; the text is never read as markup.
  kit.element = function (tag, className, text, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined && text !== null) made.textContent = text;
    made.append(...children);
    return made;
  };

  // A text that runs from right to left keeps its direction beside other words.
  kit.apart = (text) => (/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text);

  // Plotly reads a little HTML in its labels; a name must come out as it is written.
  kit.escape = (text) =>
    kit.apart(String(text)).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\r\n|\r|\n/g, " ");

  const number = (value, digits) => (value === null ? "–" : value.toFixed(digits));
  kit.number = (value, digits = 3) => number(value, digits).replace(/^-/, "−");
  // A share that is not all or nothing is never written as if it were.
  kit.percent = function (value) {
    if (value === null) return "–";
    const size = Math.abs(value);
    if (size > 0 && size < 0.0001) return "< 0.01 %";
    if (size > 0.9999 && size < 1) return "> 99.99 %";
    const nearEnd = (size > 0 && size < 0.01) || (size > 0.99 && size < 1);
    const digits = nearEnd ? 2 : size < 0.0995 ? 1 : 0;
    const text = kit.number(100 * value, digits);
    return `${nearEnd ? text.replace(/\.?0+$/, "") : text} %`;
  };
  kit.count = (value) => value.toLocaleString("en");

  kit.variable = (name) => `var(--${name}, ${PLAIN[name] || COLOURS[Number(name.slice(7)) % COLOURS.length]})`;
  // The first colour of the page is the reference's; systems take turns with the others.
  kit.seriesVariable = (series) => kit.variable(`series-${series === null ? 0 : 1 + (series % (COLOURS.length - 1))}`);

  // What a CSS variable looks like now, as red, green and blue, however it was written.
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  kit.rgb = function (variable) {
    const probe = kit.element("span");
    probe.style.color = variable;
    document.body.append(probe);
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = getComputedStyle(probe).color;
    pixel.fillRect(0, 0, 1, 1);
    probe.remove();
    return Array.from(pixel.getImageData(0, 0, 1, 1).data.slice(0, 3));
  };
  kit.colour = (variable, alpha = 1) => `rgba(${kit.rgb(variable).join(",")},${alpha})`;

  function drawing(width, height) {
    const made = document.createElementNS(SVG, "svg");
    made.setAttribute("viewBox", `0 0 ${width} ${height}`);
    made.setAttribute("width", width);
    made.setAttribute("height", height);
    made.setAttribute("aria-hidden", "true");
    return made;
  }

  function path(d, style, transform) {
    const made = document.createElementNS(SVG, "path");
    made.setAttribute("d", d);
    if (transform) made.setAttribute("transform", transform);
    Object.assign(made.style, style);
    return made;
  }

  // The mark of a system, on a piece of its line where `line` is true.
  kit.swatch = function (series, line) {
    const colour = kit.seriesVariable(series);
    const made = drawing(line ? 30 : 14, 14);
    if (line) {
      const dashes = STROKES[(series || 0) % STROKES.length];
      made.append(path("M1 7H29", { stroke: colour, strokeWidth: 2, strokeDasharray: dashes || "none" }));
    } else {
      made.append(path(kit.mark(series), { fill: colour }, "translate(7 7) scale(4.6)"));
    }
    return made;
  };

  // Buttons or, from five options on, a list to choose one of; nothing where there is no choice.
  kit.choices = function (label, options, current, pick) {
    if (options.length < 2) return document.createDocumentFragment();
    return options.length > 4 ? list(label, options, current, pick) : buttons(label, options, current, pick);
  };

  function buttons(label, options, current, pick) {
    const group = kit.element("div", "picture-choices");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", label);
    const made = options.map((option, place) => kit.toggle(option, place === current, () => {
      made.forEach((button, other) => button.setAttribute("aria-pressed", String(other === place)));
      pick(place);
    }));
    made.forEach((button, place) => (button.dataset.choice = String(place)));
    group.append(...made);
    return group;
  }

  function list(label, options, current, pick) {
    const select = kit.element("select", "picture-select");
    select.append(...options.map((option) => kit.element("option", "", option)));
    select.selectedIndex = current;
    select.addEventListener("change", () => pick(select.selectedIndex));
    return kit.element("label", "picture-label", `${label} `, select);
  }

  kit.toggle = function (text, pressed, press) {
    const button = kit.element("button", "picture-button", text);
    button.type = "button";
    button.setAttribute("aria-pressed", String(pressed));
    button.addEventListener("click", () => press(button));
    return button;
  };

  // A button for each entry {name, series} that shows or hides it.
  kit.legend = function (label, entries, hidden, line, changed) {
    const group = kit.element("div", "picture-legend");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", label);
    entries.forEach((entry) => {
      const button = kit.toggle("", !hidden.has(entry.key), () => {
        if (!hidden.delete(entry.key)) hidden.add(entry.key);
        button.setAttribute("aria-pressed", String(!hidden.has(entry.key)));
        changed();
      });
      const name = kit.element("bdi", "picture-name", entry.name);
      button.title = `Show or hide ${entry.name}`;
      button.dataset.set = String(entry.key);
      button.append(entry.swatch || kit.swatch(entry.series, line), name);
      group.append(button);
    });
    return group;
  };

  kit.views = (views) => views.map((view) => (view.sees ? `${view.name}: ${view.sees}` : view.name));
})();
