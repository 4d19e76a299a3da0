"""``calipers agree``: check whether the ranking of systems depends on the embedder."""

from calipers.command import Command

COMMAND = Command(
    name="agree",
    panel="Further analyses",
    place=2,
    summary="Check whether the ranking of systems depends on the embedder.",
    cli="cli:agree",
    options="options:AgreeOptions",
    run="run:agree",
    public="agree",
    result="result:Agreement",
    kind="agreement",
    document="document:document",
)
