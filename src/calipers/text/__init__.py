"""Statistics of texts and reference-based text metrics, computed without embeddings.

Functions take lists of strings, or corpora that :func:`tokenise` made, and return a
:class:`~calipers.score.Score` each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.lazy import lazy_names

if TYPE_CHECKING:
    from calipers.text.aligned import bleu as bleu
    from calipers.text.aligned import chrf as chrf
    from calipers.text.aligned import ter as ter
    from calipers.text.aligned_rouge import rouge as rouge
    from calipers.text.bertscore import bert_score as bert_score
    from calipers.text.bleu_sentences import corpus_match_bleu as corpus_match_bleu
    from calipers.text.bleu_sentences import self_bleu as self_bleu
    from calipers.text.common_texts import SharedText as SharedText
    from calipers.text.common_texts import shared_texts as shared_texts
    from calipers.text.compression import compression_ratio as compression_ratio
    from calipers.text.copied import CopiedSpan as CopiedSpan
    from calipers.text.copied import copied_spans as copied_spans
    from calipers.text.copied import longest_copied_span as longest_copied_span
    from calipers.text.corpus import Corpus as Corpus
    from calipers.text.distinct_ngrams import distinct as distinct
    from calipers.text.distinct_ngrams import (
        expectation_adjusted_distinct as expectation_adjusted_distinct,
    )
    from calipers.text.duplicates import exact_duplicates as exact_duplicates
    from calipers.text.lengths import length_spread as length_spread
    from calipers.text.lengths import mean_length as mean_length
    from calipers.text.lengths import median_length as median_length
    from calipers.text.lengths import vocabulary_size as vocabulary_size
    from calipers.text.moverscore import mover_score as mover_score
    from calipers.text.near_texts import NearDuplicate as NearDuplicate
    from calipers.text.near_texts import near_duplicate_pairs as near_duplicate_pairs
    from calipers.text.near_texts import near_duplicates as near_duplicates
    from calipers.text.ngram_novelty import novelty as novelty
    from calipers.text.overused import overused_phrases as overused_phrases
    from calipers.text.repetition import RepeatedEndings as RepeatedEndings
    from calipers.text.repetition import rep_n as rep_n
    from calipers.text.repetition import repeated_endings as repeated_endings
    from calipers.text.repetition import repetition_frequency as repetition_frequency
    from calipers.text.shared_ngrams import self_repetition as self_repetition
    from calipers.text.string_kernels import NgramKernel as NgramKernel
    from calipers.text.string_kernels import SubsequenceKernel as SubsequenceKernel
    from calipers.text.string_metrics import StringScores as StringScores
    from calipers.text.string_metrics import string_scores as string_scores
    from calipers.text.termination import non_termination as non_termination
    from calipers.text.tokens import tokenise as tokenise
    from calipers.text.type_token import moving_average_ttr as moving_average_ttr
    from calipers.text.vendi import rke as rke
    from calipers.text.vendi import vendi_score as vendi_score
    from calipers.text.zipf import zipf_coefficient as zipf_coefficient

# The names above, resolved when first used, so that importing the package loads no heavy library
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "calipers.text.aligned": ("bleu", "chrf", "ter"),
        "calipers.text.aligned_rouge": ("rouge",),
        "calipers.text.bertscore": ("bert_score",),
        "calipers.text.moverscore": ("mover_score",),
        "calipers.text.bleu_sentences": ("corpus_match_bleu", "self_bleu"),
        "calipers.text.common_texts": ("SharedText", "shared_texts"),
        "calipers.text.compression": ("compression_ratio",),
        "calipers.text.copied": ("CopiedSpan", "copied_spans", "longest_copied_span"),
        "calipers.text.corpus": ("Corpus",),
        "calipers.text.distinct_ngrams": ("distinct", "expectation_adjusted_distinct"),
        "calipers.text.duplicates": ("exact_duplicates",),
        "calipers.text.lengths": (
            "length_spread",
            "mean_length",
            "median_length",
            "vocabulary_size",
        ),
        "calipers.text.near_texts": ("NearDuplicate", "near_duplicate_pairs", "near_duplicates"),
        "calipers.text.ngram_novelty": ("novelty",),
        "calipers.text.overused": ("overused_phrases",),
        "calipers.text.repetition": (
            "RepeatedEndings",
            "rep_n",
            "repeated_endings",
            "repetition_frequency",
        ),
        "calipers.text.shared_ngrams": ("self_repetition",),
        "calipers.text.string_kernels": ("NgramKernel", "SubsequenceKernel"),
        "calipers.text.string_metrics": ("StringScores", "string_scores"),
        "calipers.text.termination": ("non_termination",),
        "calipers.text.tokens": ("tokenise",),
        "calipers.text.type_token": ("moving_average_ttr",),
        "calipers.text.vendi": ("rke", "vendi_score"),
        "calipers.text.zipf": ("zipf_coefficient",),
    },
)
