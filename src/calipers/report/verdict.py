"""A comparison as data ──► its verdict: the few sentences that a person reads first.

Who is closest to the reference, who has collapsed, who cannot be distinguished from it, and the one
or two cautions that could change that. Terminal, JSON, Python and page all take it from here. Every
sentence rests on numbers, tests and noise floors that the comparison holds; where nothing was
tested, it says so.

Closeness is read from the first score of the gap that is shown (:data:`CLOSENESS`), quality and
diversity from precision and recall where these are shown. A system is called the most diverse only
where its coverage agrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, Literal

from calipers.catalogue.shown import views_of
from calipers.report.inference import (
    ALIKE,
    EQUAL,
    OPEN,
    UNTESTED,
    against_reference,
    all_marks,
    alpha_of,
    floor_of,
    is_tested,
)
from calipers.report.names import clean
from calipers.report.numbers import is_share, leaders_of, p_text, share
from calipers.report.shown import TEXT, Metric, named, scores_of, shown_metrics
from calipers.report.table import BEST, Data, Name, Words, said

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

COLLAPSED = 0.25
"""A share of what equal distributions reach; a lower recall is a collapse."""
MOSTLY = 0.5
"""Where more of the samples than this are duplicates, the system has collapsed too."""
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
    "closest", "score", "collapsed", "distant", "lost", "distinguishable", "untested", "withheld"
]
NEAR = (ALIKE, EQUAL, OPEN)
"""Marks of systems that are not significantly worse than the best."""
UNREAD_REMEDY = (
    "Choose an embedder that reads these texts (--embedder), or compare their characters "
    "(calipers text)."
)
MOST_REASONS = 2
"""Sentences about what was not read."""
COUNTS = {2: "Both", 3: "All three"}


@dataclass(frozen=True, repr=False)
class Finding:
    """One sentence of a verdict.

    Attributes
    ----------
    kind
        What it says: who is ``"closest"``, what a single system scores (``"score"``), who has
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
        """The system closest to the reference, and those within chance of it."""
        return self._of("closest")

    @property
    def collapsed(self) -> tuple[str, ...]:
        """The systems that have lost most of the reference's diversity."""
        return self._of("collapsed")

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
            "collapsed": list(self.collapsed),
            "distinguishable": list(self.distinguishable),
            "withheld": list(self.withheld),
            "cautions": [vars(caution).copy() for caution in self.cautions],
        }

    def __str__(self) -> str:
        warned = [f"! {caution}" for caution in self.cautions]
        return "\n".join((*self.sentences, *warned))

    def _of(self, kind: Kind) -> tuple[str, ...]:
        return tuple(name for f in self.findings if f.kind == kind for name in f.systems)


def verdict(data: Data) -> Verdict:
    """Say in a few sentences what a comparison found.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` gives.
    """
    left_out, read = _unread(data)
    judged = _Judged(read)
    findings = (*left_out, *(judged.findings() if judged.systems else ()))
    told = {(name, "unread") for finding in left_out for name in finding.systems}
    return Verdict(findings, tuple(_cautions(data, judged.explained | told)))


def _unread(data: Data) -> tuple[tuple[Finding, ...], Data]:
    """Say of which systems no verdict is given, those of one reason together; give the others."""
    reasons: dict[str, list[str]] = {}
    systems = data.get("systems", ())
    for system in systems:
        if system.get("withheld"):
            reasons.setdefault(system["withheld"], []).append(system["name"])
    if len(reasons) > MOST_REASONS:
        (first, *_), names = reasons, [name for own in reasons.values() for name in own]
        reasons = {f"of the first, {first}; the others likewise": names}
    findings = tuple(
        Finding(
            "withheld",
            tuple(names),
            joined(("No verdict on ",), _names(names), (f": {reason}. {UNREAD_REMEDY}",)),
        )
        for reason, names in reasons.items()
    )
    read = [system for system in systems if not system.get("withheld")]
    return findings, {**data, "systems": read}


def furthest_first(data: Data) -> list[int]:
    """Order the systems by how far they are from the reference by the first view, furthest first.

    Systems without a value come last, in their order; so do all where nothing ranks them.
    """
    judged, rows = _Judged(data), list(range(len(data.get("systems", ()))))
    lead = judged.first_of(CLOSENESS, judged.views[0]) if judged.views else None
    if lead is None:
        return rows
    sign = 1 if lead.direction == "higher" else -1
    values = [(score or {}).get("value") for score in scores_of(data, lead)]
    ranks = [inf if value is None else sign * float(value) for value in values]
    return sorted(rows, key=ranks.__getitem__)


