"""BERTScore of texts: does each text say what its reference says, token by token?

The definition stands in :mod:`calipers.metrics.bert_score`. As in bert-score 0.3.13, white space
at the ends of a text is left out; tokens are matched with all tokens of the other text, also with
the marks that open and close it ([CLS] and [SEP], or what the tokenizer calls so), but marks weigh
0 in the averages; idf is counted over all references; a long text is cut at what the model reads.
It departs from bert-score in this:

- a pair with an empty text has no value (NaN), where bert-score gives 0; so has a side whose
  tokens all have an idf of 0, as with a single reference;
- a text's states, and a pair's scores, do not depend on the batch, where bert-score lets padding
  be matched, and some encoders (ConvBERT) let it into the states;
- the row of a baseline file is found by its LAYER, and not by its place;
- RoBERTa's and GPT-2's tokenizers are used as their folder sets them up: bert-score asks for a
  space before the first word, which transformers 5 does not pass on.

It tells little about fluency, order and facts, and its level depends on the model and the layer:
compare systems, or rescale by a baseline, before reading a value as high or low.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from calipers import __version__
from calipers.embed.options import check_positive
from calipers.embed.states.token_models import load_token_encoder
from calipers.embed.states.token_states import TokenIds
from calipers.errors import InputError
from calipers.estimate.validate import check_whole
from calipers.metrics.bert_score import (
    PARTS,
    BertScore,
    Floats,
    best,
    rescale,
    summarise,
    with_f1,
)
from calipers.progress import Progress, Silent
from calipers.text.aligned_rows import References, align
from calipers.text.bertscore_baseline import (
    Baseline,
    baseline_pins,
    given_baseline,
    is_shuffled,
    mean_level,
)
from calipers.text.bertscore_matching import match_all, token_weights
from calipers.text.bertscore_pairs import Pairs, pair_up
from calipers.text.tokens import Texts

CLOSEST = 1e-6
"""A baseline that comes closer to 1 leaves nothing to tell apart."""


def bert_score(
    texts: Texts,
    references: References,
    *,
    model: str | Path = "minilm",
    layer: int | None = None,
    idf: bool = False,
    baseline: Baseline = None,
    max_length: int | None = None,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    offline: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> BertScore:
    """Tell how much of each text is in its reference (precision), and the other way round (recall).

    Parameters
    ----------
    texts
        n strings, or a corpus, whose texts are taken.
    references
        For each text a string, or a list of strings, as many for each text; the best counts, for
        precision, recall and F1 each by itself.
    model
        ``"minilm"`` (packaged), the folder of a transformers encoder with safetensors weights, or
        the name of one in the local Hugging Face cache.
    layer
        Whose states stand for the tokens, from 1; later layers are not computed. None for three
        quarters of the depth, rounded up: 5 of MiniLM's 6.
    idf
        Whether rare tokens count more, by their idf among the references; else all count alike.
    baseline
        What unrelated texts score, which becomes 0: three numbers (P, R, F1), the path of a file
        in the format of bert-score's (columns LAYER, P, R, F), or ``"shuffled"``, which measures
        each text against the references of another row. None leaves the values as they are.
    max_length
        Most tokens that are read of a text, marks included; None for all that the model reads.
        A longer text keeps its beginning and the mark that closes it.
    device, dtype, batch_size
        As in :func:`calipers.embed.load_embedder`; no batch size changes a value.
    offline
        False lets a model be downloaded from the Hugging Face hub.
    seed
        For ``"shuffled"``.
    progress
        What shows how far it is, in texts.

    Returns
    -------
    BertScore
        Means over the rows, with ``per_sample`` of shape (n,); higher is better, 1 for equal
        texts. Values lie in [0, 1]; with a baseline, 0 is its level. NaN for
        a row with an empty text; the signature counts these (``undefined``), and the texts and
        references that were cut (``truncated``).

    Raises
    ------
    InputError
        If texts and references do not match row by row, or an option is unknown.
    MissingExtraError
        If packages that the model needs are not installed.

    References
    ----------
    Zhang et al., "BERTScore: evaluating text generation with BERT", ICLR 2020; paper 003.
    """
    rows = align(texts, references)
    _check(layer, idf, max_length, batch_size, offline)
    pairs = pair_up(rows, shuffled=is_shuffled(baseline), seed=check_whole("seed", seed, 0))
    encoder = load_token_encoder(
        model,
        layer=layer,
        max_length=max_length,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
        offline=offline,
    )
    level = given_baseline(baseline, encoder.layer)
    tokens = encoder.tokenise(pairs.distinct)
    weights = token_weights(encoder, tokens, pairs.references.ravel() if idf else None)
    with (progress or Silent()).task("BERTScore", len(pairs.distinct)) as advance:
        found = with_f1(match_all(encoder, tokens, weights, pairs.meetings, advance))
    if pairs.others is not None:
        level = mean_level(best(found[pairs.others]))
    pins = {
        **encoder.signature,
        "idf": "references" if idf else "none",
        **baseline_pins(baseline, level, seed),
        "references": pairs.references.shape[1],
        "truncated": _cut(pairs, tokens),
    }
    scores = _finish(best(found[pairs.own]), level, pins)
    return BertScore(*(getattr(scores, part).signed(calipers=__version__) for part in PARTS))


def _check(
    layer: object, idf: object, max_length: object, batch_size: object, offline: object
) -> None:
    """Refuse options that no model takes, before one is loaded."""
    for name, number in (("layer", layer), ("max_length", max_length)):
        if number is not None:
            check_whole(name, number, 1)
    for name, flag in (("idf", idf), ("offline", offline)):
        if not isinstance(flag, bool):
            raise InputError(f"{name} must be True or False; found {flag!r}")
    check_positive("batch_size", batch_size)


def _cut(pairs: Pairs, tokens: TokenIds) -> int:
    """How many texts and references were longer than the model reads, repeats included."""
    rows = np.concatenate([pairs.texts, pairs.references.ravel()])
    return int(np.count_nonzero(tokens.truncated[rows]))


def _finish(found: Floats, level: Floats | None, pins: Mapping[str, object]) -> BertScore:
    if level is None:
        return summarise(found, pins)
    if not (level <= 1 - CLOSEST).all():
        nowhere = np.full_like(found, np.nan)
        return summarise(nowhere, pins, reason="the baseline is 1: other rows score as their own")
    return summarise(rescale(found, level), pins, lowest=(-level / (1 - level)).tolist())
