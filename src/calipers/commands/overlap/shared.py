"""Texts that two systems share, verbatim or nearly so: copied answers or leaks.

Shares of support do not show them: among 250 answers to the same prompts, 50 copied ones lie inside
the support of the other as the other answers do. So texts are compared with each other, whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calipers.commands.overlap.result import SharedRow, SharedTexts, TextSearch
from calipers.evaluate.inputs import Inputs, InputSystem
from calipers.numeric.subsample import subsample_rows
from calipers.text.common_texts import SharedText, largest_unseen, least_samples, shared_texts

ORDER, THRESHOLD = 5, 0.8
"""As of :func:`calipers.text.near_duplicates`."""

FEWEST_WORDS = 5
"""Words of a text below which systems may answer alike by chance."""

SEEN = 0.01
"""The share of copies of which it is said how many texts show them."""


def search_texts(inputs: Inputs, *, seed: int) -> TextSearch | None:
    """Find the texts that every two systems share, in the form compared; None without texts.

    Rows are those of the files as they were given, also where sets were cut.
    """
    if inputs.sets[0].kind != "texts":
        return None
    places = [_places(system, seed) for system in inputs.systems]
    texts = [
        [text for file in system.files for text in file.samples.texts or ()]
        for system in inputs.systems
    ]
    pairs = [
        SharedTexts(
            inputs.systems[a].name,
            inputs.systems[b].name,
            sum(match.verbatim and match.words < FEWEST_WORDS for match in matches),
            tuple(_row(match, places[a], places[b]) for match in matches),
        )
        for (a, b), matches in shared_texts(texts, order=ORDER, threshold=THRESHOLD).items()
    ]
    least = min(map(len, texts))
    return TextSearch(
        order=ORDER,
        threshold=THRESHOLD,
        texts=least,
        unseen=largest_unseen(least),
        needed=least_samples(SEEN),
        pairs=tuple(sorted(pairs, key=lambda pair: pair.short - len(pair.rows))),
    )


def _places(system: InputSystem, seed: int) -> list[tuple[int, int]]:
    """The file and the row in it of every text of a system."""
    return [
        (number, int(row))
        for number, file in enumerate(system.files)
        for row in _given_rows(file.n_given, len(file.samples), seed)
    ]


def _given_rows(given: int, left: int, seed: int) -> Sequence[int]:
    rows: list[int] = np.asarray(subsample_rows(given, left, seed=seed)).tolist()
    return rows


def _row(
    match: SharedText, ours: Sequence[tuple[int, int]], theirs: Sequence[tuple[int, int]]
) -> SharedRow:
    (file, row), (other_file, other) = ours[match.row], theirs[match.other]
    return SharedRow(row, other, match.similarity, match.verbatim, file, other_file)
