"""``calipers history``: the scores of a model over its checkpoints or versions."""

from calipers.command import Command

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
    plot="plot:history_plot",
)
