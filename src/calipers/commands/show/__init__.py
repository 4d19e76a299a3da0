"""``calipers show``: show a saved result again, or write it in another format."""

from calipers.command import Command

COMMAND = Command(
    name="show",
    panel="Commands for saved results",
    place=1,
    summary="Show a saved result again, or write it in another format.",
    cli="cli:show",
    run="run:show",
    public="show",
)
