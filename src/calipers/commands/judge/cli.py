"""``calipers judge``: its arguments, and how its result is delivered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs, Results
from calipers.cli.sides import Generated, name_fields, with_reference
from calipers.cli.streams import calm, write
from calipers.commands.judge.options import JudgeOptions
from calipers.errors import CalipersError, InputError
from calipers.options.option import OUTPUT

if TYPE_CHECKING:
    from calipers.commands.judge.result import Judging

MOST_REPEATED = 4
"""Warnings that an error repeats."""

DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Ask nothing: say how many requests it would take, about how many tokens and, with "
        "--price, what they would cost. --json FILE has the same.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "How many requests would it take, and what would they cost?",
        "calipers judge a.jsonl b.jsonl -r human.jsonl --output judged.csv --dry-run \\\n"
        "      --model https://api.openai.com/v1#gpt-4o-mini --price 0.15,0.60",
    ),
    (
        "Compare the texts of three systems pair by pair, beside what people answered:",
        "calipers judge a.jsonl b.jsonl -r human.jsonl --output judged.csv \\\n"
        "      --model http://localhost:8000/v1#Qwen/Qwen3-8B --people people.csv",
    ),
    (
        "Quality on three scales, by two judges:",
        "calipers judge a.jsonl b.jsonl --task quality --n 200 --output quality.jsonl \\\n"
        "      --model http://localhost:8000/v1#Qwen/Qwen3-8B --model ./Qwen3-0.6B",
    ),
    (
        "Questions of your own:",
        "calipers judge a.jsonl b.jsonl --rubric helpful.toml --output helpful.csv \\\n"
        "      --model http://localhost:8000/v1#Qwen/Qwen3-8B",
    ),
)


@command(
    JudgeOptions,
    writes=FORMATS,
    reads=("generated",),
    checked=False,
    stopped="stopped. What was answered is kept; the same command continues from there.",
    shown=EXAMPLES,
    common=("dry_run",),
)
def judge(
    generated: Generated,
    *,
    options: JudgeOptions,
    outputs: Outputs,
    dry_run: DryRun = False,
) -> None:
    """Have a language model judge samples.

    Asks a model, on a server or on this machine, which of two texts is better, how good a text is,
    or whether the texts of a batch differ, and reports the judge too: whether it agrees with itself
    and with people, and whether it follows the side that a text stands on. Where no answer at all
    can be used, it ends with 2.
    """
    # The table of judgements is made of answers that are journalled, and goes on where they are
    outputs = replace(outputs, paths={k: v for k, v in outputs.paths.items() if k != "output"})
    named = [options.reference, options.rubric, options.people]
    outputs.check([*generated, *filter(None, named)])
    if dry_run:
        _plan(generated, options, outputs)
        return
    with calm(quiet=outputs.quiet):
        from calipers.commands.judge.run import judge as run
        from calipers.samples import read_systems

        options, beside = with_reference(options, generated)
        systems = read_systems(generated, field=options.field, beside=beside)
        name_fields(systems, quiet=outputs.quiet)
        judging = run(systems, options=options.changed(overwrite=outputs.force))
    next_step = f"{options.output}: read it with calipers rank SCORES --judgements {options.output}"
    deliver(judging, outputs, after=next_step if judging.judgements else "")
    if not judging.judgements:
        raise _unusable(judging, options.output)


def _unusable(judging: Judging, output: object) -> CalipersError:
    """Say of judges that gave no answer that can be used what they answered instead."""
    again = (
        "" if output is None else " Answers are kept: the same command does not ask for them again."
    )
    reasons = "; ".join(judging.warnings[:MOST_REPEATED])
    return CalipersError(f"no answer can be used, so that nothing is judged: {reasons}.{again}")


def _plan(generated: list[str], options: JudgeOptions, outputs: Outputs) -> None:
    """Say what would be asked."""
    others = [name for name in outputs.paths if name != "json"]
    if others:
        raise InputError(f"--dry-run judges nothing that --{others[0]} could hold; leave it out")
    with calm(quiet=outputs.quiet):
        from calipers.commands.judge.run import judging_plan
        from calipers.samples import read_systems

        options, beside = with_reference(options, generated)
        systems = read_systems(generated, field=options.field, beside=beside)
        plan = judging_plan(systems, options=options)

    def json() -> str:
        from calipers.report import json_text

        return json_text(plan.to_dict())

    outputs.deliver(
        Results(show=lambda: write(str(plan)), warnings=lambda: plan.notes, texts={"json": json})
    )
