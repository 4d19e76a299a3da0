"""``calipers text``: measure the texts themselves: diversity, repetition, copies."""

from calipers.command import Command

COMMAND = Command(
    name="text",
    panel="Commands",
    place=3,
    summary="Measure the texts themselves: diversity, repetition, copies.",
    cli="cli:text",
    options="options:TextOptions",
    run="run:measure_texts",
    public="measure_texts",
    result="calipers.results.texts:TextComparison",
    kind="texts",
    document="calipers.report.text_statistics:document",
    paged="calipers.report.text_statistics:whole",
    summarised="calipers.report.text_statistics:summary",
)
