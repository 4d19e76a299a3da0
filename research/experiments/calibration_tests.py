"""How often tests call equal systems different, and how often they find what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from calibration_cases import EQUAL, MANY, UNLIKE
from calibration_intervals import NORMAL, doubt
from calibration_store import Record, Store, Task, record_of, seed_of
from calibration_worlds import second_view
from calipers.catalogue.choosing import Choice, choose, needs_of
from calipers.metrics.pair import Pair, Settings
from calipers.uncertainty.differences import differences
from calipers.uncertainty.holm import holm
from calipers.uncertainty.replicates import spreads
from calipers.uncertainty.spread import Spread, confidence_interval

SHOWN = ("precision", "recall", "coverage", "mauve_star")
ALPHA = 0.05
SECOND = "second."
DRAWS = 1_999
Measured = tuple[dict[str, float], dict[str, Spread]]


def one_world(task: Task) -> Record:
    """p-values of all pairs of systems by every score, and which intervals leave out 0."""
    _, case, n, world = task
    kind = (EQUAL | UNLIKE | MANY)[case]
    rng = np.random.default_rng(seed_of(task))
    reference, systems = kind.draw(rng, n)
    settings = Settings(threads=1, seed=world)
    found = [measured(reference, each, settings) for each in systems]
    if kind.two_views:
        reference, *systems = (second_view(rng, each) for each in (reference, *systems))
        more = [measured(reference, each, settings) for each in systems]
        found = [
            (ours[0] | prefixed(theirs[0]), ours[1] | prefixed(theirs[1]))
            for ours, theirs in zip(found, more, strict=True)
        ]
    return record_of(task, **compared(found, paired=kind.paired))


def prefixed(scores: Mapping[str, object]) -> dict:
    """Scores by the second view."""
    return {SECOND + name: each for name, each in scores.items()}


def measured(reference: np.ndarray, generated: np.ndarray, settings: Settings) -> Measured:
    """The displayed scores of one system, and how much each moves."""
    choices = choose(SHOWN, ("rows",))
    pair = Pair(reference, generated, settings, needs_of(choice.metric for choice in choices))
    return measured_of(pair, choices)


def measured_of(pair: Pair, choices: Sequence[Choice]) -> Measured:
    """The scores of a pair, and how much each moves."""
    values = {choice.name: float(choice.score(pair).value) for choice in choices}
    return values, spreads(pair, choices)


def compared(found: Sequence[Measured], *, paired: bool) -> Record:
    """Every pair of systems by every score that both have, all of them tested together."""
    values, moved = zip(*found, strict=True)
    prompts = [0] * len(found) if paired else None
    tests = differences(values, moved, prompts=prompts, level=1 - ALPHA, draws=DRAWS)
    record: Record = {name: {key: [] for key in values[0]} for name in COLUMNS}
    for test in tests:
        ends = [
            confidence_interval(values[system][test.score], moved[system][test.score])
            for system in (test.first, test.second)
        ]
        low, high = np.maximum(*ends), np.minimum(*ends)
        for name, value in {
            "p": test.p_value,
            "adjusted": test.adjusted_p_value,
            "errors": test.standard_error,
            "outside": not test.interval[0] <= 0 <= test.interval[1],
            "disjoint": bool(low[0] > high[1]),
        }.items():
            record[name][test.score].append(value)
    return {**record, "values": {key: [each[key] for each in values] for key in values[0]}}


COLUMNS = ("p", "adjusted", "errors", "outside", "disjoint")


def measure(store: Store, part: str, cases: Sequence[str], n: int, worlds: int) -> None:
    """Measure the cases at one size."""
    for case in cases:
        store.measure([(part, case, n, number) for number in range(worlds)], one_world)


def findings(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Which tests of a world hold over the family, ``(scores, pairs)``; and by Holm instead."""
    adjusted = np.array(list(record["adjusted"].values()))
    p_values = np.array(list(record["p"].values()))
    return adjusted <= ALPHA, holm(p_values.ravel()).reshape(p_values.shape) <= ALPHA


def level_table(store: Store, part: str = "level") -> list[str]:
    """Share of worlds with any false finding, and of single tests and intervals."""
    heads = " | ".join(f"{name}, p ≤ {ALPHA:g}" for name in SHOWN)
    lines = ["", f"| equal scores | n | worlds | any, max-T | any, Holm | {heads} |"]
    lines[0:2] = ["", lines[1] + " intervals without 0 |"]
    lines += ["| --- |" + " ---: |" * (len(SHOWN) + 5)]
    for case, n in sorted(store.cases(part), key=lambda each: list(EQUAL).index(each[0])):
        records = store.of(part, case, n)
        any_of = np.mean([[each.any() for each in findings(record)] for record in records], axis=0)
        single = [np.mean([np.less_equal(r["p"][name], ALPHA) for r in records]) for name in SHOWN]
        outside = np.mean([r["outside"][name] for r in records for name in SHOWN])
        cells = " | ".join(f"{share:.3f}" for share in single)
        lines.append(
            f"| {case} | {n:,} | {len(records):,} | {any_of[0]:.3f} ± "
            f"{doubt(any_of[0], len(records)):.3f} | {any_of[1]:.3f} | {cells} | {outside:.3f} |"
        )
    return lines


