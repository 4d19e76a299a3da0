"""Decodings as changes to a model's logits: the nucleus and its kin, the rest by transformers.

They are applied in the order in which the decoding is written. A value that leaves everything as
it is (``top_p=1``) adds nothing. What transformers has is used as it is, each with every parameter
given; of top-H, it looks at the hundred most likely tokens only. Its nucleus and its locally
typical sampling sort the whole vocabulary, which on a processor can take longer than a small model
itself; there only tokens are sorted that could be kept (:func:`top_p`, :func:`typical`), text by
text. A GPU sorts all texts at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import transformers
from torch import Tensor

from calipers.errors import InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.truncation import SLACK

_Make = Callable[[Any, float, str], Any]


def _named(name: str, keyword: str, kind: type = float) -> _Make:
    def make(module: Any, value: float, device: str) -> Any:
        return getattr(module, name)(**{keyword: kind(value)})

    return make


def top_p(logits: Tensor, p: float) -> Tensor:
    """Keep the smallest set of most probable tokens whose mass is at least `p`.

    It is :func:`calipers.language_model.truncation.top_p`, where the logits are, and in their
    precision.

    Parameters
    ----------
    logits
        Of b texts over v tokens, floating, shape (b, v).
    p
        In (0, 1).

    Returns
    -------
    Tensor
        The logits, −∞ for all others.
    """
    probabilities = logits.softmax(1)
    # What is less likely than this has less than 1 − p together, and so is never needed
    never = probabilities < (1 - p) / logits.shape[1]
    return _smallest(logits, probabilities, -probabilities, never, p)


def typical(logits: Tensor, tau: float) -> Tensor:
    """Keep the smallest set whose mass is at least `tau`, in the order of |−log p − H|.

    It is :func:`calipers.language_model.truncation.typical`, where the logits are, and in their
    precision.

    Parameters
    ----------
    logits
        Of b texts over v tokens, floating, shape (b, v).
    tau
        In (0, 1).

    Returns
    -------
    Tensor
        The logits, −∞ for all others.
    """
    logs = logits.log_softmax(1)
    probabilities = logs.exp()
    entropy = -(logs * probabilities).nansum(1, keepdim=True)
    # As for the nucleus; and below exp(−2 H) what is less likely is always farther away
    least = (-2 * entropy).exp().clamp(max=(1 - tau) / logits.shape[1])
    distances = (logs + entropy).abs_()
    return _smallest(logits, probabilities, distances, probabilities < least, tau)


def _smallest(
    logits: Tensor, probabilities: Tensor, order: Tensor, never: Tensor, mass: float
) -> Tensor:
    """Keep the first tokens in an order, of equal ones those with lower numbers, up to a mass.

    Where a sum is no number, all that was looked at is left for whoever tells of it.
    """
    left = torch.full_like(logits, -torch.inf)
    for row, flags in enumerate(never):
        tokens = (~flags).nonzero()[:, 0]
        tokens = tokens[order[row, tokens].argsort(stable=True)]
        sums = probabilities[row, tokens].cumsum(0, dtype=torch.float64)
        behind = int((sums >= mass - SLACK).sum()) - 1
        tokens = tokens[: len(tokens) - max(behind, 0)]
        left[row, tokens] = logits[row, tokens]
    return left


def _on_cpu(truncate: Callable[[Tensor, float], Tensor], elsewhere: _Make) -> _Make:
    def make(module: Any, value: float, device: str) -> Any:
        if device != "cpu":
            return elsewhere(module, value, device)
        return lambda before, logits: truncate(logits, value)

    return make


def _eta(module: Any, value: float, device: str) -> Any:
    return module.EtaLogitsWarper(epsilon=value, device=device)


_KINDS: Mapping[str, _Make] = {
    "temperature": _named("TemperatureLogitsWarper", "temperature"),
    "top_k": _named("TopKLogitsWarper", "top_k", int),
    "top_p": _on_cpu(top_p, _named("TopPLogitsWarper", "top_p")),
    "min_p": _named("MinPLogitsWarper", "min_p"),
    "typical": _on_cpu(typical, _named("TypicalLogitsWarper", "mass")),
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
    kept = (logits > -torch.inf).any(0)
    if 2 * int(kept.sum()) < len(kept):  # what no text can draw need not be added up
        tokens = kept.nonzero()[:, 0]
        return tokens[draw(logits[:, tokens], uniform)]
    weights = (logits - logits.amax(1, keepdim=True)).double().exp_()
    sums = weights.cumsum(1)
    targets = (uniform * sums[:, -1])[:, None]
    drawn = torch.searchsorted(sums, targets, right=True)
    # Where rounding leads behind the last token, or uniform × sum is the sum: the last of them
    last = torch.searchsorted(sums, sums[:, -1:].contiguous())
    return torch.minimum(drawn, last)[:, 0]
