"""``calipers check``: check the scores of a saved run against limits."""

from calipers.command import Command

COMMAND = Command(
    name="check",
    panel="Commands for saved results",
    place=4,
    summary="Check a saved run against limits, with the noise of the scores allowed for.",
    cli="cli:check",
    options="options:CheckOptions",
    run="run:check",
    public="check",
    result="result:Check",
    kind="check",
    document="document:document",
)
