"""Digits of the drop-ins for prdc and mauve-text beside the packages themselves, on random sets.

    python research/benchmarks/drop_ins.py

prdc: pairs of sets whose four values are equal to the last bit. mauve-text: seeds whose k-means
cells differ, the largest difference of MAUVE*, and how far MAUVE* moves with the seed alone.
"""

from __future__ import annotations

import contextlib
import io

import numpy as np


def kinds(rng: np.random.Generator) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Sets of each kind of rows that rounding may treat differently."""
    n, m, d = rng.integers(60, 600, 3)
    real, fake = rng.standard_normal((n, d)), 0.9 * rng.standard_normal((m, d))
    few = rng.integers(0, 4, (n, 3)), rng.integers(0, 4, (m, 3))
    copied, copies = real.copy(), fake.copy()
    copied[:12], copies[:12] = real[0], real[0]
    return {
        "float64": (real, fake),
        "float32": (real.astype("f4"), fake.astype("f4")),
        "whole numbers, many ties": few,
        "a sample 12 times in both sets": (copied, copies),
    }


def of_prdc(pairs: int = 40) -> None:
    import prdc

    from calipers.compat.prdc import compute_prdc

    rng, equal = np.random.default_rng(0), {}
    for _ in range(pairs):
        k = int(rng.integers(1, 9))
        for kind, (real, fake) in kinds(rng).items():
            with contextlib.redirect_stdout(io.StringIO()):
                theirs = prdc.compute_prdc(real, fake, nearest_k=k)
            equal.setdefault(kind, []).append(theirs == compute_prdc(real, fake, nearest_k=k))
    for kind, found in equal.items():
        print(f"{kind:32s} all four equal to the last bit in {sum(found)} of {len(found)}")


def topics(repeated: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sets over 30 and 22 topics, of the second a share of rows all the same."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((30, 64))
    p = centres[rng.integers(30, size=500)] + 0.7 * rng.standard_normal((500, 64))
    q = centres[rng.integers(22, size=450)] + 0.7 * rng.standard_normal((450, 64))
    q[: round(450 * repeated)] = q[0]
    return p, q


def of_mauve(seeds: int = 20) -> None:
    from mauve import compute_mauve as theirs

    from calipers.compat.mauve import compute_mauve as ours
    from calipers.metrics import mauve as elsewhere

    for repeated in (0.0, 0.02, 0.1, 0.5):
        cells, gaps = 0, []
        for seed in range(seeds):
            p, q = topics(repeated, seed)
            one, other = ours(p, q, seed=seed), theirs(p, q, seed=seed)
            cells += not np.array_equal(one.q_hist, other.q_hist)
            gaps.append(abs(one.mauve_star - other.mauve_star))
        most = "less than 1e-12" if max(gaps) < 1e-12 else f"at most {max(gaps):.0e}"
        print(f"{repeated:4.0%} of q are one row: other cells in {cells:2d} of {seeds}; {most}")
    p, q = topics(0.0, 0)
    for name, values in {
        "mauve-text": [theirs(p, q, seed=seed).mauve_star for seed in range(seeds)],
        "calipers.metrics": [elsewhere(p, q, seed=seed).mauve_star.value for seed in range(seeds)],
    }.items():
        print(f"{name:16s} over seeds {np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}")


if __name__ == "__main__":
    of_prdc()
    of_mauve()