@dataclass(frozen=True)
class _Judged:
    """A comparison, and what its sentences rest on."""

    data: Data

    def findings(self) -> Iterator[Finding]:
        """Give the sentences."""
        if len(self.systems) > 1:
            yield from self._closest()
        elif self.systems:
            yield from self._score()
        yield from self._collapsed()
        yield from self._distant()
        if len(self.systems) == 1:
            yield from self._lost()
        yield from self._distinguishable()

    @cached_property
    def systems(self) -> list[str]:
        """The names of the systems."""
        return [system["name"] for system in self.data.get("systems", ())]

    @cached_property
    def metrics(self) -> list[Metric]:
        """What is shown of embeddings and has a value for some system."""
        shown = shown_metrics(self.data)
        return [m for m in shown if m.view != TEXT and any(self.values(m))]

    @cached_property
    def explained(self) -> frozenset[tuple[str, str]]:
        """What the sentences say already, as the system and the kind of its caution."""
        return frozenset((self.systems[row], "duplicates") for row in self._collapsed_rows)

    def values(self, metric: Metric) -> list[Data | None]:
        """The scores by a metric that have a value."""
        found = scores_of(self.data, metric)
        return [s if s and s.get("value") is not None else None for s in found]

    def shown(self, metric: Metric, row: int) -> str:
        """Write the score of a system, as a sentence does."""
        score = scores_of(self.data, metric)[row]
        return brief_text(metric, score, (score or {}).get("value"))

    def first_of(self, names: Sequence[str], view: str) -> Metric | None:
        """The first of several metrics that is shown by a view."""
        own = {m.metric.partition(":")[0]: m for m in self.metrics if m.view == view}
        return next((own[name] for name in names if name in own), None)

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
        first, *others = (self._leaders(lead) for lead in leads)
        if not first:
            return
        several = len(views_of(self.data)) > 1
        same = all(found == first for found in others)
        reference = named(self.data["reference"]["name"])
        verb = " is closest to " if len(first[0]) == 1 else " are closest to "
        by = f" by {clean(leads[0].view)}" if several and not same else ""
        words = joined(
            _names([self.systems[row] for row in first[0]]),
            (verb, reference, by, f" ({self._scored(leads if same else leads[:1], first[0][0])})"),
            self._praise(first[0]) if len(first[0]) == 1 else (),
            self._within_chance(leads[0], first[1]),
            self._untested(leads[0]),
        )
        if not same:
            for lead, found in zip(leads[1:], others, strict=True):
                if found and found != first:
                    words = joined(words, self._by_other(lead, found))
        if not is_tested(self.data):
            words = (*words, ", untested")
        names = tuple(self.systems[row] for row in (*first[0], *first[1]))
        yield Finding("closest", names, (*words, "."))

    def _scored(self, leads: Sequence[Metric], row: int) -> str:
        """Write the closeness of a system by every view."""
        first, *others = leads
        text = f"{first.label} {self.shown(first, row)}"
        if not others:
            return text
        more = (f"{self.shown(lead, row)} by {clean(lead.view)}" for lead in others)
        return ", ".join([f"{text} by {clean(first.view)}", *more])

    def _leaders(self, metric: Metric) -> tuple[list[int], list[int]] | tuple[()]:
        """Give the best by a score, and those within chance of it; nothing without any."""
        best = leaders_of(scores_of(self.data, metric), metric.direction)
        if not best:
            return ()
        marks = all_marks(self.data, [metric])[0]
        near = [r for r, mark in enumerate(marks) if mark in NEAR and r not in best]
        return best, sorted(near, key=lambda row: self._rank(metric, row))

    def _rank(self, metric: Metric, row: int) -> float:
        """What sorts the systems by a score, the best first."""
        score = scores_of(self.data, metric)[row] or {}
        value = score.get("gap" if metric.direction == "closest" else "value")
        return inf if value is None else -value if metric.direction == "higher" else value

    def _praise(self, rows: Sequence[int]) -> Words:
        """Say whether the closest system is also the best in quality and diversity."""
        praised = {
            "best in quality": self.first_of(QUALITY, self.views[0]),
            "the most diverse": self.first_of(DIVERSITY, self.views[0]),
        }
        found = [
            what
            for what, metric in praised.items()
            if metric
            and self._is_clearly_best(metric, rows[0])
            and (what != "the most diverse" or self._covers_most(rows[0]))
        ]
        return (f", {', '.join(found)}",) if found[1:] else (f" and {found[0]}",) if found else ()

    def _covers_most(self, row: int) -> bool:
        """Whether no other system has a higher coverage, where that was measured.

        Samples of a worse generator can raise recall, but not coverage.
        """
        if not self.views or self.views[0] != next(iter(views_of(self.data))):
            return True
        found = [s.get("scores", {}).get("coverage") for s in self.data["systems"]]
        values = [score.get("value") for score in found if score]
        known = [value for value in values if value is not None]
        return len(known) < len(found) or known[row] == max(known)

    def _is_clearly_best(self, metric: Metric, row: int) -> bool:
        """Whether a system is the best, and no other is within chance of it."""
        marks = all_marks(self.data, [metric])[0]
        clear = is_tested(self.data) and marks[row] == BEST
        return clear and not any(mark in NEAR for mark in marks)

    def _untested(self, metric: Metric) -> Words:
        marks = all_marks(self.data, [metric])[0]
        rows = [row for row, mark in enumerate(marks) if mark == UNTESTED]
        if not rows:
            return ()
        verb = " was" if len(rows) == 1 else " were"
        text = f"{verb} not tested against it"
        return joined(("; ",), _names([self.systems[row] for row in rows]), (text,))

    def _within_chance(self, metric: Metric, rows: Sequence[int]) -> Words:
        if not rows:
            return ()
        if rows[3:]:
            return (f"; {len(rows)} others are within chance of it",)
        parts = [joined((named(self.systems[r]),), (f" ({self.shown(metric, r)})",)) for r in rows]
        verb = " is within chance of it" if len(rows) == 1 else " are within chance of it"
        return joined(("; ",), _listed(parts), (verb,))

    def _by_other(self, metric: Metric, found: tuple[list[int], list[int]]) -> Words:
        best, near = found
        verb = "is" if len(best) == 1 else "are"
        more = f", {len(near)} within chance" if near else ""
        return joined(
            (f"; by {clean(metric.view)} it {verb} ",),
            _names([self.systems[row] for row in best]),
            (f" ({self.shown(metric, best[0])}{more})",),
        )

    def _best(self, metric: Metric) -> Iterator[Finding]:
        """Say who is best by a score that is not one of closeness."""
        found = self._leaders(metric)
        if found:
            best, near = found
            names = [self.systems[row] for row in best]
            verb = " has" if len(best) == 1 else " share"
            text = f"{verb} the best {metric.label} ({self.shown(metric, best[0])})"
            chance = self._within_chance(metric, near)
            words = joined(_names(names), (text,), chance, (".",))
            yield Finding("closest", tuple(self.systems[row] for row in (*best, *near)), words)

    # -------------------------------------------------------------- one system

    def _score(self) -> Iterator[Finding]:
        view = self.views[0] if self.views else ""
        lead = self.first_of(CLOSENESS, view)
        kinds = (lead, self.first_of(QUALITY, view), self.first_of(DIVERSITY, view))
        found = [metric for metric in kinds if metric]
        if not found:
            return
        scores = ", ".join(f"{metric.label} {self.shown(metric, 0)}" for metric in found)
        by = f" by {clean(view)}" if len(views_of(self.data)) > 1 else ""
        reference = named(self.data["reference"]["name"])
        words = (named(self.systems[0]), " against ", reference, f"{by}: {scores}.")
        yield Finding("score", (self.systems[0],), words)

    def _lost(self) -> Iterator[Finding]:
        """Say whether quality or diversity of the one system is below the noise floor."""
        lost: dict[str, list[str]] = {"quality": [], "diversity": []}
        measured = False
        for metric in self.metrics:
            base = metric.metric.partition(":")[0]
            side = "quality" if base in QUALITY else "diversity" if base in DIVERSITY else ""
            floor = floor_of(scores_of(self.data, metric)[0])
            if side and floor:
                measured = True
                if not floor["inside"] and floor["beside"] < floor["value"]:
                    lost[side].append(metric.view)
        if not measured or self._collapsed_rows or self._distant_rows:
            return
        several = len(views_of(self.data)) > 1
        parts = []
        for side, found in lost.items():
            by = f" by {' and '.join(map(clean, dict.fromkeys(found)))}" if several else ""
            parts += [f"{side}{by}"] if found else []
        text = f"loses {' and '.join(parts)} beyond the noise floor" if parts else ""
        text = text or "loses neither quality nor diversity beyond the noise floor"
        yield Finding("lost", (self.systems[0],), (f"It {text}.",))

    # -------------------------------------------------------------- who has collapsed

    def _shares(self, row: int, names: Sequence[str]) -> tuple[float, Metric] | None:
        """Give a score of the main view as a share of what equal distributions reach."""
        metric = self.first_of(names, self.views[0]) if self.views else None
        score = self.values(metric)[row] if metric else None
        if metric is None or score is None:
            return None
        floor = floor_of(score)
        if floor and floor["value"]:
            return floor["beside"] / floor["value"], metric
        return score["value"], metric

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
            and (self._is_low(row, DIVERSITY) or self._duplicates(row) >= MOSTLY)
        ]

    def _duplicates(self, row: int) -> float:
        """The share of duplicates of a system beyond the reference's own; 0 where unknown."""
        checks = self.data["systems"][row].get("confounders") or {}
        found = checks.get("duplicates") or {}
        own, usual = found.get("generated") or 0.0, found.get("reference") or 0.0
        return float(own) if own > usual else 0.0

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
            yield f"{found[1].label.lower()} {self.shown(found[1], row)}"
        duplicates = self._duplicates(row)
        if duplicates >= WORTH_SAYING:
            unit = self.data["systems"][row]["confounders"]["duplicates"].get("unit", "texts")
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
            evidence = ", ".join(f"{m.label.lower()} {self.shown(m, row)}" for _, m in shown)
            parts.append(joined((named(self.systems[row]),), (f" ({evidence})",)))
        verb = " lies" if len(rows) == 1 else " lie"
        words = joined(_listed(parts), (f"{verb} far from the reference.",))
        yield Finding("distant", tuple(self.systems[row] for row in rows), words)

    # -------------------------------------------------------------- the reference

    def _distinguishable(self) -> Iterator[Finding]:
        tests = [t for t in against_reference(self.data) if t["adjusted_p_value"] is not None]
        names = [name for name in self.systems if any(t["a"] == name for t in tests)]
        if not names:
            if self.systems:
                text = "Whether the samples are distinguishable from the reference was not tested."
                yield Finding("untested", tuple(self.systems), (text,))
            return
        alpha = alpha_of(self.data)
        apart = [
            n for n in names if any(t["a"] == n and t["adjusted_p_value"] < alpha for t in tests)
        ]
        alike = [name for name in names if name not in apart]
        yield Finding("distinguishable", tuple(apart), (*self._told(apart, alike, tests), "."))

    def _told(self, apart: list[str], alike: list[str], tests: Sequence[Data]) -> Words:
        if len(self.systems) == 1:
            best = min(tests, key=lambda test: test["adjusted_p_value"])
            p = p_text(
                best["adjusted_p_value"], alpha_of(self.data), at_limit=bool(best.get("at_limit"))
            )
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


