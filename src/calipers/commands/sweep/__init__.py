"""``calipers sweep``: show how scores change with k or the number of samples."""

from calipers.command import Command

COMMAND = Command(
    name="sweep",
    panel="Further analyses",
    place=1,
    summary="Show how scores change with k or the number of samples.",
    cli="cli:sweep",
    options="options:SweepOptions",
    run="run:sweep",
    public="sweep",
    result="result:Sweep",
    kind="sweep",
    document="document:document",
    plot="plot:sweep_plot",
)
