"""The base class of embedders, and the vectors that they return for batches and whole sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.brief import Brief
from calipers.embedders.reading import ReadingCounts
from calipers.errors import InputError, check_unicode


@dataclass(frozen=True, eq=False)
class EncodedBatch(Brief):
    """The vectors of a batch of samples, in order.

    Attributes
    ----------
    views
        View name to float32 array of shape (n, d); d may differ between views.
    truncated
        Which texts were longer than the model reads, bool of shape (n,).
    reading
        The words of each text, and how many of them the embedder does not know; None where it
        does not report it, or samples are not texts.
    """

    views: Mapping[str, NDArray[np.float32]]
    truncated: NDArray[np.bool_]
    reading: ReadingCounts | None = None


@dataclass(frozen=True, eq=False)
class Embeddings(Brief):
    """The vectors of a sample set, view by view.

    Attributes
    ----------
    views
        View name to array of shape (n, d); the first view is the main one. float32 from text
        embedders, as given (float32 or float64) for precomputed vectors.
    signature
        Choices that can change a vector and hold for every view, such as revision and dtype.
    notes
        Notes for the user: texts that were truncated, problems with the cache.
    view_signature
        For each view, how it was pooled.
    truncated
        Which samples were longer than the model reads, bool of shape (n,); None of vectors that
        were given.
    reading
        The words of each text, and how many of them the embedder does not know; None where it
        does not tell.
    """

    views: Mapping[str, NDArray[Any]]
    signature: Mapping[str, str]
    notes: tuple[str, ...] = ()
    view_signature: Mapping[str, str] = field(default_factory=dict)
    truncated: NDArray[np.bool_] | None = None
    reading: ReadingCounts | None = None

    def __len__(self) -> int:
        """Count the samples."""
        return len(next(iter(self.views.values())))


class Embedder(ABC):
    """Base class of embedders, which turn samples into vectors.

    To write one, set `name`, `views`, `identity` and `signature`, and define :meth:`encode`; all
    other members have defaults. A sample's vectors must not depend on the others.

    Attributes
    ----------
    name
        The name of the embedder.
    views
        Names of the views it gives, the main one first.
    identity
        Everything that can change a vector, as one stable line: the key of cached vectors.
    signature
        The same for people: what goes into the signature of every score.
    view_signature
        For each view, how it is pooled.
    reads
        The kinds of samples that it takes, of ``"texts"``, ``"tokens"`` (lists of token ids) and
        ``"images"`` (uint8 arrays of shape (height, width, 3)).
    at_once
        How many samples one call should get: enough to sort by length, few enough to show progress.
    kept
        False where embedding again is as cheap as reading vectors back from the cache.
    needs_fitting
        Whether it must be fitted to the reference before it embeds.
    leaves_out
        Whether words that it does not know leave no trace in a vector, as in a mean over words.
    sends
        Whether samples leave this machine, to a service that may have to be paid.
    unfitted
        What it was fitted from, where it is to be fitted on both sets of a test anew, without which
        a test is not exact; else None.

    Examples
    --------
    >>> import numpy as np
    >>> import calipers
    >>> class Lengths(Embedder):
    ...     name, views, identity = "lengths", ("length",), "lengths"
    ...     signature = {"embedder": "lengths"}
    ...     def encode(self, prepared):
    ...         lengths = np.array([[len(text)] for text in prepared], np.float32)
    ...         return EncodedBatch({"length": lengths}, truncated=np.zeros(len(prepared), bool))
    >>> calipers.embed(["a", "abc"], Lengths()).views["length"].tolist()
    [[1.0], [3.0]]
    """

    name: str
    views: tuple[str, ...]
    identity: str
    signature: Mapping[str, str]
    view_signature: Mapping[str, str] = MappingProxyType({})
    reads: frozenset[str] = frozenset({"texts"})
    at_once: int = 256
    kept: bool = True
    needs_fitting: bool = False
    leaves_out: bool = False
    sends: bool = False
    unfitted: Embedder | None = None

    def embed(self, samples: Sequence[Any]) -> EncodedBatch:
        """Embed samples: :meth:`prepare` followed by :meth:`encode`."""
        return self.encode(self.prepare(samples))

    def prepare(self, samples: Sequence[Any]) -> Any:
        """Do the work that needs no model, such as tokenising; it runs beside the model's work."""
        return samples

    @abstractmethod
    def encode(self, prepared: Any) -> EncodedBatch:
        """Compute the vectors of prepared samples."""

    def fitted(self, samples: Any) -> Embedder:
        """Return the embedder fitted on the reference's samples; most need no fitting."""
        return self

    def keep_in(self, folder: Path | None) -> None:  # noqa: B027
        """Set where paid results are stored, sample by sample; None for nowhere."""

    def told(self) -> tuple[str, ...]:
        """Report what the user should know of the samples embedded since the last call."""
        return ()


