"""``calipers rank``: do metrics rank systems as people do?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calipers.cli import checks
from calipers.cli import rank_options as its
from calipers.cli.deliver import Look, deliver_data
from calipers.cli.guard import guarded
from calipers.cli.options import Json, Quiet, Seed
from calipers.cli.page import examples
from calipers.cli.streams import calm
from calipers.cli.sweep_options import check_plot
from calipers.errors import CalipersError

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


def rank(
    scores: its.Scores,
    *,
    judgements: its.Judgements = None,
    truth: its.Truth = None,
    truth_column: its.TruthColumn = None,
    reference: its.Reference = None,
    metrics: its.Metrics = None,
    keep_unscored: its.KeepUnscored = False,
    ties: its.HowTies = "half",
    kind: its.Kind = "spearman",
    level: its.Level = "0.95",
    seed: Seed = "0",
    matrix: its.Matrix = False,
    json: Json = None,
    plot: its.Plot = None,
    quiet: Quiet = False,
) -> None:
    """See whether metrics rank systems as people do.

    Fits a Bradley-Terry model to judgements of pairs, or takes finished scores, and holds the
    order in which each metric puts the systems against them: rank correlations with their
    intervals, and the worst case that the metric's own spread allows. Without a truth it shows
    how the metrics correlate with one another.
    """
    with guarded():
        columns = its.read_names("--truth-column", truth_column)
        chosen = its.read_names("--metrics", metrics)
        its.check_sides(judgements, truth, columns)
        split = checks.one_of("--ties", ties, its.TIES)
        measure = checks.one_of("--kind", kind, its.KINDS)
        covered = checks.parse_level(level)
        start = checks.whole("--seed", seed, least=0)
        outputs = RankOutputs(json, plot)
        outputs.check([each for each in (scores, judgements, truth) if each is not None])
        with calm(quiet=quiet):
            from calipers.road.rank_run import rank as run

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
        outputs.deliver(found.to_dict(), quiet=quiet)


@dataclass(frozen=True)
class RankOutputs:
    """Where a ranking goes: a path or ``-`` for the JSON, a path for the figure, or None."""

    json: str | None
    plot: str | None

    def check(self, inputs: list[str]) -> None:
        """Refuse early what could not be written late."""
        check_plot(self.plot)
        named = [("--json", self.json), ("--plot", self.plot)]
        checks.check_outputs(
            [(option, path) for option, path in named if path not in (None, checks.STDIO)], inputs
        )

    def deliver(self, data: dict[str, Any], *, quiet: bool) -> None:
        """Write the files and show the tables; a figure that fails does not cost them."""
        failure = None if self.plot is None else _drawn(data, self.plot)
        deliver_data(data, self.json, _look(), quiet=quiet)
        if failure is not None:
            raise failure


def _drawn(data: dict[str, Any], path: str) -> CalipersError | None:
    from calipers.report import plots
    from calipers.report.plots.heat_map import heat_map_figure

    try:
        plots.save_figure(heat_map_figure(data), path)
    except CalipersError as error:
        return error
    return None


def _look() -> Look:
    from calipers.report.rank_table import RankingTable, ranking_text
    from calipers.report.rank_words import warnings

    return Look(RankingTable, ranking_text, warnings, "↑↓≈≤≥–…·─")
