"""``calipers demo``: its arguments, and how its result is delivered."""

from __future__ import annotations

from calipers.cli.command import command
from calipers.cli.command_line import with_command
from calipers.cli.deliver import deliver
from calipers.cli.options import Details
from calipers.cli.outputs import EXPLAIN, FORMATS, PAGE, Outputs
from calipers.cli.streams import calm
from calipers.commands.demo.options import DemoOptions

NEXT = """\
For your own files (one text per line, JSON Lines, CSV, Parquet, ...):

  calipers compare --reference human.jsonl model_a.jsonl model_b.jsonl"""


CARRIED = "The vectors of these texts come with Calipers; those of yours are computed here."

EXAMPLES = (
    ("With tests, noise floor and legend:", "calipers demo --details"),
    ("As a page with pictures:", "calipers demo --html demo.html"),
)


@command(
    DemoOptions,
    writes=(*FORMATS, "table", *PAGE, EXPLAIN),
    limited=False,
    common=("details",),
    shown=EXAMPLES,
)
def demo(*, options: DemoOptions, outputs: Outputs, details: Details = False) -> None:
    """Compare three small example systems with human texts.

    The human texts are paragraphs of the documentation of Python. The systems are other paragraphs
    of it, a Markov chain fitted to it (varied but of low quality), and near copies of a few
    paragraphs (of high quality but without variety). No files are needed.
    """
    with calm(quiet=outputs.quiet):
        from calipers.commands.demo.run import READING
        from calipers.commands.demo.run import demo as run
        from calipers.demo.carried import is_carried

        comparison = run(seed=options.seed, progress=outputs.progress())
    before = CARRIED if is_carried(comparison.settings) else ""
    after = f"{READING}\n\n{NEXT}"
    deliver(with_command(comparison), outputs, details=details, before=before, after=after)
