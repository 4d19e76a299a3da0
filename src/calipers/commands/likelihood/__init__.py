"""``calipers likelihood``: measure how likely a language model finds the texts."""

from calipers.command import Command

COMMAND = Command(
    name="likelihood",
    panel="Language models",
    place=2,
    summary="Measure how likely a language model finds the texts.",
    cli="cli:likelihood",
    options="options:LikelihoodOptions",
    run="run:likelihood",
    public="likelihood",
    result="result:LikelihoodComparison",
    kind="likelihoods",
    document="calipers.report.text_statistics:document",
    summarised="calipers.report.text_statistics:summary",
)
