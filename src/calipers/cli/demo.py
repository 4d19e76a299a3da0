"""``calipers demo``: a first result, with nothing to prepare."""

from __future__ import annotations

from calipers.cli import checks
from calipers.cli.command_line import with_command
from calipers.cli.deliver import deliver_comparison
from calipers.cli.guard import STOPPED, guarded
from calipers.cli.options import Seed
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs
from calipers.cli.streams import calm

NEXT = """\
For your own files (a text a line, JSON lines, CSV, Parquet, ...):

  calipers compare --reference human.jsonl model_a.jsonl model_b.jsonl"""


@with_outputs("html", "json", "save", "markdown", "latex", "csv")
def demo(*, seed: Seed = "0", outputs: Outputs) -> None:
    """Compare three small systems with human texts; nothing to prepare.

    The human texts are paragraphs of Python's own documentation. The systems are held-out
    paragraphs of it, a Markov chain fitted on it (varied but poor), and near copies of a few
    paragraphs (good but monotonous).
    """
    with guarded(STOPPED):
        number = checks.whole("--seed", seed, least=0)
        outputs.check()
        with calm(quiet=outputs.quiet):
            from calipers.demo import READING, run

            comparison = run(seed=number, progress=outputs.progress())
        deliver_comparison(with_command(comparison), outputs, after=f"{READING}\n\n{NEXT}")