def brief_text(metric: Metric, score: Data | None, value: float | None, decimals: int = 2) -> str:
    """Write a value with the few digits that a first look needs."""
    if score is None or value is None:
        return metric.write(None)
    if is_share(score):
        return f"{value:.{decimals}f}"
    return metric.write({**score, "value": value})


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


def _cautions(data: Data, explained: frozenset[tuple[str, str]]) -> Iterator[BriefCaution]:
    """Give the cautions that weigh most, one of each kind, the worst first.

    What a sentence says already is left out.
    """
    sets: list[tuple[str, Mapping[str, Any]]] = [("", data)]
    sets += [(system["name"], system) for system in data.get("systems", ())]
    found = [
        (caution["weight"], name, caution)
        for name, row in sets
        for caution in row.get("cautions") or ()
        if caution["weight"] >= LEAST_WEIGHT and (name, caution["kind"]) not in explained
    ]
    found.sort(key=lambda each: -each[0])
    kinds = [caution["kind"] for _, _, caution in found]
    for place, kind in enumerate(dict.fromkeys(kinds)):
        weight, name, caution = found[kinds.index(kind)]
        if place < MOST_CAUTIONS or weight >= REVERSING or kind in ALWAYS:
            brief, remedy = (clean(caution.get(key) or "") for key in ("brief", "remedy"))
            yield BriefCaution(name, kind, brief, remedy, kinds.count(kind) - 1)
