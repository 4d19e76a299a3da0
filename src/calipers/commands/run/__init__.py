"""``calipers run``: run a study from one file."""

from calipers.command import Command

COMMAND = Command(
    name="run",
    panel="Commands",
    place=9,
    summary="Run a study: a command with its files, options, outputs and checks from one file.",
    cli="cli:run",
)
