"""Do the bands of curves and the error ellipses cover? Proof by simulation.

    python research/experiments/bands.py --worlds 200 --processes 2
    python research/experiments/bands.py --json bands.jsonl --processes 0

Two worlds of 500 samples a side in 6 dimensions: "shift" (a system moved along all axes and
narrower) and "modes" (a system without one of four clusters). In each world a comparison gives
curves with bands and scores with ellipses, drawn as `calipers plot` draws them at 95 %. Other
worlds, five times as many and never the same, give the expectation: the mean curve at each angle or
λ, and the mean of both scores. Counted is how often a band holds the mean curve at one angle or λ,
and an ellipse both means; one whole curve inside its band is not what a band promises.

Every world is kept as a line of JSON where `--json` names a file, and what the file holds is not
measured again; with `--processes 0` the tables are printed from what is there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bands_tables import PART, tables
from bands_worlds import CASES, one_world
from calibration_intervals import FRESH
from calibration_store import Store


def main() -> None:
    options = arguments()
    store = Store(options.json, options.processes)
    fresh = 5 * options.worlds if options.fresh is None else options.fresh
    numbers = [*range(options.worlds), *range(FRESH, FRESH + fresh)]
    for case in CASES:
        store.measure([(PART, case, options.size, number) for number in numbers], one_world)
    store.close()
    print("\n".join(tables(store, options.size)))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=200, help="worlds per case (default: 200)")
    parser.add_argument("--fresh", type=int, help="worlds for the expectation (default: 5 times)")
    parser.add_argument("--size", type=int, default=500, metavar="N", help="samples on each side")
    parser.add_argument("--processes", type=int, default=1, help="worlds at a time; 0 only prints")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep every world as JSON lines")
    options = parser.parse_args()
    if options.worlds < 2:
        parser.error(f"--worlds must be at least 2; found {options.worlds}")
    if options.fresh is not None and options.fresh < 2:
        parser.error(f"--fresh must be at least 2; found {options.fresh}")
    if options.size < 100:
        parser.error(f"--size must be at least 100; found {options.size}")
    if options.processes < 0:
        parser.error(f"--processes must be at least 0; found {options.processes}")
    if options.json and options.json.is_dir():
        parser.error(f"--json must name a file; {options.json} is a folder")
    return options


if __name__ == "__main__":
    main()
