"""``calipers embed``: turn samples into vectors and write them to a file."""

from calipers.command import Command

COMMAND = Command(
    name="embed",
    panel="Further analyses",
    place=6,
    summary="Turn samples into vectors and write them to a file.",
    cli="cli:embed",
    options="options:EmbedOptions",
    run="run:embed",
)
