"""``calipers judge``: have a language model judge samples."""

from calipers.command import Command

COMMAND = Command(
    name="judge",
    panel="Judgements",
    place=2,
    summary="Have a language model judge samples.",
    cli="cli:judge",
    options="options:JudgeOptions",
    run="run:judge",
    public="judge",
    result="result:Judging",
    kind="judging",
    document="document:document",
    also_public=("run:judging_plan",),
)
