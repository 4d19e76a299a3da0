"""Embedder of any text model of transformers, with two views from one forward pass.

``meaning`` is what a kind of model is usually read by: the state of the last token after the last
layer of a causal model, as mauve-text has it, the mean over tokens of any other, or what a
sentence-transformers folder says. ``form`` is the mean over tokens after a lower layer
(:func:`calipers.embedders.states.pooling.form_layer`), as it is: it sees style and word order,
less of the topic. Means leave attention sinks out (:mod:`calipers.embedders.states.sinks`), but for
those that the makers of a sentence model trained it with. Neither sees what stands behind the first
`max_length` tokens of a text, or before the last ones where the model's tokenizer cuts texts on the
left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from calipers.embedders.embedder import (
    Embedder,
    EncodedBatch,
    SampleError,
    identity_line,
    model_signature,
    not_a_text,
)
from calipers.embedders.models.find import FoundModel
from calipers.embedders.options import EmbedderOptions, choose_device, choose_dtype, token_budget
from calipers.embedders.reading import ReadingCounts, UnknownTokens, of_transformers
from calipers.embedders.states.batches import Batches, LengthRun, States
from calipers.embedders.states.pooling import (
    OVER_TOKENS,
    SentencePlan,
    choose_layer,
    form_layer,
    pool,
)
from calipers.embedders.states.pretrained import (
    UNLIMITED,
    Encode,
    check_length,
    closing,
    encoder,
    load_model,
    load_tokenizer,
    versions,
)
from calipers.embedders.states.transformer_states import TransformerStates
from calipers.errors import CalipersError, InputError

USUAL = 1_024
"""Most tokens of a text where nobody says otherwise, as mauve-text has it."""
_WORDS = {"last": "last_token", "mean": "mean_tokens", "max": "max_tokens"}
_NO_SINKS = "_without_sinks"
_STAND_INS = ("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "pad_token_id")
"""What opens or closes a text, or else fills it up, stands for a text without tokens."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """Some texts as tokens, at least one token each.

    Attributes
    ----------
    ids
        For each text an int32 array.
    truncated
        Which texts were longer than the model reads, bool of shape (n,).
    reading
        The words of each text, and how many of them the tokenizer does not know.
    """

    ids: list[NDArray[np.int32]]
    truncated: NDArray[np.bool_]
    reading: ReadingCounts


@dataclass(frozen=True, eq=False)
class TokenReader:
    """Tokenises texts, and checks token ids that are given.

    Attributes
    ----------
    name
        What to call the embedder in errors.
    encode
        Texts to ids of tokens, marks included.
    known
        Counts what the tokenizer does not know.
    starts, ends
        Ids of the tokens that open and close a text; they are kept where it is cut.
    stand_in
        The token that stands for a text without any.
    vocabulary
        How many tokens the model knows.
    max_length
        Most tokens of a text.
    prefix
        Put before every text.
    lower
        Whether texts are turned to lower case.
    cut_left
        Whether a long text loses its beginning, as some tokenizers have it, and not its end.
    """

    name: str
    encode: Encode
    known: UnknownTokens
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    stand_in: int
    vocabulary: int
    max_length: int
    prefix: str = ""
    lower: bool = False
    cut_left: bool = False

    def read(self, samples: Sequence[Any]) -> Tokens:
        """Tokenise texts or take lists of ids; a long text is truncated before its closing marks.

        Raises
        ------
        InputError
            If a sample is neither a text nor ids that the model knows.
        """
        texts = any(isinstance(sample, str) for sample in samples)
        if texts:
            ids, reading = self._tokenised(samples)
        else:
            ids = self._checked(samples)
            reading = self.known.read_ids(ids)
        truncated = np.array([len(text) > self.max_length for text in ids], dtype=np.bool_)
        return Tokens([self._cut(text) for text in ids], truncated, reading)

    def _tokenised(self, texts: Sequence[Any]) -> tuple[list[NDArray[np.int32]], ReadingCounts]:
        texts = list(texts)
        try:
            read = [self.prefix + text for text in texts]
            read = [text.lower() for text in read] if self.lower else read
            encoded = self.encode(read)
        except (TypeError, ValueError, AttributeError) as error:
            raise not_a_text(texts, error) from error
        ids = [np.array(text, dtype=np.int32) for text in encoded]
        highest = max((int(text.max()) for text in ids if len(text)), default=0)
        if highest >= self.vocabulary:
            raise InputError(
                f"{self.name}: the tokenizer and the model do not belong together: there is a "
                f"token {highest}, but the model knows those from 0 to {self.vocabulary - 1}"
            )
        return ids, self.known.read(read, ids, skip=len(self.prefix))

    def _checked(self, samples: Sequence[Any]) -> list[NDArray[np.int32]]:
        if self.prefix and len(samples):
            raise InputError(
                f"{self.name}: the prefix {self.prefix!r} can be put before texts only, not before "
                "token ids; leave it out, or give its tokens with the others"
            )
        return [self._ids(row, sample) for row, sample in enumerate(samples)]

    def _ids(self, row: int, sample: Any) -> NDArray[np.int32]:
        ids = np.asarray(sample)
        if ids.ndim != 1 or (len(ids) and ids.dtype.kind not in "iu"):
            raise SampleError(
                row, f"must be a text or a list of token ids; found {type(sample).__name__}"
            )
        outside = np.flatnonzero((ids < 0) | (ids >= self.vocabulary))
        if len(outside):
            raise SampleError(
                row,
                f"token ids must be 0 to {self.vocabulary - 1}, which are those that {self.name} "
                f"knows; found {ids[outside[0]]} at place {outside[0] + 1}",
            )
        return ids.astype(np.int32)

    def _cut(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        if not len(ids):
            return np.array([self.stand_in], dtype=np.int32)
        over = len(ids) - self.max_length
        if over <= 0:
            return ids
        # Ids may be given without marks
        opened = tuple(ids[: len(self.starts)].tolist()) == self.starts
        closed = tuple(ids[len(ids) - len(self.ends) :].tolist()) == self.ends
        first = len(self.starts) * opened
        if not self.cut_left:
            first = max(self.max_length - len(self.ends) * closed, 0)
        return np.delete(ids, slice(first, first + over))


class TransformersEmbedder(Embedder):
    """A transformers text model, from its folder.

    Parameters
    ----------
    model
        Its files.
    options
        ``pooling`` and ``layer`` change the view ``meaning`` alone; ``max_length``, ``prefix``,
        ``device``, ``dtype``, ``batch_size``, ``trust_remote_code`` and ``allow_pickle``.
    plan
        What a sentence model does around its transformer; `options` go before it.

    Raises
    ------
    InputError
        If the model or its tokenizer cannot be loaded, weights are missing, it does not fit in
        memory, or it has no such layer, length or device.
    MissingExtraError
        If transformers is not installed.
    """

    views = ("meaning", "form")
    reads = frozenset({"texts", "tokens"})
    at_once = 1_024

    def __init__(
        self, model: FoundModel, options: EmbedderOptions, *, plan: SentencePlan | None = None
    ) -> None:
        self.name = model.name
        self._options, self._layer = options, 0
        self._device = choose_device(options.device, torch)
        dtype = choose_dtype(options.dtype, self._device, torch)
        tokenizer = load_tokenizer(model.folder, trust_remote_code=options.trust_remote_code)
        self._states = TransformerStates(
            partial(
                load_model,
                model.folder,
                trust_remote_code=options.trust_remote_code,
                allow_pickle=options.allow_pickle,
            ),
            self._choose,
            device=self._device,
            dtype=getattr(torch, dtype),
            reach=lambda positions: _reach(options, plan, tokenizer, positions),
            name=model.name,
        )
        encode = encoder(tokenizer)
        empty = encode([""])[0]
        marks = len(empty) - closing(encode)
        self._opening = max(marks, 1) if self._states.causal else 0
        self._plan = _chosen(plan, options, self._states.causal, self._opening).on(self._device)
        self._reader = self._make_reader(tokenizer, encode, empty[:marks], empty[marks:])
        self._batches = Batches(
            max_tokens=token_budget(self._device, torch),
            max_texts=options.batch_size,
            name=model.name,
        )
        text = [LengthRun(0, 1, 1)]
        states = self._states(torch.tensor([0]), text)
        self._plan.check_width(states[self._layer].shape[1], model.name)
        self._widths = {view: len(row[0]) for view, row in self._vectors(states, text).items()}
        self._sign(model)

    def prepare(self, samples: Sequence[Any]) -> Tokens:
        """Tokenise texts or take lists of ids, without the model; empty ones are allowed.

        Raises
        ------
        InputError
            If a sample is neither a text nor ids that the model knows.
        """
        return self._reader.read(samples)

    def encode(self, prepared: Tokens) -> EncodedBatch:
        """Compute the vectors of prepared samples in both views.

        Returns
        -------
        EncodedBatch
            ``meaning`` and ``form``, each float32 of shape (n, d).

        Raises
        ------
        InputError
            If not even a single text fits in memory.
        CalipersError
            If a vector is not finite.
        """
        shapes = {view: (len(prepared.ids), width) for view, width in self._widths.items()}
        views = {view: np.empty(shape, dtype=np.float32) for view, shape in shapes.items()}

        def take(rows: NDArray[np.intp], runs: Sequence[LengthRun], states: States) -> None:
            for view, vectors in self._vectors(states, runs).items():
                if not np.isfinite(vectors).all():
                    raise self._not_finite()
                views[view][rows] = vectors

        self._batches.run(self._states, prepared.ids, take)
        return EncodedBatch(views, prepared.truncated, prepared.reading)

    def _make_reader(
        self, tokenizer: Any, encode: Encode, starts: list[int], ends: list[int]
    ) -> TokenReader:
        vocabulary = self._states.vocabulary
        tokens = (getattr(tokenizer, name, None) for name in _STAND_INS)
        return TokenReader(
            name=self.name,
            encode=encode,
            known=of_transformers(tokenizer),
            starts=tuple(starts),
            ends=tuple(ends),
            stand_in=next((id for id in tokens if id is not None and id < vocabulary), 0),
            vocabulary=vocabulary,
            max_length=self._states.reach,
            prefix=self._plan.prefix,
            lower=self._plan.lower,
            cut_left=tokenizer.truncation_side == "left",
        )

    def _vectors(self, states: States, runs: Sequence[LengthRun]) -> dict[str, NDArray[np.float32]]:
        with torch.inference_mode():
            pooled: dict[str, Tensor] = {
                "meaning": self._plan.apply(states[self._layer], runs),
                "form": pool(
                    states[form_layer(self._states.layers)], runs, "mean", opening=self._opening
                ),
            }
        return {view: vectors.cpu().numpy() for view, vectors in pooled.items()}

    def _not_finite(self) -> CalipersError:
        dtype, reason = self.signature["dtype"], "its weights are damaged"
        if dtype != "float32":
            reason = f"in {dtype} its numbers grow too large: choose dtype 'float32'"
        return CalipersError(f"{self.name} gives vectors that are not finite; {reason}")

    def _choose(self, layers: int) -> Collection[int]:
        """Which layers are needed, of as many."""
        self._layer = choose_layer(self._options.layer or layers, layers)
        return {self._layer, form_layer(layers)}

    def _sign(self, model: FoundModel) -> None:
        plan, reach = self._plan, self._states.reach
        self.signature = model_signature(
            model.name,
            model.revision,
            dtype=self._states.dtype,
            device=self._device,
            max_length=str(reach) if reach < UNLIMITED else "any",
            prefix=plan.prefix,
            quantised=model.quantised,
        )
        words = "+".join(_WORDS.get(name, name) for name in plan.pooling.split("+"))
        if plan.opening is not None and OVER_TOKENS & set(plan.pooling.split("+")):
            words += _NO_SINKS
        after = ("_dense" if plan.dense else "") + ("_norm" if plan.normalise else "")
        self.view_signature = {
            "meaning": f"{words}_layer{self._layer}{after}",
            "form": f"mean_tokens{_NO_SINKS}_layer{form_layer(self._states.layers)}",
        }
        pins = {**self.signature, **self.view_signature, "lower": plan.lower}
        pins |= {"skipped": plan.skipped, **versions("torch", "transformers", "tokenizers")}
        self.identity = identity_line(pins)


def _reach(
    options: EmbedderOptions, plan: SentencePlan | None, tokenizer: Any, positions: int | None
) -> int:
    """How many tokens of a text are read, by a person, the model's makers, or what is usual."""
    if options.max_length is not None:
        return check_length(options.max_length, positions, len(encoder(tokenizer)([""])[0]))
    limits = [positions, tokenizer.model_max_length, USUAL]
    if plan is not None:
        limits = [positions, plan.max_length or tokenizer.model_max_length]
    return max(min(int(limit) for limit in limits if limit is not None), 1)


def _chosen(
    plan: SentencePlan | None, options: EmbedderOptions, causal: bool, opening: int
) -> SentencePlan:
    """What is done with the states, by what a person chose, the model's makers, or its kind."""
    if plan is None:
        usual = "last" if causal else "mean"
        plan = SentencePlan(pooling=usual, normalise=False, opening=opening)
    if options.pooling is not None:
        plan = replace(plan, pooling=options.pooling)
    return plan if options.prefix is None else replace(plan, prefix=options.prefix)
