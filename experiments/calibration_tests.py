"""How often tests call equal systems different, and how often they find what differs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from calibration_cases import EQUAL, UNLIKE
from calibration_intervals import NORMAL, doubt
from calibration_store import Record, Store, Task, record_of, seed_of
from calipers.metrics.catalogue import choose, needs_of
from calipers.metrics.pair import Pair, Settings
from calipers.uncertainty.differences import Shuffles, difference
from calipers.uncertainty.holm import holm
from calipers.uncertainty.replicates import spreads
from calipers.uncertainty.spread import Component, Spread

SHOWN = ("precision", "recall", "coverage", "mauve_star")
ALPHA = 0.05
SHUFFLES = Shuffles(0)
Measured = tuple[dict[str, float], dict[str, Spread]]


def one_world(task: Task) -> Record:
    """p-values of all pairs of systems by every score, and which intervals leave out 0."""
    _, case, n, world = task
    kind = (EQUAL | UNLIKE)[case]
    reference, systems = kind.draw(np.random.default_rng(seed_of(task)), n)
    settings = Settings(threads=1, seed=world)
    found = [measured(reference, each, settings) for each in systems]
    kept = [{name: plain(spread) for name, spread in spreads.items()} for _, spreads in found]
    return record_of(task, **compared(found, kind.paired), kept=kept)


def again(record: Record) -> Record:
    """The same with the tests as they are now, from what was kept of the replicates."""
    values = [
        dict(zip(SHOWN, each, strict=True)) for each in zip(*record["values"].values(), strict=True)
    ]
    spreads = [{name: spread_of(kept[name]) for name in SHOWN} for kept in record["kept"]]
    found = list(zip(values, spreads, strict=True))
    return {**record, **compared(found, (EQUAL | UNLIKE)[record["case"]].paired)}


def plain(spread: Spread) -> Record:
    """A spread as lists, of six digits."""
    parts = [
        (part.source, [float(f"{each:.6g}") for each in part.deviations])
        for part in spread.components
    ]
    return {"parts": parts, "crossed": float(f"{spread.crossed:.6g}")}


def spread_of(kept: Record) -> Spread:
    parts = tuple(Component(source, np.array(each)) for source, each in kept["parts"])
    return Spread(parts, crossed=kept["crossed"])


def measured(reference: np.ndarray, generated: np.ndarray, settings: Settings) -> Measured:
    """The displayed scores of one system, and how much each moves."""
    choices = choose(SHOWN, ("rows",))
    pair = Pair(reference, generated, settings, needs_of(choice.metric for choice in choices))
    values = {choice.name: float(choice.score(pair).value) for choice in choices}
    return values, spreads(pair, choices, tested=SHOWN)


def compared(found: Sequence[Measured], paired: bool) -> Record:
    """Every pair of systems by every score that both have."""
    p_values: dict[str, list[float]] = {name: [] for name in SHOWN}
    outside: dict[str, list[bool]] = {name: [] for name in SHOWN}
    errors: dict[str, list[float]] = {name: [] for name in SHOWN}
    for (ours, our_spreads), (theirs, their_spreads) in combinations(found, 2):
        for name in SHOWN:
            apart = difference(
                our_spreads[name],
                their_spreads[name],
                (ours[name], theirs[name]),
                paired=paired,
                level=1 - ALPHA,
                shuffles=SHUFFLES,
            )
            p_values[name].append(apart.p_value)
            errors[name].append(apart.standard_error)
            outside[name].append(not apart.interval[0] <= 0 <= apart.interval[1])
    values = {name: [values[name] for values, _ in found] for name in SHOWN}
    return {"values": values, "p": p_values, "outside": outside, "errors": errors}


def measure(store: Store, part: str, cases: Sequence[str], n: int, worlds: int) -> None:
    """Measure the cases at one size."""
    for case in cases:
        store.measure([(part, case, n, number) for number in range(worlds)], one_world)


def false_findings(record: Record) -> np.ndarray:
    """Which tests of a world hold after Holm, shape ``(scores, pairs)``."""
    p_values = np.array([record["p"][name] for name in SHOWN])
    return (holm(p_values.ravel()) <= ALPHA).reshape(p_values.shape)


def level_table(store: Store, part: str = "level") -> list[str]:
    """Share of worlds with any false finding, and of single tests and intervals."""
    heads = " | ".join(f"{name}, p ≤ {ALPHA:g}" for name in SHOWN)
    lines = ["", f"| equal scores | n | worlds | any after Holm | {heads} | intervals without 0 |"]
    lines += ["| --- |" + " ---: |" * (len(SHOWN) + 4)]
    for case, n in sorted(store.cases(part), key=lambda each: list(EQUAL).index(each[0])):
        records = store.of(part, case, n)
        any_of = float(np.mean([false_findings(record).any() for record in records]))
        single = [np.mean([np.less_equal(r["p"][name], ALPHA) for r in records]) for name in SHOWN]
        outside = np.mean([r["outside"][name] for r in records for name in SHOWN])
        cells = " | ".join(f"{share:.3f}" for share in single)
        lines.append(
            f"| {case} | {n:,} | {len(records):,} | {any_of:.3f} ± "
            f"{doubt(any_of, len(records)):.3f} | {cells} | {outside:.3f} |"
        )
    return lines


def power_table(store: Store, part: str = "power") -> list[str]:
    """How often a difference is found, against a test that knows the standard deviation."""
    lines = ["", "| two systems | score | n | worlds | difference | sd | SE / sd |"]
    lines[-1] += " found | after Holm | oracle |"
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
    adjusted = float(np.mean([false_findings(record)[place, 0] for record in records]))
    oracle = float(np.mean(np.abs(gaps) > NORMAL * sd))
    return (
        f"| {case} | {name} | {n:,} | {len(records):,} | {gaps.mean():+.4f} | {sd:.4f} | "
        f"{ratio:.2f} | {found:.2f} ± {doubt(found, len(records)):.2f} | {adjusted:.2f} | "
        f"{oracle:.2f} |"
    )
