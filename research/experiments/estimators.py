"""How far off each estimator of likelihood ratios is, and whether all rank systems alike.

    python research/experiments/estimators.py
    python research/experiments/estimators.py --plot estimators.svg --data ../shared/data

Two Gaussians of equal covariance, whose KL divergence is known: the error of every estimator for
n = 1,000, 4,000 and 16,000, and what the choices are worth that the paper leaves open. Mixtures of
AG News: the reference is half of the World and Sports items, the systems are the other half with 0
to 100 % replaced by Business and Science; MAUVE by every estimator, with the scaling constant c
that paper 004 (Pillutla et al., JMLR 2023, section 7.3.1) pairs with it. Thirteen decodings of an
n-gram model: the rank correlation of MAUVE by every estimator with MAUVE*, and how sure it is.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import estimators_answers as answers
import estimators_choices as choices
import estimators_decodings as decodings
import estimators_far as far
import estimators_gaussians as gaussians
import estimators_intervals as intervals
import estimators_news as mixtures
from ag_news import DATA
from calipers.report.plots import save_figure

KLS, DIMENSIONS = (0.125, 0.5), (2, 3, 5)
DRAWS = {1000: 12, 4000: 6, 16000: 3}


def gaussian_results(sizes: dict[int, int], threads: int | None) -> gaussians.Results:
    """Estimates for every divergence, dimension and size, with progress on standard error."""
    results: gaussians.Results = {}
    for kl in KLS:
        for d in DIMENSIONS:
            for n, draws in sizes.items():
                print(f"Gaussians, KL = {kl}, d = {d}, n = {n}", file=sys.stderr)
                results[kl, d, n] = [
                    gaussians.estimates(kl, d, n, seed=seed, threads=threads)
                    for seed in range(draws)
                ]
    return results


def print_gaussians(options: argparse.Namespace) -> None:
    sizes = {n: draws for n, draws in DRAWS.items() if n <= options.largest}
    results = gaussian_results(sizes, options.threads)
    print("\n".join(gaussians.table(KLS, results)))
    print("\n".join(gaussians.summary(sizes, results)))
    if options.plot:
        from estimators_plot import figure

        save_figure(figure(KLS, DIMENSIONS, list(sizes), results), options.plot)


def print_mixtures(options: argparse.Namespace) -> None:
    if not (options.data / "ag_news" / "test.csv").is_file():
        sys.exit(f"there is no ag_news/test.csv in {options.data}; name its folder with --data")
    views, labels = mixtures.embedded(options.data)
    print(f"MAUVE, mean ± sd over {options.seeds} splits\n")
    for view, vectors in views.items():
        print(f"AG News, {view}", file=sys.stderr)
        values = [
            mixtures.mauve(vectors, labels, seed=seed, threads=options.threads)
            for seed in range(options.seeds)
        ]
        print("\n".join(mixtures.table(view, np.array(values))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder that holds ag_news/")
    parser.add_argument(
        "--seeds",
        type=int,
        default=5,
        help="splits of AG News, and draws for the choices (default 5)",
    )
    parser.add_argument("--worlds", type=int, default=60, help="worlds for the intervals")
    parser.add_argument("--largest", type=int, default=16000, help="leave larger draws out")
    parser.add_argument("--plot", type=Path, help="draw the errors into this .svg, .png or .pdf")
    parser.add_argument("--threads", type=int, help="threads (default: all cores)")
    parser.add_argument(
        "--only",
        choices=("gaussians", "choices", "news", "decodings", "intervals", "far", "answers"),
        help="a part",
    )
    options = parser.parse_args()
    if options.seeds < 1 or options.largest < min(DRAWS):
        parser.error(f"--seeds must be at least 1, --largest at least {min(DRAWS)}")
    if options.only in (None, "gaussians"):
        print_gaussians(options)
    if options.only in (None, "choices"):
        print("\n".join(choices.table(options.seeds, options.threads)))
    if options.only in (None, "news"):
        print_mixtures(options)
    if options.only in (None, "decodings"):
        for line in decodings.table():
            print(line, flush=True)
    if options.only in (None, "intervals"):
        for line in intervals.table(options.worlds):
            print(line, flush=True)
    if options.only in (None, "answers"):
        for line in answers.table(options.data):
            print(line, flush=True)
    if options.only in (None, "far"):
        print("\n".join(far.table(options.worlds // 2)))


if __name__ == "__main__":
    main()
