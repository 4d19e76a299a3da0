"""BLEU, chrF and TER of texts with references of their own, as sacrebleu computes them.

The numbers are sacrebleu's (Post, WMT 2018), unchanged and on its scale of 0 to 100, and each
signature holds sacrebleu's own. Texts and references are checked row by row once for all metrics
that need them so; rows too long for a library that lays out a table of one text's words by
another's are refused before they take the machine's memory, since cutting texts is the user's
choice.

BLEU is that of paper 002: matches clipped at the most that one reference holds, summed over the
corpus and divided; a penalty of exp(1 - r/c) for a corpus of c tokens whose closest references add
up to r >= c. Where the paper is silent, sacrebleu decides: of two references that are equally
close, the shorter counts; the text is tokenised by `13a` and keeps its case; an order without any
match does not make the whole 0 but is smoothed (`exp`), unless no order has one. At c = r the
penalty is 1 by either wording.

All three see words and letters, not meaning: a good text in other words scores low.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest
from types import ModuleType
from typing import Any, Literal

import numpy as np

from calipers._version import __version__
from calipers.errors import InputError, checks_keywords, require, unknown_name
from calipers.numeric.validation import check_choice, check_flags, check_whole, is_positive
from calipers.samples.wording import numbered
from calipers.score import Score, join_signature, signature
from calipers.text.bleu_weights import check_weights, parse_weights, with_weights
from calipers.text.corpus import Corpus, as_strings
from calipers.text.ngrams import check_order
from calipers.text.reference_scripts import bleu_tokenizer, lack_spaces, ter_cuts_characters
from calipers.text.replicates import BLOCKS, MeasuredTexts, TextReplicates, by_block
from calipers.text.sacrebleu_tokenizers import SENTENCEPIECE, check_model
from calipers.text.scoring import Chosen, TextPair, catalogued
from calipers.text.tokens import Texts

References = Sequence[str] | Sequence[Sequence[str]] | Corpus
"""One string for each text, or a list of the references of each text."""


@dataclass(frozen=True, eq=False)
class Aligned:
    """Texts and their references.

    Attributes
    ----------
    texts
        n strings.
    references
        For each text its references, at least one.
    """

    texts: list[str]
    references: list[tuple[str, ...]]

    @property
    def silent(self) -> bool:
        """Whether all references are empty or white space."""
        return not any(one.strip() for references in self.references for one in references)

    @property
    def streams(self) -> list[list[str | None]]:
        """The first references of all texts, then the second ones, …, as sacrebleu takes them.

        None stands where a text has fewer.
        """
        return [list(stream) for stream in zip_longest(*self.references)]

    @property
    def width(self) -> int | str:
        """The number of references of each text; ``"var"``, as in sacrebleu, where it varies."""
        widths = set(map(len, self.references))
        return widths.pop() if len(widths) == 1 else "var"


def align(texts: Texts, references: References) -> Aligned:
    """Check that each text has references, possibly different numbers of them.

    Raises
    ------
    InputError
        If there are no texts, something is no string, or rows do not match; it names the rows.
    """
    rows = list(texts.texts) if isinstance(texts, Corpus) else as_strings(texts)
    known = _rows(references)
    _check_height(len(rows), known)
    sides = [_references(row, number) for number, row in enumerate(known, 1)]
    _check_filled([len(side) for side in sides])
    return Aligned(rows, sides)


def _rows(references: Any) -> list[Any]:
    if isinstance(references, Corpus):
        return list(references.texts)
    if isinstance(references, str | bytes | Mapping | Set) or not hasattr(references, "__iter__"):
        kind = type(references).__name__
        raise InputError(
            f"references must be a list, with one row for each text; found a single {kind}"
        )
    # An Arrow column does not iterate over strings
    return list(references.to_pylist() if hasattr(references, "to_pylist") else references)


def _references(row: Any, number: int) -> tuple[str, ...]:
    if isinstance(row, str):
        return (row,)
    if isinstance(row, bytes | Mapping | Set) or not hasattr(row, "__iter__"):
        raise InputError(
            "each row of references must be a string or a list of strings; "
            f"row {number:,} is of type {type(row).__name__}"
        )
    references = tuple(row)
    for reference in references:
        if not isinstance(reference, str):
            raise InputError(
                f"references must hold strings only; row {number:,} holds one of type "
                f"{type(reference).__name__}"
            )
    return references


def _check_height(n: int, references: list[Any]) -> None:
    height = len(references)
    if height == n:
        return
    missing = range(min(height, n) + 1, max(height, n) + 1)
    what = "no references" if height < n else "no text"
    raise InputError(
        f"references must have one row for each text, {n:,} in all; found {height:,}: "
        f"{_listed(missing)} {'has' if len(missing) == 1 else 'have'} {what}{_hint(n, references)}"
    )


def _hint(n: int, references: list[Any]) -> str:
    """Whoever comes from sacrebleu may have the lists the other way round."""
    turned = all(not isinstance(row, str) and len(row) == n for row in references)
    return ". If each list holds one reference of every text, turn them: list(zip(*references))" * (
        turned and bool(references)
    )


def _check_filled(widths: list[int]) -> None:
    if not any(widths):
        raise InputError("each text must have at least one reference; found none in any row")
    empty = [row for row, width in enumerate(widths, 1) if not width]
    if empty:
        raise InputError(
            f"each text must have at least one reference; {numbered('row', empty)} "
            f"{'has' if len(empty) == 1 else 'have'} none"
        )


def _listed(rows: range) -> str:
    if len(rows) == 1:
        return f"row {rows[0]:,}"
    if len(rows) == 2:
        return f"rows {rows[0]:,} and {rows[1]:,}"
    return f"rows {rows[0]:,} to {rows[-1]:,}"


def check_tables(metric: str, rows: Aligned, count: Callable[[str], int], most: int) -> None:
    """Refuse a row whose text and reference would need too large a table.

    Parameters
    ----------
    metric
        What asks, as the message names it.
    rows
        Texts and references.
    count
        How many tokens a text has.
    most
        The largest table, in entries.

    Raises
    ------
    InputError
        If a text's tokens times those of a reference are more; it names the row.
    """
    for number, (text, references) in enumerate(zip(rows.texts, rows.references, strict=True), 1):
        for reference in references:
            # A token takes at least one character, and so most rows need no counting
            if len(text) * len(reference) <= most:
                continue
            tokens, known = count(text), count(reference)
            if tokens * known > most:
                raise InputError(
                    f"{metric} lays out a table of a text's tokens by its reference's, of at most "
                    f"{most:,} entries; row {number} needs {tokens:,} x {known:,}: cut the texts, "
                    "or leave the row out"
                )


TOKENIZERS = ("13a", "char", "intl", "ja-mecab", "ko-mecab", "none", "zh", *SENTENCEPIECE)


def the_metrics(metric: str) -> ModuleType:
    """Import sacrebleu's metrics, or raise an error with the command that installs it."""
    return require("sacrebleu.metrics", extra="bleu", purpose=f"the metric {metric!r}")


