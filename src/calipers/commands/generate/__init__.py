"""``calipers generate``: write samples of a language model."""

from calipers.command import Command

COMMAND = Command(
    name="generate",
    panel="Language models",
    place=1,
    summary="Write samples of a language model.",
    cli="cli:generate",
    options="options:GenerateOptions",
    run="run:generate",
    public="generate",
    also_public=("result:Generation",),
)
