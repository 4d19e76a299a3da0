"""``calipers overlap``: compare systems with each other, without a reference."""

from calipers.command import Command

COMMAND = Command(
    name="overlap",
    panel="Further analyses",
    place=3,
    summary="Compare systems with each other, without a reference.",
    cli="cli:overlap",
    options="options:OverlapOptions",
    run="run:overlap",
    public="overlap",
    result="result:Overlap",
    kind="overlap",
    document="document:document",
    summarised="document:whole",
    paged="document:whole",
)