def sacrebleu_score(
    name: str,
    whole: Any,
    single: Any,
    rows: Aligned,
    *,
    note: Callable[[list[list[float]]], str | None] | None = None,
    **pins: object,
) -> Score:
    """Compute the corpus score with one metric of sacrebleu, and each text's with another.

    Parameters
    ----------
    name
        What the metric is called here.
    whole, single
        Metrics of sacrebleu, for the corpus and for a single text.
    rows
        The texts and their references.
    note
        From sacrebleu's counts of every row to what to know before reading the value.
    pins
        Choices that sacrebleu's own signature leaves out.
    """
    # What corpus_score does, with each text's counts kept, so that nothing is counted twice
    counts = whole._extract_corpus_statistics(rows.texts, rows.streams)
    value = whole._aggregate_and_compute(counts).score
    scores = [single._compute_score_from_stats(row).score for row in counts]
    return catalogued(
        name,
        np.nan if rows.silent else value,
        signature=join_signature(
            signature({"metric": name, "by": "sacrebleu"}),
            str(whole.get_signature()),
            signature({**pins, "n": len(rows.texts), "calipers": __version__}),
        ),
        reason="no reference holds a word" if rows.silent else None,
        per_sample=np.array(scores, dtype=np.float64),
        note=None if note is None or rows.silent else note(counts),
    )


def make_bleu(tokenizer: str, smoothing: str, value: float | None, **options: Any) -> Any:
    """Make sacrebleu's BLEU after checking its options.

    Raises
    ------
    InputError
        If the tokenizer or the smoothing is unknown, or cannot work here.
    """
    if tokenizer not in TOKENIZERS:
        raise unknown_name("tokenizer of sacrebleu", str(tokenizer), ("auto", *TOKENIZERS))
    if tokenizer in SENTENCEPIECE:
        check_model(tokenizer)
    _check_smoothing(smoothing, value)
    options |= {"tokenize": tokenizer, "smooth_method": smoothing, "smooth_value": value}
    try:
        return the_metrics("bleu").BLEU(**options)
    except RuntimeError as error:  # ja-mecab and ko-mecab need packages of their own
        why = " ".join(str(error).split())
        raise InputError(f"the tokenizer {tokenizer!r} cannot work here: {why}") from error


