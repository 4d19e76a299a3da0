"""ROUGE of texts with references of their own, as rouge-score computes it.

ROUGE-n holds n-grams of the text against those of its reference, ROUGE-L their longest common
subsequence, ROUGE-Lsum the same line by line (Lin, 2004), each as rouge-score computes it. Tokens
are runs of letters and digits in lower case. rouge-score takes those of a-z and 0-9 alone, and
drops all other letters before it counts. Here tokens hold the letters, marks and digits of all
scripts; where one has no spaces, they are its characters or clusters of them
(:mod:`calipers.unicode.words`). Texts of a-z and digits have rouge-score's tokens and numbers, to
the last bit; ``tokens="ascii"`` gives them for all texts. The score is the mean over texts, where
rouge-score's own aggregator would give the median of resampled means.

A text has no value if none of its references holds a token. With ``tokens="ascii"`` it has none if
ROUGE reads less than half of the letters and digits of each of its references: of a Russian
sentence rouge-score compares the digits alone, so that two which share a year are equal. Where it
reads less than 95 % of all letters, a note on the score says how much.

It sees words, not meaning, and rewards long texts by recall.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
import regex

from calipers._version import __version__
from calipers.errors import checks_keywords, require
from calipers.numeric.arrays import Floats
from calipers.numeric.validation import check_choice, check_flags
from calipers.samples.wording import counted
from calipers.score import Score, signature
from calipers.text.aligned import Aligned, References, align, check_tables
from calipers.text.scoring import Chosen, TextPair, catalogued
from calipers.text.tokens import Texts
from calipers.text.unicode_forms import as_seen
from calipers.unicode.words import regex_version, words

KINDS = (*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum")
LARGEST = 64_000_000

HALF, NEARLY_ALL = 0.5, 0.95
"""Shares of the letters: of a text that can be scored, and of texts of which nothing need be said.
Technical prose has 97 % in French and 99 % in German."""

_READ = re.compile("[a-z0-9]")

Part = Literal["f1", "precision", "recall"]
Tokens = Literal["unicode", "ascii"]

_FIELDS = {"f1": "fmeasure", "precision": "precision", "recall": "recall"}


@checks_keywords
def rouge(
    texts: Texts,
    references: References,
    *,
    kind: str = "rougeL",
    part: Part = "f1",
    tokens: Tokens = "unicode",
    stemmer: bool = False,
) -> Score:
    """Tell how much of their references the texts contain, and in the same order.

    Parameters
    ----------
    texts
        n strings; a corpus gives its texts.
    references
        One string for each text, or for each text a list of its references; of several, the one
        with the best F-measure counts.
    kind
        ``"rouge1"`` to ``"rouge9"``, ``"rougeL"`` or ``"rougeLsum"``, which takes lines for
        sentences.
    part
        The F-measure, the precision or the recall.
    tokens
        ``"unicode"``: letters and digits of any script; ``"ascii"``: a-z and 0-9 alone, as
        rouge-score.
    stemmer
        Whether words of more than three letters, all of a-z, lose their English endings (Porter).

    Returns
    -------
    Score
        The mean over the texts, in [0, 1], higher is better; ``per_sample`` gives each text's own,
        NaN where no reference of it holds a token, or with ``tokens="ascii"`` where less than half
        of the letters and digits of every reference are a-z and 0-9; the mean is over the others,
        and the signature says ``undefined:COUNT``. ``note`` says how much was read, where that is
        less than 95 %.

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
    check_choice("tokens", tokens, ("unicode", "ascii"))
    check_flags(stemmer=stemmer)
    scorers = require("rouge_score.rouge_scorer", extra="bleu", purpose=f"the metric {kind!r}")
    tokenizers = require("rouge_score.tokenizers", extra="bleu", purpose=f"the metric {kind!r}")
    own = tokenizers.DefaultTokenizer(stemmer)
    tokenizer = own if tokens == "ascii" else _AnyScript(own)
    rows = align(texts, references)
    if kind in ("rougeL", "rougeLsum"):
        check_tables(kind, rows, lambda text: len(tokenizer.tokenize(text)), LARGEST)
    scorer = scorers.RougeScorer([kind], tokenizer=tokenizer)
    share = _share_read if tokens == "ascii" else _holds_tokens
    values = _values(scorer, rows, kind, _FIELDS[part], share)
    known = values[~np.isnan(values)]
    missing = len(values) - len(known)
    note, reason = None, "no reference holds a letter or digit"
    if tokens == "ascii":
        seen = _share_read(
            [*rows.texts, *(reference for some in rows.references for reference in some)]
        )
        note = _note(seen, missing) if seen < NEARLY_ALL else None
        reason = (
            "no reference holds mostly letters a-z and digits, which are all that ROUGE reads: "
            f"{100 * seen:.0f} % of the letters here"
        )
    return catalogued(
        "rouge",
        np.mean(known) if len(known) else np.nan,
        signature=_signature(kind, part, tokens, stemmer, rows, missing),
        reason=None if len(known) else reason,
        per_sample=values,
        note=note if len(known) else None,
    )


_RUN = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c\u200d]*+")


class _AnyScript:
    """Tokens of any script; of a text of ASCII those of rouge-score."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def tokenize(self, text: str) -> list[str]:
        """Cut a text as it is seen, in lower case."""
        if text.isascii():
            tokens: list[str] = self._own.tokenize(text)
            return tokens
        runs = (run for word in words(as_seen(text).lower()) for run in _RUN.findall(word))
        return [
            token for run in runs for token in (self._own.tokenize(run) if run.isascii() else [run])
        ]


def _holds_tokens(references: Sequence[str]) -> float:
    return float(any(_RUN.search(reference) for reference in references))


def _note(seen: float, undefined: int) -> str:
    text = f"reads the letters a-z and digits only, {100 * seen:.0f} % of the letters here"
    without = f"; {counted(undefined, 'text')} with references that it cannot read left out"
    return text + (without if undefined else "")


def _share_read(texts: Iterable[str]) -> float:
    """The share of all letters and digits that rouge-score's tokens hold; 0 of none."""
    read = letters = 0
    for text in texts:
        lowered = text.lower()
        known = len(_READ.findall(lowered))
        read += known
        letters += known if lowered.isascii() else sum(map(str.isalnum, lowered))
    return read / letters if letters else 0.0


def _values(
    scorer: Any, rows: Aligned, kind: str, field: str, share: Callable[[list[str]], float]
) -> Floats:
    values = np.full(len(rows.texts), np.nan)
    for row, (text, references) in enumerate(zip(rows.texts, rows.references, strict=True)):
        if any(share([reference]) >= HALF for reference in references):
            values[row] = getattr(scorer.score_multi(references, text)[kind], field)
    return values


def _signature(
    kind: str, part: str, tokens: str, stemmer: bool, rows: Aligned, undefined: int
) -> str:
    return signature(
        {
            "metric": kind,
            "by": "rouge-score",
            "part": part,
            "stemmer": "porter" if stemmer else "none",
            "nrefs": rows.width,
            "tokens": "ascii" if tokens == "ascii" else f"unicode-regex-{regex_version()}",
            "version": version("rouge-score"),
            **({"undefined": undefined} if undefined else {}),
            "n": len(rows.texts),
            "calipers": __version__,
        }
    )


def read_rouge(pair: TextPair, options: Chosen) -> Score:
    return rouge(
        pair.texts,
        pair.references,
        kind=options["kind"],
        part=options["part"],
        tokens=options["tokens"],
    )
