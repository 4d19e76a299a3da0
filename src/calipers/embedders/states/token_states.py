"""One vector for each token of a text, for metrics that match tokens.

Weights of the plain BERT kind go through :class:`~calipers.embedders.states.bert.PackedBert`, all
other kinds of encoders through transformers. Layer K is what the model gives when its first K
layers are all it has: what lies behind the last layer, such as the closing norm of T5, is then
applied to
layer K, as bert-score does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders import minilm
from calipers.embedders.models.find import content_hash, find_folder
from calipers.embedders.models.model_files import read_config
from calipers.embedders.options import choose_device, choose_dtype, token_budget
from calipers.embedders.reading import ReadingCounts, UnknownTokens, of_tokenizers, of_transformers
from calipers.embedders.states import pretrained
from calipers.embedders.states.batches import Batches, LengthRun, Model, States, cut
from calipers.embedders.states.pooling import choose_layer
from calipers.embedders.states.pretrained import Encode, closing
from calipers.errors import CalipersError, InputError, require
from calipers.files import at_home
from calipers.progress import Advance

MINILM = "minilm"
_MINILM_LAYERS, _MINILM_POSITIONS = 6, 512
TEXTS_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class TokenIds:
    """Texts as token ids of a model.

    Attributes
    ----------
    ids
        The tokens of all texts end to end, int32 of shape (T,).
    starts
        Where each text starts in `ids`, int64 of shape (n + 1,).
    truncated
        Which texts were longer than the model reads, bool of shape (n,).
    reading
        The words of each text, and how many of them the tokenizer does not know.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    truncated: NDArray[np.bool_]
    reading: ReadingCounts

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each text, shape (n,)."""
        return np.diff(self.starts)

    def of(self, text: int) -> slice:
        """Return the slice of a text's tokens in `ids`, or in an array with one value per token."""
        return slice(int(self.starts[text]), int(self.starts[text + 1]))


@dataclass(frozen=True, eq=False)
class TokenEncoder:
    """A model with a vector for each token, made by :func:`load_token_encoder`.

    Attributes
    ----------
    encode
        Texts to ids of tokens.
    known
        Counts what the tokenizer does not know.
    model, batches
        What computes the states of a batch, and what divides texts into batches.
    marks
        Ids of the tokens that open and close a text, which stand for no word.
    max_length
        Most tokens of a text, marks included; the tokens that close a text are kept.
    layer, width
        The layer whose states are given, and their d.
    signature
        Everything that can change a state, for people.
    """

    encode: Encode
    known: UnknownTokens
    model: Model
    batches: Batches
    marks: frozenset[int]
    max_length: int
    layer: int
    width: int
    signature: Mapping[str, str]

    def tokenise(self, texts: Sequence[str]) -> TokenIds:
        """Split texts into tokens; a long one keeps its beginning and its closing marks."""
        tail = closing(self.encode)
        parts, lengths, truncated = [np.empty(0, np.int32)], [0], []
        readings: list[ReadingCounts | None] = [ReadingCounts.of([])]
        for first in range(0, len(texts), TEXTS_AT_ONCE):
            batch = list(texts[first : first + TEXTS_AT_ONCE])
            ids = self.encode(batch)
            readings.append(self.known.read(batch, ids))
            truncated += [len(text) > self.max_length for text in ids]
            ids = [cut(text, self.max_length, tail) for text in ids]
            parts.append(np.fromiter(chain.from_iterable(ids), dtype=np.int32))
            lengths += map(len, ids)
        starts = np.cumsum(lengths, dtype=np.int64)
        reading = ReadingCounts.joined(readings)
        assert reading is not None
        return TokenIds(np.concatenate(parts), starts, np.array(truncated, dtype=np.bool_), reading)

    def states(
        self, tokens: TokenIds, texts: Sequence[int], advance: Advance
    ) -> list[NDArray[np.float32]]:
        """Compute the states of some texts, each normalised to length 1.

        Parameters
        ----------
        tokens
            All texts.
        texts
            Which of them to compute.
        advance
            Told how many texts are done.

        Returns
        -------
        list of array
            For each text float32 of shape (tokens, d).

        Raises
        ------
        CalipersError
            If a state is not finite, as with damaged weights.
        InputError
            If not even a single text fits in memory.
        """
        vectors = [np.empty((0, self.width), np.float32)] * len(texts)
        # A model without marks has no token for an empty text
        filled = [place for place, text in enumerate(texts) if tokens.lengths[text]]

        def take(rows: NDArray[np.intp], runs: Sequence[LengthRun], states: States) -> None:
            unit = states[self.layer].float().cpu().numpy()
            norms = np.linalg.norm(unit, axis=1, keepdims=True)
            if not np.isfinite(norms).all():
                raise CalipersError(
                    "the model gives states that are not finite; its weights are damaged"
                )
            unit /= np.maximum(norms, np.finfo(np.float32).tiny)
            ends = np.cumsum([run.length for run in runs for _ in range(run.texts)])
            for row, text_states in zip(rows, np.split(unit, ends[:-1]), strict=True):
                vectors[filled[row]] = text_states
            advance(len(rows))

        ids = [tokens.ids[tokens.of(texts[place])] for place in filled]
        self.batches.run(self.model, ids, take)
        return vectors


