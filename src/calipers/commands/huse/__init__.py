"""``calipers huse``: measure quality and diversity by judgements and likelihoods."""

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
