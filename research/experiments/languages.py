"""How good are comparisons in other languages? False alarms and power, beside English.

    python research/experiments/languages_gemma.py --model gemma-3-270m --output machines/
    python research/experiments/languages.py --json languages.jsonl --machines machines/
    python research/experiments/languages.py --json languages.jsonl --processes 0

For each language 200 paragraphs are held against 200 others: as they were (the share of draws in
which any test of `compare` finds a difference is that of false alarms), with the words of each
shuffled, without the third of the paragraphs that are on one subject, written by a 3-gram model or
by Gemma 3 270M, or with one text repeated. The yardstick is English by minilm: the worst language
should find what it finds in at least 0.8 as many draws. Every draw is kept as a line of JSON where
`--json` names a file, and what the file holds is not measured again; with `--processes 0` the
tables are printed from what is there. Draws are made in rounds: a stop leaves fewer of each.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from itertools import product
from pathlib import Path

import languages_speed
import languages_tables as tables
from ag_news import DATA
from calibration_store import Store
from languages_draws import CHANGES, SAME, SIZES, Places, case_of, one_draw
from languages_texts import GEMMA, KEPT_APART, LANGUAGES

EMBEDDERS = ("minilm", "use", "characters")
ROUND = 25
KEEP = Path("languages_vectors")
NULL, DRAWS = 200, 100


def columns(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The languages and embedders to measure: minilm reads English alone."""
    return [
        (language, embedder)
        for embedder in options.embedders
        for language in options.languages
        if embedder != "minilm" or language == "en"
    ]


def measure(options: argparse.Namespace, store: Store, places: Places) -> None:
    """Draw, a round of all columns and changes after the other."""
    work = partial(one_draw, places)
    rounds = range(0, max(options.null, options.draws), ROUND)
    for n, first, column, change in product(
        options.sizes, rounds, columns(options), options.changes
    ):
        most = options.null if change == SAME else options.draws
        if change == GEMMA and not gemma(options, column[0]):
            continue
        case, numbers = case_of(*column, change), range(first, min(first + ROUND, most))
        store.measure([("draws", case, n, number) for number in numbers], work)


def gemma(options: argparse.Namespace, language: str) -> bool:
    """Whether Gemma has written enough texts of a language."""
    path = options.machines / f"gemma-{language}.jsonl" if options.machines else None
    return path is not None and path.is_file() and path.read_bytes().count(b"\n") >= KEPT_APART


def timed(options: argparse.Namespace, store: Store) -> None:
    """Measure speed and memory, one process at a time."""
    for language, embedder in columns(options):
        task = ("speed", f"{embedder}|{language}", 600, 0)
        store.measure([task], partial(languages_speed.in_a_process, options.data))


def show(store: Store, part: str) -> list[str]:
    """The tables of one part, as Markdown."""
    if part == "speed":
        return tables.speed(store)
    lines = []
    for n in sorted({size for _, size in store.cases("draws")}, reverse=True):
        lines += ["", f"### {n} paragraphs on each side"]
        lines += [*tables.power(store, EMBEDDERS, n), *tables.alarms(store, EMBEDDERS, n)]
        lines += tables.counts(store, EMBEDDERS, n)
        lines += tables.worst(store, [name for name in EMBEDDERS if name != "minilm"], n)
        lines += [*tables.by_view(store, EMBEDDERS, n), *tables.scores(store, EMBEDDERS, n)]
    return lines


def main() -> None:
    options = arguments()
    store = Store(options.json, options.processes)
    places = Places(options.data, options.machines or Path(), options.keep, options.subjects)
    if options.processes and "draws" in options.only:
        measure(options, store, places)
    if options.processes and "speed" in options.only:
        timed(options, store)
    for part in options.only:
        if lines := show(store, part):
            print("\n".join([f"\n## {part}", *lines]), flush=True)
    store.close()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=("draws", "speed"), default=["draws", "speed"])
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--embedders", nargs="+", default=list(EMBEDDERS), metavar="NAME")
    parser.add_argument("--changes", nargs="+", choices=(SAME, *CHANGES), default=[SAME, *CHANGES])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--null", type=int, default=NULL, help="draws without a change")
    parser.add_argument("--draws", type=int, default=DRAWS, help="draws of each change")
    parser.add_argument("--subjects", default="use", help="the embedder that tells subjects apart")
    parser.add_argument("--machines", type=Path, help="folder of Gemma's texts; none without")
    parser.add_argument("--keep", type=Path, default=KEEP, help=f"keep vectors here ({KEEP})")
    parser.add_argument("--processes", type=int, default=1, help="draws at a time; 0 only prints")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep every draw as JSON lines")
    parser.add_argument("--data", type=Path, default=DATA, help="has languages/, writing_prompts/")
    options = parser.parse_args()
    if options.processes < 0:
        parser.error(f"--processes must be at least 0; found {options.processes}")
    if min(options.null, options.draws) < 1:
        parser.error("--null and --draws must be at least 1")
    if not all(20 <= n <= 200 for n in options.sizes):
        parser.error("--sizes must be from 20 to 200: a third of the paragraphs")
    for part in ("languages", "writing_prompts/human.jsonl"):
        if not (options.data / part).exists():
            sys.exit(f"there is no {part} in {options.data}; name its folder with --data")
    return options


if __name__ == "__main__":
    main()