def model_signature(
    name: str,
    revision: str,
    *,
    dtype: object,
    device: str,
    max_length: str = "",
    prefix: str = "",
    quantised: str = "",
) -> dict[str, str]:
    """Write what determines the vectors of a model, such as its length limit and prefix."""
    pins = {
        "embedder": name,
        "revision": revision,
        "max_length": max_length,
        "dtype": str(dtype).removeprefix("torch."),
        "device": device.partition(":")[0],
        "prefix": repr(prefix) if prefix else "",
        "quantised": quantised,
    }
    return {key: pin for key, pin in pins.items() if pin}


def identity_line(pins: Mapping[str, object]) -> str:
    """Write everything that can change a vector as one stable line."""
    return "|".join(f"{key}:{pin}" for key, pin in pins.items())


def as_embedder(given: Any) -> Embedder:
    """Return an embedder as it is; add missing defaults to one that is not a subclass.

    Raises
    ------
    InputError
        If it is not an embedder: it has no method ``embed``.

    Examples
    --------
    >>> from calipers import load_embedder
    >>> as_embedder(load_embedder("tfidf")).name
    'tfidf'
    """
    if isinstance(given, Embedder):
        return given
    if not is_embedder(given):
        raise InputError(f"an embedder must have a method 'embed'; found {given!r}")
    return _Foreign(given)


def is_embedder(given: object) -> bool:
    """Tell whether an object is an embedder, from this package or not.

    Examples
    --------
    >>> from calipers import load_embedder
    >>> is_embedder(load_embedder("tfidf")), is_embedder("tfidf")
    (True, False)
    """
    return isinstance(given, Embedder) or hasattr(given, "embed")


class _Foreign(Embedder):
    """A user's own embedder that is not a subclass of :class:`Embedder`."""

    def __init__(self, embedder: Any) -> None:
        self.own, self.needs_fitting = embedder, hasattr(embedder, "fitted")
        for name in ("view_signature", "reads", "at_once", "kept", "leaves_out", "sends"):
            setattr(self, name, getattr(embedder, name, getattr(Embedder, name)))

    def __getattr__(self, name: str) -> Any:
        """Look up what has no default on the user's object each time."""
        if name not in ("name", "views", "identity", "signature"):
            raise AttributeError(name)
        return getattr(self.own, name)

    def prepare(self, samples: Sequence[Any]) -> Any:
        """Prepare samples as it does itself, or not at all."""
        prepare = getattr(self.own, "prepare", super().prepare)
        return prepare(samples)

    def encode(self, prepared: Any) -> EncodedBatch:
        """Encode what was prepared, or embed it in one step."""
        batch: EncodedBatch = getattr(self.own, "encode", self.own.embed)(prepared)
        return batch

    def fitted(self, samples: Any) -> Embedder:
        """Fit it to the reference, if it must be."""
        return as_embedder(self.own.fitted(samples)) if self.needs_fitting else self

    def keep_in(self, folder: Path | None) -> None:
        """Hand on where vectors may be kept."""
        getattr(self.own, "keep_in", super().keep_in)(folder)

    def told(self) -> tuple[str, ...]:
        """Pass on what it reports."""
        return tuple(getattr(self.own, "told", super().told)())


def check_texts(samples: Sequence[Any], *, unicode: bool = True) -> list[str]:
    """Return samples that are texts, and valid UTF-8 unless that does not matter.

    Raises
    ------
    InputError
        If one is not a string, or not valid Unicode.
    """
    for row, text in enumerate(samples, start=1):
        if not isinstance(text, str):
            raise InputError(f"text {row} must be a string; found {type(text).__name__}")
        if unicode:
            check_unicode(f"text {row}", text)
    return list(samples)


def not_a_text(texts: Sequence[object], error: Exception) -> InputError:
    """Build the error for the text at which a tokenizer failed."""
    try:
        check_texts(texts)
    except InputError as problem:
        return problem
    return InputError(f"the texts cannot be tokenised: {error}")


class SampleError(InputError):
    """A sample that an embedder cannot read.

    The embedder counts samples from the first that it was given; whoever gave it a part of a set
    puts the number right.

    Parameters
    ----------
    row
        Which sample, counted from 0.
    problem
        What is wrong with it.
    where
        The name of the set; empty where it has none.
    """

    def __init__(self, row: int, problem: str, where: str = "") -> None:
        super().__init__(row, problem, where)  # pickled by these on the way out of a process
        self.row, self.problem, self.where = row, problem, where

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}sample {self.row + 1:,}: {self.problem}"

    def behind(self, rows: int, where: str = "") -> SampleError:
        """Return the error with its row counted from the start of a larger set."""
        return SampleError(self.row + rows, self.problem, where)
