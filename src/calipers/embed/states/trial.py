"""A few short texts on which a faster way through a model is tried before it is trusted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby

import torch
from torch import Tensor

from calipers.embed.batching import Run
from calipers.embed.states.captured import States

Forward = Callable[[Tensor, Sequence[Run]], States]
"""Tokens of some texts end to end, and how they divide, to the states of some layers."""

_LENGTHS = (9, 6, 6, 4, 1)
_STRIDE = 7919
_SAME = 1e-4


class Trial:
    """Texts of several lengths, twice: all but one of them differ the second time.

    Parameters
    ----------
    vocabulary
        Size of the model's vocabulary.
    avoid
        Tokens that mean something of their own, such as padding.
    reach
        Most tokens that will be read of a text.
    window
        How far a token sees, where that is less than `reach`; one text is then longer.
    """

    def __init__(
        self, vocabulary: int, avoid: Collection[int], *, reach: int, window: int | None = None
    ) -> None:
        long = () if window is None or window >= reach else (window + _LENGTHS[0],)
        lengths = [min(length, reach) for length in (*long, *_LENGTHS)]
        self.runs = _divide(lengths)
        usual = [token for token in range(vocabulary // 10, vocabulary) if token not in avoid]
        usual = usual[:50_000] or [0]
        place = torch.arange(2 * sum(lengths)) * _STRIDE % len(usual)
        self.tokens, self._others = torch.tensor(usual)[place].chunk(2)
        # The last but two is the same in both, amid texts that are not
        start = sum(lengths[:-3])
        self._shared = slice(start, start + lengths[-3])
        self._others[self._shared] = self.tokens[self._shared]

    def alone(self, forward: Forward) -> States:
        """The states when each text is read alone."""
        texts = [own for run in self.runs for own in self.tokens[run.tokens].view(-1, run.length)]
        with torch.inference_mode():
            found = [forward(own, [Run(0, 1, len(own))]) for own in texts]
        return {layer: torch.cat([each[layer] for each in found]) for layer in found[0]}

    def passes(self, forward: Forward, expected: States, tolerance: float) -> bool:
        """Whether texts side by side have the states that are expected, whatever their company."""
        with torch.inference_mode():
            one = forward(self.tokens, self.runs)
            two = forward(self._others, self.runs)
        same = all(
            agree(one[layer][self._shared], two[layer][self._shared], _SAME) for layer in expected
        )
        return same and all(
            agree(one[layer], states, tolerance) for layer, states in expected.items()
        )

    def is_causal(self, forward: Forward) -> bool:
        """Whether a token sees none of those behind it: the last of a text changes no other."""
        text, run = self.tokens[: self.runs[0].length].clone(), [Run(0, 1, self.runs[0].length)]
        with torch.inference_mode():
            before = forward(text, run)
            text[-1] = text[0]
            after = forward(text, run)
        return all(agree(before[layer][:-1], after[layer][:-1], _SAME) for layer in before)


def agree(one: Tensor, two: Tensor, tolerance: float) -> bool:
    """Whether no row differs by more than a part of its length."""
    one, two = one.float(), two.float()
    apart = (one - two).norm(dim=1)
    return bool((apart <= tolerance * two.norm(dim=1)).all())


def _divide(lengths: Sequence[int]) -> list[Run]:
    runs, start = [], 0
    for length, same in groupby(lengths):
        count = len(list(same))
        runs.append(Run(start, count, length))
        start += count * length
    return runs
