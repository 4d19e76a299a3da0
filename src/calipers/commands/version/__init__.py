"""``calipers version``: print the version."""

from calipers.command import Command

COMMAND = Command(
    name="version",
    panel="Further analyses",
    place=7,
    summary="Print the version.",
    cli="cli:version",
)
