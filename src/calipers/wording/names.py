"""Names of metrics and views, and what each measures."""

from __future__ import annotations

from calipers.catalogue.embeddings import METRICS
from calipers.catalogue.estimation import AXES, DIVERGENCE
from calipers.catalogue.keys import split_text_key
from calipers.catalogue.likelihoods import STATISTICS
from calipers.wording.cells import fits, head_of, tail_of
from calipers.wording.printable import printable

LABELS = {word: label for axis in AXES for word, label in axis.labels.items()}
"""Word of an option to what it is called in a column; a weight follows it."""

MADE_BY = {word: phrase for axis in AXES for word, phrase in axis.phrases.items()}
"""Name of an estimator or a smoothing to how it makes a score."""

VIEWS = {
    "meaning": "topics and content",
    "form": "style, fluency, word order; topics too",
    "wording": "the words that occur, in any order",
    "image": "what a picture shows, as the model sees it",
    "pixels": "brightness and colour, place by place",
    "text": "the strings themselves",
}
"""Name of a view to what it sees of texts, or of the only samples that have it."""

VIEWS_OF_IMAGES = VIEWS | {
    "meaning": "objects and scenes",
    "form": "texture, sharpness, noise, colour; objects too",
}
"""Name of a view to what it sees of images."""

DISTRIBUTIONS = "both sets as distributions, by embeddings"
"""What stands over scores of embeddings in a table of texts."""

WIDEST_NAME = 40
"""Cells that the name of a set may take; longer ones lose their middle."""


def views_of_kind(samples: str | None) -> dict[str, str]:
    """Return what each view represents for samples of a kind: ``"images"``, or else texts."""
    return VIEWS_OF_IMAGES if samples == "images" else VIEWS


def sees(view: str, samples: str | None = None) -> str:
    """Describe what a view represents for samples of a kind; empty where unknown.

    Examples
    --------
    >>> sees("meaning"), sees("meaning", "images"), sees("other")
    ('topics and content', 'objects and scenes', '')
    """
    return views_of_kind(samples).get(view, "")


def label(metric: str) -> str:
    """Return the column label of a metric; an unknown key is its own label.

    Examples
    --------
    >>> label("near_copies:train")
    'Copies train'
    >>> label("recall:group=Sports")
    'Recall Sports'
    >>> label("mauve_star:chi2"), label("frontier_integral:knn")
    ('MAUVE* χ²', 'FI k-NN')
    """
    name, _, option = metric.partition(":")
    if name not in METRICS:
        return clean(metric)
    named = METRICS[name].label
    if option == "train" or option.startswith(("group=", "own=")):
        return f"{named} {clean(option.removeprefix('group='))}"
    words = [_word(word) for word in option.split(":") if word]
    if None in words:
        return clean(metric)
    return " ".join([named, *_unsaid(name, option), *filter(None, words)])


def meaning(metric: str) -> str:
    """Describe what a metric measures, after its key where the column head abbreviates it.

    Examples
    --------
    >>> meaning("near_copies")
    'near_copies: share of generated samples that nearly repeat a known one; 0.01 is usual'
    >>> meaning("mauve_star")
    'how close the two distributions are; 1 is no gap'
    >>> meaning("divergence:chi2:knn").partition(", ")[2]
    'by χ², from nearest neighbours; 0 is no gap'
    """
    base, _, option = metric.partition(":")
    spelt = label(metric).casefold().replace("*", "_star")
    tells = _composed(METRICS[base].meaning, [word for word in option.split(":") if word])
    return tells if spelt == metric else f"{metric}: {tells}"


def text_label(key: str) -> str:
    """Return the row label of a metric of texts; an unknown key is its own label.

    Examples
    --------
    >>> text_label("distinct:n=2:sample")
    'Distinct-2 in a text'
    >>> text_label("self_bleu"), text_label("compression:zstd"), text_label("rouge:rouge1:recall")
    ('Self-BLEU-4', 'Compression zstd', 'ROUGE-1 recall')
    """
    name, words = split_text_key(key)
    if name not in STATISTICS:
        return label(key) if name in METRICS else clean(key)
    return STATISTICS[name].label_of([clean(word) for word in words])


def text_meaning(key: str) -> str:
    """Describe what a text metric measures; empty for an unknown one.

    Examples
    --------
    >>> text_meaning("moving_average_ttr:window=20")
    'share of different tokens in a window of 20'
    >>> text_meaning("rouge:rouge1:recall")
    "words in common with the reference of the row (share of the reference's)"
    """
    name, words = split_text_key(key)
    if name not in STATISTICS:
        return meaning(key) if name in METRICS else ""
    return STATISTICS[name].meaning_of(words)


def family_of(key: str) -> str:
    """Return the family of a key, which may be unknown."""
    name = key.partition(":")[0]
    if name not in STATISTICS:
        return DISTRIBUTIONS if name in METRICS else ""
    return STATISTICS[name].family


def is_unranked(key: str) -> bool:
    """Whether neither high nor low values of a text metric are good."""
    name = split_text_key(key)[0]
    return name in STATISTICS and not STATISTICS[name].ranked


def _composed(tells: str, options: list[str]) -> str:
    """Say in the first part of a meaning how the score was made."""
    ways = [MADE_BY[word] for word in options if word in MADE_BY]
    how = [f"by {_word(word)}" for word in options if word not in MADE_BY] + ways
    first, semicolon, rest = (tells.replace(", unsmoothed", "") if ways else tells).partition(";")
    return ", ".join([first, *how]) + semicolon + rest


def _word(option: str) -> str | None:
    """What an option is called in a column; None where it is unknown."""
    name, equals, weight = option.partition("=")
    if name not in LABELS:
        return None
    return f"{LABELS[name]} {clean(weight)}" if equals else LABELS[name]


def _unsaid(metric: str, option: str) -> list[str]:
    """The default divergence, where a metric would have no name of its own without."""
    named = any(word.partition("=")[0] in DIVERGENCE.names for word in option.split(":"))
    return [LABELS["kl"]] if metric in ("divergence", "divergence_star") and not named else []


def shorten(text: str, width: int) -> str:
    """Cut the middle of a text that is wider than `width`, or has too many combining marks.

    Names that a reader has to tell apart are shortened by :mod:`calipers.wording.short_names`.

    Examples
    --------
    >>> shorten("runs/2024/model_a.jsonl", 12)
    'runs/2…jsonl'
    """
    if fits(text, width):
        return text
    tail = (width - 1) // 2
    return f"{head_of(text, width - 1 - tail)}…{tail_of(text, tail)}"


def clean(text: object) -> str:
    """Make a text safe for one line of a terminal: no control characters, no line breaks.

    Examples
    --------
    >>> clean("a\\tb")
    'a b'
    """
    return printable(str(text))
