"""A comparison ──► its verdict: the few sentences that a person reads first.

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
from math import inf
from typing import Any, Literal

from calipers.catalogue.estimation import POINTS
from calipers.catalogue.shown import views_of
from calipers.report.inference import (
    against_reference,
    alpha_of,
    floor_of,
    is_significant,
    is_tested,
)
from calipers.report.names import clean
from calipers.report.numbers import defined, gap_of, is_share, p_text, share, value_of
from calipers.report.shown import TEXT, Metric, named, scores_of, shown_metrics
from calipers.report.standing import Standing, standing
from calipers.report.table import Name, Words, said
from calipers.results.caution import Caution
from calipers.results.comparison import Comparison, SignificanceTest
from calipers.score import Score

CLOSENESS = (
    "mauve_star",
    "mauve",
    "frontier_integral_star",
    "frontier_integral",
    "midpoint_star",
    "midpoint",
    "divergence_star",
    "divergence",
    "total_variation",
    "mauve_ot",
    "frechet_distance",
    "mmd",
    "kid",
    "energy_distance",
)
"""Scores of the gap between the distributions, the one to speak of first."""

QUALITY = ("precision", "clipped_density", "cover_precision", "topp", "probabilistic_precision")
DIVERSITY = ("recall", "coverage", "clipped_coverage", "cover_recall", "topr")
"""Shares between 0 and 1, higher better, the one to speak of first."""
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
ALWAYS = ("same_file",)
"""Kinds of cautions that are shown whatever others there are: the scores speak of nothing else."""

Kind = Literal[
    "closest",
    "undecided",
    "score",
    "collapsed",
    "distant",
    "lost",
    "distinguishable",
    "untested",
    "withheld",
]
UNREAD_REMEDY = (
    "Choose an embedder that reads these texts (--embedder), or compare their characters "
    "(calipers text)."
)
MOST_REASONS = 2
"""Sentences about what was not read."""
COUNTS = {2: "Both", 3: "All three"}
NUMBERS = re.compile(r"\ball\b|(?:\bunder )?\d[\d.,]*(?: %)?")


@dataclass(frozen=True, repr=False)
class Finding:
    """One sentence of a verdict.

    Attributes
    ----------
    kind
        What it says: who is ``"closest"``, of whom that is ``"undecided"``, what a single system
        scores (``"score"``), who has
        ``"collapsed"`` or lies ``"distant"`` from the reference, what is ``"lost"`` beyond the
        noise floor, who is ``"distinguishable"`` from the reference, that this is ``"untested"``,
        or of whom no verdict is given (``"withheld"``), since too little of the texts was read.
    systems
        The names of those that it is about.
    words
        The sentence, with the names set apart.
    """

    kind: Kind
    systems: tuple[str, ...]
    words: Words

    def __str__(self) -> str:
        return said(self.words)

    def __repr__(self) -> str:
        return f"Finding({self.kind!r}, {str(self)!r})"


@dataclass(frozen=True, repr=False)
class BriefCaution:
    """A caution in a few words.

    Attributes
    ----------
    system
        The system that it is about; empty for all of them.
    kind, brief, remedy
        As of :class:`~calipers.results.caution.Caution`.
    others
        How many systems more have a caution of this kind.
    """

    system: str
    kind: str
    brief: str
    remedy: str = ""
    others: int = 0

    def __repr__(self) -> str:
        return f"BriefCaution({self.kind!r}, {str(self)!r})"

    @property
    def words(self) -> Words:
        """What is shown of it."""
        brief = f"{self.brief} ({self.remedy})" if self.remedy else self.brief
        brief += f"; {self.others} more likewise" if self.others else ""
        return (named(self.system), f": {brief}") if self.system else (brief,)

    def __str__(self) -> str:
        return said(self.words)


@dataclass(frozen=True)
class Verdict:
    """What a comparison found, in the few sentences that a person reads first; print it.

    Attributes
    ----------
    findings
        The sentences, in their order.
    cautions
        What could change them: the two that weigh most, and every other that could reverse them.
    """

    findings: tuple[Finding, ...]
    cautions: tuple[BriefCaution, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings as plain text."""
        return tuple(map(str, self.findings))

    @property
    def closest(self) -> tuple[str, ...]:
        """The system closest to the reference, and those tied with it."""
        return self._of("closest")

    @property
    def undecided(self) -> tuple[str, ...]:
        """The systems of which the samples do not tell whether they are as close."""
        return self._of("undecided")

    @property
    def collapsed(self) -> tuple[str, ...]:
        """The systems that have lost most of the reference's diversity."""
        return self._of("collapsed")

    @property
    def lost(self) -> tuple[str, ...]:
        """The systems that lose diversity, or a single one quality, beyond the noise floor.

        Those that have collapsed or lie far from the reference are not named again.
        """
        return self._of("lost")

    @property
    def distinguishable(self) -> tuple[str, ...]:
        """The systems that the tests distinguish from the reference."""
        return self._of("distinguishable")

    @property
    def withheld(self) -> tuple[str, ...]:
        """The systems of which no verdict is given, since too little of the texts was read."""
        return self._of("withheld")

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; beside the sentences stand names of systems."""
        return {
            "sentences": list(self.sentences),
            "closest": list(self.closest),
            "undecided": list(self.undecided),
            "collapsed": list(self.collapsed),
            "lost": list(self.lost),
            "distinguishable": list(self.distinguishable),
            "withheld": list(self.withheld),
            "cautions": [vars(caution).copy() for caution in self.cautions],
        }

    def __str__(self) -> str:
        warned = [f"! {caution}" for caution in self.cautions]
        return "\n".join((*self.sentences, *warned))

    def _of(self, kind: Kind) -> tuple[str, ...]:
        return tuple(name for f in self.findings if f.kind == kind for name in f.systems)


def verdict(comparison: Comparison) -> Verdict:
    """Say in a few sentences what a comparison found.

    Parameters
    ----------
    comparison
        What was measured and tested.
    """
    withheld = tuple(_withheld(comparison))
    judged = _Judged(_readable(comparison))
    findings = (*withheld, *(judged.findings() if judged.systems else ()))
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
        reasons = {f"of the first, {first}; the others likewise": names}
    for reason, names in reasons.items():
        words = joined(("No verdict on ",), _names(names), (f": {reason}. {UNREAD_REMEDY}",))
        yield Finding("withheld", tuple(names), words)


def _readable(comparison: Comparison) -> Comparison:
    """Leave out the systems of which no verdict is given."""
    if not any(system.withheld for system in comparison.systems):
        return comparison
    read = tuple(system for system in comparison.systems if not system.withheld)
    return replace(comparison, systems=read)


def decisive(comparison: Comparison) -> Metric | None:
    """Give the score by which the verdict and ``tune`` say who is best; None where there is none.

    It is the first score of the gap that is shown by the main view, else the first that ranks.
    """
    judged = _Judged(comparison)
    lead = judged.first_of(CLOSENESS, judged.views[0]) if judged.views else None
    return lead or next((metric for metric in judged.metrics if metric.direction), None)


def furthest_first(comparison: Comparison) -> list[int]:
    """Order the systems by how far they are from the reference by the first view, furthest first.

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

    metric: Metric
    share: float
    words: str
    size: int


