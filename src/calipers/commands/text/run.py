"""``measure_texts``: statistics of texts, alone or beside those of a reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from calipers.catalogue.choosing import check_extras, choose_text
from calipers.commands.text.options import TextOptions
from calipers.evaluate.inputs import read_texts
from calipers.evaluate.texts import find_splitter, measure_inputs
from calipers.options.keywords import keywords_of
from calipers.results.texts import TextComparison


@keywords_of(TextOptions)
def measure_texts(generated: Any, options: TextOptions) -> TextComparison:
    """Tell for each set of texts how varied, how repetitive and how new it is.

    Parameters
    ----------
    generated
        The texts to measure: a list of strings, a path, a :class:`~calipers.samples.SampleSet`, or
        a dict from system name to any of these. A sequence of sample sets under one name stands
        for the seeds of that system.

    Returns
    -------
    TextComparison
        ``comparison["model_a"]["self_bleu"].gap``; printing it shows the table.

    Raises
    ------
    InputError
        If samples cannot be read or hold no texts, a metric lacks its input, or an option is out of
        its range, or out of the range that the sizes of the sets allow.
    MissingExtraError
        If the tokenizer, or a metric asked for by name, needs a package that is not installed.

    Examples
    --------
    >>> import calipers
    >>> texts = {"model": ["a b a b", "a b c"]}
    >>> result = calipers.measure_texts(
    ...     texts, reference=["a b c", "d e"], tokenizer="whitespace", metrics="mean_length",
    ...     level=None,
    ... )
    >>> result["model"]["mean_length"].value, result["model"]["mean_length"].reference
    (3.5, 2.5)
    """
    choices = choose_text(
        options.metrics,
        reference=options.reference is not None,
        train=options.train is not None,
        aligned=options.aligned,
    )
    check_extras(choices)
    splitter = find_splitter(options.tokenizer)
    inputs = read_texts(
        generated,
        options,
        reference=options.reference,
        train=options.train,
        seed=options.seed,
        aligned=options.aligned,
    )
    measured = measure_inputs(inputs, choices, splitter, options, keep_sizes=options.keep_sizes)
    more = {"aligned": options.aligned, **options.settings()}
    return replace(measured, settings={**measured.settings, **more})
