"""What text metrics are called where a person reads them, and what each of their rows tells."""

from __future__ import annotations

from calipers.catalogue.keys import split_text_key
from calipers.catalogue.texts import TEXT_METRICS
from calipers.report.names import clean


def text_label(key: str) -> str:
    """Name a text metric for a row; an unknown key is its own name.

    Examples
    --------
    >>> text_label("distinct:n=2:sample")
    'Distinct-2 in a text'
    >>> text_label("self_bleu"), text_label("compression:zstd"), text_label("rouge:rouge1:recall")
    ('Self-BLEU-4', 'Compression zstd', 'ROUGE-1 recall')
    """
    name, words = split_text_key(key)
    if name not in TEXT_METRICS:
        return clean(key)
    return TEXT_METRICS[name].label_of([clean(word) for word in words])


def text_meaning(key: str) -> str:
    """Say what a text metric tells; empty for one that is not known.

    Examples
    --------
    >>> text_meaning("moving_average_ttr:window=20")
    'share of different tokens in a window of 20'
    >>> text_meaning("rouge:rouge1:recall")
    "words in common with the reference of the row (share of the reference's)"
    """
    name, words = split_text_key(key)
    return TEXT_METRICS[name].meaning_of(words) if name in TEXT_METRICS else ""


def family_of(key: str) -> str:
    """The family of a key, which may be unknown."""
    name = key.partition(":")[0]
    return TEXT_METRICS[name].family if name in TEXT_METRICS else ""


def is_unranked(key: str) -> bool:
    """Whether neither a high nor a low value of a text metric is good."""
    name = split_text_key(key)[0]
    return name in TEXT_METRICS and not TEXT_METRICS[name].ranked
