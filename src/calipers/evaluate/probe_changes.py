"""The changes of a probe by name, and how they are made to a whole set."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from calipers.evaluate import perturbations as perturb
from calipers.samples import SampleSet


@dataclass(frozen=True)
class Change:
    """One way to change texts.

    Attributes
    ----------
    name
        Its key, such as ``"word_shuffle"``.
    label
        What a table calls it.
    does
        What it does to a text, in a few words.
    function
        From a text and a source of randomness to the changed text.
    """

    name: str
    label: str
    does: str
    function: Callable[[str, random.Random], str]

    def apply(self, text: str, *, seed: str) -> str:
        """Change one text; the same seed gives the same text, on every machine."""
        return self.function(text, random.Random(f"{self.name}/{seed}"))


def change_set(samples: SampleSet, change: Change, *, seed: int) -> tuple[SampleSet, list[bool]]:
    """Change every text of a set; tell which came out other than they went in.

    A text's change depends on the text's row and the seed alone.
    """
    altered: list[bool] = []

    def made() -> Iterator[str]:
        for row, text in enumerate(samples):
            new = change.apply(text, seed=f"{seed}/{row}")
            altered.append(new != text)
            yield new

    return SampleSet.from_texts(list(made()), name=change.label), altered


CHANGES: dict[str, Change] = {
    change.name: change
    for change in (
        Change(
            "word_shuffle",
            "words shuffled",
            "all words in another random order",
            perturb.shuffle_words,
        ),
        Change(
            "word_swaps",
            "words swapped",
            "a tenth of the words swapped with the next",
            perturb.swap_words,
        ),
        Change(
            "sentence_shuffle",
            "sentences shuffled",
            "the sentences in another random order",
            perturb.shuffle_sentences,
        ),
        Change(
            "truncation", "cut in half", "only the first half of the words", perturb.cut_in_half
        ),
        Change("lower_case", "lower case", "all letters small", perturb.lower_case),
        Change("typos", "typos", "one letter wrong in a tenth of the words", perturb.misspell),
        Change(
            "repetition", "end repeated", "the last sentence three times more", perturb.repeat_end
        ),
    )
}
"""The changes by name, in the order in which tables show them."""
