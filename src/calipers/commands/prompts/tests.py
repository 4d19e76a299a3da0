"""Tests of equal distributions given the prompt, for systems and pairs of systems.

Two questions. Do the answers to a prompt differ from set to set? MMD within prompts sees that, by
embeddings and by strings, and needs several samples of a prompt. Do the answers of one set differ
from those of the other in the same way from prompt to prompt? A classifier sees that whose folds
keep prompts together and whose labels are permuted within them, and one sample of each prompt is
enough. What cannot be tested has a reason in place of a p-value.

Of S systems there are S(S - 1)/2 pairs, and Holm's correction multiplies the smallest p-value by as
many, where R permutations know none below 1/(1 + R). So where no permutation reaches a statistic
and 1/(1 + R) is too large for so many pairs, smaller p-values come from elsewhere, which costs next
to nothing: of the classifier from its folds (:mod:`calipers.uncertainty.fold_by_fold`), of tests
within prompts from the classifier of the same pair, whose null hypothesis is the same, or where
that does not see what they see from more permutations. Both of these hold the level: a p-value of
1/(1 + R) or more is the one of the R permutations, a smaller one is twice the smaller of two
p-values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Any, Self

import numpy as np

from calipers.commands.prompts.options import PromptsOptions
from calipers.commands.prompts.result import PromptTest, TestedBy
from calipers.commands.prompts.scores import PromptSamples
from calipers.evaluate.intervals import MANY_ROWS, permutations_for
from calipers.metrics.within_prompts import directions
from calipers.uncertainty.holm import holm
from calipers.uncertainty.two_sample import TwoSample, allowed, at_limit
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
    """Test every system against the reference; without one, every pair of systems.

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
    limit = _Limit.of(len(pairs), options)
    for by, seen in tested:
        tests = [_test(by, seen, *pair, options, limit) for pair in pairs]
        adjusted = holm([test.p_value for test in tests])
        results += [
            replace(test, adjusted=float(p)) for test, p in zip(tests, adjusted, strict=True)
        ]
    return tuple(results)


@dataclass
class _Limit:
    """Where p-values end that are to be corrected for all pairs, and how they get below it.

    Attributes
    ----------
    needed
        The p-value that one of so many tests needs.
    permutations
        As many as a test may need to have one.
    tails
        Of pairs the p-value of the classifier, where that is below what permutations give.
    """

    needed: float
    permutations: int
    tails: dict[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: int, options: PromptsOptions) -> Self:
        """Half of what the level allows one of them, as `permutations_for` has it."""
        more = permutations_for(2 * pairs, options.level, rows=MANY_ROWS + 1)
        needed = allowed(options.level) / (2 * max(pairs, 1))
        return cls(needed, max(options.permutations, more))

    def binds(self, test: TwoSample) -> bool:
        """Whether no permutation reaches the statistic, and the p-value is still too large."""
        return not test.reason and at_limit(test) and test.p_value > self.needed


def _test(
    by: TestedBy,
    view: str,
    first: PromptSamples,
    second: PromptSamples,
    options: PromptsOptions,
    limit: _Limit,
) -> PromptTest:
    unread = first.unread or second.unread
    if unread and by != "hamming":
        test = _undefined(by, unread, options)
    elif by == "classifier":
        rows = [side.further.get(view, side.vectors) for side in (first, second)]
        test = _classifier(first, second, rows, options, limit)
    else:
        test = _within(by, first, second, options, limit)
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
    first: PromptSamples,
    second: PromptSamples,
    rows: Sequence[Any],
    options: PromptsOptions,
    limit: _Limit,
) -> TwoSample:
    test = classifier_test(
        *map(directions, rows),
        prompts=(first.prompts, second.prompts),
        permutations=options.permutations,
        seed=options.seed,
        level=options.level,
        threads=options.threads,
        tail=1 / (1 + options.permutations) > limit.needed,
    )
    if not test.reason and test.p_value * (1 + options.permutations) < 1:
        pair = (first.name, second.name)
        limit.tails[pair] = min(test.p_value, limit.tails.get(pair, 1.0))
    return test


def _within(
    kernel: Kernel,
    first: PromptSamples,
    second: PromptSamples,
    options: PromptsOptions,
    limit: _Limit,
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

    def with_permutations(count: int) -> TwoSample:
        return prompts_test(
            made,
            sizes,
            kernel=kernel,
            permutations=count,
            seed=options.seed,
            level=options.level,
            threads=options.threads,
        )

    test = with_permutations(options.permutations)
    if not limit.binds(test):
        return test
    # Two p-values of one hypothesis, either of which may be the smaller one: twice that
    tail = limit.tails.get((first.name, second.name), 1.0)
    if 2 * tail > limit.needed and limit.permutations > options.permutations:
        more = with_permutations(limit.permutations)
        tail, test = min(tail, more.p_value), replace(more, p_value=test.p_value)
    return replace(test, p_value=min(test.p_value, 2 * tail))


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
