"""How often the noise floor calls an equal system another, what it finds, and where scores lead.

    python research/experiments/noise_floor.py
    python research/experiments/noise_floor.py --worlds 10 --quick

Rates: in each world reference and system are fresh draws of one distribution, Gaussian rows or
items of AG News by the view form, and the share of worlds is given in which the system lies outside
its floor, by score; 0.05 is what the margin allows. Foreign: the reference is 1,900 items of three
topics of AG News; a share of the system's 1,900 items is of the fourth. Limits: Gaussian rows whose
scores with 32,000 samples, and as many cells as n has, are held against what `advise` extrapolates.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ag_news import DATA, SCIENCE, news
from calipers.catalogue.choosing import Choice, choose
from calipers.catalogue.settings import Settings
from calipers.commands.embed.run import embed
from calipers.evaluate.advice import advise
from calipers.evaluate.embedding import Embedded, embed_sides, open_embedder
from calipers.evaluate.inputs import ComparisonInputs, comparison_inputs
from calipers.evaluate.noise_floor import Floors, measure_floors
from calipers.evaluate.scoring import score_rows
from calipers.numeric.threads import limit_threads
from calipers.options.comparison import CompareOptions
from calipers.progress import Silent

NAMES = (
    "precision recall density coverage mauve_star frontier_integral_star prd_f8 frechet_distance"
)
METRICS = (*NAMES.split(), "energy_distance")
SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)
ITEMS = 1_900
LIMITS = ("precision", "recall", "coverage", "mauve_star", "frontier_integral_star", "prd_f8")
LIMITS += ("frechet_distance", "energy_distance")
Draw = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Run:
    """Both sides of one world, ready to be scored."""

    inputs: ComparisonInputs
    embedded: Embedded
    choices: tuple[Choice, ...]
    settings: Settings

    @classmethod
    def of(
        cls,
        reference: np.ndarray,
        systems: Mapping[str, np.ndarray],
        seed: int,
        metrics: tuple[str, ...] = METRICS,
    ) -> Run:
        inputs = comparison_inputs(
            reference, dict(systems), CompareOptions(), keep_sizes=True, seed=seed
        )
        model = open_embedder(CompareOptions(), inputs.sets)
        embedded = embed_sides(inputs, model, None, Silent())
        return cls(inputs, embedded, choose(metrics, model.views), Settings(seed=seed))

    @property
    def floors(self) -> Floors:
        return measure_floors(self.inputs, self.embedded, self.choices, self.settings, Silent())


def gaussian(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_normal((n, 8)) + 1


def rates(draw: Draw, n: int, m: int, worlds: int) -> np.ndarray:
    """Share of worlds in which an equal system is outside, for every score."""
    found = []
    for world in range(worlds):
        rows = draw(np.random.default_rng([world, n, m]), n + m)
        floors = Run.of(rows[:n], {"equal": rows[n:]}, world).floors.of["equal"]
        found.append([not floors[name].inside for name in METRICS])
    return np.mean(found, axis=0)


def foreign(rows: np.ndarray, topics: np.ndarray, seed: int) -> dict[str, dict[float, float]]:
    """By score and share of foreign items: the difference to the floor, in units of its margin."""
    rng = np.random.default_rng(seed)
    own, others = (
        rng.permutation(np.flatnonzero(mask)) for mask in (topics != SCIENCE, topics == SCIENCE)
    )
    reference, rest = own[:ITEMS], own[ITEMS:]
    systems = {}
    for share in SHARES:
        count = round(share * ITEMS)
        systems[str(share)] = rows[np.r_[others[:count], rest[: ITEMS - count]]]
    of = Run.of(rows[reference], systems, seed).floors.of
    return {
        name: {
            share: (of[str(share)][name].beside - of[str(share)][name].value)
            / of[str(share)][name].margin
            for share in SHARES
        }
        for name in METRICS
    }


def shifted(rng: np.random.Generator, n: int, d: int, shift: float) -> tuple[np.ndarray, ...]:
    scale = 1.0 if shift == 0 else 0.8
    moved = rng.standard_normal((n, d)) * scale + shift / np.sqrt(d)
    return rng.standard_normal((n, d)) + 2, moved + 2


def limits(n: int, d: int, shift: float, worlds: int, many: int) -> None:
    """Print what n samples score, what that leads to, and what many samples score."""
    found = []
    for world in range(worlds):
        left, right = shifted(np.random.default_rng([world, d]), n, d, shift)
        run = Run.of(left, {"system": right}, world, LIMITS)
        advice = advise(run.inputs, run.embedded, run.choices, run.settings, Silent(), shown=LIMITS)
        found.append([(each.values[-1], each.limit, *others(each.values)) for each in advice])
    left, right = shifted(np.random.default_rng([9, d]), many, d, shift)
    run = Run.of(left, {"system": right}, 0, LIMITS)
    sides = (run.embedded.reference, np.arange(many)), (run.embedded.systems[0][0], np.arange(many))
    truth = score_rows(*sides, run.choices, Settings(buckets=n // 10))
    print(f"\nn = {n:,}, d = {d}, shift {shift}: {many:,} samples; then what is off by how much:")
    print("n itself; the limit; by 1/√n; by a free exponent (each with its share that is NaN)")
    values = np.array(found)
    for place, name in enumerate(LIMITS):
        off = values[:, place] - truth[name].value
        missing = np.isnan(off).mean(axis=0)
        with warnings.catch_warnings(action="ignore"):  # all of them may be NaN
            cells = zip(np.nanmean(off, axis=0), np.nanstd(off, axis=0), missing, strict=True)
        told = "  ".join(f"{mean:+.3f} ± {sd:.3f} ({share:.2f})" for mean, sd, share in cells)
        print(f"  {name:23} {truth[name].value:7.3f}  {told}", flush=True)


def others(values: tuple[float, ...]) -> tuple[float, float]:
    """The limit if the error falls like 1/√n, and if it falls like the last steps do."""
    middle, last = np.diff(values)[-2:]
    ratio = last / middle if middle else np.nan
    free = values[-1] + last * ratio / (1 - ratio) if 0 < ratio < 2**-0.25 else np.nan
    return values[-1] + last / (np.sqrt(2) - 1), float(free)


def print_rates(title: str, found: np.ndarray) -> None:
    cells = "  ".join(f"{name} {rate:.3f}" for name, rate in zip(METRICS, found, strict=True))
    print(f"{title}: {cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="few samples, and no texts")
    options = parser.parse_args()
    sizes = [(100, 100)] if options.quick else [(500, 500), (1_000, 1_000), (1_000, 500)]
    with limit_threads(options.threads):
        for n, m in sizes:
            print_rates(f"Gaussian, {n:,} and {m:,}", rates(gaussian, n, m, options.worlds))
        few = max(4, options.worlds // 10)
        n, many = (160, 1_600) if options.quick else (1_000, 32_000)
        for d, shift in ((2, 0.0), (4, 1.0)):
            limits(n, d, shift, few, many)
        if not options.quick:
            with_news(options.worlds)


def with_news(worlds: int) -> None:
    """The same for texts, and what the floor finds."""
    by_topic = news(DATA)
    topics = np.repeat(list(by_topic), [len(texts) for texts in by_topic.values()])
    texts = [text for each in by_topic.values() for text in each]
    views = embed(texts).embeddings.views
    form = views["form"]

    def draw(rng: np.random.Generator, count: int) -> np.ndarray:
        return form[rng.permutation(len(form))[:count]]

    print_rates("AG News by form, 1,000 and 1,000", rates(draw, 1_000, 1_000, worlds))
    print("\nShares of foreign items: difference to the floor / margin, mean of 4 draws")
    found = [foreign(views["meaning"], topics, seed) for seed in range(4)]
    for name in METRICS:
        cells = (np.mean([each[name][share] for each in found]) for share in SHARES)
        print(f"  {name:23}", "  ".join(f"{cell:+.2f}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
