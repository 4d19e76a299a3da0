"""Tests of "the same distribution given the prompt", of every system or pair of systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from calipers.evaluate.options import PromptsOptions
from calipers.evaluate.prompt_scores import Answers
from calipers.metrics.within_prompts import directions
from calipers.results.by_prompt import PromptTest
from calipers.uncertainty.holm import holm
from calipers.uncertainty.two_sample import TwoSample
from calipers.uncertainty.two_sample_prompts import (
    ALIKE,
    Kernel,
    gaussian_kernels,
    prompts_test,
)


def tests_between(
    reference: Answers | None, systems: Sequence[Answers], options: PromptsOptions
) -> tuple[PromptTest, ...]:
    """Test every system against the reference, or without one every pair of systems.

    Returns
    -------
    tuple of PromptTest
        By the Gaussian kernel of embeddings, and where there are texts by the Hamming kernel of
        their characters; corrected over all pairs of one kernel.
    """
    if reference is None:
        pairs = list(combinations(systems, 2))
    else:
        pairs = [(reference, each) for each in systems]
    kernels: list[Kernel] = ["gaussian"]
    if all(each.texts is not None for pair in pairs for each in pair):
        kernels.append("hamming")
    found: list[PromptTest] = []
    for kernel in kernels:
        tests = [_test(kernel, *pair, options) for pair in pairs]
        adjusted = holm([test.p_value for test in tests])
        found += [replace(test, adjusted=float(p)) for test, p in zip(tests, adjusted, strict=True)]
    return tuple(found)


def _test(kernel: Kernel, first: Answers, second: Answers, options: PromptsOptions) -> PromptTest:
    sizes = list(zip(first.sizes.tolist(), second.sizes.tolist(), strict=True))
    reason, made = ALIKE, None
    unread = first.unread or second.unread
    if kernel == "gaussian" and unread:
        reason = unread
    else:
        made = _gaussian(first, second) if kernel == "gaussian" else _hamming(first, second)
    if made is None:
        test = TwoSample.undefined(
            "prompts",
            reason,
            permutations=options.permutations,
            level=options.level,
            pins={"test": "mmd_by_prompt", "kernel": kernel},
        )
    else:
        test = prompts_test(
            made,
            sizes,
            kernel=kernel,
            permutations=options.permutations,
            seed=options.seed,
            level=options.level,
            threads=options.threads,
        )
    return PromptTest(
        first=first.name,
        second=second.name,
        kernel=kernel,
        statistic=test.statistic,
        p_value=test.p_value,
        adjusted=test.p_value,
        level=test.level,
        signature=test.signature,
        reason=test.reason,
    )


def _gaussian(first: Answers, second: Answers) -> list[Any] | None:
    return gaussian_kernels(
        _parts(first, second, directions(first.vectors), directions(second.vectors))
    )


def _hamming(first: Answers, second: Answers) -> list[Any]:
    from calipers.text.hamming import hamming_kernel, padded

    codes = padded([*(first.texts or ()), *(second.texts or ())])
    split = len(first.prompts)
    return [hamming_kernel(part) for part in _parts(first, second, codes[:split], codes[split:])]


def _parts(first: Answers, second: Answers, ours: Any, theirs: Any) -> list[Any]:
    """The rows of each prompt, those of the first set first."""
    spans = zip(pairwise(first.starts.tolist()), pairwise(second.starts.tolist()), strict=True)
    return [np.concatenate([ours[slice(*own)], theirs[slice(*other)]]) for own, other in spans]
