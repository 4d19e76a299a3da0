"""Cautions on the statistics of texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from calipers.catalogue.choosing import Choice
from calipers.catalogue.keys import split_text_key
from calipers.catalogue.texts import TEXT_METRICS
from calipers.errors import either
from calipers.evaluate.cautions.forms import forms_of
from calipers.evaluate.cautions.movements import by_ratio, by_size, movement
from calipers.evaluate.inputs import FEW, InputSet, length_cautions, same_samples
from calipers.evaluate.scoring import undefined_count
from calipers.results import SetSummary
from calipers.results.caution import Caution, brief_share, fitting
from calipers.results.reading import WORTH_SAYING
from calipers.samples.wording import counted
from calipers.score import Score, signature_pins
from calipers.text.corpus import Corpus
from calipers.text.unicode_forms import as_seen

MANY_COPIES = 0.01
NEARLY_ALL = 0.995
OF_BALLS = ("string_precision", "string_recall", "string_coverage")


SAMPLE = 100
"""Texts that are looked at, spread evenly over the set."""

HAN_KANA = re.compile("[\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
OTHERS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer, with their vowel signs."""

LONG_HAN, LONG_OTHER = 4, 12
"""Signs a token from which on tokens are not words: words have about 2, and about 5."""


def system_cautions(
    files: Sequence[InputSet],
    summary: SetSummary,
    reference: SetSummary | None,
    scores: Mapping[str, Score],
    *,
    same: bool = False,
) -> Iterator[Caution]:
    """Describe what moves a system's statistics besides what they measure.

    `same` says that it holds only texts of the reference.
    """
    yield from pair_cautions(summary, reference, same=same)
    yield from unread_cautions(scores)
    yield from set_cautions(files, scores)
    if not same:
        yield from ball_cautions(scores)


def pair_cautions(
    summary: SetSummary, reference: SetSummary | None, *, same: bool = False
) -> Iterator[Caution]:
    """Describe the size of a system, and how its texts differ from the reference's."""
    if reference is not None:
        yield from length_cautions(reference, summary)
        if same:
            yield same_samples(reference, summary, unit="the texts")
    if summary.n < FEW:
        verb, whose = ("is", "its") if summary.n == 1 else ("are", "their")
        size = counted(summary.n, "text")
        text = f"{size} {verb} few: {whose} statistics vary a lot by chance"
        yield Caution("few_samples", f"only {size}", text, movement=by_size(summary.n))


def set_cautions(files: Sequence[InputSet], scores: Mapping[str, Score]) -> Iterator[Caution]:
    """Describe how many texts repeat others, and how many have no value."""
    for file in files:
        copies = len(file.samples) - len(set(map(as_seen, file.samples)))
        if copies > MANY_COPIES * len(file.samples):
            text = (
                f"{copies:,} of {len(file.samples):,} texts are exact duplicates of an earlier "
                "one; duplicates alone raise Self-BLEU and similar metrics"
            )
            share = copies / len(file.samples)
            brief, moved = f"{brief_share(share)} duplicates", movement("duplicates", share)
            yield Caution("duplicates", brief, text, movement=moved)
    yield from undefined_cautions(scores)
    yield from unseen_cautions(scores)


def ball_cautions(scores: Mapping[str, Score]) -> Iterator[Caution]:
    """Warn where balls around texts contain all texts, since these share little."""
    full = []
    for key, score in scores.items():
        name, words = split_text_key(key)
        if name in OF_BALLS and score.value >= NEARLY_ALL:
            full.append(f"{TEXT_METRICS[name].label_of(words)} {score.value:.3f}")
    if full:
        mauve = scores.get("string_mauve")
        blind = mauve is not None and mauve.value >= NEARLY_ALL
        text = (
            f"{', '.join(full)}: the neighbourhoods cover (nearly) all texts, so this says nothing "
            f"here; use {'' if blind else 'string_mauve or '}corpus_match_bleu"
        )
        yield Caution("neighbours", "string balls hold nearly all texts", text)


def undefined_cautions(scores: Mapping[str, Score]) -> Iterator[Caution]:
    """State how many texts are not part of a metric's mean."""
    missing = {key: _undefined(score) for key, score in scores.items()}
    counts = [f"{key} {count:,}" for key, count in missing.items() if count]
    if counts:
        text = f"texts too short for a value are left out: {', '.join(counts)}"
        yield Caution("undefined", "some texts are too short", text)


