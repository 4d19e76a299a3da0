"""``calipers plot``: draw a figure of a saved result."""

from calipers.command import Command

COMMAND = Command(
    name="plot",
    panel="Commands for saved results",
    place=3,
    summary="Draw a figure of a saved result.",
    cli="cli:plot",
)
