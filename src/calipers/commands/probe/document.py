"""The document of a probe: which changes of texts each view of an embedder detects."""

from __future__ import annotations

from collections.abc import Iterator

from calipers.catalogue.embeddings import METRICS
from calipers.commands.probe.result import CLEAR, Move, Probe, ProbedView, Word
from calipers.report import legend
from calipers.report.table import (
    BEST_STYLE,
    METRIC,
    Block,
    Column,
    Document,
    Note,
    Notes,
    Run,
    ScoreCell,
    Table,
    Text,
    glossary,
    notes,
    texts,
    together,
)
from calipers.wording.names import clean, label, meaning, sees
from calipers.wording.numbers import MISSING, defined, number
from calipers.wording.short_names import short

UNCHANGED = "unchanged"
STYLES: dict[Word, str] = {"sees": "bold", "hardly": "", "blind": "yellow"}


def document(probe: Probe) -> Document:
    """Return the document of a probe: its tables and notes."""
    samples = [(short(probe.samples.name), probe.samples)]
    blocks: tuple[Block, ...] = (
        *(_table(probe, view) for view in probe),
        *together(*notes("note", _remarks(probe)), *legend.warnings(probe, samples)),
        Notes(
            (
                *glossary(_meanings(probe)),
                Note(
                    "how",
                    "No score detects what its embedder ignores. Every split: `.to_dict()`.",
                ),
            )
        ),
    )
    return Document(_title(probe), blocks, legend.made_by(probe))


def _title(probe: Probe) -> str:
    """Say what was probed with what."""
    settings = probe.settings
    halves = f"{settings['seeds']} random splits into {settings['half']} + {settings['half']}"
    pins = [f"{key} {clean(settings[key])}" for key in ("k", "seed")]
    name = short(probe.samples.name)
    rows = [] if legend.scaled_as_usual(settings) else [legend.prepared(settings)]
    return " · ".join(
        [f"What {clean(settings['embedder'])} detects in {name}", halves, *pins, *rows]
    )


def _table(probe: Probe, view: ProbedView) -> Table:
    """Return the changes of one view: how many texts each alters, its scores, and the verdict."""
    changes = list(view)
    names = [UNCHANGED, *(clean(change.label) for change in changes)]
    shares = ["", *(percent(change.altered) for change in changes)]
    words = [change.verdict for change in changes]
    verdicts = (Text(), *(Text(word, STYLES.get(word, "dim")) for word in words))
    return Table(
        (Column("change", texts(names), align="left"), Column("alters", texts(shares))),
        (
            *(_metric_run(view, metric) for metric in probe.settings["metrics"]),
            (Column("verdict", verdicts, align="left"),),
        ),
        (METRIC,) * len(names),
        id=view.name,
        heading=f"By {clean(view.name)}" + (f" ({seen})" if (seen := sees(view.name)) else ""),
        apart=False,
    )


def _metric_run(view: ProbedView, metric: str) -> Run:
    """Return what changed texts score, and how far that is from unchanged ones."""
    moves = [change[metric] for change in view]
    first = moves[0]
    gaps = (ScoreCell(f"±{first.noise:.3f}", style="dim"), *map(_gap, moves))
    values = tuple(map(_value, (first.unchanged, *(move.value for move in moves))))
    known = metric.partition(":")[0] in METRICS
    about = meaning(metric) if known else ""
    return (
        Column("score", values, group=label(metric), key=metric, meaning=about),
        Column("gap", gaps, group=label(metric)),
    )


def _gap(move: Move) -> ScoreCell:
    style = BEST_STYLE if move.beyond else "dim"
    return ScoreCell(signed(move.gap), style=style, number=defined(move.gap))


def _value(score: float) -> ScoreCell:
    value = defined(score)
    return ScoreCell(MISSING if value is None else number(value, unit=True), number=value)


def signed(gap: float) -> str:
    """Write a gap with its sign; without one where it rounds to zero."""
    if defined(gap) is None:
        return MISSING
    text = f"{gap:+.3f}"
    return "0.000" if text in ("+0.000", "-0.000") else text


def percent(share: float) -> str:
    """Write a share as a percentage; 0 % and 100 % only where they are exact."""
    rounded = f"{100 * share:.0f} %"
    if rounded == "100 %" and share < 1:
        return ">99 %"
    return "<1 %" if rounded == "0 %" and share > 0 else rounded


def _remarks(probe: Probe) -> Iterator[str]:
    """Say which changes move no vector at all, and how the set was cut."""
    samples, limit = probe.samples, probe.settings.get("max_samples")
    if limit and samples.n_given > limit:
        yield f"{samples.n_given} texts cut to {limit} (`max_samples`)"
    for view in probe:
        still = [clean(change.label) for change in view if change.moved == 0]
        if still:
            yield f"by {clean(view.name)}, no vector changes with: {', '.join(still)}"


def _meanings(probe: Probe) -> Iterator[tuple[str, str]]:
    """Return how to read numbers and words, as pairs of a name and a line."""
    for change in next(iter(probe)):
        yield clean(change.label), clean(change.does)
    for metric in probe.settings["metrics"]:
        if metric.partition(":")[0] in METRICS:
            yield label(metric), meaning(metric)
    yield "alters", "share of the texts that the change alters"
    yield (
        UNCHANGED,
        (
            "the score of unchanged texts; beside it the noise: twice the standard deviation "
            f"over the splits, or the sampling error of {probe.settings['half']} texts"
        ),
    )
    yield "gap", "score minus that of unchanged texts, averaged over the splits"
    yield "sees", f"some metric changes by {CLEAR:g} or more, and by more than the noise"
    yield "hardly", "some metric changes by more than the noise, none by that much"
    yield "blind", "no metric changes by more than the noise"
