"""One line for each row of a table of text metrics: what it tells, by the options in its key."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Words = Sequence[str]
"""The options of a key, as they stand in it."""


def text_meaning(key: str) -> str:
    """Say what a text metric tells; empty for one that is not known.

    Examples
    --------
    >>> text_meaning("moving_average_ttr:window=20")
    'share of different tokens in a window of 20'
    >>> text_meaning("rouge:rouge1:recall")
    "words in common with the reference of the row (share of the reference's)"
    """
    name, _, option = key.removeprefix("text.").partition(":")
    words = tuple(option.split(":"))
    return TOLD[name](words) if name in TOLD else PLAIN.get(name, "")


def _length(words: Words) -> str:
    return f"mean number of {_unit(words)} of a text"


def _median(words: Words) -> str:
    return f"{_unit(words)} of the text in the middle"


def _spread(words: Words) -> str:
    return f"standard deviation of the lengths in {_unit(words)}"


def _distinct(words: Words) -> str:
    if "sample" in words:
        return "within each text, averaged: share of its n-grams that are different"
    return "share of the n-grams of the whole set that are different"


def _window(words: Words) -> str:
    return f"share of different tokens in a window of {_number(words, 'window', '50')}"


def _self_bleu(words: Words) -> str:
    if "pairwise" in words:
        return "how much two texts of the set share, over all pairs; high is monotonous"
    return "how much of a text the others of its set hold; high is monotonous"


def _exact(words: Words) -> str:
    how = "but for case and white space" if "folded" in words else "character for character"
    return f"share of texts that repeat an earlier one, {how}"


def _near(words: Words) -> str:
    there = "train" in words or "reference" in words
    return f"share of texts that nearly repeat {f'one of {_side(words)}' if there else 'another'}"


def _novelty(words: Words) -> str:
    counted = "different n-grams" if "types" in words else "n-grams"
    return f"share of {counted} that {_side(words)} does not hold; loops are new too"


def _longest(words: Words) -> str:
    if "largest" in words:
        return f"tokens of the longest passage of any text that {_side(words)} holds too"
    return (
        f"tokens of the longest passage of a text that {_side(words)} holds too; shorter texts "
        "copy less"
    )


def _chrf(words: Words) -> str:
    kept = _number(words, "words", "0")
    counted = "characters" if kept == "0" else "characters and words"
    return f"{counted} in common with the reference of the row"


def _cut_off(words: Words) -> str:
    limit = _number(words, "limit", "0")
    return "share of texts that were cut off" + (f" at {limit} tokens" if limit != "0" else "")


def _rouge(words: Words) -> str:
    what = "words in one order"
    for word in words:
        if word.removeprefix("rouge").isdigit():
            order = int(word.removeprefix("rouge"))
            what = {1: "words", 2: "pairs of words"}.get(order, f"runs of {order} words")
        elif word == "rougeLsum":
            what = "words in one order, sentence by sentence,"
    parts = {"precision": "share of the text's", "recall": "share of the reference's"}
    part = next((parts[word] for word in words if word in parts), "F1")
    return f"{what} in common with the reference of the row ({part})"


def _string(start: str, end: str = "") -> Callable[[Words], str]:
    def told(words: Words) -> str:
        by = "subsequences with gaps" if "subsequence" in words else "n-grams"
        return f"{start}, by shared {by}{end}"

    return told


def _unit(words: Words) -> str:
    return next((word for word in words if word in ("words", "characters")), "tokens")


def _side(words: Words) -> str:
    return "the training set" if "train" in words else "the reference"


def _number(words: Words, name: str, usual: str) -> str:
    given = (word.partition("=")[2] for word in words if word.startswith(f"{name}="))
    return next(given, usual)


TOLD: dict[str, Callable[[Words], str]] = {
    "mean_length": _length,
    "median_length": _median,
    "length_spread": _spread,
    "distinct": _distinct,
    "moving_average_ttr": _window,
    "self_bleu": _self_bleu,
    "exact_duplicates": _exact,
    "near_duplicates": _near,
    "novelty": _novelty,
    "longest_copied_span": _longest,
    "non_termination": _cut_off,
    "chrf": _chrf,
    "rouge": _rouge,
    "string_precision": _string("share of texts inside the reference's support"),
    "string_recall": _string("share of the reference inside the texts' support"),
    "string_density": _string("how densely the reference surrounds the texts"),
    "string_coverage": _string("share of the reference with a text close by"),
    "string_mauve": _string("how close the two sets are", "; 1 is no gap"),
}
"""Metrics of whose line the options are a part."""

PLAIN = {
    "vocabulary_size": "different tokens of the whole set",
    "zipf_coefficient": "how steeply frequency falls with rank; about 1 in human texts",
    "expectation_adjusted_distinct": "different n-grams over those expected at this length",
    "compression": "how many times smaller the set gets; high is monotonous",
    "vendi": "effective number of different texts, by shared n-grams",
    "rke": "effective number of modes, by shared n-grams",
    "repetition_frequency": "share of texts that end in a repeated phrase",
    "rep_n": "share of the n-grams of a text that it has had before",
    "self_repetition": "how often the n-grams of a text stand in others of its set",
    "corpus_match_bleu": "how much of a text is found anywhere in the reference (quality)",
    "bleu": "n-grams shared with the reference of the row, over the corpus",
    "ter": "edits from the text to the reference of the row, per 100 words of it",
    "bert_score_precision": "how well each token is matched by one of the reference's",
    "bert_score_recall": "how well each token of the reference is matched by one of the text's",
    "bert_score_f1": "how well tokens match both ways, by what they mean in their context",
}
"""Metrics of whose line every word is true whatever the options are."""
