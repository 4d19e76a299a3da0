"""Words and characters beside the test files of Unicode: how many of their cases are cut alike.

The files `WordBreakTest.txt` and `GraphemeBreakTest.txt` come with every version of the Unicode
Character Database, in its folder `auxiliary`; they are no part of this repository.

    python research/benchmarks/word_boundaries.py WordBreakTest.txt GraphemeBreakTest.txt

White space is left out of words, so it is left out of their cases too. Which characters are letters
or pictures changes between versions of Unicode, so a file that is older or newer than the package
`regex` may hold a few cases that differ; they are printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from calipers.unicode.words import graphemes, words_and_marks


def cases(path: Path) -> Iterator[list[str]]:
    """The pieces of each case; ``÷`` stands where a text may be cut, ``×`` where not."""
    for line in path.read_text("utf-8").splitlines():
        rule = line.partition("#")[0]
        pieces = [piece.replace("×", " ").split() for piece in rule.split("÷")]
        if any(pieces):
            yield ["".join(chr(int(code, 16)) for code in piece) for piece in pieces if piece]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", type=Path)
    parser.add_argument("graphemes", type=Path)
    options = parser.parse_args()
    print(f"regex {version('regex')}")
    for path, cut in ((options.words, words_and_marks), (options.graphemes, graphemes)):
        alike = count = 0
        for pieces in cases(path):
            asked = [word for piece in pieces for word in piece.split()]
            expected = asked if cut is words_and_marks else pieces
            found = cut("".join(pieces))
            count, alike = count + 1, alike + (found == expected)
            if found != expected:
                print(f"  {expected!a} is cut as {found!a}")
        print(f"{path.name}: {alike:,} of {count:,} cases")


if __name__ == "__main__":
    main()
