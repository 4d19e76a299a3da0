"""Exact duplicates: texts that repeat an earlier text of the set.

    1 - different texts / texts

so of three equal texts two are duplicates. Texts are compared character for character, empty ones
too, a letter with its accent being one character however it is written (NFC); with ``fold`` letter
case and the kind and amount of white space do not matter. A set of few possible texts, such as
short answers, has many duplicates in human hands too: compare the value with the reference's. It
rises with the number of texts. A copy with one changed character is
none; see :func:`calipers.text.near_texts`.
"""

from __future__ import annotations

import numpy as np

from calipers.errors import checks_keywords
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.numeric.validation import check_flags
from calipers.score import Score
from calipers.text.replicates import MeasuredTexts, TextReplicates, held_alone, sole_blocks
from calipers.text.scoring import Chosen, TextPair, raw_texts, text_score
from calipers.text.tokens import Texts
from calipers.text.unicode_forms import folded_words
from calipers.unicode.composition import composed


@checks_keywords
def exact_duplicates(texts: Texts, *, fold: bool = False) -> Score:
    """Tell which texts repeat an earlier text of the set.

    Parameters
    ----------
    texts
        The texts, or a corpus; no tokens are needed.
    fold
        Whether to take texts for equal that differ in letter case, white space, Unicode form or
        invisible characters alone.

    Returns
    -------
    Score
        The share of such texts, in [0, 1), closest to the reference's own value is best.
        ``per_sample`` tells of every text whether it repeats an earlier one.

    Raises
    ------
    InputError
        If there is no text, an item is not a string, or `fold` is not a boolean.

    Examples
    --------
    >>> exact_duplicates(["yes", "no", "yes", "Yes "], fold=True).per_sample.tolist()
    [False, False, True, True]
    """
    check_flags(fold=fold)
    rows = raw_texts(texts)
    seen: set[str] = set()
    repeated = np.zeros(len(rows), bool)
    for row, text in enumerate(rows):
        key = _key(text, fold=fold)
        repeated[row] = key in seen
        seen.add(key)
    value = float(np.mean(repeated))
    return text_score("exact_duplicates", value, rows, per_sample=repeated, fold=fold)


def exact_duplicates_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute the share of repeated texts without each block of texts."""
    fold, rows = measured.options["compare"] == "folded", measured.texts.texts
    seen: dict[str, int] = {}
    keys = (_key(text, fold=fold) for text in rows)
    ids = np.array([seen.setdefault(key, len(seen)) for key in keys], np.int32)
    sole = sole_blocks(ids, np.arange(len(ids) + 1), measured.labels, len(seen))
    sizes = np.bincount(measured.labels, minlength=DEFAULT_BLOCKS)
    return TextReplicates(texts=1 - (len(seen) - held_alone(sole)) / (len(ids) - sizes))


def _key(text: str, *, fold: bool) -> str:
    return " ".join(folded_words(text)) if fold else composed(text)


def read_exact_duplicates(pair: TextPair, options: Chosen) -> Score:
    return exact_duplicates(pair.texts, fold=options["compare"] == "folded")
