"""Pooling of token states into one vector per text, and the dense layers of sentence models.

The ways to pool, and the order pooling, dense layers, L2 norm, are those of sentence-transformers.
Texts come in runs of one length, so that no way ever sees padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from calipers.embedders.states.sinks import pool_without_sinks
from calipers.errors import InputError, unknown_name

if TYPE_CHECKING:
    from torch import Tensor

    from calipers.embedders.states.batches import LengthRun


def choose_layer(layer: int | None, layers: int) -> int:
    """Return the layer for embeddings: by default three quarters of them, rounded up.

    These are 5 of 6, 9 of 12 and 18 of 24 layers: for BERT and RoBERTa of these depths no more
    than one away from the layer that agreed best with people's judgements of translations
    (WMT16), by the table that comes with bert-score.

    Raises
    ------
    InputError
        If the model does not have the layer.

    Examples
    --------
    >>> choose_layer(None, 6), choose_layer(None, 12), choose_layer(2, 6)
    (5, 9, 2)
    """
    if layer is None:
        return -(-3 * layers // 4)
    if not 1 <= layer <= layers:
        raise InputError(f"layer must be 1 to {layers}, the layers of the model; found {layer}")
    return layer


def form_layer(layers: int) -> int:
    """Return the layer of the view ``form``: two thirds of them, rounded up.

    Examples
    --------
    >>> form_layer(6), form_layer(12), form_layer(24)
    (4, 8, 16)
    """
    return -(-2 * layers // 3)


ACTIVATIONS = ("identity", "tanh", "relu", "gelu", "sigmoid", "silu")
"""What may follow a dense layer."""


@dataclass(frozen=True, eq=False)
class SentencePlan:
    """The steps of a sentence model before and after its transformer.

    Attributes
    ----------
    pooling
        One of `POOLS`, or several joined by ``+``, whose vectors then stand side by side:
        ``"mean+max"``.
    normalise
        Whether vectors are brought to length one, at the very end.
    max_length
        Most tokens that are read of a text, marks included; None for all that the model reads.
    prefix
        Put before every text.
    lower
        Whether texts are turned to lower case first.
    dense
        ``(weight, bias, activation)`` of each layer that follows pooling: float32 tensors of
        shapes (outputs, inputs) and (outputs,), or None for no bias, and one of `ACTIVATIONS`.
    skipped
        How many tokens at the beginning of a text are left out of pooling: those of an
        instruction that shall steer the model and not be part of the sentence.
    opening
        How many tokens at the beginning of a text are attention sinks by their place, where those
        are left out of means (:mod:`calipers.embedders.states.sinks`); None where they count, as in
        a model that was trained with them.
    """

    pooling: str = "mean"
    normalise: bool = True
    max_length: int | None = None
    prefix: str = ""
    lower: bool = False
    dense: tuple[tuple[Tensor, Tensor | None, str], ...] = ()
    skipped: int = 0
    opening: int | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown pooling or activation."""
        for name in self.pooling.split("+"):
            if name not in POOLS:
                raise unknown_name("pooling", name, POOLS)
        for *_, activation in self.dense:
            if activation not in ACTIVATIONS:
                raise unknown_name("activation", activation, ACTIVATIONS)

    def check_width(self, width: int, name: str) -> None:
        """Refuse dense layers whose widths do not fit each other and the pooling.

        Parameters
        ----------
        width
            Numbers in a state.
        name
            What to call the model.

        Raises
        ------
        InputError
            If one takes vectors of another size than it is given.
        """
        size = width * len(self.pooling.split("+"))
        for weight, _, _ in self.dense:
            if weight.shape[1] != size:
                raise InputError(
                    f"the model {name!r} has a dense layer for vectors of {weight.shape[1]} "
                    f"numbers, but pooling {self.pooling!r} gives it {size}; leave the pooling to "
                    "the model"
                )
            size = weight.shape[0]

    def on(self, device: str) -> SentencePlan:
        """Move the weights of the dense layers to a device."""
        dense = [
            (weight.to(device), None if bias is None else bias.to(device), activation)
            for weight, bias, activation in self.dense
        ]
        return replace(self, dense=tuple(dense))

    def apply(self, states: Tensor, runs: Sequence[LengthRun]) -> Tensor:
        """Turn token states, (T, d), into a vector for each text, (texts, outputs)."""
        from torch.nn import functional

        vectors = pool(states, runs, self.pooling, skipped=self.skipped, opening=self.opening)
        for weight, bias, activation in self.dense:
            vectors = _activate(functional.linear(vectors, weight, bias), activation)
        return functional.normalize(vectors, dim=1) if self.normalise else vectors


def pool(
    states: Tensor,
    runs: Sequence[LengthRun],
    how: str,
    *,
    skipped: int = 0,
    opening: int | None = None,
) -> Tensor:
    """Pool the states of each text, in float32.

    Parameters
    ----------
    states
        Those of all texts end to end, shape (T, d).
    runs
        How the tokens divide into texts.
    how
        One of `POOLS`, or several joined by ``+``.
    skipped
        Tokens at the beginning of each text that do not count; a text of no more is taken whole.
    opening
        As :attr:`SentencePlan.opening`.
    """
    import torch

    def vectors(name: str, tokens: Tensor) -> Tensor:
        if opening is None or name not in OVER_TOKENS:
            return POOLS[name](tokens)
        return pool_without_sinks(tokens, POOLS[name], opening=opening)

    pooled = []
    for run in runs:
        tokens = states[run.tokens].view(run.texts, run.length, -1)  # (texts, length, d)
        tokens = tokens[:, skipped if run.length > skipped else 0 :]
        pooled.append(torch.cat([vectors(name, tokens) for name in how.split("+")], dim=1))
    return torch.cat(pooled)


def _weighted_mean(states: Tensor) -> Tensor:
    import torch

    weights = torch.arange(1, states.shape[1] + 1, device=states.device, dtype=torch.float32)
    return torch.einsum("nld,l->nd", states.float(), weights / weights.sum())


POOLS: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda states: states.float().mean(dim=1),
    "cls": lambda states: states[:, 0].float(),
    "last": lambda states: states[:, -1].float(),
    "max": lambda states: states.float().amax(dim=1),
    "mean_sqrt_len": lambda states: states.float().mean(dim=1) * states.shape[1] ** 0.5,
    "weighted_mean": _weighted_mean,
}
"""Ways to make one vector of a text's states, (texts, length, d) to (texts, d)."""

OVER_TOKENS = frozenset({"mean", "max", "mean_sqrt_len", "weighted_mean"})
"""Those in which every token counts, so that a sink outweighs the others."""


def _activate(vectors: Tensor, name: str) -> Tensor:
    import torch
    from torch.nn import functional

    if name == "identity":
        return vectors
    activated: Tensor = getattr(torch if name in ("tanh", "sigmoid") else functional, name)(vectors)
    return activated
