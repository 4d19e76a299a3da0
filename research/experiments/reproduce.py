"""Every table and figure of the papers that Calipers implements: run one, list them, or check them.

    python research/experiments/reproduce.py --list
    python research/experiments/reproduce.py prd-figure-3 mauve-table-4
    python research/experiments/reproduce.py --all --write
    python research/experiments/reproduce.py --check

Items take seconds to a few minutes on two cores. Real texts are looked for in the folder that the
environment variable CALIPERS_DATA names, by default ``../shared/data`` beside the checkout.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from calipers.errors import InputError
from calipers.whole_files import write_text_atomically
from reproduction import kept
from reproduction.catalogue import ITEMS, SOURCES, find
from reproduction.item import Found, Item
from reproduction.pages import outdated, pages


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks; 1 where a page is out of date or a line is amiss."""
    options = parse(arguments)
    if options.list:
        print("\n".join(listed()))
        return 0
    if options.check:
        return check()
    asked = list(ITEMS.values()) if options.all else [find(key) for key in options.items]
    found: dict[str, Found] = {}
    for item in asked:
        found[item.key] = show(item)
        if options.write:
            keep(item, found[item.key])
    if options.write:
        write()
    return 0 if all(expected(ITEMS[key], lines) for key, lines in found.items()) else 1


def listed() -> list[str]:
    """One line for each item."""
    width = max(map(len, ITEMS))
    return [f"{item.key:{width}}  {item.status:20}  {item.shows}" for item in ITEMS.values()]


def show(item: Item) -> Found:
    """Run one item and print what it found; where nothing can be run, say what is missing."""
    print(f"\n{item.key}: {item.number}. {item.shows}\n{item.status}. {item.differs}", flush=True)
    found = item.measure() if item.run else Found(())
    for line in found.lines:
        verdict = ": ".join(filter(None, [line.verdict, line.basis]))
        print(f"  {line.what}\n    paper {line.paper or '-'} | ours {line.ours} | {verdict}")
    for need in item.needs:
        print(f"  missing: {need}")
    if item.would:
        print(f"  with that: {item.would}")
    return found


def expected(item: Item, found: Found) -> bool:
    """Whether no line is opposite or not reproduced but those that the item names."""
    amiss = {line.what for line in found.lines if line.verdict in ("opposite", "not reproduced")}
    return amiss == set(item.exceptions)


def keep(item: Item, found: Found) -> None:
    """Keep what one item found; lines of items that are gone are dropped."""
    for source in SOURCES:
        if item in source.items and found.lines:
            kept.keep(source, kept.read(source) | {item.key: found})


def write() -> None:
    """Write the pages anew from what was kept."""
    for path, text in pages().items():
        write_text_atomically(path, text)


def check() -> int:
    """Name pages that are out of date, and items that were never run."""
    faults = [f"docs/{name} is not current: run --write" for name in outdated()]
    for source in SOURCES:
        found = kept.read(source)
        for item in source.items:
            if item.run and item.key not in found:
                faults.append(f"{item.key} was never run: run {item.key} --write")
            elif item.run and not expected(item, found[item.key]):
                faults.append(
                    f"{item.key}: what is not reproduced or opposite is not what the item names"
                )
    print("\n".join(faults) or f"{len(ITEMS)} items, all pages current")
    return 1 if faults else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("items", nargs="*", metavar="ITEM", help="such as prd-figure-3")
    parser.add_argument("--list", action="store_true", help="name every item with its status")
    parser.add_argument("--all", action="store_true", help="run every item")
    parser.add_argument("--write", action="store_true", help="keep what was found, write the pages")
    parser.add_argument("--check", action="store_true", help="are the pages of docs/ current?")
    options = parser.parse_args(arguments)
    if not (options.items or options.list or options.all or options.write or options.check):
        parser.error("name an item, or one of --list, --all, --write, --check")
    return options


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        sys.exit(str(error))
