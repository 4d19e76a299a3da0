// Builds the charts: each is drawn when it comes near the window or the page is idle, and again when the
// theme changes.
// A container tells `data-drawn` (how often it was drawn), `data-view` and `data-error`.
(function () {
  "use strict";
  const kit = (window.calipersPictures = window.calipersPictures || {});
  const NEAR = 150;
  const LEAST = 300;
  const MOST = 520;

  kit.ready(function () {
    const data = kit.island("data-charts");
    document.querySelectorAll("[data-picture]").forEach((host) => {
      const chart = (kit.charts || {})[host.dataset.picture];
      if (chart) start(host, chart, data);
    });
  });

  function start(host, chart, data) {
    const all = (data && data[chart.part]) || [];
    const mine = all.filter((each) => matches(host.dataset.system, each.system, data.systems));
    if (!mine.length) return say(host, chart.missing);
    if (!window.Plotly) return say(host, "This picture cannot be drawn: its script is missing.");
    host.classList.add("picture-chart");
    // The first one reads plotly's megabytes
    kit.whenNear(host, NEAR, (atOnce) => (atOnce ? (draw) => draw() : whenIdle)(() => build(host, chart, mine, data)));
    host.style.minHeight = `${Math.min(590, Math.round(200 + host.clientWidth / 2))}px`; // about what it will take
    return undefined;
  }

  const whenIdle = (draw) => (window.requestIdleCallback ? requestIdleCallback(draw, { timeout: 300 }) : setTimeout(draw, 0));

  // A container may ask for one system, by its name.
  const matches = (asked, system, names) => asked === undefined || system === undefined || names[system] === asked;

  function say(host, words) {
    host.replaceChildren(kit.element("p", "picture-missing", words));
    host.dataset.error = words;
  }

  function build(host, chart, mine, data) {
    const state = { view: mine[0].view, picked: chart.choices.map(() => 0), hidden: new Set() };
    const parts = {
      controls: kit.element("div", "picture-controls"),
      legend: kit.element("div"),
      plot: kit.element("div", "picture-plot"),
      note: kit.element("p", "picture-note"),
    };
    parts.plot.setAttribute("role", "img");
    host.style.minHeight = "";
    host.replaceChildren(...Object.values(parts));
    const redraw = () => paint(host, chart, mine, data, state, parts);
    const restart = () => {
      choose(chart, mine, data, state, parts, restart);
      explain(chart, mine, data, state, parts, redraw);
      redraw();
    };
    restart();
    document.addEventListener("calipers:theme", redraw);
    onWidth(host, redraw);
  }

  // Draw again when the width changes, not when a chart grows: that would never end.
  function onWidth(host, redraw) {
    let before = host.clientWidth;
    new ResizeObserver(() => {
      if (host.clientWidth && host.clientWidth !== before) redraw();
      before = host.clientWidth;
    }).observe(host);
  }

  const inView = (mine, state) => mine.filter((each) => each.view === state.view);
  const chosen = (mine, state) => inView(mine, state)[Math.min(state.picked[0], inView(mine, state).length - 1)];

  // The choices: the view first, then those of the chart; the focus stays where it was.
  function choose(chart, mine, data, state, parts, restart) {
    const focused = [...parts.controls.querySelectorAll("button, select")].indexOf(document.activeElement);
    const views = [...new Set(mine.map((each) => each.view))];
    const groups = [kit.choices("View", kit.views(views.map((view) => data.views[view])), views.indexOf(state.view), (place) => {
      const before = chosen(mine, state);
      state.view = views[place];
      state.picked[0] = kept(chart, mine, state, before);
      restart();
    })];
    chart.choices.forEach((choice, which) => {
      const names = choice.names || inView(mine, state).map((each) => choice.of(each, data));
      groups.push(kit.choices(choice.label, names, state.picked[which], (place) => {
        state.picked[which] = place;
        restart();
      }));
    });
    parts.controls.replaceChildren(...groups);
    if (focused >= 0) (parts.controls.querySelectorAll("button, select")[focused] || parts.controls).focus();
  }

  // Find in another view what was chosen in this one.
  function kept(chart, mine, state, before) {
    const same = chart.choices[0].key || ((each) => chart.choices[0].of(each));
    return Math.max(0, inView(mine, state).findIndex((each) => same(each) === same(before)));
  }

  function explain(chart, mine, data, state, parts, redraw) {
    const shown = chosen(mine, state);
    const systems = (shown.lines || shown.points || []).map((each) => each.system);
    const named = systems.map((system) => ({ key: system, series: system, name: data.systems[system] }));
    const entries = [...named, ...(chart.entries ? chart.entries(shown) : [])];
    parts.legend.replaceChildren(...(entries.length ? [kit.legend("Shown", entries, state.hidden, chart.line, redraw)] : []));
  }

  function paint(host, chart, mine, data, state, parts) {
    const shown = chosen(mine, state);
    parts.plot.style.height = `${height(host, chart, shown)}px`;
    parts.note.textContent = chart.note(shown, data, state);
    parts.plot.setAttribute("aria-label", `${data.views[state.view].name}. ${parts.note.textContent}`);
    const figure = chart.draw(shown, data, state, host);
    window.Plotly.react(parts.plot, figure.traces, figure.layout, kit.config);
    host.dataset.view = data.views[state.view].name;
    host.dataset.drawn = String(Number(host.dataset.drawn || 0) + 1);
  }

  function height(host, chart, shown) {
    if (chart.height) return chart.height(shown);
    return Math.round(Math.min(MOST, Math.max(LEAST, host.clientWidth * chart.aspect)));
  }
})();
