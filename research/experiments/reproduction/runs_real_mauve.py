"""Decoding on two real language models, as Pillutla et al. (JMLR 2023) look at it.

Every set continues the same prompts, all texts are cut to the same number of words, and what people
wrote behind the prompts is the reference. Differences are tested over the same prompts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

import calipers
from calipers import metrics, text
from calipers.language_model.model import TokenScores
from calipers.metrics import likelihood as formulas
from calipers.results import Comparison
from reproduction import real_models
from reproduction.continued import embed
from reproduction.item import Line, Setting
from reproduction.real_models import GEMMA, SMOLLM2, STORY, THREE, Corpus
from reproduction.verdicts import (
    Row,
    alike,
    below,
    best,
    compared,
    falls,
    jackknife,
    order,
    rises,
    shown,
)

MODELS = (SMOLLM2, GEMMA)
TOLD = "greedy, ancestral, nucleus 0.9"
MEASURED = "precision,recall,mauve_star,prd_f8,prd_f1_8"
VIEWS = ("meaning", "form")


def told_of(corpus: Corpus) -> str:
    """What is compared, in the words of a page."""
    return (
        f"continuations of the first {corpus.prompt_words} words of {corpus.told}, cut to "
        f"{corpus.words} words; intervals and differences: calipers compare, 95 %, prompts paired"
    )


def setting(*models: str, more: str = "", n: str = "", corpus: Corpus = STORY) -> Setting:
    """What the lines of an item rest on; what is of likelihoods alone needs no embedder."""
    return Setting(
        tuple(real_models.named(model) for model in models or MODELS),
        "" if n else "MiniLM",
        n or f"{corpus.size} a side",
        real_models.SEED,
        more or told_of(corpus),
    )


def named(model: str, decoding: str) -> str:
    """What a system is called."""
    return f"{real_models.SHORT[model]}, {decoding}"


@functools.cache
def vectors(
    model: str, decoding: str, view: str, words: int = 0, corpus: Corpus = STORY
) -> np.ndarray:
    """Vectors of the continuations, cut to a number of words; of people's without a model."""
    written = real_models.written(model, decoding, corpus) if model else real_models.human(corpus)
    return embed(real_models.cut(written, words or corpus.words), view)


@functools.cache
def comparison(view: str = "meaning", corpus: Corpus = STORY) -> Comparison:
    """All systems beside what people wrote, with intervals and all tests between them."""
    return calipers.compare(
        vectors("", "", view, corpus=corpus),
        {named(*each): vectors(*each, view, corpus=corpus) for each in real_models.DRAWN[corpus]},
        metrics=MEASURED,
        paired=True,
        floor=False,
        threads=1,
    )


def row(
    score: str, model: str, decodings: Sequence[str], view: str = "meaning", corpus: Corpus = STORY
) -> Row:
    """Several decodings of a model by one score."""
    names = [named(model, each) for each in decodings]
    return compared(comparison(view, corpus), score, names)


def values(score: str, view: str) -> np.ndarray:
    """A score of all systems that continue stories."""
    held = comparison(view)
    return np.array([held[named(*each)][score].value for each in real_models.STORIES])


def title(model: str) -> str:
    """A model in the words of a line."""
    return {GEMMA: "Gemma", SMOLLM2: "SmolLM2"}[model]


def statistic(
    of: Callable[[list[str]], float], sets: Sequence[Sequence[str]], *, blocks: int = 20
) -> Row:
    """A statistic of sets of texts, with intervals by leaving out blocks of prompts."""

    def measured(kept: np.ndarray) -> list[float]:
        return [of([texts[place] for place in kept]) for texts in sets]

    return jackknife(measured, len(sets[0]), blocks=blocks)


def gaps(
    of: Callable[[list[str]], float], sets: Sequence[Sequence[str]], people: Sequence[str]
) -> Row:
    """How far a statistic of each set lies from that of what people wrote."""

    def measured(kept: np.ndarray) -> list[float]:
        human = of([people[place] for place in kept])
        return [abs(of([texts[place] for place in kept]) - human) for texts in sets]

    return jackknife(measured, len(people), blocks=10)


def mauve_table_5() -> Iterator[Line | Setting]:
    """MAUVE* and four metrics of words, of three decodings."""
    return table_5(STORY)


