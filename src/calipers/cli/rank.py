"""``calipers rank``: do metrics rank systems as people do?"""

from __future__ import annotations

from typing import Any

from calipers.cli import checks
from calipers.cli import rank_options as its
from calipers.cli.deliver import Look, deliver_data
from calipers.cli.guard import guarded
from calipers.cli.options import Seed
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs
from calipers.cli.page import examples
from calipers.cli.streams import calm

EXAMPLES = examples(
    (
        (
            "From texts to a ranking in two steps, with judgements of pairs:",
            "calipers compare -r human.jsonl a.jsonl b.jsonl c.jsonl --json scores.json\n"
            "    calipers rank scores.json --judgements pairs.csv",
        ),
        (
            "Scores of your own; human is what people wrote:",
            "calipers rank scores.csv --truth human.csv --reference human",
        ),
        (
            "How metrics go together, with a figure for a paper:",
            "calipers rank scores.csv --kind pearson --plot metrics.pdf",
        ),
    )
)


@with_outputs("json", plot=its.Plot)
def rank(
    scores: its.Scores,
    *,
    judgements: its.Judgements = None,
    truth: its.Truth = None,
    truth_column: its.TruthColumn = None,
    reference: its.Reference = None,
    metrics: its.Metrics = None,
    keep_unscored: its.KeepUnscored = False,
    ties: its.HowTies = "davidson",
    kind: its.Kind = "spearman",
    level: its.Level = "0.95",
    seed: Seed = "0",
    matrix: its.Matrix = False,
    outputs: Outputs,
) -> None:
    """See whether metrics rank systems as people do.

    Fits a Bradley-Terry model to judgements of pairs, or takes finished scores, and holds the
    order in which each metric puts the systems against them: rank correlations with intervals
    that include the errors of the fit, and the worst case that the metric's own spread allows.
    Without a truth it shows how the metrics correlate with one another.
    """
    with guarded():
        columns = its.read_names("--truth-column", truth_column)
        chosen = its.read_names("--metrics", metrics)
        its.check_sides(judgements, truth, columns)
        split = checks.one_of("--ties", ties, its.TIES)
        measure = checks.one_of("--kind", kind, its.KINDS)
        covered = checks.parse_level(level)
        start = checks.whole("--seed", seed, least=0)
        outputs.check([each for each in (scores, judgements, truth) if each is not None])
        with calm(quiet=outputs.quiet):
            from calipers.evaluate.rank_run import rank as run

            found = run(
                scores,
                judgements=judgements,
                truth=truth,
                truth_columns=columns,
                reference=reference,
                metrics=chosen,
                keep_unscored=keep_unscored,
                ties=split,
                kind=measure,
                level=covered,
                seed=start,
                matrix=matrix,
            )
        data = found.to_dict()
        deliver_data(data, outputs, _look(), plot=lambda path: _draw(data, path))


def _draw(data: dict[str, Any], path: str) -> None:
    from calipers.report import plots
    from calipers.report.plots.heat_map import heat_map_plot

    plots.save_figure(heat_map_plot(data).figure(), path)


def _look() -> Look:
    from calipers.report.documents import rank

    return Look(rank.document, "↑↓≈≤≥–…·─")
