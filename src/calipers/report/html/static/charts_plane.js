// The precision-recall plane: a mark for each system, an ellipse or bars around it, the noise floor.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const STEPS = 60;
  const TITLES = {
    precision: "Precision (quality)",
    recall: "Recall (diversity)",
    density: "Density (quality)",
    coverage: "Coverage (diversity)",
  };
  const FLOOR = "floor";
  const ZOOMS = ["Close up", "From 0 to 1"];

  (kit.charts = kit.charts || {}).plane = {
    part: "planes",
    missing: "Precision and recall were not measured in this run.",
    aspect: 0.72,
    choices: [
      { label: "Scores", of: (plane) => `${plane.up} and ${plane.across}` },
      { label: "Range", names: ZOOMS },
    ],
    entries: (plane) => (plane.floor ? [{ key: FLOOR, name: "noise floor", swatch: box() }] : []),
    draw,
    note,
  };

  function draw(plane, data, state, host) {
    const { near, far, ranges } = placed(plane, data, state);
    const traces = [
      ...(state.hidden.has(FLOOR) ? [] : [...floor(plane), ...near.flatMap((point) => atFloor(point, plane))]),
      ...near.flatMap((point) => ellipse(point, around(point, data))),
      ...near.map((point) => mark(point, plane, data)),
      ...far.map((point) => atBorder(point, ranges, data, told(point, plane, data))),
    ];
    const across = { title: TITLES[plane.across], range: ranges[0] };
    return { traces, layout: kit.layout(host, across, { title: TITLES[plane.up], range: ranges[1] }) };
  }

  // Which points lie on the scale, which beyond it, and the ends of both axes.
  function placed(plane, data, state) {
    const visible = plane.points.filter((point) => !state.hidden.has(point.system));
    const whole = state.picked[1] === 1;
    const within = whole ? visible : visible.filter((point) => isWithin(point, plane));
    const points = within.length ? within : visible;
    const shapes = points.map((point) => around(point, data));
    const box = state.hidden.has(FLOOR) ? null : plane.floor;
    const ranges = [plane.across, plane.up].map((score, axis) => range(reach(points, shapes, box, data, axis), whole, score !== "density"));
    const isOn = (point) => ranges.every(([low, high], axis) => value(point, axis) >= low && value(point, axis) <= high);
    const far = visible.filter((point) => !points.includes(point) && !isOn(point));
    return { near: visible.filter((point) => !far.includes(point)), far, ranges };
  }

  // Whether a point lies where most others do; the scale is not set by those that do not.
  const isWithin = (point, plane) => plane.bulk.every((span, axis) => !span || (value(point, axis) >= span[0] && value(point, axis) <= span[1]));

  // A point beyond the scale: a hollow mark at the border, with its name and its value.
  function atBorder(point, ranges, data, text) {
    const at = ranges.map((ends, axis) => Math.min(ends[1], Math.max(ends[0], value(point, axis))));
    const beyond = [0, 1].filter((axis) => at[axis] !== value(point, axis));
    const values = [0, 1].map((axis) => kit.number(value(point, axis), 2));
    const right = at[0] > (ranges[0][0] + ranges[0][1]) / 2;
    const above = at[1] <= ranges[1][0] ? "top" : at[1] >= ranges[1][1] ? "bottom" : "middle";
    return {
      type: "scatter",
      mode: "markers+text",
      x: [at[0]],
      y: [at[1]],
      cliponaxis: false,
      marker: {
        symbol: `${kit.SYMBOLS[point.system % kit.SYMBOLS.length]}-open`,
        size: 12,
        color: kit.colour(kit.seriesVariable(point.system)),
        line: { width: 2 },
      },
      text: [`${kit.escape(data.systems[point.system])} ${beyond.length === 2 ? `(${values.join(", ")})` : values[beyond[0]]}`],
      textposition: `${above} ${right ? "left" : "right"}`,
      textfont: { size: 11, color: kit.colour(kit.variable("muted")) },
      hovertext: [text],
      hovertemplate: "%{hovertext}<extra></extra>",
    };
  }

  // Points of the ellipse that holds the estimate at the level; null where there is none to draw.
  function around(point, data) {
    if (point.error.includes(null) || point.correlation === null || Math.abs(point.correlation) > 1) return null;
    const [a, b] = point.error.map((error) => error * data.radius);
    const r = point.correlation;
    const rest = Math.sqrt(1 - r * r);
    return Array.from({ length: STEPS + 1 }, (_, step) => {
      const turn = (2 * Math.PI * step) / STEPS;
      const [u, v] = [Math.cos(turn), Math.sin(turn)];
      return [point.x + a * u, point.y + b * (r * u + rest * v)];
    });
  }

  function ellipse(point, shape) {
    const colour = kit.seriesVariable(point.system);
    const line = { width: 1.4, color: kit.colour(colour, 0.8) };
    return shape ? [kit.region(shape, colour, 0.14, line)] : [];
  }

  function mark(point, plane, data) {
    const colour = kit.colour(kit.seriesVariable(point.system));
    const bare = around(point, data) ? {} : bars(point, data, colour);
    return {
      type: "scatter",
      mode: "markers",
      x: [point.x],
      y: [point.y],
      marker: {
        symbol: kit.SYMBOLS[point.system % kit.SYMBOLS.length],
        size: 12,
        color: colour,
        line: { color: kit.colour(kit.variable("paper")), width: 1.2 },
      },
      ...bare,
      text: [told(point, plane, data)],
      hovertemplate: "%{text}<extra></extra>",
    };
  }

  function bars(point, data, colour) {
    const [x, y] = [0, 1].map((axis) => {
      const reach = ends(point, data, axis);
      if (!reach) return undefined;
      const both = { array: [reach[1] - value(point, axis)], arrayminus: [value(point, axis) - reach[0]] };
      return { type: "data", symmetric: false, ...both, color: colour, thickness: 1.4, width: 5 };
    });
    return { error_x: x, error_y: y };
  }

  const value = (point, axis) => (axis ? point.y : point.x);

  // How far a bar goes: the interval, or else by the standard error; null where neither is known.
  function ends(point, data, axis) {
    if (point.interval[axis] || point.error[axis] === null) return point.interval[axis];
    return [-1, 1].map((sign) => value(point, axis) + sign * data.z * point.error[axis]);
  }

  function told(point, plane, data) {
    const row = (key, value, interval) => {
      const range = interval ? ` (${kit.number(interval[0])} to ${kit.number(interval[1])})` : "";
      return `${key} ${kit.number(value)}${range}`;
    };
    const rows = [row(plane.up, point.y, point.interval[1]), row(plane.across, point.x, point.interval[0])];
    if (point.beside && plane.floor) {
      rows.push(`with ${kit.count(plane.floor.size)} samples:`, `${kit.number(point.beside[1])} and ${kit.number(point.beside[0])}`);
    }
    return [`<b>${kit.escape(data.systems[point.system])}</b>`, ...rows].join("<br>");
  }

  function floor(plane) {
    if (!plane.floor) return [];
    const [[x, y], [w, h]] = [plane.floor.middle, plane.floor.half];
    const corners = [[x - w, y - h], [x + w, y - h], [x + w, y + h], [x - w, y + h], [x - w, y - h]];
    const line = { width: 1.2, dash: "dot", color: kit.colour(kit.variable("muted")) };
    return [kit.region(corners, kit.variable("muted"), 0.14, line)];
  }

  // The system with as many samples as the floor is of: a hollow mark, and a line to the full one.
  function atFloor(point, plane) {
    if (!plane.floor || !point.beside) return [];
    const colour = kit.colour(kit.seriesVariable(point.system));
    const [x, y] = point.beside;
    return [
      {
        type: "scatter",
        mode: "lines+markers",
        x: [x, point.x],
        y: [y, point.y],
        line: { width: 1, dash: "dot", color: colour },
        marker: {
          symbol: kit.SYMBOLS[point.system % kit.SYMBOLS.length],
          size: [10, 0],
          color: kit.colour(kit.variable("paper")),
          line: { color: colour, width: 1.4 },
        },
        hoverinfo: "skip",
      },
    ];
  }

  function box() {
    const made = kit.swatch(null, false);
    made.firstChild.setAttribute("d", "M-1.1-.8H1.1V.8H-1.1Z");
    Object.assign(made.firstChild.style, { fillOpacity: 0.2, stroke: kit.variable("muted"), strokeWidth: 0.25, strokeDasharray: ".4 .3" });
    return made;
  }

  // As far as marks, ellipses, bars and the floor go.
  function reach(points, shapes, box, data, axis) {
    const values = points.flatMap((point) => [value(point, axis), ...(ends(point, data, axis) || [])]);
    shapes.forEach((shape) => shape && values.push(...shape.map((corner) => corner[axis])));
    if (box) {
      values.push(box.middle[axis] - box.half[axis], box.middle[axis] + box.half[axis]);
      points.forEach((point) => point.beside && values.push(point.beside[axis]));
    }
    return values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  }

  // With some room around, and never a line thin; a share has no values beyond 0 and 1 to show.
  function range([low, high], whole, share) {
    const ends = share ? [-0.02, 1.02] : [-Infinity, Infinity];
    if (whole) return [Math.max(ends[0], Math.min(-0.02, low)), Math.min(ends[1], Math.max(1.02, high + 0.02))];
    const room = Math.max(0.06 * (high - low), (0.1 - (high - low)) / 2, 0.01);
    return [Math.max(ends[0], low - room), Math.min(ends[1], high + room)];
  }

  function note(plane, data, state) {
    const level = kit.percent(data.level);
    const round = plane.points.map((point) => around(point, data) !== null);
    const parts = ["Up and to the right is better."];
    const { far } = placed(plane, data, state || { hidden: new Set(), picked: [0, 0] });
    if (far.length) parts.push(`Hollow marks at the border, with their values: ${far.length === 1 ? "a system" : `${far.length} systems`} beyond the scale; From 0 to 1 shows all.`);
    if (round.includes(true)) parts.push(`Ellipses hold ${level} of the error of both scores together.`);
    const barred = (point) => [0, 1].some((axis) => ends(point, data, axis));
    if (plane.points.some((point, i) => !round[i] && barred(point))) parts.push(`Bars are ${level} intervals.`);
    if (plane.floor) {
      parts.push(`The dotted box shows how two halves of the reference (${kit.count(plane.floor.size)} samples each) score against each other. Scores depend on the number of samples: compare the hollow marks, the systems at that size, with the box.`);
    }
    return parts.join(" ");
  }
})();