def form_cautions(
    files: Sequence[InputSet], reference: InputSet | None, train: InputSet | None
) -> Iterator[Caution]:
    """Warn of texts in another Unicode form than those they are compared with."""
    for other, side in (("reference", reference), ("training set", train)):
        if side is not None:
            texts = (text for file in files for text in file.samples)
            caution = forms_of(side.samples, texts).caution(other)
            yield from () if caution is None else (caution,)


def unseen_cautions(scores: Mapping[str, Score]) -> Iterator[Caution]:
    """Describe which metrics could not read part of the texts, and how much."""
    about: dict[str, list[str]] = {}
    for key, score in scores.items():
        if score.note:
            name, words = split_text_key(key)
            about.setdefault(score.note, []).append(TEXT_METRICS[name].label_of(words))
    for note, labels in about.items():
        text = f"{', '.join(labels)}: {note}"
        yield Caution("unseen", fitting(f"{labels[0]} did not read all", "texts not read"), text)


def unread_cautions(scores: Mapping[str, Score]) -> Iterator[Caution]:
    """Describe which scores rest on words that their model does not know."""
    for key, score in scores.items():
        pins = signature_pins(score.signature)
        share = float(pins.get("unread_words", 0))
        if share >= WORTH_SAYING:
            rows, n = int(pins["unread"]), counted(int(pins["n"]), "row")
            left = f"; {rows:,} of {n} have no value for it" if rows else ""
            text = (
                f"{key}: the model {pins['model']} does not know {100 * share:.3g} % of the words"
                f"{left}; choose a model that reads these texts, or chrf, which compares characters"
            )
            brief = f"{brief_share(share)} of the words not read"
            yield Caution("unread", brief, text)
            return


def size_cautions(sizes: Mapping[str, int], choices: Iterable[Choice]) -> Iterator[Caution]:
    """Warn of sets of different sizes."""
    counts = sorted(set(sizes.values()))
    sized = [choice.key for choice in choices if choice.sized]
    if len(counts) > 1 and sized:
        text = (
            f"sets have {counts[0]} to {counts[-1]} texts; the number of texts alone changes "
            f"{', '.join(sized)}, so these values are not comparable"
        )
        moved = by_ratio("sizes", counts[0], counts[-1])
        yield Caution("sizes", "sets differ in size", text, movement=moved)


def _undefined(score: Score) -> int:
    """Texts that the mean leaves out, but for those that were not read."""
    unread = int(signature_pins(score.signature).get("unread", 0))
    return 0 if np.isnan(score.value) else undefined_count(score) - unread


def script_cautions(corpus: Corpus) -> Iterator[Caution]:
    """Warn of a set in a script whose tokens are not words.

    The sizes of its tokens tell, not the name of the tokenizer: texts in which spaces were put
    between words need no other one.
    """
    rows = np.unique(np.linspace(0, len(corpus) - 1, SAMPLE).astype(int))
    texts = [corpus.texts[row] for row in rows]
    letters = sum(sum(map(str.isalpha, text)) for text in texts)
    han, other = (_count(texts, script) for script in (HAN_KANA, OTHERS))
    if not letters or max(han, other) <= letters / 2:
        return
    tokens = max(1, int(corpus.lengths[rows].sum()))
    if max(han / LONG_HAN, other / LONG_OTHER) < tokens:
        return
    mean, name = corpus.lengths.mean(), re.sub(r"-\d[\d.]*$", "", corpus.tokenizer)
    pieces = "one piece" if mean < 1.5 else "long pieces"
    fit = ("unicode", "zh", "ja-mecab") if han > other else ("unicode", "characters")
    text = (
        f"its texts are in a script without spaces, which the tokenizer {name!r} splits into "
        f"{pieces} ({mean:.1f} tokens per text); use {_tokenizers(fit)}"
    )
    yield Caution("tokens", "tokens are not words", text)


def _count(texts: list[str], script: re.Pattern[str]) -> int:
    return sum(len(script.findall(text)) for text in texts)


def _tokenizers(names: Sequence[str]) -> str:
    """Name the option with each of the tokenizers that fit."""
    return either([f"`tokenizer={name!r}`" for name in names])
