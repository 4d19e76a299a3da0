"""``calipers demo``: compare three small example systems with human texts."""

from calipers.command import Command

COMMAND = Command(
    name="demo",
    panel="Commands",
    place=1,
    summary="Compare three small example systems with human texts.",
    cli="cli:demo",
    options="options:DemoOptions",
    run="run:demo",
)
