"""``calipers rank``: check whether metrics rank systems as people do."""

from calipers.command import Command

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
    plot="plot:heat_map_plot",
)
