"""Tests of "the same distribution given the prompt", of every system or pair of systems.

Two questions. Do the answers to a prompt differ from set to set? MMD within prompts sees that, by
embeddings and by strings, and needs several samples of a prompt. Do the answers of one set differ
from those of the other in the same way from prompt to prompt? A classifier sees that whose folds
keep prompts together and whose labels are permuted within them, and one sample of each prompt is
enough. What cannot be tested has a reason in place of a p-value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from calipers.commands.prompts.options import PromptsOptions
from calipers.commands.prompts.result import PromptTest, TestedBy
from calipers.commands.prompts.scores import PromptSamples
from calipers.metrics.within_prompts import directions
from calipers.uncertainty.holm import holm
from calipers.uncertainty.two_sample import TwoSample, allowed
from calipers.uncertainty.two_sample_classifier import classifier_test
from calipers.uncertainty.two_sample_prompts import (
    ALIKE,
    Kernel,
    gaussian_kernels,
    prompts_test,
    relabellings,
)


def tests_between(
    reference: PromptSamples | None,
    systems: Sequence[PromptSamples],
    options: PromptsOptions,
    *,
    view: str,
) -> tuple[PromptTest, ...]:
    """Test every system against the reference, or without one every pair of systems.

    Returns
    -------
    tuple of PromptTest
        By a classifier of embeddings over prompts, in every view; within prompts by the Gaussian
        kernel of embeddings, and where there are texts by the Hamming kernel of their characters.
        Corrected over all pairs of one test.
    """
    if reference is None:
        pairs = list(combinations(systems, 2))
    else:
        pairs = [(reference, system) for system in systems]
    views = (view, *(systems[0].further if systems else ()))
    tested: list[tuple[TestedBy, str]] = [("classifier", seen) for seen in views]
    tested.append(("gaussian", view))
    if all(answers.texts is not None for pair in pairs for answers in pair):
        tested.append(("hamming", ""))
    results: list[PromptTest] = []
    for by, seen in tested:
        tests = [_test(by, seen, *pair, options) for pair in pairs]
        adjusted = holm([test.p_value for test in tests])
        results += [
            replace(test, adjusted=float(p)) for test, p in zip(tests, adjusted, strict=True)
        ]
    return tuple(results)


def _test(
    by: TestedBy, view: str, first: PromptSamples, second: PromptSamples, options: PromptsOptions
) -> PromptTest:
    unread = first.unread or second.unread
    if unread and by != "hamming":
        test = _undefined(by, unread, options)
    elif by == "classifier":
        rows = [side.further.get(view, side.vectors) for side in (first, second)]
        test = _classifier(first, second, rows, options)
    else:
        test = _within(by, first, second, options)
    return PromptTest(
        first=first.name,
        second=second.name,
        test=by,
        view=view,
        statistic=test.statistic,
        estimate=test.estimate,
        p_value=test.p_value,
        adjusted=test.p_value,
        level=test.level,
        signature=test.signature,
        reason=test.reason,
    )


def _undefined(by: TestedBy, reason: str, options: PromptsOptions) -> TwoSample:
    """Say why a pair is not testable."""
    settings: dict[str, Any] = {"permutations": options.permutations, "level": options.level}
    if by == "classifier":
        return TwoSample.undefined("classifier", reason, pins={"test": "classifier"}, **settings)
    pins = {"test": "mmd_by_prompt", "kernel": by}
    return TwoSample.undefined("prompts", reason, pins=pins, **settings)


def _classifier(
    first: PromptSamples, second: PromptSamples, rows: Sequence[Any], options: PromptsOptions
) -> TwoSample:
    return classifier_test(
        *map(directions, rows),
        prompts=(first.prompts, second.prompts),
        permutations=options.permutations,
        seed=options.seed,
        level=options.level,
        threads=options.threads,
    )


def _within(
    kernel: Kernel, first: PromptSamples, second: PromptSamples, options: PromptsOptions
) -> TwoSample:
    """Test within prompts, where their samples can be relabelled in enough ways for the level."""
    sizes = list(zip(first.sizes.tolist(), second.sizes.tolist(), strict=True))
    ways = relabellings(sizes)
    if ways > 1 and ways * allowed(options.level) < 1:
        made, reason = (
            None,
            (
                f"the samples of these prompts can be relabelled in {ways:.0f} ways, so that no "
                f"p-value is below {1 / ways:.2g}"
            ),
        )
    else:
        made = _gaussian(first, second) if kernel == "gaussian" else _hamming(first, second)
        reason = ALIKE
    if made is None:
        return _undefined(kernel, reason, options)
    return prompts_test(
        made,
        sizes,
        kernel=kernel,
        permutations=options.permutations,
        seed=options.seed,
        level=options.level,
        threads=options.threads,
    )


def _gaussian(first: PromptSamples, second: PromptSamples) -> list[Any] | None:
    return gaussian_kernels(
        _parts(first, second, directions(first.vectors), directions(second.vectors))
    )


def _hamming(first: PromptSamples, second: PromptSamples) -> list[Any]:
    from calipers.text.hamming import hamming_kernel, padded

    codes = padded([*(first.texts or ()), *(second.texts or ())])
    split = len(first.prompts)
    return [hamming_kernel(part) for part in _parts(first, second, codes[:split], codes[split:])]


def _parts(first: PromptSamples, second: PromptSamples, ours: Any, theirs: Any) -> list[Any]:
    """The rows of each prompt, those of the first set first."""
    spans = zip(pairwise(first.starts.tolist()), pairwise(second.starts.tolist()), strict=True)
    return [np.concatenate([ours[slice(*span)], theirs[slice(*other)]]) for span, other in spans]
