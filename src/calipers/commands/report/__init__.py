"""``calipers report``: write an HTML report of a saved comparison."""

from calipers.command import Command

COMMAND = Command(
    name="report",
    panel="Commands for saved results",
    place=2,
    summary="Write an HTML report of a saved comparison.",
    cli="cli:report",
)
