"""Decodings as changes to a model's logits, by the processors of transformers.

What transformers has is used as it is: in the order in which the decoding is written, each with
every parameter given. A value that leaves everything as it is (``top_p=1``) adds nothing. Of top-H,
transformers looks at the hundred most likely tokens only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import transformers
from torch import Tensor

from calipers.errors import InputError
from calipers.language_model.decoding import Decoding

_Make = Callable[[Any, float, str], Any]


def _named(name: str, keyword: str, kind: type = float) -> _Make:
    def make(module: Any, value: float, device: str) -> Any:
        return getattr(module, name)(**{keyword: kind(value)})

    return make


def _eta(module: Any, value: float, device: str) -> Any:
    return module.EtaLogitsWarper(epsilon=value, device=device)


_KINDS: Mapping[str, _Make] = {
    "temperature": _named("TemperatureLogitsWarper", "temperature"),
    "top_k": _named("TopKLogitsWarper", "top_k", int),
    "top_p": _named("TopPLogitsWarper", "top_p"),
    "min_p": _named("MinPLogitsWarper", "min_p"),
    "typical": _named("TypicalLogitsWarper", "mass"),
    "epsilon": _named("EpsilonLogitsWarper", "epsilon"),
    "eta": _eta,
    "top_h": _named("TopHLogitsWarper", "top_h"),
    "repetition_penalty": _named("RepetitionPenaltyLogitsProcessor", "penalty"),
    "no_repeat_ngram": _named("NoRepeatNGramLogitsProcessor", "ngram_size", int),
}
_NOTHING = {"temperature": 1, "top_p": 1, "typical": 1, "repetition_penalty": 1}
"""Values that change nothing."""
_LOOK_BACK = ("repetition_penalty", "no_repeat_ngram")


class Processors:
    """The changes of a decoding, in order.

    Parameters
    ----------
    decoding
        Its temperature, truncations and penalties.
    device
        Where the logits are.

    Attributes
    ----------
    look_back
        Whether they depend on the tokens before.

    Raises
    ------
    InputError
        If this version of transformers lacks one.
    """

    def __init__(self, decoding: Decoding, device: str) -> None:
        self._steps = []
        module = transformers.generation.logits_process
        named = [parameter for parameter in decoding.parameters if parameter[0] in _KINDS]
        for name, value in named:
            if _NOTHING.get(name) == value:
                continue
            try:
                self._steps.append(_KINDS[name](module, value, device))
            except AttributeError as error:
                raise InputError(
                    f"the decoding {str(decoding)!r}: transformers {transformers.__version__} "
                    f"does not know {name}; a newer version may"
                ) from error
        self.look_back = any(name in _LOOK_BACK for name, _ in named)

    def __call__(self, before: Tensor | None, logits: Tensor) -> Tensor:
        """Change logits; −∞ for tokens that are left out.

        Parameters
        ----------
        before
            The tokens before, int64 of shape (b, t); may be None where nothing looks back.
        logits
            Float32 of shape (b, v); they may be changed in place.
        """
        for step in self._steps:
            logits = step(before, logits)
        return logits


def draw(logits: Tensor, uniform: Tensor) -> Tensor:
    """Draw one token for each row by inverting its cumulative distribution in float64.

    It is what :func:`calipers.language_model.sampling.invert` does, where the logits are.

    Parameters
    ----------
    logits
        −∞ for tokens that are left out, at least one above, float32 of shape (b, v).
    uniform
        In [0, 1), float64 of shape (b,).

    Returns
    -------
    Tensor
        Tokens, none of probability 0, int64 of shape (b,).
    """
    weights = (logits - logits.amax(1, keepdim=True)).double().exp_()
    sums = weights.cumsum(1)
    targets = (uniform * sums[:, -1])[:, None]
    drawn = torch.searchsorted(sums, targets, right=True)
    # Where rounding leads behind the last token, or uniform × sum is the sum: the last of them
    last = torch.searchsorted(sums, sums[:, -1:].contiguous())
    return torch.minimum(drawn, last)[:, 0]
