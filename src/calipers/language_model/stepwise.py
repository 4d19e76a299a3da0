"""Token-by-token generation by a causal model that keeps its cache between tokens.

What is kept is the model's own cache, of attention or of recurrent states, so every kind of model
that transformers caches goes on as it would there. Rows may be dropped, repeated and reordered.
What it is called has changed with the versions of transformers; a model that neither takes nor
gives it by a known name is no model to go on with, which is an error and never a slow reading of
everything again.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor

_CACHES = ("cache", "cache_params", "past_key_values")
"""What models call what they keep: the one name of late, and the former ones of recurrent models
and of those with attention."""


class NoCacheError(LookupError):
    """The model has no cache that could be used."""


class StepwiseModel:
    """Texts of equal length, processed by a causal model token by token.

    Parameters
    ----------
    model
        As transformers gives it.
    cached
        Whether its cache is used; without one everything is read again at every step.

    Raises
    ------
    NoCacheError
        If its cache is to be used, and it takes none by a known name; :meth:`start` and
        :meth:`step` too, if it gives none back.
    """

    def __init__(self, model: Any, *, cached: bool = True) -> None:
        self._model, self._cached = model, cached
        takes = inspect.signature(model.forward).parameters
        self._cache_name = next((name for name in _CACHES if name in takes), "")
        if cached and not self._cache_name:
            raise NoCacheError(f"it takes no cache by any name that is known: {', '.join(_CACHES)}")
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in takes else {}
        self._ids: Tensor = torch.empty((0, 0), dtype=torch.int64)
        self._cache: Any = None
        self.states: Tensor | None = None
        """Last hidden states of what was read last, float32 (b, t, d), where they were asked for"""

    def start(self, ids: Tensor, *, states: bool = False) -> Tensor:
        """Process texts from their beginning.

        Parameters
        ----------
        ids
            Int64 of shape (b, t).
        states
            Whether hidden states are kept too, now and at every step.

        Returns
        -------
        Tensor
            Logits of the token that comes next, float32 of shape (b, v).
        """
        self._cache, self._ids, self._with_states = None, ids, states
        return self._read(ids)

    def step(self, tokens: Tensor) -> Tensor:
        """Process one more token of each text, int64 (b,), and return the logits of the next."""
        if self._cached:
            return self._read(tokens[:, None])
        self._ids = torch.cat([self._ids, tokens[:, None]], dim=1)
        logits = self._read(self._ids)
        self.states = None if self.states is None else self.states[:, -1:]
        return logits

    def select(self, rows: Tensor) -> None:
        """Continue with these rows, which may repeat."""
        if self._cached:
            self._cache.reorder_cache(rows)
        else:
            self._ids = self._ids[rows]

    def _read(self, ids: Tensor) -> Tensor:
        more: dict[str, Any] = {"use_cache": self._cached, **self._last_only}
        if self._cached:
            more[self._cache_name] = self._cache
        if self._with_states:
            more["output_hidden_states"] = True
        output = self._model(input_ids=ids, **more)
        if self._cached:
            self._cache = getattr(output, self._cache_name, None)
            if self._cache is None:
                raise NoCacheError(f"it gives no {self._cache_name!r} back")
        self.states = output.hidden_states[-1].float() if self._with_states else None
        return output.logits[:, -1].float()
