"""Reference and systems answer the same prompts: which scores tell who answers better?

``python research/experiments/shared_prompts.py`` prints the tables of docs/shared_prompts.md, and
with ``--write`` puts the first screen of the twelve systems on that page. It reads CALIPERS_DATA
(AlpacaEval and WritingPrompts) and, where it is set, CALIPERS_SAMPLES: samples of two real language
models, two draws of one model for the same prompts among them.

What an equal system would score is known without one: labels are swapped within prompts at random
(:func:`swapped`), so that both sides hold answers of both. A score tells a system from the
reference as far as it lies from those, in their standard deviations (z). The same z of the MMD is
that of a paired two-sample test.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import calipers
from calipers.catalogue.choosing import choose, needs_of
from calipers.catalogue.settings import Settings
from calipers.embedders import Cache, Embedder, Embeddings, embed, load_embedder
from calipers.embedders.embedder import EncodedBatch
from calipers.estimate.axes import unit_rows
from calipers.estimate.conditional_mean import ConditionalMean
from calipers.evaluate.given_prompts import given_prompts
from calipers.evaluate.intervals import with_intervals
from calipers.evaluate.shared_prompts import SharedPrompts
from calipers.evaluate.spaces import pair_of
from calipers.report import plain
from calipers.results import Comparison
from calipers.results.tests import REFERENCE as AGAINST
from calipers.samples import SampleSet
from calipers.uncertainty.replicates import spreads

DATA = Path(os.environ.get("CALIPERS_DATA", Path(__file__).parents[3] / "shared" / "data"))
SAMPLES = Path(os.environ.get("CALIPERS_SAMPLES", "samples"))
VIEWS = ("meaning", "form")
SCORES = ("precision", "recall", "coverage", "mauve_star")
WAYS = ("all answers", "other prompts", "residuals", "residuals, other prompts")
REFERENCE = "gpt4_1106_preview"
SYSTEMS = (
    "gpt4",
    "Meta-Llama-3-8B-Instruct",
    "Mistral-7B-Instruct-v0.2",
    "gemma-7b-it",
    "alpaca-7b",
    "NullModel",
)
PARTS = ["told", "mixing", "alarms", "stories", "real", "coverage"]
WIDTH = 128
"""Columns of the first screen on the page, enough for the names of the systems."""
MARK = "<!-- by research/experiments/shared_prompts.py --write -->"
SETTINGS = Settings(normalise="none", restarts=1, threads=1)
CHOICES = choose(SCORES, ("meaning",))
NEEDS = needs_of(choice.metric for choice in CHOICES)
Rows = NDArray[np.float64]
Rng = np.random.Generator


@dataclass(frozen=True)
class Answers:
    """The answers of one source, and their prompts."""

    name: str
    prompts: tuple[str, ...]
    texts: tuple[str, ...]

    def samples(self) -> SampleSet:
        return SampleSet.from_texts(self.texts, name=self.name, prompts=self.prompts)


class Known(Embedder):
    """Vectors by text, each made once, whichever set it stands in."""

    def __init__(self, sources: Sequence[Answers]) -> None:
        model = load_embedder("minilm")
        self.name, self.views, self.identity = model.name, model.views, model.identity
        self.signature, self.view_signature, self.kept = (
            model.signature,
            model.view_signature,
            False,
        )
        sets = [one.texts for one in sources] + [*dict.fromkeys(one.prompts for one in sources)]
        listed = [text for texts in sets for text in texts]
        made = [
            embed(SampleSet.from_texts(texts, name="some"), model, cache=Cache(None))
            for texts in sets
        ]
        self._rows = {
            view: np.concatenate([each.views[view] for each in made]) for view in self.views
        }
        self._place = {text: row for row, text in enumerate(listed)}

    def encode(self, prepared: Sequence[str]) -> EncodedBatch:
        rows = [self._place[text] for text in prepared]
        cut = np.zeros(len(rows), bool)
        return EncodedBatch({view: own[rows] for view, own in self._rows.items()}, cut)

    def of(self, texts: Sequence[str], view: str) -> Rows:
        rows = self._rows[view][[self._place[text] for text in texts]]
        return unit_rows(rows.astype(np.float64))


# ------------------------------------------------------------------ data


def alpaca(name: str) -> Answers:
    file = DATA / "alpaca_eval" / name / "model_outputs.json"
    rows = json.loads(file.read_text())
    prompts = tuple(row["instruction"] for row in rows)
    return Answers(name, prompts, tuple(row["output"] for row in rows))


def lines(file: Path, name: str) -> Answers:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    prompts = tuple(row.get("prompt", "") for row in rows)
    return Answers(name, prompts, tuple(row["text"] for row in rows))


def permuted(answers: Answers, rng: Rng) -> Answers:
    """The same answers, to other prompts than they were given to."""
    order = rng.permutation(len(answers.texts))
    return replace(
        answers,
        name=f"{answers.name}, permuted",
        texts=tuple(answers.texts[row] for row in order),
    )


def mixed(good: Answers, poor: Answers, share: float, rng: Rng) -> Answers:
    """Answers of which a share, at random prompts, are another's."""
    n = len(good.texts)
    taken = set(rng.permutation(n)[: round(share * n)].tolist())
    pairs = zip(good.texts, poor.texts, strict=True)
    texts = tuple(b if row in taken else a for row, (a, b) in enumerate(pairs))
    return replace(good, name=f"{share:.0%} {poor.name}", texts=texts)


