"""The texts of shared prompts, from rows or from the beginnings of answers."""

from __future__ import annotations

from collections.abc import Iterator

from calipers.evaluate.cautions.copies import SHORTEST_PROMPT
from calipers.evaluate.cautions.texts import common_words, fold
from calipers.evaluate.shared_prompts import WHOLE, SharedPrompts
from calipers.samples import SampleSet
from calipers.unicode.words import joined


def texts_of_prompts(
    reference: SampleSet, generated: SampleSet, shared: SharedPrompts
) -> dict[int, str]:
    """Return the text of every known prompt, by its number.

    Rows name it, those of the reference first; where none do, it is the opening that the first
    answers of both sides to the prompt have in common.
    """
    if shared.by == "openings":
        return dict(_openings(reference, generated, shared))
    texts: dict[int, str] = {}
    for samples, numbers in ((reference, shared.reference), (generated, shared.generated)):
        for number, prompt in zip(numbers.tolist(), samples.prompts or (), strict=False):
            if prompt.strip():
                texts.setdefault(number, prompt)
    return texts


def _openings(
    reference: SampleSet, generated: SampleSet, shared: SharedPrompts
) -> Iterator[tuple[int, str]]:
    theirs: dict[int, str] = {}
    for number, text in zip(shared.generated.tolist(), generated, strict=True):
        theirs.setdefault(number, text)
    for number, text in zip(shared.reference.tolist(), reference, strict=True):
        other = theirs.pop(number, None)
        if other is None:
            continue
        one = fold(text, WHOLE)
        words = common_words(one, fold(other, WHOLE))
        if words >= SHORTEST_PROMPT:
            yield number, joined(one.split(" ")[:words])
