"""``tune``: find the value of a decoding parameter whose samples are closest to the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

from calipers.commands.compare.run import compare, plan_comparison
from calipers.commands.generate.result import Generation
from calipers.commands.generate.run import Writer, open_writer, read_texts
from calipers.commands.tune.options import TuneOptions
from calipers.commands.tune.result import Tuned, TunedPoint, Tuning
from calipers.errors import InputError
from calipers.evaluate.verdict import with_verdict
from calipers.files import at_home
from calipers.language_model.decoding import Decoding, read_over
from calipers.language_model.models import is_fitted
from calipers.language_model.samples_file import SamplesFile
from calipers.numeric.threads import limit_threads
from calipers.options.comparison import CompareOptions
from calipers.options.keywords import keywords_of
from calipers.progress import Silent
from calipers.results.caution import Caution
from calipers.results.comparison import with_cautions
from calipers.samples import SampleSet
from calipers.samples.labels import text_column

REMEDY = "choose another folder with `samples`, or take the file away"
"""What to do about a file of samples that were written otherwise."""


@keywords_of(TuneOptions)
def tune(reference: Any, options: TuneOptions) -> Tuning:
    """Tell which value of a decoding parameter gives the samples closest to the reference.

    For each value, samples are generated from the same prompts and random numbers, and all are
    compared with the reference (figure 23 of Pillutla et al., JMLR 2023). Since row i of all sets
    has its prompt and numbers in common, differences between values are tested in pairs.

    Parameters
    ----------
    reference
        Real texts, in any form that :func:`calipers.compare` takes. With `prompt_words` and no
        `prompts` their first words are the prompts, and what follows is the reference.

    Returns
    -------
    Tuning
        ``tuning.tuned.closest``; printing it shows the table.

    Raises
    ------
    InputError
        If the model, the prompts, a value or an option of the comparison is invalid.
    MissingExtraError
        If the backend of the model is not installed.

    Examples
    --------
    >>> import calipers
    >>> texts = [f"the {animal} sat on the {place}" for animal in ("cat", "dog", "owl", "fox")
    ...          for place in ("mat", "sofa", "roof")]
    >>> tuning = calipers.tune(
    ...     texts, over="top_k=1,5", model="ngram:order=2", fit_on=texts, n=12,
    ...     embedder="characters",
    ... )
    >>> tuning.tuned.closest
    'top_k=5'
    """
    base = Decoding.parse(options.decoding)
    points = make_points(base, options.over)
    given = read_texts(reference, "reference", options.field)
    if given is None:
        raise InputError("reference must hold texts; found None")
    if options.n is None and options.prompts is None and options.prompt_words is None:
        options = options.changed(n=len(given))
    folder = _folder(options.samples)
    with limit_threads(options.threads):
        writer = open_writer(options, given)
    real = _reference(given, writer, options)
    if options.paired is None and real.prompts is None:
        real = replace(real, prompts=text_column([""] * len(real), real.source))  # in no order
    paired = True if options.paired is None else options.paired
    # The revision and the endpoint are those of the language model, which the embedder is not
    compared = CompareOptions.of(
        options, revision=None, endpoint=None, paired=paired, strip_prompt=False, field=None
    )
    # What the comparison refuses is refused before the long work
    stand_ins = {point.system: _stand_in(point, given, writer) for point in points}
    plan_comparison(real, stand_ins, compared)
    with limit_threads(options.threads):
        generated = _write(writer, points, given, folder, options)
    systems = {
        point.system: _clustered(generation.samples, writer)
        for point, generation in zip(points, generated, strict=True)
    }
    comparison = compare(real, systems, options=compared)
    comparison = with_cautions(comparison, _cautions(writer, options))
    comparison = replace(
        comparison,
        warnings=(*comparison.warnings, *writer.model.told()),
        settings={
            **comparison.settings,
            "generation": {**writer.configuration(base), "over": list(read_over(options.over))},
        },
    )
    comparison = with_verdict(comparison)
    return Tuning.of(comparison, Tuned.of(comparison, points, model=writer.model.name, n=writer.n))


def make_points(base: Decoding, over: Any) -> list[TunedPoint]:
    """Return all decodings to try: all values, or all pairs of values of two parameters.

    Raises
    ------
    InputError
        If a parameter does not go with the decoding.
    """
    wanted = read_over(over)
    points = []
    for values in product(*wanted.values()):
        named = dict(zip(wanted, values, strict=True))
        decoding = base
        for name, value in named.items():
            decoding = decoding.with_value(name, value)
        system = ",".join(f"{name}={value:g}" for name, value in named.items())
        points.append(TunedPoint(system, named, str(decoding)))
    return points


def _folder(given: str | Path | None) -> Path | None:
    if given is None:
        return None
    folder = at_home(given)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror or error}") from error
    return folder


def _write(
    writer: Writer,
    points: Sequence[TunedPoint],
    reference: SampleSet,
    folder: Path | None,
    options: TuneOptions,
) -> list[Generation]:
    """Write the samples of every decoding, or read those that are there."""
    decodings = [writer.complete(Decoding.parse(point.decoding), reference) for point in points]
    files = [None if folder is None else folder / f"{point.system}.jsonl" for point in points]
    for decoding, file in zip(decodings, files, strict=True):
        if file is not None:  # samples of another configuration are refused before any is written
            SamplesFile.at(file, writer.configuration(decoding), REMEDY).known()
    return [
        writer.write(
            decoding,
            output=file,
            remedy=REMEDY,
            progress=options.progress or Silent(),
            name=point.system,
        )
        for point, decoding, file in zip(points, decodings, files, strict=True)
    ]


def _reference(given: SampleSet, writer: Writer, options: TuneOptions) -> SampleSet:
    """Return what people wrote behind the prompts, where these are taken from the reference."""
    prompting = writer.prompting
    if options.prompts is not None or prompting.rest is None:
        return given
    asked = [prompt.text for prompt in prompting.prompts]
    if options.keep_prompt:
        texts = [f"{prompt} {rest}" for prompt, rest in zip(asked, prompting.rest, strict=True)]
    else:
        texts = list(prompting.rest)
    return SampleSet.from_texts(texts, name=given.name, source=given.source, prompts=asked)


def _stand_in(point: TunedPoint, given: SampleSet, writer: Writer) -> SampleSet:
    """Return real texts the form of the samples that a decoding will write."""
    asked = [writer.prompting.prompt_of(sample) for sample in range(writer.n)]
    texts = SampleSet.from_texts(
        islice(cycle(given), writer.n),
        name=point.system,
        prompts=[prompt.text for prompt in asked if prompt is not None] or None,
    )
    return _clustered(texts, writer)


def _clustered(samples: SampleSet, writer: Writer) -> SampleSet:
    """Return the samples, those of one prompt as a cluster where there are several."""
    if not 0 < len(writer.prompting.prompts) < len(samples):
        return samples
    asked = (writer.prompting.prompt_of(sample) for sample in range(len(samples)))
    return samples.with_clusters([prompt.id for prompt in asked if prompt is not None])


def _cautions(writer: Writer, options: TuneOptions) -> list[Caution]:
    cautions = []
    if is_fitted(options.model) and options.fit_on is None:
        cautions.append(
            Caution(
                "copies",
                "the model was fitted on the reference",
                "the n-gram model was fitted on the very reference that its samples are compared "
                "with, so that it may copy it; `fit_on=FILE` fits it on other texts",
                "`fit_on=FILE`",
            )
        )
    return cautions
