// Divergence frontiers: the costs of both sets against their mixtures, with bands.
// Transformed by x → exp(−c·x), with ends (1, 0) and (0, 1), the area below is MAUVE.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const SCALES = ["As MAUVE: closeness", "Costs"];

  (kit.charts = kit.charts || {}).frontiers = {
    part: "frontiers",
    missing: "No divergence frontiers were made in this run.",
    aspect: 0.72,
    line: true,
    choices: [
      { label: "Estimate", of: (kind) => kind.says },
      { label: "Scale", names: SCALES },
    ],
    draw,
    note,
  };

  function draw(kind, data, state, host) {
    const raw = state.picked[1] === 1;
    const positive = (x, y) => [Math.max(0, x), Math.max(0, y)];
    const close = (x, y) => positive(x, y).map((cost) => Math.exp(-kind.c * cost));
    const place = raw ? positive : close;
    const bands = kit.eachLine(kind.lines, state.hidden, (line) =>
      kit.band(line, data.z, kit.seriesVariable(line.system), place));
    const lines = kit.eachLine(kind.lines, state.hidden, (line) => [drawn(line, place, raw, data)]);
    return { traces: [...bands, ...lines], layout: kit.layout(host, ...axes(kind, raw)) };
  }

  function drawn(line, place, raw, data) {
    const points = line.x.map((x, i) => place(x, line.y[i]));
    const texts = points.map((point, i) => told(line, i, point, raw, data));
    const name = `<b>${kit.escape(data.systems[line.system])}</b>`;
    const ended = raw ? points : [[1, 0], ...points, [0, 1]];
    return kit.line(line.system, ended, raw ? texts : [name, ...texts, name]);
  }

  function axes(kind, raw) {
    if (raw) {
      const plain = { rangemode: "tozero" };
      return [
        { title: "Cost of the generated set", ...plain },
        { title: "Cost of the reference", ...plain },
      ];
    }
    const range = [0, 1.02];
    return [
      { title: "Closeness of the generated set", range },
      { title: "Closeness of the reference", range },
    ];
  }

  function told(line, i, point, raw, data) {
    const row = (whose, cost, closeness) =>
      `${whose}: cost ${kit.number(cost)}${raw ? "" : `, closeness ${kit.number(closeness)}`}`;
    const rows = [row("generated", line.x[i], point[0]), row("reference", line.y[i], point[1])];
    return [`<b>${kit.escape(data.systems[line.system])}</b>`, ...rows].join("<br>");
  }

  function note(kind, data, state) {
    const raw = state.picked[1] === 1;
    const better = raw
      ? "Each point compares both sets with a mixture R of the two: D(Q‖R), generated, across; D(P‖R), reference, up. A curve closer to the lower left corner is better."
      : `Each point compares both sets with a mixture R of the two: closeness is exp(−${kind.c}·D(Q‖R)), generated, across, and exp(−${kind.c}·D(P‖R)), reference, up. A curve closer to the upper right corner is better; the area below it is MAUVE by this estimate.`;
    return better + kit.bandNote(kind, data);
  }
})();
