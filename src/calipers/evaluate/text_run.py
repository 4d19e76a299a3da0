"""Text metrics in one call: samples, tokens, scores, comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from calipers.catalogue.choosing import TextChoice, check_extras, choose_text
from calipers.errors import InputError, MissingExtraError
from calipers.evaluate import text_notes as notes
from calipers.evaluate.text_intake import TextIntake, take_in_texts
from calipers.evaluate.text_job import Job, about, tokenised
from calipers.evaluate.text_limits import check_limits
from calipers.numeric.validation import check_whole
from calipers.progress import Progress, Silent
from calipers.results.texts import TextComparison
from calipers.text.tokenizers import Tokenizer, find_tokenizer
from calipers.text.tokens import AnyTokenizer
from calipers.uncertainty.spread import check_level


def measure_texts(
    generated: Any,
    *,
    reference: Any = None,
    train: Any = None,
    aligned: bool = False,
    metrics: str | Iterable[str] | None = None,
    tokenizer: AnyTokenizer = "nltk",
    field: str | None = None,
    max_samples: int | None = None,
    keep_sizes: bool = False,
    seed: int = 0,
    level: float | None = 0.95,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TextComparison:
    """Tell of each set of texts how varied, how repetitive and how new it is.

    Parameters
    ----------
    generated
        The texts to measure: a list of strings, a path, a :class:`~calipers.samples.SampleSet`, or
        a dict from system name to any of these. A sequence of sample sets under one name stands
        for the seeds of that system.
    reference
        Texts that people wrote, in any form of one set. The statistics of both then stand beside
        each other, with the gap |T(Q) - T(P)|.
    train
        The training set: what share of the texts is new to it (``novelty:train``,
        ``longest_copied_span:train``). Never cut.
    aligned
        Whether text i belongs to reference i: ``bleu``, ``chrf``, ``rouge`` and their kind can
        then be asked for. All sets must have the size of the reference.
    metrics
        Keys ``metric[:option…]``, in a list or in one string: ``distinct:n=3``, ``self_bleu``, a
        family (``words``, ``diversity``, ``repetition``, ``copies``, ``strings``, ``aligned``) or
        ``all``; the slow ones (``ter``, ``bert_score_f1``) by their own name only. None for those
        that are quick; ``calipers metrics text`` lists them.
    tokenizer
        Name of a tokenizer, or one of your own.
    field
        Where the text stands in a row, such as ``"choices[0].text"``; found by itself if None.
    max_samples
        Cut every set, but not the training set, to this many texts.
    keep_sizes
        Leave the sets as large as they are; by default all are cut to the smallest, since most
        statistics move with the number of texts.
    seed
        Of cutting, of metrics that draw, and of the blocks that intervals come from.
    level
        Confidence level of the intervals, in (0, 1); None leaves them out.
    threads
        Number of threads (default: all cores); moves no value.
    progress
        What shows how far it is.

    Returns
    -------
    TextComparison
        ``found["model_a"]["self_bleu"].gap``; printing it shows the table.

    Raises
    ------
    InputError
        If samples cannot be read or hold no texts, a metric needs what is not there, or an option
        is out of its range, or out of the range that the sizes of the sets allow.
    MissingExtraError
        If the tokenizer, or a metric asked for by name, needs a package that is not installed.
    """
    _check_options(seed, max_samples, threads, aligned)
    if level is not None:
        check_level(level)
    choices = choose_text(
        metrics, reference=reference is not None, train=train is not None, aligned=aligned
    )
    check_extras(choices)
    splitter = _splitter(tokenizer)
    intake = take_in_texts(
        generated,
        reference=reference,
        train=train,
        aligned=aligned,
        field=field,
        max_samples=max_samples,
        keep_sizes=keep_sizes,
        seed=seed,
    )
    found = measure_intake(
        intake,
        choices,
        splitter,
        keep_sizes=keep_sizes,
        level=level,
        seed=seed,
        threads=threads,
        progress=progress or Silent(),
    )
    more = {"aligned": aligned, "sizes": "kept" if keep_sizes else "equal", "level": level}
    return replace(found, settings={**found.settings, **more, "max_samples": max_samples})


def measure_intake(
    intake: TextIntake,
    choices: Sequence[TextChoice],
    tokenizer: Tokenizer,
    *,
    keep_sizes: bool = False,
    level: float | None = None,
    seed: int,
    threads: int | None,
    progress: Progress,
) -> TextComparison:
    """Measure sets that were read and cut; `keep_sizes` as for :meth:`TextChoice.score`.

    `level` is that of the intervals; without one there are none, and no spreads.
    """
    check_limits(choices, intake)
    corpora = tokenised(intake, tokenizer, progress)
    job = Job(intake, choices, keep_sizes, seed, threads, *corpora, level=level)
    steps = len(choices) * (len(job.corpora) + (intake.reference is not None))
    with progress.task("Measuring", steps) as advance:
        systems = tuple(job.result(entry, advance) for entry in intake.systems)
        own = job.of_reference(advance)
    return TextComparison(
        systems=systems,
        reference=job.about_reference(own),
        reference_scores=own,
        train=None if intake.train is None else about(intake.train),
        settings={
            "tokenizer": tokenizer.name,
            "metrics": [choice.key for choice in choices],
            "seed": seed,
        },
        warnings=tuple(notes.size_warnings(intake.sizes, choices)) if keep_sizes else (),
    )


def _splitter(tokenizer: AnyTokenizer) -> Tokenizer:
    """Find the tokenizer before files are read."""
    try:
        return find_tokenizer(tokenizer)
    except MissingExtraError as error:
        raise MissingExtraError(
            f"{error}; or choose the tokenizer 'whitespace' (--tokenizer whitespace, "
            "tokenizer='whitespace'), which needs nothing"
        ) from error


def _check_options(seed: Any, max_samples: Any, threads: Any, aligned: Any) -> None:
    check_whole("seed", seed, 0)
    check_whole("max_samples", 2 if max_samples is None else max_samples, 2)
    check_whole("threads", 1 if threads is None else threads, 1)
    if not isinstance(aligned, bool):
        raise InputError(f"aligned must be True or False; found {aligned!r}")
