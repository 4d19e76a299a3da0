"""``calipers tune``: find the decoding whose samples come closest to real texts."""

from calipers.command import Command

COMMAND = Command(
    name="tune",
    panel="Language models",
    place=3,
    summary="Find the decoding whose samples come closest to real texts.",
    cli="cli:tune",
    options="options:TuneOptions",
    run="run:tune",
    public="tune",
    result="result:Tuning",
    kind="tuning",
    document="calipers.report.comparison.document:document",
    summarised="calipers.report.comparison.document:summary",
)