def swapped(one: Answers, other: Answers, rng: Rng) -> tuple[Answers, Answers]:
    """Two equal sets: which of the two answers to a prompt stands in which is drawn."""
    heads = rng.random(len(one.texts)) < 0.5
    both = list(zip(one.texts, other.texts, heads.tolist(), strict=True))
    first = tuple(b if head else a for a, b, head in both)
    second = tuple(a if head else b for a, b, head in both)
    return replace(one, name="first", texts=first), replace(one, name="second", texts=second)


# ------------------------------------------------------------------ scores of two arrays


def scores(reference: Rows, generated: Rows, given: Rows, way: str) -> Rows:
    """Score row i of both, which answer prompt i with the vector `given[i]`, in one of the ways."""
    numbers = np.arange(len(reference))
    if way.startswith("residuals"):
        expected = ConditionalMean.of(given, reference).left_out
        reference, generated = reference - expected, generated - expected
    strata = (numbers, numbers) if way.endswith("other prompts") else None
    pair = pair_of(reference, generated, SETTINGS, NEEDS, strata=strata, replicates=False)
    return np.array([choice.score(pair).value for choice in CHOICES])


def beyond_chance(
    reference: Rows, generated: Rows, measure: Callable[[Rows, Rows], Rows], swaps: int
) -> tuple[Rows, Rows]:
    """Values, and how far they lie from those of labels swapped within prompts, in deviations."""
    rng = np.random.default_rng(0)
    value, equal = measure(reference, generated), []
    for _ in range(swaps):
        heads = rng.random(len(reference))[:, None] < 0.5
        first = np.where(heads, generated, reference)
        equal.append(measure(first, np.where(heads, reference, generated)))
    drawn = np.array(equal)
    spread = np.maximum(drawn.std(axis=0), 1e-9)
    return value, (value - drawn.mean(axis=0)) / spread


def mmd(reference: Rows, generated: Rows) -> Rows:
    """The squared MMD by a Gaussian kernel of median width: of the paired two-sample test."""
    both = np.concatenate([reference, generated])
    squares = np.square(both).sum(axis=1)
    gaps = squares[:, None] + squares - 2 * both @ both.T
    kernel = np.exp(-np.maximum(gaps, 0) / np.median(gaps))
    n = len(reference)
    left, right, across = kernel[:n, :n], kernel[n:, n:], kernel[:n, n:]
    return np.array([left.mean() + right.mean() - 2 * across.mean()])


def told_apart(known: Known, reference: Answers, systems: Sequence[Answers], swaps: int) -> None:
    """Print what each way scores, and how surely it tells systems from the reference."""
    for view in VIEWS:
        theirs, given = known.of(reference.texts, view), known.of(reference.prompts, view)
        explained = ConditionalMean.of(given, theirs).explained
        print(f"\nagainst {reference.name} by {view}: the prompt explains {explained:.0%}")
        print("system | way | precision | recall | coverage | MAUVE* | paired MMD")
        for system in systems:
            rows = known.of(system.texts, view)
            _, test = beyond_chance(theirs, rows, mmd, swaps)
            for way in WAYS:
                measure = partial(scores, given=given, way=way)
                value, far = beyond_chance(theirs, rows, measure, swaps)
                cells = [f"{v:.2f} ({z:+.1f})" for v, z in zip(value, far, strict=True)]
                print(f"{system.name} | {way} | {' | '.join(cells)} | {test[0]:+.1f}", flush=True)