@dataclass(frozen=True)
class _Judged:
    """A comparison, and what its sentences rest on."""

    comparison: Comparison

    def findings(self) -> Iterator[Finding]:
        """Give the sentences."""
        if len(self.systems) > 1:
            yield from self._closest()
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
    def metrics(self) -> list[Metric]:
        """What is shown of embeddings and has a value for some system."""
        shown = shown_metrics(self.comparison)
        return [
            metric
            for metric in shown
            if metric.view != TEXT and any(score is not None for score in self.values(metric))
        ]

    @cached_property
    def explained(self) -> frozenset[tuple[str, str]]:
        """What the sentences say already, as the system and the kind of its caution."""
        return frozenset((self.systems[row], "duplicates") for row in self._collapsed_rows)

    def values(self, metric: Metric) -> list[Score | None]:
        """The scores by a metric that have a value."""
        scores = scores_of(self.comparison, metric)
        return [None if value_of(score) is None else score for score in scores]

    def shown(self, metric: Metric, row: int) -> str:
        """Write the score of a system, as a sentence does."""
        score = scores_of(self.comparison, metric)[row]
        return brief_text(metric, score, value_of(score))

    def first_of(self, names: Sequence[str], view: str) -> Metric | None:
        """The first of several metrics that is shown by a view.

        Of one with several options the first that was asked for, and one that averages over a
        single side, as the papers do, only where there is no other.
        """
        own: dict[str, Metric] = {}
        for metric in sorted(self.metrics, key=lambda each: _one_sided(each.metric)):
            if metric.view == view:
                own.setdefault(metric.metric.partition(":")[0], metric)
        return next((own[name] for name in names if name in own), None)

    def all_of(self, names: Sequence[str], view: str) -> list[Metric]:
        """Those of several metrics that are shown by a view, the one to speak of first before."""
        own = {m.metric.partition(":")[0]: m for m in self.metrics if m.view == view}
        return [own[name] for name in names if name in own]

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
            _names([self.systems[row] for row in first.best]),
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
            for lead, found in zip(leads[1:], others, strict=True):
                if found.best and (found.best, found.tied) != (first.best, first.tied):
                    words = joined(words, self._by_other(lead, found))
        if not is_tested(self.comparison):
            words = (*words, ", untested")
        rows = (*first.best, *self.ranked(leads[0], first.tied))
        yield Finding("closest", tuple(self.systems[row] for row in rows), (*words, "."))
        yield from self._undecided(
            leads[0], first.undecided, f" by {clean(leads[0].view)}" if several else ""
        )

    def _scored(self, leads: Sequence[Metric], row: int) -> str:
        """Write the closeness of a system by every view."""
        first, *others = leads
        text = f"{first.label} {self.shown(first, row)}"
        if not others:
            return text
        more = (f"{self.shown(lead, row)} by {clean(lead.view)}" for lead in others)
        return ", ".join([f"{text} by {clean(first.view)}", *more])

    def ranked(self, metric: Metric, rows: Sequence[int]) -> list[int]:
        """Sort systems by a score, the best first."""
        return sorted(rows, key=lambda row: self._rank(metric, row))

    def _rank(self, metric: Metric, row: int) -> float:
        """What sorts the systems by a score, the best first."""
        score = scores_of(self.comparison, metric)[row]
        value = gap_of(score) if metric.direction == "closest" else value_of(score)
        if value is None:
            return inf
        return -value if metric.direction == "higher" else value

    def _praise(self, row: int) -> Words:
        """Say whether the closest system is also the best in quality and diversity."""
        quality = self.all_of(QUALITY, self.views[0])[:1]
        found = ["best in quality"] if any(self._is_clearly_best(m, row) for m in quality) else []
        if self._is_most_diverse(row):
            found.append("the most diverse")
        return (f", {', '.join(found)}",) if found[1:] else (f" and {found[0]}",) if found else ()

    def _is_most_diverse(self, row: int) -> bool:
        """Whether a system is clearly the best by a score of diversity, and worse by none."""
        shown = self.all_of(DIVERSITY, self.views[0])
        clear = any(self._is_clearly_best(metric, row) for metric in shown)
        return clear and not any(self._is_worse(metric, row) for metric in shown)

    def _is_worse(self, metric: Metric, row: int) -> bool:
        found = standing(self.comparison, metric)
        return row in (*found.worse, *found.undecided)

    def _is_clearly_best(self, metric: Metric, row: int) -> bool:
        """Whether a system is the best, and all others are significantly worse."""
        found = standing(self.comparison, metric)
        return found.best == (row,) and found.is_clear

    def _untested(self, found: Standing) -> Words:
        if not found.untested or not is_tested(self.comparison):
            return ()
        verb = " was" if len(found.untested) == 1 else " were"
        text = f"{verb} not tested against it"
        return joined(("; ",), _names([self.systems[row] for row in found.untested]), (text,))

    def _tied(self, metric: Metric, rows: Sequence[int]) -> Words:
        if not rows:
            return ()
        if rows[3:]:
            return (f"; {len(rows)} others are tied with it",)
        verb = " is tied with it" if len(rows) == 1 else " are tied with it"
        return joined(("; ",), self._with_scores(metric, rows), (verb,))

    def _undecided(self, metric: Metric, rows: Sequence[int], by: str = "") -> Iterator[Finding]:
        """Say of whom the samples do not tell whether they are worse than the best."""
        if not rows:
            return
        ranked = self.ranked(metric, rows)
        words: Words = (f"{len(rows)} others",) if rows[3:] else self._with_scores(metric, rows)
        verb = " is" if len(rows) == 1 else " are"
        words = joined(("Undecided: whether ",), words, (f"{verb} tied with it or worse{by}.",))
        yield Finding("undecided", tuple(self.systems[row] for row in ranked), words)

    def _with_scores(self, metric: Metric, rows: Sequence[int]) -> Words:
        """Name systems, the best first, each with its score."""
        ranked = self.ranked(metric, rows)
        parts = [
            joined((named(self.systems[r]),), (f" ({self.shown(metric, r)})",)) for r in ranked
        ]
        return _listed(parts)

    def _by_other(self, metric: Metric, found: Standing) -> Words:
        verb = "is" if len(found.best) == 1 else "are"
        more = f", {len(found.tied)} tied" if found.tied else ""
        more += f", {len(found.undecided)} undecided" if found.undecided else ""
        return joined(
            (f"; by {clean(metric.view)} it {verb} ",),
            _names([self.systems[row] for row in found.best]),
            (f" ({self.shown(metric, found.best[0])}{more})",),
        )

    def _best(self, metric: Metric) -> Iterator[Finding]:
        """Say who is best by a score that is not one of closeness."""
        found = standing(self.comparison, metric)
        if found.best:
            names = [self.systems[row] for row in found.best]
            verb = " has" if len(found.best) == 1 else " share"
            text = f"{verb} the best {metric.label} ({self.shown(metric, found.best[0])})"
            words = joined(_names(names), (text,), self._tied(metric, found.tied), (".",))
            rows = (*found.best, *self.ranked(metric, found.tied))
            yield Finding("closest", tuple(self.systems[row] for row in rows), words)
            yield from self._undecided(metric, found.undecided)

    # -------------------------------------------------------------- one system

    def _score(self) -> Iterator[Finding]:
        view = self.views[0] if self.views else ""
        lead = self.first_of(CLOSENESS, view)
        kinds = (lead, self.first_of(QUALITY, view), *self.all_of(DIVERSITY, view))
        found = [metric for metric in kinds if metric]
        if not found:
            return
        scores = ", ".join(f"{metric.label} {self.shown(metric, 0)}" for metric in found)
        by = f" by {clean(view)}" if len(views_of(self.comparison.settings)) > 1 else ""
        reference = named(self.comparison.reference.name)
        words = (named(self.systems[0]), " against ", reference, f"{by}: {scores}.")
        yield Finding("score", (self.systems[0],), words)

    # -------------------------------------------------------------- what is lost

    def _lost(self) -> Iterator[Finding]:
        """Say what is below the noise floor: diversity of any system, quality of a single one."""
        rows = [
            row
            for row in range(len(self.systems))
            if row not in (*self._collapsed_rows, *self._distant_rows)
        ]
        if len(self.systems) == 1:
            yield from self._lost_by_one() if rows else ()
            return
        found = {row: below[0] for row in rows if (below := self._below(row, DIVERSITY))}
        worst = sorted(found, key=lambda row: found[row].share)
        if not worst:
            return
        parts = [joined((named(self.systems[r]),), (f" ({found[r].words})",)) for r in worst]
        sizes = {found[row].size for row in worst[: 1 if worst[3:] else 3]}
        at = f" at {sizes.pop():,} samples" if len(sizes) == 1 else ""
        text = f"diversity beyond the noise floor{at}"
        if worst[3:]:
            words = joined((f"{len(worst)} systems lose {text}, most of all ",), parts[0])
        else:
            words = joined(_listed(parts), (f" {'lose' if worst[1:] else 'loses'} {text}",))
        yield Finding("lost", tuple(self.systems[row] for row in worst), (*words, "."))

    def _lost_by_one(self) -> Iterator[Finding]:
        sides = {"quality": QUALITY, "diversity": DIVERSITY}
        floors = [floor_of(scores_of(self.comparison, metric)[0]) for metric in self.metrics]
        bases = [metric.metric.partition(":")[0] for metric in self.metrics]
        if not any(f and b in (*QUALITY, *DIVERSITY) for f, b in zip(floors, bases, strict=True)):
            return
        several, parts, size = len(views_of(self.comparison.settings)) > 1, [], None
        for side, names in sides.items():
            found = self._below(0, names, every=True)
            if found:
                views = dict.fromkeys(clean(each.metric.view) for each in found)
                by = f" by {' and '.join(views)}" if several else ""
                parts.append(f"{side}{by} ({found[0].words})")
                size = found[0].size
        if parts:
            text = f"It loses {' and '.join(parts)} beyond the noise floor at {size:,} samples."
            yield Finding("lost", (self.systems[0],), (text,))
        else:
            text = "It loses neither quality nor diversity beyond the noise floor."
            yield Finding("lost", (), (text,))

    def _below(self, row: int, names: Sequence[str], *, every: bool = False) -> list[_Below]:
        """Give the scores of a system that are below their noise floor, the lowest first.

        By the main view, or by `every` one; the lowest by the first of these views leads.
        """
        found = []
        for view in self.views if every else self.views[:1]:
            own = []
            for metric in self.all_of(names, view):
                score = self.values(metric)[row]
                floor = floor_of(score)
                if floor and not floor.inside and floor.beside < floor.value:
                    beside, value = (
                        brief_text(metric, score, number) for number in (floor.beside, floor.value)
                    )
                    words = f"{metric.spoken} {beside}, floor {value}"
                    own.append(_Below(metric, floor.beside / floor.value, words, floor.size))
            found += sorted(own, key=lambda each: each.share)
        return found

    # -------------------------------------------------------------- who has collapsed

    def _shares(self, row: int, names: Sequence[str]) -> tuple[float, Metric] | None:
        """Give the lowest score of the main view, as a share of what equal distributions reach.

        Of quality it is the first that is shown.
        """
        shown = self.all_of(names, self.views[0]) if self.views else []
        found = [
            (share, metric)
            for metric in (shown[:1] if names is QUALITY else shown)
            if (share := self._share(row, metric)) is not None
        ]
        return min(found, key=lambda each: each[0], default=None)

    def _share(self, row: int, metric: Metric) -> float | None:
        score = self.values(metric)[row]
        if score is None:
            return None
        floor = score.floor
        return score.value if floor is None or not floor.value else floor.beside / floor.value

    def _is_low(self, row: int, names: Sequence[str]) -> bool:
        found = self._shares(row, names)
        return found is not None and found[0] < COLLAPSED

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
            and not (poor and metric.metric.partition(":")[0] in FALL_WITH_QUALITY)
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
            parts = [
                joined((named(name),), (f" ({', '.join(self._evidence(row))})",))
                for name, row in zip(names, rows, strict=True)
            ]
            yield Finding("collapsed", names, joined(_listed(parts), (" have collapsed.",)))

    def _evidence(self, row: int, *, whole: bool = False) -> Iterator[str]:
        found = self._shares(row, DIVERSITY)
        if found:
            yield f"{found[1].spoken} {self.shown(found[1], row)}"
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
        parts = []
        for row in rows:
            shown = [found for names in (QUALITY, DIVERSITY) if (found := self._shares(row, names))]
            evidence = ", ".join(f"{m.spoken} {self.shown(m, row)}" for _, m in shown)
            parts.append(joined((named(self.systems[row]),), (f" ({evidence})",)))
        verb = " lies" if len(rows) == 1 else " lie"
        words = joined(_listed(parts), (f"{verb} far from the reference.",))
        yield Finding("distant", tuple(self.systems[row] for row in rows), words)

    # -------------------------------------------------------------- the reference

    def _distinguishable(self) -> Iterator[Finding]:
        tests = [
            test
            for test in against_reference(self.comparison)
            if defined(test.adjusted_p_value) is not None
        ]
        names = [name for name in self.systems if any(test.a == name for test in tests)]
        if not names:
            if self.systems:
                text = "Whether the samples are distinguishable from the reference was not tested."
                yield Finding("untested", tuple(self.systems), (text,))
            return
        alpha = alpha_of(self.comparison)
        significant = {test.a for test in tests if is_significant(test, alpha)}
        apart = [name for name in names if name in significant]
        alike = [name for name in names if name not in apart]
        yield Finding("distinguishable", tuple(apart), (*self._told(apart, alike, tests), "."))

    def _told(self, apart: list[str], alike: list[str], tests: Sequence[SignificanceTest]) -> Words:
        if len(self.systems) == 1:
            best = min(tests, key=lambda test: test.adjusted_p_value)
            p = p_text(best.adjusted_p_value, alpha_of(self.comparison), at_limit=best.at_limit)
            verb = "is" if apart else "is not"
            return (f"It {verb} distinguishable from the reference ({p})",)
        if not alike:
            count = len(apart)
            who = COUNTS.get(count, f"All {count}") if count == len(self.systems) else None
            subject: Words = (who,) if who else _names(apart)
            verb = " are" if who or apart[1:] else " is"
            return joined(subject, (f"{verb} distinguishable from the reference",))
        verb = " is" if len(alike) == 1 else " are"
        text = f"{verb} not distinguishable from the reference"
        if not apart:
            return joined(_names(alike), (text,))
        if len(apart) > 2:
            return joined(_names(alike), (text, "; the others are"))
        other = " is" if len(apart) == 1 else " are"
        return joined(_names(alike), (text, "; "), _names(apart), (other,))


