"""How a number of sacrebleu becomes a score: its value and its signature, both unchanged."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from calipers import __version__
from calipers.errors import InputError, require, unknown_name
from calipers.estimate.validate import check_choice, is_positive
from calipers.score import Better, Score, join_signature, signature
from calipers.text.aligned_rows import Aligned

HUNDRED = (0.0, 100.0)

# sacrebleu would fetch the models of its other tokenizers from the net
TOKENIZERS = ("13a", "char", "intl", "ja-mecab", "ko-mecab", "none", "zh")


def the_metrics(metric: str) -> ModuleType:
    """Import sacrebleu's metrics, or say how to install it."""
    return require("sacrebleu.metrics", extra="bleu", purpose=f"the metric {metric!r}")


def sacrebleu_score(
    name: str,
    whole: Any,
    single: Any,
    rows: Aligned,
    *,
    range: tuple[float, float] = HUNDRED,
    better: Better = "higher",
    **pins: object,
) -> Score:
    """Score the corpus with one metric of sacrebleu, and each text with another.

    Parameters
    ----------
    name
        What the metric is called here.
    whole, single
        Metrics of sacrebleu, for the corpus and for a single text.
    rows
        The texts and their references.
    range, better
        As in a :class:`~calipers.score.Score`.
    pins
        Choices that sacrebleu's own signature leaves out.
    """
    # What corpus_score does, with each text's counts kept, so that nothing is counted twice
    counts = whole._extract_corpus_statistics(rows.texts, rows.streams)
    value = whole._aggregate_and_compute(counts).score
    own = [single._compute_score_from_stats(row).score for row in counts]
    return Score(
        value=np.nan if rows.silent else float(value),
        range=range,
        better=better,
        signature=join_signature(
            signature({"metric": name, "by": "sacrebleu"}),
            str(whole.get_signature()),
            signature({**pins, "n": len(rows.texts), "calipers": __version__}),
        ),
        reason="no reference holds a word" if rows.silent else None,
        per_sample=np.array(own, dtype=np.float64),
    )


def make_bleu(tokenizer: str, smoothing: str, value: float | None, **options: Any) -> Any:
    """Build sacrebleu's BLEU, once its options are known to be good.

    Raises
    ------
    InputError
        If the tokenizer or the smoothing is unknown, or cannot work here.
    """
    if tokenizer not in TOKENIZERS:
        raise unknown_name("tokenizer of sacrebleu", str(tokenizer), TOKENIZERS)
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