def mixing(known: Known, reference: Answers, good: Answers, poor: Answers) -> None:
    """Print how scores fall where more and more of the answers are a worse model's."""
    print(f"\n{good.name} with a share of {poor.name}, against {reference.name}")
    print("view | way | score | 0 % | 25 % | 50 % | 75 % | 100 %")
    for view in VIEWS:
        theirs, given = known.of(reference.texts, view), known.of(reference.prompts, view)
        for way in WAYS:
            found = []
            for share in (0, 0.25, 0.5, 0.75, 1):
                draws = [
                    scores(theirs, known.of(mixed(good, poor, share, rng).texts, view), given, way)
                    for rng in map(np.random.default_rng, range(5))
                ]
                found.append(np.mean(draws, axis=0))
            for name, values in zip(SCORES, np.array(found).T, strict=True):
                print(f"{view} | {way} | {name} | {' | '.join(f'{v:.2f}' for v in values)}")


# ------------------------------------------------------------------ whole comparisons


def compared(known: Known, reference: Answers, system: Answers, way: str) -> Iterator[str]:
    """Compare as the command does, and give each score with its floor: below it, or not."""
    found = calipers.compare(
        reference.samples(),
        {system.name: system.samples()},
        embedder=known,
        shared_prompts=way,
        metrics=SCORES,
        level=None,
        floor=True,
    )
    for view in VIEWS:
        for name in SCORES:
            score = found[system.name].scores[name if view == VIEWS[0] else f"{view}.{name}"]
            floor = score.floor
            below = floor is not None and floor.beside < floor.value - floor.margin
            yield f"{score.value:.2f}{'' if below else ' ✓'}"


def false_alarms(known: Known, pairs: Sequence[tuple[Answers, Answers]], worlds: int) -> None:
    """Print how often equal sets lie below the noise floor: at most 2.5 % by its margin."""
    print(f"\nequal sets below the noise floor, of {worlds} draws of each of {len(pairs)} pairs")
    print("way | " + " | ".join(f"{name} by {view}" for view in VIEWS for name in SCORES))
    for way in ("ignore", "others", "residual"):
        below = np.zeros(len(SCORES) * len(VIEWS))
        for pair in pairs:
            for world in range(worlds):
                first, second = swapped(*pair, np.random.default_rng(world))
                cells = compared(known, first, second, way)
                below += ["✓" not in cell for cell in cells]
        print(f"{way} | {' | '.join(f'{b / worlds / len(pairs):.3f}' for b in below)}", flush=True)


def by_command(known: Known, reference: Answers, systems: Sequence[Answers]) -> None:
    """Print the scores of whole comparisons; ✓ for what lies within the noise floor."""
    print(f"\nagainst {reference.name}; ✓ within the noise floor")
    print("system | way | " + " | ".join(f"{name} by {view}" for view in VIEWS for name in SCORES))
    for system in systems:
        for way in ("ignore", "others", "residual"):
            print(f"{system.name} | {way} | {' | '.join(compared(known, reference, system, way))}")


# ------------------------------------------------------------------ intervals


class Drawn:
    """Prompts of which the text is their row."""

    readable = True

    def __init__(self, places: Rows) -> None:
        self.places = places

    def of(self, prompts: Sequence[str]) -> Embeddings:
        return Embeddings({"meaning": self.places[[int(prompt) for prompt in prompts]]}, {})


def coverage(worlds: int, *, prompts: int = 200, d: int = 8) -> None:
    """Print how often 95 % intervals hold the mean of a score over worlds."""
    print(f"\ncoverage of 95 % intervals, {worlds} worlds, {prompts} prompts")
    print("answers a prompt | system | " + " | ".join(SCORES))
    for answers in (1, 3):
        for system, moved in (("equal", 0.0), ("moved", 0.3)):
            found = np.array(
                [
                    _interval(np.random.default_rng([world, answers]), prompts, answers, d, moved)
                    for world in range(worlds)
                ]
            )
            value, low, high = np.moveaxis(found, 2, 0)
            held = (low <= value.mean(axis=0)) & (value.mean(axis=0) <= high)
            cells = [f"{share:.3f}" for share in held.mean(axis=0)]
            print(f"{answers} | {system} | {' | '.join(cells)}", flush=True)


def _interval(rng: Rng, prompts: int, answers: int, d: int, moved: float) -> Rows:
    """Values and both ends, for each score, in one world."""
    places = rng.standard_normal((prompts, d))
    numbers = np.repeat(np.arange(prompts), answers)
    sides = [places[numbers] + 0.3 * rng.standard_normal((len(numbers), d)) for _ in range(2)]
    sides[1] += moved
    shared = SharedPrompts(numbers, numbers, "prompt")
    texts = {number: f"{number:06d}" for number in range(prompts)}
    both = (Embeddings({"meaning": rows}, {}) for rows in sides)
    given = given_prompts(*both, shared, texts, Drawn(places), SETTINGS)
    assert given is not None
    rows = given.sides("meaning", (sides[0], sides[1]), SETTINGS)
    pair = pair_of(*rows, SETTINGS, NEEDS, clusters=given.clusters, strata=given.strata)
    made = {choice.name: choice.score(pair) for choice in CHOICES}
    found = with_intervals(made, spreads(pair, CHOICES), 0.95)
    return np.array([[score.value, *(score.interval or (np.nan,) * 2)] for score in found.values()])


