"""``calipers likelihood``: measure how likely a language model finds the texts."""

from calipers.command import Command, PlotKind

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
    paged="calipers.report.text_statistics:whole",
    summarised="calipers.report.text_statistics:summary",
    plot=PlotKind(
        name="entropy-plane",
        shows="perplexity against the entropy of tokens within a text, with the reference",
        drawn_by="plot:entropy_plane_plot",
        source="likelihoods (JSON or RUN.zip from `calipers likelihood`)",
        noun="likelihood",
        place=4,
    ),
)
