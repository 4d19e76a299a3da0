"""``calipers metrics``: list the metrics, or describe one of them."""

from calipers.command import Command

COMMAND = Command(
    name="metrics",
    panel="Commands",
    place=4,
    summary="List the metrics: what each measures, its range, its source.",
    cli="cli:metrics",
)