def _check_smoothing(smoothing: str, value: float | None) -> None:
    check_choice("smoothing", smoothing, ("exp", "floor", "add-k", "none"))
    if value is None:
        return
    if smoothing not in ("floor", "add-k"):
        raise InputError(
            f"smoothing_value belongs to smoothing 'floor' and 'add-k', not to {smoothing!r}; "
            f"found {value!r}"
        )
    if not is_positive(value):
        raise InputError(f"smoothing_value must be a number above 0; found {value!r}")


Smoothing = Literal["exp", "floor", "add-k", "none"]

LARGEST_TER = 1_000_000


@checks_keywords
def bleu(
    texts: Texts,
    references: References,
    *,
    tokenizer: str = "auto",
    order: int = 4,
    smoothing: Smoothing = "exp",
    smoothing_value: float | None = None,
    lowercase: bool = False,
    weights: Sequence[float] | None = None,
) -> Score:
    """Tell how many words and phrases texts share with their own references.

    Parameters
    ----------
    texts
        n strings; a corpus gives its texts.
    references
        One string for each text, or for each text a list of its references.
    tokenizer
        One of sacrebleu's: ``"13a"``, ``"intl"``, ``"zh"``, ``"ja-mecab"``, ``"ko-mecab"``,
        ``"char"`` or ``"none"``; ``"spm"``, ``"flores101"``, ``"flores200"`` and ``"spBLEU-1K"``
        where sacrebleu has fetched their model. ``"auto"`` takes ``13a`` unless the references are
        in a script without spaces (:mod:`calipers.text.reference_scripts`).
    order
        Longest n-grams that count, 1 to 100.
    smoothing, smoothing_value
        What an order without matches counts as: ``"exp"``, ``"floor"`` (value 0.1), ``"add-k"``
        (value 1) or ``"none"``.
    lowercase
        Whether case is ignored.
    weights
        How much each order of n-grams counts, as many numbers of at least 0 as `order`; they are
        divided by their sum (:mod:`calipers.text.bleu_weights`). None weighs all alike.

    Returns
    -------
    Score
        The BLEU of the whole corpus, 0 to 100, higher is better. ``per_sample`` gives each text's
        own, over the orders that it is long enough for (sacrebleu's `effective_order`); their mean
        is not the corpus's value. As sacrebleu says, the corpus has 0 where no text has as many
        tokens as `order`, which ``note`` then says. NaN where no reference holds a word; so for
        `chrf` and `ter`.

    Raises
    ------
    InputError
        If a row has no reference, or an option is unknown.
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
    rows = align(texts, references)
    if tokenizer == "auto":
        tokenizer = bleu_tokenizer(rows.references)
    whole = make_bleu(tokenizer, smoothing, smoothing_value, **options)
    single = make_bleu(
        tokenizer, smoothing, smoothing_value, **options, effective_order=True, force=True
    )
    pins: dict[str, Any] = {"order": order}
    if weights is not None:
        shares = check_weights(weights, order)
        whole, single = with_weights(whole, shares), with_weights(single, shares)
        pins["weights"] = "/".join(f"{share:.6g}" for share in shares)
    if smoothing_value is not None:
        pins["smoothing_value"] = smoothing_value

    def note(counts: list[list[float]]) -> str | None:
        """Say that a corpus of short texts has 0 whatever it says; nothing of one that is empty."""
        words, longest = (sum(row[place] for row in counts) for place in (0, -1))
        short = f"no text has {order} tokens, for which sacrebleu gives 0; a lower order reads them"
        return short if words and not longest else None

    return sacrebleu_score("bleu", whole, single, rows, note=note, **pins)


@checks_keywords
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
    """Tell how many character n-grams texts share with their own references: chrF, or chrF++.

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

    Examples
    --------
    >>> round(chrf(["abcd"], ["abcf"], char_order=1).value, 2)
    75.0
    """
    check_flags(lowercase=lowercase, whitespace=whitespace)
    metric = the_metrics("chrf").CHRF(
        char_order=check_order(char_order, name="char_order"),
        word_order=check_order(word_order, name="word_order", least=0),
        beta=check_whole("beta", beta, least=1),
        lowercase=lowercase,
        whitespace=whitespace,
    )
    rows = align(texts, references)

    def note(_: list[list[float]]) -> str | None:
        """Say that the words of chrF++ are none in some scripts."""
        if word_order and lack_spaces(rows.references):
            return "its words are separated by white space, which the references lack; use chrf"
        return None

    return sacrebleu_score("chrf", metric, metric, rows, note=note, beta=beta)


@checks_keywords
def ter(
    texts: Texts,
    references: References,
    *,
    normalised: bool | None = None,
    punctuation: bool = True,
    asian: bool | None = None,
    case_sensitive: bool = False,
) -> Score:
    """Tell how many edits and shifts of words turn texts into their own references.

    Parameters
    ----------
    texts, references
        As for :func:`bleu`; of several references the nearest counts.
    normalised
        Whether marks are split from words, and entities and line ends resolved. By default, as
        `asian`, where the references are Chinese or Japanese.
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

    Examples
    --------
    >>> ter(["the cat sat on the mat"], ["the cat sat on a mat now today"]).value
    37.5
    """
    check_flags(punctuation=punctuation, case_sensitive=case_sensitive)
    given = {"normalised": normalised, "asian": asian}
    check_flags(**{name: flag for name, flag in given.items() if flag is not None})
    rows = align(texts, references)
    by_characters = ter_cuts_characters(rows.references)
    metric = the_metrics("ter").TER(
        normalized=bool(by_characters) if normalised is None else normalised,
        no_punct=not punctuation,
        asian_support=bool(by_characters) if asian is None else asian,
        case_sensitive=case_sensitive,
    )
    if by_characters is None:
        return catalogued(
            "ter",
            np.nan,
            signature=signature({"metric": "ter", "n": len(rows.texts), "calipers": __version__}),
            reason="the references are in a script without spaces, in which TER takes a whole "
            "clause for one word; use chrf",
        )
    words = metric._preprocess_segment
    check_tables("ter", rows, lambda text: len(words(text).split()), LARGEST_TER)
    return sacrebleu_score("ter", metric, metric, rows)


def bleu_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute corpus BLEU without each block of rows."""
    options = measured.options
    tokenizer = options["tokenizer"]
    if tokenizer == "auto":
        tokenizer = bleu_tokenizer(align(measured.texts, measured.references).references)
    metric = make_bleu(tokenizer, "exp", None, max_ngram_order=options["n"], lowercase=False)
    weights = _chosen_weights(options)
    if weights is not None:
        metric = with_weights(metric, check_weights(weights, options["n"]))
    return _from_counts(measured, metric)


