"""Attention sinks: tokens without content whose states would dominate a mean.

A causal model's first token sees no other, so its state is the same in every text that begins with
it; that of a mark before the text (BOS) is the same in all texts. Heads that have nothing to attend
to attend there, and in the middle layers that state grows until it is many times as long as any
other: 88 to 113 times in SmolLM2 135M, 8 times in Gemma 3 270M, at the layers of their form views.
A mean over all tokens then says what share of them is the sink, which is the length of the text.

So means leave out what opens a causal text, and any token of whichever model whose state is more
than :data:`STANDS_OUT` times as long as the median of the text: between the longest of an ordinary
token (1.5 times there, 4.3 times in MiniLM's last layer, in human stories) and the shortest of a
sink (7.8 times). Behind a closing norm all states are about equally long, so there only the place
tells. A text of which nothing else would be left keeps its token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

STANDS_OUT = 6.0
"""How many times as long as the median of its text a state must be to be a sink."""


def pool_without_sinks(tokens: Tensor, pool: Callable[[Tensor], Tensor], *, opening: int) -> Tensor:
    """Pool the states of texts of one length without attention sinks.

    Parameters
    ----------
    tokens
        The states, shape (texts, length, d).
    pool
        One vector for each text, (texts, length, d) to (texts, d).
    opening
        Tokens at the beginning of each text that are sinks by their place; a text of no more
        tokens keeps them.
    """
    tokens = tokens[:, opening if tokens.shape[1] > opening else 0 :]
    vectors = pool(tokens)
    sinks = stand_out(tokens)
    for text in sinks.any(dim=1).nonzero()[:, 0].tolist():
        vectors[text] = pool(tokens[text, ~sinks[text]][None])[0]
    return vectors


def stand_out(tokens: Tensor) -> Tensor:
    """Find states that are far longer than others of their text, bool of shape (texts, length)."""
    norms = tokens.float().norm(dim=2)
    outliers: Tensor = norms > STANDS_OUT * norms.median(dim=1, keepdim=True).values
    return outliers
