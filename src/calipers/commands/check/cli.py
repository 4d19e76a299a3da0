"""``calipers check``: its arguments, and the exit code that its outcome gives."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.streams import calm
from calipers.commands.check.options import CheckOptions
from calipers.errors import InputError
from calipers.options.option import INPUT, OUTPUT

if TYPE_CHECKING:
    from calipers.commands.check.result import Check

SUMMARY = "GITHUB_STEP_SUMMARY"

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN.zip",
        help="What --save or --json of calipers compare (or calipers text) wrote.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Junit = Annotated[
    str | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        help="Write JUnit XML, a test case for each condition and system; - is standard output.",
        rich_help_panel=OUTPUT,
    ),
]
StepSummary = Annotated[
    bool,
    typer.Option(
        "--github-summary",
        help="Append the table as Markdown to the summary of the step in GitHub Actions, the file "
        f"that {SUMMARY} names.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "Fail if recall is below 0.8 by more than chance:",
        "calipers check run.zip --fail-if 'recall < 0.8'",
    ),
    (
        "Fail if recall is lower than in an earlier run by more than 0.02:",
        "calipers check b.zip --against a.zip --fail-if 'recall < baseline - .02'",
    ),
    (
        "Two conditions: on one system, and on a score of the view form:",
        "calipers check a.zip --fail-if 'xl: recall < .7' --fail-if 'form.mauve < .6'",
    ),
    (
        "In CI: a test report, and a summary of the step in GitHub Actions:",
        "calipers check a.zip --fail-if 'recall < .8' --junit j.xml --github-summary",
    ),
)


@command(
    CheckOptions,
    writes=FORMATS,
    reads=("run",),
    shown=EXAMPLES,
    common=("run",),
    stopped="stopped.",
    junit=Junit,
)
def check(
    run: Run, *, options: CheckOptions, outputs: Outputs, github_summary: StepSummary = False
) -> None:
    """Check a saved run against limits, with the noise of the scores allowed for.

    Fails (exit code 1) where a condition is met by both bounds of a score, passes (0) where
    it is not by either, and else is inconclusive (3), and says how many samples would
    decide. Usage errors end with 2.
    """
    if not options.fail_if and options.conditions is None:
        raise InputError("check needs a condition to fail on, such as --fail-if 'recall < 0.8'")
    place = _summary() if github_summary else None
    with calm(quiet=outputs.quiet):
        from calipers.commands.check.run import check as run_check

        result = run_check(run, options=options)
    deliver(result, outputs)
    if place is not None:
        _append(place, result)
    raise typer.Exit(result.exit_code)


def _summary() -> str:
    place = os.environ.get(SUMMARY)
    if not place:
        raise InputError(
            f"--github-summary needs the variable {SUMMARY}, which GitHub Actions sets; elsewhere "
            "--markdown FILE writes the same"
        )
    return place


def _append(place: str, result: Check) -> None:
    try:
        with open(place, "a", encoding="utf-8") as file:
            file.write(result.markdown() + "\n")
    except OSError as error:
        raise InputError(
            f"--github-summary: {place}: cannot be written: {error.strerror or error}"
        ) from error