def table_5(corpus: Corpus) -> Iterator[Line | Setting]:
    """Table 5 by the continuations of any corpus."""
    yield setting(corpus=corpus)
    for model in MODELS:
        for view in VIEWS:
            yield order(
                f"MAUVE*, {title(model)}, {view}: {TOLD}",
                "each higher than the one before",
                row("mauve_star", model, THREE, view, corpus),
            )
    yield from _over_seeds(("ancestral", "top_p=0.9"), corpus)
    people = real_models.cut(real_models.human(corpus), corpus.words)
    for model in MODELS:
        sets = [
            real_models.cut(real_models.written(model, each, corpus), corpus.words)
            for each in THREE
        ]
        yield below(
            f"Distinct-4, {title(model)}: {TOLD}",
            "greedy least: .115 beside .913, .868",
            statistic(lambda each: text.distinct(each, order=4).value, sets, blocks=10),
        )
        yield shown(
            "the same of people",
            statistic(
                lambda each: text.distinct(each, order=4).value, [people], blocks=10
            ).estimates[0],
        )
        yield best(
            f"share that ends in a loop (REP), {title(model)}: {TOLD}",
            "greedy most: .859 beside .002, .005",
            statistic(lambda each: text.repetition_frequency(each).value, sets),
            0,
        )
        yield shown(
            f"distance of Self-BLEU from people's, {title(model)}: {TOLD} (GPT-2 xl: .035, .022, "
            ".031)",
            gaps(lambda each: text.self_bleu(each, threads=1).value, sets, people),
        )
        yield shown(
            f"distance of the Zipf coefficient from people's, {title(model)}: {TOLD} (GPT-2 xl: "
            ".023, .022, .014)",
            gaps(lambda each: text.zipf_coefficient(each).value, sets, people),
        )


def _over_seeds(decodings: Sequence[str], corpus: Corpus) -> Iterator[Line]:
    """MAUVE* of SmolLM2's continuations, by meaning, with several seeds of k-means."""
    people = vectors("", "", "meaning", corpus=corpus)
    for decoding in decodings:
        written = vectors(SMOLLM2, decoding, "meaning", corpus=corpus)
        yield shown(
            f"MAUVE*, SmolLM2, meaning, {decoding}, by seeds 0 to 5 of k-means",
            [
                metrics.mauve(people, written, seed=seed, threads=1).mauve_star.value
                for seed in range(6)
            ],
        )


def surprise(scorer: str, model: str, decoding: str = "", corpus: Corpus = STORY) -> TokenScores:
    """How likely a model finds a set; of people where no model wrote it."""
    if not model:
        truncated = "ancestral" if scorer == SMOLLM2 else ""
        human = real_models.human(corpus)
        return real_models.read_by(scorer, "human", human, truncated, corpus)
    name = f"{real_models.SHORT[model]}-{decoding.replace('=', '')}"
    written = real_models.written(model, decoding, corpus)
    return real_models.read_by(scorer, name, written, corpus=corpus)


def corpus_perplexity(scores: TokenScores, kept: np.ndarray) -> float:
    """exp of the mean negative log-likelihood over all tokens of some texts."""
    sums = formulas.sums_by_text(scores.log_probability, scores.starts)
    return float(np.exp(-sums[kept].sum() / scores.tokens[kept].sum()))


BLOCKS = 12


def read(corpus: Corpus = STORY) -> str:
    """What was read, in the words of a page."""
    return (
        f"the first {corpus.scored} texts cut to {corpus.scored_words} words, given their prompts; "
        "intervals by leaving out each of twelve blocks of prompts"
    )


READERS = tuple((scorer, model) for model in MODELS for scorer in MODELS)
"""Which model reads what which model wrote: itself and the other."""


def mauve_table_5_perplexity() -> Iterator[Line | Setting]:
    """The difference of generation perplexity from people's, by both scorers."""
    return table_5_perplexity(STORY)


