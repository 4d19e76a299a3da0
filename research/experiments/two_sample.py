"""Level and power of the tests that tell a system from the reference, on known distributions.

    python research/experiments/two_sample.py
    python research/experiments/two_sample.py --only news --data ../shared/data --worlds 100

Level: how often equal distributions are called different at 5 %, for several sizes, dimensions and
kinds of rows. Power: how often a moved mean, another spread, lost modes, and foreign topics among
AG News are found. Groups: what permuting groups of rows costs against permuting every row. The MMD
of every row has the kernel of median width alone: what the second width of ours is worth. It comes
from the whole matrix of the kernel in NumPy, and shares no code with ours.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import two_sample_worlds as worlds
from ag_news import DATA
from two_sample_tests import EVERY_ROW, RIDGES, TESTS, Test, plain_kernel, plain_p_value, varied

ALPHA, PERMUTATIONS = 0.05, 199
GROUPS = (1, 2, 4, 8, 16, 32, 64)

LEVEL = {
    "Gaussian, n = m = 10, d = 2": worlds.gaussians(10, 10, 2),
    "Gaussian, n = m = 100, d = 2": worlds.gaussians(100, 100, 2),
    "Gaussian, n = m = 100, d = 300": worlds.gaussians(100, 100, 300),
    "Gaussian, n = 30, m = 500, d = 20": worlds.gaussians(30, 500, 20),
    "Gaussian, n = m = 600, d = 50": worlds.gaussians(600, 600, 50),
    "Gaussian, n = 401, m = 900, d = 50": worlds.gaussians(401, 900, 50),
    "copies, n = m = 100, d = 2": worlds.lattice(100, 100, 2),
    "Cauchy, n = 100, m = 200, d = 5": worlds.heavy(100, 200, 5),
}
POWER = {
    f"{name}, n = m = {n:,}": draw(n)
    for name, draw in {
        "mean moved along axis 1": lambda n: worlds.shifted(n, 50, 0.2, 0),
        "mean moved along axis 20": lambda n: worlds.shifted(n, 50, 0.3, 19),
        "all spreads × 1.05": lambda n: worlds.stretched(n, 50, 1.05),
        "2 of 20 modes lost": lambda n: worlds.fewer_modes(n, 20, 20, 2),
    }.items()
    for n in (100, 300, 1000)
}
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1)


def p_values(
    draw: worlds.Draw, count: int, threads: int, tests: dict[str, Test]
) -> dict[str, list[float]]:
    """The p-value of every test in so many worlds."""
    found: dict[str, list[float]] = {name: [] for name in tests}
    for seed in range(count):
        x, y = draw(np.random.default_rng([7, seed]))
        for name, test in tests.items():
            found[name].append(test(x, y, PERMUTATIONS, seed, threads))
    return found


def rate(values: Iterable[float]) -> str:
    """How often a difference is found, with its standard error."""
    hits = np.array(list(values)) <= ALPHA + 1e-9
    return f"{hits.mean():.1%} ± {np.sqrt(hits.mean() * (1 - hits.mean()) / len(hits)):.1%}"


def table(
    title: str,
    draws: dict[str, worlds.Draw],
    count: int,
    threads: int,
    tests: dict[str, Test] = TESTS,
) -> None:
    """Print how often each test finds a difference in each case, as Markdown."""
    print(f"\n| {title}, {count:,} worlds | " + " | ".join(tests) + " |")
    print("| --- |" + " ---: |" * len(tests))
    for name, draw in draws.items():
        print(name, file=sys.stderr)
        found = p_values(draw, count, threads, tests)
        print(f"| {name} | " + " | ".join(rate(found[test]) for test in tests) + " |", flush=True)


def groups(count: int) -> None:
    """Print what permuting groups of rows costs in power, on the same worlds and kernels."""
    cases = {
        "equal": worlds.shifted(512, 50, 0.0, 0),
        "mean moved, n = m = 512": worlds.shifted(512, 50, 0.2, 0),
        "spreads × 1.1, n = m = 512": worlds.stretched(512, 50, 1.1),
    }
    print(f"\n| rows of a group, {count:,} worlds | " + " | ".join(map(str, GROUPS)) + " |")
    print("| --- |" + " ---: |" * len(GROUPS))
    print("| groups | " + " | ".join(str(1024 // size) for size in GROUPS) + " |")
    for name, draw in cases.items():
        print(f"groups: {name}", file=sys.stderr)
        found: list[list[float]] = [[] for _ in GROUPS]
        for seed in range(count):
            kernel = plain_kernel(*draw(np.random.default_rng([7, seed])))
            for values, size in zip(found, GROUPS, strict=True):
                values.append(plain_p_value(kernel, 512, PERMUTATIONS, seed, rows=size)[1])
        print(f"| {name} | " + " | ".join(map(rate, found)) + " |", flush=True)


def ridges(count: int, threads: int) -> None:
    """Print what the shrinkage of the classifier's covariance is worth."""
    cases = {
        "axis 1 of 50, n = m = 300": worlds.shifted(300, 50, 0.25, 0),
        "axis 20 of 50, n = m = 300": worlds.shifted(300, 50, 0.3, 19),
        "axis 1 of 300, n = m = 100": worlds.shifted(100, 300, 0.7, 0),
        "axis 20 of 300, n = m = 100": worlds.shifted(100, 300, 0.7, 19),
        "a small axis of 20, n = m = 300": worlds.small_axis(300, 20, 0.35),
    }
    print(f"\n| covariance shrunk by, {count:,} worlds | " + " | ".join(RIDGES) + " |")
    print("| --- |" + " ---: |" * len(RIDGES))
    for name, draw in cases.items():
        print(f"ridges: {name}", file=sys.stderr)
        found: dict[str, list[float]] = {rule: [] for rule in RIDGES}
        for seed in range(count):
            x, y = draw(np.random.default_rng([7, seed]))
            for rule, share in RIDGES.items():
                p = varied(x, y, PERMUTATIONS, seed, threads, share=share(x, y))
                found[rule].append(p)
        print(f"| {name} | " + " | ".join(rate(found[rule]) for rule in RIDGES) + " |", flush=True)


