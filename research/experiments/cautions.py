"""How far each confounder moves the scores: the weights of cautions.

``python research/experiments/cautions.py`` prints the table of docs/confounders.md, and the
coefficients of ``calipers/evaluate/movements.py``. About four minutes on one core.

One confounder is planted at a time, at several strengths, and everything else stays as it was. What
makes sets look worse is planted in sets that are alike (two halves of AG News, two halves of human
stories); what hides a difference, in sets that are not (stories by people and by GPT-2 XL on the
same prompts). The movement is the mean absolute change of a score over draws, of the score that
changes most: MAUVE*, precision, recall or the AUC of the classifier, by meaning or by form. An AUC
below 0.5 counts as 0.5.

Reads ``ag_news`` and ``writing_prompts`` (and ``languages``) in the folder that the environment
variable CALIPERS_DATA names, by default ``../shared/data`` beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from ag_news import DATA, news
from calipers import SampleSet
from calipers.embedders.cache import Cache
from calipers.embedders.catalogue import load_embedder
from calipers.embedders.pipeline import embed
from calipers.evaluate.cautions.lengths import length_shift
from calipers.metrics import mauve, precision_recall
from calipers.uncertainty.two_sample_classifier import classifier_test

Item = TypeVar("Item")
Texts = list[str]
Views = Mapping[str, Mapping[str, np.ndarray]]
SCORES = ("MAUVE*", "precision", "recall", "AUC")

SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)
REPEATS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
RATIOS = (1.1, 1.25, 1.5, 2.0, 4.0, 8.0)
LENGTHS = (20, 60, 130)
"""Words that go on behind an opening of about 25."""
OPENINGS = (3, 6, 12)
"""Words of shorter openings, before 130 others."""
SIZES = (20, 50, 100, 200, 500)
K_SHARES = (0.025, 0.05, 0.1, 0.25)
ITEMS, STORIES, UNLIKE, LARGE = 600, 300, 240, 1000
"""Items of news and stories, which every draw parts anew; stories of sets that are not alike;
samples against which smaller draws are held."""


@dataclass(frozen=True)
class Sets:
    """Two sets of texts, and how many neighbours span a ball."""

    reference: Texts
    generated: Texts
    k: int = 4

    def changed(self, change: Callable[[str], str], share: float) -> Sets:
        """Change a share of the generated texts."""
        count = round(share * len(self.generated))
        texts = [*map(change, self.generated[:count]), *self.generated[count:]]
        return replace(self, generated=texts)


@dataclass(frozen=True)
class Case:
    """A confounder at one strength, and the same sets without it."""

    scale: str
    strength: float
    world: str
    plain: Sets
    planted: Sets
    nominal: float | None = None
    """What draws have in common whose strengths differ a little; else the strength."""


def first_share(text: str, share: float) -> str:
    """The first words of a text, at least one."""
    words = text.split()
    return " ".join(words[: max(1, round(share * len(words)))])


def first_words(text: str, count: int) -> str:
    """The first `count` words of a text."""
    return " ".join(text.split()[:count])


def last_words(text: str, count: int) -> str:
    """The last `count` words of a text."""
    return " ".join(text.split()[-count:])


def repeated(sets: Sets, share: float, rng: np.random.Generator) -> Sets:
    """Put repeats of the other generated texts in place of a share of them."""
    n = len(sets.generated)
    kept = max(1, n - round(share * n))
    repeats = rng.integers(kept, size=n - kept)
    texts = [*sets.generated[:kept], *(sets.generated[row] for row in repeats)]
    return replace(sets, generated=texts)


# ------------------------------------------------------------------ sets that are alike


def alike(world: str, sets: Sets, rng: np.random.Generator, foreign: Mapping[str, Texts]) -> Cases:
    """What makes equal sets look different."""

    def case(scale: str, strength: float, planted: Sets) -> Case:
        return Case(scale, strength, world, sets, planted)

    for share in REPEATS:
        yield case("duplicates", share, repeated(sets, share, rng))
    for share in SHARES:
        yield case("truncation", share, sets.changed(lambda text: first_share(text, 0.5), share))
        yield case("empty", share, sets.changed(lambda _: "", share))
        for scale, texts in foreign.items():
            others = iter(texts)
            yield case(scale, share, sets.changed(lambda _, rest=others: next(rest), share))


def of_lengths(items: Sequence[str], rng: np.random.Generator) -> Cases:
    """News against longer news, all of it whole items."""
    order = shuffled(items, rng)
    half, rest = order[: ITEMS // 2], order[ITEMS // 2 : ITEMS]
    others = order[ITEMS:]
    for ratio in RATIOS[:4]:
        free = sorted((len(text.split()), row) for row, text in enumerate(others))
        chosen = []
        for text in rest:
            place = bisect_left(free, (round(ratio * len(text.split())), -1))
            chosen.append(others[free.pop(min(place, len(free) - 1))[1]])
        yield longer("AG News", Sets(half, rest), chosen, ratio)


def of_sentences(texts: Texts) -> Cases:
    """Stories of whole sentences against the first sentences of others."""
    whole = [sentences(text) for text in texts]
    kept = [each for each in whole if len(each) > 2]
    half = len(kept) // 2
    plain = Sets(*([" ".join(each) for each in side] for side in (kept[:half], kept[half:])))
    for ratio in RATIOS[1:]:
        yield longer(
            "stories", plain, [first_sentences(each, ratio) for each in kept[half:]], ratio
        )


def longer(world: str, plain: Sets, generated: Texts, ratio: float) -> Case:
    """Texts of another length in place of the generated ones, by how far lengths lie apart."""
    sides = (
        np.array([len(text.split()) for text in side]) for side in (plain.reference, generated)
    )
    planted = replace(plain, generated=generated)
    return Case("lengths", length_shift(*sides), world, plain, planted, ratio)


def sentences(text: str) -> list[str]:
    """The whole sentences of a text."""
    return re.findall(r"[^.!?]+[.!?]+[\"'”’]*", text)


def first_sentences(text: Sequence[str], ratio: float) -> str:
    """As many of the first sentences as come closest to a part of the words, at least one."""
    words = np.cumsum([len(sentence.split()) for sentence in text])
    return "".join(text[: 1 + int(np.argmin(np.abs(words - words[-1] / ratio)))])


def few(items: Texts, rng: np.random.Generator) -> Cases:
    """What chance does to small sets, and the generated set alone being small."""
    order = shuffled(items, rng)
    large = Sets(order[:LARGE], order[LARGE:])
    for size in SIZES:
        rows = slice(0, size)
        small = Sets(large.reference[rows], large.generated[rows])
        yield Case("few_samples", 1 / math.sqrt(size), "AG News", large, small)
    for ratio in RATIOS:
        fewer = replace(large, generated=large.generated[: round(LARGE / ratio)])
        yield Case("sizes", math.log2(ratio), "AG News", large, fewer)


# ------------------------------------------------------------------ sets that are not alike


@dataclass(frozen=True)
class Story:
    """An opening, and how a person and a model went on."""

    opening: str
    human: str
    model: str


def stories(folder: Path) -> list[Story]:
    """The stories on the same prompts, parted where the two go their own ways."""
    sides = [
        [
            json.loads(line)["text"].split()
            for line in (folder / "writing_prompts" / f"{name}.jsonl").read_text().splitlines()
        ]
        for name in ("human", "gpt2-xl")
    ]
    found = []
    for human, model in zip(*sides, strict=True):
        pairs = zip(human, model, strict=False)
        common = next((i for i, (a, b) in enumerate(pairs) if a != b), 0)
        if common >= 10 and min(len(human), len(model)) >= common + 20:
            ends = (" ".join(words[common:]) for words in (human, model))
            found.append(Story(" ".join(human[:common]), *ends))
    return found


def unlike(drawn: Sequence[Story]) -> Cases:
    """What hides the difference between sets that are not alike."""
    sets = Sets([story.human for story in drawn], [story.model for story in drawn])
    n = len(drawn)

    def case(scale: str, strength: float, planted: Sets, plain: Sets = sets) -> Case:
        return Case(scale, strength, "stories", plain, planted)

    for share in SHARES:
        count = round(share * n)
        copied = [*sets.reference[:count], *sets.generated[count:]]
        yield case("copies", share, replace(sets, generated=copied))
        beginnings = [
            [*(first_share(text, 0.5) for text in side[:count]), *side[count:]]
            for side in (sets.reference, sets.generated)
        ]
        yield case("truncation_both", share, Sets(*beginnings))
    for share in K_SHARES:
        yield case("neighbours", share, replace(sets, k=round(share * n)))
    for length in LENGTHS:
        short = Sets(*([first_words(text, length) for text in side] for side in sides_of(sets)))
        for share in (0.25, 0.5, 1.0):
            count = round(share * n)
            full = [begun(drawn, side, count) for side in sides_of(short)]
            strength = share * part_of_openings(drawn, short.generated)
            yield case("openings", strength, Sets(*full), short)
    for words in OPENINGS:
        brief = [replace(story, opening=last_words(story.opening, words)) for story in drawn]
        full = [begun(brief, side, n) for side in sides_of(short)]
        yield case("openings", part_of_openings(brief, short.generated), Sets(*full), short)


def begun(drawn: Sequence[Story], side: Texts, count: int) -> Texts:
    """Put their openings before the first of the texts."""
    texts = [f"{story.opening} {text}" for story, text in zip(drawn, side, strict=True)]
    return [*texts[:count], *side[count:]]


def part_of_openings(drawn: Sequence[Story], rests: Texts) -> float:
    """The words of an opening over those of its text, of medians."""
    opening = np.median([len(story.opening.split()) for story in drawn])
    return float(opening / (opening + np.median([len(text.split()) for text in rests])))


def one_sided(drawn: Sequence[Story]) -> Cases:
    """Openings in texts of people on one side only: two halves of them."""
    half = len(drawn) // 2
    for length in LENGTHS:
        texts = [first_words(story.human, length) for story in drawn]
        plain = Sets(texts[:half], texts[half : 2 * half])
        for share in (0.25, 0.5, 1.0):
            count = round(share * half)
            ours = begun(drawn[half : 2 * half], plain.generated, count)
            strength = share * part_of_openings(drawn, plain.reference)
            yield Case("prompts", strength, "stories", plain, replace(plain, generated=ours))


def sides_of(sets: Sets) -> tuple[Texts, Texts]:
    return sets.reference, sets.generated


# ------------------------------------------------------------------ measured

Cases = Iterator[Case]


def shuffled(items: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    """The items in a random order."""
    return [items[row] for row in rng.permutation(len(items))]


def cases(folder: Path, draws: int) -> Cases:
    """All of them, for several draws."""
    every = [text for texts in news(folder).values() for text in texts]
    items = shuffled(every, np.random.default_rng(0))[: 2 * LARGE]
    known = shuffled(stories(folder), np.random.default_rng(0))[:STORIES]
    foreign = {
        scale: [
            json.loads(line)["text"]
            for line in (folder / "languages" / f"{code}.jsonl").read_text("utf-8").splitlines()
        ]
        for scale, code in (("language", "fr"), ("scripts", "ru"))
    }
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        order = shuffled(items[:ITEMS], rng)
        half = len(order) // 2
        yield from alike("AG News", Sets(order[:half], order[half:]), rng, foreign)
        drawn = shuffled(known, rng)
        human = [story.human for story in drawn]
        half = len(human) // 2
        yield from alike("stories", Sets(human[:half], human[half:]), rng, foreign)
        yield from of_lengths(every, rng)
        yield from of_sentences(human)
        yield from one_sided(drawn)
        yield from unlike(drawn[:UNLIKE])
        yield from few(items, rng)


def vectors(every: Sequence[Case]) -> Views:
    """Embed all texts, each once: by view, text to row."""
    sets = [sets for case in every for sets in (case.plain, case.planted)]
    texts = sorted({text for each in sets for side in sides_of(each) for text in side})
    print(f"{len(every):,} cases, {len(texts):,} different texts")
    samples = SampleSet.from_texts(texts, name="texts")
    views = embed(samples, load_embedder("minilm"), cache=Cache()).views
    return {view: dict(zip(texts, rows, strict=True)) for view, rows in views.items()}


def scores(sets: Sets, views: Views) -> np.ndarray:
    """The four scores by every view, shape (views, 4)."""
    found = []
    for rows in views.values():
        x, y = (np.stack([rows[text] for text in side]) for side in sides_of(sets))
        x, y = (side / np.maximum(np.linalg.norm(side, axis=1)[:, None], 1e-12) for side in (x, y))
        near = precision_recall(x, y, k=sets.k)
        area = classifier_test(x, y, permutations=1).statistic
        close = mauve(x, y, norm="none", pca=None).mauve_star.value
        found.append([close, near.precision.value, near.recall.value, max(area, 0.5)])
    return np.array(found)


class Movement(NamedTuple):
    """The mean strength of some cases, their sets, and the mean absolute changes (views, 4)."""

    strength: float
    world: str
    changes: np.ndarray


def movements(every: Sequence[Case]) -> dict[str, list[Movement]]:
    """Mean absolute changes by scale, by rising strength."""
    views, plain = vectors(every), {}
    changes: dict[str, dict[tuple[str, float], list[tuple[float, np.ndarray]]]]
    changes = defaultdict(lambda: defaultdict(list))
    for case in every:
        if id(case.plain) not in plain:  # of one object for many cases
            plain[id(case.plain)] = scores(case.plain, views)
        change = np.abs(scores(case.planted, views) - plain[id(case.plain)])
        level = case.strength if case.nominal is None else case.nominal
        found = changes[case.scale][case.world, level]
        found.append((case.strength, change))
    return {
        scale: sorted(
            (
                Movement(float(np.mean(strengths)), world, np.mean(moved, axis=0))
                for (world, _), found in levels.items()
                for strengths, moved in [zip(*found, strict=True)]
            ),
            key=lambda each: each.strength,
        )
        for scale, levels in changes.items()
    }


def coefficients(found: Sequence[Movement]) -> list[tuple[float, float]]:
    """The points of the rising curve that lies closest to the largest changes (least squares).

    Neighbours by strength are pooled while a stronger confounder moves less (isotonic regression);
    each pool is a point at its mean strength, behind that of no confounder.
    """
    pools: list[list[tuple[float, float]]] = []
    for strength, pairs in groupby(found, key=lambda each: round(each.strength, 2)):
        pools.append([(strength, float(np.nanmax(each.changes))) for each in pairs])
        while pools[1:] and mean_of(pools[-1], 1) <= mean_of(pools[-2], 1):
            last = pools.pop()
            pools[-1] += last
    points = [(round(mean_of(pool, 0), 3), round(mean_of(pool, 1), 2)) for pool in pools]
    return [(0.0, 0.0), *points]


def mean_of(pool: Sequence[tuple[float, float]], place: int) -> float:
    """The mean strength or the mean movement of a pool."""
    return float(np.mean([each[place] for each in pool]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    found = movements(list(cases(DATA, options.draws)))
    for scale, each in found.items():
        print(f"\n{scale}: {', '.join(SCORES)} by meaning | by form")
        for strength, world, changes in each:
            rows = " | ".join("  ".join(f"{value:.3f}" for value in row) for row in changes)
            print(f"{strength:6.3f}  {world:8} {rows}")
    print()
    for scale, each in found.items():
        print(f'    "{scale}": {tuple(coefficients(each))},')


if __name__ == "__main__":
    main()