# ------------------------------------------------------------------ the first screen


def eleven() -> Comparison:
    """Compare eleven systems of AlpacaEval with the twelfth, as the command does."""
    folder = DATA / "alpaca_eval"
    names = sorted(file.name for file in folder.iterdir() if file.is_dir())
    every = {name: alpaca(name).samples() for name in names}
    return calipers.compare(every.pop(REFERENCE), every)


def how_sure(found: Comparison) -> str:
    """Give the tests against the reference as a table, corrected p-values of all together."""
    tests = {(test.a, test.score): test for test in found.tests if test.b == AGAINST}
    keys = list(dict.fromkeys(score for _, score in tests))
    heads = [f"p, {key}" for key in keys]
    lines = [f"| system | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(keys)}"]
    for system in found.systems:
        p_values = [tests[system.name, key].adjusted_p_value for key in keys]
        cells = ["–" if p is None else f"{p:.4f}" for p in p_values]
        lines.append(f"| {system.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write_verdict() -> None:
    """Put the first screen on its page, between the marks."""
    page = Path(__file__).parents[2] / "docs" / "shared_prompts.md"
    before, _, rest = page.read_text().partition(f"{MARK}\n")
    _, _, after = rest.partition(f"{MARK}\n")
    screen = plain(eleven().document(), width=WIDTH).rstrip()
    page.write_text(f"{before}{MARK}\n\n```text\n{screen}\n```\n\n{MARK}\n{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--swaps", type=int, default=49)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="put the first screen on the page")
    parser.add_argument("parts", nargs="*", default=PARTS, help=f"of {', '.join(PARTS)}, verdict")
    asked = parser.parse_args()
    if asked.write:
        write_verdict()
        return
    if "verdict" in asked.parts:
        found = eleven()
        print(plain(found.document()), how_sure(found), sep="\n")
    if "coverage" in asked.parts:
        coverage(max(asked.worlds, 100))
    rng = np.random.default_rng(0)
    if (DATA / "alpaca_eval").is_dir():
        names = (REFERENCE, *SYSTEMS, "alpaca-7b_verbose", "llama-2-7b-chat-hf")
        every: Mapping[str, Answers] = {name: alpaca(name) for name in names}
        known = Known(list(every.values()))
        reference, systems = every[REFERENCE], [every[name] for name in SYSTEMS]
        if "told" in asked.parts:
            cases = [*systems, permuted(every["gpt4"], rng)]
            told_apart(known, reference, cases, asked.swaps)
            style = [every["alpaca-7b_verbose"]]
            told_apart(known, every["alpaca-7b"], style, asked.swaps)
        if "mixing" in asked.parts:
            for poor in ("alpaca-7b", "NullModel"):
                mixing(known, reference, every["gpt4"], every[poor])
        if "alarms" in asked.parts:
            pairs = [(every["gpt4"], reference), (every["gpt4"], every["alpaca-7b"])]
            false_alarms(known, pairs, asked.worlds)
    else:
        print(f"no AlpacaEval in {DATA}: set CALIPERS_DATA")
    stories = DATA / "writing_prompts"
    if stories.is_dir() and "stories" in asked.parts:
        human, model = (lines(stories / f"{name}.jsonl", name) for name in ("human", "gpt2-xl"))
        opening = tuple(" ".join(text.split()[:25]) for text in human.texts)
        human, model = replace(human, prompts=opening), replace(model, prompts=opening)
        known = Known([human, model])
        by_command(known, human, [model, permuted(model, rng)])
    for family in ("smollm2", "gemma"):
        first = SAMPLES / f"{family}_seed0.jsonl"
        if first.is_file() and "real" in asked.parts:
            reference = lines(first, f"{family}, one draw")
            others = [
                lines(file, f"{family}, {words}")
                for name, words in (("seed1", "another"), ("greedy", "greedy"), ("hot", "T = 1.6"))
                if (file := SAMPLES / f"{family}_{name}.jsonl").is_file()
            ]
            others.append(permuted(others[0], rng))
            by_command(Known([reference, *others]), reference, others)


if __name__ == "__main__":
    main()
