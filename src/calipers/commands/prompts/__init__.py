"""``calipers prompts``: compare systems that answered the same prompts."""

from calipers.command import Command, PlotKind

COMMAND = Command(
    name="prompts",
    panel="Further analyses",
    place=4,
    summary="Compare systems that answered the same prompts, once or several times each.",
    cli="cli:prompts",
    options="options:PromptsOptions",
    run="run:prompts",
    public="prompts",
    result="result:ByPrompt",
    kind="prompts",
    document="document:document",
    summarised="document:whole",
    paged="document:whole",
    plot=PlotKind(
        name="homogeneity",
        shows="how alike systems answer the same prompts, beside how alike each answers itself",
        drawn_by="plot:homogeneity_plot",
        source="answers by prompt (JSON or RUN.zip from `calipers prompts`)",
        noun="result of calipers prompts",
        place=3,
        paged=True,
    ),
)
