"""BLEU, chrF and TER of texts that have references of their own, as sacrebleu computes them.

The numbers are sacrebleu's (Post, WMT 2018), unchanged and on its scale of 0 to 100, and each
signature holds sacrebleu's own.

BLEU is that of paper 002: matches clipped at the most that one reference holds, summed over the
corpus and divided; a penalty of exp(1 - r/c) for a corpus of c tokens whose closest references add
up to r >= c. Where the paper is silent, sacrebleu decides: of two references that are equally
close, the shorter counts; the text is tokenised by `13a` and keeps its case; an order without any
match does not make the whole 0 but is smoothed (`exp`), unless no order has one. At c = r the
penalty is 1 by either wording.

All three see words and letters, not meaning: a good text in other words scores low.
"""

from __future__ import annotations

from typing import Any, Literal

from calipers.estimate.validate import check_whole
from calipers.score import Score
from calipers.text.aligned_limits import check_tables
from calipers.text.aligned_rows import References, align
from calipers.text.aligned_sacrebleu import make_bleu, sacrebleu_score, the_metrics
from calipers.text.checks import check_flags, check_order
from calipers.text.signing import FROM_ZERO
from calipers.text.tokens import Texts

Smoothing = Literal["exp", "floor", "add-k", "none"]

LARGEST_TER = 1_000_000


def bleu(
    texts: Texts,
    references: References,
    *,
    tokenizer: str = "13a",
    order: int = 4,
    smoothing: Smoothing = "exp",
    smoothing_value: float | None = None,
    lowercase: bool = False,
) -> Score:
    """Tell how many words and phrases texts share with their own references.

    Parameters
    ----------
    texts
        n strings; a corpus gives its texts.
    references
        One string for each text, or for each text a list of its references, equally many.
    tokenizer
        One of sacrebleu's that need no download: ``"13a"``, ``"intl"``, ``"zh"``, ``"ja-mecab"``,
        ``"ko-mecab"``, ``"char"`` or ``"none"``.
    order
        Longest n-grams that count, 1 to 100.
    smoothing, smoothing_value
        What an order without matches counts as: ``"exp"``, ``"floor"`` (value 0.1), ``"add-k"``
        (value 1) or ``"none"``.
    lowercase
        Whether case is ignored.

    Returns
    -------
    Score
        The BLEU of the whole corpus, 0 to 100, higher is better. ``per_sample`` gives each text's
        own, over the orders that it is long enough for (sacrebleu's `effective_order`); their mean
        is not the corpus's value. As sacrebleu says, the corpus has 0 where no text has as many
        tokens as `order`. NaN where no reference holds a word; so for `chrf` and `ter`.

    Raises
    ------
    InputError
        If rows have no references or differ in their number, or an option is unknown.
    MissingExtraError
        If sacrebleu is not installed.

    Examples
    --------
    >>> round(bleu(["the cat sat on the mat"], ["the cat sat on a mat"]).value, 2)
    53.73
    """
    order = check_order(order)
    check_flags(lowercase=lowercase)
    options = {"max_ngram_order": order, "lowercase": lowercase}
    whole = make_bleu(tokenizer, smoothing, smoothing_value, **options)
    single = make_bleu(
        tokenizer, smoothing, smoothing_value, **options, effective_order=True, force=True
    )
    pins: dict[str, Any] = {"order": order}
    if smoothing_value is not None:
        pins["smoothing_value"] = smoothing_value
    return sacrebleu_score("bleu", whole, single, align(texts, references), **pins)


def chrf(
    texts: Texts,
    references: References,
    *,
    char_order: int = 6,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
    whitespace: bool = False,
) -> Score:
    """Tell how many letter sequences texts share with their own references: chrF, or chrF++.

    Parameters
    ----------
    texts, references
        As for :func:`bleu`; of several references the best counts.
    char_order
        Longest sequences of characters, 1 to 100.
    word_order
        Longest n-grams of words that count as well, 0 to 100; 2 is chrF++.
    beta
        How much more recall weighs than precision, at least 1.
    lowercase
        Whether case is ignored.
    whitespace
        Whether white space counts as characters.

    Returns
    -------
    Score
        chrF of the whole corpus (Popović, WMT 2015 and 2017), 0 to 100, higher is better;
        ``per_sample`` gives each text's own.

    Raises
    ------
    InputError
        As :func:`bleu`.
    MissingExtraError
        If sacrebleu is not installed.
    """
    check_flags(lowercase=lowercase, whitespace=whitespace)
    metric = the_metrics("chrf").CHRF(
        char_order=check_order(char_order, name="char_order"),
        word_order=check_order(word_order, name="word_order", least=0),
        beta=check_whole("beta", beta, least=1),
        lowercase=lowercase,
        whitespace=whitespace,
    )
    return sacrebleu_score("chrf", metric, metric, align(texts, references), beta=beta)


def ter(
    texts: Texts,
    references: References,
    *,
    normalised: bool = False,
    punctuation: bool = True,
    asian: bool = False,
    case_sensitive: bool = False,
) -> Score:
    """Tell how many edits and moves of words turn texts into their own references.

    Parameters
    ----------
    texts, references
        As for :func:`bleu`; of several references the nearest counts.
    normalised
        Whether marks are split from words, and entities and line ends resolved.
    punctuation
        Whether marks count.
    asian
        Whether the two above also treat Chinese, Japanese and Korean.
    case_sensitive
        Whether case counts.

    Returns
    -------
    Score
        Edits per hundred words of the references (Snover et al., AMTA 2006), from 0, lower is
        better; above 100 where texts are much longer. ``per_sample`` gives each text's own.

    Raises
    ------
    InputError
        As :func:`bleu`; also where a text and a reference are too long for sacrebleu, whose table
        has their words, as they are compared, as rows and columns: at most 1,000,000 entries, which
        take it about half a minute.
    MissingExtraError
        If sacrebleu is not installed.
    """
    check_flags(
        normalised=normalised, punctuation=punctuation, asian=asian, case_sensitive=case_sensitive
    )
    metric = the_metrics("ter").TER(
        normalized=normalised,
        no_punct=not punctuation,
        asian_support=asian,
        case_sensitive=case_sensitive,
    )
    rows, words = align(texts, references), metric._preprocess_segment
    check_tables("ter", rows, lambda text: len(words(text).split()), LARGEST_TER)
    return sacrebleu_score("ter", metric, metric, rows, range=FROM_ZERO, better="lower")
