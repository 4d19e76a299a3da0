"""``calipers likelihood``: its arguments, and how its result is delivered."""

from __future__ import annotations

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.help import CommandPage, metrics_section
from calipers.cli.outputs import FORMATS, Outputs, check_outputs, check_per_sample
from calipers.cli.sides import name_fields, with_reference
from calipers.cli.streams import calm
from calipers.commands.likelihood.options import LikelihoodOptions
from calipers.commands.text.cli import Generated, PerSample

EXAMPLES = (
    (
        "How likely does GPT-2, in the folder ./gpt2, find the texts?",
        "calipers likelihood texts.jsonl --model ./gpt2",
    ),
    (
        "Generation perplexity of both sides and the gap, which is what counts:",
        "calipers likelihood model.jsonl --reference human.jsonl --model ./gpt2",
    ),
    (
        "Without any model at hand, by an n-gram model of other human texts:",
        "calipers likelihood model.jsonl -r human.jsonl --model ngram \\\n"
        "      --fit-on more.jsonl",
    ),
    (
        "Continuations, each given the prompt in its row:",
        "calipers likelihood model.jsonl --model ./gpt2 --given-prompt",
    ),
    (
        "How well nucleus sampling from a model fits human texts:",
        "calipers likelihood human.jsonl --model ./gpt2 --decoding top_p=0.9 \\\n"
        "      --metrics decoder",
    ),
    (
        "Save the scores of a slow model, and measure again without it:",
        "calipers likelihood model.jsonl -r human.jsonl --model ./large \\\n"
        "      --log-probabilities large.npz\n"
        "    calipers likelihood model.jsonl -r human.jsonl --model large.npz \\\n"
        "      --generator ./small --metrics models",
    ),
)


LIKELIHOOD_NOTE = (
    (
        ("calipers metrics likelihood", "lists them: what each measures, its range"),
        ("calipers metrics perplexity", "one of them: its options, source and blind spots"),
    ),
    "Options follow a colon: perplexity:texts, unigram_entropy:bits. What each number tells, and "
    "what it does not detect: docs/likelihood.md.",
)


class LikelihoodPage(CommandPage):
    """The help page of ``calipers likelihood``, which also lists the families of its metrics."""

    def further_sections(self) -> list[str]:
        """List the families of metrics."""
        from calipers.catalogue.likelihoods import LIKELIHOOD_FAMILIES

        families = [(family.name, family.members) for family in LIKELIHOOD_FAMILIES.values()]
        return [metrics_section(families, *LIKELIHOOD_NOTE)]


@command(
    LikelihoodOptions,
    writes=(*FORMATS, "table"),
    reads=("generated",),
    page=LikelihoodPage,
    shown=EXAMPLES,
)
def likelihood(
    generated: Generated,
    *,
    options: LikelihoodOptions,
    outputs: Outputs,
    per_sample: PerSample = False,
) -> None:
    """Measure how likely a language model finds the texts.

    Shows perplexity, bits per byte and the entropy of words within a text, and with --reference the
    same for the reference, with the gap. A low perplexity is not good in itself: texts that repeat
    one phrase have the lowest.
    """
    check_per_sample(outputs.paths, per_sample=per_sample)
    if options.log_probabilities is not None:
        inputs = [*generated, *(str(x) for x in (options.reference, options.fit_on) if x)]
        output = ("--log-probabilities", str(options.log_probabilities))
        check_outputs([output], inputs, force=outputs.force)
    with calm(quiet=outputs.quiet):
        from calipers.commands.likelihood.run import likelihood as measure
        from calipers.samples import read_systems

        options, beside = with_reference(options, generated)
        systems = read_systems(generated, field=options.field, beside=beside)
        name_fields(systems, quiet=outputs.quiet)
        comparison = measure(systems, options=options)
    deliver(comparison, outputs, per_sample=per_sample)
