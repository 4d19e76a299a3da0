"""Do the intervals cover, and do the tests keep their level? Proof by simulation.

    python research/experiments/calibration.py --json calibration.jsonl --processes 2
    python research/experiments/calibration.py --json calibration.jsonl --processes 0

Intervals: how often 95 % intervals hold the expectation of the estimator at this size, which fresh
worlds tell, and how long they are, over 2 × 1.96 standard deviations between worlds: those of an
oracle. Approximate: the same for scores without counts by block. Level: four systems of equal
expected scores; share of worlds in which any of all tests calls any two different, by max-T and by
Holm. Many: six and ten systems by two views, some of them equal. Power: two systems that differ a
little. Texts: what tests, intervals and noise floor say of AG News items with a share of foreign
topics.

Every world is kept as a line of JSON where `--json` names a file, and what the file holds is not
measured again; with `--processes 0` the tables are printed from what is there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import calibration_intervals as intervals
import calibration_tables as tables
import calibration_tests as tests
from ag_news import DATA
from calibration_cases import EQUAL, MANY, NEWS, SPREAD, UNLIKE
from calibration_store import Store

PARTS = ("intervals", "approximate", "requested", "level", "many", "power", "texts")
FEWER = {500: 1, 1_000: 1, 2_000: 5, 5_000: 20}
"""How many times fewer worlds are drawn at the larger sizes, which cost more."""


def measure(options: argparse.Namespace, store: Store, part: str) -> None:
    """Measure one part at all its sizes."""
    for n in options.sizes or SIZES[part]:
        if part in ("intervals", "approximate", "requested"):
            worlds = options.worlds or WORLDS[part] // FEWER.get(n, 1)
            cases = with_texts(chosen(SPREAD, options.cases), options.data)
            fresh = options.fresh if options.fresh is not None else 2 * worlds
            intervals.measure(store, part, METRICS[part], cases, n, worlds, fresh)
        else:
            kinds = {"level": EQUAL, "many": MANY, "power": UNLIKE}[part]
            fewer = FEWER.get(n, 1) if part == "level" else 1
            worlds = options.worlds or WORLDS[part] // fewer
            tests.measure(store, part, chosen(kinds, options.cases), n, worlds)


def chosen(known: Iterable[str], words: Sequence[str] | None) -> list[str]:
    """The cases of these names, or whose names hold one of the words; all without words."""
    cases = list(known)
    if words is None:
        return cases
    meant = {word: {word} if word in cases else {c for c in cases if word in c} for word in words}
    return [case for case in cases if any(case in found for found in meant.values())]


def with_texts(cases: Sequence[str], folder: Path) -> list[str]:
    """The cases, less those of texts that are not here."""
    if (folder / "ag_news" / "test.csv").is_file():
        return list(cases)
    return [case for case in cases if not case.startswith(NEWS)]


SIZES = {
    "intervals": (500, 1_000, 2_000, 5_000),
    "approximate": (500, 2_000),
    "requested": (1_000,),
    "level": (500, 1_000, 2_000),
    "many": (600,),
    "power": (500, 1_000, 2_000, 4_000),
}
WORLDS = {
    "intervals": 1_000,
    "approximate": 300,
    "requested": 300,
    "level": 1_000,
    "many": 300,
    "power": 200,
}
METRICS = {
    "intervals": intervals.KEPT,
    "approximate": intervals.APPROXIMATE,
    "requested": intervals.REQUESTED,
}


def show(store: Store, part: str) -> list[str]:
    """The tables of one part, as Markdown."""
    if not store.cases(part):
        return []
    if part == "level":
        return tests.level_table(store)
    if part == "many":
        return tests.many_table(store)
    if part == "power":
        return tests.power_table(store)
    if part == "texts":
        import calibration_news as texts

        return texts.table(store)
    shown = (tables.table, tables.overview, tables.worst)
    return [line for each in shown for line in each(store, part)]


def main() -> None:
    options = arguments()
    store = Store(options.json, options.processes)
    for part in options.only or PARTS:
        if part == "texts":
            texts(options, store)
        elif options.processes:
            measure(options, store, part)
        lines = show(store, part)
        if lines:
            print("\n".join([f"\n## {part}", *lines]), flush=True)
    store.close()


def texts(options: argparse.Namespace, store: Store) -> None:
    """Measure the mixtures of AG News, where the texts are there."""
    if not options.processes:
        return
    if not (options.data / "ag_news" / "test.csv").is_file():
        if options.only:
            sys.exit(f"there is no ag_news/test.csv in {options.data}; name its folder with --data")
        print(f"no ag_news/test.csv in {options.data}: no texts", file=sys.stderr)
        return
    import calibration_news as news

    news.measure(store, options.data, options.worlds or 20)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS, action="append", help="a part; may be repeated")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="samples on each side")
    parser.add_argument("--cases", nargs="+", metavar="WORD", help="cases, or words of their names")
    parser.add_argument("--worlds", type=int, help="worlds per case (default: each part's own)")
    parser.add_argument("--fresh", type=int, help="worlds for the expectation (default: twice)")
    parser.add_argument("--processes", type=int, default=1, help="worlds at a time; 0 only prints")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep every world as JSON lines")
    parser.add_argument("--data", type=Path, default=DATA, help="folder that holds ag_news/")
    options = parser.parse_args()
    if options.worlds is not None and options.worlds < 2:
        parser.error(f"--worlds must be at least 2; found {options.worlds}")
    if options.fresh is not None and options.fresh < 2:
        parser.error(f"--fresh must be at least 2; found {options.fresh}")
    if options.sizes and min(options.sizes) < 100:
        parser.error(f"--sizes must be at least 100; found {min(options.sizes)}")
    if options.processes < 0:
        parser.error(f"--processes must be at least 0; found {options.processes}")
    if options.json and options.json.is_dir():
        parser.error(f"--json must name a file; {options.json} is a folder")
    if options.cases and not chosen([*SPREAD, *EQUAL, *MANY, *UNLIKE], options.cases):
        parser.error(f"no case holds {' or '.join(map(repr, options.cases))}")
    return options


if __name__ == "__main__":
    main()
