"""Metrics with the interface of Hugging Face ``evaluate``: load by name, add, compute.

Nothing is looked up on a hub: any key of the catalogue (``calipers metrics``) is a name, and its
metric is computed locally. Sets may differ in size and need not be aligned where a metric compares
distributions. An object of :func:`load` may stand in ``evaluate.combine`` and in the
``compute_metrics`` of a transformers ``Trainer``.

The names are those of Calipers, and so are the definitions: ``mauve`` is read by another embedder
than in ``evaluate`` (:mod:`calipers.compat.mauve` gives that one), and ``bleu`` is that of
sacrebleu, from 0 to 100.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from calipers.catalogue.choosing import choose, choose_text
from calipers.catalogue.describing import (
    describe_all,
    describe_text,
    is_likelihood_name,
    is_text_name,
)
from calipers.catalogue.keys import split_key
from calipers.errors import InputError
from calipers.numeric.arrays import is_array
from calipers.numeric.validation import check_flags
from calipers.score import Score

__all__ = ["EvaluationModule", "load"]

INPUTS = """
predictions: the generated samples, a list of texts{form}.
references: the reference, in the same form{alignment}.
further options: those of calipers.{function}, such as {options}.
Returns a dict: KEY, its interval KEY_low and KEY_high where there is one, KEY_reference where the
reference has a value of its own, and KEY_signature, all that pins the value.
"""


class EvaluationModule:
    """One metric, or a family of metrics, computed from predictions and references.

    Made by :func:`load`.

    Attributes
    ----------
    name
        The requested key.
    description, citation, inputs_description
        What it measures, where it is defined, and what :meth:`compute` takes and returns.
    """

    module_type = "metric"

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self.name = name
        self._options = dict(options)
        self._texts = is_text_name(name)
        view, base, words = split_key(name)
        plain = ":".join((base, *words))
        if self._texts:
            self._key = plain if view == "text" else name
            choices = choose_text([self._key], reference=True, train=False, aligned=True)
            about = describe_text([self._key])
        else:
            choices = list(choose([name], (view,) if view else ()))
            self._key, about = name, describe_all([plain])
        self._aligned = any(choice.needs == "aligned" for choice in choices)
        self._alone = self._texts and all(choice.needs is None for choice in choices)
        self.description = "\n".join(_line(entry) for entry in about)
        self.citation = "\n".join(dict.fromkeys(entry["source"] for entry in about))
        self.inputs_description = INPUTS.format(
            form="" if self._texts else ", or vectors of shape (n, d), or images",
            alignment=self._alignment(),
            function="measure_texts" if self._texts else "compare",
            options="tokenizer, seed and level" if self._texts else "embedder, k, seed and level",
        ).strip()
        self._predictions: list[Any] = []
        self._references: list[Any] = []

    def _alignment(self) -> str:
        if self._aligned:
            return ", text i for prediction i"
        return "; may be left out" if self._alone else "; of any size, in any order"

    def __repr__(self) -> str:
        return f"<Evaluation {self.name!r}>"

    def add(self, *, prediction: Any = None, reference: Any = None) -> None:
        """Add a prediction, a reference, or one of each, for the next :meth:`compute`."""
        self.add_batch(
            predictions=None if prediction is None else [prediction],
            references=None if reference is None else [reference],
        )

    def add_batch(
        self, *, predictions: Iterable[Any] | None = None, references: Iterable[Any] | None = None
    ) -> None:
        """Add predictions, references, or some of each, for the next :meth:`compute`."""
        for buffer, given in ((self._predictions, predictions), (self._references, references)):
            if isinstance(given, str):
                raise InputError(f"a batch must be a list of samples; found {given!r:.60}")
            buffer.extend(() if given is None else given)

    def compute(
        self, *, predictions: Any = None, references: Any = None, **options: Any
    ) -> dict[str, float | str]:
        """Measure what was added and what is given, then forget what was added.

        Parameters
        ----------
        predictions, references
            The generated samples and the reference. Where nothing was added before, in any form
            that :func:`calipers.compare` takes.
        **options
            Those of :func:`calipers.compare`, or of :func:`calipers.measure_texts` for text
            metrics, on top of those given to :func:`load`; and ``signatures=False`` for numbers
            alone, as loggers want them.

        Returns
        -------
        dict
            For each key its value, with an interval ``KEY_low`` and ``KEY_high`` where the sets
            are large enough, ``KEY_reference`` where the reference has a value of its own, and
            ``KEY_signature``.

        Raises
        ------
        InputError
            If a side is missing, or samples or options cannot be used.
        """
        chosen = {**self._options, **options}
        signatures = chosen.pop("signatures", True)
        check_flags(signatures=signatures)
        try:
            ours = self._side("predictions", self._predictions, predictions)
            theirs = self._side("references", self._references, references)
            scores = self._measure(ours, theirs, chosen)
        finally:
            self._predictions, self._references = [], []
        values: dict[str, float | str] = {}
        for key, score in scores.items():
            values |= _plain(key, score)
            if signatures:
                values[f"{key}_signature"] = score.signature
        return values

    def _measure(self, ours: Any, theirs: Any, options: dict[str, Any]) -> Mapping[str, Score]:
        import calipers

        if not self._texts:
            defaults = {"metrics": [self._key], "floor": False}
            return dict(
                calipers.compare(theirs, ours, **{**defaults, **options})["generated"].scores
            )
        defaults = {"metrics": [self._key], "aligned": self._aligned}
        if theirs is not None:
            defaults["reference"] = _single(theirs) if self._aligned else theirs
        return dict(calipers.measure_texts(ours, **{**defaults, **options})["generated"].scores)

    def _side(self, name: str, added: list[Any], given: Any) -> Any:
        if not added:
            if given is None and not (name == "references" and self._alone):
                raise InputError(f"{self.name} needs {name}; found none")
            return given
        return [*added, *(() if given is None else given)]

    def _feature_names(self) -> list[str]:
        """What ``evaluate.combine`` hands on of a batch."""
        return ["predictions", "references"]


def load(path: str, **options: Any) -> EvaluationModule:
    """Return the metric of a name, as ``evaluate.load`` does, without network access.

    Parameters
    ----------
    path
        A key of the catalogue, such as ``"mauve_star"``, ``"form.precision"``, ``"distinct:n=3"``
        or ``"bleu"``, or a family of keys. ``text.`` stands before a text metric that has a
        namesake on embeddings.
    **options
        Of :func:`calipers.compare`, or of :func:`calipers.measure_texts` for text metrics, for
        every :meth:`Evaluation.compute`.

    Raises
    ------
    InputError
        If there is no such metric.

    Examples
    --------
    >>> distinct = load("distinct", tokenizer="whitespace")
    >>> round(distinct.compute(predictions=["a b", "a c"])["distinct"], 3)
    0.75
    """
    if not isinstance(path, str):
        raise InputError(f"the name of a metric must be a string; found {path!r}")
    if "," in path:
        raise InputError(f"load takes one metric; load each of {path!r} and evaluate.combine them")
    if is_likelihood_name(path):
        raise InputError(
            f"load takes metrics on embeddings and on texts; {path!r} is what a language model "
            "says of texts: calipers.likelihood measures it"
        )
    return EvaluationModule(path, options)


def _line(about: Mapping[str, Any]) -> str:
    low, high = about["range"]
    ends = "any number" if low is None else f"{low:g} and up"
    ends = ends if high is None else f"{low:g} to {high:g}"
    better = "closest to the reference's own" if about["better"] == "closest" else about["better"]
    return f"{about['key']}: {about['tells']} ({ends}; better: {better or 'neither end'})"


def _single(references: Any) -> Any:
    """References of aligned texts, of which each may be alone in a list."""
    if is_array(references) or isinstance(references, str):
        return references
    rows = list(references)
    for row, entry in enumerate(rows, start=1):
        if isinstance(entry, list | tuple) and len(entry) != 1:
            raise InputError(
                f"references must be one for each prediction; row {row} has {len(entry)}. "
                "calipers.text.bleu, chrf, ter and rouge take several"
            )
    return [entry[0] if isinstance(entry, list | tuple) else entry for entry in rows]


def _plain(key: str, score: Score) -> dict[str, float]:
    """A score as numbers."""
    values = {key: float(score.value)}
    if score.interval is not None:
        values[f"{key}_low"], values[f"{key}_high"] = map(float, score.interval)
    if score.reference is not None:
        values[f"{key}_reference"] = float(score.reference)
    return values
