"""MoverScore of texts: how little must be moved to turn each text into its reference.

The definition stands in :mod:`calipers.metrics.mover_score`; texts, references, models, layers, idf
and what was not read are those of BERTScore (:mod:`calipers.text.bertscore`). It departs from the
authors' release in this:

- the states of one layer stand for the tokens, where the release joins five by power means;
- marks ([CLS], [SEP]) have no mass, and punctuation and parts of words have theirs, where the
  release leaves out punctuation and all but the first part of a word;
- the idf of a token is counted over the references, for both sides;
- an empty text counts 0, and a pair with an empty reference has no value.

Its level depends on the model and the layer: compare systems before reading a value as high or low.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.embedders.states.token_states import load_token_encoder
from calipers.errors import checks_keywords
from calipers.metrics.mover_score import mover_distance, summarise_mover
from calipers.numeric.arrays import Floats
from calipers.numeric.validation import check_whole
from calipers.progress import Progress, Silent
from calipers.score import Score
from calipers.text.aligned import References, align
from calipers.text.bertscore import (
    check_model_options,
    cut_count,
    match_all,
    notes_on,
    pair_up,
    token_weights,
    unread_pins,
)
from calipers.text.scoring import Chosen, TextPair
from calipers.text.tokens import Texts


@checks_keywords
def mover_score(
    texts: Texts,
    references: References,
    *,
    n: int = 1,
    model: str | Path = "minilm",
    layer: int | None = None,
    idf: bool = True,
    max_length: int | None = None,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    offline: bool = True,
    progress: Progress | None = None,
) -> Score:
    """Tell how little must be moved to turn each text into its reference, token by token.

    Parameters
    ----------
    texts
        n strings, or a corpus, whose texts are taken.
    references
        For each text a string, or a list of strings; the best counts.
    n
        Tokens of an n-gram: 1 for words, 2 for pairs of neighbours.
    model, layer, max_length, device, dtype, batch_size, offline, progress
        As of :func:`calipers.text.bert_score`.
    idf
        Whether rare tokens weigh more, by their idf among the references; else all weigh alike.

    Returns
    -------
    Score
        The mean of 1 / (1 + WMD) over the rows, with ``per_sample`` of shape (n,), in [0, 1];
        higher is better, 1 for equal texts. NaN for a row whose references are empty, or one of
        whose texts the model knows less than half of the words.

    Raises
    ------
    InputError
        If texts and references do not match row by row, or an option is unknown.
    MissingExtraError
        If packages that the model or the transport needs are not installed.

    References
    ----------
    Zhao et al., "MoverScore: text generation evaluating with contextualized embeddings and earth
    mover distance", EMNLP 2019; Kusner et al., "From word embeddings to document distances", ICML
    2015.

    Examples
    --------
    >>> mover_score(["a cat sat"], ["a cat sat down"]).value  # doctest: +SKIP
    """
    rows = align(texts, references)
    check_whole("n", n, 1)
    check_model_options(layer, idf, max_length, batch_size, offline)
    pairs = pair_up(rows, shuffled=False, seed=0)
    encoder = load_token_encoder(
        model,
        layer=layer,
        max_length=max_length,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
        offline=offline,
    )
    tokens = encoder.tokenise(pairs.distinct)
    weights = token_weights(encoder, tokens, pairs.given if idf else None)
    with (progress or Silent()).task("MoverScore", len(pairs.distinct)) as advance:
        found = match_all(
            encoder, tokens, weights, pairs.meetings, advance, compare=partial(_closeness, n=n)
        )
    own = np.where(np.isnan(found), -np.inf, found)[pairs.own, 0].max(axis=1)
    values = np.where(np.isneginf(own), np.nan, own)
    unread, reason = unread_pins(encoder, pairs, tokens)
    if reason is not None:
        values = np.full_like(values, np.nan)
    pins = {
        **encoder.signature,
        "n_gram": n,
        "idf": "references" if idf else "none",
        "references": pairs.width,
        "truncated": cut_count(pairs, tokens),
        **unread,
    }
    score = summarise_mover(values, pins, reason=reason)
    return replace(score, note=notes_on(model, pairs, found)).signed(calipers=__version__)


def _closeness(
    text: NDArray[np.float32],
    text_weights: Floats,
    reference: NDArray[np.float32],
    reference_weights: Floats,
    *,
    n: int,
) -> tuple[float, float]:
    """1 / (1 + WMD), from either side."""
    value = 1 / (1 + mover_distance(text, text_weights, reference, reference_weights, n=n))
    return value, value


def read_mover_score(pair: TextPair, options: Chosen) -> Score:
    idf, n = options["weights"] == "idf", int(options["n"])
    return mover_score(pair.texts, pair.references, n=n, idf=idf)
