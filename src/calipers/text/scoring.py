"""The input of statistics of texts, and the scores made from their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.catalogue.texts import TEXT_METRICS
from calipers.numeric.arrays import Floats
from calipers.score import Score, signature
from calipers.text.corpus import Corpus, as_strings
from calipers.text.tokens import Texts

Chosen = Mapping[str, Any]
"""The options of a text metric, by name."""


@dataclass(frozen=True, eq=False)
class TextPair:
    """The input of a metric of texts.

    Attributes
    ----------
    texts
        The set that is measured.
    against
        What it is compared with: the reference or the training set; None for statistics of one set.
    seed, threads
        As of the run.
    """

    texts: Corpus
    against: Corpus | None = None
    seed: int = 0
    threads: int | None = None

    @property
    def references(self) -> Corpus:
        """The reference texts, known to be present."""
        assert self.against is not None
        return self.against

    @property
    def sizes(self) -> dict[str, int]:
        """The number of texts of each set, by its name in signatures."""
        return {"n": len(self.texts)}


def raw_texts(texts: Texts) -> Sequence[str]:
    """Return the texts of a corpus, or any collection of strings, as a list.

    Raises
    ------
    InputError
        If there is no text, or something is no string.
    """
    return texts.texts if isinstance(texts, Corpus) else as_strings(texts)


def catalogued(metric: str, value: SupportsFloat, /, **rest: Any) -> Score:
    """Make a score with the range and direction of the metric in the catalogue."""
    entry = TEXT_METRICS[metric]
    return Score(float(value), range=entry.range, better=entry.better, **rest)


def text_score(
    metric: str,
    value: SupportsFloat,
    texts: Corpus | Sequence[str],
    /,
    *,
    reason: str | None = None,
    per_sample: NDArray[Any] | None = None,
    note: str | None = None,
    **pins: object,
) -> Score:
    """Make the score of a statistic of one set.

    Parameters
    ----------
    metric
        Its name in the catalogue, which tells range and direction.
    value, reason, per_sample, note
        As in a :class:`~calipers.score.Score`.
    texts
        A corpus, whose tokenizer the signature names, or texts that needed no tokens.
    pins
        The choices behind it; `metric` among them is another name in the signature.
    """
    tokenizer = {"tokenizer": texts.tokenizer} if isinstance(texts, Corpus) else {}
    base_pins = {**tokenizer, "n": len(texts), "calipers": __version__}
    return catalogued(
        metric,
        value,
        signature=signature({"metric": metric, **pins, **base_pins}),
        reason=reason,
        per_sample=per_sample,
        note=note,
    )


def mean_score(
    metric: str, values: Floats, texts: Corpus | Sequence[str], /, *, reason: str, **rest: Any
) -> Score:
    """Average over the texts with a value; the signature counts the others.

    Parameters
    ----------
    metric, texts
        As for :func:`text_score`.
    values
        One for each text, NaN where a text has none, shape (n,).
    reason
        Why the whole is NaN, where no text has a value.
    rest
        As for :func:`text_score`.
    """
    defined = values[~np.isnan(values)]
    missing = len(values) - len(defined)
    pins: dict[str, Any] = {"undefined": missing} if missing else {}
    if len(defined):
        return text_score(metric, np.mean(defined), texts, per_sample=values, **rest, **pins)
    return text_score(metric, np.nan, texts, reason=reason, per_sample=values, **rest, **pins)
