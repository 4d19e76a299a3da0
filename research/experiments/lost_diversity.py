"""Which score of diversity sees that a part of the reference is missing: known answers on news.

    python research/experiments/lost_diversity.py                              # by meaning
    python research/experiments/lost_diversity.py --view form --draws 4
    python research/experiments/lost_diversity.py --only equal --draws 60      # false alarms

Fresh items of AG News (by the default embedder) stand against others: topics are dropped or become
rare, items repeat, only items near the centre of their topic are kept, and samples become worse.
Every number comes out of `calipers.compare`, with its noise floor. Three are printed in each cell:
the mean of the score, the percentage of draws in which it lies below its noise floor, and the
percentage in which its 95 % interval lies below that of the first line.

A score of diversity should fall step by step as more is lost, should rise neither with worse
samples nor with outliers, and should find nothing between equal sets.

Reads ``ag_news/test.csv`` in the folder that the environment variable CALIPERS_DATA names.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import calipers
from ag_news import BUSINESS, DATA, SCIENCE, SPORTS, WORLD, news
from calipers.demo.markov import fit, generate
from preprocessing_texts import vectors

Rows = np.ndarray
Rng = np.random.Generator

TOPICS = (WORLD, SPORTS, BUSINESS, SCIENCE)
SCORES = (
    "precision",
    "recall",
    "coverage",
    "clipped_coverage",
    "cover_recall",
    "probabilistic_recall",
    "core_recall",
    "peripheral_recall",
    "precise_recall",
)
CHAIN = 1_000
"""Texts of the word-level Markov chain, fitted on items that are in no set."""
FIT = 400
"""Items of each topic that only the chain has read."""


@dataclass(frozen=True)
class News:
    """Unit vectors by topic, and those of a Markov chain."""

    items: Mapping[int, Rows]
    chain: Rows

    @classmethod
    def read(cls, folder: Path, view: str) -> News:
        topics = news(folder)
        texts = [text for items in topics.values() for text in items]
        ends = np.cumsum([0, *map(len, topics.values())])
        rows = _unit(vectors(texts, "items")[view])
        parts = {t: rows[ends[i] : ends[i + 1]] for i, t in enumerate(topics)}
        read = [text for items in topics.values() for text in items[:FIT]]
        chain = generate(fit(read), CHAIN, seed=0)
        items = {topic: part[FIT:] for topic, part in parts.items()}
        return cls(items, _unit(vectors(chain, "chain")[view]))


@dataclass(frozen=True)
class Draw:
    """One draw: every topic's items in a random order, the first half for the reference."""

    news: News
    order: Mapping[int, Rows]
    n: int
    rng: Rng

    @classmethod
    def make(cls, source: News, n: int, rng: Rng) -> Draw:
        order = {topic: rng.permutation(len(rows)) for topic, rows in source.items.items()}
        return cls(source, order, n, rng)

    def reference(self, *topics: int) -> Rows:
        """As many items of each of these topics."""
        return self._of({t: 1 / len(topics) for t in topics}, first=True)

    def fresh(self, shares: Mapping[int, float]) -> Rows:
        """Items of which a share is of each topic, none of them in the reference."""
        return self._of(shares, first=False)

    def narrow(self, kept: float, *topics: int) -> Rows:
        """Items among the share of each topic that lies closest to its mean."""
        found = []
        for topic in topics:
            rows = self.news.items[topic][self.order[topic][self.n :]]
            gaps = np.linalg.norm(rows - rows.mean(0), axis=1)
            near = rows[np.argsort(gaps)[: max(round(kept * len(rows)), 1)]]
            found.append(near[self.rng.permutation(len(near))[: self.n // len(topics)]])
        return np.concatenate(found)

    def _of(self, shares: Mapping[int, float], *, first: bool) -> Rows:
        found, counts = [], {t: round(share * self.n) for t, share in shares.items()}
        for topic, count in counts.items():
            order = self.order[topic]
            rows = order[:count] if first else order[-count:] if count else order[:0]
            found.append(self.news.items[topic][rows])
        return np.concatenate(found)


Systems = Callable[[Draw], tuple[Rows, dict[str, Rows]]]


def rare(draw: Draw) -> tuple[Rows, dict[str, Rows]]:
    """One of two topics becomes rare, and is lost."""
    shares = (0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0)
    return draw.reference(WORLD, SPORTS), {
        f"{share:.0%}": draw.fresh({WORLD: 1 - share, SPORTS: share}) for share in shares
    }


def dropped(draw: Draw) -> tuple[Rows, dict[str, Rows]]:
    """Of four topics one, two and three are missing."""
    return draw.reference(*TOPICS), {
        f"{kept} topics": draw.fresh(_even(TOPICS[:kept])) for kept in (4, 3, 2, 1)
    }


def repeated(draw: Draw) -> tuple[Rows, dict[str, Rows]]:
    """Fewer and fewer different items, each of them repeated."""
    fresh = draw.rng.permutation(draw.fresh(_even(TOPICS)))
    counts = [max(round(share * draw.n), 1) for share in (1, 0.5, 0.2, 0.1, 0.04)]
    return draw.reference(*TOPICS), {
        f"{count} different": fresh[np.resize(np.arange(count), draw.n)] for count in counts
    }


def narrowed(draw: Draw) -> tuple[Rows, dict[str, Rows]]:
    """Only items near the mean of their topic, as at a low temperature."""
    return draw.reference(*TOPICS), {
        f"{kept:.0%} kept": draw.narrow(kept, *TOPICS) for kept in (1, 0.75, 0.5, 0.25)
    }


def worse(draw: Draw) -> tuple[Rows, dict[str, Rows]]:
    """A share of the samples comes from a Markov chain: quality falls, diversity must not rise."""
    return draw.reference(*TOPICS), {
        f"{share:.0%} chain": _mixed(draw, draw.fresh(_even(TOPICS)), share)
        for share in (0, 0.25, 0.5, 0.75, 1)
    }


def hidden(draw: Draw) -> tuple[Rows, dict[str, Rows]]:
    """Two of four topics are missing, and worse samples or outliers hide it."""
    half = draw.fresh(_even(TOPICS[:2]))
    return draw.reference(*TOPICS), {
        "2 topics": half,
        "and 25% chain": _mixed(draw, half, 0.25),
        "and 50% chain": _mixed(draw, half, 0.5),
        "and 2% outliers": _outliers(draw, half, 0.02),
    }


def outliers(draw: Draw) -> tuple[Rows, dict[str, Rows]]:
    """A fiftieth of the reference is noise, and half of the topics are missing or not."""
    reference = _outliers(draw, draw.reference(*TOPICS), 0.02)
    return reference, {
        "4 topics": draw.fresh(_even(TOPICS)),
        "2 topics": draw.fresh(_even(TOPICS[:2])),
    }


def equal(draw: Draw) -> tuple[Rows, dict[str, Rows]]:
    """Two draws of the same four topics."""
    return draw.reference(*TOPICS), {"equal": draw.fresh(_even(TOPICS))}


CASES: dict[str, tuple[int, Systems]] = {
    "rare": (500, rare),
    "dropped": (500, dropped),
    "repeated": (500, repeated),
    "narrowed": (500, narrowed),
    "worse": (500, worse),
    "hidden": (500, hidden),
    "outliers": (500, outliers),
    "rare, n = 200": (200, rare),
    "equal": (500, equal),
    "equal, n = 200": (200, equal),
}
"""By name, the samples in each set and what is drawn; `equal` is for many draws."""


def measured(source: News, name: str, draws: int) -> Iterator[tuple[str, list[dict]]]:
    """Score every system of a case, and give for each what every draw says of it."""
    n, systems = CASES[name]
    found: dict[str, list[dict]] = {}
    for seed in range(draws):
        reference, made = systems(Draw.make(source, n, np.random.default_rng([seed, n])))
        run = calipers.compare(reference, made, metrics=list(SCORES), seed=seed, threads=1)
        first = run.systems[0].scores
        for system in run.systems:
            found.setdefault(system.name, []).append(
                {key: _read(score, first[key]) for key, score in system.scores.items()}
            )
    yield from found.items()


def _read(score: calipers.Score, first: calipers.Score) -> tuple[float, bool, bool]:
    """The value, whether it is below its noise floor, and whether below the first's interval."""
    floor = score.floor
    below = floor is not None and not floor.inside and floor.beside < floor.value
    ends = score.interval, first.interval
    apart = None not in ends and ends[0][1] < ends[1][0]  # type: ignore[index]
    return float(score.value), below, apart


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--view", default="meaning", choices=("meaning", "form"))
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--only", action="append", choices=tuple(CASES))
    parser.add_argument("--json", action="store_true", help="print every value as data")
    options = parser.parse_args()
    source = News.read(DATA, options.view)
    chosen = options.only or [name for name in CASES if not name.startswith("equal")]
    for name in chosen:
        rows = dict(measured(source, name, options.draws))
        if options.json:
            print(json.dumps({"case": name, "draws": rows}))
            continue
        print(f"\n{name}: {' '.join((CASES[name][1].__doc__ or '').split())}", flush=True)
        print(f"{options.draws} draws, by {options.view}; mean, % of draws below the noise floor")
        print(" " * 16 + "".join(f"{score.replace('_', ' ')[:12]:>14}" for score in SCORES))
        for system, draws in rows.items():
            cells = [_cell([draw[score] for draw in draws]) for score in SCORES]
            print(f"{system:<16}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


def _cell(found: list[tuple[float, bool, bool]]) -> str:
    values, below, apart = zip(*found, strict=True)
    return f"{np.mean(values):.2f} {100 * np.mean(below):3.0f} {100 * np.mean(apart):3.0f}"


def _even(topics: tuple[int, ...]) -> dict[int, float]:
    return {topic: 1 / len(topics) for topic in topics}


def _mixed(draw: Draw, rows: Rows, share: float) -> Rows:
    count = round(share * len(rows))
    kept = rows[draw.rng.permutation(len(rows))[count:]]
    return np.concatenate([kept, draw.news.chain[draw.rng.permutation(CHAIN)[:count]]])


def _outliers(draw: Draw, rows: Rows, share: float) -> Rows:
    """Put random directions in the place of a share of the rows."""
    count = round(share * len(rows))
    noise = _unit(draw.rng.standard_normal((count, rows.shape[1])))
    return np.concatenate([rows[draw.rng.permutation(len(rows))[count:]], noise])


def _unit(rows: Rows) -> Rows:
    made: Rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


if __name__ == "__main__":
    main()
