// How much each topic adds to the gap: bars to the right for what a system has too much of.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});

  (kit.charts = kit.charts || {}).topics = {
    part: "topics",
    missing: "No topics were found in this run.",
    choices: [{ label: "System", of: (topics, data) => data.systems[topics.system], key: (topics) => topics.system }],
    height: (topics) => 96 + 30 * topics.bars.length,
    draw,
    note,
  };

  function draw(topics, data, state, host) {
    const colour = kit.seriesVariable(topics.system);
    const words = kit.narrow(host) ? 2 : 4;
    const labels = topics.bars.map((bar, place) => kit.escape(bar.keywords.slice(0, words).join(", ") || `topic ${place + 1}`));
    const places = topics.bars.map((_, place) => place);
    const over = (bar) => bar.share >= 0;
    const trace = {
      type: "bar",
      orientation: "h",
      x: topics.bars.map((bar) => 100 * bar.share),
      y: places,
      marker: {
        color: topics.bars.map((bar) => (bar.significant ? kit.colour(colour, over(bar) ? 0.9 : 0.25) : kit.colour(kit.variable("line")))),
        line: { color: topics.bars.map((bar) => kit.colour(bar.significant ? colour : kit.variable("muted"))), width: topics.bars.map((bar) => (bar.significant ? 1.4 : 0.7)) },
      },
      text: topics.bars.map(told),
      textposition: "none",
      hovertemplate: "%{text}<extra></extra>",
    };
    const reach = 108 * Math.max(...topics.bars.map((bar) => Math.abs(bar.share)), 0.01);
    const across = {
      title: kit.narrow(host) ? "← under · share · over →" : "← under-produced · share of the gap · over-produced →",
      range: [-reach, reach],
      ticksuffix: " %",
      zeroline: true,
      zerolinecolor: kit.colour(kit.variable("ink")),
    };
    const up = { title: "", tickvals: places, ticktext: labels, autorange: "reversed", showgrid: false, ticks: "", fixedrange: true };
    return { traces: [trace], layout: kit.layout(host, across, up, { bargap: 0.35 }) };
  }

  function told(bar) {
    const rows = [0, 4].map((from) => bar.keywords.slice(from, from + 4).map(kit.escape).join(", ")).filter(Boolean);
    const share = `${kit.percent(Math.abs(bar.share))} of the gap`;
    const sides = `reference ${kit.percent(bar.expected)}, generated ${kit.percent(bar.produced)}`;
    const sure = bar.significant ? "" : "no significant difference";
    return [...rows, share, sides, kit.escape(bar.ratio), sure].filter(Boolean).join("<br>");
  }

  function note(topics, data) {
    return `Topics, named by keywords if the samples are texts. Filled bars to the right: topics that ${kit.apart(data.systems[topics.system])} significantly over-produces; pale bars to the left: topics it significantly under-produces; grey bars: no significant difference. The lengths of all bars add up to the frontier integral.`;
  }
})();
