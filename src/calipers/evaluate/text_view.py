"""The view ``text`` of a comparison: statistics of the strings, without embeddings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from calipers.catalogue.choosing import Choice, check_extras, choose_text, is_text_key, split_names
from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.keys import split_key
from calipers.errors import InputError
from calipers.evaluate.cautions.text_statistics import pair_cautions
from calipers.evaluate.inputs import ComparisonInputs
from calipers.evaluate.intervals import Spreads
from calipers.evaluate.labels import few_for_texts
from calipers.evaluate.texts import measure_inputs
from calipers.options.comparison import CompareOptions
from calipers.results import Comparison, SetSummary
from calipers.results.caution import Caution, sentences, worst_first
from calipers.results.comparison import with_cautions
from calipers.results.texts import TextResult
from calipers.samples.wording import KINDS
from calipers.text.tokenizers import find_tokenizer

VIEW = "text"
TOKENIZER = "auto"
FEW = 3


def split_asked(names: Any, *, train: bool) -> tuple[Any, list[Choice]]:
    """Separate the keys of text metrics from those of metrics on embeddings.

    Parameters
    ----------
    names
        As for :func:`calipers.compare`.
    train
        Whether there is a training set.

    Raises
    ------
    InputError
        If a text metric is unknown or needs what is not there.
    MissingExtraError
        If a metric asked for by name needs a package that is not installed.
    """
    if names is None:
        return None, []
    listed = split_names(names)
    texts = [name for name in listed if _is_text(name)]
    if not texts:
        return listed, []
    choices = choose_text(texts, train=train)
    check_extras(choices)
    return [name for name in listed if name not in texts], choices


def check_text_keys(rest: Any, texts: Sequence[Choice], inputs: ComparisonInputs) -> None:
    """Refuse text metrics for embeddings, and a run of text metrics alone.

    Parameters
    ----------
    rest, texts
        What :func:`split_asked` gave.
    inputs
        What will be compared.
    """
    if not texts:
        return
    samples = inputs.reference.samples
    if samples.kind != "texts":
        raise InputError(
            f"{samples.name}: metrics of the view 'text' need texts; it holds {KINDS[samples.kind]}"
        )
    if not rest:
        keys = [choice.key for choice in texts]
        more = f" and {len(keys) - FEW} more" if keys[FEW:] else ""
        raise InputError(
            f"{', '.join(keys[:FEW])}{more}: these metrics use no embeddings; compute them "
            "with calipers text (calipers.measure_texts), or add a metric on embeddings, "
            "such as precision"
        )


def with_text_scores(
    comparison: Comparison,
    inputs: ComparisonInputs,
    choices: Sequence[Choice],
    options: CompareOptions,
) -> tuple[Comparison, tuple[Spreads, ...]]:
    """Add the scores of texts to those of embeddings, under ``text.KEY``.

    The generated sets were cut, or kept, already; T(P) is taken at the size of each. Beside the
    comparison stands for every system how much what ranks it moves, by the same keys: the gap to
    the reference where the metric has one, else the score; nothing without a level of confidence.
    """
    if not choices:
        return comparison, tuple({} for _ in comparison.systems)
    splitter = find_tokenizer(TOKENIZER)
    measured = measure_inputs(inputs, choices, splitter, options)
    systems = tuple(
        replace(
            system,
            scores={**system.scores, **_keyed(texts.scores)},
            warnings=(*system.warnings, *sentences(further)),
            cautions=_with_further(system.cautions, further),
        )
        for system, texts in zip(comparison.systems, measured.systems, strict=True)
        for further in [_further(texts, measured.reference)]
    )
    few = () if options.level is None else few_for_texts(inputs)
    more = replace(
        comparison,
        systems=systems,
        reference=_warned(comparison.reference, measured.reference),
        reference_scores={**comparison.reference_scores, **_keyed(measured.reference_scores)},
        settings={**comparison.settings, "tokenizer": measured.settings["tokenizer"]},
    )
    lacking = (Caution("intervals", "no intervals for statistics of texts", text) for text in few)
    more = with_cautions(more, (*measured.cautions, *lacking))
    return more, tuple(_keyed({**texts.spreads, **texts.gap_spreads}) for texts in measured.systems)


def text_keys(choices: Iterable[Choice]) -> list[str]:
    """Return the keys of text metrics in the form of a comparison."""
    return [f"{VIEW}.{choice.key}" for choice in choices]


def _is_text(name: object) -> bool:
    if not isinstance(name, str):
        return False
    view, base, _ = split_key(name)
    known = base in METRICS or base in FAMILIES or base == "all"
    return name == VIEW or view == VIEW or (not view and not known and is_text_key(name))


def _further(texts: TextResult, reference: SetSummary | None) -> list[Caution]:
    """What only measuring the texts brought up; the rest is said of the samples already."""
    known = {*sentences(pair_cautions(texts.summary, reference, same=texts.is_reference))}
    by_text = {caution.text: caution for caution in texts.cautions}
    return [by_text[text] for text in texts.warnings if text not in known]


def _with_further(cautions: Sequence[Caution], further: Sequence[Caution]) -> tuple[Caution, ...]:
    """Add what is of another kind; a set that repeats itself is reported once."""
    kinds = {caution.kind for caution in cautions}
    return worst_first((*cautions, *(caution for caution in further if caution.kind not in kinds)))


def _warned(summary: SetSummary, measured: SetSummary | None) -> SetSummary:
    more = [] if measured is None else measured.warnings
    return replace(summary, warnings=tuple(dict.fromkeys((*summary.warnings, *more))))


def _keyed(scores: Any) -> dict[str, Any]:
    return {f"{VIEW}.{key}": score for key, score in scores.items()}
