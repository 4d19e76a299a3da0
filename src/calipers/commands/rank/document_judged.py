"""The tables of judgements in the document of a ranking: scores, raters and their agreement."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from calipers.commands.rank.judged import BesidePeople, Interval, RaterCeiling, Raters, Ratings
from calipers.commands.rank.result import Fit, Ranking, Truth
from calipers.report.table import METRIC, Column, Run, Table, singles, texts
from calipers.wording.names import clean
from calipers.wording.numbers import MISSING, number

CEILING = "ceiling"
FIXED = "systems fixed"
MOST_RATERS = 12
"""Raters that the table of their effects shows, those with the most answers."""

EVEN = 0.5
"""Share of answers for the text shown first where the side does not matter."""

TIES = {
    "davidson": "a separate outcome, by Davidson's model (1970)",
    "half": "half a win for each system",
    "random": "a win for one of the two at random",
    "drop": "left out",
}
SHRINKING = ("half", "random")


def share(value: float) -> str:
    """Write a correlation with three decimals; a dash where it is undefined.

    Examples
    --------
    >>> share(-0.0001), share(0.8571), share(math.nan)
    ('0.000', '0.857', '–')
    """
    return number(value, unit=True) if math.isfinite(value) else MISSING


def two(value: float) -> str:
    """Write a correlation with two decimals.

    Examples
    --------
    >>> two(-0.001), two(-0.5)
    ('0.00', '-0.50')
    """
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def bounds(interval: Interval | None) -> str:
    """Write an interval with two decimals; an empty text without one."""
    return "" if interval is None else f"[{two(interval[0])}, {two(interval[1])}]"


def level_text(level: float) -> str:
    """Name intervals by their confidence level."""
    return f"{100 * level:.4g} % interval"


def correlation_run(
    kind: str,
    level: str,
    correlations: Iterable[tuple[float, Interval | None, Interval | None]],
) -> Run:
    """Return the columns of correlations, and of their intervals where there are any.

    Parameters
    ----------
    kind
        Of correlation.
    level
        Names the intervals that take the systems for a draw from many.
    correlations
        Each with that interval and the one with the systems fixed.
    """
    values, drawn, fixed = zip(*correlations, strict=True)
    columns = [Column(kind, texts(list(map(share, values))))]
    for header, intervals in ((level, drawn), (FIXED, fixed)):
        cells = list(map(bounds, intervals))
        if any(cells):
            columns.append(Column(header, texts(cells, "dim")))
    return tuple(columns)


def fitted(ranking: Ranking) -> list[Fit]:
    """Return the models that were fitted to judgements."""
    return [truth.fit for truth in ranking if truth.fit is not None]


def judged_tables(ranking: Ranking) -> Iterator[Table]:
    """Return the tables of judgements, those of fitted scores first."""
    for truth in ranking:
        if truth.fit is not None:
            yield _fit_table(ranking, truth, truth.fit)
        if truth.ratings is not None:
            yield _ratings_table(ranking, truth, truth.ratings)
        if truth.raters is not None and truth.raters.effects:
            yield _effects_table(truth, truth.raters, level_text(ranking.settings["level"]))


def _fit_table(ranking: Ranking, truth: Truth, fit: Fit) -> Table:
    """Return the scores that were fitted to judgements, the most preferred system first."""
    players = fit.players
    total = round(sum(player.won + player.lost + player.tied for player in players) / 2)
    names = [clean(player.name) + _role(ranking, player.name) for player in players]
    columns = [
        Column("score", texts([_one(player.score) for player in players])),
        Column(level_text(fit.level), texts([_wide(player.interval) for player in players])),
        Column("won", texts([_wins(player.won) for player in players])),
        Column("lost", texts([_wins(player.lost) for player in players])),
        Column("tied", texts([f"{player.tied:g}" for player in players])),
    ]
    return Table(
        (Column("system", texts(names), align="left", share=3),),
        singles(columns),
        (METRIC,) * len(players),
        id=f"fit:{truth.name}",
        heading=f"Bradley-Terry scores{_of(truth)}, from {total} judgements of {len(players)} "
        f"systems{_by_raters(truth)}",
    )


def _ratings_table(ranking: Ranking, truth: Truth, ratings: Ratings) -> Table:
    """Return the mean ratings, the highest first."""
    systems = ratings.systems.values()
    total = sum(system.ratings for system in systems)
    names = [clean(name) + _role(ranking, name) for name in ratings.systems]
    columns = [
        Column("mean", texts([number(system.mean, unit=False) for system in systems])),
        Column(level_text(ratings.level), texts([bounds(system.interval) for system in systems])),
        Column("ratings", texts([f"{system.ratings:,}" for system in systems])),
    ]
    return Table(
        (Column("system", texts(names), align="left", share=3),),
        singles(columns),
        (METRIC,) * len(names),
        id=f"ratings:{truth.name}",
        heading=f"Mean ratings{_of(truth)}, from {total} ratings of {len(names)} "
        f"systems{_by_raters(truth)}",
    )


def _effects_table(truth: Truth, raters: Raters, level: str) -> Table:
    """Say how sharply raters tell systems apart, and how far they follow the side."""
    effects = raters.effects
    ordered = sorted(effects.items(), key=lambda effect: -effect[1].answers)[:MOST_RATERS]
    more = f", the {MOST_RATERS} with the most answers" if len(effects) > MOST_RATERS else ""
    profiles = [profile for _, profile in ordered]
    slopes = [(rater.discrimination, rater.discrimination_interval) for rater in profiles]
    biases = [(rater.side_bias, rater.side_bias_interval) for rater in profiles]
    return Table(
        (
            Column("rater", texts([clean(name) for name, _ in ordered]), align="left", share=3),
            Column("answers", texts([f"{rater.answers:,}" for rater in profiles])),
        ),
        tuple(
            _estimates(header, level, estimates)
            for header, estimates in (("discrimination", slopes), ("first side", biases))
            if any(math.isfinite(value) for value, _ in estimates)
        ),
        (METRIC,) * len(ordered),
        id=f"raters:{truth.name}",
        heading=f"Raters{_of(truth)}{more}",
    )


def _estimates(header: str, level: str, estimates: Sequence[tuple[float, Interval | None]]) -> Run:
    """Return estimates beside their intervals."""
    values = [two(value) if math.isfinite(value) else MISSING for value, _ in estimates]
    intervals = [bounds(interval) for _, interval in estimates]
    return Column(header, texts(values)), Column(level, texts(intervals, "dim"))


def people_tables(ranking: Ranking) -> Iterator[Table]:
    """Compare judging models with people: by systems, and by the items that both judged."""
    names = [clean(truth.name) for truth in ranking if truth.people is not None]
    models = [truth.people for truth in ranking if truth.people is not None]
    if not models:
        return
    level = level_text(ranking.settings["level"])
    spearman = [(one.spearman, one.spearman_interval, one.spearman_fixed) for one in models]
    pearson = [(one.pearson, one.pearson_interval, one.pearson_fixed) for one in models]
    yield Table(
        (Column("judge", texts(names), align="left", share=3),),
        (
            correlation_run("Spearman", level, spearman),
            correlation_run("Pearson", level, pearson),
        ),
        (METRIC,) * len(models),
        id="people",
        heading="Models that judge, beside people",
    )
    if any(model.items for model in models):
        yield _items_table(names, models, level)


def _items_table(names: Sequence[str], models: Sequence[BesidePeople], level: str) -> Table:
    """Say how often answers are those of a person: of models, and of people themselves."""
    people = {clean(model.people): model for model in models if math.isfinite(model.people_same)}
    among = people.values()
    same = [
        *((model.same, model.same_interval) for model in models),
        *((model.people_same, model.people_same_interval) for model in among),
    ]
    kappa = [
        *((model.kappa, model.kappa_interval) for model in models),
        *((model.people_kappa, model.people_kappa_interval) for model in among),
    ]
    items = [f"{model.items:,}" for model in models] + [""] * len(people)
    return Table(
        (
            Column("answers", texts([*names, *people]), align="left", share=3),
            Column("items", texts(items)),
        ),
        (_estimates("same answer", level, same), _estimates("kappa", level, kappa)),
        (METRIC,) * len(items),
        id="items",
        heading="Answers about the same items, beside those of people",
    )


# In words ----------------------------------------------------------------------------------------


def judged_remarks(ranking: Ranking) -> Iterator[str]:
    """Describe who answered, how answers of one rater were treated, and the agreement ceiling."""
    remarks: dict[str, list[str]] = {}
    for truth in ranking:
        for sentence in _of_raters(truth):
            remarks.setdefault(sentence, []).append(clean(truth.name))
    for sentence, truths in remarks.items():
        yield f"{', '.join(truths)}: {sentence}"


def _of_raters(truth: Truth) -> Iterator[str]:
    if truth.raters is not None:
        yield from _of_errors(truth.raters)
        yield from _of_sides(truth.raters)
        yield from truth.raters.left_out
    if truth.ceiling is not None:
        yield _of_ceiling(truth.ceiling)


def _of_ceiling(ceiling: RaterCeiling) -> str:
    """Say what the ceiling is and how it was estimated, or why there is none."""
    if not math.isfinite(ceiling.spearman):
        return f"no {CEILING}: {clean(ceiling.reason or 'undefined')}"
    halves = f"{ceiling.units:,} {ceiling.halved}"
    if ceiling.halved == "judgements":
        halves += ", as if each were another rater's"
    return (
        f"the {CEILING} is a Spearman correlation of {two(ceiling.spearman)}, from random "
        f"halves of the {halves}; a metric without any error would reach "
        f"{two(ceiling.spearman_attainable)}"
    )


def _of_errors(raters: Raters) -> Iterator[str]:
    """Say where the errors come from, where raters are known."""
    if not raters.count:
        return
    who = f"{raters.answers:,} answers of {_raters(raters)}"
    effects = ", each with effects of their own" if raters.method == "effects" else ""
    if raters.item_clusters:
        yield (
            f"{who}{effects}; standard errors come from clusters of {raters.clusters:,} raters "
            f"and of {raters.item_clusters:,} {raters.texts}s"
        )
    elif raters.cluster:
        yield (
            f"{who}{effects}; standard errors come from {raters.clusters:,} clusters, one for each "
            f"{raters.cluster if raters.cluster == 'rater' else raters.texts}"
        )
    else:
        yield f"{who}{effects}" if effects else f"{who}, taken for independent"


def _of_sides(raters: Raters) -> Iterator[str]:
    """Say that the side matters, where it does."""
    interval = raters.first_share_interval
    if interval is None or interval[0] <= EVEN <= interval[1]:
        return
    value, low, high = (f"{100 * share:.0f} %" for share in (raters.first_share, *interval))
    yield (
        f"the text shown first is preferred in {value} ({low} to {high}) of the answers that "
        "prefer one, in place of 50 %"
    )


def judged_meanings(ranking: Ranking) -> Iterator[tuple[str, str]]:
    """Return how to read the tables of judgements."""
    for fit in fitted(ranking)[:1]:
        chance = f"1/(1 + exp(-difference/{fit.scale:g}))"
        yield "score", f"preferred, if one is, with probability {chance}; the mean is 0"
        yield "tied", f"judged alike: {TIES[fit.ties]}"
    if any(truth.raters is not None and truth.raters.effects for truth in ranking):
        yield "discrimination", "how sharply a rater tells systems apart; 1 is the typical rater"
        yield "first side", "log odds for the text shown first, where two systems are equal"
    if any(has_ceiling(truth) for truth in ranking):
        yield CEILING, "what the scores of two such groups of raters would reach with each other"
    if any(truth.people is not None and truth.people.items for truth in ranking):
        yield "same answer", "share of answers that are those of another person about the same item"
        yield "kappa", "the same beyond chance: 0 is that of chance, 1 full agreement"


def has_ceiling(truth: Truth) -> bool:
    """Whether the agreement among raters was measured."""
    return truth.ceiling is not None and math.isfinite(truth.ceiling.spearman)


def of_ties(name: str, fit: Fit) -> str:
    """State how many judgements are ties, and how they were treated."""
    remark = f"{clean(name)}: {100 * fit.tie_share:.3g} % of the judgements are ties"
    if fit.ties == "davidson":
        even = fit.tie_parameter / (2 + fit.tie_parameter)
        return (
            f"{remark}: {TIES['davidson']}, in which two equal systems tie with probability "
            f"{even:.2f}"
        )
    more = ", which brings the scores closer together" if fit.ties in SHRINKING else ""
    return f"{remark}: {TIES[fit.ties]}{more}"


def _of(truth: Truth) -> str:
    return "" if truth.name == "judgements" else f" ({clean(truth.name)})"


def _by_raters(truth: Truth) -> str:
    return f" by {_raters(truth.raters)}" if truth.raters and truth.raters.count else ""


def _raters(raters: Raters) -> str:
    noun = {"person": "person", "model": "model"}.get(raters.kind, "rater")
    many = {"person": "people"}.get(raters.kind, f"{noun}s")
    return f"1 {noun}" if raters.count == 1 else f"{raters.count:,} {many}"


def _role(ranking: Ranking, name: str) -> str:
    if name == ranking.settings.get("reference"):
        return " (reference)"
    return "" if name in ranking.systems else " (no scores)"


def _wide(interval: Interval) -> str:
    return f"[{_one(interval[0])}, {_one(interval[1])}]"


def _wins(value: float) -> str:
    """Write a number of wins, with one decimal where some are parts of one."""
    return f"{value:g}" if float(value).is_integer() else f"{value:.1f}"


def _one(value: float) -> str:
    """Write a score with one decimal, 0 without a sign."""
    text = f"{value:.1f}"
    return "0.0" if text == "-0.0" else text
