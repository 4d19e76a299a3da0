"""``calipers demo``: a first result, with nothing to prepare."""

from __future__ import annotations

from calipers.cli import checks
from calipers.cli.deliver import Outputs
from calipers.cli.guard import STOPPED, guarded
from calipers.cli.options import Json, Quiet, Save, Seed
from calipers.cli.streams import calm

NEXT = """\
For your own files (a text a line, JSON lines, CSV, Parquet, ...):

  calipers compare --reference human.jsonl model_a.jsonl model_b.jsonl"""


def demo(seed: Seed = "0", json: Json = None, save: Save = None, quiet: Quiet = False) -> None:
    """Compare three small systems with human texts; nothing to prepare.

    The human texts are paragraphs of Python's own documentation. The systems are held-out
    paragraphs of it, a Markov chain fitted on it (varied but poor), and near copies of a few
    paragraphs (good but monotonous).
    """
    outputs = Outputs(json=json, save=save, quiet=quiet)
    with guarded(STOPPED):
        number = checks.whole("--seed", seed, least=0)
        outputs.check()
        with calm(quiet=quiet):
            from calipers.demo import READING, run

            comparison = run(seed=number, progress=outputs.progress())
        outputs.deliver(comparison, after=f"{READING}\n\n{NEXT}")
