"""Whether the ceiling says how far two crowds agree, of simulated crowds of raters.

    python research/experiments/crowds_ceiling.py
    python research/experiments/crowds_ceiling.py --crowds 400 --json ceilings.json

Crowds are drawn as by `crowds.py`: 30 raters of 600 pairs, and 214 raters of 3,240 pairs, as many
as in Pillutla et al. (JMLR 2023, appendix E.3). Of each crowd the ceiling is measured with its
interval. The truth is the mean correlation of the scores of two crowds drawn anew; that of
`attainable` the mean correlation of a crowd's scores with those of all crowds together. Nothing
here is data of people.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.ceiling import ceiling
from calipers.uncertainty.correlation import CorrelationKind, correlate_rows
from crowds import CROWDS, Crowd, draw_pairs

SIZES = ((30, 600), (214, 3240))
KINDS: tuple[CorrelationKind, ...] = ("spearman", "pearson")
MANY = 400
"""Crowds that the truth is of."""


@dataclass(frozen=True)
class Row:
    """What the ceiling makes of one kind of crowd."""

    crowd: str
    raters: int
    pairs: int
    correlation: str
    truth: float
    mean: float
    covered: float
    attainable_truth: float
    attainable: float
    crowds: int


def measure(crowd: Crowd, raters: int, pairs: int, crowds: int, seed: int) -> list[Row]:
    """Measure the ceilings of many crowds of one kind."""

    def scores(number: int) -> np.ndarray:
        drawn = draw_pairs(np.random.default_rng([seed, 1, number]), crowd, raters, pairs)
        return fit_bradley_terry(drawn.preferences, ties="half").scores

    many = np.array([scores(number) for number in range(MANY)])
    rows = []
    for kind in KINDS:
        truth = float(correlate_rows(kind, many[::2], many[1::2]).mean())
        whole = np.broadcast_to(many.mean(axis=0), many.shape)
        best = float(correlate_rows(kind, many, whole).mean())
        found = []
        for number in range(crowds):
            rng = np.random.default_rng([seed, 2, number])
            found.append(ceiling(draw_pairs(rng, crowd, raters, pairs), correlation=kind))
        intervals = [one.interval or (np.nan, np.nan) for one in found]
        rows.append(
            Row(
                crowd=crowd.name,
                raters=raters,
                pairs=pairs,
                correlation=kind,
                truth=truth,
                mean=float(np.mean([one.value for one in found])),
                covered=float(np.mean([low <= truth <= high for low, high in intervals])),
                attainable_truth=best,
                attainable=float(np.mean([one.attainable for one in found])),
                crowds=crowds,
            )
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crowds", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    asked = parser.parse_args()
    rows = []
    print(
        "| crowd | raters | pairs | correlation | two crowds | ceiling | covered "
        "| best metric | attainable |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for crowd in CROWDS:
        if crowd.name not in ("alike", "all of these", "all, uneven"):
            continue
        for raters, pairs in SIZES:
            for row in measure(crowd, raters, pairs, asked.crowds, asked.seed):
                rows.append(row)
                print(
                    f"| {row.crowd} | {row.raters} | {row.pairs:,} | {row.correlation} "
                    f"| {row.truth:.2f} | {row.mean:.2f} | {row.covered:.1%} "
                    f"| {row.attainable_truth:.2f} | {row.attainable:.2f} |",
                    flush=True,
                )
    if asked.json:
        asked.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