def table_5_perplexity(corpus: Corpus) -> Iterator[Line | Setting]:
    """Perplexity of table 5 by the continuations of any corpus."""
    yield setting(more=read(corpus), n=f"{corpus.scored} a side", corpus=corpus)
    for scorer, model in READERS:
        human = surprise(scorer, "", corpus=corpus)
        sets = [surprise(scorer, model, each, corpus) for each in THREE]

        def both(
            kept: np.ndarray, human: TokenScores = human, sets: list[TokenScores] = sets
        ) -> list[float]:
            people = corpus_perplexity(human, kept)
            values = [corpus_perplexity(each, kept) for each in sets]
            return [people, *values, *(abs(value - people) for value in values)]

        found = jackknife(both, corpus.scored, blocks=BLOCKS)
        own = "itself" if scorer == model else "another model"
        about = f"{title(model)} read by {title(scorer)} ({own})"
        yield shown(f"perplexity, {about}: people, {TOLD}", _part(found, range(4)), digits=1)
        yield order(
            f"distance of perplexity from people's, {about}: greedy, ancestral",
            "11.3, 19.3 (GPT-2 xl): greedy is wrongly nearer",
            _part(found, (4, 5)),
            digits=1,
        )
        yield order(
            f"the same, {about}: nucleus 0.9, ancestral",
            "1.5, 19.3: nucleus is nearer",
            _part(found, (6, 5)),
            digits=1,
        )


def _part(found: Row, places: Sequence[int]) -> Row:
    """Some of the systems of a row, in another order."""
    places = list(places)
    pairs = {}
    for i, j in combinations(range(len(places)), 2):
        a, b = places[i], places[j]
        pairs[i, j] = found.gaps[a, b] if a < b else found.gaps[b, a].negative()
    return Row(tuple(found.estimates[place] for place in places), pairs)


@functools.cache
def decodings(view: str, corpus: Corpus = STORY) -> Comparison:
    """More decodings of SmolLM2 beside what people wrote, with all tests between them."""
    sets = real_models.DRAWN[corpus] | real_models.ALSO[corpus]
    drawn = [each for each in sets if each[0] == SMOLLM2]
    return calipers.compare(
        vectors("", "", view, corpus=corpus),
        {decoding: vectors(model, decoding, view, corpus=corpus) for model, decoding in drawn},
        metrics="mauve_star,precision,recall",
        paired=True,
        floor=False,
        threads=1,
    )


def mauve_table_6() -> Iterator[Line | Setting]:
    """Beam search between greedy decoding and sampling."""
    yield setting(SMOLLM2)
    names = ("greedy", *real_models.BEAMS, "ancestral", "top_p=0.9")
    for view in VIEWS:
        yield order(
            f"MAUVE*, {view}: greedy, beam 4, the same without repeats, ancestral, nucleus 0.9",
            "0.019, 0.040, 0.438, 0.655, 0.906",
            compared(decodings(view), "mauve_star", names),
        )


def mauve_table_7() -> Iterator[Line | Setting]:
    """Locally typical sampling beside the nucleus, and MAUVE* by p and K."""
    yield setting(SMOLLM2)
    yield from _over_seeds(("typical=0.95", "ancestral"), STORY)
    for view in VIEWS:
        found = decodings(view)
        yield from lines_of_table_7(view, found)
        yield best(
            f"MAUVE*, {view}: τ = 0.95, greedy, ancestral",
            "better than other decodings",
            compared(found, "mauve_star", ("typical=0.95", "greedy", "ancestral")),
            0,
        )
        yield best(
            f"MAUVE*, {view}: p = 0.9, 0.95, 1",
            "best at p = 0.95",
            compared(found, "mauve_star", ("top_p=0.9", "top_p=0.95", "ancestral")),
            1,
        )
        yield order(
            f"MAUVE*, {view}: K = 10, all tokens",
            "worst at K = 10",
            compared(found, "mauve_star", ("top_k=10", "ancestral")),
        )


def lines_of_table_7(view: str, found: Comparison) -> Iterator[Line]:
    """What the paper says of table 7, by the decodings of some continuations in one view."""
    yield order(
        f"MAUVE*, {view}: τ = 0.2, 0.95",
        "0.862, 0.950: better at 0.95",
        compared(found, "mauve_star", ("typical=0.2", "typical=0.95")),
    )
    yield alike(
        f"MAUVE*, {view}: nucleus 0.95 and τ = 0.95",
        "0.952 and 0.950: comparable",
        compared(found, "mauve_star", ("top_p=0.95", "typical=0.95")),
        margin=0.02,
    )


def mauve_figure_17() -> Iterator[Line | Setting]:
    """Precision and recall of nucleus and ancestral sampling."""
    return figure_17(STORY)


