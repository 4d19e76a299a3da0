"""``calipers prompts``."""

from calipers.command import Command

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
)
