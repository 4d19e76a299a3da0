"""Scores of rows, each a text and its own reference, without each block of rows.

Which rows there are draws texts and references at once, so there is one source, ``"both"``; rows
of two systems with the same references share it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.text.aligned import align, make_bleu, the_metrics
from calipers.uncertainty.spread import Component
from calipers.uncertainty.text_spread_blocks import BLOCKS, Measured, by_block, means_without


def of_row_means(found: Measured) -> tuple[Component, ...]:
    """Means over rows: ROUGE and BERTScore."""
    assert found.per_sample is not None
    return (Component.jackknife("both", means_without(found.per_sample, found.labels)),)


def of_bleu(found: Measured) -> tuple[Component, ...]:
    """Corpus BLEU from the counts of the other blocks."""
    options = found.options
    metric = make_bleu(
        options["tokenizer"], "exp", None, max_ngram_order=options["n"], lowercase=False
    )
    return _from_counts(found, metric)


def of_chrf(found: Measured) -> tuple[Component, ...]:
    """Corpus chrF from the counts of the other blocks."""
    return _from_counts(found, the_metrics("chrf").CHRF(word_order=found.options["words"]))


def of_ter(found: Measured) -> tuple[Component, ...]:
    """Edits over words of the other blocks."""
    return _from_counts(found, the_metrics("ter").TER())


def _from_counts(found: Measured, metric: Any) -> tuple[Component, ...]:
    """Sum sacrebleu's counts of each row over all blocks but one."""
    rows = align(found.texts, found.held.references)
    counts = np.array(metric._extract_corpus_statistics(rows.texts, rows.streams), float)
    sums = np.stack([by_block(column, found.labels) for column in counts.T], axis=1)
    left = sums.sum(axis=0) - sums
    values = [_score(metric, left[block]) for block in BLOCKS]
    return (Component.jackknife("both", np.array(values)),)


def _score(metric: Any, counts: Any) -> float:
    whole = [int(count) if count == int(count) else float(count) for count in counts]
    return float(metric._compute_score_from_stats(whole).score)
