"""The verdict of a comparison: the few sentences that a person reads first.

Who is closest to the reference, who has collapsed, who cannot be distinguished from it, and the one
or two cautions that could change that. Terminal, JSON, Python and page all take it from here. Every
sentence rests on numbers, tests and noise floors that the comparison holds; where nothing was
tested, it says so.

Closeness is read from the first score of the gap that is shown (:data:`CLOSENESS`), quality from
precision where that is shown. Diversity is read from every score of it that is shown, by default
recall and coverage, and the lowest beside its noise floor speaks: recall does not see that a topic
is missing, coverage does not see that samples keep to the typical (docs/sanity.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import inf

from calipers.catalogue.estimation import POINTS
from calipers.catalogue.roles import CLOSENESS, DIVERSITY, QUALITY
from calipers.catalogue.shown import TEXT, views_of
from calipers.evaluate.alike import alike
from calipers.evaluate.identical import about_identical
from calipers.evaluate.shown import with_shown
from calipers.evaluate.standing import Standing, standing
from calipers.results.caution import Caution
from calipers.results.comparison import Comparison
from calipers.results.ranking import scores_of
from calipers.results.reading import remedy_of
from calipers.results.shown import ShownScore
from calipers.results.significance import against_reference, alpha_of, is_significant, is_tested
from calipers.results.tests import SignificanceTest
from calipers.results.verdict import BriefCaution, Finding, Kind, Verdict
from calipers.score import Score
from calipers.wording.names import clean
from calipers.wording.numbers import defined, floor_of, gap_of, p_text, share, value_of
from calipers.wording.words import Words, in_speech, joined, listed, named, spoken_list

FALL_WITH_QUALITY = frozenset({"coverage", "clipped_coverage", "cover_recall"})
"""Scores of diversity that poor samples lower too: no collapse where quality is low as well."""

COLLAPSED = 0.25
"""A share of what equal distributions reach; a lower recall is a collapse."""
MOSTLY = 0.5
"""Where more of the samples than this are duplicates, the system has collapsed too."""
LOW_QUALITY = 0.5
"""A share of what equal distributions reach; a lower quality explains a low coverage by itself."""
WORTH_SAYING = 0.05
"""The share of duplicates from which they are named beside a collapse."""

MOST_CAUTIONS = 2
LEAST_WEIGHT = 4
"""Hundredths of a score; lighter cautions change no verdict and stand among the warnings."""
REVERSING = 25
"""What could move a score by a quarter is shown whatever others there are."""

MOST_REASONS = 2
"""Sentences about what was not read."""
COUNTS = {2: "Both", 3: "All three"}
MOST_NAMED = 4
"""Systems that a sentence names, each with what it scores; of more it names the first ones."""
FEW = 3
"""How many of those it then names, and how many groups of systems."""
UNCONFIRMED = "no test confirms it"
NUMBERS = re.compile(r"\ball\b|(?:\bunder )?\d[\d.,]*(?: %)?")


def decided(comparison: Comparison) -> Comparison:
    """Determine which scores of a comparison are shown, and its verdict."""
    return with_verdict(with_shown(comparison))


def with_verdict(comparison: Comparison) -> Comparison:
    """Add the verdict, which rests on everything else in a comparison."""
    return replace(comparison, verdict=verdict(comparison))


def verdict(comparison: Comparison) -> Verdict:
    """Write the verdict of a comparison in a few sentences.

    Parameters
    ----------
    comparison
        What was measured and tested.
    """
    withheld, same = tuple(_withheld(comparison)), tuple(_same(comparison))
    judged = _Judged(_ranked(comparison))
    findings = (*withheld, *(judged.findings() if judged.systems else ()), *same)
    unread = {(name, "unread") for finding in withheld for name in finding.systems}
    return Verdict(findings, tuple(_cautions(comparison, judged.explained | unread)))


def _withheld(comparison: Comparison) -> Iterator[Finding]:
    """Say of which systems no verdict is given, those of one reason together."""
    reasons: dict[str, list[str]] = {}
    for system in comparison.systems:
        if system.withheld:
            reasons.setdefault(system.withheld, []).append(system.name)
    if len(reasons) > MOST_REASONS:
        (first, *_), names = reasons, [name for alike in reasons.values() for name in alike]
        reasons = {f"for the first, {first}; the others are similar": names}
    remedy = remedy_of(comparison.settings.get("embedding", {}).get("embedder", ""))
    remedy = remedy[0].upper() + remedy[1:]
    for reason, names in reasons.items():
        words = joined(("No verdict on ",), in_speech(names), (f": {reason}. {remedy}.",))
        yield Finding("withheld", tuple(names), words)


def _same(comparison: Comparison) -> Iterator[Finding]:
    """Say which systems hold only samples of the reference, and which the same as each other."""
    for kind, names, words in about_identical(comparison, "samples"):
        yield Finding(kind, names, words)


def _ranked(comparison: Comparison) -> Comparison:
    """Leave out the systems of which no verdict is given."""
    ranked = tuple(s for s in comparison.systems if not s.withheld and not s.is_reference)
    if len(ranked) == len(comparison):
        return comparison
    return replace(comparison, systems=ranked)


def decisive(comparison: Comparison) -> ShownScore | None:
    """Return the score by which the verdict and ``tune`` decide who is best, or None.

    It is the first score of the gap that is shown by the main view, else the first that ranks.
    """
    judged = _Judged(comparison)
    lead = judged.first_of(CLOSENESS, judged.views[0]) if judged.views else None
    return lead or next((metric for metric in judged.metrics if metric.direction), None)


def furthest_first(comparison: Comparison) -> list[int]:
    """Order the systems by distance from the reference in the first view, furthest first.

    Systems without a value come last, in their order; so do all where nothing ranks them.
    """
    judged, rows = _Judged(comparison), list(range(len(comparison)))
    lead = judged.first_of(CLOSENESS, judged.views[0]) if judged.views else None
    if lead is None:
        return rows
    sign = 1 if lead.direction == "higher" else -1
    values = [value_of(score) for score in scores_of(comparison, lead)]
    ranks = [inf if value is None else sign * value for value in values]
    return sorted(rows, key=ranks.__getitem__)


@dataclass(frozen=True)
class _Below:
    """A score below its noise floor: as a share of it, in words, and at which size."""

    metric: ShownScore
    share: float
    words: str
    size: int


@dataclass(frozen=True)
class _Judged:
    """A comparison, and what its sentences rest on."""

    comparison: Comparison

    def findings(self) -> Iterator[Finding]:
        """Return the sentences."""
        if len(self.systems) > 1:
            yield from self._closest()
            yield from self._groups()
        elif self.systems:
            yield from self._score()
        yield from self._collapsed()
        yield from self._distant()
        yield from self._lost()
        yield from self._distinguishable()

    @cached_property
    def systems(self) -> list[str]:
        """The names of the systems."""
        return [system.name for system in self.comparison.systems]

    @cached_property
    def metrics(self) -> list[ShownScore]:
        """What is shown of embeddings and has a value for some system."""
        return [
            metric
            for metric in self.comparison.shown
            if metric.view != TEXT and any(score is not None for score in self.values(metric))
        ]

    @cached_property
    def explained(self) -> frozenset[tuple[str, str]]:
        """What the sentences say already, as the system and the kind of its caution."""
        return frozenset((self.systems[row], "duplicates") for row in self._collapsed_rows)

    def values(self, metric: ShownScore) -> list[Score | None]:
        """The scores by a metric that have a value."""
        scores = scores_of(self.comparison, metric)
        return [None if value_of(score) is None else score for score in scores]

    def shown(self, metric: ShownScore, row: int) -> str:
        """Write the score of a system, as a sentence does."""
        score = scores_of(self.comparison, metric)[row]
        return metric.brief(score, value_of(score))

    def first_of(self, names: Sequence[str], view: str) -> ShownScore | None:
        """The first of several metrics that is shown by a view.

        Of one with several options the first that was asked for, and one that averages over a
        single side, as the papers do, only where there is no other.
        """
        by_name: dict[str, ShownScore] = {}
        for metric in sorted(self.metrics, key=lambda metric: _one_sided(metric.metric)):
            if metric.view == view:
                by_name.setdefault(metric.base, metric)
        return next((by_name[name] for name in names if name in by_name), None)

    def all_of(self, names: Sequence[str], view: str) -> list[ShownScore]:
        """Those of several metrics that are shown by a view, the one to speak of first before."""
        by_name = {metric.base: metric for metric in self.metrics if metric.view == view}
        return [by_name[name] for name in names if name in by_name]

    @cached_property
    def views(self) -> list[str]:
        """The views by which embeddings are scored."""
        return list(dict.fromkeys(metric.view for metric in self.metrics))

    # -------------------------------------------------------------- who is closest

    def _closest(self) -> Iterator[Finding]:
        leads = [lead for view in self.views if (lead := self.first_of(CLOSENESS, view))]
        if not leads:
            ranked = [metric for metric in self.metrics if metric.direction]
            if ranked:
                yield from self._best(ranked[0])
            return
        first, *others = (standing(self.comparison, lead) for lead in leads)
        if not first.best:
            return
        several = len(views_of(self.comparison.settings)) > 1
        same = all((o.best, o.tied) == (first.best, first.tied) for o in others)
        reference = named(self.comparison.reference.name)
        verb = " is closest to " if len(first.best) == 1 else " are closest to "
        by = f" by {clean(leads[0].view)}" if several and not same else ""
        words = joined(
            in_speech([self.systems[row] for row in first.best]),
            (
                verb,
                reference,
                by,
                f" ({self._scored(leads if same else leads[:1], first.best[0])})",
            ),
            self._praise(first.best[0]) if len(first.best) == 1 else (),
            self._tied(leads[0], first.tied),
            self._untested(first),
        )
        if not same:
            for lead, other in zip(leads[1:], others, strict=True):
                if other.best and (other.best, other.tied) != (first.best, first.tied):
                    words = joined(words, self._by_other(lead, other))
        if not is_tested(self.comparison):
            words = (*words, ", untested")
        rows = (*first.best, *self.ranked(leads[0], first.tied))
        yield Finding("closest", tuple(self.systems[row] for row in rows), (*words, "."))
        yield from self._undecided(
            leads[0], first.undecided, f" by {clean(leads[0].view)}" if several else ""
        )

    def _scored(self, leads: Sequence[ShownScore], row: int) -> str:
        """Write the closeness of a system by every view."""
        first, *others = leads
        text = f"{first.label} {self.shown(first, row)}"
        if not others:
            return text
        more = (f"{self.shown(lead, row)} by {clean(lead.view)}" for lead in others)
        return ", ".join([f"{text} by {clean(first.view)}", *more])

    def ranked(self, metric: ShownScore, rows: Sequence[int]) -> list[int]:
        """Sort systems by a score, the best first."""
        return sorted(rows, key=lambda row: self._rank(metric, row))

    def _rank(self, metric: ShownScore, row: int) -> float:
        """What sorts the systems by a score, the best first."""
        score = scores_of(self.comparison, metric)[row]
        value = gap_of(score) if metric.direction == "closest" else value_of(score)
        if value is None:
            return inf
        return -value if metric.direction == "higher" else value

    def _praise(self, row: int) -> Words:
        """Say whether the closest system is also the best in quality and diversity."""
        quality = self.all_of(QUALITY, self.views[0])[:1]
        praise = ["best in quality"] if any(self._is_clearly_best(m, row) for m in quality) else []
        if self._is_most_diverse(row):
            praise.append("the most diverse")
        return (
            (f", {', '.join(praise)}",) if praise[1:] else (f" and {praise[0]}",) if praise else ()
        )

    def _is_most_diverse(self, row: int) -> bool:
        """Whether a system is clearly the best by a score of diversity, and worse by none."""
        shown = self.all_of(DIVERSITY, self.views[0])
        clear = any(self._is_clearly_best(metric, row) for metric in shown)
        return clear and not any(self._is_worse(metric, row) for metric in shown)

    def _is_worse(self, metric: ShownScore, row: int) -> bool:
        place = standing(self.comparison, metric)
        return row in (*place.worse, *place.undecided)

    def _is_clearly_best(self, metric: ShownScore, row: int) -> bool:
        """Whether a system is the best, and all others are significantly worse."""
        place = standing(self.comparison, metric)
        return place.best == (row,) and place.is_clear

    def _untested(self, place: Standing) -> Words:
        if not place.untested or not is_tested(self.comparison):
            return ()
        verb = " was" if len(place.untested) == 1 else " were"
        text = f"{verb} not tested against it"
        return joined(("; ",), in_speech([self.systems[row] for row in place.untested]), (text,))

    def _tied(self, metric: ShownScore, rows: Sequence[int]) -> Words:
        if not rows:
            return ()
        if rows[3:]:
            return (f"; {len(rows)} others are tied with it",)
        verb = " is tied with it" if len(rows) == 1 else " are tied with it"
        return joined(("; ",), self._with_scores(metric, rows), (verb,))

    def _undecided(
        self, metric: ShownScore, rows: Sequence[int], by: str = ""
    ) -> Iterator[Finding]:
        """Say of whom the samples do not tell whether they are worse than the best."""
        if not rows:
            return
        ranked = self.ranked(metric, rows)
        words: Words = (f"{len(rows)} others",) if rows[3:] else self._with_scores(metric, rows)
        verb = " is" if len(rows) == 1 else " are"
        words = joined(("Undecided: whether ",), words, (f"{verb} tied with it or worse{by}.",))
        yield Finding("undecided", tuple(self.systems[row] for row in ranked), words)

    def _with_scores(self, metric: ShownScore, rows: Sequence[int]) -> Words:
        """Name systems, the best first, each with its score."""
        ranked = self.ranked(metric, rows)
        parts = [
            joined((named(self.systems[r]),), (f" ({self.shown(metric, r)})",)) for r in ranked
        ]
        return spoken_list(parts)

    def _by_other(self, metric: ShownScore, place: Standing) -> Words:
        verb = "is" if len(place.best) == 1 else "are"
        more = f", {len(place.tied)} tied" if place.tied else ""
        more += f", {len(place.undecided)} undecided" if place.undecided else ""
        return joined(
            (f"; by {clean(metric.view)} it {verb} ",),
            in_speech([self.systems[row] for row in place.best]),
            (f" ({self.shown(metric, place.best[0])}{more})",),
        )

    def _best(self, metric: ShownScore) -> Iterator[Finding]:
        """Say who is best by a score that is not one of closeness."""
        place = standing(self.comparison, metric)
        if place.best:
            names = [self.systems[row] for row in place.best]
            verb = " has" if len(place.best) == 1 else " share"
            text = f"{verb} the best {metric.label} ({self.shown(metric, place.best[0])})"
            words = joined(in_speech(names), (text,), self._tied(metric, place.tied), (".",))
            rows = (*place.best, *self.ranked(metric, place.tied))
            yield Finding("closest", tuple(self.systems[row] for row in rows), words)
            yield from self._undecided(metric, place.undecided)

    # -------------------------------------------------------------- who is alike

    def _groups(self) -> Iterator[Finding]:
        """Name the groups that the tests do not tell apart by closeness, the closest first."""
        lead = decisive(self.comparison)
        groups = () if lead is None else alike(self.comparison, lead)
        count = sum(map(len, groups))
        if lead is None or len(groups) == count:
            return
        by = lead.named(several=len(views_of(self.comparison.settings)) > 1)
        head = f"By {by}, the systems fall into {len(groups)} groups within which no two can be "
        if len(groups) == 1:
            head = f"By {by}, no two of the {count} systems can be "
        parts = [self._group(lead, group) for group in groups[:FEW]]
        rest = groups[FEW:]
        if rest:
            parts.append((f"{sum(map(len, rest))} in {len(rest)} more",))
        words = joined((f"{head}distinguished: ",), listed(parts, "; "), (".",))
        yield Finding("groups", tuple(self.systems[row] for row in chain(*groups)), words)

    def _group(self, metric: ShownScore, rows: Sequence[int]) -> Words:
        """Name a group: how many, what they score, and the first of them."""
        ends = list(dict.fromkeys(self.shown(metric, row) for row in (rows[0], rows[-1])))
        words = f"from {ends[0]} to {ends[1]}" if ends[1:] else f"at {ends[0]}"
        names = in_speech([self.systems[row] for row in rows], FEW)
        if not rows[1:]:
            return joined(names, (f" ({ends[0]})",))
        return joined((f"{len(rows)} {words} (",), names, (")",))

    # -------------------------------------------------------------- one system

    def _score(self) -> Iterator[Finding]:
        view = self.views[0] if self.views else ""
        lead = self.first_of(CLOSENESS, view)
        kinds = (lead, self.first_of(QUALITY, view), *self.all_of(DIVERSITY, view))
        metrics = [metric for metric in kinds if metric]
        if not metrics:
            return
        scores = ", ".join(f"{metric.label} {self.shown(metric, 0)}" for metric in metrics)
        by = f" by {clean(view)}" if len(views_of(self.comparison.settings)) > 1 else ""
        reference = named(self.comparison.reference.name)
        words = (named(self.systems[0]), " against ", reference, f"{by}: {scores}.")
        yield Finding("score", (self.systems[0],), words)

    # -------------------------------------------------------------- what is lost

    def _lost(self) -> Iterator[Finding]:
        """Say what is below the noise floor: diversity of any system, quality of a single one.

        Where no test distinguishes a system from the reference, it may be lost.
        """
        rows = [
            row
            for row in range(len(self.systems))
            if row not in (*self._collapsed_rows, *self._distant_rows)
        ]
        if len(self.systems) == 1:
            yield from self._lost_by_one() if rows else ()
            return
        lowest = {row: below[0] for row in rows if (below := self._below(row, DIVERSITY))}
        worst = sorted(lowest, key=lambda row: lowest[row].share)
        open_ = [row for row in worst if self.systems[row] in self._alike]
        sure = [row for row in worst if row not in open_]
        kinds: tuple[tuple[Kind, list[int]], ...] = (("lost", sure), ("unconfirmed", open_))
        for kind, of_kind in kinds:
            if of_kind:
                names = tuple(self.systems[row] for row in of_kind)
                words = self._losing(names, [lowest[row] for row in of_kind], kind)
                yield Finding(kind, names, words)

    @staticmethod
    def _losing(names: Sequence[str], below: Sequence[_Below], kind: Kind) -> Words:
        """Say of systems, the worst first, that they lose diversity, or that they may."""
        pairs = zip(names, below, strict=True)
        parts = [joined((named(name),), (f" ({low.words})",)) for name, low in pairs]
        sizes = {low.size for low in below[: 1 if below[3:] else 3]}
        at = f" at {sizes.pop():,} samples" if len(sizes) == 1 else ""
        floor, end = f" beyond the noise floor{at}", "."
        verb = "lose" if below[1:] else "loses"
        if kind == "unconfirmed":
            verb, floor, end = "may lose", "", f":{floor}, but {UNCONFIRMED}."
        if below[3:]:
            head = f"{len(below)} systems {verb} diversity{floor}, most of all "
            return joined((head,), parts[0], (end,))
        return joined(spoken_list(parts), (f" {verb} diversity{floor}{end}",))

    def _lost_by_one(self) -> Iterator[Finding]:
        sides = {"quality": QUALITY, "diversity": DIVERSITY}
        floors = [floor_of(scores_of(self.comparison, metric)[0]) for metric in self.metrics]
        bases = [metric.base for metric in self.metrics]
        if not any(f and b in (*QUALITY, *DIVERSITY) for f, b in zip(floors, bases, strict=True)):
            return
        several, parts, size = len(views_of(self.comparison.settings)) > 1, [], None
        for side, names in sides.items():
            below = self._below(0, names, every=True)
            if below:
                views = dict.fromkeys(clean(low.metric.view) for low in below)
                by = f" by {' and '.join(views)}" if several else ""
                parts.append(f"{side}{by} ({below[0].words})")
                size = below[0].size
        if parts:
            lost, floor = " and ".join(parts), f"beyond the noise floor at {size:,} samples"
            kind: Kind = "unconfirmed" if self._alike else "lost"
            text = f"It loses {lost} {floor}."
            if self._alike:
                text = f"It may lose {lost}: {floor}, but {UNCONFIRMED}."
            yield Finding(kind, (self.systems[0],), (text,))
        else:
            text = "It loses neither quality nor diversity beyond the noise floor."
            yield Finding("lost", (), (text,))

    def _below(self, row: int, names: Sequence[str], *, every: bool = False) -> list[_Below]:
        """Return the scores of a system that are below their noise floor, the lowest first.

        By the main view, or by `every` one; the lowest by the first of these views leads.
        """
        below = []
        for view in self.views if every else self.views[:1]:
            of_view = []
            for metric in self.all_of(names, view):
                score = self.values(metric)[row]
                floor = floor_of(score)
                if floor and not floor.inside and floor.beside < floor.value:
                    beside, value = (
                        metric.brief(score, number) for number in (floor.beside, floor.value)
                    )
                    words = f"{metric.spoken} {beside}, floor {value}"
                    of_view.append(_Below(metric, floor.beside / floor.value, words, floor.size))
            below += sorted(of_view, key=lambda low: low.share)
        return below

    # -------------------------------------------------------------- who has collapsed

    def _shares(self, row: int, names: Sequence[str]) -> tuple[float, ShownScore] | None:
        """Return the lowest score of the main view, as a share of what equal distributions reach.

        Of quality it is the first that is shown.
        """
        shown = self.all_of(names, self.views[0]) if self.views else []
        shares = [
            (share, metric)
            for metric in (shown[:1] if names is QUALITY else shown)
            if (share := self._share(row, metric)) is not None
        ]
        return min(shares, key=lambda pair: pair[0], default=None)

    def _share(self, row: int, metric: ShownScore) -> float | None:
        score = self.values(metric)[row]
        if score is None:
            return None
        floor = score.floor
        return score.value if floor is None or not floor.value else floor.beside / floor.value

    def _is_low(self, row: int, names: Sequence[str]) -> bool:
        lowest = self._shares(row, names)
        return lowest is not None and lowest[0] < COLLAPSED

    @cached_property
    def _distant_rows(self) -> list[int]:
        rows = range(len(self.systems))
        return [r for r in rows if self._is_low(r, QUALITY) and self._is_low(r, DIVERSITY)]

    @cached_property
    def _collapsed_rows(self) -> list[int]:
        return [
            row
            for row in range(len(self.systems))
            if row not in self._distant_rows
            and (self._has_lost_most(row) or self._duplicates(row) >= MOSTLY)
        ]

    def _has_lost_most(self, row: int) -> bool:
        """Whether diversity is low, and not for want of quality alone."""
        quality = self._shares(row, QUALITY)
        poor = quality is not None and quality[0] < LOW_QUALITY
        shown = self.all_of(DIVERSITY, self.views[0]) if self.views else []
        return any(
            share < COLLAPSED
            for metric in shown
            if (share := self._share(row, metric)) is not None
            and not (poor and metric.base in FALL_WITH_QUALITY)
        )

    def _duplicates(self, row: int) -> float:
        """The share of duplicates of a system beyond the reference's own; 0 where unknown."""
        checks = (self.comparison.systems[row].confounders or {}).get("duplicates") or {}
        generated, usual = checks.get("generated") or 0.0, checks.get("reference") or 0.0
        return float(generated) if generated > usual else 0.0

    def _collapsed(self) -> Iterator[Finding]:
        rows = self._collapsed_rows
        names = tuple(self.systems[row] for row in rows)
        if len(rows) == 1:
            evidence = ", and ".join(self._evidence(rows[0], whole=True))
            yield Finding("collapsed", names, (named(names[0]), f" has collapsed: {evidence}."))
        elif rows:
            worst = sorted(rows, key=self._loss)
            parts = [
                joined((named(self.systems[row]),), (f" ({', '.join(self._evidence(row))})",))
                for row in (worst[:FEW] if rows[MOST_NAMED:] else rows)
            ]
            yield Finding("collapsed", names, self._of_many(rows, parts, "have collapsed"))

    def _loss(self, row: int) -> float:
        """How little of the diversity of the reference a system keeps."""
        lowest = self._shares(row, DIVERSITY)
        return inf if lowest is None else lowest[0]

    @staticmethod
    def _of_many(rows: Sequence[int], parts: Sequence[Words], verb: str) -> Words:
        """Say something of systems, of which `parts` name all or the worst."""
        if len(parts) == len(rows):
            return joined(spoken_list(parts), (f" {verb}.",))
        return joined((f"{len(rows)} systems {verb}, most of all ",), spoken_list(parts), (".",))

    def _evidence(self, row: int, *, whole: bool = False) -> Iterator[str]:
        lowest = self._shares(row, DIVERSITY)
        if lowest:
            yield f"{lowest[1].spoken} {self.shown(lowest[1], row)}"
        duplicates = self._duplicates(row)
        if duplicates >= WORTH_SAYING:
            checks = self.comparison.systems[row].confounders or {}
            unit = checks["duplicates"].get("unit", "texts")
            yield (
                f"{share(duplicates)} of its {unit} are duplicates"
                if whole
                else (f"{share(duplicates)} duplicates")
            )

    def _distant(self) -> Iterator[Finding]:
        rows = self._distant_rows
        if not rows:
            return
        worst = sorted(rows, key=self._loss)
        parts = []
        for row in worst[:FEW] if rows[MOST_NAMED:] else rows:
            shown = [
                lowest for names in (QUALITY, DIVERSITY) if (lowest := self._shares(row, names))
            ]
            evidence = ", ".join(f"{m.spoken} {self.shown(m, row)}" for _, m in shown)
            parts.append(joined((named(self.systems[row]),), (f" ({evidence})",)))
        verb = "lies" if len(rows) == 1 else "lie"
        words = self._of_many(rows, parts, f"{verb} far from the reference")
        yield Finding("distant", tuple(self.systems[row] for row in rows), words)

    # -------------------------------------------------------------- the reference

    @cached_property
    def _tests(self) -> list[SignificanceTest]:
        """The tests against the reference that gave a p-value."""
        return [
            test
            for test in against_reference(self.comparison)
            if defined(test.adjusted_p_value) is not None
        ]

    @cached_property
    def _apart(self) -> list[str]:
        """The systems that a test distinguishes from the reference."""
        alpha = alpha_of(self.comparison)
        significant = {test.a for test in self._tests if is_significant(test, alpha)}
        return [name for name in self.systems if name in significant]

    @cached_property
    def _alike(self) -> list[str]:
        """The systems that were tested, and that no test distinguishes from the reference."""
        tested = {test.a for test in self._tests}
        return [name for name in self.systems if name in tested and name not in self._apart]

    def _distinguishable(self) -> Iterator[Finding]:
        apart, alike = self._apart, self._alike
        if not (apart or alike):
            if self.systems:
                text = "Differences from the reference were not tested."
                yield Finding("untested", tuple(self.systems), (text,))
            return
        words = self._distinguished(apart, alike, self._tests)
        yield Finding("distinguishable", tuple(apart), (*words, "."))

    def _distinguished(
        self, apart: list[str], alike: list[str], tests: Sequence[SignificanceTest]
    ) -> Words:
        if len(self.systems) == 1:
            best = min(tests, key=lambda test: test.adjusted_p_value)
            p = p_text(best.adjusted_p_value, alpha_of(self.comparison), at_limit=best.at_limit)
            verb = "clearly differs" if apart else "cannot be distinguished"
            return (f"It {verb} from the reference ({p})",)
        if not alike:
            count = len(apart)
            who = COUNTS.get(count, f"All {count}") if count == len(self.systems) else None
            subject: Words = (who,) if who else in_speech(apart)
            verb = "differ" if who or apart[1:] else "differs"
            return joined(subject, (f" clearly {verb} from the reference",))
        text = " cannot be distinguished from the reference"
        if not apart:
            return joined(in_speech(alike), (text,))
        if len(apart) > 2:
            return joined(in_speech(alike), (text, "; the others clearly differ"))
        verb = " clearly differs" if len(apart) == 1 else " clearly differ"
        return joined(in_speech(alike), (text, "; "), in_speech(apart), (verb,))


