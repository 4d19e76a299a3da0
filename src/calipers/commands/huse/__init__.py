"""``calipers huse``: tell from judgements and likelihoods whether texts of people and a model
differ."""

from calipers.command import Command

COMMAND = Command(
    name="huse",
    panel="Judgements",
    place=4,
    summary="Judge quality and diversity together, from judgements and likelihoods.",
    cli="cli:huse",
    options="options:HuseOptions",
    run="run:huse",
    public="huse",
    result="result:HuseResult",
    kind="huse",
    document="document:document",
)
