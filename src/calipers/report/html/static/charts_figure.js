// The parts that the charts are put together from: layout, bands, hovers.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const NARROW = 560;

  kit.narrow = (host) => host.clientWidth < NARROW;

  kit.config = {
    displayModeBar: false,
    displaylogo: false,
    responsive: false, // charts.js watches the width
    showTips: false,
    doubleClick: "reset",
  };

  // Axes of one look, in the colours of the page; titles are our own words.
  kit.layout = function (host, across, up, more) {
    const ink = kit.colour(kit.variable("ink"));
    return {
      autosize: true,
      margin: { l: 58, r: 12, t: 10, b: 48 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: ink, size: 13, family: getComputedStyle(host).fontFamily },
      showlegend: false,
      hovermode: "closest",
      dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "zoom",
      hoverlabel: {
        bgcolor: kit.colour(kit.variable("panel")),
        bordercolor: kit.colour(kit.variable("muted")),
        font: { color: ink, size: 13 },
        align: "left",
      },
      xaxis: axis(across),
      yaxis: axis(up),
      ...more,
    };
  };

  function axis(given) {
    const line = kit.colour(kit.variable("line"));
    return {
      gridcolor: line,
      linecolor: kit.colour(kit.variable("muted")),
      zeroline: false,
      showline: true,
      ticks: "outside",
      ticklen: 4,
      tickcolor: line,
      automargin: true,
      ...given,
      title: { text: given.title, standoff: 8 },
    };
  }

  // The region between a curve moved down and up by its errors; points without errors are left out.
  kit.band = function (line, z, colour, place) {
    if (!line.x_error || !line.y_error) return [];
    const known = line.x.map((_, i) => i).filter((i) => line.x_error[i] !== null && line.y_error[i] !== null);
    const edge = (sign) => known.map((i) => place(line.x[i] + sign * z * line.x_error[i], line.y[i] + sign * z * line.y_error[i]));
    const around = [...edge(-1), ...edge(1).reverse()];
    return known.length < 2 ? [] : [kit.region(around, colour, 0.16)];
  };

  // A filled outline [[x, y], …] that no pointer minds.
  kit.region = (points, colour, alpha, line) => ({
    type: "scatter",
    mode: "lines",
    x: points.map((point) => point[0]),
    y: points.map((point) => point[1]),
    fill: "toself",
    fillcolor: kit.colour(colour, alpha),
    line: { width: 0, ...line },
    hoverinfo: "skip",
  });

  // A line with its system's colour, dashes and, here and there, marks.
  kit.line = function (system, points, texts) {
    const colour = kit.colour(kit.seriesVariable(system));
    return {
      type: "scatter",
      mode: "lines",
      x: points.map((point) => point[0]),
      y: points.map((point) => point[1]),
      line: { color: colour, width: 2.2, dash: kit.DASHES[system % kit.DASHES.length] },
      text: texts,
      hovertemplate: "%{text}<extra></extra>",
    };
  };

  kit.bandNote = (kind, data) =>
    kind.lines.some((line) => line.x_error) ? ` Bands are ${kit.percent(data.level)} intervals, point by point.` : "";

  kit.share = (value) => Math.min(1, Math.max(0, value));

  // The lines that are shown, with what each gives.
  kit.eachLine = (lines, hidden, make) =>
    lines.filter((line) => !hidden.has(line.system)).flatMap((line) => make(line));
})();