def _cautions(
    comparison: Comparison, explained: frozenset[tuple[str, str]]
) -> Iterator[BriefCaution]:
    """Return the cautions that weigh most, one of each kind, the worst first.

    What a sentence says already is left out, and so are systems that are not ranked since they
    hold only samples of the reference.
    """
    sets = [("", comparison.cautions)]
    sets += [(system.name, system.cautions) for system in comparison if not system.is_reference]
    heavy = [
        (name, caution)
        for name, cautions in sets
        for caution in cautions
        if caution.weight >= LEAST_WEIGHT and (name, caution.kind) not in explained
    ]
    heavy.sort(key=lambda pair: -pair[1].weight)
    alike = [(caution.kind, _wording(caution)) for _, caution in heavy]
    for place, same in enumerate(dict.fromkeys(alike)):
        name, caution = heavy[alike.index(same)]
        if place < MOST_CAUTIONS or caution.weight >= REVERSING:
            brief, remedy = clean(caution.brief), clean(caution.remedy)
            yield BriefCaution(name, caution.kind, brief, remedy, alike.count(same) - 1)


def _wording(caution: Caution) -> str:
    """What a caution says beside its numbers: of others only what is true of them is said."""
    return NUMBERS.sub("#", caution.brief)


def _one_sided(metric: str) -> bool:
    """Whether a key averages likelihood ratios over the samples of one side alone."""
    return any(word in POINTS.words[1:] for word in metric.split(":"))
