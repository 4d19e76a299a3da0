// Precision-recall curves of distributions: all trade-offs of each system, with bands.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});

  (kit.charts = kit.charts || {}).curves = {
    part: "curves",
    missing: "No precision-recall curves were made in this run.",
    aspect: 0.72,
    line: true,
    choices: [{ label: "Estimate", of: (kind) => kind.says }],
    draw,
    note,
  };

  function draw(kind, data, state, host) {
    const place = (x, y) => [kit.share(x), kit.share(y)];
    const bands = kit.eachLine(kind.lines, state.hidden, (line) =>
      kit.band(line, data.z, kit.seriesVariable(line.system), place));
    const lines = kit.eachLine(kind.lines, state.hidden, (line) => [
      kit.line(line.system, line.x.map((x, i) => [x, line.y[i]]), line.x.map((_, i) => told(line, i, data))),
    ]);
    const across = { title: "Recall (diversity)", range: [0, 1.02] };
    const up = { title: "Precision (quality)", range: [0, 1.02] };
    return { traces: [...bands, ...lines], layout: kit.layout(host, across, up) };
  }

  function told(line, i, data) {
    const name = `<b>${kit.escape(data.systems[line.system])}</b>`;
    return [name, `precision ${kit.number(line.y[i])}`, `recall ${kit.number(line.x[i])}`].join("<br>");
  }

  function note(kind, data) {
    const better = "Each point weighs quality against diversity differently; a curve closer to the upper right corner is better everywhere.";
    return better + kit.bandNote(kind, data);
  }
})();
