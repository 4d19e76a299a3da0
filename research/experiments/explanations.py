"""What explanations say where the answer is known, and where it is not.

    python research/experiments/explanations.py            # both
    python research/experiments/explanations.py --only stories --shown 10

On AG News the reference is half World, half Sports. Q1 has only World, so its first
under-represented topic must be sport; Q3 has all four topics alike, so its first over-represented
ones must be business and science/technology. Which class a topic is about is judged by its keywords
alone: each word votes for the classes by how often their items use it, over all items of the data
set.

On writing_prompts nothing is known: the worst stories of two models are printed, to be read.

Reads ``ag_news/test.csv`` and ``writing_prompts/*.jsonl`` in the folder that the environment
variable CALIPERS_DATA names, by default ``../shared/data`` beside the checkout.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import numpy as np

import calipers
from ag_news import BUSINESS, DATA, SCIENCE, SPORTS, WORLD, news
from calipers.explain import Explanation, Region, WordCounts

CLASSES = {WORLD: "World", SPORTS: "Sports", BUSINESS: "Business", SCIENCE: "Sci/Tech"}
MEASURED = ("coverage", "realism", "near_copies", "frontier_integral_star")
NEW = {"Business", "Sci/Tech"}
FIRST = 3


class Judge:
    """Says which class of news some words are about."""

    def __init__(self, topics: dict[int, list[str]]) -> None:
        counted = {topic: WordCounts.of(texts) for topic, texts in topics.items()}
        self._rates = {CLASSES[topic]: rates(words) for topic, words in counted.items()}

    def votes(self, words: Sequence[str]) -> dict[str, float]:
        """The share of each class in the use of the words, each word counting alike."""
        each = [[rate.get(word, 0.0) for rate in self._rates.values()] for word in words]
        shares = [np.array(use) / sum(use) for use in each if sum(use) > 0]
        if not shares:
            return {}
        return dict(zip(self._rates, np.mean(shares, axis=0), strict=True))

    def name(self, region: Region) -> str:
        """The class with the most votes."""
        votes = self.votes(region.keywords)
        return max(votes, key=lambda name: votes[name]) if votes else "no words"


def rates(words: WordCounts) -> dict[str, float]:
    """The share of each word in all words of some texts."""
    used = np.asarray(words.counts.sum(axis=0)).ravel()
    return dict(zip(words.vocabulary, used / used.sum(), strict=True))


def sets(
    topics: dict[int, list[str]], size: int, rng: np.random.Generator
) -> tuple[list[str], dict[str, list[str]]]:
    """The reference of `size` items, Q1 and Q3 of as many, or of all others that there are."""
    order = {
        topic: [texts[i] for i in rng.permutation(len(texts))] for topic, texts in topics.items()
    }
    half, quarter = size // 2, size // 4
    reference = order[WORLD][:half] + order[SPORTS][:half]
    mixed = [order[topic][-quarter:] for topic in CLASSES]
    return reference, {
        "Q1": order[WORLD][half : half + size],
        "Q3": [text for texts in mixed for text in texts],
    }


def explained(reference: Sequence[str], generated: Sequence[str], seed: int) -> Explanation:
    """Compare one set, and explain its gap in the view of meaning."""
    comparison = calipers.compare(reference, {"model": generated}, metrics=MEASURED, seed=seed)
    return comparison["model"].explain()


def ag_news(seeds: int, sizes: Sequence[int]) -> None:
    """Count how often the first topics are those that must come first."""
    topics = news(DATA)
    judge = Judge(topics)
    for size in sizes:
        held = {"sport first": 0, "new first": 0, "both new in three": 0}
        for seed in range(seeds):
            reference, generated = sets(topics, size, np.random.default_rng(seed))
            rare, common = (
                list(told(f"{name}, seed {seed}", found, judge))
                for name, found in (
                    (name, explained(reference, texts, seed)) for name, texts in generated.items()
                )
            )
            held["sport first"] += rare[0] == "Sports"
            held["new first"] += common[0] in NEW
            held["both new in three"] += set(common) >= NEW
        print(f"\nn = {size}, of {seeds} seeds: {held}\n")


def told(name: str, found: Explanation, judge: Judge) -> Iterator[str]:
    """Print the first under-represented topics of Q1, or over-represented of Q3, and name them."""
    regions = found.under_represented if name.startswith("Q1") else found.over_represented
    print(f"\n{name}: n = {found.n}, m = {found.m}, frontier integral {found.score:.3f}")
    for region in regions[:FIRST]:
        about = judge.name(region)
        print(
            f"  {region.share:4.0%} of the gap, {region.reference:4} against {region.generated:4}, "
            f"{about} by its keywords: {' '.join(region.keywords)}"
        )
        yield about


def stories(shown: int) -> None:
    """Print what is worst in the stories of two models."""
    folder = DATA / "writing_prompts"
    systems = {name: folder / f"{name}.jsonl" for name in ("gpt2-xl", "gpt-neox-20b")}
    comparison = calipers.compare(folder / "human.jsonl", systems, metrics=MEASURED)
    for system in comparison:
        for view in comparison.settings["views"]:
            tell_stories(f"{system.name}, {view}", system.explain(view), shown)
        first, second = (
            {each.row for each in system.explain(view).outside[:20]} for view in ("meaning", "form")
        )
        print(f"\n{system.name}: {len(first & second)} of the 20 worst are so by both views")


def agreement(found: Explanation) -> tuple[float, int]:
    """How alike the listed samples outside are sorted by realism and by distance."""
    realism = np.array([each.realism for each in found.outside])
    far = np.array([each.nearest[0].distance for each in found.outside])
    worst = set(np.argsort(realism)[:20]) & set(np.argsort(-far)[:20])
    return float(np.corrcoef(realism, far)[0, 1]), len(worst)


def tell_stories(name: str, found: Explanation, shown: int) -> None:
    """Print topics and the worst samples of one model in one view."""
    print(f"\n== {name}: {found.outside_count} of {found.m} outside the reference's support,")
    print(f"   {found.uncovered_count} of {found.n} uncovered, {found.copies_count} near copies")
    related, both = agreement(found)
    print(f"   of those listed: realism against distance r = {related:.2f}, ", end="")
    print(f"{both} of the 20 worst by either are so by both")
    for side, regions in (("rare", found.under_represented), ("common", found.over_represented)):
        for region in regions[:FIRST]:
            print(f"   {side} {region.share:4.0%} {region.reference:3} against ", end="")
            print(f"{region.generated:3}: {' '.join(region.keywords)}")
    for copy in found.copies[:FIRST]:
        print(f"   near copy at {copy.distance:.2f}: {cut(copy.text, 90)}")
        print(f"   {'of':>17}: {cut(copy.source and copy.source.text, 90)}")
    for sample in found.outside[:shown]:
        print(f"\n- realism {sample.realism:.2f}: {cut(sample.text)}")
        print(f"  nearest: {cut(sample.nearest[0].text, 150)}")


def cut(text: str | None, most: int = 500) -> str:
    """A text on one line, without its end."""
    return " ".join((text or "").split())[:most]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("news", "stories"))
    parser.add_argument("--seeds", type=int, default=5, help="random splits of the news")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000])
    parser.add_argument("--shown", type=int, default=5, help="worst stories to print")
    options = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(f"there is no folder {DATA}; set CALIPERS_DATA to the folder with the data")
    if options.only != "stories":
        ag_news(options.seeds, options.sizes)
    if options.only != "news":
        stories(options.shown)


if __name__ == "__main__":
    main()