def brief_text(metric: Metric, score: Score | None, value: float | None, decimals: int = 2) -> str:
    """Write a value with the few digits that a first look needs."""
    if score is None or value is None:
        return metric.write(None)
    if is_share(score):
        return f"{value:.{decimals}f}"
    return metric.write(replace(score, value=value))


def joined(*parts: Words) -> Words:
    """Put a sentence together of its parts."""
    return tuple(word for part in parts for word in part)


def _names(names: Sequence[str], most: int = 4) -> Words:
    parts = [(named(name),) for name in names[:most]]
    rest = len(names) - most
    return _listed([*parts, *([(f"{rest} more",)] if rest > 0 else [])])


def _listed(parts: Sequence[Words | tuple[Name]]) -> Words:
    """Join parts as in speech."""
    made: list[str | Name] = []
    for place, part in enumerate(parts):
        if place:
            made.append(" and " if place == len(parts) - 1 else ", ")
        made += part
    return tuple(made)


def _cautions(
    comparison: Comparison, explained: frozenset[tuple[str, str]]
) -> Iterator[BriefCaution]:
    """Give the cautions that weigh most, one of each kind, the worst first.

    What a sentence says already is left out.
    """
    sets = [("", comparison.cautions)]
    sets += [(system.name, system.cautions) for system in comparison.systems]
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
        if place < MOST_CAUTIONS or caution.weight >= REVERSING or caution.kind in ALWAYS:
            brief, remedy = clean(caution.brief), clean(caution.remedy)
            yield BriefCaution(name, caution.kind, brief, remedy, alike.count(same) - 1)


def _wording(caution: Caution) -> str:
    """What a caution says beside its numbers: of others only what is true of them is said."""
    return NUMBERS.sub("#", caution.brief)


def _one_sided(metric: str) -> bool:
    """Whether a key averages likelihood ratios over the samples of one side alone."""
    return any(word in POINTS.words[1:] for word in metric.split(":"))
