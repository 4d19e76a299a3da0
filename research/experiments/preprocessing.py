"""Where neighbours are looked for: which projection, if any, and which score of diversity.

    python research/experiments/preprocessing.py
    python research/experiments/preprocessing.py --section mix --section drop --view meaning --json

Five ways of bringing two sets of embeddings to where distances are taken, on real texts with known
answers: repeats, near copies, a worse generator mixed in, dropped and invented topics, truncation,
the topic experiment of paper 000, the level and power of the tests between systems, time. All
rows are first scaled to length one. For each way, every score of quality and of diversity.

Reads AG News and WritingPrompts in the folder that the environment variable CALIPERS_DATA names,
by default ``../shared/data`` beside the checkout. Embeddings are cached: made once, minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ag_news import DATA
from calipers.catalogue.choosing import choose, needs_of
from calipers.estimate.axes import joint_space
from calipers.metrics.pair import Pair, Settings
from calipers.numeric.threads import limit_threads
from calipers.uncertainty.differences import differences
from calipers.uncertainty.replicates import spreads
from calipers.uncertainty.spread import confidence_interval
from preprocessing_cases import (
    PAIR_N,
    PAPER_DIVERSITY,
    PAPER_QUALITY,
    Case,
    cases,
    missing,
    paper,
    repeats,
)
from preprocessing_texts import News, news_by_view, stories_by_view

Rows = np.ndarray
Values = dict[str, float]
PCA = 0.9
SHARES = (0.0, 0.2)
"""Of worse texts, where tests are tried."""
QUALITY = ("precision", "density", "clipped_density", "cover_precision")
DIVERSITY = ("recall", "coverage", "clipped_coverage", "cover_recall", "probabilistic_recall")
DIVERSITY += ("sphere_recall",)
COPYING = ("near_copies", "authenticity")
CAPPED = ("recall, own cap", "recall, reference's cap")
CELLS = ("mauve_star", "prd_f8", "frechet_distance", "energy_distance")
TESTED = ("precision", "recall", "coverage", "clipped_density", "clipped_coverage")
SECTIONS = ("cases", "missing", "intervals", "paper", "tests", "time", "others")
WORDS = {
    "none": "no projection",
    "distinct": "PCA of distinct rows",
    "reference": "PCA of the reference",
    "balanced": "PCA, equal weights",
    "union": "PCA of the union (paper 000)",
}


def projected(name: str, reference: Rows, generated: Rows) -> tuple[Rows, Rows]:
    """Both sets where one of the ways takes distances; rows of length one in every way."""
    sets, weights = [reference, generated], [1.0, 1.0]
    if name == "distinct":
        sets.append(np.unique(np.concatenate(sets), axis=0))
        weights = [0.0, 0.0, 1.0]
    elif name == "reference":
        weights = [1.0, 0.0]
    elif name == "balanced":
        weights = [1 / len(reference), 1 / len(generated)]
    share = None if name == "none" else PCA
    space = joint_space(sets, weights, norm="l2", pca=share, threads=None)
    return space.sets[0], space.sets[1]


@dataclass(frozen=True)
class Scorer:
    """Scores of a pair in the space of one of the ways."""

    way: str
    metrics: tuple[str, ...] = (*QUALITY, *DIVERSITY, *COPYING)

    def pair(self, reference: Rows, generated: Rows, *, seed: int = 0) -> Pair:
        choices = choose(self.metrics, ("rows",))
        rows = projected(self.way, reference, generated)
        return Pair(*rows, Settings(seed=seed), needs_of(choice.metric for choice in choices))

    def scores(self, reference: Rows, generated: Rows) -> Values:
        """All scores, and the share of reference rows in generated balls of capped radius."""
        pair = self.pair(reference, generated)
        found = {c.name: float(c.score(pair).value) for c in choose(self.metrics, ("rows",))}
        found["axes"] = float(pair.reference.shape[1])
        return found | {name: float(held.mean()) for name, held in capped(pair).items()}

    def of_rows(self, reference: Rows, generated: Rows, rows: Rows) -> Values:
        """The scores of diversity, read from some of the reference rows alone."""
        pair = self.pair(reference, generated)
        found: Values = {}
        for choice in choose(DIVERSITY, ("rows",)):
            each = choice.score(pair).per_sample
            if each is not None and len(each) == len(reference):
                found[choice.name] = float(np.asarray(each)[rows].mean())
        return found | {name: float(held[rows].mean()) for name, held in capped(pair).items()}


def capped(pair: Pair) -> dict[str, Rows]:
    """Whether every reference row lies in a generated ball whose radius is cut at a median.

    At the median of the generated set's radii, or at that of the reference's.
    """
    near, k = pair.neighbourhoods, pair.settings.k
    x, y = pair.reference.astype(np.float64), pair.generated.astype(np.float64)
    squares = (x**2).sum(1)[:, None] + (y**2).sum(1) - 2 * x @ y.T
    radii = near.generated.radii[:, k - 1]
    return {
        name: (squares <= np.minimum(radii, np.median(cut)) ** 2).any(axis=1)
        for name, cut in zip(CAPPED, (radii, near.reference.radii[:, k - 1]), strict=True)
    }


def run_case(case: Case, ways: Sequence[str], seeds: int) -> dict[str, dict[str, Rows]]:
    """Scores by way and name, each of shape ``(seeds, points)``; the same draws for every way."""
    found: dict[str, dict[str, Rows]] = {}
    for seed in range(seeds):
        for point in range(len(case.points)):
            sets = case.draw(point, np.random.default_rng([seed, point]))
            for way in ways:
                for name, value in Scorer(way).scores(*sets).items():
                    empty = np.full((seeds, len(case.points)), np.nan)
                    found.setdefault(way, {}).setdefault(name, empty)[seed, point] = value
    return found


def case_table(
    case: Case, found: dict[str, dict[str, Rows]], shown: Sequence[str] | None = None
) -> list[str]:
    """Means over the draws, and the largest standard deviation over them, for every way."""
    lines = [f"### {case.name}", "", f"{case.tells}:", ""]
    lines += ["| score | projection | " + " | ".join(case.points) + " | sd |"]
    lines += ["| --- | --- |" + " ---: |" * (len(case.points) + 1)]
    names = dict.fromkeys(name for scores in found.values() for name in scores)
    for name in names if shown is None else [each for each in names if each in shown]:
        for way, scores in found.items():
            values = scores[name]
            form = "{:.0f}" if name == "axes" else "{:.3f}"
            cells = [form.format(v) for v in values.mean(axis=0)]
            cells.append(form.format(values.std(axis=0).max()))
            lines.append(f"| {name} | {WORDS[way]} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def others(news: News, ways: Sequence[str]) -> dict[str, dict[str, float]]:
    """Scores of whole distributions where texts repeat: one draw."""
    found: dict[str, dict[str, float]] = {}
    for different in (1_000, 100, 20):
        sets = repeats(news, different, 1_000)(np.random.default_rng(0))
        for way in ways:
            pair = Scorer(way, CELLS).pair(*sets)
            for choice in choose(CELLS, ("rows",)):
                row = found.setdefault(f"{choice.name}, {different:,} of 1,000", {})
                row[way] = float(choice.score(pair).value)
    return found


def missing_topic(news: News, case: Case, ways: Sequence[str], seeds: int) -> dict[str, Values]:
    """Scores of diversity on the reference rows of a topic that the generated set lacks."""
    found: dict[str, list[Values]] = {way: [] for way in ways}
    for seed in range(seeds):
        sets = case.draw(1, np.random.default_rng([seed, 1]))
        for way in ways:
            found[way].append(Scorer(way).of_rows(*sets, missing(sets[0])))
    return {way: mean_of(each) for way, each in found.items()}


def intervals(news: News, ways: Sequence[str], seeds: int) -> dict[str, dict[str, str]]:
    """Precision with its interval: 500 held-out items, and 50 of them ten times."""
    found: dict[str, dict[str, str]] = {}
    for different in (500, 50):
        sets = repeats(news, different, 500)(np.random.default_rng(0))
        for way in ways:
            scorer = Scorer(way, TESTED)
            pair, choices = scorer.pair(*sets), choose(TESTED, ("rows",))
            moved = spreads(pair, choices)
            for choice in choices:
                value = float(choice.score(pair).value)
                low, high = confidence_interval(value, moved[choice.name]) or (np.nan, np.nan)
                cell = f"{value:.2f} [{low:.2f}, {high:.2f}]"
                found.setdefault(f"{choice.name}, {different} of 500", {})[way] = cell
    return found


def rejections(news: News, ways: Sequence[str], worlds: int) -> dict[str, list[str]]:
    """Share of worlds in which two systems are called different at the level 0.05.

    The systems are held-out items, as good as each other, or a share of the second from the chain.
    """
    hits: dict[tuple[str, float, str], list[bool]] = {}
    n = PAIR_N
    choices = choose(TESTED, ("rows",))
    for world in range(worlds):
        rng = np.random.default_rng([world, 7])
        order, chain = rng.permutation(news.system), rng.permutation(news.chain)
        reference = news.items[rng.permutation(news.reference)[:n]]
        systems = {0.0: news.items[order[n : 2 * n]]}
        for share in SHARES[1:]:
            count = round(share * n)
            systems[share] = np.concatenate([chain[:count], systems[0.0][count:]])
        for way in ways:
            scorer, found = Scorer(way, TESTED), {}
            for share, rows in {None: news.items[order[:n]], **systems}.items():
                pair = scorer.pair(reference, rows, seed=world)
                values = {choice.name: float(choice.score(pair).value) for choice in choices}
                found[share] = values, spreads(pair, choices)
            for share in systems:
                both = zip(found[None], found[share], strict=True)
                for apart in differences(*both, draws=1):
                    hits.setdefault((way, share, apart.score), []).append(apart.p_value <= 0.05)
    return {
        f"{WORDS[way]} | {share:.0%}": [f"{np.mean(hits[way, share, name]):.2f}" for name in TESTED]
        for way in ways
        for share in SHARES
    }


def times(news: News, ways: Sequence[str], *, n: int = 3_800, rounds: int = 3) -> dict[str, str]:
    """Seconds for the projection and for the neighbours, the best of some rounds."""
    reference, generated = news.items[:n], news.items[n : 2 * n]
    found = {}
    for way in ways:
        best = []
        for _ in range(rounds):
            start = time.perf_counter()
            rows = projected(way, reference, generated)
            middle = time.perf_counter()
            _ = Pair(*rows, Settings()).neighbourhoods
            best.append((middle - start, time.perf_counter() - middle))
        ready, near = np.min(best, axis=0)
        found[way] = f"{rows[0].shape[1]} | {ready:.2f} | {near:.2f} | {ready + near:.2f}"
    return found


def correlations(found: dict[str, dict[str, Rows]]) -> list[str]:
    """How the scores follow the known answer of the topic experiment, over all points and draws."""
    lines = ["| score | known answer | " + " | ".join(WORDS[way] for way in found) + " |"]
    lines += ["| --- | --- |" + " ---: |" * len(found)]
    for names, truth, word in (
        (QUALITY, PAPER_QUALITY, "quality"),
        ((*DIVERSITY, *CAPPED), PAPER_DIVERSITY, "diversity"),
    ):
        for name in names:
            cells = []
            for scores in found.values():
                values = scores[name]
                known = np.broadcast_to(truth, values.shape)
                cells.append(f"{np.corrcoef(values.ravel(), known.ravel())[0, 1]:.2f}")
            lines.append(f"| {name} | {word} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def diversity_table(
    every: Iterable[tuple[str, Case, dict[str, dict[str, Rows]]]], way: str
) -> list[str]:
    """Every score of diversity along every case: means, and the largest standard deviation."""
    rows: dict[str, list[str]] = {}
    heads = []
    for view, case, found in every:
        heads.append(f"{view}, {case.name}: {', '.join(case.points)}")
        for name in (*DIVERSITY, *CAPPED):
            means = " ".join(f"{mean:.3f}" for mean in found[way][name].mean(axis=0))
            rows.setdefault(name, []).append(
                f"{means} (± {found[way][name].std(axis=0).max():.3f})"
            )
    lines = [f"| {WORDS[way]} | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(heads)]
    return [
        *lines,
        *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()),
        "",
    ]


def mean_of(each: Sequence[Values]) -> Values:
    """The mean of every score."""
    return {name: float(np.mean([values[name] for values in each])) for name in each[0]}


def grid(head: str, rows: dict[str, Values], names: Sequence[str]) -> list[str]:
    """A table with a way in every row."""
    lines = [f"| {head} | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    for way, values in rows.items():
        cells = [f"{values[name]:.2f}" for name in names]
        lines.append(f"| {WORDS[way]} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def main() -> None:
    options = arguments()
    if not (DATA / "ag_news" / "test.csv").is_file():
        sys.exit(f"there is no ag_news/test.csv in {DATA}; set CALIPERS_DATA to its folder")
    news, stories = news_by_view(DATA), stories_by_view(DATA)
    ways, kept, plain = options.way or list(WORDS), [], {}
    say: Callable[[str], None] = (lambda _: None) if options.json else print
    with limit_threads(options.threads):
        for view in options.view or list(news):
            say(f"## {view}\n")
            for case in cases(news[view], stories[view]):
                if "cases" in options.section or case.name in options.section:
                    found = run_case(case, ways, options.seeds)
                    kept.append((view, case, found))
                    plain[f"{view}, {case.name}"] = as_plain(found)
                    say("\n".join(case_table(case, found, options.score)))
                if case.name == "drop topics" and "missing" in options.section:
                    part = missing_topic(news[view], case, ways, options.seeds)
                    plain[f"{view}, missing topic"] = part
                    say("\n".join(grid("missing topic", part, list(part[ways[0]]))))
            if "intervals" in options.section:
                cells = intervals(news[view], ways, options.seeds)
                plain[f"{view}, intervals"] = cells
                say("| | " + " | ".join(WORDS[way] for way in ways) + " |")
                say("| --- |" + " ---: |" * len(ways))
                for name, values in cells.items():
                    say(f"| {name} | " + " | ".join(values.values()) + " |")
                say("")
            if "paper" in options.section:
                found = run_case(paper(news[view]), ways, options.seeds)
                plain[f"{view}, paper"] = as_plain(found)
                table = case_table(paper(news[view]), found, options.score)
                say("\n".join(table + correlations(found)))
            if "tests" in options.section:
                rates = rejections(news[view], ways, options.worlds)
                plain[f"{view}, tests"] = rates
                say("| projection | worse | " + " | ".join(TESTED) + " |")
                say("| --- | ---: |" + " ---: |" * len(TESTED))
                for name, cells in rates.items():
                    say(f"| {name} | " + " | ".join(cells) + " |")
                say("")
            if "others" in options.section and view == "meaning":
                rest = others(news[view], ways)
                plain["others"] = rest
                say("| | " + " | ".join(WORDS[way] for way in ways) + " |")
                say("| --- |" + " ---: |" * len(ways))
                for name, row in rest.items():
                    say(f"| {name} | " + " | ".join(f"{v:.3f}" for v in row.values()) + " |")
                say("")
            if "time" in options.section and view == "meaning":
                found_times = times(news[view], ways)
                plain["times"] = found_times
                say("| projection | axes | projecting | neighbours | seconds |")
                say("| --- | ---: | ---: | ---: | ---: |")
                for way, cells in found_times.items():
                    say(f"| {WORDS[way]} | {cells} |")
                say("")
        for way in ways if kept else ():
            say("\n".join(diversity_table(kept, way)))
    if options.json:
        print(json.dumps(plain, indent=1))


def as_plain(found: dict[str, dict[str, Rows]]) -> dict[str, dict[str, object]]:
    """Every value of every draw, as lists."""
    return {way: {name: v.tolist() for name, v in scores.items()} for way, scores in found.items()}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    told = "what to run, may be repeated: a case by its name, or " + ", ".join(SECTIONS)
    parser.add_argument("--section", action="append", help=told)
    parser.add_argument("--view", action="append", choices=("meaning", "form"))
    parser.add_argument("--way", action="append", choices=tuple(WORDS), help="of projecting")
    parser.add_argument("--score", action="append", help="show this one in the tables of cases")
    parser.add_argument("--seeds", type=int, default=5, help="draws of every case (default 5)")
    parser.add_argument("--worlds", type=int, default=100, help="of the tests (default 100)")
    parser.add_argument("--threads", type=int, default=2, help="threads (default 2)")
    parser.add_argument("--json", action="store_true", help="print every value as JSON")
    options = parser.parse_args()
    options.section = options.section or list(SECTIONS)
    return options


if __name__ == "__main__":
    main()
