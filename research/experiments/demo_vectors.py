"""Choose the demo's paragraphs, and write the vectors of its texts for seed 0.

A paragraph must be in the documentation of every Python named, and of this one; of these, 500 are
taken, first those that most of the older Pythons have too, so that later ones may keep them.

    python research/experiments/demo_vectors.py TOPICS... --older TOPICS...

where TOPICS are files ``lib/python3.N/pydoc_data/topics.py``.
"""

from __future__ import annotations

import argparse
import runpy
from collections import Counter
from pathlib import Path

import numpy as np

from calipers.demo import carried
from calipers.demo.corpora import paragraphs, prose
from calipers.demo.systems import systems
from calipers.embedders.minilm import REVISION, MiniLM

PARAGRAPHS = 500


def chosen(files: list[Path], older: list[Path]) -> list[str]:
    """Choose the paragraphs, in the order of their hashes."""
    counts = Counter(text for path in older for text in _prose_of(path))
    common = set(paragraphs()).intersection(*map(_prose_of, files))
    by_hash = sorted(common, key=lambda text: carried.hashed([text])[0])
    lasting = sorted(by_hash, key=lambda text: -counts[text])[:PARAGRAPHS]
    print(f"{len(common)} in all of {len(files) + 1}; in the older ones:")
    print(sorted(Counter(counts[text] for text in lasting).items()))
    return sorted(lasting, key=by_hash.index)


def _prose_of(path: Path) -> set[str]:
    return set(prose(runpy.run_path(str(path))["topics"].values()))


def vectors_of(texts: list[str]) -> carried.CarriedVectors:
    """Embed texts."""
    batch = MiniLM(device="cpu").encode(texts)
    assert not batch.truncated.any()
    assert batch.reading is not None
    return carried.CarriedVectors(
        carried.hashed(texts),
        PARAGRAPHS,
        {view: vectors.astype(np.float16) for view, vectors in batch.views.items()},
        batch.reading.words,
        batch.reading.unread,
        REVISION,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("topics", nargs="*", type=Path)
    parser.add_argument("--older", nargs="*", type=Path, default=[])
    options = parser.parse_args()
    human = chosen(options.topics, options.older)
    _reference, generated = systems(0, human)
    made = [text for name in ("markov_chain", "near_copies") for text in generated[name]]
    vectors = vectors_of(list(dict.fromkeys([*human, *made])))
    vectors.save()
    print(f"{len(vectors.hashes)} texts, {carried.FILE.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
