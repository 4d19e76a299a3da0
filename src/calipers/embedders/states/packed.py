"""Attention for texts concatenated in one row, without padding.

Everything else in a transformer works token by token and can take the tokens of many texts as one
row, (1, T, d); attention alone must keep to the tokens of a text. transformers lets a program
register an attention function of its own: this one looks up how the row divides into texts and
takes the texts of one length together. A model is trusted with it only after a trial
(:mod:`calipers.embedders.states.transformer_states`): some kinds do not ask the function, or need
what it does not know. Those that never ask it are refused even where their states agree: they keep
texts apart by a mask over all tokens of the row, which grows with its square and may be of limited
size.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from calipers.embedders.states.batches import LengthRun
from calipers.embedders.states.loading import quiet

NAME = "calipers_packed"
_HARMLESS = frozenset(
    {"dropout", "deterministic", "output_attentions", "output_hidden_states", "use_cache"}
    | {"position_ids", "cache_position", "return_dict", "layer_head_mask", "head_mask"}
)
"""What models hand to the function beside the rest, and what it may pass over."""

_STEP, _LONG = 64, 768
"""Rows of a step of causal attention on a CPU; beyond so many tokens it brought nothing."""


@dataclass(eq=False)
class _Division:
    runs: Sequence[LengthRun]
    asked: bool = False


_DIVISION: ContextVar[_Division] = ContextVar("how the batch divides")


class NotPackableError(Exception):
    """The attention of the model needs something that the packed one lacks."""


@contextlib.contextmanager
def divided(runs: Sequence[LengthRun]) -> Iterator[None]:
    """Set how the tokens of the present batch divide into texts.

    Raises
    ------
    NotPackableError
        If the model's attention did not ask.
    """
    division = _Division(runs)
    token = _DIVISION.set(division)
    try:
        yield
    finally:
        _DIVISION.reset(token)
    if not division.asked:
        raise NotPackableError("attention of its own")


@contextlib.contextmanager
def installed(model: Any) -> Iterator[Callable[[], None]]:
    """Install the packed attention in a model; it stays if the yielded function is called.

    Raises
    ------
    NotPackableError
        If this version of transformers or this kind of model does not let it.
    """
    try:
        import transformers
        from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

        transformers.AttentionInterface.register(NAME, packed_attention)
    except (ImportError, AttributeError) as error:
        raise NotPackableError("this version of transformers has no attention interface") from error
    if NAME in ALL_MASK_ATTENTION_FUNCTIONS or not hasattr(model, "set_attn_implementation"):
        raise NotPackableError("this version of transformers would make masks")
    before, stays = model.config._attn_implementation, []
    with quiet(transformers):
        model.set_attn_implementation(NAME)
    try:
        yield lambda: stays.append(True)
    finally:
        if not stays:
            with quiet(transformers):
                model.set_attn_implementation(before)


def packed_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    is_causal: bool | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """Restrict the attention of each token to its own text.

    Parameters
    ----------
    module
        The attention layer, whose ``is_causal`` counts where the argument is None.
    query, key, value
        Shapes (1, heads, T, width); `key` and `value` may have fewer heads.
    attention_mask
        Must be None: the runs say it all.
    scaling, is_causal, sliding_window, softcap
        As transformers hands them over.

    Returns
    -------
    tuple
        The mixed values, shape (1, T, heads, width), and None for the weights.
    """
    unknown = [name for name, value in others.items() if value is not None]
    unknown = [name for name in unknown if name not in _HARMLESS]
    if attention_mask is not None or len(query) != 1 or unknown:
        raise NotPackableError(", ".join(unknown) or "a mask")
    causal = bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)
    query, key = query.to(value.dtype), key.to(value.dtype)
    mixed = value.new_empty(query.shape[2], query.shape[1], value.shape[-1])
    division = _DIVISION.get()
    division.asked = True
    for run in division.runs:
        projections = (_texts(states, run, query.shape[1]) for states in (query, key, value))
        mask = _window(run.length, sliding_window, causal, query.device)
        look = _plain if softcap is None else partial(_capped, cap=softcap)
        attended = look(*projections, mask=mask, causal=causal and mask is None, scale=scaling)
        # (texts, heads, length, width) to (texts x length, heads, width)
        mixed[run.tokens] = attended.transpose(1, 2).flatten(0, 1)
    return mixed[None], None


def _texts(states: Tensor, run: LengthRun, heads: int) -> Tensor:
    """The texts of a run apart, (1, heads, T, width) to (texts, heads, length, width)."""
    part = states[0, :, run.tokens].unflatten(1, (run.texts, run.length)).transpose(0, 1)
    shared = heads // part.shape[1]  # query heads that share a head of keys and values
    return part if shared == 1 else part.repeat_interleave(shared, dim=1)


def _window(length: int, window: int | None, causal: bool, device: torch.device) -> Tensor | None:
    """Which tokens see which, bool of shape (length, length); None where no window limits them."""
    if window is None or window >= length:
        return None
    place = torch.arange(length, device=device)
    apart = place[:, None] - place[None, :]
    return (apart < window) & (apart >= 0) if causal else apart.abs() < window


def _plain(
    query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None, causal: bool, scale: Any
) -> Tensor:
    if causal and query.device.type == "cpu" and _STEP < query.shape[2] <= _LONG:
        return _staircase(query, key, value, scale)
    return functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=causal, scale=scale
    )


def _staircase(query: Tensor, key: Tensor, value: Tensor, scale: float | None) -> Tensor:
    """Causal attention step by step: on a CPU, torch computes what the mask then hides as well."""
    outputs = []
    for start in range(0, query.shape[2], _STEP):
        block = query[:, :, start : start + _STEP]
        end = start + block.shape[2]
        hidden = torch.full((block.shape[2], end), -torch.inf, dtype=block.dtype).triu_(start + 1)
        outputs.append(
            functional.scaled_dot_product_attention(
                block, key[:, :, :end], value[:, :, :end], attn_mask=hidden, scale=scale
            )
        )
    return torch.cat(outputs, dim=2)


def _capped(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    cap: float,
    mask: Tensor | None,
    causal: bool,
    scale: float | None,
) -> Tensor:
    """Attention whose scores are squeezed into -cap to cap, as in Gemma 2."""
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    scores = torch.tanh(scores.float() / cap) * cap
    if causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1).to(value.dtype) @ value
