"""``calipers rank``: check whether metrics rank systems as people do."""

from calipers.command import Command, PlotKind

COMMAND = Command(
    name="rank",
    panel="Judgements",
    place=3,
    summary="Check whether metrics rank systems as people do.",
    cli="cli:rank",
    options="options:RankOptions",
    run="run:rank",
    public="rank",
    result="result:Ranking",
    kind="ranking",
    document="document:document",
    plot=PlotKind(
        name="heat-map",
        shows="how metrics correlate with each other over systems",
        drawn_by="plot:heat_map_plot",
        source="a ranking (JSON from `calipers rank --json`)",
        place=2,
    ),
)
