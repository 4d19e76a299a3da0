"""``calipers agree``: its arguments, and how its result is delivered."""

from __future__ import annotations

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.sides import Generated, Reference, check_metrics_are_listed, read_sides
from calipers.cli.streams import calm
from calipers.commands.agree.options import AgreeOptions

EXAMPLES = (
    (
        "Do a sentence model, bags of words and GPT-2 agree on the best system?",
        "calipers agree -r human.jsonl model_a.jsonl model_b.jsonl model_c.jsonl \\\n"
        "      --embedders minilm,tfidf,./gpt2",
    ),
    (
        "Several layers of one model, with MAUVE* only:",
        "calipers agree -r human.jsonl a.jsonl b.jsonl c.jsonl --metrics mauve_star \\\n"
        "      --embedders ./gpt2,./gpt2:layer=6,./gpt2:layer=6:pooling=mean",
    ),
    (
        "Images, with all matrices as JSON:",
        "calipers agree -r real/ model_a/ model_b/ --embedders pixels,./dinov2 \\\n"
        "      --json agreement.json",
    ),
)


@command(AgreeOptions, writes=FORMATS, reads=("reference", "generated"), shown=EXAMPLES)
def agree(
    generated: Generated, reference: Reference, *, options: AgreeOptions, outputs: Outputs
) -> None:
    """Check whether the ranking of systems depends on the embedder.

    Computes every metric with several embedders, correlates the rankings of the systems, and
    names the metrics for which another embedder gives another best system.
    """
    check_metrics_are_listed(generated)
    with calm(quiet=outputs.quiet):
        from calipers.commands.agree.run import agree as run

        agreement = run(
            *read_sides(
                reference,
                generated,
                field=options.field,
                skip_bad=options.skip_bad,
                quiet=outputs.quiet,
            ),
            options=options,
        )
    deliver(agreement, outputs)