def chrf_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute corpus chrF without each block of rows."""
    return _from_counts(measured, the_metrics("chrf").CHRF(word_order=measured.options["words"]))


def ter_replicates(measured: MeasuredTexts) -> TextReplicates:
    """Compute edits over words without each block of rows."""
    cut = bool(ter_cuts_characters(align(measured.texts, measured.references).references))
    return _from_counts(measured, the_metrics("ter").TER(normalized=cut, asian_support=cut))


def _from_counts(measured: MeasuredTexts, metric: Any) -> TextReplicates:
    """Sum sacrebleu's counts of each row over all blocks but one.

    Which rows there are draws texts and references at once.
    """
    rows = align(measured.texts, measured.references)
    counts = np.array(metric._extract_corpus_statistics(rows.texts, rows.streams), float)
    sums = np.stack([by_block(column, measured.labels) for column in counts.T], axis=1)
    left = sums.sum(axis=0) - sums
    return TextReplicates(rows=np.array([_value(metric, left[block]) for block in BLOCKS]))


def _value(metric: Any, counts: Any) -> float:
    whole = [int(count) if count == int(count) else float(count) for count in counts]
    return float(metric._compute_score_from_stats(whole).score)


def read_bleu(pair: TextPair, options: Chosen) -> Score:
    return bleu(
        pair.texts,
        pair.references,
        order=options["n"],
        tokenizer=options["tokenizer"],
        weights=_chosen_weights(options),
    )


def _chosen_weights(options: Chosen) -> tuple[float, ...] | None:
    """The weights that a key names; None where all orders count alike."""
    chosen = options["weights"]
    return None if chosen == "equal" else parse_weights(chosen).values


def read_chrf(pair: TextPair, options: Chosen) -> Score:
    return chrf(pair.texts, pair.references, word_order=options["words"])


def read_ter(pair: TextPair, _: Chosen) -> Score:
    return ter(pair.texts, pair.references)
