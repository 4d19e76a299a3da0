"""What tests and the noise floor say of real texts, of which a known share is foreign.

The reference is 1,900 items of World, Sports and Business, a clean system another 1,900 of them,
and the others 1,900 that are left, a share of them replaced by items of Science and Technology.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from ag_news import SCIENCE
from calibration_intervals import NORMAL, doubt
from calibration_store import Record, Store, Task, record_of, seed_of
from calibration_tests import ALPHA, SHOWN, compared, findings, measured_of
from calipers.catalogue.choosing import choose, needs_of
from calipers.evaluate.spaces import pair_of
from calipers.metrics.pair import Settings
from calipers.numeric.threads import limit_threads
from calipers.uncertainty.sample_size import separating_n
from calipers.uncertainty.two_sample_classifier import classifier_test
from calipers.uncertainty.two_sample_mmd import mmd_test
from estimators_news import embedded
from noise_floor import Run

Rows = np.ndarray
VIEW, ITEMS, CLEAN = "meaning", 1_900, "clean"
SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)
PERMUTATIONS = 999


@cache
def vectors(folder: Path) -> tuple[Rows, Rows]:
    """Vectors of all items by the view meaning, and the topic of each."""
    views, labels = embedded(folder)
    return views[VIEW], labels


def drawn(labels: Rows, rng: np.random.Generator) -> tuple[Rows, dict[str, Rows]]:
    """Rows of the reference and of the systems, the clean one first; no row in two roles."""
    own = rng.permutation(np.flatnonzero(labels != SCIENCE))
    foreign = rng.permutation(np.flatnonzero(labels == SCIENCE))
    reference, clean, rest = own[:ITEMS], own[ITEMS : 2 * ITEMS], own[2 * ITEMS :]
    systems = {CLEAN: clean}
    for share in SHARES:
        count = round(share * ITEMS)
        systems[f"{share:.0%}"] = np.r_[foreign[:count], rest[: ITEMS - count]]
    return reference, systems


def one_world(task: Task, *, folder: Path) -> Record:
    """All tests and floors of one draw of the items."""
    rows, labels = vectors(folder)
    reference, systems = drawn(labels, np.random.default_rng(seed_of(task)))
    sets = {name: rows[chosen] for name, chosen in systems.items()}
    with limit_threads(1):
        return record_of(task, **found(rows[reference], sets, seed=task[3]))


def found(reference: Rows, systems: Mapping[str, Rows], *, seed: int) -> Record:
    """Against the clean system by every score; against the reference; and against its halves."""
    settings = Settings(threads=1, seed=seed)
    choices = choose(SHOWN, ("rows",))
    needs = needs_of(choice.metric for choice in choices)
    pairs = {
        name: pair_of(reference, generated, settings, needs) for name, generated in systems.items()
    }
    scored = {name: measured_of(pair, choices) for name, pair in pairs.items()}
    apart = {
        name: compared([scored[CLEAN], scored[name]], paired=False)
        for name in systems
        if name != CLEAN
    }
    tests = {
        name: [
            test(*pair.projected, permutations=PERMUTATIONS, seed=seed, threads=1).p_value
            for test in (mmd_test, classifier_test)
        ]
        for name, pair in pairs.items()
    }
    run = Run.of(reference, systems, seed, SHOWN)
    floors = replace(run, settings=settings).floors.of
    outside = {
        name: {score: not floor.inside for score, floor in scores.items()}
        for name, scores in floors.items()
    }
    return {"apart": apart, "tests": tests, "outside": outside}


def measure(store: Store, folder: Path, worlds: int) -> None:
    """Measure so many draws."""
    tasks = [("texts", f"AG News, {VIEW}", ITEMS, number) for number in range(worlds)]
    store.measure(tasks, partial(one_world, folder=folder))


def table(store: Store) -> list[str]:
    """How often each share is found, by every test."""
    lines: list[str] = []
    for case, n in store.cases("texts"):
        records = store.of("texts", case, n)
        lines += ["", f"{case}, n = m = {n:,}, {len(records)} draws: share of draws"]
        lines += ["", "| | foreign | " + " | ".join((*SHOWN, "any")) + " |"]
        lines += ["| --- | ---: |" + " ---: |" * (len(SHOWN) + 1)]
        names = list(records[0]["apart"])
        lines += [_row("differs from the clean system", name, _apart, records) for name in names]
        lines += [
            _row("outside the noise floor", name, _outside, records) for name in (CLEAN, *names)
        ]
        lines += ["", "| foreign | MMD test against the reference | classifier test |"]
        lines += ["| ---: | ---: | ---: |"]
        lines += [_told(name, records) for name in (CLEAN, *names)]
        lines += _needed(names, records)
    return lines


def _apart(record: Record, name: str) -> list[bool]:
    return [bool(each) for each in findings(record["apart"][name])[0][:, 0]]


def _outside(record: Record, name: str) -> list[bool]:
    return [record["outside"][name][score] for score in SHOWN]


def _row(title: str, name: str, of: object, records: Sequence[Record]) -> str:
    hits = np.array([of(record, name) for record in records])  # type: ignore[operator]
    shares = [*hits.mean(axis=0), hits.any(axis=1).mean()]
    return f"| {title} | {name} | " + " | ".join(f"{share:.2f}" for share in shares) + " |"


def _told(name: str, records: Sequence[Record]) -> str:
    hits = np.mean([np.less_equal(record["tests"][name], ALPHA) for record in records], axis=0)
    cells = " | ".join(f"{share:.2f} ± {doubt(share, len(records)):.2f}" for share in hits)
    return f"| {name} | {cells} |"


def _needed(names: Sequence[str], records: Sequence[Record]) -> list[str]:
    """How many samples would tell the systems from the clean one, by what one draw shows."""
    lines = ["", "| foreign: samples to tell it from the clean system, median | "]
    lines[-1] += " | ".join(SHOWN) + " |"
    lines += ["| ---: |" + " ---: |" * len(SHOWN)]
    for name in names:
        cells = []
        for score in SHOWN:
            each = [record["apart"][name] for record in records]
            sizes = [_size(one["values"][score], one["errors"][score][0]) for one in each]
            cells.append(f"{np.median(sizes):,.0f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def _size(values: Sequence[float], error: float) -> float:
    """The sizes that there are where the difference is found at them."""
    if abs(values[0] - values[1]) >= NORMAL * error:
        return ITEMS
    return separating_n(values[0] - values[1], error, ITEMS) or np.inf