def figure_17(corpus: Corpus) -> Iterator[Line | Setting]:
    """Figure 17 by the continuations of any corpus."""
    yield setting(corpus=corpus)
    names, told = ("top_p=0.9", "ancestral"), "0.9, 1"
    for model in MODELS:
        for view in VIEWS:
            yield rises(
                f"precision, {title(model)}, {view}: p = {told}",
                "rises with p",
                row("precision", model, names, view, corpus),
            )
            yield falls(
                f"recall, {title(model)}, {view}: p = {told}",
                "falls with p",
                row("recall", model, names, view, corpus),
            )


def mauve_figure_8_perplexity() -> Iterator[Line | Setting]:
    """The distance of perplexity from people's over the first tokens of the texts."""
    yield setting(more=read(), n=f"{STORY.scored} a side")
    tokens = (10, 20, 40)
    for scorer, model in READERS:
        human, written = surprise(scorer, ""), surprise(scorer, model, "ancestral")

        def distance(
            kept: np.ndarray, human: TokenScores = human, written: TokenScores = written
        ) -> list[float]:
            return [
                abs(_first(written, kept, length) - _first(human, kept, length))
                for length in tokens
            ]

        yield shown(
            f"distance of perplexity from people's, {title(model)} read by {title(scorer)}: first "
            f"{', '.join(map(str, tokens))} tokens (the paper: not monotone)",
            jackknife(distance, STORY.scored, blocks=BLOCKS),
            digits=1,
        )


def _first(scores: TokenScores, kept: np.ndarray, length: int) -> float:
    """Perplexity of the first tokens of some texts."""
    parts = [
        scores.log_probability[start : min(start + length, stop)]
        for start, stop in zip(scores.starts[kept], scores.starts[kept + 1], strict=True)
    ]
    return float(np.exp(-np.concatenate(parts).mean()))


def mauve_table_15() -> Iterator[Line | Setting]:
    """Scores of people's texts under the distribution of three decoders: no sample is looked at."""
    return table_15(STORY)


def table_15(corpus: Corpus) -> Iterator[Line | Setting]:
    """Table 15 by the texts of any corpus."""
    told = f"{corpus.scored} texts by people"
    yield setting(SMOLLM2, more=read(corpus), n=told, corpus=corpus)
    human = real_models.human(corpus)
    sets = [real_models.read_by(SMOLLM2, "human", human, name, corpus) for name in THREE]

    def of(
        value: Callable[[TokenScores, np.ndarray], float],
    ) -> Row:
        return jackknife(
            lambda kept: [value(each, kept) for each in sets], corpus.scored, blocks=BLOCKS
        )

    def sparsemax(scores: TokenScores, kept: np.ndarray) -> float:
        values = formulas.sparsemax_scores(_decoded(scores), scores.squares)
        return _mean(np.clip(values, 0, 1), scores, kept)

    def divergence(scores: TokenScores, kept: np.ndarray) -> float:
        return _mean(formulas.jensen_shannon(_decoded(scores)), scores, kept)

    def smoothed(scores: TokenScores, kept: np.ndarray) -> float:
        places = np.concatenate(
            [np.arange(scores.starts[text], scores.starts[text + 1]) for text in kept]
        )
        return formulas.epsilon_perplexity(_decoded(scores)[places], scores.vocabulary)

    found = of(sparsemax)
    yield best(f"sparsemax score: {TOLD}", "greedy least: .496, .686, .686", found, 0, higher=False)
    yield alike(
        "sparsemax score: ancestral, nucleus 0.9",
        ".686, .686: cannot be told apart",
        _part(found, (1, 2)),
        margin=0.005,
    )
    yield best(
        f"Jensen-Shannon divergence: {TOLD}",
        "wrongly best for greedy: .349, .369, .363",
        of(divergence),
        0,
        higher=False,
    )
    found = of(smoothed)
    yield best(
        f"ε-perplexity: {TOLD}",
        "best for ancestral: 497.7, 11.4, 13.7",
        found,
        1,
        higher=False,
        digits=1,
    )


def _decoded(scores: TokenScores) -> np.ndarray:
    assert scores.decoded is not None
    return scores.decoded


def _mean(values: np.ndarray, scores: TokenScores, kept: np.ndarray) -> float:
    """The mean over all tokens of some texts."""
    sums = formulas.sums_by_text(values, scores.starts)
    return float(sums[kept].sum() / scores.tokens[kept].sum())
