"""Which statistic of texts is read without blocks of them in which way, and what is not known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calipers.catalogue.choosing import TextChoice
from calipers.numeric.blocks import DEFAULT_BLOCKS
from calipers.score import Score
from calipers.text.measuring import Held
from calipers.uncertainty import text_spread_aligned as aligned
from calipers.uncertainty import text_spread_bleu as bleu
from calipers.uncertainty import text_spread_copies as copies
from calipers.uncertainty import text_spread_counts as counts
from calipers.uncertainty.spread import Component, Source, Spread
from calipers.uncertainty.text_spread_blocks import Measured
from calipers.uncertainty.text_spread_bytes import of_compression
from calipers.uncertainty.text_spread_parts import by_parts
from calipers.uncertainty.text_spread_vendi import FEW, of_rke, of_vendi

ROUNDING = 1e-12
"""Share of a value below which a standard error is no more than rounding."""


def spread_of(choice: TextChoice, held: Held, score: Score, source: Source) -> Spread | None:
    """Tell how much one statistic of texts moves; None where that is not known."""
    drawn = choice.needs in ("reference", "aligned")
    sets = [held.texts, *([held.references] if drawn else [])]
    known = [each.clusters for each in sets if each.clusters is not None]
    few = min(map(len, sets)) < DEFAULT_BLOCKS or any(c.blocks < DEFAULT_BLOCKS for c in known)
    if few or not np.isfinite(score.value) or _left_out(choice):
        return None
    found = Measured(held, choice.options, score.value, score.per_sample, source, drawn)
    way = None if _pairwise(choice) else WAYS.get(choice.metric.name)
    moved = by_parts(found, choice) if way is None else way(found)
    moved = tuple(_settled(part, score.value) for part in moved)
    spread = Spread(moved, approximate=way is None or _rough(choice, len(held.texts)))
    return spread if moved and spread.finite else None


def _settled(part: Component, value: float) -> Component:
    """Nothing moves where only rounding does."""
    return part.times(0.0) if part.variance <= (ROUNDING * value) ** 2 else part


def _left_out(choice: TextChoice) -> bool:
    """Whether nothing is known of how much a statistic moves."""
    drawn = choice.options.get("sample") or choice.options.get("others")
    return choice.options.get("over") == "largest" or bool(_pairwise(choice) and drawn)


def _pairwise(choice: TextChoice) -> bool:
    return choice.options.get("average") == "pairwise"


def _rough(choice: TextChoice, size: int) -> bool:
    """Whether something is left out: near copies of copies, weights of tokens, bends."""
    if choice.metric.name == "vendi":
        return choice.options["q"] != 2 and size > FEW
    return choice.metric.name == "near_duplicates" or choice.options.get("weights") == "idf"


def _distinct(found: Measured) -> tuple[Component, ...]:
    way = counts.of_means if found.options["per"] == "sample" else counts.of_distinct
    return way(found)


WAYS: dict[str, Callable[[Measured], tuple[Component, ...]]] = {
    "mean_length": counts.of_means,
    "median_length": counts.of_median,
    "length_spread": counts.of_deviation,
    "vocabulary_size": counts.of_vocabulary,
    "zipf_coefficient": counts.of_zipf,
    "distinct": _distinct,
    "expectation_adjusted_distinct": counts.of_adjusted_distinct,
    "moving_average_ttr": counts.of_means,
    "self_bleu": bleu.of_self_bleu,
    "compression": of_compression,
    "vendi": of_vendi,
    "rke": of_rke,
    "repetition_frequency": counts.of_means,
    "rep_n": counts.of_means,
    "self_repetition": counts.of_self_repetition,
    "non_termination": counts.of_means,
    "exact_duplicates": counts.of_duplicates,
    "near_duplicates": copies.of_near_duplicates,
    "novelty": counts.of_novelty,
    "longest_copied_span": copies.of_spans,
    "corpus_match_bleu": bleu.of_corpus_match,
    "bleu": aligned.of_bleu,
    "chrf": aligned.of_chrf,
    "ter": aligned.of_ter,
    "rouge": aligned.of_row_means,
    "bert_score_precision": aligned.of_row_means,
    "bert_score_recall": aligned.of_row_means,
    "bert_score_f1": aligned.of_row_means,
}
"""How each statistic is read without blocks of texts; the others are measured on parts."""
