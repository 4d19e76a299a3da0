"""``calipers history``: the scores of a model over its checkpoints or versions."""

from calipers.command import Command, PlotKind

COMMAND = Command(
    name="history",
    panel="Commands for saved results",
    place=5,
    summary="Show how scores change from run to run, and where they become worse.",
    cli="cli:history",
    options="options:HistoryOptions",
    run="run:history",
    public="history",
    result="result:History",
    kind="history",
    document="document:document",
    plot=PlotKind(
        name="history",
        shows="scores over runs, with intervals and the first run that is worse",
        drawn_by="plot:history_plot",
        source="a history (JSON from `calipers history --json`)",
        place=5,
    ),
)
