"""What raters say of systems, for the document of a ranking: fitted scores, mean ratings, what the
raters are like, how far they agree among themselves, and models that judge beside people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from calipers.report.names import clean
from calipers.report.numbers import MISSING, number
from calipers.report.table import METRIC, Column, Data, Table, singles, texts

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


def share(value: float | None) -> str:
    """Write a correlation with three decimals.

    Examples
    --------
    >>> share(-0.0001), share(0.8571), share(None)
    ('0.000', '0.857', '–')
    """
    return MISSING if value is None else number(value, unit=True)


def two(value: float) -> str:
    """Write a correlation with two decimals.

    Examples
    --------
    >>> two(-0.001), two(-0.5)
    ('0.00', '-0.50')
    """
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def bounds(interval: Sequence[float] | None) -> str:
    """Write an interval with two decimals; nothing without one."""
    return "" if interval is None else f"[{two(interval[0])}, {two(interval[1])}]"


def level_text(level: float) -> str:
    """Name intervals by their level."""
    return f"{100 * level:.4g} % interval"


def fitted(data: Data) -> list[str]:
    """Name the truths that were fitted to judgements."""
    return [name for name, truth in data["truths"].items() if truth["fit"]]


def judged_tables(data: Data) -> Iterator[Table]:
    """Give what raters say of systems, the tables of fitted scores first."""
    for name, truth in data["truths"].items():
        if truth["fit"]:
            yield _fit_table(data, name)
        if truth.get("ratings"):
            yield _ratings_table(data, name)
        if (truth.get("raters") or {}).get("effects"):
            yield _effects_table(data, name)


def _fit_table(data: Data, truth: str) -> Table:
    """Give the scores that were fitted to judgements, the most preferred system first."""
    fit = data["truths"][truth]["fit"]
    players = fit["players"]
    total = round(sum(p["won"] + p["lost"] + p["tied"] for p in players) / 2)
    names = [clean(player["name"]) + _role(data, player["name"]) for player in players]
    columns = [
        Column("score", texts([_one(player["score"]) for player in players])),
        Column(level_text(fit["level"]), texts([_wide(player["interval"]) for player in players])),
        *(
            Column(word, texts([f"{player[word]:g}" for player in players]))
            for word in ("won", "lost", "tied")
        ),
    ]
    return Table(
        (Column("system", texts(names), align="left", share=3),),
        singles(columns),
        (METRIC,) * len(players),
        id=f"fit:{truth}",
        heading=f"Bradley-Terry scores{_of(truth)}, from {total} judgements of {len(players)} "
        f"systems{_by_raters(data['truths'][truth])}",
    )


def _ratings_table(data: Data, truth: str) -> Table:
    """Give the mean ratings, the highest first."""
    held = data["truths"][truth]["ratings"]
    systems = held["systems"]
    total = sum(one["ratings"] for one in systems.values())
    names = [clean(name) + _role(data, name) for name in systems]
    columns = [
        Column("mean", texts([number(one["mean"], unit=False) for one in systems.values()])),
        Column(
            level_text(held["level"]), texts([bounds(one["interval"]) for one in systems.values()])
        ),
        Column("ratings", texts([f"{one['ratings']:,}" for one in systems.values()])),
    ]
    return Table(
        (Column("system", texts(names), align="left", share=3),),
        singles(columns),
        (METRIC,) * len(names),
        id=f"ratings:{truth}",
        heading=f"Mean ratings{_of(truth)}, from {total} ratings of {len(names)} "
        f"systems{_by_raters(data['truths'][truth])}",
    )


def _effects_table(data: Data, truth: str) -> Table:
    """Say how sharply raters tell systems apart, and how far they follow the side."""
    effects = data["truths"][truth]["raters"]["effects"]
    ordered = sorted(effects.items(), key=lambda pair: -pair[1]["answers"])[:MOST_RATERS]
    more = f", the {MOST_RATERS} with the most answers" if len(effects) > MOST_RATERS else ""
    level = level_text(data["settings"]["level"])

    def pair(key: str, header: str) -> tuple[Column, ...]:
        known = [one[key] for _, one in ordered]
        if all(value is None for value in known):
            return ()
        shown = [MISSING if value is None else two(value) for value in known]
        reach = [bounds(one[f"{key}_interval"]) for _, one in ordered]
        return Column(header, texts(shown)), Column(level, texts(reach, "dim"))

    runs = (pair("discrimination", "discrimination"), pair("side_bias", "first side"))
    return Table(
        (
            Column("rater", texts([clean(name) for name, _ in ordered]), align="left", share=3),
            Column("answers", texts([f"{one['answers']:,}" for _, one in ordered])),
        ),
        tuple(run for run in runs if run),
        (METRIC,) * len(ordered),
        id=f"raters:{truth}",
        heading=f"Raters{_of(truth)}{more}",
    )


def people_tables(data: Data) -> Iterator[Table]:
    """Hold models that judge against people: by systems, and by the items that both judged."""
    models = {
        clean(name): one["people"] for name, one in data["truths"].items() if one.get("people")
    }
    if not models:
        return
    level = level_text(data["settings"]["level"])
    cells = list(models.values())
    runs = []
    for kind in ("spearman", "pearson"):
        run = [Column(kind.capitalize(), texts([share(one[kind]) for one in cells]))]
        for header, key in ((level, f"{kind}_interval"), (FIXED, f"{kind}_fixed")):
            shown = [bounds(one[key]) for one in cells]
            if any(shown):
                run.append(Column(header, texts(shown, "dim")))
        runs.append(tuple(run))
    yield Table(
        (Column("judge", texts(list(models)), align="left", share=3),),
        tuple(runs),
        (METRIC,) * len(models),
        id="people",
        heading="Models that judge, beside people",
    )
    if any(one["items"] for one in cells):
        yield _items_table(models, level)


def _items_table(models: Mapping[str, Data], level: str) -> Table:
    """Say how often answers are those of a person: of models, and of people themselves."""
    among = {clean(one["people"]): one for one in models.values() if one["people_same"] is not None}
    runs = []
    for header, key in (("same answer", "same"), ("kappa", "kappa")):
        values = [one[key] for one in models.values()]
        values += [one[f"people_{key}"] for one in among.values()]
        reach = [one[f"{key}_interval"] for one in models.values()]
        reach += [one[f"people_{key}_interval"] for one in among.values()]
        shown = [MISSING if value is None else two(value) for value in values]
        spread = Column(level, texts([bounds(one) for one in reach], "dim"))
        runs.append((Column(header, texts(shown)), spread))
    items = [f"{one['items']:,}" for one in models.values()] + [""] * len(among)
    return Table(
        (
            Column("answers", texts([*models, *among]), align="left", share=3),
            Column("items", texts(items)),
        ),
        tuple(runs),
        (METRIC,) * len(items),
        id="items",
        heading="Answers about the same items, beside those of people",
    )


# In words ----------------------------------------------------------------------------------------


def judged_remarks(data: Data) -> Iterator[str]:
    """Say who answered, what became of answers of one rater, and what to make of the ceiling."""
    told: dict[str, list[str]] = {}
    for name, truth in data["truths"].items():
        for sentence in _of_raters(truth):
            told.setdefault(sentence, []).append(clean(name))
    for sentence, truths in told.items():
        yield f"{', '.join(truths)}: {sentence}"


def _of_raters(truth: Data) -> Iterator[str]:
    raters = truth.get("raters")
    if raters:
        yield from _of_errors(raters)
        yield from _of_sides(raters)
        yield from raters["left_out"]
    ceiling = truth.get("ceiling")
    if not ceiling:
        return
    if ceiling["spearman"] is None:
        yield f"no {CEILING}: {clean(ceiling['reason'] or 'undefined')}"
        return
    halves = f"{ceiling['units']:,} {ceiling['halved']}"
    if ceiling["halved"] == "judgements":
        halves += ", as if each were another rater's"
    yield (
        f"the {CEILING} is a Spearman correlation of {two(ceiling['spearman'])}, from random "
        f"halves of the {halves}; a metric without any error would reach "
        f"{two(ceiling['spearman_attainable'])}"
    )


def _of_errors(raters: Data) -> Iterator[str]:
    """Say where the errors come from, where raters are known."""
    if not raters["count"]:
        return
    who = f"{raters['answers']:,} answers of {_raters(raters)}"
    own = ", each with effects of their own" if raters["method"] == "effects" else ""
    if raters["item_clusters"]:
        yield (
            f"{who}{own}; standard errors come from clusters of {raters['clusters']:,} raters and "
            f"of {raters['item_clusters']:,} items"
        )
    elif raters["cluster"]:
        yield (
            f"{who}{own}; standard errors come from {raters['clusters']:,} clusters, one for each "
            f"{raters['cluster']}"
        )
    else:
        yield f"{who}{own}" if own else f"{who}, taken for independent"


def _of_sides(raters: Data) -> Iterator[str]:
    """Say that the side matters, where it does."""
    reach = raters["first_share_interval"]
    if reach is None or reach[0] <= EVEN <= reach[1]:
        return
    value, low, high = (f"{100 * one:.0f} %" for one in (raters["first_share"], *reach))
    yield (
        f"the text shown first is preferred in {value} ({low} to {high}) of the answers that "
        "prefer one, in place of 50 %"
    )


def judged_meanings(data: Data) -> Iterator[tuple[str, str]]:
    """Give how to read the tables of judgements."""
    truths = data["truths"].values()
    if names := fitted(data):
        fit = data["truths"][names[0]]["fit"]
        chance = f"1/(1 + exp(-difference/{fit['scale']:g}))"
        yield "score", f"preferred, if one is, with probability {chance}; the mean is 0"
        yield "tied", f"judged alike: {TIES[fit['ties']]}"
    if any((one.get("raters") or {}).get("effects") for one in truths):
        yield "discrimination", "how sharply a rater tells systems apart; 1 is the typical rater"
        yield "first side", "log odds for the text shown first, where two systems are equal"
    if any((one.get("ceiling") or {}).get("spearman") is not None for one in truths):
        yield CEILING, "what the scores of two such groups of raters would reach with each other"
    models = [one["people"] for one in truths if one.get("people")]
    if any(one["items"] for one in models):
        yield "same answer", "share of answers that are those of another person about the same item"
        yield "kappa", "the same beyond chance: 0 is that of chance, 1 full agreement"


def of_ties(name: str, fit: Data) -> str:
    """Say how many judgements are ties, and what became of them."""
    share = fit["tie_share"]
    told = f"{clean(name)}: {100 * share:.3g} % of the judgements are ties"
    if fit["ties"] == "davidson":
        even = fit["tie_parameter"] / (2 + fit["tie_parameter"])
        return (
            f"{told}: {TIES['davidson']}, in which two equal systems tie with probability "
            f"{even:.2f}"
        )
    more = ", which brings the scores closer together" if fit["ties"] in SHRINKING else ""
    return f"{told}: {TIES[fit['ties']]}{more}"


def _of(truth: str) -> str:
    return "" if truth == "judgements" else f" ({clean(truth)})"


def _by_raters(truth: Data) -> str:
    raters = truth.get("raters")
    return f" by {_raters(raters)}" if raters and raters["count"] else ""


def _raters(raters: Data) -> str:
    noun = {"person": "person", "model": "model"}.get(raters["kind"], "rater")
    many = {"person": "people"}.get(raters["kind"], f"{noun}s")
    return f"1 {noun}" if raters["count"] == 1 else f"{raters['count']:,} {many}"


def _role(data: Data, name: str) -> str:
    if name == data["settings"].get("reference"):
        return " (reference)"
    return "" if name in data["systems"] else " (no scores)"


def _wide(interval: Sequence[float]) -> str:
    return f"[{_one(interval[0])}, {_one(interval[1])}]"


def _one(value: float) -> str:
    """Write a score with one decimal, 0 without a sign."""
    text = f"{value:.1f}"
    return "0.0" if text == "-0.0" else text
