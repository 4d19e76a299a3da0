"""The arguments and options of ``calipers compare``, with the words of their help."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.catalogue.estimation import ESTIMATORS
from calipers.catalogue.shown import HEADLINE
from calipers.cli import checks
from calipers.cli.options import (
    CERTAINTY,
    INPUT,
    MEASUREMENT,
    OUTPUT,
    complete,
    complete_metrics,
)


def _completed_metrics(incomplete: str) -> list[str]:
    """Offer metrics of embeddings by their name, and those of texts behind their view."""
    before, comma, last = incomplete.rpartition(",")
    from calipers.catalogue.texts import TEXT_METRICS

    offered = ("text", *(f"text.{name}" for name in TEXT_METRICS))
    texts = [f"{before}{comma}{word}" for word in offered if word.startswith(last)]
    return [*complete_metrics(incomplete), *(texts if last.startswith("t") else [])]


Generated = Annotated[
    list[str],
    typer.Argument(
        metavar="GENERATED",
        help="One or more generated sets: FILE, or NAME=GLOB, where several files of one name "
        "are the seeds of one system.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Reference = Annotated[
    str,
    typer.Option(
        "--reference",
        "-r",
        metavar="FILE",
        help="The set to compare with: .txt (a sample a line), .jsonl, .json, .csv, .tsv, "
        ".parquet, each also as .gz, a folder of Hugging Face datasets, a folder of images, or "
        "embeddings as .npy, .npz, .safetensors; - is standard input.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Field = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Where the text is in a row, such as a.b[0]; by default it is looked for among "
        "the usual names.",
        rich_help_panel=INPUT,
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="FIELD",
        help="Give recall, coverage and precision for every group too, by this field of the "
        "reference's rows (a topic, an author, a language): a group that a model forgets is "
        "seen. Generated files may have the field or lack it.",
        rich_help_panel=INPUT,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="FIELD",
        help="Rows that have this field in common were drawn together (several continuations of "
        "one prompt: prompt; sentences of one document), so that intervals and tests count "
        "clusters and not rows. In files without the field every row counts as one.",
        rich_help_panel=INPUT,
    ),
]
Train = Annotated[
    str | None,
    typer.Option(
        "--train",
        metavar="FILE",
        help="What the models were trained on, in any format of --reference: tells what share of "
        "the generated samples, and of the reference, are near copies of it. Never cut.",
        rich_help_panel=INPUT,
    ),
]
MaxSamples = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Cut every set to N samples at most, the reference too, but not --train.",
        rich_help_panel=INPUT,
    ),
]
KeepSizes = Annotated[
    bool,
    typer.Option(
        "--keep-sizes",
        help="Leave generated sets of different sizes as they are. By default all are cut to "
        "the smallest, because scores depend on size.",
        rich_help_panel=INPUT,
    ),
]
MatchLength = Annotated[
    str | None,
    typer.Option(
        "--match-length",
        metavar="WORDS",
        help="Cut the texts of every set to this many words first: length alone moves every score.",
        rich_help_panel=INPUT,
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Leave out image files that cannot be read, and tell which; by default one of them "
        "ends the run before it begins.",
        rich_help_panel=INPUT,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        metavar="LIST",
        help="What to measure and show: metrics such as precision,mauve_star:chi2, a family, or "
        "all. form.precision asks for one view, precision for every view, text.self_bleu for a "
        "statistic of the texts themselves (text for all of those). May be repeated. "
        f"By default the table shows {', '.join(HEADLINE[:-1])} and {HEADLINE[-1]}; "
        "see Metrics, below.",
        rich_help_panel=MEASUREMENT,
        autocompletion=_completed_metrics,
        show_default=False,
    ),
]
Estimator = Annotated[
    str,
    typer.Option(
        "--estimator",
        metavar="NAME",
        help="What MAUVE, its family and the precision-recall curve are read from: quantisation, "
        "which counts cells, or likelihood ratios by knn, kde, classifier, boosted, gaussian. "
        "A key may name another: mauve:knn.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete(*ESTIMATORS),
    ),
]
Scaling = Annotated[
    str | None,
    typer.Option(
        "--c",
        metavar="NUMBER",
        help="Scaling constant of MAUVE, above 0; by default the one that goes with the "
        "estimator, 5 for quantisation.",
        rich_help_panel=MEASUREMENT,
    ),
]
Shared = Annotated[
    bool,
    typer.Option(
        "--shared",
        help="Project and quantise all generated sets together, so that their scores rest on the "
        "same cells. Adding a set then changes the scores of the others.",
        rich_help_panel=MEASUREMENT,
    ),
]
K = Annotated[
    str,
    typer.Option(
        "--k",
        metavar="N",
        help="Nearest neighbours for precision, recall, density, coverage and realism; the other "
        "metrics have theirs, which --json tells.",
        rich_help_panel=MEASUREMENT,
    ),
]
Ties = Annotated[
    str,
    typer.Option(
        metavar="closed|open",
        help="Whether a point on the rim of a neighbourhood lies inside (closed) or not.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete(*checks.TIES),
    ),
]
Distance = Annotated[
    str,
    typer.Option(
        metavar="euclidean|cosine",
        help="Distance between samples, for neighbourhoods and copies. Rows have length one, so "
        "Euclidean distances order as cosines do, but for --projection union, where cosine takes "
        "angles about the joint mean.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete(*checks.DISTANCES),
    ),
]
Projection = Annotated[
    str,
    typer.Option(
        metavar="none|union",
        help="Where neighbours are looked for: none, among rows of length one as they are; union, "
        "on the axes that keep 90 % of the variance of both sets, as in Le Bronnec et al. (2024), "
        "where precision falls when good texts merely repeat.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete(*checks.PROJECTIONS),
    ),
]
Buckets = Annotated[
    str,
    typer.Option(
        metavar="N|auto|cube-root",
        help="Cells of the quantisation for MAUVE and its family; auto is a tenth of the samples, "
        "cube-root the cube root of their number.",
        rich_help_panel=MEASUREMENT,
    ),
]
Level = Annotated[
    str,
    typer.Option(
        "--level",
        metavar="NUMBER",
        help="Confidence level of intervals and tests, between 0 and 1.",
        rich_help_panel=CERTAINTY,
    ),
]
NoIntervals = Annotated[
    bool,
    typer.Option(
        "--no-intervals",
        help="Leave out intervals and tests; saves up to half of the time after embedding.",
        rich_help_panel=CERTAINTY,
    ),
]
Floor = Annotated[
    bool | None,
    typer.Option(
        "--floor/--no-floor",
        help="Measure the noise floor, what halves of the reference score against each other, "
        "with each system beside it at that size. By default where the reference has fewer than "
        "5,000 samples: it takes ten more scorings at half size, and ten for each system.",
        rich_help_panel=CERTAINTY,
        show_default=False,
    ),
]
AdviceFlag = Annotated[
    bool,
    typer.Option(
        "--advice",
        help="Tell, from nested smaller sets, how far each score is from where more samples "
        "would bring it.",
        rich_help_panel=CERTAINTY,
    ),
]
Paired = Annotated[
    bool | None,
    typer.Option(
        "--paired/--no-paired",
        help="Whether row i of every generated set answers the same prompt, which sharpens tests "
        "between systems. By default found out from the prompts in the rows.",
        rich_help_panel=CERTAINTY,
        show_default=False,
    ),
]
Margin = Annotated[
    str | None,
    typer.Option(
        "--margin",
        metavar="NUMBER",
        help="Test also whether systems are equal: whether scores between 0 and 1 are less than "
        "this far apart, such as 0.05.",
        rich_help_panel=CERTAINTY,
        show_default=False,
    ),
]
PerSample = Annotated[
    bool,
    typer.Option(
        "--per-sample",
        help="Add to the JSON one value per sample, where a metric has them, and where each "
        "sample lies: its nearest one of the other side, how far, in which ball first.",
        rich_help_panel=OUTPUT,
    ),
]
