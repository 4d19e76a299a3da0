"""Which labels are exchangeable where two sets answer the same prompts, in full or in part.

Equal systems draw their answers to a prompt from one distribution. Given the prompts, the answers
to one that both sides have are then exchangeable, however many there are on either side, and no
others are: an answer to another prompt is about something else. Prompts that one side alone has say
nothing of the answers to any prompt; but if both sides drew their prompts from one population,
whole prompts are exchangeable between the sides, as long as each comes with equally many answers.
So labels are permuted

- among the answers to each shared prompt, and
- among the prompts that are not shared, each with the same number of its answers: as many as the
  one with fewest has, drawn at random.

Under the null hypothesis no such permutation changes the distribution of the rows, so that every
statistic of them has an exact p-value (:mod:`calipers.uncertainty.two_sample`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.numeric.arrays import Indices, as_numpy

Sizes = tuple[tuple[int, int], ...]
Prompts = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The number of the prompt of every row of two sets."""


@dataclass(frozen=True, eq=False)
class PromptStrata:
    """The rows of two sets by prompt, numbered through both sets.

    Attributes
    ----------
    shared
        Rows whose prompt both sides answer, prompt by prompt, those of the reference first.
    sizes
        For each of these prompts, how many rows are of the reference and of the generated set.
    alone
        Rows whose prompt one side alone answers, prompt by prompt, those of the reference first;
        equally many of each prompt. Empty where only one side has such prompts.
    prompts
        How many of these prompts the reference and the generated set have.
    answers
        How many rows each of them has.
    """

    shared: Indices
    sizes: Sizes
    alone: Indices
    prompts: tuple[int, int]
    answers: int

    @property
    def signature(self) -> str:
        """Numbers of shared prompts, and of others among which labels are exchanged."""
        others = f"+others({self.prompts[0]},{self.prompts[1]})" if len(self.alone) else ""
        return f"shared({len(self.sizes)}){others}"

    @property
    def parts(self) -> list[PromptStrata]:
        """The rows of shared prompts and those of others, as far as there are any."""
        none = np.empty(0, np.intp)
        both = (
            PromptStrata(self.shared, self.sizes, none, (0, 0), 1),
            PromptStrata(none, (), self.alone, self.prompts, self.answers),
        )
        return [part for part in both if len(part.shared) + len(part.alone)]

    @classmethod
    def of(
        cls, reference: NDArray[np.int64], generated: NDArray[np.int64], seed: int
    ) -> PromptStrata:
        """Sort rows by the numbers of their prompts; `seed` draws answers where some are extra."""
        n = len(reference)
        numbers = np.unique(np.concatenate([reference, generated]), return_inverse=True)[1].ravel()
        of_reference = np.arange(len(numbers)) < n
        counts = [
            np.bincount(numbers[side], minlength=numbers.max() + 1)
            for side in (of_reference, ~of_reference)
        ]
        both = (counts[0] > 0) & (counts[1] > 0)
        order = np.lexsort((~of_reference, numbers))
        shared = order[both[numbers[order]]]
        sizes = tuple(zip(counts[0][both].tolist(), counts[1][both].tolist(), strict=True))
        left = [np.flatnonzero((count > 0) & ~both) for count in counts]
        if not all(map(len, left)):
            return cls(shared, sizes, np.empty(0, np.intp), (0, 0), 1)
        answers = int(
            min(count[prompts].min() for count, prompts in zip(counts, left, strict=True))
        )
        drawn = np.random.default_rng([seed, len(numbers), 2]).permutation(len(numbers))
        by_prompt = drawn[np.argsort(numbers[drawn], kind="stable")]
        starts = np.cumsum(np.r_[0, np.bincount(numbers)])
        places = starts[np.concatenate(left)][:, None] + np.arange(answers)
        return cls(shared, sizes, by_prompt[places].ravel(), (len(left[0]), len(left[1])), answers)


def check_prompts(prompts: Any, n: int, m: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the prompts of both sets; raise an error for invalid ones.

    Raises
    ------
    InputError
        If there are not two arrays of whole numbers, one for each row.
    """
    sides: Sequence[ArrayLike] = prompts if isinstance(prompts, list | tuple) else ()
    if len(sides) != 2:
        raise InputError(
            "prompts must be two arrays, the number of the prompt of each row of the reference and "
            f"of the generated set; found {type(prompts).__name__}"
        )
    made = []
    for name, side, size in zip(("reference", "generated"), sides, (n, m), strict=True):
        numbers = as_numpy(side)
        if numbers.dtype.kind not in "iu" or numbers.shape != (size,):
            raise InputError(
                f"prompts of the {name} set must be {size} whole numbers, one for each row; found "
                f"{numbers.dtype} of shape {numbers.shape}"
            )
        made.append(numbers.astype(np.int64))
    return made[0], made[1]
