"""Dropped and invented modes of real images: which metrics can tell them apart.

    python research/experiments/digits_modes.py
    python research/experiments/digits_modes.py --plot docs/images/digits_modes.png
    python research/experiments/digits_modes.py --write digits/

The experiment of figure 5 of "Assessing Generative Models via Precision and Recall" (Sajjadi et
al., NeurIPS 2018, section 4.1), on the 1,797 handwritten digits that come with scikit-learn, 8 × 8
pixels, as they are. The reference holds the digits 0 to 4; Q1 to Q10 hold the first one to ten
digits: Q1 to Q4 drop modes, Q5 has the right ones, Q6 to Q10 invent some. No image is in both the
reference and a Q; all sets have one size, and as many images of each digit as of the next, or one
more. Every trial divides the images anew, from the seed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calipers import PrecisionRecallCurve, metrics
from calipers.curves.precision_recall import mean_curve
from calipers.embedders import load_embedder

IN_REFERENCE = 5
SYSTEMS = tuple(f"Q{modes}" for modes in range(1, 11))
SIZE = 120
Rows = np.ndarray


@dataclass(frozen=True)
class Trial:
    """One division of the images: rows of the reference, and of Q1 to Q10."""

    reference: Rows
    generated: dict[str, Rows]


@dataclass(frozen=True)
class Found:
    """What one Q scores in one trial."""

    values: dict[str, float]
    curve: PrecisionRecallCurve


METRICS: dict[str, Callable[[Rows, Rows], float]] = {
    "frechet_distance": lambda p, q: float(metrics.frechet_distance(p, q)),
    "precision": lambda p, q: float(metrics.precision_recall(p, q).precision),
    "recall": lambda p, q: float(metrics.precision_recall(p, q).recall),
    "coverage": lambda p, q: float(metrics.density_coverage(p, q).coverage),
}


def digits() -> tuple[list[np.ndarray], Rows]:
    """Give the images, uint8 of shape (8, 8, 3), and which digit each one is."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    grey = np.round(pixels * (255 / 16)).astype(np.uint8).reshape(-1, 8, 8)
    return [np.repeat(image[:, :, None], 3, axis=2) for image in grey], labels


def divide(labels: Rows, size: int, rng: np.random.Generator) -> Trial:
    """Draw the reference and Q1 to Q10, all of one size."""
    shuffled = rng.permutation(len(labels))
    by_digit = [shuffled[labels[shuffled] == digit] for digit in range(10)]
    shares = shared(size, IN_REFERENCE)
    taken = [*shares, *[0] * (10 - IN_REFERENCE)]
    left = [rows[count:] for rows, count in zip(by_digit, taken, strict=True)]
    return Trial(
        np.concatenate([rows[:count] for rows, count in zip(by_digit, shares, strict=False)]),
        {name: first_modes(left, size, modes) for modes, name in enumerate(SYSTEMS, start=1)},
    )


def first_modes(by_digit: Sequence[Rows], size: int, modes: int) -> Rows:
    """Take `size` rows of the first digits, as evenly as can be."""
    counts = shared(size, modes)
    return np.concatenate([rows[:n] for rows, n in zip(by_digit, counts, strict=False)])


def shared(size: int, parts: int) -> list[int]:
    return [size // parts + (part < size % parts) for part in range(parts)]


def measure(vectors: np.ndarray, trial: Trial, *, seed: int) -> dict[str, Found]:
    """Score Q1 to Q10 against the reference."""
    return {
        name: score(vectors[trial.reference], vectors[rows], seed)
        for name, rows in trial.generated.items()
    }


def score(reference: np.ndarray, generated: np.ndarray, seed: int) -> Found:
    prd = metrics.prd(reference, generated, seed=seed)
    values = {name: metric(reference, generated) for name, metric in METRICS.items()}
    values |= {"prd_f1_8": float(prd.f1_8), "prd_f8": float(prd.f8)}
    return Found(values, prd.curve)


def run(*, size: int, trials: int, seed: int) -> list[dict[str, Found]]:
    """Divide the images and score all Q, again and again."""
    images, labels = digits()
    vectors = load_embedder("pixels").embed(images).views["pixels"]
    return [
        measure(vectors, divide(labels, size, np.random.default_rng([seed, trial])), seed=trial)
        for trial in range(trials)
    ]


def curves(results: Sequence[dict[str, Found]]) -> dict[str, PrecisionRecallCurve]:
    """Average the curves of each Q over the trials."""
    return {name: mean_curve([trial[name].curve for trial in results]) for name in SYSTEMS}


def column(results: Sequence[dict[str, Found]], metric: str, name: str) -> np.ndarray:
    """All values of one metric for one Q."""
    return np.array([trial[name].values[metric] for trial in results])


def table(results: Sequence[dict[str, Found]]) -> Iterator[str]:
    """Markdown: mean ± standard deviation over the trials."""
    names = list(results[0][SYSTEMS[0]].values)
    yield "| digits | " + " | ".join(names) + " |"
    yield "| --- |" + " ---: |" * len(names)
    for system in SYSTEMS:
        last = int(system[1:]) - 1
        what = "0" if last == 0 else f"0–{last}"
        cells = [_cell(column(results, name, system)) for name in names]
        yield f"| {system}: {what} | " + " | ".join(cells) + " |"


def _cell(values: np.ndarray) -> str:
    return f"{values.mean():.2f} ± {values.std(ddof=1) if len(values) > 1 else 0.0:.2f}"


def write(folder: Path, *, size: int, seed: int) -> None:
    """Keep the images of the first trial as PNG files: reference/ and Q1/ to Q10/."""
    from PIL import Image

    images, labels = digits()
    trial = divide(labels, size, np.random.default_rng([seed, 0]))
    for name, rows in {"reference": trial.reference, **trial.generated}.items():
        (folder / name).mkdir(parents=True)
        for row in rows:
            Image.fromarray(images[row]).save(folder / name / f"{row:04}.png")


def main() -> None:
    options = arguments()
    if options.write:
        write(options.write, size=options.size, seed=options.seed)
        return
    results = run(size=options.size, trials=options.trials, seed=options.seed)
    print(f"n = m = {options.size}, mean ± standard deviation over {options.trials} trials\n")
    print("\n".join(table(results)))
    if options.plot:
        from calipers.report.plots import save_figure
        from digits_modes_plot import figure

        save_figure(figure(results), options.plot)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=SIZE, help=f"of each set (default {SIZE})")
    parser.add_argument("--trials", type=int, default=20, help="divisions (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="of all trials (default 0)")
    parser.add_argument("--plot", metavar="FILE", help="keep the figure as .svg, .pdf or .png")
    parser.add_argument("--write", metavar="FOLDER", type=Path, help="keep the images instead")
    options = parser.parse_args()
    if not 10 <= options.size <= 140 or options.trials < 1 or options.seed < 0:
        parser.error("--size must be 10 to 140, --trials at least 1, --seed at least 0")
    if options.plot and not options.plot.endswith((".svg", ".pdf", ".png")):
        parser.error(f"--plot must end in .svg, .pdf or .png; found {options.plot}")
    if options.write and options.write.exists() and any(options.write.iterdir()):
        parser.error(f"--write needs a new or empty folder; found files in {options.write}")
    return options


if __name__ == "__main__":
    sys.exit(main())