def on_news(folder: Path, count: int, n: int, threads: int) -> None:
    if not (folder / "ag_news" / "test.csv").is_file():
        sys.exit(f"there is no ag_news/test.csv in {folder}; name its folder with --data")
    for view, mixture in worlds.news(folder, threads).items():
        draws = {f"{share:.0%} foreign, n = m = {n:,}": mixture(share, n) for share in SHARES}
        # The whole matrix of 3,800 rows would take most of the time, and say what MMD says
        tests = {name: test for name, test in TESTS.items() if n < 1_000 or name != EVERY_ROW}
        table(f"AG News, {view}", draws, count, threads, tests)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, help="worlds per case (default: each table's own)")
    parser.add_argument(
        "--only", choices=("level", "power", "groups", "ridges", "news"), help="one table"
    )
    parser.add_argument("--data", type=Path, default=DATA, help="folder that holds ag_news/")
    parser.add_argument("--n", type=int, default=1900, help="rows of the news, at most 1900")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.worlds is not None and options.worlds < 1:
        parser.error("--worlds must be at least 1")
    if not 5 <= options.n <= 1900:
        parser.error("--n must be from 5 to 1900: half of the items of two topics")
    print(f"share of worlds with p ≤ {ALPHA:g} ± its standard error; {PERMUTATIONS} permutations")
    if options.only in (None, "level"):
        table("level", LEVEL, options.worlds or 500, options.threads)
    if options.only in (None, "power"):
        table("power", POWER, options.worlds or 200, options.threads)
    if options.only in (None, "groups"):
        groups(options.worlds or 500)
    if options.only in (None, "ridges"):
        ridges(options.worlds or 200, options.threads)
    if options.only in (None, "news"):
        on_news(options.data, options.worlds or 60, options.n, options.threads)


if __name__ == "__main__":
    main()
