"""Any text model of transformers as an embedder, with two views from one forward pass.

``meaning`` is what a kind of model is usually read by: the state of the last token after the last
layer of a causal model, as mauve-text has it, the mean over tokens of any other, or what a
sentence-transformers folder says. ``form`` is the mean over tokens after a lower layer
(:func:`calipers.embed.states.pooling.form_layer`), as it is: it sees style and word order,
less of the topic. Neither sees what stands behind the first `max_length` tokens of a text, or
before the last ones where the model's tokenizer cuts texts on the left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from calipers.embed.embedder import Embedder, EncodedBatch
from calipers.embed.models.model_folder import FoundModel
from calipers.embed.options import Options, choose_device, choose_dtype, token_budget
from calipers.embed.states.batches import Batches, Run, States
from calipers.embed.states.pooling import SentencePlan, choose_layer, form_layer, pool
from calipers.embed.states.pretrained import load_model, load_tokenizer, versions
from calipers.embed.states.tokens import (
    UNLIMITED,
    USUAL,
    Reader,
    Tokens,
    encoder,
    longest,
    marks,
    stand_in,
)
from calipers.embed.states.transformer_states import TransformerStates
from calipers.errors import CalipersError

_WORDS = {"last": "last_token", "mean": "mean_tokens", "max": "max_tokens"}


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
        self, model: FoundModel, options: Options, *, plan: SentencePlan | None = None
    ) -> None:
        self.name = model.name
        self._options, self._layer = options, 0
        self._device = choose_device(options.device, torch)
        dtype = choose_dtype(options.dtype, self._device, torch)
        tokenizer = load_tokenizer(model.folder, trust_remote_code=options.trust_remote_code)
        self._states = TransformerStates(
            lambda stored: _load(model, options, stored),
            self._choose,
            device=self._device,
            dtype=getattr(torch, dtype),
            reach=lambda positions: _reach(options, plan, tokenizer, positions),
            name=model.name,
        )
        self._plan = _chosen(plan, options, self._states.causal).on(self._device)
        self._reader = self._make_reader(tokenizer)
        self._batches = Batches(
            max_tokens=token_budget(self._device, torch),
            max_texts=options.batch_size,
            name=model.name,
        )
        text = [Run(0, 1, 1)]
        states = self._states(torch.tensor([0]), text)
        self._plan.check_width(states[self._layer].shape[1], model.name)
        self._widths = {view: len(row[0]) for view, row in self._vectors(states, text).items()}
        self._sign(model)

    def prepare(self, samples: Sequence[Any]) -> Tokens:
        """Make tokens of texts or lists of token ids, which needs no model; empty ones too.

        Raises
        ------
        InputError
            If a sample is neither a text nor ids that the model knows.
        """
        return self._reader.read(samples)

    def encode(self, prepared: Tokens) -> EncodedBatch:
        """Compute the vectors of what was prepared, in both views.

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

        def take(rows: NDArray[np.intp], runs: Sequence[Run], states: States) -> None:
            for view, vectors in self._vectors(states, runs).items():
                views[view][rows] = self._finite(vectors)

        self._batches.run(self._states, prepared.ids, take)
        return EncodedBatch(views, prepared.truncated)

    def _make_reader(self, tokenizer: Any) -> Reader:
        encode = encoder(tokenizer)
        starts, ends = marks(encode)
        return Reader(
            name=self.name,
            encode=encode,
            starts=starts,
            ends=ends,
            stand_in=stand_in(tokenizer, self._states.vocabulary),
            vocabulary=self._states.vocabulary,
            max_length=self._states.reach,
            prefix=self._plan.prefix,
            lower=self._plan.lower,
            cut_left=tokenizer.truncation_side == "left",
        )

    def _vectors(self, states: States, runs: Sequence[Run]) -> dict[str, NDArray[np.float32]]:
        with torch.inference_mode():
            pooled: dict[str, Tensor] = {
                "meaning": self._plan.apply(states[self._layer], runs),
                "form": pool(states[form_layer(self._states.layers)], runs, "mean"),
            }
        return {view: vectors.cpu().numpy() for view, vectors in pooled.items()}

    def _finite(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        if not np.isfinite(vectors).all():
            lower = self._states.dtype != torch.float32
            reason = (
                f"in {self.signature['dtype']} its numbers grow too large: choose dtype 'float32'"
                if lower
                else "its weights are damaged"
            )
            raise CalipersError(f"{self.name} gives vectors that are not finite; {reason}")
        return vectors

    def _choose(self, layers: int) -> Collection[int]:
        """Which layers are needed, of as many."""
        self._layer = choose_layer(self._options.layer or layers, layers)
        return {self._layer, form_layer(layers)}

    def _sign(self, model: FoundModel) -> None:
        self.signature = {
            "embedder": model.name,
            "revision": model.revision,
            "max_length": str(self._states.reach) if self._states.reach < UNLIMITED else "any",
            "dtype": str(self._states.dtype).removeprefix("torch."),
            "device": self._device.partition(":")[0],
        }
        if self._plan.prefix:
            self.signature["prefix"] = repr(self._plan.prefix)
        self.view_signature = {
            "meaning": _words(self._plan, self._layer),
            "form": f"mean_tokens_layer{form_layer(self._states.layers)}",
        }
        pins = {**self.signature, **self.view_signature, "lower": self._plan.lower}
        pins |= {"skipped": self._plan.skipped, **versions("torch", "transformers", "tokenizers")}
        self.identity = "|".join(f"{key}:{value}" for key, value in pins.items())


def _load(model: FoundModel, options: Options, stored: bool) -> Any:
    return load_model(
        model.folder,
        stored_dtype=stored,
        trust_remote_code=options.trust_remote_code,
        allow_pickle=options.allow_pickle,
    )


def _reach(
    options: Options, plan: SentencePlan | None, tokenizer: Any, positions: int | None
) -> int:
    """How many tokens of a text are read, by a person, the model's makers, or what is usual."""
    makers, usual = (None, USUAL) if plan is None else (plan.max_length, None)
    return longest(
        options.max_length,
        makers,
        usual=usual,
        tokenizer=tokenizer,
        positions=positions,
        marks=len(encoder(tokenizer)([""])[0]),
    )


def _chosen(plan: SentencePlan | None, options: Options, causal: bool) -> SentencePlan:
    """What is done with the states, by what a person chose, the model's makers, or its kind."""
    if plan is None:
        plan = SentencePlan(pooling="last" if causal else "mean", normalise=False)
    if options.pooling is not None:
        plan = replace(plan, pooling=options.pooling)
    return plan if options.prefix is None else replace(plan, prefix=options.prefix)


def _words(plan: SentencePlan, layer: int) -> str:
    words = "+".join(_WORDS.get(name, name) for name in plan.pooling.split("+"))
    dense = "_dense" if plan.dense else ""
    return f"{words}_layer{layer}{dense}{'_norm' if plan.normalise else ''}"
