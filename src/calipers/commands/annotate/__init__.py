"""``calipers annotate``: ?"""

from calipers.command import Command

COMMAND = Command(
    name="annotate",
    panel="Judgements",
    place=1,
    summary="Have people judge samples, on a page that this machine serves.",
    cli="cli:annotate",
    options="options:AnnotateOptions",
    run="run:annotate",
    public="annotate",
)
