"""``calipers compare``: compare generated sets with a reference set."""

from calipers.command import Command

COMMAND = Command(
    name="compare",
    panel="Commands",
    place=2,
    summary="Compare generated sets with a reference set.",
    cli="cli:compare",
    options="calipers.options.comparison:CompareOptions",
    run="run:compare",
    public="compare",
    result="calipers.results.comparison:Comparison",
    kind="comparison",
    document="calipers.report.comparison.document:document",
    summarised="calipers.report.comparison.document:summary",
)
