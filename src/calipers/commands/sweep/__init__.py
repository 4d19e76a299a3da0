"""``calipers sweep``: show how scores change with a choice: k, samples, length, cells or axes."""

from calipers.command import Command, PlotKind

COMMAND = Command(
    name="sweep",
    panel="Further analyses",
    place=1,
    summary="Show how scores change with k, samples, text length, cells or axes.",
    cli="cli:sweep",
    options="options:SweepOptions",
    run="run:sweep",
    public="sweep",
    result="result:Sweep",
    kind="sweep",
    document="document:document",
    plot=PlotKind(
        name="sweep",
        shows="metrics against what a sweep varied, with bands",
        drawn_by="plot:sweep_plot",
        source="a sweep (JSON from `calipers sweep --json`)",
        place=1,
    ),
)
