"""TF-IDF and axes on each half of a reference, whatever the order of its texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from calipers.embed.words.tfidf_axes import LEAST_TEXTS, MOST_WORDS, Axes, fit_axes
from calipers.embed.words.tfidf_bags import UNKNOWN, Bag, Bags
from calipers.errors import InputError

MOST_TEXTS = 50_000
"""Most texts that are fitted on; of a larger reference those with the smallest draws."""
_AT_ONCE = 1024
_LEAST = 4
CHOICES = f"sublinear|df:{LEAST_TEXTS}|words:{MOST_WORDS}|texts:{MOST_TEXTS}|halves|lower"


@dataclass(frozen=True, eq=False)
class Fit:
    """What was fitted on a reference.

    Attributes
    ----------
    vocabulary
        Word to its number.
    halves
        Weights of the words in the lower and in the upper half, by the draw of a text.
    border
        The least draw of the upper half.
    digest
        Hex SHA-256 of the reference's samples.
    """

    vocabulary: dict[str, int]
    halves: tuple[Axes, Axes]
    border: int
    digest: str


def fit(samples: Iterable[Any], *, components: int) -> Fit:
    """Fit TF-IDF and axes on each half of a reference.

    Parameters
    ----------
    samples
        Texts or lists of token ids; they are gone through once.
    components
        Most axes of each half.

    Raises
    ------
    InputError
        If there are fewer than four texts with different words.
    """
    bags, words, digest = _read(samples)
    draws = sorted({bag.draw for bag in bags if bag.length})
    if len(draws) < _LEAST:
        raise _too_small(len(draws))
    border = draws[len(draws) // 2]
    vocabulary, bags = _in_order(words, bags)
    # An empty text has no words to learn from, but it would be counted
    filled = [bag for bag in bags if bag.length]
    sides = [[bag for bag in filled if (bag.draw >= border) == upper] for upper in (False, True)]
    lower, upper = _fit_both(sides, len(vocabulary), components)
    if lower is None or upper is None:
        raise _too_small(len(draws))
    return Fit(vocabulary, (lower, upper), border, digest)


def _fit_both(sides: list[list[Bag]], words: int, components: int) -> list[Axes | None]:
    # One thread of BLAS each: as fast for such small matrices, and the same to the last bit
    with threadpool_limits(1), ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda side: fit_axes(side, words, components=components), sides))


def _too_small(found: int) -> InputError:
    return InputError(
        f"the embedder 'tfidf' must be fitted on a reference of at least {_LEAST} texts with "
        f"different words, and hundreds to be of use; found {found}. Choose an embedder that is "
        "not fitted, such as 'minilm'"
    )


def _read(samples: Iterable[Any]) -> tuple[list[Bag], list[str], str]:
    """Make bags of all samples, or of a random choice of many; give all words and the hash."""
    numbers: dict[str, int] = {}
    bags = Bags(lambda word: numbers.setdefault(word, len(numbers)))
    digest, kept = hashlib.sha256(), list[Bag]()
    first = 1
    for block in _blocks(samples):
        kept += bags.of(block, first=first)
        for sample in block:
            _update(digest, sample)
        first += len(block)
        if len(kept) > 2 * MOST_TEXTS:
            kept = _chosen(kept)
    return _chosen(kept), list(numbers), digest.hexdigest()


def _blocks(samples: Iterable[Any]) -> Iterator[list[Any]]:
    remaining = iter(samples)
    while block := list(islice(remaining, _AT_ONCE)):
        yield block


def _update(digest: Any, sample: Any) -> None:
    if isinstance(sample, str):
        content = b"t" + sample.encode("utf-8", "surrogatepass")
    else:
        content = b"i" + np.asarray(sample).astype("<i8").tobytes()
    digest.update(len(content).to_bytes(8, "little") + content)


def _chosen(bags: list[Bag]) -> list[Bag]:
    """Keep the texts with the smallest draws, in their order: a choice that no order can bias."""
    if len(bags) <= MOST_TEXTS:
        return bags
    border = np.partition(np.array([bag.draw for bag in bags], np.uint64), MOST_TEXTS)[MOST_TEXTS]
    return [bag for bag in bags if bag.draw < border]


def _in_order(words: list[str], bags: list[Bag]) -> tuple[dict[str, int], list[Bag]]:
    """Number the words of the bags in alphabetical order, so that no order of texts matters."""
    used = np.unique(np.concatenate([bag.words for bag in bags]))
    order = sorted(used.tolist(), key=words.__getitem__)
    number = np.full(len(words), UNKNOWN, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    renumbered = []
    for bag in bags:
        places = np.argsort(number[bag.words])
        renumbered.append(bag._replace(words=number[bag.words][places], counts=bag.counts[places]))
    return {words[old]: new for new, old in enumerate(order)}, renumbered
