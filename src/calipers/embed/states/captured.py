"""The states of some of a model's layers, taken while it runs.

Layer K means ``hidden_states[K]`` of transformers: what the K-th layer gives, and for the last one
what the model gives, behind its closing norm. Layers behind the deepest one that is wanted are
taken out of the model.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from torch import Tensor

from calipers.embed.states.pretrained import layer_stack

States = dict[int, Tensor]
"""Layer to the states of all tokens, shape (T, d)."""


class Captured:
    """A model that is cut behind the deepest layer that is wanted.

    Parameters
    ----------
    model
        As transformers gives it; changed in place.
    layers
        How many it has.
    wanted
        Whose states to give, from 1 to `layers`.

    Raises
    ------
    LookupError
        If its layers are not held as those of most models are.
    """

    def __init__(self, model: Any, layers: int, wanted: Collection[int]) -> None:
        self._model, self._last, self._wanted = model, layers, frozenset(wanted)
        self._found: States = {}
        self._done = 0
        for block in _blocks(model, layers, max(wanted)):
            block.register_forward_hook(self._take)

    def __call__(self, **inputs: Any) -> States:
        """Run the model."""
        self._found, self._done = {}, 0
        final = self._model(**inputs)[0]
        found = self._found
        self._found = {}
        if self._last in self._wanted:
            found[self._last] = final.flatten(0, 1)
        return found

    def _take(self, block: Any, given: Any, found: Any) -> None:
        self._done += 1
        if self._done in self._wanted and self._done != self._last:
            states = found[0] if isinstance(found, tuple) else found
            self._found[self._done] = states.flatten(0, 1)


def _blocks(model: Any, layers: int, deepest: int) -> list[Any]:
    """The layers up to the deepest; ALBERT goes through the same ones again and again."""
    if model.config.model_type == "albert":
        model.config.num_hidden_layers = deepest
        groups: list[Any] = list(model.encoder.albert_layer_groups)
        return groups
    stack = layer_stack(model, layers)
    if stack is None:
        raise LookupError("no list of layers")
    del stack[deepest:]
    return list(stack)


class Whole:
    """A model that gives the states of all its layers: always right, and slower.

    Parameters
    ----------
    model, layers, wanted
        As for :class:`Captured`; the model is not changed.
    """

    def __init__(self, model: Any, layers: int, wanted: Collection[int]) -> None:
        self._model, self._last, self._wanted = model, layers, frozenset(wanted)

    def __call__(self, **inputs: Any) -> States:
        """Run the model."""
        found = self._model(**inputs, output_hidden_states=True)
        states = dict(enumerate(found.hidden_states)) | {self._last: found[0]}
        length = inputs["input_ids"].shape[1]  # some models give padding of their own too
        return {layer: states[layer][:, :length].flatten(0, 1) for layer in self._wanted}
