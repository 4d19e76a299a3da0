"""ROUGE of texts that have references of their own, as rouge-score computes it.

ROUGE-n holds n-grams of the text against those of its reference, ROUGE-L their longest common
subsequence, ROUGE-Lsum the same line by line (Lin, 2004). The numbers are rouge-score's, unchanged:
lower case, tokens of the letters a-z and digits only. Whatever else a text holds is dropped before
anything is counted: marks, accents, and every script but the Latin one. The score is the mean over
texts, where rouge-score's own aggregator would give the median of resampled means. A text none of
whose references holds a token has no value, where rouge-score would say 0.

It sees words, not meaning, and rewards long texts by recall.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from calipers import __version__
from calipers.errors import require
from calipers.numeric.validation import check_choice, check_flags
from calipers.score import Score, signature
from calipers.text.aligned import Aligned, References, align, check_tables
from calipers.text.ngrams import Doubles
from calipers.text.scoring import Chosen, TextPair, catalogued
from calipers.text.tokens import Texts

KINDS = (*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum")
LARGEST = 64_000_000

Part = Literal["f1", "precision", "recall"]

_FIELDS = {"f1": "fmeasure", "precision": "precision", "recall": "recall"}


def rouge(
    texts: Texts,
    references: References,
    *,
    kind: str = "rougeL",
    part: Part = "f1",
    stemmer: bool = False,
) -> Score:
    """Tell how much of their references texts say, and in the same order.

    Parameters
    ----------
    texts
        n strings; a corpus gives its texts.
    references
        One string for each text, or for each text a list of its references, equally many; of
        several, the one with the best F-measure counts.
    kind
        ``"rouge1"`` to ``"rouge9"``, ``"rougeL"`` or ``"rougeLsum"``, which takes lines for
        sentences.
    part
        The F-measure, the precision or the recall.
    stemmer
        Whether words of more than three letters lose their English endings (Porter).

    Returns
    -------
    Score
        The mean over the texts, in [0, 1], higher is better; ``per_sample`` gives each text's own,
        NaN where no reference of it holds a token, as in another script; the mean is over the
        others, and the signature says ``undefined:COUNT``.

    Raises
    ------
    InputError
        If rows have no references or differ in their number, an option is unknown, or a text and
        a reference are too long for rouge-score's table of ROUGE-L (64,000,000 entries).
    MissingExtraError
        If rouge-score is not installed.

    Examples
    --------
    >>> rouge(["the cat sat"], ["the cat sat down"], part="recall").value
    0.75
    """
    check_choice("kind", kind, KINDS)
    check_choice("part", part, tuple(_FIELDS))
    check_flags(stemmer=stemmer)
    scorers = require("rouge_score.rouge_scorer", extra="bleu", purpose=f"the metric {kind!r}")
    tokenizers = require("rouge_score.tokenizers", extra="bleu", purpose=f"the metric {kind!r}")
    tokenizer = tokenizers.DefaultTokenizer(stemmer)
    rows = align(texts, references)
    if kind in ("rougeL", "rougeLsum"):
        check_tables(kind, rows, lambda text: len(tokenizer.tokenize(text)), LARGEST)
    scorer = scorers.RougeScorer([kind], tokenizer=tokenizer)
    values = _values(scorer, rows, kind, _FIELDS[part])
    known = values[~np.isnan(values)]
    return catalogued(
        "rouge",
        np.mean(known) if len(known) else np.nan,
        signature=_signature(kind, part, stemmer, rows, len(values) - len(known)),
        reason=None if len(known) else "no reference holds a word of the letters a-z or a digit",
        per_sample=values,
    )


def _values(scorer: Any, rows: Aligned, kind: str, field: str) -> Doubles:
    values = np.full(len(rows.texts), np.nan)
    for row, (text, references) in enumerate(zip(rows.texts, rows.references, strict=True)):
        if any(re.search("[a-z0-9]", reference.lower()) for reference in references):
            values[row] = getattr(scorer.score_multi(references, text)[kind], field)
    return values


def _signature(kind: str, part: str, stemmer: bool, rows: Aligned, undefined: int) -> str:
    return signature(
        {
            "metric": kind,
            "by": "rouge-score",
            "part": part,
            "stemmer": "porter" if stemmer else "none",
            "nrefs": len(rows.references[0]),
            "version": version("rouge-score"),
            **({"undefined": undefined} if undefined else {}),
            "n": len(rows.texts),
            "calipers": __version__,
        }
    )


def read_rouge(pair: TextPair, options: Chosen) -> Score:
    return rouge(pair.texts, pair.references, kind=options["kind"], part=options["part"])