def load_token_encoder(
    model: str | Path = MINILM,
    *,
    layer: int | None = None,
    max_length: int | None = None,
    device: str = "auto",
    dtype: str = "float32",
    batch_size: int | None = None,
    offline: bool = True,
) -> TokenEncoder:
    """Load a model that gives a vector for each token.

    Parameters
    ----------
    model
        ``"minilm"`` for the packaged all-MiniLM-L6-v2, the folder of a transformers encoder (of
        an encoder–decoder, its encoder is taken), or its name on the Hugging Face hub.
    layer
        Whose states, from 1 to the model's layers; those behind it are not computed. None for
        three quarters of the depth, rounded up.
    max_length
        Most tokens that are read of a text, marks included; None for all that the model can read.
    device, dtype, batch_size
        As in :func:`calipers.embedders.load_embedder`.
    offline
        Whether a name is looked up in the local cache only; False lets it be downloaded.

    Raises
    ------
    InputError
        If there is no such model or layer, it cannot be loaded, or `max_length` does not fit.
    MissingExtraError
        If packages that it needs are not installed.
    CalipersError
        If the packaged weights are not the published ones.
    """
    torch = require("torch", extra="models", purpose=f"the model {str(model)!r}")
    device = choose_device(device, torch)
    chosen = getattr(torch, choose_dtype(dtype, device, torch))
    if model == MINILM:
        name, parts = MINILM, _minilm(layer, max_length, device, chosen)
    else:
        folder = find_folder(model, offline=offline)
        name = folder.resolve().name if os.path.isdir(at_home(model)) else str(model)
        parts = _from_folder(folder, name, layer, max_length, device, chosen)
    with torch.inference_mode():
        width = parts.model(torch.tensor([0]), [LengthRun(0, 1, 1)])[parts.layer].shape[1]
    return TokenEncoder(
        encode=parts.encode,
        known=parts.known,
        model=parts.model,
        batches=Batches(max_tokens=token_budget(device, torch), max_texts=batch_size, name=name),
        marks=parts.marks,
        max_length=parts.max_length,
        layer=parts.layer,
        width=width,
        signature={
            "model": name,
            **parts.pins,
            "layer": str(parts.layer),
            "max_length": str(parts.max_length),
            "dtype": str(parts.dtype).removeprefix("torch."),
            "device": device.partition(":")[0],
        },
    )


@dataclass(frozen=True, eq=False)
class _Parts:
    """What a model brings along."""

    encode: Encode
    known: UnknownTokens
    model: Model
    marks: frozenset[int]
    layer: int
    max_length: int
    dtype: Any
    pins: Mapping[str, str]


def _minilm(layer: int | None, max_length: int | None, device: str, dtype: Any) -> _Parts:
    """The packaged all-MiniLM-L6-v2, verified."""
    chosen, tokenizer = choose_layer(layer, _MINILM_LAYERS), minilm.load_tokenizer()

    def encode(texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)]

    return _Parts(
        encode=encode,
        known=of_tokenizers(tokenizer, tokenizer.token_to_id("[UNK]")),
        model=minilm.load_layers({chosen}, device, dtype),
        marks=frozenset(tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]")),
        layer=chosen,
        max_length=_max_length(max_length, _MINILM_POSITIONS, encode),
        dtype=dtype,
        pins={"revision": minilm.REVISION},
    )


def _from_folder(
    folder: Path, name: str, layer: int | None, max_length: int | None, device: str, dtype: Any
) -> _Parts:
    """Any encoder that transformers knows, from its folder; plain BERT through packed layers."""
    transformers = require("transformers", extra="models", purpose=f"the model {name!r}")
    from calipers.embedders.states.bert import PackedBert, is_plain_bert, read_layers
    from calipers.embedders.states.transformer_states import TransformerStates

    tokenizer = pretrained.load_tokenizer(folder)
    encode = pretrained.encoder(tokenizer)

    def reach(positions: int | None) -> int:
        limit = min(tokenizer.model_max_length, positions or pretrained.UNLIMITED)
        limit = limit if limit < pretrained.UNLIMITED else None
        return _max_length(max_length, limit, encode)

    def load(stored_dtype: bool) -> Any:
        whole = pretrained.load_model(folder, stored_dtype=stored_dtype)
        pretrained.end_at(whole, choose_layer(layer, pretrained.layer_count(whole)), folder)
        return whole

    config, tensors = read_config(folder), None
    if is_plain_bert(config):
        chosen = choose_layer(layer, config["num_hidden_layers"])
        tensors = read_layers(folder, chosen)
    model: Model
    if tensors is not None:
        length = reach(len(tensors["embeddings.position_embeddings.weight"]))
        heads = config["num_attention_heads"]
        model = PackedBert(tensors, heads=heads, wanted={chosen}, device=device, dtype=dtype)
    else:
        model = TransformerStates(
            load, lambda layers: {layers}, device=device, dtype=dtype, reach=reach, name=name
        )
        chosen, length, dtype = model.layers, model.reach, model.dtype
    marks = {tokenizer.cls_token_id, tokenizer.sep_token_id} - {None}
    if isinstance(model, TransformerStates) and model.causal:
        # BOS has the same state in all texts, so that it would match itself perfectly in each
        empty = encode([""])[0]
        marks |= set(empty[: len(empty) - closing(encode)])
    return _Parts(
        encode=encode,
        known=of_transformers(tokenizer),
        model=model,
        marks=frozenset(marks),
        layer=chosen,
        max_length=length,
        dtype=dtype,
        pins={"revision": content_hash(folder)[:12], "transformers": transformers.__version__},
    )


def _max_length(asked: int | None, limit: int | None, encode: Encode) -> int:
    if asked is None and limit is None:
        raise InputError(
            "max_length must be given: neither the model nor its tokenizer says how many tokens "
            "it reads"
        )
    if asked is None:
        assert limit is not None
        return limit
    return pretrained.check_length(asked, limit, len(encode([""])[0]))