def many_table(store: Store, part: str = "many") -> list[str]:
    """Many systems by two views: any false finding, what is found, and what contradicts itself.

    An oracle knows the standard deviation of every difference and makes a single test; one for the
    family knows which tests there are and corrects for them by Bonferroni.
    """
    lines = ["", "| systems | n | worlds | tests | any false, max-T | any false, Holm |"]
    lines[-1] += " disjoint intervals, undecided |"
    lines += ["| --- |" + " ---: |" * 6]
    power = ["", "| systems | n | score | found by max-T | Holm | oracle | oracle, Bonferroni |"]
    power += ["| --- | ---: | --- |" + " ---: |" * 4]
    for case, n in store.cases(part):
        records, kind = store.of(part, case, n), MANY[case]
        pairs = list(combinations(range(len(next(iter(records[0]["values"].values())))), 2))
        groups = kind.groups or (0,) * (pairs[-1][1] + 1)
        equal = np.array([groups[a] == groups[b] for a, b in pairs])
        found = np.array([findings(record) for record in records])  # world, way, score, pair
        false = found[..., equal].any(axis=(2, 3)).mean(axis=0)
        apart = np.array([list(record["disjoint"].values()) for record in records])
        undecided = float((apart & ~found[:, 0]).mean())
        keys = list(records[0]["p"])
        tests = len(keys) * len(pairs)
        lines.append(
            f"| {case} | {n:,} | {len(records):,} | {tests} | {false[0]:.3f} ± "
            f"{doubt(false[0], len(records)):.3f} | {false[1]:.3f} | {undecided:.4f} |"
        )
        if not equal.all():
            power += _found(records, keys, pairs, ~equal, found, case, n, tests)
    return [*lines, *(power if len(power) > 3 else [])]


def _found(
    records: Sequence[Record],
    keys: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    unlike: np.ndarray,
    found: np.ndarray,
    case: str,
    n: int,
    tests: int,
) -> Iterable[str]:
    from scipy.special import ndtri

    far = -float(ndtri(ALPHA / 2 / tests))
    for place, key in enumerate(keys):
        values = np.array([record["values"][key] for record in records])
        gaps = np.array([values[:, a] - values[:, b] for a, b in pairs])[unlike]
        z = np.abs(gaps) / gaps.std(axis=1, ddof=1)[:, None]
        ours, theirs = found[:, :, place][:, :, unlike].mean(axis=(0, 2))
        yield (
            f"| {case} | {n:,} | {key} | {ours:.2f} | {theirs:.2f} | {np.mean(z > NORMAL):.2f} | "
            f"{np.mean(z > far):.2f} |"
        )


def power_table(store: Store, part: str = "power") -> list[str]:
    """How often a difference is found, against a test that knows the standard deviation."""
    lines = ["", "| two systems | score | n | worlds | difference | sd | SE / sd |"]
    lines[-1] += " found | corrected | oracle |"
    lines += ["| --- | --- |" + " ---: |" * 8]
    cases = store.cases(part)
    for case in UNLIKE:
        for place, name in enumerate(SHOWN):
            for n in (size for each, size in cases if each == case):
                lines.append(_power(store.of(part, case, n), case, n, name, place))
    return lines


def _power(records: Sequence[Record], case: str, n: int, name: str, place: int) -> str:
    gaps = np.array([record["values"][name][0] - record["values"][name][1] for record in records])
    sd = gaps.std(ddof=1)
    ratio = np.sqrt(np.mean([record["errors"][name][0] ** 2 for record in records])) / sd
    found = float(np.mean([record["p"][name][0] <= ALPHA for record in records]))
    adjusted = float(np.mean([findings(record)[0][place, 0] for record in records]))
    oracle = float(np.mean(np.abs(gaps) > NORMAL * sd))
    return (
        f"| {case} | {name} | {n:,} | {len(records):,} | {gaps.mean():+.4f} | {sd:.4f} | "
        f"{ratio:.2f} | {found:.2f} ± {doubt(found, len(records)):.2f} | {adjusted:.2f} | "
        f"{oracle:.2f} |"
    )
