"""How often ``calipers check`` is wrong: its three outcomes in simulated runs of known truth.

    python research/experiments/gate.py
    python research/experiments/gate.py --runs 500 --processes 2 --folder runs

Each run draws a reference and two systems of one distribution, Gaussians that are narrower than the
reference, and compares them as ``calipers compare`` does. The truth of a score is its mean over all
runs, since that is what its interval is about; the first system is then held against limits on the
truth and around it, and against the second, its baseline, whose scores are the same in truth. Where
the truth lies on the limit, every failure and every pass is false; elsewhere one of them is. All
comparisons are made once and kept, and the gate is then asked at every limit.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calipers import Comparison, check, compare

LEVEL = 0.95
RUNS, N, D, SCALE = 500, 300, 4, 0.6
CONDITIONS = {"recall": "<", "mauve_star": "<", "frechet_distance": ">", "energy_distance": ">"}
"""Score to where it is bad."""
SIDES = {"<": -1, ">": 1}

STEPS = (-3, -2, -1, 0, 1, 2, 3)
"""Limits, in standard deviations of the score over the runs, from the bad side of the truth on."""

FAR = 5

Run = tuple[Comparison, Comparison]


def measure(folder: Path, seed: int) -> None:
    """One run: a reference and two systems of one distribution, compared as a person would."""
    rng = np.random.default_rng([24, seed])
    reference = rng.normal(size=(N, D))
    systems = {name: SCALE * rng.normal(size=(N, D)) for name in ("run", "baseline")}
    found = compare(reference, systems, metrics=list(CONDITIONS), floor=False, threads=1)
    bare = [
        replace(each, samples=(), neighbours={}, curves={}, curve_errors={}, against=None)
        for each in found
    ]
    replace(found, systems=tuple(bare), reference_samples=None, tests=()).save(
        folder / f"{seed}.zip"
    )


def runs(count: int, processes: int, folder: Path) -> list[Run]:
    """Both sides of every run, each as a comparison of one system; those in the folder are read."""
    missing = [seed for seed in range(count) if not (folder / f"{seed}.zip").is_file()]
    with ProcessPoolExecutor(processes) as pool:
        list(pool.map(partial(measure, folder), missing))
    whole = [Comparison.load(folder / f"{seed}.zip") for seed in range(count)]
    return [(alone(each, "run"), alone(each, "baseline")) for each in whole]


def alone(found: Comparison, name: str) -> Comparison:
    """One system of a comparison."""
    return replace(found, systems=(found[name],), cautions=(), warnings=())


def of_json(found: Comparison) -> Comparison:
    """What the JSON of a comparison holds, which lacks how scores move block by block."""
    return Comparison.from_dict(found.to_dict())


def values(several: Iterable[Comparison], key: str) -> NDArray[np.float64]:
    """One score in every run."""
    return np.array([each.systems[0][key].value for each in several])


def rates(found: Iterable[str]) -> str:
    """How often gates fail and how often they pass, in percent; the rest are inconclusive."""
    counted = Counter(found)
    total = sum(counted.values())
    return " / ".join(f"{100 * counted[name] / total:.1f}" for name in ("fails", "passes"))


def against_numbers(pairs: Sequence[Run], key: str) -> str:
    """Hold a score against limits on its truth and around it."""
    sign = CONDITIONS[key]
    side = SIDES[sign]
    every = values((each for pair in pairs for each in pair), key)
    truth, step = every.mean(), values((run for run, _ in pairs), key).std(ddof=1)

    def rate(place: int) -> str:
        text = f"{key} {sign} {truth + side * place * step:.12g}"
        return rates(check(run, fail_if=text, level=LEVEL).outcome for run, _ in pairs)

    return row(f"{key} {sign} {truth:.4f} (sd {step:.4f})", map(rate, STEPS))


def against_baselines(pairs: Sequence[Run], key: str) -> str:
    """Hold a score against that of another run of the same truth."""
    sign = CONDITIONS[key]
    side = SIDES[sign]
    ours, theirs = (values((pair[place] for pair in pairs), key) for place in (0, 1))
    step = (ours - theirs).std(ddof=1)

    def rate(place: int) -> str:
        move = side * place * step
        text = f"{key} {sign} baseline {'-' if move < 0 else '+'} {abs(move):.12g}"
        return rates(
            check(run, baseline=before, fail_if=text, level=LEVEL).outcome for run, before in pairs
        )

    shrunk = step / np.sqrt(ours.var(ddof=1) + theirs.var(ddof=1))
    name = f"{key} {sign} baseline (sd {step:.4f}, {shrunk:.2f} of that of independent runs)"
    return row(name, map(rate, STEPS))


def row(*cells: str | Iterable[str]) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(c if isinstance(c, str) else ' | '.join(c) for c in cells)} |"


def whole_gates(pairs: Sequence[Run]) -> None:
    """Gates of all conditions: all on the limit, and one on it with the others far from it."""
    truths = {
        key: values((one for pair in pairs for one in pair), key).mean() for key in CONDITIONS
    }
    steps = {key: values((run for run, _ in pairs), key).std(ddof=1) for key in CONDITIONS}

    def texts(places: dict[str, int]) -> list[str]:
        return [
            f"{key} {sign} {truths[key] + SIDES[sign] * places[key] * steps[key]:.12g}"
            for key, sign in CONDITIONS.items()
        ]

    gates = {"all on the limit": dict.fromkeys(CONDITIONS, 0)}
    gates |= {
        f"{key} on the limit, the others {FAR} sd within": {
            other: 0 if other == key else FAR for other in CONDITIONS
        }
        for key in CONDITIONS
    }
    for name, places in gates.items():
        found = (check(run, fail_if=texts(places), level=LEVEL).outcome for run, _ in pairs)
        print(row(name, rates(found)))


def main() -> None:
    """Print three tables in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep the runs in this folder, or read them")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as new:
        pairs = runs(given.runs, given.processes, given.folder or Path(new))
    print(f"{len(pairs)} runs, n = m = {N}, d = {D}, systems {SCALE} as wide; level {LEVEL}")
    print("Fails / passes in percent, by how many sd the truth lies within the limit:\n")
    print(row("condition at 0", (f"{place:+d}" if place else "0" for place in STEPS)))
    print(row("---", ("--:" for _ in STEPS)))
    for key in CONDITIONS:
        print(against_numbers(pairs, key))
    for key in CONDITIONS:
        print(against_baselines(pairs, key))
    print("\nThe same where the runs kept only their JSON:\n")
    for key in CONDITIONS:
        print(against_baselines([tuple(map(of_json, pair)) for pair in pairs], key))
    print(f"\n{row('gate of 4 conditions', 'fails / passes')}\n{row('---', '--:')}")
    whole_gates(pairs)


if __name__ == "__main__":
    main()
